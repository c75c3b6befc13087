"""One request for one page, and nothing that its answer leads to: bounded in time, in bytes and in what it unpacks to.

The connection is made to the very IP address that was looked up and found public, and the whole exchange, from the
first packet to the last byte, has one bound in time: a server that sends a byte now and then cannot hold a sweep.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
import zlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.corpus.web_address import AddressRefusedError, WebAddress, looked_up

_CONNECT_S: Final = 10.0
_CHUNK: Final = 1 << 16
_GZIP: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBounds:
    """What one request may take.

    Parameters
    ----------
    seconds : float
        From the first packet to the last byte.
    bytes : int
        As sent, and as unpacked.
    """

    seconds: float = 60.0
    bytes: int = 20 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """What a server answered.

    Parameters
    ----------
    status : int or None
        None where no whole answer came.
    reason : str
        The words beside the status.
    headers : tuple of (str, str)
        As sent.
    sent : bytes
        The body as sent, so perhaps packed.
    content : bytes
        The body, unpacked.
    fault : str
        Why there is no answer, or none that is used; empty where there is.
    ip : str
        Whom it came from.
    """

    status: int | None = None
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    sent: bytes = b""
    content: bytes = b""
    fault: str = ""
    ip: str = ""

    def header(self, name: str) -> str:
        """Return the first header of a name, or nothing."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class _TooLargeError(Exception):
    """More than the bound came."""


def request(
    address: WebAddress,
    headers: Mapping[str, str],
    bounds: RequestBounds,
    *,
    private_hosts: Container[str] = (),
) -> WebAnswer:
    """Ask for a page once; whatever goes wrong is a fault of the answer.

    Parameters
    ----------
    address : WebAddress
        Of the page.
    headers : mapping of str to str
        Sent besides the host and what packing is understood.
    bounds : RequestBounds
        Of the exchange.
    private_hosts : container of str
        Hosts that may be inside, because the operator said so.
    """
    until = time.monotonic() + bounds.seconds
    connection: _Connection | None = None
    try:
        connection = _Connection(address, looked_up(address, private_hosts), until)
        connection.request(
            "GET", address.target, headers={**headers, "Accept-Encoding": "gzip", "Connection": "close"}
        )
        answer = connection.getresponse()
        sent = _read(answer, bounds.bytes)
        content = _unpacked(sent, answer.getheader("Content-Encoding", ""), bounds.bytes)
        return WebAnswer(
            status=answer.status,
            reason=answer.reason,
            headers=tuple(answer.getheaders()),
            sent=sent,
            content=content,
            ip=connection.ip,
        )
    except AddressRefusedError as error:
        return WebAnswer(fault=str(error))
    except _TooLargeError:
        return WebAnswer(fault=f"larger than {bounds.bytes / 2**20:g} MiB")
    except (TimeoutError, OSError, ValueError, http.client.HTTPException, zlib.error) as error:
        if time.monotonic() >= until:
            return WebAnswer(fault=f"took more than {bounds.seconds:g} s")
        return WebAnswer(fault=_words(error))
    finally:
        if connection is not None:
            connection.end()


def _words(error: Exception) -> str:
    """What went wrong, in words of the system and never of the server."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not believed ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return "no TLS connection came about"
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, socket.gaierror):
        return "there is no such host, or no name server answered"
    if isinstance(error, zlib.error):
        return "its answer is not packed as it says"
    if isinstance(error, OSError):
        return error.strerror or "the connection broke"
    if isinstance(error, http.client.IncompleteRead):
        return "its answer ended early"
    return str(error) if isinstance(error, _UnusableError) else "its answer is not HTTP"


class _UnusableError(ValueError):
    """An answer that is HTTP, and no page."""


def _read(answer: http.client.HTTPResponse, most: int) -> bytes:
    """Read the body; one that ends before the length it was to have is none, or a change would be invented."""
    parts, size = [], 0
    while chunk := answer.read(_CHUNK):
        size += len(chunk)
        if size > most:
            raise _TooLargeError
        parts.append(chunk)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)


def _unpacked(sent: bytes, packing: str, most: int) -> bytes:
    packing = packing.strip().lower()
    if packing in ("", "identity") or not sent:
        return sent
    if packing not in ("gzip", "x-gzip"):
        raise _UnusableError("its answer is packed in a way that was not asked for")
    out, rest = b"", sent
    while rest:
        unpacker = zlib.decompressobj(_GZIP)
        out += unpacker.decompress(rest, most + 1 - len(out))
        if len(out) > most:
            raise _TooLargeError
        if not unpacker.eof:
            raise http.client.IncompleteRead(b"")
        rest = unpacker.unused_data
    return out


class _Connection(http.client.HTTPConnection):
    """Connects to the addresses that were looked up, and to no other."""

    def __init__(self, address: WebAddress, ips: list[str], until: float) -> None:
        super().__init__(f"[{address.host}]" if ":" in address.host else address.host, address.port)
        self.default_port = 443 if address.scheme == "https" else 80  # what the header Host leaves out
        self._address, self._ips, self._until = address, ips, until
        self._bounded: _BoundedSocket | None = None
        self.ip = ""

    def connect(self) -> None:
        """Connect to the first address that answers."""
        failed: OSError = TimeoutError()
        for ip in self._ips:
            try:
                found = socket.create_connection((ip, self._address.port), timeout=self._left(_CONNECT_S))
                break
            except OSError as error:
                failed = error
        else:
            raise failed
        self.ip = ip
        try:
            if self._address.scheme == "https":
                found.settimeout(self._left())
                found = ssl.create_default_context().wrap_socket(found, server_hostname=self._address.host)
        except BaseException:
            found.close()
            raise
        self._bounded = _BoundedSocket(found, self._until)
        self.sock: Any = self._bounded

    def end(self) -> None:
        """Close the connection, and what is left of it."""
        self.close()
        if self._bounded is not None:
            self._bounded.end()

    def _left(self, most: float = float("inf")) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, most)


class _BoundedSocket:
    """A socket whose every reading and writing together end at one instant."""

    def __init__(self, inner: socket.socket, until: float) -> None:
        self._inner, self._until = inner, until

    def bound(self) -> socket.socket:
        """Return the socket with the time that is left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)
        return self._inner

    def sendall(self, content: bytes) -> None:
        """Send all."""
        self.bound().sendall(content)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what is received, as a stream."""
        return io.BufferedReader(_Received(self))

    def close(self) -> None:
        """Leave it open: `http.client` closes it as soon as the headers are there, and the body is still to come."""

    def end(self) -> None:
        """Close it."""
        self._inner.close()


class _Received(io.RawIOBase):
    def __init__(self, source: _BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.bound().recv_into(buffer)
