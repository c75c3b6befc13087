"""Earlier audits of the same tool: what a later page says of them, taken from their own ``report.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit_lib.errors import InputError
from audit_lib.run import Run
from audit_lib.typed_json import as_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The impact ratio that led an audit's headline tables of one kind.

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
    selected: int
    n: int
    comparator_selected: int
    comparator_n: int

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
class EarlierAudit:
    """One earlier audit.

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
    status: str
    version: str
    spec_digest: str
    smallest: Mapping[str, Smallest]
    href: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any], href: str = "") -> EarlierAudit:
        """Return what a later page says of the audit whose ``report.json`` this is.

        Raises
        ------
        InputError
            If the document is no report, or its counts define no impact ratio.
        """
        try:
            return cls(
                start=document["window"]["start"],
                end=document["window"]["end"],
                audited=document["measured_at"][:10],
                status=document["status"],
                version=document["tool_version"],
                spec_digest=document["spec_digest"],
                smallest={kind: Smallest(**found) for kind, found in document["headline"].items()},
                href=href,
            )
        except (KeyError, TypeError) as error:
            raise InputError(
                f"earlier audit {href or '(no link)'}: not a report.json of this version ({type(error).__name__}: "
                f"{error}); render its report again"
            ) from None

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {name: as_json(getattr(self, name)) for name in self.__slots__ if name != "smallest"} | {
            "smallest": {kind: smallest_as_dict(found) for kind, found in self.smallest.items()}
        }


def smallest_as_dict(found: Smallest) -> dict[str, Any]:
    """JSON form of `Smallest`; `EarlierAudit.of` reads it back."""
    return {name: getattr(found, name) for name in found.__slots__}


def earlier_audits(run: Run) -> list[EarlierAudit]:
    """Return the earlier audits that the run's plan archived, the oldest first."""
    plan = run.stage("plan")
    if "earlier.json" not in plan.success().artefacts:
        return []
    return [EarlierAudit.of(document) for document in plan.read_json("earlier.json")]
