"""What `audit look` writes: when the pages of an employer's website were fetched, and what their bytes were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.typed_json import Typed

PAGES_SEEN: Final = "audit-pages-seen/1"
WebsiteKey = Literal["summary", "retention_policy", "requests"]
"""Keys of the spec's `use.website` that state an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSeen(Typed):
    """One address, and what came of fetching it.

    Attributes
    ----------
    key : str
        Of `use.website`.
    url : str
        As the spec states it.
    at : str
        When, ISO 8601.
    status : int or None
        What the server answered; None where nothing did.
    sha256, bytes : str, int or None
        Of what came; None where no page came.
    fault : str
        Why no page came, or empty.
    """

    key: WebsiteKey
    url: str
    at: str
    status: int | None
    sha256: str | None
    bytes: int | None
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesSeen(Typed):
    """The file."""

    schema: Literal["audit-pages-seen/1"] = PAGES_SEEN
    pages: tuple[PageSeen, ...]
