"""Accounts of a bank."""
import asyncio
import hashlib
import json
import logging
import re
import time
from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional, overload

log = logging.getLogger(__name__)  # fine: CoI
PATTERN = re.compile(r"^\d{5}$")  # fine: CoI
MAX_RETRIES = 7  # fine: CoM
CACHE_SECONDS = 15 * 60  # fine: CoM
_listeners = []  # flag: CoI module-mutable
counter = 0


def subscribe(listener):
    _listeners.append(listener)


def publish(event):
    for listener in _listeners:
        listener(event)


def bump():
    global counter  # flag: CoI global-state
    counter += 1


def read_counter():
    return counter


class Color(Enum):
    RED = 4  # fine: CoM
    GREEN = 9  # fine: CoM


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.is_open = False
        self.balance = 0
        self._conn = None

    def open(self):
        self.is_open = True

    def deposit(self, amount):
        if not self.is_open:  # flag: CoE state-guard
            raise ValueError("account is closed")
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:  # fine: CoE
            raise ValueError("not enough")
        self.balance -= amount

    def connect(self):
        self._conn = object()

    def query(self, sql):
        if self._conn is None:  # flag: CoE state-guard
            raise RuntimeError("connect first")
        return self._conn.execute(sql)

    async def transfer(self, other, amount):
        balance = self.balance
        await asyncio.sleep(0)
        self.balance = balance - amount  # flag: CoTm rmw-across-await

    async def notify(self):
        self.audit()  # flag: CoTm floating-async
        await self.audit()  # fine: CoTm

    async def audit(self):
        return 1


def get_tier(user):
    if user.role == 2:  # flag: CoM coded-value
        return "admin"
    elif user.role in (3, 4):  # flag: CoM coded-value
        return "editor"
    if user.kind == "vip":  # flag: CoM magic-string-eq
        return "gold"
    if user.age >= 21:  # flag: CoM magic-number-cond
        return "adult"
    if user["type"] == 0:  # flag: CoM coded-value
        return "none"
    return "basic"


def status_of(response):
    if response.status_code == 404:  # fine: CoM
        return None
    if response.status_code // 100 == 5:  # fine: CoM
        return None
    if len(response.parts) == 3:  # fine: CoM
        return None
    if response.size % 2 == 0:  # fine: CoM
        return None
    if isinstance(response, dict) and response.count > 100:  # fine: CoM
        return None
    return response.elapsed / 3600  # fine: CoM


def total_with_tax(net):
    return net * 1.19  # flag: CoM magic-number-arith


def get_user():
    return ["Ada", "Lovelace", 1984, True]  # flag: CoP positional-record


def is_admin():
    user = get_user()
    return user[3]  # flag: CoP


def save_user(first, last, birth_year, is_staff):  # flag: CoP many-positional
    return first, last


def save_user_kw(*, first, last, birth_year, is_staff):  # fine: CoP
    return first


def minmax(values):
    return min(values), max(values)  # fine: CoP


def spread(values):
    low, high = minmax(values)  # fine: CoP
    return high - low


def calculate_tax(amount):  # flag: CoN duplicate-definition
    return amount / 10


def calculate_tax(amount):  # flag: CoN duplicate-definition
    return amount / 100


@overload
def parse(x: int) -> int: ...  # fine: CoN


@overload
def parse(x: str) -> str: ...  # fine: CoN


def parse(x):  # fine: CoN
    return x


def encrypt(text):  # flag: CoA
    result = ""
    for char in text:
        code = ord(char)
        result += chr((code + 2) % 256)  # flag: CoM magic-number-arith
    return result


def decrypt(text):  # flag: CoA
    result = ""
    for char in text:
        code = ord(char)
        result += chr((code - 2) % 256)  # flag: CoM magic-number-arith
    return result


def validate_order(order):  # flag: CoA clone
    """Check an order."""
    errors = []
    if not order.name:
        errors.append("name")
    if not order.total:
        errors.append("total")
    return errors


def validate_invoice(invoice):  # flag: CoA clone
    """Something quite different here."""
    problems = []
    if not invoice.name:
        problems.append("name")
    if not invoice.total:
        problems.append("total")
    return problems


def validate_email(email):  # fine: CoA
    if "@" not in email:
        raise ValueError("no at")
    local, domain = email.split("@")
    return bool(local and domain)


def validate_username(name):  # fine: CoA
    if len(name) < 2:
        raise ValueError("short")
    first, rest = name[0], name[1:]
    return first.isalpha() or rest.isdigit()


def add_item(item, bucket=[]):  # flag: CoI mutable-default
    bucket.append(item)
    return bucket


def add_option(item, options={}):  # flag: CoI mutable-default
    options[item] = True
    return options


def add_safely(item, bucket=()):  # fine: CoI
    return bucket + (item,)


def identical(a):
    return a is 1000  # flag: CoI literal-identity


def start_and_wait(server):
    server.start()
    time.sleep(3)  # flag: CoTm sleep-sync


def fetch_with_retry(url):
    for attempt in range(MAX_RETRIES):
        time.sleep(2 ** attempt)  # fine: CoTm
    return url


def send(email):
    email.set_recipient("foo@example.com")  # fine: CoE
    email.send()
    email.set_subject("Hello")  # flag: CoE use-after-terminal


def write_all(path, rows):
    with open(path, "w") as handle:  # fine: CoE
        for row in rows:
            handle.write(json.dumps(row))


def leak(path):
    handle = open(path)  # flag: CoE unpaired
    return handle.read()


def any_signature(mail: Any) -> None:  # flag: CoT
    log.info("mail %s", mail)


def optional(mail: Optional[str] = None) -> Optional[str]:  # fine: CoT
    return mail


def ignored(mail: str) -> int:
    return mail  # type: ignore  # flag: CoT


CONFIG_TIMEOUT = 45  # flag: CoV


def dial(host):
    timeout = 45  # flag: CoV
    return host, timeout


@dataclass
class Point:
    x: int
    y: int
    z: int
    w: int


class House:
    def get_heat_pump_price(self):
        return 10.50  # flag: CoV


class Flat:
    def get_heat_pump_price(self):
        return 10.50  # flag: CoV
