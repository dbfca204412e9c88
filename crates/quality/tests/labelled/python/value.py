from enum import Enum

CONFIG_TIMEOUT = 45  # flag: CoV same-name-same-literal
MAX_RETRIES = 7  # flag: CoV shadowed-constant
PORT = 8080


class Colour(Enum):
    RED_SHADE = 31  # fine: CoV
    BLUE_SHADE = 32  # fine: CoV


class Tint(Enum):
    RED_SHADE = 31  # fine: CoV


class OilHeater:
    def heater_price(self):
        return 10.50  # flag: CoV same-name-same-literal


class GasHeater:
    def heater_price(self):
        return 10.5  # flag: CoV same-name-same-literal


def wait(client):
    timeout = 45  # flag: CoV same-name-same-literal
    client.wait(timeout)


def attempt(retries):
    return retries > 7  # flag: CoV shadowed-constant  # flag: CoM magic-number-cond


def other(client):
    client.send(size=7)  # fine: CoV
    done = 0  # fine: CoV
    return done


def another():
    done = 0  # fine: CoV
    greeting = "hello there, everybody"  # fine: CoV
    return done, greeting


def third():
    greeting = "hello there, everybody"  # fine: CoV
    return greeting


class Cursor:
    def __init__(self):  # flag: CoV co-assigned
        self.row = 0
        self.column = 0

    def home(self):
        self.row = 0
        self.column = 0

    def jump(self, row, column):
        self.row = row
        self.column = column
