"""The pages of an employer's website that were seen, as the file that a spec names says (`audit look` writes it)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit_lib.documents.pages_seen import PageSeen, PagesSeen
from audit_lib.typed_json import decode

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

SEEN = "use.website.seen"
"""The design file."""


def pages_seen(spec: AuditSpec) -> tuple[PageSeen, ...]:
    """Return what came of fetching each page; none where the spec names no file.

    Raises
    ------
    SpecError
        If the file cannot be read.
    EvidenceError
        If it is not what `audit look` writes.
    """
    if spec.use.website is None or spec.use.website.seen is None:
        return ()
    return decode(PagesSeen, spec.design_file(SEEN), SEEN).pages
