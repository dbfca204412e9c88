"""A shop, as somebody in a hurry writes it."""
import os
import time
import threading

MAX_RETRIES = 7
SECONDS_PER_WEEK = 7 * 24 * 60 * 60  # fine: CoM
CACHE_BYTES = 64 * 1024 * 1024  # fine: CoM


def ship(order, warehouse, carrier, weight, insured):  # flag: CoP many-positional
    return carrier.send(order, warehouse, weight, insured)


def invoice(order, *, currency, due, layout):  # fine: CoP
    return (order, currency, due, layout)


def label(order, size="A6", margin=4, ink="black", copies=1):  # fine: CoP
    return (order, size, margin, ink, copies)


def is_done(order):
    return order.state == 3  # flag: CoM coded-value


def is_open(order):
    if order.payment_status == 0:  # flag: CoM coded-value
        return True
    return order.kind in (1, 2)  # flag: CoM coded-value


def is_heavy(parcel):
    return parcel.weight > 31.5  # flag: CoM magic-number-cond


def is_missing(answer):
    return answer.status_code == 404  # fine: CoM


def first(items):
    if len(items) == 0:  # fine: CoM
        return None
    return items[0]  # fine: CoP


def wait_for_printer(printer):
    printer.start()
    time.sleep(5)  # flag: CoTm sleep-sync
    printer.print_page()


def retry(task):
    for attempt in range(MAX_RETRIES):
        if task():
            return True
        time.sleep(attempt)  # fine: CoTm
    return False


def collect(item, basket=[]):  # flag: CoI mutable-default
    basket.append(item)
    return basket


def collect_safely(item, basket=None):  # fine: CoI
    basket = [] if basket is None else basket
    basket.append(item)
    return basket


prices = {}  # flag: CoI module-mutable


def set_price(name, price):
    prices[name] = price


def price_of(name):
    return prices.get(name)


CURRENCIES = {"EUR": "€", "USD": "$"}  # fine: CoI


def sign_of(code):
    return CURRENCIES[code]


counter = 0


def next_number():
    global counter  # flag: CoI global-state
    counter += 1
    return counter


def current_number():
    return counter


def has_name(person):
    return person.name is "admin"  # flag: CoI literal-identity


def is_nobody(person):
    return person is None  # fine: CoI


class Till:
    drawers = []  # flag: CoI class-level-mutable

    def __init__(self):
        self.is_open = False
        self.session = None

    def open(self):
        self.is_open = True
        self.drawers.append(object())

    def pay(self, amount):
        if not self.is_open:  # flag: CoE state-guard
            raise RuntimeError("open the till first")
        return amount

    def refund(self, amount):
        if amount < 0:  # fine: CoE
            raise ValueError("less than nothing")
        return -amount


def send_mail(mailer):
    message = mailer.compose()
    message.send()
    message.set_subject("hello")  # flag: CoE use-after-terminal


def send_mail_in_order(mailer):
    message = mailer.compose()
    message.set_subject("hello")  # fine: CoE
    message.send()


def remove_if_there(path):
    if os.path.exists(path):
        with open(path) as file:  # flag: CoTm toctou
            return file.read()
    return None


def in_background(work):
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()  # fine: CoTm


def person():
    return ["Ada", "Lovelace", 1815]  # flag: CoP positional-record


def born():
    return person()[2]
