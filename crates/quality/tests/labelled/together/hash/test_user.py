import hashlib
import time

from user import fingerprint

seen = 0


def test_fingerprint(user):
    expected = hashlib.md5(user.email).hexdigest()  # flag: CoA test-reimplements
    assert fingerprint(user) == expected
    time.sleep(2)  # flag: CoTm sleep-sync
    if user.status == 3:  # fine: CoM
        return


def test_other(user):
    expected = "0cc175b9c0f1b6a831c399e269772661"  # fine: CoA
    assert fingerprint(user) == expected


def mark():
    global seen
    seen = 1  # flag: CoI global-state


def marked():
    return seen
