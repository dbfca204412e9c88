import math
import os
import sys

SHIPPED = 3  # fine: CoM
MAX_UPLOAD = 25 * 1024 * 1024  # fine: CoM
WEEK = 7 * 24 * 60 * 60  # fine: CoM


def advance(order, user, response, proc=None):
    if order.status == 2:  # flag: CoM coded-value
        order.ship()
    if order.state != 0:  # flag: CoM coded-value
        order.close()
    if user["role"] == 1:  # flag: CoM coded-value
        user.promote()
    if user.get("level") == 4:  # flag: CoM coded-value
        user.demote()
    if order.kind in (3, 4):  # flag: CoM coded-value
        order.hold()
    if response.status_code == 404:  # fine: CoM
        return None
    if response.status_code // 100 == 5:  # fine: CoM
        return None
    if proc.exit_code != 0:  # fine: CoM
        raise RuntimeError("failed")
    match order.phase:  # flag: CoM coded-value
        case 1:
            order.begin()
        case 2:
            order.end()
    return {"payment_status": 0, "amount": 7}  # flag: CoM coded-value


def price(items, age, width, height=0):
    if age >= 18:  # flag: CoM magic-number-cond
        width += 1
    if len(items) == 3:  # fine: CoM
        width = 0
    if len(items) > 12:  # flag: CoM magic-number-cond
        width = 0
    if height > 100 or height < 0:  # fine: CoM
        height = 10
    gross = width * 1.19  # flag: CoM magic-number-arith
    seconds = height * 60  # fine: CoM
    angle = width * math.pi / 180  # fine: CoM
    mask = height & 0xFF  # fine: CoM
    line = "=" * 40  # fine: CoM
    week = 7 * 24 * 60 * 60  # fine: CoM
    return gross + seconds + angle + mask + len(line) + week


def user_role(user):
    if user.is_admin:
        return 3  # flag: CoM magic-return
    if user.is_manager:
        return 2  # flag: CoM magic-return
    return 1  # flag: CoM magic-return


def discount(user):
    if user.vip:
        return 35  # flag: CoM magic-return
    return 0  # fine: CoM


def route(command, retries=5):  # fine: CoM
    if command == "restart":  # flag: CoM magic-string-eq
        return os.kill
    if command != "stop-all":  # flag: CoM magic-string-eq
        return None
    if sys.platform == "win32":  # fine: CoM
        return None
    if command == "":  # fine: CoM
        return None
    connect(timeout=45, retries=retries)  # fine: CoM
    raise ValueError("not a known command")  # fine: CoM


def connect(*, timeout, retries):
    return timeout, retries


if __name__ == "__main__":  # fine: CoM
    route("restart")
