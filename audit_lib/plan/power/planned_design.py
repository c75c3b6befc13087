"""What a spec fixes of an audit before anybody is asked: who is shown how often, who competes, and what is tested."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.plan.names import FEW_NAMES
from audit_lib.plan.power_limits import of_names
from audit_lib.policies import policy_of
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

Competes = Literal["one_per_group", "application_id"]

ASSUMED_RATES: Final = (0.1, 0.25, 0.5)
"""Rates of the comparator, where nothing fixes them."""

_TABLES: Final = ("impact_ratio", "scoring_rate_impact_ratio")
_BY_QUOTA: Final = ("demographic_parity_gap", "equal_opportunity_gap")
_NOT_TESTED: Final = ("noise_floor", "manipulation_agreement", "ndkl", "theil_index")


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOfTests:
    """How many hypotheses the audit has, and at which level the first of each family is found.

    Parameters
    ----------
    tables : int
        Of everybody.
    others : int
        Tables of strata, estimates and comparisons of strata.
    alpha : float
        Error of the whole audit.
    """

    tables: int
    others: int
    alpha: float

    @property
    def level_of_a_table(self) -> float:
        """What the p-value of a category has to be below, in a table of everybody."""
        return self.alpha / max(self.tables, 1) / (2 if self.others else 1)

    @property
    def level_of_an_estimate(self) -> float:
        """What the p-value of an estimate has to be below."""
        return self.alpha / max(self.others, 1) / (2 if self.tables else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDesign:
    """An audit whose design fixes the number of rows: every application is shown in every group, or in one.

    Parameters
    ----------
    levels : tuple of (str, tuple of str)
        Each attribute and its levels; groups are their combinations.
    applications : int
        Prompts that are sampled, each taken as an application of its own.
    copies : int
        Versions of each in a group.
    within : bool
        Whether an application is shown in all groups, or in one.
    rule : {"top_k", "above_median", "threshold"}
        Who is selected.
    k : int
        How many of a round.
    competes : {"one_per_group", "application_id"} or None
        Who is in a round.
    rate : float or None
        Rate of groups without a difference, where a threshold selects.
    by_round : bool
        Whether scores depend on each other by round.
    version_sd, name_sd : float
        Assumed, in standard deviations of merit.
    names : int or None
        Names of a group; None where names are no part of the design.
    metrics : tuple of str
        What is measured.
    quotas : tuple of int
        At which shares of places are compared, below the size of a round.
    tests : FamilyOfTests
        The family.
    seed : int
        The spec's.
    """

    levels: tuple[tuple[str, tuple[str, ...]], ...]
    applications: int
    copies: int
    within: bool
    rule: str
    k: int
    competes: Competes | None
    rate: float | None
    by_round: bool
    version_sd: float
    name_sd: float
    names: int | None
    metrics: tuple[str, ...]
    quotas: tuple[int, ...]
    tests: FamilyOfTests
    seed: int

    @property
    def axes(self) -> tuple[str, ...]:
        """The attributes."""
        return tuple(axis for axis, _ in self.levels)

    @property
    def groups(self) -> int:
        """Combinations of levels."""
        return int(np.prod([len(levels) for _, levels in self.levels]))

    @property
    def rows(self) -> int:
        """Rows of the audit."""
        return self.applications * self.copies * (self.groups if self.within else 1)

    @property
    def score_sd(self) -> float:
        """Standard deviation of a score without any difference, that of merit being 1."""
        return float(np.sqrt(1.0 + self.version_sd**2))

    def categories(self, axes: tuple[str, ...]) -> NDArray[np.intp]:
        """Return the category of each group in the table of some attributes; 0 is the one that is compared.

        Which level it is does not matter: groups have the same size.
        """
        sizes = [len(levels) for _, levels in self.levels]
        of = np.stack(np.unravel_index(np.arange(self.groups), sizes), axis=1)
        kept = [self.axes.index(axis) for axis in axes]
        return np.asarray(
            np.ravel_multi_index(tuple(of[:, kept].T), [sizes[place] for place in kept]), dtype=np.intp
        )


def family_of(spec: AuditSpec, round_size: int | None = None) -> FamilyOfTests:
    """Count the hypotheses of an audit, by the rule of its family (`audit_lib.measure.multiplicity`).

    How many strata a column has is known only of the sample: `measure.power_strata` is assumed.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    round_size : int, optional
        Candidates of a round, where it is known: at a quota as large as that nothing is tested.
    """
    metrics, measure = spec.measure.metrics, spec.measure
    families = [f for f in policy_of(spec).families if set(f.attributes) <= set(spec.groups.axes)]
    classified = 1 + len(spec.decision.classes)
    tables = len(families) * (
        classified * ("impact_ratio" in metrics) + ("scoring_rate_impact_ratio" in metrics)
    )
    comparisons, effects = (
        len(spec.groups.comparisons()),
        sum(len(levels) - 1 for levels in spec.groups.attributes.values()),
    )
    estimates = 0
    for name in metrics:
        if name == "standardised_effect":
            estimates += effects
        elif name in _BY_QUOTA:
            estimates += comparisons * len(_quotas(spec, round_size))
        elif name == "adverse_impact_ratio":
            estimates += comparisons * len(measure.thresholds)
        elif name not in (*_TABLES, *_NOT_TESTED):
            estimates += comparisons
    splits = sum(1 for names in measure.strata if names)
    strata = splits * measure.power_strata
    compared = splits * (estimates + comparisons * sum(name in metrics for name in _TABLES))
    others = estimates * (1 + strata) + tables * strata + compared * (measure.power_strata > 1)
    return FamilyOfTests(tables=tables, others=others, alpha=measure.alpha)


def design_of(spec: AuditSpec, files: Mapping[str, bytes]) -> PlannedDesign | str:
    """Return the design of a spec, or why the plan does not know it.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    files : mapping of str to bytes
        Its design files: names are counted in `perturb.names`.
    """
    perturb, decision = spec.perturb, spec.decision
    if perturb is None or spec.sample.size is None:
        return mark("the number of rows is not known before the sample")
    if perturb.design == "balanced_incomplete":
        return mark("which application is shown in which groups is dealt after the plan")
    if decision.rule == "top_k" and decision.round == "round_id":
        return mark("who competes with whom is not known before the sample")
    if decision.rule == "top_k" and perturb.design != "full":
        return mark("candidates of a round are of one group: they do not compete with others")
    if decision.rule == "recorded":
        return mark("decisions are recorded: their rates are not known before the sample")
    own = spec.measure.names
    return PlannedDesign(
        levels=tuple((axis, tuple(levels)) for axis, levels in spec.groups.attributes.items()),
        applications=spec.sample.size,
        copies=perturb.names_per_cell,
        within=perturb.design == "full",
        rule=decision.rule,
        k=decision.k or 1,
        competes=decision.round if decision.rule == "top_k" else None,  # type: ignore[arg-type]
        rate=None,
        by_round=spec.task in ("listwise", "pairwise"),
        version_sd=own.version_sd,
        name_sd=own.name_sd,
        names=_names(spec, files.get("perturb.names")) if of_names(spec) else None,
        metrics=tuple(spec.measure.metrics),
        quotas=_quotas(spec, _round_size(spec)),
        tests=family_of(spec, _round_size(spec)),
        seed=spec.seed,
    )


def _quotas(spec: AuditSpec, round_size: int | None) -> tuple[int, ...]:
    """Return the quotas at which a round has both who goes forward and who does not, where its size is known."""
    return tuple(k for k in spec.measure.quotas if round_size is None or k < round_size)


def _round_size(spec: AuditSpec) -> int | None:
    """Candidates of a round, where the design says how many; None where it does not."""
    if spec.perturb is None or spec.decision.round not in ("one_per_group", "application_id"):
        return None
    each = spec.perturb.names_per_cell if spec.decision.round == "application_id" else 1
    return each * len(spec.groups.cells())


def _names(spec: AuditSpec, content: bytes | None) -> int | None:
    """Names that a group has to be shown with, the fewest of any group."""
    if content is None or spec.perturb is None:
        return None
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    axes = [axis for axis in spec.groups.axes if rows and axis in rows[0]]
    shown = min(
        (sum(all(row[axis] == cell[axis] for axis in axes) for row in rows) for cell in spec.groups.cells()),
        default=FEW_NAMES,
    )
    return max(min(shown, spec.perturb.names_per_group or shown), 1)
