from dataclasses import dataclass


def book(name, street, city, zip_code):  # flag: CoP many-positional
    return name + street + city + zip_code


def rent(name, street, city="Rome", zip_code="00100"):  # fine: CoP
    return name + street + city + zip_code


def lend(name, *, street, city, zip_code):  # fine: CoP
    return name + street + city + zip_code


def typed(name: str, year: int, rate: float, ready: bool):  # fine: CoP
    return name, year, rate, ready


def same(first: str, second: str, third: str, year: int):  # flag: CoP many-positional
    return first + second + third + str(year)


class Shelf:
    def put(self, a, b, c):  # fine: CoP
        return a + b + c


class Clock:
    def __init__(self, hour: int, minute: int, second: int):
        self.hour = hour
        self.minute = minute
        self.second = second


@dataclass
class Point:
    x: int
    y: int
    z: int


def clocks(hour, minute, second):
    noon = Clock(12, 0, 30)  # flag: CoP swappable-call
    named = Clock(hour=12, minute=0, second=30)  # fine: CoP
    given = Clock(hour, minute, second)  # fine: CoP
    origin = Point(1, 2, 3)  # fine: CoP
    return noon, named, given, origin


def user_details(db):
    return [db.first, db.last, 1984, True]  # flag: CoP positional-record


def is_trusted(user):
    return user[3]  # flag: CoP positional-record


def name_and_error(path):
    return path, None  # fine: CoP


def use_pair():
    value, error = name_and_error("x")  # fine: CoP
    return value or error


def span(text):
    return len(text), text.upper(), text.lower()  # flag: CoP positional-record


def use_span():
    size, upper, lower = span("a")
    return size, upper + lower


def first_letter(name: str):
    return name[2]  # fine: CoP


def draw(canvas):
    canvas.paint("red", True, False)  # flag: CoP bool-trap
    canvas.paint("red", filled=True, dashed=False)  # fine: CoP
