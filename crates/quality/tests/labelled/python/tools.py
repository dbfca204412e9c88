"""What others' repositories taught: whoever is called by a framework, and what a constructor does in its own order."""

import asyncio

import click


@click.command()
@click.option("--host")
@click.option("--port")
@click.pass_context
def serve(context, host, port, reload, workers):  # fine: CoP
    return host, port


def connect(host, port, user, password):  # flag: CoP many-positional
    return host, port


class Client:
    def __init__(self, url):
        self.session = None
        self.create_session(url)
        self.open_session()  # fine: CoE

    def create_session(self, url):
        self.session = make_session(url)

    def open_session(self):
        return self.session.open()


class Report:
    def __init__(self):
        self.rows = None

    def load(self):
        self.rows = read_rows()

    def render(self):
        return format_rows(self.rows)


def publish():
    report = Report()
    report.load()
    report.render()  # flag: CoE field-handoff


async def race(work):
    late = asyncio.create_task(asyncio.sleep(5))  # fine: CoTm
    await asyncio.wait({work, late})
