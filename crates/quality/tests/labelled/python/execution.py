class Account:
    def __init__(self):
        self.is_open = False
        self.balance = 0

    def open(self):
        self.is_open = True

    def deposit(self, amount):
        if not self.is_open:  # flag: CoE state-guard
            raise ValueError("not open")
        self.balance += amount

    def check(self, amount):
        if amount is None:  # fine: CoE
            raise ValueError("no amount")
        return amount


class Client:
    def __init__(self):
        self.conn = None
        self.cache = None

    def connect(self, address):
        self.conn = dial(address)

    def fetch(self):
        if self.conn is None:  # flag: CoE state-guard
            raise RuntimeError("connect first")
        return self.conn.read()

    def cached(self):
        if self.cache is None:  # fine: CoE
            self.cache = {}
        return self.cache


class Report:
    def __init__(self):
        self.rows = None

    def load(self):
        self.rows = read_rows()  # flag: CoE field-handoff

    def render(self):
        return [str(row) for row in self.rows]  # flag: CoE field-handoff


def dial(address):
    return address


def read_rows():
    return ["a"]


def print_report():
    report = Report()
    report.load()
    return report.render()  # flag: CoE field-handoff


def mail(server):
    email = server.new_email()
    email.set_recipient("a@example.org")
    email.send()
    email.set_subject("late")  # flag: CoE use-after-terminal


def keep(db):
    handle = db.cursor()
    handle.close()
    handle.execute("select 1")  # flag: CoE use-after-terminal


def twice(db):
    db.close()
    db.close()  # fine: CoE


def session(session, a, b):
    session.commit()
    session.add(b)  # fine: CoE


def again(db):
    handle = db.cursor()
    handle.close()
    handle = db.cursor()
    handle.execute("select 1")  # fine: CoE


def scoped(path):
    with open(path) as f:  # fine: CoE
        return f.read()


def leak(path):
    f = open(path)  # flag: CoE unpaired
    return f.read()


def transfer(a_lock, b_lock):
    with a_lock:
        with b_lock:  # flag: CoE lock-order
            return 1


def back(a_lock, b_lock):
    with b_lock:
        with a_lock:  # flag: CoE lock-order
            return 2


message = build_message()
message.send()
message.add_attachment("x")  # flag: CoE use-after-terminal
