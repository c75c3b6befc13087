"""Fetch one web page, within bounds. Nothing here follows what the page says."""

from __future__ import annotations

import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Final

MOST: Final = 20 * 2**20
_SECONDS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What came of a page.

    Attributes
    ----------
    status : int or None
        The server's answer; None where none came.
    content : bytes or None
        The page's bytes; None where it did not come, or is larger than `MOST`.
    fault : str
        Why it did not come; empty where it did.
    """

    status: int | None
    content: bytes | None
    fault: str


def is_address(text: str) -> bool:
    """Whether a text is the whole address of a web page.

    Examples
    --------
    >>> is_address("https://example.com/report.html"), is_address("report.html")
    (True, False)
    """
    return text.startswith(("https://", "http://"))


def fetch(url: str, *, agent: str) -> Fetched:
    """Fetch a page once; `agent` is the command that asks."""
    status: int | None = None
    content, fault = None, ""
    request = urllib.request.Request(url, headers={"User-Agent": f"audit_lib ({agent})"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            status, content = answer.status, answer.read(MOST + 1)
    except urllib.error.HTTPError as error:
        status, fault = error.code, f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        fault = str(getattr(error, "reason", error)) or type(error).__name__
    if content is not None and len(content) > MOST:
        content, fault = None, f"larger than {MOST // 2**20} MiB"
    return Fetched(status=status, content=content, fault=fault)
