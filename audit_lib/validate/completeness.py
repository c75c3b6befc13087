"""Who was answered: failures that fall on one group more than on another would bias every number."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.documents.validation import Completeness, MassOfAll, VariationCompleteness
from audit_lib.records import CHECK
from audit_lib.score.reading.logprobs import BELOW
from audit_lib.validate.expectations import Expectation, between
from audit_lib.validate.variant_facts import VariantFacts, VariantLevels

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import Checks, Groups


class StatusTally:
    """Counts scores by the group of their variant and their status, some rows at a time.

    Parameters
    ----------
    variants : VariantFacts
        Whose scores they are.
    groups : Groups
        The spec's.
    """

    def __init__(self, variants: VariantFacts, groups: Groups) -> None:
        self.variants, self._groups = variants, groups
        self._counts: Counter[tuple[VariantLevels, str]] = Counter()
        self._hidden: Counter[VariantLevels] = Counter()
        self._masses = array("d")

    def add(self, scores: pd.DataFrame) -> None:
        """Count rows."""
        if scores.empty:
            return
        places = self.variants.ids.places(scores["variant_id"])
        cells = self.variants.cells(places)
        of_status, statuses = _coded(scores["status"])
        kinds, counts = np.unique(np.stack([cells, of_status]), axis=1, return_counts=True)
        for (cell, status), count in zip(kinds.T.tolist(), counts.tolist(), strict=True):
            self._counts[self._levels(cell), statuses[status]] += count
        hidden = scores["detail"].str.startswith(BELOW, na=False).to_numpy(dtype=bool)
        for cell in cells[hidden].tolist():
            self._hidden[self._levels(cell)] += 1
        self._masses.frombytes(scores["label_mass"].dropna().to_numpy(dtype=np.float64).tobytes())

    def _levels(self, cell: int) -> VariantLevels:
        return self.variants.levels[cell] if cell >= 0 else (None,) * len(self._groups.axes)

    def by_group(self) -> tuple[Completeness, ...]:
        """Return the counts of each group.

        Returns
        -------
        tuple of Completeness
            The spec's groups in its order, then any with an unknown attribute, whose level is None.
            ``answered_share`` is None where n is 0. If an answer was not read because labels were hidden
            (`audit_lib.score.reading.logprobs`), how many: ``label_below_top``.
        """
        return self._by_group(self._counts, self._hidden)

    def by_variation(self) -> tuple[VariationCompleteness, ...]:
        """Return the counts of controls, other prompts and checks, each by itself.

        Returns
        -------
        tuple of VariationCompleteness
            ``answered_gap``, between the groups' shares, is None without any row.
        """
        found = []
        for name in sorted(self.variants.variations):
            counts = {(of[1:], status): n for (of, status), n in self._counts.items() if _is_of(of, name)}
            hidden = {of[1:]: n for of, n in self._hidden.items() if _is_of(of, name)}
            cells = self._by_group(counts, hidden)
            found.append(
                VariationCompleteness(variation=name, groups=cells, answered_gap=answered_gap(cells))
            )
        return tuple(found)

    def label_mass(self) -> MassOfAll | None:
        """Return mean and minimum of the probability that fell on the labels, or None without any."""
        if not self._masses:
            return None
        return MassOfAll(mean=math.fsum(self._masses) / len(self._masses), minimum=min(self._masses))

    def _by_group(
        self, tally: Mapping[tuple[VariantLevels, str], int], hidden: Mapping[VariantLevels, int]
    ) -> tuple[Completeness, ...]:
        axes = list(self._groups.axes)
        none: dict[str, int] = dict.fromkeys(STATUSES, 0)
        counts: dict[VariantLevels, dict[str, int]] = {}
        for group in () if self._groups.axes_of_probabilities else self._groups.cells():
            counts[tuple(group[axis] for axis in axes)] = dict(none)
        for cell in sorted({cell for cell, _ in tally}, key=_order):
            counts.setdefault(cell, dict(none))
        for (cell, status), count in tally.items():
            counts[cell][status] = counts[cell].get(status, 0) + count
        result = []
        for cell, statuses in counts.items():
            n = sum(statuses.values())
            answered = sum(statuses[status] for status in ANSWERED)
            result.append(
                Completeness(
                    group=dict(zip(axes, cell, strict=True)),
                    n=n,
                    **{status: statuses[status] for status in STATUSES},
                    answered_share=answered / n if n else None,
                    label_below_top=hidden.get(cell, 0) if hidden else None,
                )
            )
        return tuple(result)


def _coded(column: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of each value among the different ones, and these."""
    codes, values = column.factorize(use_na_sentinel=False)
    return codes.astype(np.int64), [str(value) for value in values]


def _is_of(levels: VariantLevels, variation: str) -> bool:
    return bool(levels) and levels[0] == variation


def _order(levels: VariantLevels) -> list[tuple[bool, str]]:
    """Sort levels, what is not known last."""
    return [(level is None, level or "") for level in levels]


def variation_suite(
    varied: Sequence[VariationCompleteness], checks: Checks
) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return the gaps of the variations, and what must hold.

    Checks are left out: a model that declines to say who somebody is, is a finding, and printed as one.
    """
    import pandas as pd

    gaps = [
        one.answered_gap
        for one in varied
        if one.answered_gap is not None and not one.variation.startswith(CHECK)
    ]
    summary = pd.DataFrame({"answered_gap": [max(gaps, default=float("nan"))]})
    return summary, [between("answered_gap", None, checks.maximum_answered_gap, severity="warning")]


def of_known_group(groups: Sequence[Completeness]) -> list[Completeness]:
    """Return the groups of which every level is known."""
    return [one for one in groups if None not in one.group.values()]


def answered_gap(groups: Sequence[Completeness]) -> float | None:
    """Return how far the shares of answers of the known groups lie apart; None without any row."""
    shares = [one.answered_share for one in of_known_group(groups) if one.answered_share is not None]
    return max(shares) - min(shares) if shares else None


def completeness_suite(
    groups: Sequence[Completeness], mass: MassOfAll | None, checks: Checks
) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return a table of one row that sums the groups up, and what must hold in it."""
    import pandas as pd

    n = sum(group.n for group in groups)
    answered = sum(group.answered for group in groups)
    gap = answered_gap(groups)
    summary = pd.DataFrame(
        {
            "answered_share": [answered / n if n else 0.0],
            "answered_gap": [float("nan") if gap is None else gap],
            "groups_without_rows": [sum(group.n == 0 for group in of_known_group(groups))],
            "mean_label_mass": [mass.mean if mass is not None else float("nan")],
        }
    )
    return summary, [
        between("answered_share", checks.minimum_answered_share, None),
        between("answered_gap", None, checks.maximum_answered_gap),
        between("groups_without_rows", 0, 0, severity="warning"),
        between("mean_label_mass", checks.minimum_label_mass, None, severity="warning"),
    ]
