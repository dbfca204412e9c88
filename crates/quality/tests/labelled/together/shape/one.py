def invoice(row):
    return row["user_id"], row["amount"], row["due"]  # flag: CoN record-shape
