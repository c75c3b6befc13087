"""What a registered metric is: a function from the rows of a stratum to estimates and rate tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal, Required, TypedDict, Unpack, get_args

from audit_lib.errors import PluginError
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.rate_tables import ClusteredTable
from audit_lib.policies import Policy
from audit_lib.registry import Registry
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a metric gives for one stratum."""

    estimates: list[Estimate] = field(default_factory=list)
    tables: list[ClusteredTable] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "estimates": [estimate.as_dict() for estimate in self.estimates],
            "tables": [table.as_dict() for table in self.tables],
        }


Better = Literal["parity", "higher", "lower"]
MetricProvenance = Literal["any", "assigned", "observed"]
Metric = Callable[[Rows, AuditSpec, Policy], Measured]

MetricInput = Literal[
    "scores", "controls", "checks", "pairs", "texts",
    "lists", "words", "toxicity", "stereotype", "terms", "sentiment", "embedding"
]  # fmt: skip

TextLanguages = Literal["any", "classifier", "spaced", "words"]
_OF_TEXTS: Final = {"texts", "lists", "words", "toxicity", "stereotype", "terms", "sentiment", "embedding"}

MetricColumn = Literal["score", "round_id", "qualified"]

_DECORATED: Final[set[Metric]] = set()
METRICS: Final[Registry[Metric]] = Registry("metrics", "audit_lib.measure.metrics", _DECORATED.__contains__)


class _Said(TypedDict, total=False):
    """The fields of `MetricRecord`; the first six are required."""

    title: Required[str]
    parity: Required[float | None]
    better: Required[Better]
    unit: Required[str]
    meaning: Required[str]
    cite: Required[str]
    needs: tuple[MetricInput, ...]
    columns: tuple[MetricColumn, ...]
    provenance: MetricProvenance
    signed: bool
    figure: str
    gap: str
    of_groups: str
    generations: int
    paired: bool
    languages: TextLanguages | None
    further: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecord:
    """All that page, requirements, framework and tests have to know of a metric; it is written in the metric's file.

    Parameters
    ----------
    title : str
        What it is called.
    parity : float or None
        Its value where a group and its reference fare the same; None where no value says so.
    better : {"parity", "higher", "lower"}
        Which values are good ones: those near parity, the higher, or the lower.
    unit : str
        What it is counted in; ``score`` for the unit of the scores.
    meaning : str
        How to read it, beyond its parity.
    needs : tuple of str
        What it is computed from: any one of these. ``pairs`` are answers about two candidates; ``controls`` and
        ``checks`` rows next to the ordinary ones; ``texts`` and ``lists`` are answers; ``words`` are the lists of the
        spec's section `texts`; the others are what a classifier measures.
    columns : tuple of str
        What the data must say too, else it is undefined everywhere: ``score`` (recorded decisions alone have none),
        ``round_id`` (who competes with whom) or ``qualified`` (who is, or an outcome that says so).
    provenance : {"any", "assigned", "observed"}
        Whose groups it is for: those of an experiment's versions, those of real people, or both.
    cite : str
        Where its definition is published.
    signed : bool
        Whether comparisons have a direction, and so print with their sign.
    figure : str
        What draws its estimates (`audit_lib.figures.by_metric`).
    gap : str
        Title of its differences (``NAME_gap``, parity 0), where it has a value for each group of its own.
    of_groups : str
        Of a metric ``NAME_gap``: title of the values of each group (``NAME``), which have no parity.
    generations : int
        Of a metric that grows with the answers to each prompt: how many its definition takes; 0 where it does not grow.
    paired : bool
        Whether it compares answers about versions of one application in two groups.
    languages : {"any", "classifier", "spaced", "words"} or None
        Of a metric of texts, which ones it reads; texts in others are refused by name. ``any``; ``classifier``: those
        that its classifier was made for; ``spaced``: scripts with spaces between words; ``words``: these, and those
        whose words ICU's dictionaries tell apart. None for a metric that reads no texts.
    further : mapping of str to mapping
        What else it gives, by the end of its name (``NAME_END``): the fields in which its record differs.
    """

    title: str
    parity: float | None
    better: Better
    unit: str
    meaning: str
    cite: str
    needs: tuple[MetricInput, ...] = ("scores",)
    columns: tuple[MetricColumn, ...] = ()
    provenance: MetricProvenance = "any"
    signed: bool = False
    figure: str = "dots"
    gap: str = ""
    of_groups: str = ""
    generations: int = 0
    paired: bool = False
    languages: TextLanguages | None = None
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_RECORDS: Final[dict[str, MetricRecord]] = {}


