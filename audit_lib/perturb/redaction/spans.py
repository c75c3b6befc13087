"""What redaction finds: spans that become slots, and doubtful ones that a person has to look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedSpan:
    """A place of the text that becomes a slot.

    Attributes
    ----------
    start, end : int
        Characters of the text.
    kind : str
        What it is, for reports: name, title, pronoun, relation, ethnicity, college, college_place, job_place,
        phone, email, link, address.
    slot : str
        The slot that it becomes, without the number of its form.
    rule : str
        What found it.
    sure : bool
        Whether the rule leaves no other reading; otherwise a person should look.
    """

    start: int
    end: int
    kind: str
    slot: str
    rule: str
    sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A place of the text that was left as it is, and why it may say who the applicant is.

    `slot` is what it becomes if the caller wants places of its kind redacted all the same; empty: never.
    """

    start: int
    end: int
    kind: str
    why: str
    slot: str = ""


@dataclass(slots=True)
class FoundSpans:
    """Spans and doubts of one text; who comes first keeps the place."""

    spans: list[RedactedSpan] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    disputed: list[tuple[int, int, str]] = field(default_factory=list)
    """Spans that a check reads otherwise than the rules."""

    def free(self, start: int, end: int) -> bool:
        """Return whether no span touches these characters."""
        return all(end <= span.start or span.end <= start for span in self.spans)

    def add(self, span: RedactedSpan) -> bool:
        """Keep a span unless its place is taken; return whether it was kept."""
        if span.start < span.end and self.free(span.start, span.end):
            self.spans.append(span)
            return True
        return False

    def add_all(self, spans: Iterable[RedactedSpan]) -> None:
        """Keep those whose place is free, longest first."""
        for span in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
            self.add(span)

    def doubt(self, doubt: Doubt) -> None:
        """Note a doubtful place, once."""
        self.doubts.append(doubt)

    def open_doubts(self) -> list[Doubt]:
        """Return the doubts that no span settled, in order and each place once."""
        kept: list[Doubt] = []
        for doubt in sorted(self.doubts, key=lambda d: (d.start, d.start - d.end, d.kind, d.why)):
            if self.free(doubt.start, doubt.end) and (not kept or doubt.start >= kept[-1].end):
                kept.append(doubt)
        return kept
