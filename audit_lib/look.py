"""Fetch the pages that a spec names of an employer's website, and note their digests. Nothing else here asks a network.

A page that was there is no proof of what it says: whoever doubts it compares the digest with a copy of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from audit_lib.canonical import sha256
from audit_lib.documents.pages_seen import PageSeen, PagesSeen, WebsiteKey
from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec
from audit_lib.web_page import fetch, is_address

_KEYS: Final[tuple[WebsiteKey, ...]] = ("summary", "retention_policy", "requests")


def look(spec: AuditSpec, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> PagesSeen:
    """Fetch each address of `use.website`, once.

    Raises
    ------
    SpecError
        If the spec states no address, or one that is no web address.
    """
    website = spec.use.website
    stated = {} if website is None else {key: getattr(website, key).strip() for key in _KEYS}
    if not any(stated.values()):
        raise SpecError("use.website names no address; write summary, retention_policy or requests")
    for key, url in stated.items():
        if url and not is_address(url):
            raise SpecError(
                f"use.website.{key} is {url}: give the whole address, such as https://example.com/audit"
            )
    return PagesSeen(pages=tuple(_page(key, url, now()) for key, url in stated.items() if url))


def _page(key: WebsiteKey, url: str, at: datetime) -> PageSeen:
    found = fetch(url, agent="audit look")
    return PageSeen(
        key=key,
        url=url,
        at=at.astimezone(UTC).isoformat(timespec="seconds"),
        status=found.status,
        sha256=None if found.content is None else sha256(found.content),
        bytes=None if found.content is None else len(found.content),
        fault=found.fault,
    )
