import hashlib


def fingerprint(user):  # flag: CoA test-reimplements
    return hashlib.md5(user.email).hexdigest()
