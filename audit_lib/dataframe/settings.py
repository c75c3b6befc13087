"""What a frame measures and how: the same sections of a spec, made from keywords."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from audit_lib.dataframe.groups import GivenAttribute
from audit_lib.errors import InputError, SpecError
from audit_lib.measure.metric import record_of
from audit_lib.measure.remarks import undefined
from audit_lib.measure.requirements import TAKE_WEIGHTS, check_metrics
from audit_lib.measure.rows.split_columns import WEIGHT
from audit_lib.registry import did_you_mean
from audit_lib.spec import RECORDED, AuditSpec

MODEL: Final = "the table"
"""What stands for the model that decided."""

_OF_DECISIONS: Final = ("impact_ratio", "decision_rate_gap")
_METRICS: Final = (
    *_OF_DECISIONS, "scoring_rate_impact_ratio", "rabbi", "score_gap", "standardised_effect",
    "demographic_parity_gap", "equal_opportunity_gap", "false_negative_rate_gap", "false_positive_rate_gap",
)  # fmt: skip
"""What is measured where nobody says otherwise, if the table has what it needs."""


class Settings(TypedDict, total=False):
    """Further keywords of `audit_lib.frame`.

    Parameters
    ----------
    reference : str or mapping of str to str
        The group that others are compared with; of several attributes, by attribute. The largest where none is given.
    qualified : str or array_like
        Column that says whether a person was able to do the job, or what turned out to be true.
    by : str or sequence of str
        Columns by which everything is measured again, in each of their values.
    also : sequence of sequence of str
        Intersections of some attributes to compare too; where it is given, masks may overlap.
    assigned : bool
        Whether an experiment assigned the groups, such as by names put on one dossier.
    names : str or array_like
        The name that each row showed, where names signal the groups of an experiment: effects then hold for other
        names like these, and `these_names` has what holds for these alone.
    sampling_weights : str or array_like
        Of how many people of the population each row was drawn: positive and finite. Metrics that take them are
        weighted, with rates and ratios in `Estimate.weighted`; those that do not are left out, and refused by name.
    metrics : sequence of str
        Registered metrics (``docs/reference/metrics.md``); by default those that the table has the columns for.
    seed : int
        Of every draw.
    policy : str
        Pack whose tables, switches and guideline hold.
    measure : mapping
        Any other key of a spec's section `measure`: ``level``, ``alpha``, ``quotas``, ``margins``, ``small_cell``.
    maximum_answered_gap : float
        How far the shares of answers of two groups may lie apart, 0.05 unless given: beyond it, where a run stops,
        every comparison is undecided.
    language : str
        Of what a notebook shows: ``en`` or ``es``. Tables of `to_frame` stay English.
    """

    reference: str | Mapping[str, str]
    qualified: Any
    by: str | Sequence[str]
    also: Sequence[Sequence[str]]
    assigned: bool
    names: Any
    sampling_weights: Any
    metrics: Sequence[str]
    seed: int
    policy: str
    measure: Mapping[str, Any]
    maximum_answered_gap: float
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Which columns there are.

    Parameters
    ----------
    attributes : sequence of GivenAttribute
        Who is compared.
    rule : mapping or None
        The decision rule; None where decisions are a column, or nobody decided.
    decided, scored, qualified, rounds, clusters : bool
        Whether there are decisions, scores, outcomes, rounds and clusters.
    """

    attributes: Sequence[GivenAttribute]
    rule: Mapping[str, Any] | None
    decided: bool
    scored: bool
    qualified: bool
    rounds: bool
    clusters: bool

    @property
    def columns(self) -> set[str]:
        """The same as names of a source's columns."""
        there = {"recorded_score": self.scored, "qualified": self.qualified, "round_id": self.rounds}
        return {name for name, has in there.items() if has}


def check_keywords(settings: Mapping[str, Any]) -> None:
    """Refuse keywords that are none.

    Raises
    ------
    TypeError
        If there is one; names the nearest.
    """
    known = sorted(Settings.__annotations__)
    for name in settings:
        if name not in known:
            raise TypeError(f"frame() has no keyword {name!r}{did_you_mean(name, known)}")


