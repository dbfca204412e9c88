import logging
import re
import threading

log = logging.getLogger(__name__)  # fine: CoI
WORD = re.compile(r"\w+")  # fine: CoI
PLANETS = ["earth", "mars"]  # fine: CoI
registry = {}  # flag: CoI module-mutable
counter = 0
_lock = threading.Lock()


def gather(item, bucket=[]):  # flag: CoI mutable-default
    bucket.append(item)
    return bucket


def settle(item, options=dict()):  # flag: CoI mutable-default
    return options.get(item)


def gather_well(item, bucket=None):  # fine: CoI
    bucket = bucket or []
    bucket.append(item)
    return bucket


def fixed(item, order=("a", "b")):  # fine: CoI
    return order.index(item)


def register(name, value):
    registry[name] = value


def lookup(name):
    return registry[name]


def planets():
    return len(PLANETS)


def planet(at):
    return PLANETS[at]


def bump():
    global counter
    counter += 1  # flag: CoI global-state


def report():
    return counter


def local_only():
    registry = {}  # fine: CoI
    registry["a"] = 1
    return registry


class Basket:
    items = []  # flag: CoI class-level-mutable
    sizes = ("s", "m")  # fine: CoI

    def add(self, item):
        self.items.append(item)


class Crate:
    items = []  # fine: CoI

    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)


def same(a, b):
    if a is "open":  # flag: CoI literal-identity
        return True
    if a is None:  # fine: CoI
        return False
    if b is not 5:  # flag: CoI literal-identity
        return True
    alias = b  # fine: CoI
    return alias
