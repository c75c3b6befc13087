"""What a site's robots.txt allows: asked once for each site and sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.robotparser import RobotFileParser

TOKEN: Final = "audit_lib"
"""The name that a robots.txt speaks to us by."""
MOST: Final = 500 * 2**10
"""Bytes of a robots.txt that are read, as RFC 9309 asks for at least."""
_FORBIDDEN: Final = (401, 403)


class RobotsAnswer(NamedTuple):
    """What came for robots.txt: a status, None where nothing came, and the bytes."""

    status: int | None
    content: bytes
    fault: str = ""


class SiteRobots:
    """The rules of each site, by scheme, host and port.

    Parameters
    ----------
    asked : callable
        Fetches the robots.txt of a site.
    """

    def __init__(self, asked: Callable[[str], RobotsAnswer]) -> None:
        self._asked = asked
        self._rules: dict[str, RobotFileParser | str] = {}

    def refusal(self, site: str, address: str) -> str:
        """Return why an address must not be fetched; empty where it may be."""
        rules = self._of(site)
        if isinstance(rules, str):
            return rules
        if rules.can_fetch(TOKEN, address):
            return ""
        return f"{site}/robots.txt does not allow it; save the page by hand, and check it as a file"

    def delay(self, site: str) -> float:
        """Return the seconds that a site asks for between two requests."""
        rules = self._of(site)
        if isinstance(rules, str):
            return 0.0
        rate = rules.request_rate(TOKEN)
        least = rate.seconds / rate.requests if rate and rate.requests else 0.0
        try:
            return max(float(rules.crawl_delay(TOKEN) or 0), least)
        except ValueError:
            return least

    def _of(self, site: str) -> RobotFileParser | str:
        if site not in self._rules:
            self._rules[site] = _rules(site, self._asked(site))
        return self._rules[site]


def _rules(site: str, answer: RobotsAnswer) -> RobotFileParser | str:
    """Read the rules, or return why nothing of the site may be fetched."""
    rules = RobotFileParser()
    if answer.status is None or answer.status >= 500 or answer.status == 429:
        why = answer.fault or f"HTTP {answer.status}"
        return f"{site}/robots.txt could not be had ({why}), so it is not known what the site allows"
    if answer.status in _FORBIDDEN:
        return f"{site}/robots.txt is forbidden (HTTP {answer.status}), so nothing of the site is fetched"
    if answer.status != 200:
        rules.parse([])
        return rules
    rules.parse(answer.content[:MOST].decode("utf-8-sig", errors="replace").splitlines())
    return rules
