"""``earlier.json``: what a plan keeps of the reports of earlier audits; and what a later report says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from audit_lib.errors import EvidenceError, InputError
from audit_lib.typed_json import Count, Typed, decode_value

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""An instant, ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest(Typed):
    """The impact ratio that led an audit's headline tables of one kind.

    Its ratio is ``(selected / n) / (comparator_selected / comparator_n)``.

    Parameters
    ----------
    label : str
        Its category.
    selected, n : int
        Its counts.
    comparator_selected, comparator_n : int
        The counts of the category it is compared with.
    """

    label: str
    selected: Count
    n: Count
    comparator_selected: Count
    comparator_n: Count

    def __post_init__(self) -> None:
        if (
            not (0 <= self.selected <= self.n and 0 < self.comparator_selected <= self.comparator_n)
            or not self.n
        ):
            raise InputError(
                f"earlier audit, {self.label!r}: {self.selected} of {self.n} against {self.comparator_selected} of "
                f"{self.comparator_n} defines no impact ratio"
            )

    @property
    def ratio(self) -> Fraction:
        """The impact ratio, exact."""
        return Fraction(self.selected * self.comparator_n, self.n * self.comparator_selected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Typed):
    """A window of time, half-open, ISO 8601."""

    start: Time
    end: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReport(Typed):
    """What ``earlier.json`` keeps of an earlier ``report.json``."""

    window: Span
    measured_at: str
    status: Literal["signed", "not signed"]
    tool_version: str
    spec_digest: str
    headline: Mapping[str, Smallest]
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierAudit(Typed):
    """One earlier audit, as a later report tells of it.

    Parameters
    ----------
    start, end : str
        Its window, ISO 8601.
    audited : str
        Day of the audit, ISO 8601.
    status : str
        ``signed`` or ``not signed``, as its report says.
    version : str
        What tells versions of the tool apart: model, revision and prompt.
    spec_digest : str
        SHA-256 of its spec.
    smallest : mapping of str to Smallest
        By kind of table.
    href : str
        Where its page is, from this page; empty where it is not published.
    """

    start: str
    end: str
    audited: str
    status: Literal["signed", "not signed"]
    version: str
    spec_digest: str
    href: str = ""
    smallest: Mapping[str, Smallest]

    @classmethod
    def of(cls, document: Mapping[str, Any], href: str = "") -> EarlierAudit:
        """Return what a later page says of the audit whose ``report.json`` this is, or an entry of ``earlier.json``.

        Raises
        ------
        InputError
            If the document is no report, or its counts define no impact ratio.
        """
        read = {one.name: document[one.name] for one in fields(EarlierReport) if one.name in document}
        try:
            found = decode_value(EarlierReport, read, f"earlier audit {href or '(no link)'}")
        except EvidenceError as error:
            raise InputError(f"{error}; not a report.json of this version: render its report again") from None
        return cls(
            start=found.window.start,
            end=found.window.end,
            audited=found.measured_at[:10],
            status=found.status,
            version=found.tool_version,
            spec_digest=found.spec_digest,
            smallest=found.headline,
            href=href,
        )
