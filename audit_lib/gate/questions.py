"""What a gate asks, from the margins of a spec; and the values that each batch adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.gate import GateComparison, LeftOutMetric
from audit_lib.errors import InputError
from audit_lib.gate.decision import GateQuestion
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable, decision_unit, score_unit
from audit_lib.monitor.window_sums import paired_means, score_bounds
from audit_lib.plan.hypotheses import margins_of
from audit_lib.policies import policy_of
from audit_lib.spec import UNDECIDED, AuditSpec, Decision
from audit_lib.stats.sequential import WindowSums
from audit_lib.stats.sequential_pairs import PairSums

Floats = NDArray[np.float64]
GateQuantity = Literal["selection_rate", "score"]
QuantityValues = Mapping[GateQuantity, list[tuple[Floats, Floats]]]
"""Of each comparison, the values of group and reference in each unit."""

DIFFERENCES: Final[Mapping[str, GateQuantity]] = {
    "decision_rate_gap": "selection_rate",
    "demographic_parity_gap": "selection_rate",
    "score_gap": "score",
}
RATIOS: Final = ("impact_ratio", "adverse_impact_ratio")
_ALONE: Final = ("threshold", "recorded", "top_k")
NO_DECISION: Final = Decision(rule="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateScheme:
    """What is asked.

    Parameters
    ----------
    spec : AuditSpec
        The audit's, with the new model.
    margins : mapping of str to float
        Metric -> its margin, of those that a gate can hold against it.
    left_out : tuple of LeftOutMetric
        The others, and why.
    """

    spec: AuditSpec
    margins: Mapping[str, float]
    left_out: tuple[LeftOutMetric, ...]

    @classmethod
    def of(cls, spec: AuditSpec) -> GateScheme:
        """Read what a spec's margins ask.

        Raises
        ------
        InputError
            If there is no margin that a gate can hold against a number, or the task is none that it can ask in parts.
        """
        if spec.task in UNDECIDED or spec.task == "pairwise":
            raise InputError(
                f"{spec.audit}: task {spec.task}: a gate asks pointwise and listwise audits alone"
            )
        margins, left_out = {}, []
        for metric, margin in margins_of(spec, policy_of(spec)).items():
            why = _why_not(metric, spec)
            if why is None:
                margins[metric] = margin
            else:
                left_out.append(LeftOutMetric(metric=metric, reason=why))
        if not margins:
            said = "; ".join(f"{one.metric}: {one.reason}" for one in left_out) or "none is stated"
            raise InputError(
                f"{spec.audit}: no margin that a gate can hold a new model against ({said}): state in measure.margins "
                f"what difference is of no interest, of {', '.join([*DIFFERENCES, *RATIOS])}"
            )
        return cls(spec=spec, margins=margins, left_out=tuple(left_out))

    @property
    def quantities(self) -> list[GateQuantity]:
        """What has to be read of the answers."""
        found = {DIFFERENCES.get(metric, "selection_rate") for metric in self.margins}
        return [one for one in ("selection_rate", "score") if one in found]

    @property
    def decision(self) -> Decision:
        """The rule that is applied to the rows of a batch alone; none, where no decision is followed."""
        return self.spec.decision if "selection_rate" in self.quantities else NO_DECISION

    @property
    def columns(self) -> list[str]:
        """Columns whose values join rows into a unit."""
        rounds = self.spec.task == "listwise" or self.decision.rule == "top_k"
        return ["application_id", *(["round_id"] if rounds else [])]

    @property
    def span(self) -> tuple[float, float]:
        """Lowest and highest score; 0 and 1 where no score is followed."""
        return score_bounds(self.spec) or (0.0, 1.0)

    def values(self, rows: Rows) -> QuantityValues:
        """Return the means of group and reference in each unit, for each comparison, from 0 to 1."""
        found: dict[GateQuantity, list[tuple[Floats, Floats]]] = {}
        for quantity in self.quantities:
            if quantity == "selection_rate":
                variable = Variable.of(rows, rows.decisions.selected, decision_unit(self.spec))
            else:
                low, high = self.span
                scaled = np.clip((rows.score - low) / (high - low), 0.0, 1.0)
                variable = Variable.of(rows, scaled, score_unit(self.spec))
            found[quantity] = [paired_means(variable, *pair) for pair in self.spec.groups.comparisons()]
        return found

    def pairs(self, batches: Sequence[QuantityValues], one: GateQuestion) -> PairSums:
        """Return the sums of both sides of a question about selection rates."""
        cells = [(dict(group), dict(reference)) for group, reference in self.spec.groups.comparisons()]
        place = cells.index((dict(one.group), dict(one.reference)))
        return PairSums.of([batch["selection_rate"][place] for batch in batches])

    def questions(
        self,
        batches: Sequence[QuantityValues],
        compared: GateComparison = "margin",
    ) -> list[GateQuestion]:
        """Return every question with the values of all batches so far.

        With `compared` "deployed" the values are changes from the deployed model's, and ratios are not asked about.
        """
        found = []
        for metric, margin in self.margins.items():
            quantity = DIFFERENCES.get(metric, "selection_rate")
            for place, (group, reference) in enumerate(self.spec.groups.comparisons()):
                sides = [batch[quantity][place] for batch in batches]
                asked = GateQuestion(
                    metric=metric, group=dict(group), reference=dict(reference), compared=compared,
                    low=-margin, high=margin, below=_NOTHING, above=_NOTHING,
                )  # fmt: skip
                if metric in RATIOS and compared == "margin":
                    pairs = PairSums.of(sides)
                    found.append(
                        replace(
                            asked,
                            low=margin,
                            high=1 / margin,
                            below=(pairs.against(margin), 0.0),
                            above=(pairs.against(1 / margin), 0.0),
                        )
                    )
                elif metric not in RATIOS:
                    span = self.span[1] - self.span[0] if quantity == "score" else 1.0
                    reach = 1.0 if compared == "margin" else 2.0
                    sums = WindowSums.of([one - other for one, other in sides], low=-reach, high=reach)
                    found.append(replace(asked, below=(sums, -margin / span), above=(sums, margin / span)))
        return found


_NOTHING: Final = (WindowSums.of([np.zeros(0)]), 0.0)


def _why_not(metric: str, spec: AuditSpec) -> str | None:
    rule = spec.decision.rule
    if metric not in DIFFERENCES and metric not in RATIOS:
        return "a gate follows differences of means and ratios of selection rates alone"
    if DIFFERENCES.get(metric) == "score":
        return None if score_bounds(spec) else "the spec states no bounds of these scores"
    if rule not in _ALONE or spec.decision.round == "one_per_group":
        return f"who is selected by {rule} hangs on all applicants together, and a gate asks a part of them"
    return None