def metric(name: str, **record: Unpack[_Said]) -> Callable[[Metric], Metric]:
    """Register the decorated metric under `name`, with the fields of its `MetricRecord`."""
    said = MetricRecord(**record)
    _check(said)

    def register(part: Metric) -> Metric:
        found = METRICS(name)(part)
        _DECORATED.add(found)
        _RECORDS[name] = said
        if said.gap:
            _RECORDS[f"{name}_gap"] = replace(said, title=said.gap, parity=0.0, signed=True, gap="")
        if said.of_groups:
            own = name.removesuffix("_gap")
            _RECORDS[own] = replace(said, title=said.of_groups, parity=None, signed=False, of_groups="")
        for end, fields in said.further.items():
            _RECORDS[f"{name}_{end}"] = replace(said, further={}, **fields)
        return found

    return register


def _check(record: MetricRecord) -> None:
    """Refuse a record that the page could not print; a package of somebody else's is then refused with these words."""
    for key in ("title", "unit", "meaning", "cite"):
        if not isinstance(said := getattr(record, key), str) or not said.strip():
            raise ValueError(f"{key}: {said!r} says nothing")
    if record.parity is not None and not math.isfinite(record.parity):
        raise ValueError(f"parity: {record.parity} is no finite number")
    for key, kind in (("better", Better), ("provenance", MetricProvenance)):
        if (said := getattr(record, key)) not in get_args(kind):
            raise ValueError(f"{key}: {said!r} is none of {', '.join(get_args(kind))}")
    if record.languages not in (None, *get_args(TextLanguages)):
        raise ValueError(f"languages: {record.languages!r} is none of {', '.join(get_args(TextLanguages))}")
    if bool(_OF_TEXTS & set(record.needs)) != (record.languages is not None):
        raise ValueError("languages: a metric of texts says which it reads, and no other metric does")
    if unknown := [need for need in record.needs if need not in get_args(MetricInput)]:
        raise ValueError(f"needs: {unknown[0]!r} is none of {', '.join(get_args(MetricInput))}")


def owner_of(name: str) -> str:
    """Return the registered metric that gives estimates called `name`; of one that is not installed here, `name`.

    Examples
    --------
    >>> owner_of("fraction_gap"), owner_of("cooccurrence_bias_score_by_word"), owner_of("score_gap")
    ('fraction', 'cooccurrence_bias_score', 'score_gap')
    """
    return max(_may_give(name, tuple(METRICS.names())), key=len, default=name)


@lru_cache(maxsize=1024)
def _may_give(name: str, there: tuple[str, ...]) -> list[str]:
    return [own for own in there if name in (own, own.removesuffix("_gap")) or name.startswith(f"{own}_")]


def record_of(name: str) -> MetricRecord:
    """Return what is known of a metric; of one that is not installed here, only its name."""
    for own in _may_give(name, tuple(METRICS.names())):
        with suppress(PluginError):
            METRICS.get(own)  # a metric says what it is when it is imported
    unknown = MetricRecord(
        title=name.replace("_", " ").capitalize(), parity=None, better="parity", unit="", meaning="", cite="",
        signed=True,
    )  # fmt: skip
    return _RECORDS.get(name, unknown)
