import asyncio
import os
import sys
import threading
import time
from functools import singledispatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from x import Y  # fine: CoN
else:
    Y = None  # fine: CoN

try:
    import ujson as json  # fine: CoN
except ImportError:
    import json  # fine: CoN

MAX_RETRIES = 7  # flag: CoV shadowed-constant
BASE_URL = "https://api.example.com"
lock_a = threading.Lock()
lock_b = threading.Lock()
settings = {"debug": False}  # fine: CoI


class Temperature:
    def __init__(self):
        self._degrees = 0
        self._on = False

    @property
    def degrees(self):  # fine: CoN
        return self._degrees

    @degrees.setter
    def degrees(self, value):  # fine: CoN
        self._degrees = value

    def raise_by(self, a, b, c):  # fine: CoP
        return a + b + c

    def twice(self):  # flag: CoN
        return 1

    def twice(self):  # flag: CoN
        return self._degrees

    @classmethod
    def build(cls, first, second, third):  # fine: CoP
        return cls()


@singledispatch
def show(x):
    return x


@show.register
def _(x: int):  # fine: CoN
    return x


@show.register
def _(x: str):  # fine: CoN
    return x


if sys.platform == "win32":  # fine: CoM
    def clear():  # fine: CoN
        return "cls"
else:
    def clear():  # fine: CoN
        return "clear"


def retry(fn, retries):
    if retries > 7:  # flag: CoV shadowed-constant flag: CoM magic-number-cond
        raise RuntimeError("too often")
    return fn()


def pick(rows, x, retries):
    big = [row for row in rows if row.size > 42]  # flag: CoM magic-number-cond
    label = "old" if x.age > 65 else "young"  # flag: CoM magic-number-cond
    while retries < 12:  # flag: CoM magic-number-cond
        retries += 1
    if x.error_code == 0:  # flag: CoM coded-value
        return big
    if x.get("status") == 4:  # flag: CoM coded-value
        return label
    if x.order_status != 1:  # flag: CoM coded-value
        return 1
    if "admin" == x.role:  # flag: CoM magic-string-eq
        return 2
    if x.name == "":  # fine: CoM
        return 1
    if __name__ == "__main__":  # fine: CoM
        return 1
    if x.days == 365:  # fine: CoM
        return 1
    if x.index == 1:  # fine: CoM
        return 0
    return {"status": 3}  # flag: CoM coded-value flag: CoT mixed-returns


def build_payment(pay):
    return pay(status=3, amount=12)  # fine: CoM


def area(radius):
    return 3.14159 * radius ** 2  # flag: CoM magic-number-arith


def shipping(weight):
    if weight > 0:
        return 42  # flag: CoM magic-return
    return 0


def positional_only(a, b, /, c, d):  # flag: CoP many-positional
    return a + b + c + d


def varargs(a, *rest, b=None, **more):  # fine: CoP
    return a


class Clock:
    def __init__(self, hour, minute, second):
        self.hour = hour
        self.minute = minute
        self.second = second


noon = Clock(12, 12, 12)  # flag: CoP swappable-call
late = Clock(hour=23, minute=59, second=59)  # fine: CoP


def third(row):
    return row[2]  # flag: CoP positional-record


def script():
    return sys.argv[2]  # fine: CoP


def config(data: dict[str, Any]) -> dict[str, Any]:  # fine: CoT
    return data


def forward():
    with lock_a:
        with lock_b:  # flag: CoE lock-order
            return 1


def backward():
    with lock_b:
        with lock_a:  # flag: CoE lock-order
            return 2


def grab(lock, work):
    lock.acquire()  # flag: CoE unpaired
    work()


def grab_well(lock, work):
    lock.acquire()  # fine: CoE
    try:
        work()
    finally:
        lock.release()


class Report:
    def __init__(self):
        self.data = None
        self.total = 0

    def load(self):
        self.data = [1]

    def render(self):
        return len(self.data)

    async def add(self, fetch):
        self.total += await fetch()  # flag: CoTm rmw-across-await

    async def add_locked(self, fetch):
        async with self.lock:
            before = self.total
            await fetch()
            self.total = before + 1  # fine: CoTm


def make_report():
    report = Report()
    report.load()
    report.render()  # flag: CoE field-handoff


def lazily(holder):
    if holder.thing is None:  # fine: CoE
        holder.thing = object()
    return holder.thing


def spawn(work):
    threading.Thread(target=work).start()  # flag: CoTm detached


async def tick():
    return 1


async def main():
    tick()  # flag: CoTm floating-async
    task = asyncio.create_task(tick())  # fine: CoTm
    await task
        await asyncio.sleep(2)  # flag: CoTm sleep-sync


def held(lock):
    with lock:
        time.sleep(1)  # fine: CoTm


def throttle_calls():
    time.sleep(1)  # fine: CoTm


def delete(path):
    if os.path.isfile(path):  # flag: CoTm toctou
        os.remove(path)


class Registry:
    entries = {}  # flag: CoI class-level-mutable
    names = ["a"]  # fine: CoI
    limit = 4  # fine: CoI

    def put(self, key, value):
        self.entries[key] = value

    def first(self):
        return self.names[0]


def make_counter():
    count = 0

    def increment():
        nonlocal count  # flag: CoI global-state
        count += 1
        return count

    def reset():
        return count

    return increment, reset


def same(x):
    if x is not 5:  # flag: CoI literal-identity
        return x is True  # fine: CoI
    return x is None  # fine: CoI


def alias(a):
    b = a  # fine: CoI
    return b


def debug():
    return settings["debug"]


def verbose():
    return settings.get("verbose")


def default_set(x, seen=set()):  # flag: CoI mutable-default
    seen.add(x)
    return seen


def mixed(x):
    if x > 0:
        return "yes"  # flag: CoT mixed-returns
    return 0
