"""Everything that an audit follows over its windows, from the baseline on: evidence that may be looked at each time.

A function of the sealed runs and of the baseline that somebody chose. Runs are taken in the order of their windows,
whenever they were made, so a window that is audited late gives the same document as one that was audited in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.sequences import (
    Alarm,
    Baseline,
    FollowedSequence,
    Look,
    MonitorSettings,
    Sequences,
    SetAside,
    VersionChange,
    WindowSumsDocument,
)
from audit_lib.monitor.baseline import differing
from audit_lib.results import Interval, Undefined
from audit_lib.stats.sequential import WindowSums, confidence_sequence, e_bh
from audit_lib.stats.sequential_change import ChangeEvidence, evidence_of_change, evidence_since
from audit_lib.stats.sequential_pairs import PairSums
from audit_lib.window import Window

__all__ = ["follow"]

Floats = NDArray[np.float64]

LEVEL: Final = 0.95
_NO_UNITS: Final = "nobody of both groups in one unit of this window"
NO_BASELINE: Final = (
    "no baseline: nobody has decided which windows the others are compared with (`audit baseline set`); no change is "
    "looked for"
)


def follow(audit: str, baseline: Baseline | None, sums: Sequence[WindowSumsDocument]) -> Sequences:
    """Follow every quantity over the windows of an audit.

    Parameters
    ----------
    audit : str
        Its name.
    baseline : Baseline or None
        The windows that later ones are compared with; without one no change is looked for.
    sums : sequence of WindowSumsDocument
        Of its sealed runs, in any order; of several of one window, the first is followed.

    Returns
    -------
    Sequences
        With an alarm for each finding that holds over all looks, sequences and kinds at once.
    """
    chosen, set_aside = _chosen(baseline, sums)
    why = None if baseline is None else _broken(baseline, chosen)
    known = (
        Undefined(NO_BASELINE if why is None else why) if baseline is None or why is not None else baseline
    )
    settings = None if isinstance(known, Undefined) else known.settings
    family = [
        _Followed.of(name, chosen, 0 if isinstance(known, Undefined) else len(known.runs), settings)
        for name in _names(chosen)
    ]
    told = {} if settings is None else _told(family, settings)
    versions = tuple(_versions(chosen))
    return Sequences(
        audit=audit,
        baseline=known,
        hypotheses=sum(len(one.evidence) for one in family),
        runs=tuple(one.run for one in chosen),
        sequences=tuple(one.document(told, number, versions) for number, one in enumerate(family)),
        versions=versions,
        set_aside=tuple(set_aside),
        left_out=tuple(
            left
            for left in (chosen[-1].left_out if chosen else ())
            if all(left.quantity != sums.quantity for one in chosen for sums in one.sums)
        ),
    )


_Kind = Literal["change", "below_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Followed:
    """One sequence with its evidence.

    Parameters
    ----------
    name : SequenceName
        What it is.
    windows : sequence of str
        Labels of the looks.
    absent : sequence of str
        Why each window would have no value.
    pairs : PairSums
        Of each window.
    scale : float
        What a difference of 1 is in the quantity's own unit.
    baseline : int
        How many of the windows are the baseline; 0 without one.
    evidence : mapping
        Of each kind of alarm, at each look.
    """

    name: SequenceName
    windows: Sequence[str]
    absent: Sequence[str]
    pairs: PairSums
    scale: float
    baseline: int
    evidence: Mapping[_Kind, ChangeEvidence]

    @classmethod
    def of(
        cls,
        name: SequenceName,
        chosen: Sequence[WindowSumsDocument],
        baseline: int,
        settings: MonitorSettings | None,
    ) -> _Followed:
        pairs = _pairs(name, chosen)
        difference = pairs.difference
        evidence: dict[_Kind, ChangeEvidence] = {}
        if settings is not None:
            windows = [one.run.window for one in chosen]
            marked = [windows.index(one.window) for one in _versions(chosen)]
            evidence["change"] = evidence_of_change(difference, baseline, settings.floor, marked)
            if settings.line is not None and name.quantity == "selection_rate":
                evidence["below_line"] = evidence_since(pairs.against(settings.line).mirrored, 0.0)
        ranges = [one.score_range for one in chosen if one.score_range is not None]
        span = ranges[-1] if ranges and name.quantity == "score" else None
        return cls(
            name=name,
            windows=[one.run.window for one in chosen],
            absent=[_why_absent(name, one) for one in chosen],
            pairs=pairs,
            scale=1.0 if span is None else span[1] - span[0],
            baseline=baseline,
            evidence=evidence,
        )

    def enough(self, kind: _Kind, look: int, minimum: int) -> bool:
        """Tell whether it has been going on for enough units."""
        since = int(self.evidence[kind].since[look])
        return since >= 0 and int(self.pairs.n[since : look + 1].sum()) >= minimum

    def document(
        self,
        told: Mapping[tuple[int, _Kind], list[int]],
        number: int,
        versions: Sequence[VersionChange],
    ) -> FollowedSequence:
        """Return the sequence as it is written."""
        differences = self.pairs.difference
        intervals = confidence_sequence(differences, LEVEL)
        looks = [
            Look(
                window=window,
                units=units,
                difference=self.scale * float(total) / units if units else Undefined(self.absent[look]),
                interval=self._scaled(interval),
                change=self._evidence("change", look) if look >= self.baseline else None,
                below_line=self._evidence("below_line", look),
            )
            for look, (window, units, total, interval) in enumerate(
                zip(self.windows, self.pairs.n.tolist(), differences.total, intervals, strict=True)
            )
        ]
        ratio: Interval | Undefined = Undefined("scores have no ratio of rates")
        if self.name.quantity == "selection_rate":
            ratio = self.pairs.together.ratios(LEVEL)[0] if self.windows else Undefined(_NO_UNITS)
        return FollowedSequence(
            **_values(self.name),
            looks=tuple(looks),
            ratio=ratio,
            alarms=tuple(
                self._alarm(kind, told[number, kind], versions)
                for kind in self.evidence
                if (number, kind) in told
            ),
        )

    def _evidence(self, kind: _Kind, look: int) -> float | None:
        found = self.evidence.get(kind)
        return float(found.log_e[look]) if found is not None and math.isfinite(found.log_e[look]) else None

    def _scaled(self, interval: Interval) -> Interval:
        return replace(interval, low=self.scale * interval.low, high=self.scale * interval.high)

    def _alarm(self, kind: _Kind, looks: list[int], versions: Sequence[VersionChange]) -> Alarm:
        look, evidence = looks[-1], self.evidence[kind]
        since = int(evidence.since[look])
        alarm = Alarm(
            kind=kind,
            told_in=self.windows[looks[0]],
            stands=look == len(self.windows) - 1,
            since=self.windows[since],
            became_another=tuple(
                name for one in versions if one.window == self.windows[since] for name in one.changed
            ),
            log_evidence=float(evidence.log_e[look]),
        )
        if kind == "below_line":
            return alarm
        place = since - self.baseline + 1
        # Right at all looks, and for every window with which the change might have begun: as the evidence is shared.
        missed = (1.0 - LEVEL) / 2.0
        before = confidence_sequence(self._part(0, since), 1.0 - missed)[-1]
        after = confidence_sequence(self._part(since, look + 1), 1.0 - missed / (place * (place + 1)))[-1]
        return replace(alarm, before=self._scaled(before), after=self._scaled(after))

    def _part(self, start: int, stop: int) -> WindowSums:
        sums = self.pairs.difference
        return replace(
            sums, n=sums.n[start:stop], total=sums.total[start:stop], squares=sums.squares[start:stop]
        )


def _told(family: Sequence[_Followed], settings: MonitorSettings) -> dict[tuple[int, _Kind], list[int]]:
    """Return the looks at which each hypothesis is told, of those that ever are."""
    keys = [(number, kind) for number, one in enumerate(family) for kind in one.evidence]
    found: dict[tuple[int, _Kind], list[int]] = {}
    if not keys:
        return found
    evidence = np.stack([family[number].evidence[kind].log_e for number, kind in keys])
    for look in range(evidence.shape[1]):
        told = e_bh(evidence[:, look], settings.false_alarms)
        for (number, kind), holds in zip(keys, told.tolist(), strict=True):
            if holds and family[number].enough(kind, look, settings.minimum):
                found.setdefault((number, kind), []).append(look)
    return found


def _chosen(
    baseline: Baseline | None, sums: Sequence[WindowSumsDocument]
) -> tuple[list[WindowSumsDocument], list[SetAside]]:
    """Return the runs that are followed, in the order of their windows, and those that are not."""
    ordered = sorted(sums, key=lambda one: (_window(one).end, _window(one).start))
    model = ordered[-1] if ordered else None
    chosen: list[WindowSumsDocument] = []
    set_aside: list[SetAside] = []
    pinned = {} if baseline is None else {one.window: one for one in baseline.runs}
    scale = _score_range(ordered, pinned)
    for one in ordered:
        reason = _not_followed(one, model, baseline, pinned)
        if reason is None and one.score_range not in (None, scale):
            reason = "scores on another scale than the baseline's: prompt.relevance of the spec differs"
        if reason is None and chosen and _window(one).start < _window(chosen[-1]).end:
            same = one.run.window == chosen[-1].run.window
            reason = (
                "another run of this window is followed"
                if same
                else f"overlaps window {chosen[-1].run.window}: people in both would be counted twice"
            )
        if reason is None:
            chosen.append(one)
        else:
            set_aside.append(SetAside(window=one.run.window, spec_digest=one.run.spec_digest, reason=reason))
    return chosen, set_aside


def _score_range(
    ordered: Sequence[WindowSumsDocument], pinned: Mapping[str, RunIdentity]
) -> tuple[float, float] | None:
    """Return the scale of the scores: that of the newest run of the baseline; without one, of the newest run."""
    chosen = [one for one in ordered if one.score_range is not None]
    own = [one for one in chosen if pinned.get(one.run.window) == one.run] or chosen
    return own[-1].score_range if own else None


def _not_followed(
    one: WindowSumsDocument,
    model: WindowSumsDocument | None,
    baseline: Baseline | None,
    pinned: Mapping[str, RunIdentity],
) -> str | None:
    """Return why a run is in no sequence, by itself."""
    if baseline is None:
        parts = differing(one, model) if model is not None else []
    elif one.run.window in pinned:
        return None if one.run == pinned[one.run.window] else "the baseline has another run of this window"
    else:
        windows = [Window.from_label(window) for window in pinned]
        if _window(one).end <= windows[0].start:
            return "before the baseline"
        if _window(one).start < windows[-1].end:
            return "between the windows of the baseline, and none of them"
        parts = [name for name, digest in baseline.question.items() if one.question.get(name) != digest]
    if parts:
        than = "latest window" if baseline is None else "baseline"
        return f"asks another question than the {than}: {', '.join(parts)} of the spec differ"
    return None


def _broken(baseline: Baseline, chosen: Sequence[WindowSumsDocument]) -> str | None:
    """Return why a baseline cannot be used."""
    here = {canonical_json(one.run.as_dict()) for one in chosen}
    gone = [one.window for one in baseline.runs if canonical_json(one.as_dict()) not in here]
    if not gone:
        return None
    return (
        f"the baseline {baseline.name!r} cannot be used: the run of window {gone[0]} that it names is gone, cannot be "
        "read, or is not the one that was decided on; decide a new one"
    )


def _names(chosen: Sequence[WindowSumsDocument]) -> list[SequenceName]:
    """Return everything that some window has, in the order in which it first appears."""
    found: dict[bytes, SequenceName] = {}
    for one in chosen:
        for sums in one.sums:
            name = _name(sums)
            found.setdefault(canonical_json(name.as_dict()), name)
    return list(found.values())


def _name(sums: SequenceName) -> SequenceName:
    return SequenceName(quantity=sums.quantity, group=sums.group, reference=sums.reference)


def _why_absent(name: SequenceName, one: WindowSumsDocument) -> str:
    """Return why a window has no value, if it has none: what its run does not have, or that the groups do not meet."""
    left = next((left for left in one.left_out if left.quantity == name.quantity), None)
    return _NO_UNITS if left is None else f"not in this window: {left.reason}"


def _pairs(name: SequenceName, chosen: Sequence[WindowSumsDocument]) -> PairSums:
    """Return the sums of each window; nothing where a window has none."""
    found = [next((sums for sums in one.sums if _name(sums) == name), None) for one in chosen]

    def column(key: str) -> Floats:
        return np.array([0.0 if one is None else float(getattr(one, key)) for one in found])

    return PairSums(
        n=column("units").astype(np.int64),
        group=column("group_sum"),
        comparator=column("reference_sum"),
        group_squares=column("group_squares"),
        comparator_squares=column("reference_squares"),
        products=column("products"),
    )


def _versions(chosen: Sequence[WindowSumsDocument]) -> Iterator[VersionChange]:
    for one, other in pairwise(chosen):
        parts = [name for name in other.version if one.version.get(name) != other.version[name]]
        if parts:
            yield VersionChange(window=other.run.window, changed=tuple(parts))


def _window(one: WindowSumsDocument) -> Window:
    return Window.from_label(one.run.window)


def _values(name: SequenceName) -> dict[str, Any]:
    return {one.name: getattr(name, one.name) for one in fields(SequenceName)}
