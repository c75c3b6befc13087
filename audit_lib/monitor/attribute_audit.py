"""Attribution of the changes of an audit, from its sealed runs; what it needs of each is kept in the store.

``<audit>/monitor/cells/`` keeps the counts of each run by each decision rule that was asked for. They are derived:
removed, they are made again from the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from audit_lib.canonical import canonical_json
from audit_lib.documents.attribution import Attribution, TextShift
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.sequence_name import SequenceName
from audit_lib.documents.sequences import Sequences
from audit_lib.documents.window_cells import WindowCells
from audit_lib.errors import AuditError, EvidenceError, InputError, NotFoundError, StoreUnreachableError
from audit_lib.monitor.attribution import NOT_LOOKED, Exchanged, SideKey, TwoSides, attribute, by_name
from audit_lib.monitor.baseline import chosen_runs, read_baselines
from audit_lib.monitor.history import CompleteRun, read_history
from audit_lib.monitor.run_identity import identity_of
from audit_lib.monitor.text_shift import text_shift
from audit_lib.monitor.window_cells import reading_digest, rule_digest, window_cells
from audit_lib.monitor.window_sums import question_of
from audit_lib.progress import ignore
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.spec import Decision, PromptTemplate
from audit_lib.store import Store
from audit_lib.typed_json import decode
from audit_lib.window import Window

FOLDER: Final = "monitor/cells"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributed:
    """What came of attributing changes.

    Parameters
    ----------
    attributions : list of Attribution
        One for each group and quantity that can be compared.
    left_out : list of str
        A line for each group or run that cannot, and why.
    """

    attributions: list[Attribution]
    left_out: list[str]


def attribute_windows(
    store: Store,
    audit: str,
    after: Window,
    before: Window | None = None,
    *,
    texts: bool = False,
    notify: Callable[[str], None] = ignore,
) -> Attributed:
    """Attribute the change of every group's difference between two spans of windows.

    Parameters
    ----------
    store, audit : Store, str
        Where the runs are, and of which audit.
    after : Window
        Every sealed window that lies in it is on the later side.
    before : Window, optional
        The same of the earlier side; without it the baseline that was decided.
    texts : bool
        Also compare the sampled texts, which takes longer.
    notify : callable
        Told how far it is.

    Raises
    ------
    InputError
        If there is no baseline and `before` is left out, the sides overlap or run backwards, or ask other questions.
    NotFoundError
        If no sealed run lies in one of them.
    EvidenceError
        If a run of the baseline is gone or is another one now.
    """
    history = read_history(store, audit).complete
    later = chosen_runs([one for one in history if _within(one, after)])
    if not later:
        raise NotFoundError(
            f"{store.uri(audit)}: no sealed run within {after.label}; `audit status` lists the windows"
        )
    earlier = _of_baseline(store, audit, history) if before is None else _named(store, audit, history, before)
    if earlier[-1].window.end > later[0].window.start:
        raise InputError(
            f"window {later[0].window.label} begins before {earlier[-1].window.label} ends: the earlier side has to "
            "lie before the later one"
        )
    runs = [[Run.load(store.uri(one.prefix)) for one in side] for side in (earlier, later)]
    if parts := _other_question(runs[0][0], [*runs[0][1:], *runs[1]]):
        raise InputError(f"{', '.join(parts)} of the specs differ: these windows ask different questions")
    told = _attribute(
        _KeptCells(store=store, audit=audit, notify=notify), (runs[0], runs[1]), None, texts=texts
    )
    told.left_out.extend(_other_runs(history, [*earlier, *later]))
    return told


def _other_runs(history: Sequence[CompleteRun], chosen: Sequence[CompleteRun]) -> list[str]:
    """Say which other runs of the compared windows there are: a window that was audited twice counts once."""
    windows, prefixes = {one.window.label for one in chosen}, {one.prefix for one in chosen}
    return [
        f"{one.prefix}: another run of this window is compared"
        for one in history
        if one.window.label in windows and one.prefix not in prefixes
    ]


def attribute_alarms(
    store: Store,
    found: Sequences,
    runs: Mapping[str, CompleteRun],
    known: Sequence[Attribution] = (),
    differing: list[str] | None = None,
) -> Attributed:
    """Attribute each change whose alarm stands: the baseline's windows against those since it most likely began.

    Parameters
    ----------
    store : Store
        Where the runs are.
    found : Sequences
        What was followed.
    runs : mapping of str to CompleteRun
        Digest of a run's manifest -> where it is.
    known : sequence of Attribution
        Those that were made before: one of the same runs is the same.
    differing : list of str, optional
        Where given, nothing that was kept is believed, and a line is added for each file that is another one.
    """
    if isinstance(found.baseline, Undefined):
        return Attributed(attributions=[], left_out=[])
    by_start: dict[str, list[SequenceName]] = {}
    for one in found.sequences:
        for alarm in one.alarms:
            if alarm.kind == "change" and alarm.stands:
                by_start.setdefault(alarm.since, []).append(
                    SequenceName(quantity=one.quantity, group=one.group, reference=one.reference)
                )
    told = Attributed(attributions=[], left_out=[])
    cells = _KeptCells(store=store, audit=found.audit, notify=ignore, differing=differing)
    for since, names in by_start.items():
        begin = Window.from_label(since)
        after = tuple(one for one in found.runs if Window.from_label(one.window).start >= begin.start)
        same = [one for one in known if (one.before, one.after) == (found.baseline.runs, after)]
        told.attributions.extend(own for name in names if (own := by_name(same, name)) is not None)
        names = [name for name in names if by_name(same, name) is None]
        if not names:
            continue
        try:
            before, later = (
                [Run.load(store.uri(runs[one.manifest_sha256].prefix)) for one in side]
                for side in (found.baseline.runs, after)
            )
            made = _attribute(cells, (before, later), names)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            told.left_out.append(f"the change since {since} is not attributed: {error}")
            continue
        told.attributions.extend(made.attributions)
        told.left_out.extend(made.left_out)
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptCells:
    """What attribution needs of each run, as it is kept in the store."""

    store: Store
    audit: str
    notify: Callable[[str], None]
    differing: list[str] | None = None

    def of(
        self, run: Run, rule: Decision | None = None, reading: PromptTemplate | None = None
    ) -> WindowCells:
        """Return what a run has, by its own rule and reading or others: as it was kept, if of this very run."""
        digests = (
            rule_digest(run.spec.decision if rule is None else rule),
            reading_digest(run.spec.prompt if reading is None else reading),
        )
        place = run.key.prefix.removeprefix(f"{self.audit}/").replace("/", "_")
        key = f"{self.audit}/{FOLDER}/{place}_{digests[0][:16]}_{digests[1][:16]}.json"
        kept = None
        if self.store.exists(key):
            try:
                kept = decode(WindowCells, self.store.get(key), self.store.uri(key))
            except EvidenceError:
                kept = None  # of another version of this library: made again
        if kept is not None and (kept.run, kept.rule, kept.reading) != (identity_of(run), *digests):
            kept = None
        if kept is not None and self.differing is None:
            return kept
        self.notify(f"attribution: counting {run.key.window.label}")
        found = window_cells(run, rule, reading)
        if kept is not None and self.differing is not None and kept != found:
            self.differing.append(
                f"{self.store.uri(key)}: the kept counts are not those of the sealed run {run.uri}"
            )
        if kept != found:
            self.store.replace(key, canonical_json(found.as_dict()))
        return found


def _attribute(
    cells: _KeptCells,
    sides: tuple[Sequence[Run], Sequence[Run]],
    names: Sequence[SequenceName] | None,
    *,
    texts: bool = False,
) -> Attributed:
    before, after = ([cells.of(run) for run in side] for side in sides)
    exchange = _exchange(cells, sides)
    shift: TextShift | Undefined = text_shift(*sides) if texts else NOT_LOOKED
    compared = TwoSides(
        before=before,
        after=after,
        exchanged=exchange.cells,
        exchangeable=exchange.what,
        not_exchanged=exchange.notes,
        texts=shift,
    )
    told = Attributed(attributions=[], left_out=[])
    for name in _names(sides[1][-1], after) if names is None else names:
        try:
            told.attributions.append(attribute(name, compared))
        except InputError as error:
            told.left_out.append(
                f"{name.quantity} of {'+'.join(name.group.values())}: not attributed: {error}"
            )
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """What of two sides could be exchanged, what comes of it, and why something could not be."""

    what: list[Exchanged]
    cells: dict[SideKey, list[WindowCells]]
    notes: list[str]


def _exchange(cells: _KeptCells, sides: tuple[Sequence[Run], Sequence[Run]]) -> _Exchange:
    """Apply each side's decision rule to the other's scores, and read its answers in the other's way."""
    told = _Exchange(what=[], cells={}, notes=[])
    rules = [{rule_digest(run.spec.decision): run.spec.decision for run in side} for side in sides]
    readings = [{reading_digest(run.spec.prompt): run.spec.prompt for run in side} for side in sides]
    by_side = dict(zip(("before", "after"), sides, strict=True))
    rule = {side: next(iter(own.values())) for side, own in zip(by_side, rules, strict=True)}
    reading = {side: next(iter(own.values())) for side, own in zip(by_side, readings, strict=True)}
    both: list[tuple[Exchanged, list[set[str]]]] = [
        ("rule", [set(own) for own in rules]),
        ("reading", [set(own) for own in readings]),
    ]
    names = {"rule": "decision rule", "reading": "way of reading answers"}
    for what, digests in both:
        if digests[0] == digests[1]:
            continue
        if any(len(own) > 1 for own in digests):
            told.notes.append(f"the part of the {names[what]} is not computed: a side has several")
            continue
        # With what can be exchanged already, all ways to choose each from one of the sides.
        open_ = (*told.what, what)
        made = {}
        try:
            if what == "reading" and None in reading.values():
                raise InputError("a side has no prompt that says how answers are read")
            for side, runs in by_side.items():
                for by, read in product(
                    *(by_side if one in open_ else (side,) for one in ("rule", "reading"))
                ):
                    if (by, read) != (side, side):
                        made[side, by, read] = [
                            cells.of(
                                run,
                                None if by == side else rule[by],
                                None if read == side else reading[read],
                            )
                            for run in runs
                        ]
        except InputError as error:
            told.notes.append(f"the part of the {names[what]} is not computed: {error}")
            continue
        told.what.append(what)
        told.cells.update(made)
    return told


