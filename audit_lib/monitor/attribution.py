"""To what the change of a group's difference between two sides of windows is to be attributed.

What can be computed is computed, whatever else changed at the same time: the part of the decision rule by applying the
old rule to the new scores and the new one to the old, the part of the mix by direct standardisation to the strata of
the other side. These and what is left are Shapley's parts, the mean over all orders, so they add up to the change. What
is left belongs to the one thing that became another in these windows: model, prompt, parsing, source or software. Where
two did, it cannot be told; where none did, it is of none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.attribution import (
    Attribution,
    Cause,
    CauseMark,
    MissingAnswers,
    PartOfChange,
    StratumChange,
    TextShift,
)
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.window_cells import WindowCells
from audit_lib.errors import InputError
from audit_lib.monitor.attribution_words import sentence
from audit_lib.monitor.canary_shift import canary_shift
from audit_lib.monitor.field_shift import field_shifts
from audit_lib.monitor.marks import causes, missing_mark, sample_marks, version_marks
from audit_lib.monitor.tallies import ANSWERED, ASKED, TOTAL, StratifiedSides
from audit_lib.results import Interval, Undefined
from audit_lib.stats.shapley import block_interval, shapley_parts

Floats = NDArray[np.float64]

Exchanged = Literal["rule", "reading"]
SideKey = tuple[str, str, str]

LEVEL: Final = 0.95
METHOD: Final = (
    "difference of the means of all answered rows; Shapley's parts (mean over all orders) of mix (direct "
    "standardisation), decision rule (old rule on new scores, new rule on old), reading (kept texts read in the way of "
    "the other side) and what is left; delete-a-group jackknife over clusters"
)
NOT_LOOKED: Final = Undefined("texts were not compared")


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSides:
    """The windows that are compared.

    Parameters
    ----------
    before, after : sequence of WindowCells
        Each run by its own decision rule, its answers read in its own way.
    exchanged : mapping of (str, str, str) to sequence of WindowCells
        Runs of a side, by the rule of a side, their answers read as on a side: each ``before`` or ``after``.
    exchangeable : sequence of str
        Which of ``rule`` and ``reading`` became another and can be exchanged between the sides.
    not_exchanged : sequence of str
        Why others cannot be.
    texts : TextShift or Undefined
        Of the sampled texts.
    """

    before: Sequence[WindowCells]
    after: Sequence[WindowCells]
    exchanged: Mapping[SideKey, Sequence[WindowCells]] = field(default_factory=dict)
    exchangeable: Sequence[Exchanged] = ()
    not_exchanged: Sequence[str] = ()
    texts: TextShift | Undefined = NOT_LOOKED

    @property
    def named(self) -> dict[str, Sequence[WindowCells]]:
        """The sets of windows by name."""
        return {"before": self.before, "after": self.after} | {
            "/".join(key): windows for key, windows in self.exchanged.items()
        }


def attribute(name: SequenceName, sides: TwoSides) -> Attribution:
    """Attribute the change of a difference.

    Parameters
    ----------
    name : SequenceName
        Which quantity, of which group and reference.
    sides : TwoSides
        The windows.

    Raises
    ------
    InputError
        If a side has no window, or nobody of a group with an answer; or the sides are split by other columns.
    """
    before, after = sides.before, sides.after
    if not before or not after:
        raise InputError(f"no window {'after' if before else 'before'}: there is nothing to compare")
    if len({one.strata_by for one in (*before, *after)}) > 1:
        raise InputError("the windows are split by other columns: no part can be compared")
    if name.quantity == "score" and len({one.score_range for one in (*before, *after)}) > 1:
        raise InputError("the windows are scored on different scales: no part can be compared")
    found = StratifiedSides.of(name, sides.named)
    for key in ("before", "after"):
        for tallies, group in zip(found.tables[key], (name.group, name.reference), strict=True):
            if tallies.whole[ANSWERED, 0] == 0:
                raise InputError(f"{'+'.join(group.values())}: nobody with an answer {key}")
    span = after[0].score_range if name.quantity == "score" else None
    scale = 1.0 if span is None else span[1] - span[0]
    missing = tuple(_missing(name, found))
    fields, canaries = tuple(field_shifts(before, after)), canary_shift(before, after)
    marks = [
        *version_marks(before, after, canaries),
        *sample_marks(fields, sides.texts),
        *missing_mark(missing),
    ]
    notes = list(_notes(found, sides, marks))
    values = _values(found)
    change = scale * (values["all"] - values["none"])
    whole, interval = float(change[0]), block_interval(float(change[0]), found.replicates(change), LEVEL)
    low, high = (scale * one for one in _over_missing(found))
    parts = _parts(found, scale, marks, sides.exchangeable, (low - whole, high - whole))
    clear = not isinstance(interval, Undefined) and not interval.low <= 0.0 <= interval.high
    written = tuple(
        PartOfChange(
            cause=cause,
            candidates=candidates,
            how="remainder" if how == "remainder" else ("standardised" if how == "mix" else "recomputed"),
            part=float(part[0]),
            interval=block_interval(float(part[0]), found.replicates(part), LEVEL),
            share=float(part[0]) / whole
            if clear
            else Undefined("the change itself is not told apart from none"),
        )
        for how, cause, candidates, part in sorted(parts, key=lambda one: -abs(float(one[3][0])))
    )
    strata = tuple(_strata(found, scale))
    changes = [one.change for one in strata if not isinstance(one.change, Undefined)]
    attribution = Attribution(
        audit=after[0].audit,
        quantity=name.quantity,
        group=name.group,
        reference=name.reference,
        before=tuple(one.run for one in before),
        after=tuple(one.run for one in after),
        difference_before=scale * float(values["none"][0]),
        difference_after=scale * float(values["all"][0]),
        change=whole,
        interval=interval,
        rows=(_answered(found, "before"), _answered(found, "after")),
        method=METHOD,
        parts=written,
        marks=tuple(marks),
        strata_by=after[0].strata_by,
        strata=strata,
        simpson=len(changes) > 1 and len(changes) == len(strata) and all(one * whole < 0 for one in changes),
        missing=missing,
        change_over_missing=(low, high),
        canaries=canaries,
        fields=fields,
        texts=sides.texts,
        notes=tuple(notes),
        sentence="",
    )
    return sentence(attribution)


def _answered(found: StratifiedSides, key: str) -> int:
    return int(sum(one.whole[ANSWERED, 0] for one in found.tables[key]))


def _values(found: StratifiedSides) -> dict[str, Floats]:
    """Return the difference before and after."""
    return {"none": found.difference("before", "before"), "all": found.difference("after", "after")}


def _notes(found: StratifiedSides, sides: TwoSides, marks: list[CauseMark]) -> list[str]:
    """Say what could not be done; what stays in the remainder for it is marked as one of its causes."""
    notes = []
    if found.merged:
        notes.append(f"{found.merged} strata with few answers on a side are counted as one")
    if not found.comparable:
        notes.append("the mix is not standardised: some strata have nobody with an answer on one side")
        marks.append(CauseMark(cause="mix", said="some strata are on one side alone"))
    notes += sides.not_exchanged
    for key, windows in (("before", sides.before), ("after", sides.after)):
        several = [name for name in windows[0].versions if len({one.versions[name] for one in windows}) > 1]
        if several:
            notes.append(f"the windows {key} are not of one version: several of {', '.join(several)} in them")
    return notes


def _parts(
    found: StratifiedSides,
    scale: float,
    marks: Sequence[CauseMark],
    exchangeable: Sequence[Exchanged],
    over_missing: tuple[float, float],
) -> list[tuple[str, Cause, tuple[Cause, ...], Floats]]:
    """Return how each part was had, its cause, the candidates, and its values with and without each block."""
    players = [*(["mix"] if found.comparable else []), *exchangeable, "remainder"]

    def worth(changed: int) -> Floats:
        new = {player: bool(changed >> place & 1) for place, player in enumerate(players)}
        late = new["remainder"]
        # What is no player of its own changes with what is left.
        side, rule, reading, mix = (
            "after" if new.get(player, late) else "before"
            for player in ("remainder", "rule", "reading", "mix")
        )
        inside = side if rule == reading == side else f"{side}/{rule}/{reading}"
        return found.difference(inside, mix)

    shared = scale * shapley_parts(len(players), worth)
    computed: dict[str, Cause] = {"mix": "mix", "rule": "rule", "reading": "answers"}
    parts: list[tuple[str, Cause, tuple[Cause, ...], Floats]] = [
        (player, computed[player], (), part)
        for player, part in zip(players, shared, strict=True)
        if player in computed
    ]
    left = shared[-1]
    told = [mark for mark in marks if mark.exchanged is None or mark.exchanged not in exchangeable]
    open_causes = causes(told)
    if "answers" not in open_causes or any(mark.exchanged == "reading" for mark in told):
        return [*parts, ("remainder", *_told(open_causes), left)]
    # Answers that are not read can account for so much of it; what is beyond that is of the others.
    reach = _explained(left, over_missing)
    parts.append(("remainder", *_told(open_causes), reach))
    if np.abs(left - reach).max() > 0:
        others = [cause for cause in open_causes if cause != "answers"]
        parts.append(("remainder", *_told(others), left - reach))
    return parts


def _told(open_causes: Sequence[Cause]) -> tuple[Cause, tuple[Cause, ...]]:
    """Return the one cause that something may have, or that it cannot be told, and the candidates."""
    if len(open_causes) > 1:
        return "cannot_tell", tuple(open_causes)
    return (open_causes[0] if open_causes else "none"), ()


def _explained(left: Floats, over_missing: tuple[float, float]) -> Floats:
    """Return as much of what is left as the answers that are not read could account for."""
    low, high = left + min(over_missing[0], 0.0), left + max(over_missing[1], 0.0)
    return np.asarray(left - np.clip(0.0, low, high))


def _missing(name: SequenceName, found: StratifiedSides) -> list[MissingAnswers]:
    told = []
    for place, group in enumerate((name.group, name.reference)):
        before, after = (found.tables[key][place].unread for key in ("before", "after"))
        change: Interval | Undefined = block_interval(
            float(after[0] - before[0]), found.replicates(after - before), 0.99
        )
        told.append(
            MissingAnswers(group=group, before=float(before[0]), after=float(after[0]), change=change)
        )
    return told


def _over_missing(found: StratifiedSides) -> tuple[float, float]:
    """Return the least and the greatest change had as many answers been read on both sides.

    The side where more are missing has as many more answers as it would have at the other's share, of any value.
    """
    ends: list[float] = []
    ranges: dict[str, list[tuple[float, float]]] = {}
    for key, other in (("before", "after"), ("after", "before")):
        ranges[key] = []
        for own, theirs in zip(found.tables[key], found.tables[other], strict=True):
            asked, answered, total = own.whole[:, 0].tolist()
            more = max(0.0, asked * (1.0 - float(theirs.unread[0])) - answered)
            ranges[key].append((total / (answered + more), (total + more) / (answered + more)))
    for far, near in ((0, 1), (1, 0)):
        (our_last, their_last), (our_first, their_first) = ranges["after"], ranges["before"]
        ends.append((our_last[far] - their_last[near]) - (our_first[near] - their_first[far]))
    return ends[0], ends[1]


def _strata(found: StratifiedSides, scale: float) -> list[StratumChange]:
    told = []
    for place, stratum in enumerate(found.strata):
        sides: list[float | Undefined] = []
        for key in ("before", "after"):
            means = [_mean(one.sums[:, place, 0]) for one in found.tables[key]]
            ours, theirs = means
            sides.append(
                Undefined("nobody with an answer of one of the groups")
                if ours is None or theirs is None
                else scale * (ours - theirs)
            )
        before, after = sides
        told.append(
            StratumChange(
                stratum=stratum,
                before=before,
                after=after,
                change=Undefined("nobody with an answer of one of the groups on one side")
                if isinstance(before, Undefined) or isinstance(after, Undefined)
                else after - before,
            )
        )
    return told


def _mean(sums: Floats) -> float | None:
    return float(sums[TOTAL] / sums[ANSWERED]) if sums[ASKED] > 0 and sums[ANSWERED] > 0 else None


def by_name(attributions: Sequence[Attribution], name: SequenceName) -> Attribution | None:
    """Return the attribution of a sequence; None where there is none."""

    def key(one: Attribution | SequenceName) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
        return one.quantity, dict(one.group), dict(one.reference)

    return next((one for one in attributions if key(one) == key(name)), None)
