import asyncio
import os
import threading
import time


def boot(server):
    server.start()
    time.sleep(3)  # flag: CoTm sleep-sync
    return server.get("/")


def fetch_with_retry(get):
    time.sleep(2)  # fine: CoTm
    return get()


def poll_until(ready):
    while not ready():
        time.sleep(1)  # fine: CoTm


def guarded(lock):
    with lock:
        time.sleep(1)  # fine: CoTm


def joined(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()  # fine: CoTm


def loose(work):
    threading.Thread(target=work).start()  # flag: CoTm detached


class Shop:
    def __init__(self):
        self.stock = 0
        self.lock = asyncio.Lock()

    async def store(self, sale):
        await asyncio.sleep(0)
        return sale

    async def sell(self, sale):
        self.store(sale)  # flag: CoTm floating-async
        await self.store(sale)  # fine: CoTm
        asyncio.create_task(self.store(sale))  # fine: CoTm

    async def take(self, amount):
        left = self.stock
        await self.store(amount)
        self.stock = left - amount  # flag: CoTm rmw-across-await

    async def take_safely(self, amount):
        async with self.lock:
            left = self.stock
            await self.store(amount)
            self.stock = left - amount  # fine: CoTm

    async def reload(self):
        self.busy = True
        await self.store(1)
        self.busy = False  # fine: CoTm

    def save(self, db, sale):
        db.store(sale)  # fine: CoTm


def load(path):
    if os.path.exists(path):  # flag: CoTm toctou
        with open(path) as f:
            return f.read()
    return None


def make(path):
    if os.path.exists("other"):  # fine: CoTm
        return None
    return open(path)
