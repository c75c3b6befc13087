"""Addresses of web pages, and whether a machine on the public internet has them.

A list of pages is somebody's words, and a page may send a visitor anywhere. So every address that is asked is looked up
here first, and the connection is made to what was looked up: a name cannot lead elsewhere between the two.
"""

from __future__ import annotations

import socket
from collections.abc import Container
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

_PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 2000
_KEPT: Final = "/%:@!$&'()*+,;=~-._?"
_NAT64: Final = ip_network("64:ff9b::/96")


class AddressRefusedError(ValueError):
    """An address that is not asked, and why."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The parts of an address that a request is made of.

    Parameters
    ----------
    scheme : {"http", "https"}
        How it is asked.
    host : str
        In ASCII, in lower case.
    port : int
        Where.
    target : str
        Path and query, in ASCII.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def site(self) -> str:
        """Scheme, host and port: what a robots.txt is for."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{shown}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    def __str__(self) -> str:
        return self.site + self.target


def web_address(text: str, base: WebAddress | None = None) -> WebAddress:
    """Read an address, or one that stands in the answer of `base`.

    Raises
    ------
    AddressRefusedError
        If it is not one of a web page: another scheme, a password in it, no host.

    Examples
    --------
    >>> str(web_address("HTTPS://Bücher.example:443/a b?q=ü#part"))
    'https://xn--bcher-kva.example/a%20b?q=%C3%BC'
    >>> web_address("file:///etc/passwd")
    Traceback (most recent call last):
    audit_lib.corpus.web_address.AddressRefusedError: not an address of a web page (https:// or http://)
    """
    if len(text) > _LONGEST:
        raise AddressRefusedError(f"an address of more than {_LONGEST} characters")
    if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in text):
        raise AddressRefusedError("an address with control characters")
    try:
        parts = urlsplit(urljoin(str(base), text.strip()) if base else text.strip())
        return _read(parts)
    except AddressRefusedError:
        raise
    except ValueError:  # UnicodeError too: a host that cannot be a name
        raise AddressRefusedError("not an address that can be read") from None


def _read(parts: SplitResult) -> WebAddress:
    if parts.scheme not in _PORTS:
        raise AddressRefusedError("not an address of a web page (https:// or http://)")
    if parts.username is not None or parts.password is not None:
        raise AddressRefusedError("an address with a name or password in it")
    if not parts.hostname:
        raise AddressRefusedError("an address without a host")
    host = parts.hostname
    if ":" not in host:
        host = host.rstrip(".").encode("idna").decode("ascii").lower()
    if not host or any(char in " /\\@#?%" for char in host):
        raise AddressRefusedError("an address without a host")
    target = quote(parts.path or "/", safe=_KEPT) + (
        f"?{quote(parts.query, safe=_KEPT + '/')}" if parts.query else ""
    )
    return WebAddress(parts.scheme, host, parts.port or _PORTS[parts.scheme], target)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also inside one that only carries it.

    Examples
    --------
    >>> [is_public(one) for one in ("93.184.215.14", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1")]
    [True, False, False, False]
    >>> is_public("64:ff9b::a9fe:a9fe"), is_public("2002:7f00:1::"), is_public("fe80::1%eth0")
    (False, False, False)
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        carried: list[IPv4Address | None] = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        if found in _NAT64:
            carried.append(IPv4Address(int(found) & 0xFFFFFFFF))
        if any(one is not None and not _is_global(one) for one in carried):
            return False
        if found.ipv4_mapped is not None:
            return True
    return _is_global(found)


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    return address.is_global and not address.is_multicast and not address.is_reserved


def looked_up(address: WebAddress, private_hosts: Container[str] = ()) -> list[str]:
    """Return the IP addresses of a host, all of which are public unless the operator named the host.

    Raises
    ------
    AddressRefusedError
        If one of them is not public.
    OSError
        If there is no such host.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise AddressRefusedError("not an address that can be read") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    inside = [one for one in addresses if not is_public(one)]
    if inside and address.host not in private_hosts:
        named = "" if address.host == inside[0] else f"{address.host} is "
        raise AddressRefusedError(
            f"{named}{inside[0]}, which is no address of the public internet; name the host with "
            "--private-host if you mean it"
        )
    return addresses
