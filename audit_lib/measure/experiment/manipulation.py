"""Manipulation check: did the model perceive the attribute that a version was meant to show?

Where the model could not tell the groups apart, that no effect was found is no evidence of none; an effect that is
there shows that it did. So a failed check qualifies nulls only, and withholds no number. The check asks the
audited model for the attribute of each version; what it answers is laid against what was assigned. Non-answers and
refusals are counted apart from mismatches (Gaebler, Goel, Huq and Tambe, 2024, arXiv:2404.03086).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.statuses import STATUSES
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.records import CHECK
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.translation import mark

MOST: Final = 0.5
"""Share of the versions that the model must name at all for its agreement to say anything."""

_REFUSED, _ERROR = STATUSES.index("refused"), STATUSES.index("error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceived:
    """What the model said of one attribute.

    Parameters
    ----------
    meant, said : ndarray of int, shape (rows,)
        Place of the level in the spec. ``said`` is -1 for the label of doubt, and where repeats of a version tie for
        the most frequent answer (`audit_lib.measure.rows.answers.modal`); -2 for a refusal, -3 for an answer that could
        not be read, -4 where asking failed.
    clusters : ndarray of int32, shape (rows,)
        Application of each row.
    """

    levels: tuple[str, ...]
    meant: NDArray[np.int64]
    said: NDArray[np.int64]
    clusters: NDArray[np.int32]


def perceived(rows: Rows, axis: str) -> Perceived | None:
    """Return what the model said of an attribute; None if it was not asked."""
    if rows.varied is None or (name := CHECK + axis) not in rows.varied.names():
        return None
    asked, levels = rows.varied.only(name).rows, rows.attributes[axis]
    column = asked.columns[axis]
    place = np.array([*(levels.index(x) if x in levels else -1 for x in column.labels), -1], dtype=np.int64)
    meant = place[column.codes]
    answered = np.isfinite(asked.score)
    said = np.select([asked.status == _REFUSED, asked.status == _ERROR], [-2, -4], -3).astype(np.int64)
    said[answered] = asked.score[answered].astype(np.int64)
    said[said >= len(levels)] = -1
    known = meant >= 0
    return Perceived(levels=levels, meant=meant[known], said=said[known], clusters=asked.application[known])


def agreement(rows: Rows, spec: AuditSpec, axis: str, level: str | None = None) -> Estimate:
    """Return the share of versions whose attribute the model named as it was meant, of those that it named at all.

    The interval is that of rates by clusters (:class:`audit_lib.stats.clustered_rates.ClusteredRates`): versions of one
    application are answered alike, so it counts what applications are worth, not versions.

    Parameters
    ----------
    level : str, optional
        Only the versions that were meant to show this level.
    """
    found = perceived(rows, axis)
    parameters: dict[str, int | float | str] = {"attribute": axis}
    value: float | Undefined
    interval: Interval | Undefined
    n = count = 0
    if found is None:
        value = interval = Undefined(
            f"the model was not asked for {axis}; name a question in manipulation.questions"
        )
    else:
        own = np.ones(found.meant.size, bool) if level is None else found.meant == found.levels.index(level)
        said = found.said[own]
        named = said >= 0
        n = int(named.sum())
        parameters |= {
            "asked": int(own.sum()),
            "unsure": int((said == -1).sum()),
            "refused": int((said == -2).sum()),
            "unread": int((said == -3).sum()),
            "error": int((said == -4).sum()),
            **{f"said {x}": int((said == i).sum()) for i, x in enumerate(found.levels)},
        }
        right = (said == found.meant[own])[named]
        clusters, count = compact(found.clusters[own][named])
        parameters["agreed"] = int(right.sum())
        value, interval = _share(right, clusters, spec.measure.level, int(own.sum()))
    return Estimate(
        metric="manipulation_agreement",
        value=value,
        interval=interval,
        n=n,
        n_group=n,
        clusters=count,
        method="share of versions named as they were meant, of those named; Wilson at the effective number",
        group={} if level is None else {axis: level},
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=("small_cell",) if n < spec.measure.small_cell else (),
    )


def agreement_reason(rows: Rows, spec: AuditSpec, axis: str, level: str | None = None) -> str | None:
    """Return why a null effect cannot be read, or None where it can or nothing was asked.

    The attribute over all versions, the level and the reference that it is compared with each have to be perceived:
    three races that are named rightly say nothing of a fourth that never is.
    """
    if perceived(rows, axis) is None:
        return None
    levels = () if level is None else (level, spec.groups.reference[axis])
    reasons = (unperceived(agreement(rows, spec, axis, one), spec, axis) for one in (None, *levels))
    return next((reason for reason in reasons if reason is not None), None)


def differs(interval: Interval | Undefined, parity: float) -> bool:
    """Whether an interval leaves parity out: then there is a difference, perceived or not."""
    if isinstance(interval, Undefined):
        return False
    return not interval.low <= parity <= interval.high


_OF_A_GROUP: Final = mark("{level} versions")
_OF_ALL: Final = mark("versions")
_TOO_FEW: Final = mark(
    "uninterpretable: the model does not tell the groups apart when asked, so no difference found is no evidence of "
    "none; it named the {axis} of {n} of {asked} {versions}, and was unsure of the others, declined, failed, or could "
    "not be read"
)
_TOO_WRONG: Final = mark(
    "uninterpretable: the model does not tell the groups apart when asked, so no difference found is no evidence of "
    "none; it named the {axis} that was meant in {share} of the {versions} in which it named one ({n} of {asked}), and "
    "checks.minimum_agreement is {least}"
)


def unperceived(one: Estimate, spec: AuditSpec, axis: str) -> str | None:
    """Return why versions do not count as perceived: too few named, or too few of these as they were meant."""
    least, found, asked = spec.checks.minimum_agreement, one.value, int(one.parameters["asked"])
    whom = _OF_A_GROUP.format(level=one.group[axis]) if one.group else _OF_ALL
    if isinstance(found, Undefined) or one.n < MOST * asked:
        # Two answers in a hundred that happen to be right show no perception.
        return _TOO_FEW.format(axis=axis, n=one.n, asked=asked, versions=whom)
    if found >= least:
        return None
    return _TOO_WRONG.format(
        axis=axis, share=f"{found:.1%}", versions=whom, n=one.n, asked=asked, least=f"{least:.1%}"
    )


def _share(
    right: NDArray[np.bool_], clusters: NDArray[np.int32], level: float, asked: int
) -> tuple[float | Undefined, Interval | Undefined]:
    n = int(right.size)
    if n == 0:
        nothing = Undefined(
            f"{asked} versions asked about, none named" if asked else "no version asked about"
        )
        return nothing, nothing
    share = float(right.mean())
    units = int(clusters.max()) + 1
    won, versions = (np.bincount(clusters, of, units).astype(np.int64) for of in (right, None))
    try:
        return share, ClusteredRates.of(won[None], versions[None]).rate(0, level)
    except UndefinedMetricError as error:
        return share, Undefined(str(error))
