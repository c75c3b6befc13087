"""Ed25519 signatures (RFC 8032), checked with whole numbers; keys and signatures must be in their one canonical form.

The check is that of section 5.1.7 without the cofactor, as OpenSSL does it. Stricter than that: a key that is not
canonical or of small order is refused, because signatures of such a key hold for more than one message.
"""

from __future__ import annotations

import hashlib
from typing import Tuple

Point = Tuple[int, int, int, int]
"""In extended coordinates."""

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT_OF_MINUS_1 = pow(2, (_P - 1) // 4, _P)
_NEUTRAL = (0, 1, 1, 0)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether a key of 32 bytes signed a message."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key = _decode(public)
    half = int.from_bytes(signature[32:], "little")
    if key is None or half >= _ORDER or _is_neutral(_times(8, key)):
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    x, y, z, t = key
    found = _add(_times(half, _BASE), _times(challenge, (_P - x, y, z, _P - t)))
    return _encode(found) == signature[:32]


def _decode(content: bytes) -> Point | None:
    """Return the point that 32 bytes stand for; None where there is none, or it has another encoding."""
    number = int.from_bytes(content, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _P:
        return None
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


def _x_of(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT_OF_MINUS_1 % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    return _P - x if x & 1 != sign else x


def _encode(point: Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, _P - 2, _P)
    x, y = x * inverse % _P, y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _add(one: Point, other: Point) -> Point:
    """Add two points in extended coordinates; the formulas hold for all points (RFC 8032, 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: Point) -> Point:
    found = _NEUTRAL
    while number:
        if number & 1:
            found = _add(found, point)
        point = _add(point, point)
        number >>= 1
    return found


def _is_neutral(point: Point) -> bool:
    x, y, z, _ = point
    return x % _P == 0 and (y - z) % _P == 0


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)