def _names(run: Run, after: Sequence[WindowCells]) -> list[SequenceName]:
    """Every quantity that some window has, of every group and its reference."""
    quantities = dict.fromkeys(cell.quantity for window in after for cell in window.cells)
    return [
        SequenceName(quantity=quantity, group=group, reference=reference)
        for quantity in quantities
        for group, reference in run.spec.groups.comparisons()
    ]


def _within(one: CompleteRun, span: Window) -> bool:
    return one.window.start >= span.start and one.window.end <= span.end


def _named(store: Store, audit: str, history: Sequence[CompleteRun], span: Window) -> list[CompleteRun]:
    found = chosen_runs([one for one in history if _within(one, span)])
    if not found:
        raise NotFoundError(
            f"{store.uri(audit)}: no sealed run within {span.label}; `audit status` lists the windows"
        )
    return found


def _of_baseline(store: Store, audit: str, history: Sequence[CompleteRun]) -> list[CompleteRun]:
    """Return the runs of the newest baseline, as they were decided on."""
    baselines = read_baselines(store, audit)
    if not baselines:
        raise InputError(
            f"{audit}: no baseline; decide one with `audit baseline set`, or name the earlier windows (--before)"
        )
    found = []
    for pinned in baselines[-1].runs:
        one = next((run for run in history if _is(store, run, pinned)), None)
        if one is None:
            raise EvidenceError(
                f"{audit}: the run of window {pinned.window} that baseline {baselines[-1].name!r} names is gone, or is "
                "not the one that was decided on; decide a new one"
            )
        found.append(one)
    return found


def _is(store: Store, one: CompleteRun, pinned: RunIdentity) -> bool:
    if one.window.label != pinned.window:
        return False
    try:
        return identity_of(Run.load(store.uri(one.prefix))) == pinned
    except StoreUnreachableError:
        raise
    except AuditError:
        return False


def _other_question(first: Run, others: Sequence[Run]) -> list[str]:
    """Return which parts of the specs ask different questions."""
    asked = question_of(first)
    return sorted(
        {name for run in others for name, digest in question_of(run).items() if digest != asked[name]}
    )