def spec_of(given: Given, settings: Settings, by: Sequence[str], reference: Mapping[str, str]) -> AuditSpec:
    """Return the spec that would measure the same in a run.

    Parameters
    ----------
    given : Given
        The columns.
    settings : Settings
        Keywords.
    by : sequence of str
        Columns to split by, as the rows call them.
    reference : mapping of str to str
        The level of each attribute that others are compared with.

    Raises
    ------
    SpecError
        If a keyword breaks a rule of the spec, or a metric needs what the table has not.
    """
    weights = [WEIGHT] if "sampling_weights" in settings else []
    # Recorded decisions and scores given in rounds depend on each other through the round.
    together = given.rounds and not given.clusters
    content: dict[str, Any] = {
        "audit": "frame",
        "title": "A table",
        "task": "listwise" if together else "pointwise",
        "seed": settings.get("seed", 1),
        "source": {
            "kind": "files",
            "paths": ["the table"],
            "fields": ["resume", *by, *weights],
            "windowed": False,
        },
        "groups": {
            "provenance": "assigned" if settings.get("assigned", False) else "observer_coded",
            "attributes": {one.name: list(one.levels) for one in given.attributes},
            "reference": dict(reference),
            "also": [list(axes) for axes in settings.get("also") or ()],
        },
        "model": {"backend": RECORDED, "name": MODEL},
        "decision": _rule(given),
        "report": {"policy": settings.get("policy", "generic")},
        "checks": {"maximum_answered_gap": settings.get("maximum_answered_gap", 0.05)},
    }
    asked = settings.get("metrics")
    measure = {"strata": [[], *([name] for name in by)], **settings.get("measure", {})}
    if weights:
        measure["weights"] = WEIGHT
    content["measure"] = {**measure, "metrics": list(_METRICS if asked is None else asked)}
    spec = AuditSpec.checked(content, Path("frame"))
    if asked is None:
        kept = [name for name in _METRICS if _has(name, spec, given)]
        spec = AuditSpec.checked({**content, "measure": {**measure, "metrics": kept}}, Path("frame"))
    check_metrics(spec, {})
    return spec


def references(
    attributes: Sequence[GivenAttribute],
    given: str | Mapping[str, str] | None,
    sizes: Collection[Mapping[str, int]],
) -> dict[str, str]:
    """Return the reference of each attribute: as given, else its largest level.

    Raises
    ------
    InputError
        If one name is given for several attributes, or an attribute is none.
    """
    if isinstance(given, str):
        if len(attributes) > 1:
            raise InputError(
                f"reference: {given!r} could be of any of {len(attributes)} attributes; give a dict, such as "
                f"{{{attributes[0].called!r}: {given!r}}}"
            )
        given = {attributes[0].called: given}
    named = {}
    for called, level in (given or {}).items():
        own = next((one for one in attributes if called in (one.called, one.name)), None)
        if own is None:
            raise InputError(
                f"reference: {called!r} is no attribute{did_you_mean(called, [a.called for a in attributes])}"
            )
        named[own.name] = str(level)
    return {
        one.name: named.get(one.name) or max(one.levels, key=lambda level: (size[level], level))
        for one, size in zip(attributes, sizes, strict=True)
    }


def _rule(given: Given) -> dict[str, Any]:
    if given.rule is None:
        return {"rule": RECORDED if given.decided else "above_median"}
    rule = dict(given.rule)
    if rule.get("rule") == "top_k" and "round" not in rule:
        if not given.rounds:
            raise SpecError("decision: rule top_k selects in rounds; name the column `rounds`")
        rule["round"] = "round_id"
    return rule


def _has(name: str, spec: AuditSpec, given: Given) -> bool:
    """Tell whether the table has what a metric needs, and the metric is of groups known in this way."""
    if name in _OF_DECISIONS and not given.decided:
        return False
    if spec.measure.weights is not None and name not in TAKE_WEIGHTS:
        return False
    kind = record_of(name).provenance
    if kind != "any" and (kind == "assigned") != (spec.groups.provenance == "assigned"):
        return False
    return undefined(name, spec, given.columns) is None
