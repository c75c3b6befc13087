"""What a registered metric is: a function from the rows of a stratum to estimates and rate tables."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from audit_lib.errors import SpecError
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.rate_tables import RateTable
from audit_lib.policies import Policy
from audit_lib.registry import Registry
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a metric gives for one stratum."""

    estimates: list[Estimate] = field(default_factory=list)
    tables: list[RateTable] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "estimates": [estimate.as_dict() for estimate in self.estimates],
            "tables": [table.as_dict() for table in self.tables],
        }


Metric = Callable[[Rows, AuditSpec, Policy], Measured]

Need = Literal[
    "scores", "controls", "checks", "pairs", "texts",
    "lists", "words", "toxicity", "stereotype", "terms", "sentiment", "embedding"
]  # fmt: skip


def needs(*any_of: Need) -> Callable[[Metric], Metric]:
    """Say what a metric is computed from, where it is not scores: any one of these.

    ``pairs`` are answers about two candidates; ``controls`` and ``checks`` rows beside the ordinary ones; ``texts`` and
    ``lists`` are answers; ``words`` are the lists of the spec's section `texts`; the others are what a classifier
    measures.
    """

    def mark(part: Metric) -> Metric:
        _NEEDS[part] = any_of
        return part

    return mark


def needed(part: Metric) -> tuple[Need, ...]:
    """Return what a metric is computed from."""
    return _NEEDS.get(part, ("scores",))


_NEEDS: Final[dict[Metric, tuple[Need, ...]]] = {}

METRICS: Final[Registry[Metric]] = Registry("metrics", "audit_lib.measure.metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a page has to know of a metric to print and draw it.

    Parameters
    ----------
    title : str
        What it is called.
    parity : float or None
        Its value where a group and its reference fare alike; None where no value says so.
    signed : bool
        Whether comparisons have a direction, and so print with their sign.
    meaning : str
        How to read it, beyond its parity.
    figure : str
        What draws its estimates (`audit_lib.report.charts.by_metric`).
    """

    title: str
    parity: float | None
    signed: bool = False
    meaning: str = ""
    figure: str = "dots"


_ABOUT: Final[dict[str, About]] = {}


def metric(
    name: str,
    *,
    title: str,
    parity: float | None,
    signed: bool = False,
    meaning: str = "",
    figure: str = "dots",
) -> Callable[[Metric], Metric]:
    """Register the decorated metric under `name`, with what `About` says."""
    said = About(title=title, parity=parity, signed=signed, meaning=meaning, figure=figure)

    def register(part: Metric) -> Metric:
        found = METRICS(name)(part)
        _ABOUT[name] = said
        return found

    return register


def about(name: str) -> About:
    """Return what is known of a metric; of one that is not installed here, or does not say, only its name."""
    with suppress(SpecError):  # there is none
        METRICS.get(name)
    return _ABOUT.get(name, About(title=name.replace("_", " ").capitalize(), parity=None, signed=True))
