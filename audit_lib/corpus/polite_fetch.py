"""Fetches pages as a guest does: robots.txt is asked first, hosts have a rest between requests, bounds are kept."""

from __future__ import annotations

import math
import time
from _thread import LockType
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Final

from audit_lib import __version__
from audit_lib.corpus.one_request import RequestBounds, WebAnswer, request
from audit_lib.corpus.robots import MOST, TOKEN, RobotsAnswer, SiteRobots
from audit_lib.corpus.web_address import AddressRefusedError, WebAddress, web_address

_MOST_REDIRECTS: Final = 5
_TOO_MANY, _BUSY = 429, 503
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_AT_ONCE: Final = 8
"""Hosts that are asked at the same time; one host is asked one thing at a time."""
_LONGEST_REST: Final = 120.0
_SILENT: Final = 3
"""Requests in a row without a whole answer, after which a host is left alone: its other pages would hold the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchManners:
    """How pages are asked for.

    Parameters
    ----------
    between : float
        Seconds between two requests to one host, where its robots.txt does not ask for more.
    contact : str
        Address or page of the operator, told to every site.
    private_hosts : frozenset of str
        Hosts that may have addresses that are not public.
    bounds : RequestBounds
        Of each request.
    """

    between: float = 2.0
    contact: str = ""
    private_hosts: frozenset[str] = frozenset()
    bounds: RequestBounds = field(default_factory=RequestBounds)

    @property
    def agent(self) -> str:
        """What a site is told of who asks."""
        return f"{TOKEN}/{__version__} (check-corpus{f'; {self.contact}' if self.contact else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A page to ask for, and what its server said of it last.

    Parameters
    ----------
    url : str
        As listed.
    etag, last_modified : str
        So that the server need not send again what it sent; empty to have all of it.
    """

    url: str
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVisit:
    """What came of asking for a page.

    Parameters
    ----------
    answer : WebAnswer
        The last one.
    redirects : tuple of str
        Each as ``status address``, in order.
    answers : tuple of (str, WebAnswer)
        Every address that answered, in order.
    """

    answer: WebAnswer
    redirects: tuple[str, ...] = ()
    answers: tuple[tuple[str, WebAnswer], ...] = ()


class PoliteFetcher:
    """Asks for pages; each host is asked one thing at a time, with a rest between.

    Parameters
    ----------
    manners : FetchManners
        How.
    sleep : callable
        Waits so many seconds.
    """

    def __init__(self, manners: FetchManners, sleep: Callable[[float], None] = time.sleep) -> None:
        self._manners, self._sleep = manners, sleep
        self._robots = SiteRobots(self._robots_txt)
        self._hosts: dict[str, _HostRest] = {}
        self._lock = Lock()

    def visit_all(self, pages: Iterable[PageRequest], told: Callable[[PageRequest, PageVisit], None]) -> None:
        """Ask for every page, several hosts at once; `told` is called from this thread, as answers come."""
        by_host: dict[str, list[PageRequest]] = {}
        for page in pages:
            by_host.setdefault(_host_of(page), []).append(page)
        done: SimpleQueue[tuple[PageRequest, PageVisit]] = SimpleQueue()

        def visit_host(some: list[PageRequest]) -> None:
            for page in some:
                done.put((page, self.visit(page)))

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            running = [pool.submit(visit_host, some) for some in by_host.values()]
            for _ in range(sum(map(len, by_host.values()))):
                while True:
                    try:
                        told(*done.get(timeout=1))
                        break
                    except Empty:
                        for one in running:
                            if one.done():
                                one.result()  # raises what no answer accounts for

    def visit(self, page: PageRequest) -> PageVisit:
        """Ask for a page, and go where its answers lead, within bounds."""
        redirects: list[str] = []
        answers: list[tuple[str, WebAnswer]] = []
        try:
            address = web_address(page.url)
            while True:
                if why := self._robots.refusal(address.site, str(address)):
                    return PageVisit(
                        answer=WebAnswer(fault=why), redirects=tuple(redirects), answers=tuple(answers)
                    )
                answer = self._ask(address, self._robots.delay(address.site), _conditions(page))
                if answer.status is not None:
                    answers.append((str(address), answer))
                if answer.status not in _REDIRECTS:
                    break
                address = web_address(answer.header("location"), address)
                redirects.append(f"{answer.status} {address}")
                page = replace(page, etag="", last_modified="")  # what it had was of the first address
                if len(redirects) > _MOST_REDIRECTS:
                    answer = WebAnswer(fault=f"led on more than {_MOST_REDIRECTS} times")
                    break
        except AddressRefusedError as error:
            where = "led to " if answers else ""
            answer = WebAnswer(fault=f"{where}{error}")
        return PageVisit(answer=answer, redirects=tuple(redirects), answers=tuple(answers))

    def _robots_txt(self, site: str) -> RobotsAnswer:
        """Fetch a robots.txt, and go where its answers lead; nobody's rules are asked about rules."""
        try:
            address = web_address(f"{site}/robots.txt")
            for _ in range(_MOST_REDIRECTS + 1):
                answer = self._ask(address, 0.0, {})
                if answer.status not in _REDIRECTS:
                    return RobotsAnswer(answer.status, answer.content[:MOST], answer.fault)
                address = web_address(answer.header("location"), address)
        except AddressRefusedError as error:
            return RobotsAnswer(None, b"", str(error))
        return RobotsAnswer(None, b"", f"led on more than {_MOST_REDIRECTS} times")

    def _ask(self, address: WebAddress, delay: float, conditions: Mapping[str, str]) -> WebAnswer:
        with self._lock:
            host = self._hosts.setdefault(address.host, _HostRest())
        with host.lock:
            if host.refuses:
                return WebAnswer(fault=host.refuses)
            rest = max(delay, self._manners.between)
            if rest > _LONGEST_REST:
                return WebAnswer(fault=f"robots.txt asks for {rest:g} s between requests")
            if (wait := host.last + rest - time.monotonic()) > 0:
                self._sleep(wait)
            headers = {"User-Agent": self._manners.agent, "Accept": "*/*", **conditions}
            answer = request(
                address, headers, self._manners.bounds, private_hosts=self._manners.private_hosts
            )
            host.last = time.monotonic()
            host.silent = host.silent + 1 if answer.status is None else 0
            if host.silent >= _SILENT:
                host.refuses = f"the host gave no answer {_SILENT} times in a row, and was left alone"
            if answer.status == _TOO_MANY or (answer.status == _BUSY and answer.header("retry-after")):
                host.refuses = f"the host asked for no more requests now (HTTP {answer.status})"
        return answer


@dataclass(slots=True)
class _HostRest:
    lock: LockType = field(default_factory=Lock)
    last: float = -math.inf
    silent: int = 0
    refuses: str = ""


def _host_of(page: PageRequest) -> str:
    try:
        return web_address(page.url).host
    except AddressRefusedError:
        return ""


def _conditions(page: PageRequest) -> dict[str, str]:
    """What the server is told that is had already."""
    named = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
    return {name: value for name, value in named.items() if value}
