def total_of_orders(orders):  # flag: CoA clone
    """Adds up orders."""
    total = 0
    for order in orders:
        if order.paid:
            total += order.amount
    if total < 0:
        raise ValueError("negative")
    return total


def sum_of_bills(bills):  # flag: CoA clone
    # the same, under other names
    result = 0
    for bill in bills:
        if bill.paid:
            result += bill.amount
    if result < 0:
        raise ValueError("negative")
    return result


def encrypt(text):  # flag: CoA near-clone
    out = ""
    for letter in text:
        out += chr(ord(letter) + 2)
    return out


def decrypt(text):  # flag: CoA near-clone
    out = ""
    for letter in text:
        out += chr(ord(letter) + -2)
    return out


def validate_email(value):  # fine: CoA
    if "@" not in value:
        raise ValueError("no at sign")
    if value.startswith("@"):
        raise ValueError("no name")
    return value.lower()


def validate_username(value):  # fine: CoA
    if len(value) < 3:
        raise ValueError("too short")
    if not value.isalnum():
        raise ValueError("odd letters")
    return value.strip()


class Pair:
    def __init__(self, left, right, weight):  # fine: CoA
        self.left = left
        self.right = right
        self.weight = weight

    def get_left(self):  # fine: CoA
        return self.left

    def get_right(self):  # fine: CoA
        return self.right


class Edge:
    def __init__(self, start, end, cost):  # fine: CoA
        self.start = start
        self.end = end
        self.cost = cost


def read_all(source):  # flag: CoA twin
    rows = []
    for row in source.rows():
        rows.append(row.strip())
    return rows


async def read_all_async(source):  # flag: CoA twin
    rows = []
    for row in await source.rows():
        rows.append(row.strip())
    return rows
