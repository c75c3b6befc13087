"""Which addresses are of the public internet, held against the networks that IANA set apart."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.corpus import web_address as module
from audit_lib.corpus.web_address import AddressRefusedError, is_public, looked_up, web_address

INSIDE = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
    "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "::/127", "fc00::/7", "fe80::/10", "ff00::/8",
]  # fmt: skip
OF_FOUR = [ip_network(one) for one in INSIDE if ":" not in one]


@given(st.data())
def test_no_address_inside_is_public(data: st.DataObject) -> None:
    network = ip_network(data.draw(st.sampled_from(INSIDE)))
    number = int(network.network_address) + data.draw(st.integers(0, network.num_addresses - 1))
    assert not is_public(str(type(network.network_address)(number)))


@given(st.integers(0, 2**32 - 1))
def test_an_address_inside_another_is_what_it_carries(number: int) -> None:
    inner = IPv4Address(number)
    inside = any(inner in network for network in OF_FOUR)
    carriers = [
        f"::ffff:{inner}",
        str(IPv6Address((0x64FF9B << 96) | number)),  # NAT64
        str(IPv6Address((0x2002 << 112) | (number << 80) | 1)),  # 6to4
    ]
    if inside:
        assert not any(map(is_public, [str(inner), *carriers]))


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    for words in (text, f"https://{text}", f"https://example.org/{text}"):
        try:
            found = web_address(words)
        except AddressRefusedError:
            continue
        assert str(found).isascii() and str(found).isprintable() and " " not in str(found)
        assert web_address(str(found)) == found, "an address that was read is read as itself"


def test_one_address_inside_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("93.184.215.14", "10.1.2.3")]
    monkeypatch.setattr(module.socket, "getaddrinfo", lambda *_, **__: answers)
    with pytest.raises(AddressRefusedError, match=r"10\.1\.2\.3.*--private-host"):
        looked_up(web_address("https://example.org/"))
    assert looked_up(web_address("https://example.org/"), {"example.org"}) == ["93.184.215.14", "10.1.2.3"]


@pytest.mark.parametrize(
    "text",
    ["", "example.org", "gopher://x/", "https://", "https://a:b@c/", "https://x:99999/", "https://x y/", "http://[::1",
     "https://" + "a" * 3000, "https://x/\r\nHost: y", "https://\u202eexample.org\u0000/"],
)  # fmt: skip
def test_what_is_no_address_of_a_page(text: str) -> None:
    with pytest.raises(AddressRefusedError):
        web_address(text)
