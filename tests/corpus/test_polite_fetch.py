"""Asking a real server: its rules, its redirects, its slowness and its tricks."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from audit_lib.corpus.one_request import RequestBounds
from audit_lib.corpus.polite_fetch import FetchManners, PageRequest, PageVisit, PoliteFetcher
from tests.corpus.web_site import HOST, Page, Site, web_site


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as made:
        made.pages["/page"] = Page(b"<p>here</p>", headers={"ETag": '"one"'})
        yield made


def visit(url: str, *, etag: str = "", private: bool = True, **bounds: float) -> PageVisit:
    manners = FetchManners(
        between=0.0,
        contact="desk@example.org",
        private_hosts=frozenset({HOST, "localhost"}) if private else frozenset(),
        bounds=RequestBounds(**{"seconds": 5.0, "bytes": 100_000, **bounds}),  # type: ignore[arg-type]
    )
    return PoliteFetcher(manners).visit(PageRequest(url=url, etag=etag))


def test_a_page_and_who_asked(site: Site) -> None:
    found = visit(site.url("/page")).answer
    assert (found.status, found.content, found.fault) == (200, b"<p>here</p>", "")
    assert site.paths() == ["/robots.txt", "/page"]
    assert {one.headers["User-Agent"].partition("/")[0] for one in site.asked} == {"audit_lib"}
    assert all("desk@example.org" in one.headers["User-Agent"] for one in site.asked)


def test_what_did_not_change_is_not_sent_again(site: Site) -> None:
    assert visit(site.url("/page"), etag='"one"').answer.status == 304
    assert visit(site.url("/page"), etag='"other"').answer.status == 200


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        (Page(b"User-agent: *\nDisallow: /private"), "/page", True),
        (Page(b"User-agent: *\nDisallow: /"), "/page", False),
        (Page(b"User-agent: audit_lib\nDisallow: /page\n\nUser-agent: *\nAllow: /"), "/page", False),
        (Page(b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /page"), "/page", False),
        (Page(status=404), "/page", True),
        (Page(status=403), "/page", False),
        (Page(status=500), "/page", False),
        (Page(status=301, headers={"Location": "/moved.txt"}), "/page", False),
        (Page(status=301, headers={"Location": "/robots.txt"}), "/page", False),
    ],
)
def test_robots_txt_is_kept_to(site: Site, robots: Page, path: str, allowed: bool) -> None:
    site.pages |= {"/robots.txt": robots, "/moved.txt": Page(b"User-agent: *\nDisallow: /page")}
    found = visit(site.url(path)).answer
    assert (found.status == 200) is allowed
    assert ("robots.txt" in found.fault) is not allowed
    assert (path in site.paths()) is allowed, "a page that is not allowed is not asked for"


def test_a_host_has_its_rest(site: Site) -> None:
    site.pages["/robots.txt"] = Page(b"User-agent: *\nCrawl-delay: 7")
    slept: list[float] = []
    fetcher = PoliteFetcher(FetchManners(between=3.0, private_hosts=frozenset({HOST})), slept.append)
    told: list[str] = []
    fetcher.visit_all(
        [PageRequest(url=site.url(f"/page?{i}")) for i in range(3)], lambda page, found: told.append(page.url)
    )
    assert len(told) == 3
    # The first request is robots.txt, after which the site's own rest holds; the sleeper here does not sleep.
    assert len(slept) == 3 and all(6.5 < one <= 7.0 for one in slept)


def test_a_host_that_asks_for_no_more_is_left_alone(site: Site) -> None:
    site.pages["/busy"] = Page(status=429, headers={"Retry-After": "60"})
    manners = FetchManners(between=0.0, private_hosts=frozenset({HOST}))
    found: dict[str, PageVisit] = {}
    pages = [PageRequest(url=site.url(path)) for path in ("/busy", "/page")]
    PoliteFetcher(manners).visit_all(pages, lambda page, one: found.update({page.url: one}))
    assert "/page" not in site.paths()
    assert "no more requests" in found[site.url("/page")].answer.fault


def test_a_host_that_never_answers_does_not_hold_the_others(site: Site) -> None:
    site.pages |= {f"/{i}": Page(write=drops) for i in range(9)}
    manners = FetchManners(between=0.0, private_hosts=frozenset({HOST}))
    found: list[str] = []
    pages = [PageRequest(url=site.url(f"/{i}")) for i in range(9)]
    PoliteFetcher(manners).visit_all(pages, lambda page, one: found.append(one.answer.fault))
    assert site.paths() == ["/robots.txt", "/0", "/1", "/2"]
    assert sum("was left alone" in fault for fault in found) == 6


def test_redirects_are_followed_and_noted(site: Site) -> None:
    site.pages |= {
        "/old": Page(status=301, headers={"Location": "/middle#part"}),
        "/middle": Page(status=302, headers={"Location": site.url("/page")}),
    }
    found = visit(site.url("/old"))
    assert found.answer.content == b"<p>here</p>"
    assert found.redirects == (f"301 {site.url('/middle')}", f"302 {site.url('/page')}")
    assert [address for address, _ in found.answers] == [site.url(p) for p in ("/old", "/middle", "/page")]


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("file:///etc/passwd", "not an address of a web page"),
        ("//169.254.169.254/latest/meta-data", "169.254.169.254, which is no address of the public internet"),
        ("http://[::1]/", "no address of the public internet"),
        ("http://2130706433/", "no address of the public internet"),
        ("http://0x7f.1/", "no address of the public internet"),
        ("http://user:secret@example.org/", "name or password"),
        ("javascript:alert(1)", "not an address of a web page"),
        ("", "more than 5 times"),
        ("/loop", "more than 5 times"),
    ],
)
def test_a_page_leads_nowhere_inside(site: Site, location: str, said: str) -> None:
    site.pages["/loop"] = Page(status=302, headers={"Location": location})
    found = visit(site.url("/loop"))
    assert said in found.answer.fault
    assert "secret" not in found.answer.fault + "".join(found.redirects)
    assert found.answer.status is None


def test_loopback_is_refused_unless_it_is_named(site: Site) -> None:
    found = visit(site.url("/page"), private=False)
    assert "no address of the public internet" in found.answer.fault
    assert site.asked == []


def chunked(handler: BaseHTTPRequestHandler, *chunks: bytes, end: bool = True) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for one in chunks:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(one), one))
    if end:
        handler.wfile.write(b"0\r\n\r\n")


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 65536)


def drops(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"half")


def trickles(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
    for _ in range(200):
        handler.wfile.write(b"a")
        handler.wfile.flush()
        time.sleep(0.1)


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")


def test_chunks_are_put_together(site: Site) -> None:
    site.pages["/chunks"] = Page(write=lambda handler: chunked(handler, b"one ", b"two"))
    assert visit(site.url("/chunks")).answer.content == b"one two"


def test_gzip_is_unpacked_and_kept_as_sent(site: Site) -> None:
    packed = gzip.compress(b"first ") + gzip.compress(b"second")
    site.pages["/packed"] = Page(packed, headers={"Content-Encoding": "gzip"})
    found = visit(site.url("/packed")).answer
    assert (found.content, found.sent) == (b"first second", packed)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page(write=endless), "larger than"),
        (Page(gzip.compress(b"0" * 5_000_000), headers={"Content-Encoding": "gzip"}), "larger than"),
        (Page(gzip.compress(b"0" * 5000)[:-9], headers={"Content-Encoding": "gzip"}), "ended early"),
        (Page(b"no gzip", headers={"Content-Encoding": "gzip"}), "not packed as it says"),
        (Page(b"br", headers={"Content-Encoding": "br"}), "packed in a way that was not asked for"),
        (Page(write=drops), "ended early"),
        (Page(write=lambda handler: chunked(handler, b"half", end=False)), "ended early"),
        (Page(write=trickles), "took more than"),
        (Page(write=garbage), "not HTTP"),
    ],
    ids=["endless", "bomb", "cut gzip", "no gzip", "brotli", "cut", "cut chunks", "trickle", "ssh"],
)
def test_what_is_no_whole_page_is_none(site: Site, page: Page, said: str) -> None:
    site.pages["/page"] = page
    began = time.monotonic()
    found = visit(site.url("/page"), seconds=1.5).answer
    assert said in found.fault
    assert (found.status, found.content) == (None, b"")
    assert time.monotonic() - began < 15  # not what it takes: that it ends


def test_a_host_that_is_not_there() -> None:
    with web_site() as gone:
        url = gone.url("/page")
    found = visit(url).answer
    assert "robots.txt could not be had (Connection refused)" in found.fault
