"""Fetch the pages that a spec names of an employer's website, and note their digests. Nothing else here asks a network.

A page that was there is no proof of what it says: whoever doubts it compares the digest with a copy of their own.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from audit_lib.canonical import sha256
from audit_lib.documents.pages_seen import PageSeen, PagesSeen, WebsiteKey
from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec

_KEYS: Final[tuple[WebsiteKey, ...]] = ("summary", "retention_policy", "requests")
_MOST: Final = 20 * 2**20
_SECONDS: Final = 20


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
        if url and not url.startswith(("https://", "http://")):
            raise SpecError(
                f"use.website.{key} is {url}: give the whole address, such as https://example.com/audit"
            )
    return PagesSeen(pages=tuple(_page(key, url, now()) for key, url in stated.items() if url))


def _page(key: WebsiteKey, url: str, at: datetime) -> PageSeen:
    status: int | None = None
    content, fault = None, ""
    request = urllib.request.Request(url, headers={"User-Agent": "audit_lib (audit look)"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            status, content = answer.status, answer.read(_MOST + 1)
    except urllib.error.HTTPError as error:
        status, fault = error.code, f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        fault = str(getattr(error, "reason", error)) or type(error).__name__
    if content is not None and len(content) > _MOST:
        content, fault = None, f"larger than {_MOST // 2**20} MiB"
    return PageSeen(
        key=key,
        url=url,
        at=at.astimezone(UTC).isoformat(timespec="seconds"),
        status=status,
        sha256=None if content is None else sha256(content),
        bytes=None if content is None else len(content),
        fault=fault,
    )
