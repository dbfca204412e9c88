def remind(row):
    return row["user_id"] + row["amount"] + row["due"]  # flag: CoN record-shape


def other(line):
    return line["a"] + line["b"] + line["c"]  # fine: CoN
