def add(a, b):  # fine: CoT
    return a + b


def shout(text):  # fine: CoT
    return text.upper()


def label(value):  # fine: CoT
    return str(value)


label("x")  # flag: CoT mixed-arguments
label(3)
