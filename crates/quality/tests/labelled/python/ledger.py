import os
import threading
import time

GRACE_DAYS = 14  # fine: CoM
OPEN_STATES = {"draft", "sent"}  # fine: CoI
pending = {}  # flag: CoI module-mutable


def enqueue(key, job):
    pending[key] = job


def next_job():
    return pending.popitem()


class Invoice:
    tags = []  # flag: CoI class-level-mutable

    def __init__(self, amount):
        self.amount = amount
        self.approved = False
        self.lines = None  # fine: CoE

    def tag(self, name):
        self.tags.append(name)

    def approve(self):
        self.approved = True

    def pay(self):
        if not self.approved:  # flag: CoE state-guard
            raise RuntimeError("not approved")
        return self.amount

    def rows(self):
        if self.lines is None:  # fine: CoE
            self.lines = []
        return self.lines


def overdue(invoice, days):
    if invoice.category == 7:  # flag: CoM coded-value
        return False
    if days > 45:  # flag: CoM magic-number-cond
        return True
    if len(invoice.rows()) > 3:  # fine: CoM
        return True
    return days > GRACE_DAYS  # fine: CoM


def fee(amount):
    return amount * 0.035  # flag: CoM magic-number-arith


def export(path, sender, recipient, subject):  # flag: CoP many-positional
    return path, sender


def render(path, *, sender, recipient, subject):  # fine: CoP
    return path + sender + recipient + subject


def open_books(name="main", year=None, draft=False, owner=None):  # fine: CoP
    return name


def remember(value, seen=[]):  # flag: CoI mutable-default
    seen.append(value)
    return seen


def forget(value, seen=None):  # fine: CoI
    return seen


def compare(mode):
    if mode is "strict":  # flag: CoI literal-identity
        return 1
    return mode is None  # fine: CoI


def begin(server):
    server.start()
    time.sleep(5)  # flag: CoTm sleep-sync
    return server


def poll_until(ready):
    while not ready():
        time.sleep(0.5)  # fine: CoTm


def connect_with_backoff(connect):
    time.sleep(2)  # fine: CoTm
    return connect()


def load(path):
    if os.path.exists(path):  # flag: CoTm toctou
        with open(path) as file:
            return file.read()
    return ""


def launch(work):
    worker = threading.Thread(target=work)  # fine: CoTm
    worker.start()
    worker.join()


def finish(connection, query):
    connection.close()
    connection.execute(query)  # flag: CoE use-after-terminal


def finish_twice(connection):
    connection.close()
    connection.close()  # fine: CoE
