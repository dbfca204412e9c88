def decode_token(raw):  # flag: CoA paired-codec
    return raw.decode("utf-16")


def decode_name(raw):  # fine: CoA
    return raw.strip()
