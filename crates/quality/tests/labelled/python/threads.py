"""Threads that are kept, and threads that are lost."""
import threading


def lose(work):
    thread = threading.Thread(target=work)  # flag: CoTm detached
    thread.daemon = True
    thread.start()


def join(work):
    thread = threading.Thread(target=work)  # fine: CoTm
    thread.start()
    thread.join()


def keep(work, all_of_them):
    thread = threading.Thread(target=work)  # fine: CoTm
    thread.start()
    all_of_them.append(thread)


def hand_over(work):
    thread = threading.Thread(target=work)  # fine: CoTm
    thread.start()
    return thread


error_codes = {1: "fatal", 2: "not so fatal"}  # flag: CoM coded-value
answers_by_code = {404: "not found", 500: "broken"}  # fine: CoM
level_of_name = {"low": low, "high": high}  # fine: CoM
