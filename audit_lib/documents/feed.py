"""``feed.json`` of the site: JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/), with each run's facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from audit_lib.documents.plan import PolicyVersion
from audit_lib.documents.run_statement import JournalHead
from audit_lib.typed_json import OPTIONAL, Typed

VERSION: Final = "https://jsonfeed.org/version/1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedWindow(Typed):
    """The window of a run."""

    start: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSignature(Typed):
    """A sign-off of a run."""

    auditor: str
    organisation: str
    signed_at: str
    statement_sha256: str
    key_id: str
    key_checked: bool
    """Whether the publisher knew the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts(Typed):
    """What machines may want to know of a run."""

    audit: str
    window: FeedWindow
    spec_digest: str
    outcome: Literal["complete", "validation_failed"]
    experiment: bool | None
    policy: PolicyVersion
    status: str
    audited: str | None
    """Day of the audit; null where there is none to rely on."""
    no_use_after: str | None
    signatures: tuple[FeedSignature, ...]
    superseded_by: str | None
    manifest_sha256: str
    journal: JournalHead | None = field(default=None, metadata=OPTIONAL)
    """The run's last entry in the journal of its audit: who keeps it can tell whether that was rewritten since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem(Typed):
    """A run."""

    id: str
    url: str
    title: str
    content_text: str
    date_published: str
    date_modified: str
    facts: Annotated[RunFacts, Field(alias="_audit")]

    def as_dict(self) -> dict[str, Any]:
        """JSON form: the facts are a key of our own, which the format wants to begin with an underscore."""
        return {
            "id": self.id,
            "url": self.url,
            "title": self.title,
            "content_text": self.content_text,
            "date_published": self.date_published,
            "date_modified": self.date_modified,
            "_audit": self.facts.as_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed(Typed):
    """``feed.json``; without the site's address it has no links to itself."""

    version: Literal["https://jsonfeed.org/version/1.1"] = VERSION
    title: str
    items: tuple[FeedItem, ...]
    home_page_url: str | None = field(default=None, metadata=OPTIONAL)
    feed_url: str | None = field(default=None, metadata=OPTIONAL)
