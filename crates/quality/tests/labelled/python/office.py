"""An office: forms, locks and things that must be done in order."""
import asyncio
import threading
from typing import overload

REQUEST_TIMEOUT = 45


def fetch(client):
    return client.get("/", timeout_seconds=1)


def fetch_slowly(client):
    timeout = 45  # flag: CoV same-name-same-literal
    return client.get("/", timeout)


def stamp(form):  # flag: CoN
    return form + "!"


def stamp(form):  # flag: CoN
    return form + "?"


@overload
def read(form: int) -> int: ...  # fine: CoN


@overload
def read(form: str) -> str: ...  # fine: CoN


def read(form):  # fine: CoN
    return form


def parse(form: str) -> int:
    return form  # type: ignore  # flag: CoT


class Report:
    def __init__(self):
        self.rows = None
        self.text = None

    def load(self):
        self.rows = [1]

    def render(self):
        self.text = ", ".join(str(row) for row in self.rows)  # flag: CoE field-handoff

    def lazily(self):
        if self.text is None:  # fine: CoE
            self.text = ""
        return self.text


def publish():
    report = Report()
    report.load()
    report.render()
    return report.text


left = threading.Lock()
right = threading.Lock()


def one_way():
    with left:
        with right:  # flag: CoE lock-order
            return 1


def other_way():
    with right:
        with left:  # flag: CoE lock-order
            return 2


def close_twice(door):
    door.close()
    door.close()  # fine: CoE


def commit_early(transaction):
    transaction.commit()
    transaction.execute("insert")  # flag: CoE use-after-terminal


async def note(text):
    return text


async def forgets():
    note("later")  # flag: CoTm floating-async


async def remembers():
    await note("now")  # fine: CoTm
    task = asyncio.create_task(note("later"))  # fine: CoTm
    await task


def paint(wall):
    wall.draw(True, False)  # flag: CoP bool-trap


def encrypt_line(text):  # flag: CoA near-clone
    shifted = ""
    for letter in text:
        code = ord(letter)
        moved = code + 2
        wrapped = moved % 256  # flag: CoM magic-number-arith
        shifted = shifted + chr(wrapped)
    return shifted


def decrypt_line(text):  # flag: CoA near-clone
    shifted = ""
    for letter in text:
        code = ord(letter)
        moved = code + -2
        wrapped = moved % 256  # flag: CoM magic-number-arith
        shifted = shifted + chr(wrapped)
    return shifted


def validate_email(value):  # fine: CoA
    if not value:
        raise ValueError("email is missing")
    if "@" not in value:
        raise ValueError("email has no at sign")
    return value.lower()


def validate_username(value):  # fine: CoA
    if not value:
        raise ValueError("name is missing")
    if len(value) > 30 or value.startswith("_"):  # flag: CoM magic-number-cond
        raise ValueError("name is too long")
    return value.strip().title()
