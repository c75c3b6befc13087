"""Time stamps of RFC 3161: what they are over and which time they say. Who signed them is not checked here."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timedelta, timezone

from verifier.strict_json import OddError

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_TST_INFO = bytes.fromhex("2a864886f70d0109100104")
_HASHES = {
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
_SEQUENCE, _INTEGER, _OID, _OCTETS, _TIME, _EXPLICIT = 0x30, 0x02, 0x06, 0x04, 0x18, 0xA0


def stamped_at(stamp: bytes, content: bytes) -> datetime:
    """Return the time that a stamp over `content` says, whoever signed it.

    Raises
    ------
    OddError
        If it is none, or over something else.
    """
    try:
        imprint, said = _token(stamp)
    except IndexError:
        raise OddError("is no time stamp") from None
    (algorithm, digest) = imprint
    name = _HASHES.get(algorithm)
    if name is None or hashlib.new(name, content).digest() != digest:
        raise OddError("is a time stamp over something else")
    return _time(said)


def _token(stamp: bytes) -> tuple[tuple[bytes, bytes], bytes]:
    """Return the hash that is stamped, by the object identifier of its algorithm, and the time."""
    status, token = _parts(_only(stamp, _SEQUENCE))[:2]
    if _parts(_of(status, _SEQUENCE))[0] not in ((_INTEGER, b"\x00"), (_INTEGER, b"\x01")):
        raise OddError("is no time stamp: the authority refused")
    kind, signed = _parts(_of(token, _SEQUENCE))[:2]
    if kind != (_OID, _SIGNED_DATA):
        raise OddError("is no time stamp")
    content = _parts(_of(_parts(_only(_of(signed, _EXPLICIT), _SEQUENCE))[2], _SEQUENCE))
    if content[0] != (_OID, _TST_INFO):
        raise OddError("is no time stamp")
    info = _parts(_only(_only(_of(content[1], _EXPLICIT), _OCTETS), _SEQUENCE))
    algorithm, digest = _parts(_of(info[2], _SEQUENCE))[:2]
    return (_of(_parts(_of(algorithm, _SEQUENCE))[0], _OID), _of(digest, _OCTETS)), _of(info[4], _TIME)


def _time(words: bytes) -> datetime:
    found = re.fullmatch(rb"(\d{14})(?:\.(\d{1,6})\d*)?Z", words)
    if found is None:
        raise OddError("is a time stamp without a time")
    try:
        at = datetime.strptime(found[1].decode(), "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        raise OddError("is a time stamp without a time") from None
    return at + timedelta(microseconds=int((found[2] or b"0").ljust(6, b"0")))


def _parts(content: bytes) -> list[tuple[int, bytes]]:
    """Return the elements that stand one after the other: tag and content."""
    found, at = [], 0
    while at < len(content):
        tag, length, at = content[at], content[at + 1], at + 2
        if length > 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(content[at : at + size], "big"), at + size
            if length < 0x80 or size != (length.bit_length() + 7) // 8:
                raise OddError("is no time stamp: a length is written in another form than DER's")
        elif length == 0x80:
            raise OddError("is no time stamp: its lengths do not fit")
        if at + length > len(content):
            raise OddError("is no time stamp: its lengths do not fit")
        found.append((tag, content[at : at + length]))
        at += length
    return found


def _of(part: tuple[int, bytes], tag: int) -> bytes:
    if part[0] != tag:
        raise OddError("is no time stamp: it has other parts")
    return part[1]


def _only(content: bytes, tag: int) -> bytes:
    parts = _parts(content)
    if len(parts) != 1:
        raise OddError("is no time stamp: it has more parts")
    return _of(parts[0], tag)
