from typing import Any, Optional, overload


def calculate_tax(amount: float) -> float:  # flag: CoN duplicate-definition
    return amount


def calculate_tax(amount: float) -> float:  # flag: CoN duplicate-definition
    return amount + amount


@overload
def parse(text: str) -> int: ...  # fine: CoN
@overload
def parse(text: bytes) -> int: ...  # fine: CoN
def parse(text):  # fine: CoN  # flag: CoT untyped-parameter
    return int(text)


class Door:
    @property
    def width(self) -> int:  # fine: CoN
        return self._width

    @width.setter
    def width(self, value: int):  # fine: CoN
        self._width = value


def find(name: str) -> Optional[str]:  # fine: CoT
    if name:
        return name
    return None


def load(name: str, raw):  # flag: CoT untyped-parameter
    return name, raw


def answer(ready: bool):
    if ready:
        return 42  # flag: CoT mixed-returns  # flag: CoM magic-return
    return "nothing"  # flag: CoT mixed-returns


def quiet(path: str):
    return path.missing  # type: ignore  # flag: CoT unchecked-cast


def send(mail: Any) -> None:  # flag: CoT any-type
    mail.send()


def kept(**extra: Any) -> None:  # fine: CoT
    print(extra)
