def encode_token(token):  # flag: CoA paired-codec
    return token.encode("utf-16")
