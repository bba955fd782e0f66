"""Reads ids of the default layout without the database: their time, their base58 text, and masked
texts, for which it needs the package `cryptography`. `keys` maps each number in the file of keys to
its 32 bytes. See ../public-ids.md."""

from datetime import datetime, timedelta, timezone

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def time_of(id):
    return datetime(2025, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=id >> 22)


def number_of(base58):
    number = 0
    for digit in base58:
        number = number * 58 + DIGITS.index(digit)
    return number


def round_value(key, tweak, number, half):
    head = bytes([1, 2, 1, 0, 0, 2, 10, 40, 0, 0, 0, 80, 0, 0, 0, len(tweak)])
    body = tweak + bytes(-(len(tweak) + 6) % 16) + bytes([number]) + half.to_bytes(5, "big")
    blocks = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor().update(head + body)
    return int.from_bytes(blocks[-16:-4], "big")


def unmask(text, prefix, keys):
    head = prefix and prefix + "_"
    if not text.startswith(head) or len(text) != len(head) + 15:
        raise ValueError("another prefix or length")
    key = keys.get(number_of(text[-15]))
    left, right = divmod(number_of(text[-14:]), 1 << 40)
    if key is None or left >> 40:
        raise ValueError("unknown key, or above all masked ids")
    for number in reversed(range(10)):
        left, right = (right - round_value(key, prefix.encode(), number, left)) % (1 << 40), left
    id, check = divmod(left << 40 | right, 1 << 16)
    if check != 0:
        raise ValueError("changed, or masked with another key")
    return id - (id >> 63 << 64)
