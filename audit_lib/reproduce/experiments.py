"""Experiments on answers that differ: asked twice, by the model's own passes, with a setting as it was recorded.

Each asks a few of the answers that are furthest from the archived ones again, in the packs that they lie in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from audit_lib.documents.reproduction import NoiseFloor, ReproductionExperiment
from audit_lib.errors import AuditError
from audit_lib.reproduce.asking_again import ModelHere, answers_once_more, table_of
from audit_lib.reproduce.compared_answers import AnswerRow, ComparedAnswer, as_allowed, compared, largest
from audit_lib.reproduce.drawn_part import DrawnPart
from audit_lib.run import Run
from audit_lib.score.backends import Backend, backend
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Pooled, Request
from audit_lib.score.steps import reply_places

MOST: Final = 16
"""Requests that an experiment asks again, where each can be asked alone."""
_MOST_PACKS: Final = 2
_OWN: Final = 8
_ALPHA: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What was asked again and compared: all that an experiment starts from.

    Attributes
    ----------
    run : Run
        The run that asked again.
    archived : Run
        The sealed one.
    here : ModelHere
    part : DrawnPart
    floor : NoiseFloor
    answers : sequence of ComparedAnswer
    """

    run: Run
    archived: Run
    here: ModelHere
    part: DrawnPart
    floor: NoiseFloor
    answers: Sequence[ComparedAnswer]


def experiments(found: Reproduced) -> Iterator[ReproductionExperiment]:
    """Ask some of the answers that differ again, and say what comes out; none where nothing differs."""
    worst = largest(found.answers)
    if not worst:
        return
    kind = backend.get(found.run.spec.model.backend)
    if kind.answers_later:
        yield _untried(
            "asked_twice", "the same requests once more", "a batch takes hours, so nothing is tried again"
        )
        return
    keys = [one.key for one in worst]
    shard, packs = _packs_around(found.part, keys, alone=kind.answers_alone)
    # Those that are furthest off were chosen for it: how far a model is from itself is told by any of them.
    anyone = sorted(found.answers, key=lambda one: str(one.archived["request_digest"]))
    any_keys = [keys[0]] if not kind.answers_alone else [one.key for one in anyone]
    yield _asked_twice(found, *_packs_around(found.part, any_keys, alone=kind.answers_alone))
    if hasattr(kind, "alone"):
        yield from _own_passes(found, worst, packs, kind)
    yield from _restored(found, shard, packs)


def most_requests(part: DrawnPart, *, alone: bool) -> int:
    """Return how many requests an experiment may ask besides, for what is said of the cost before."""
    if alone and not isinstance(part.task, Pooled):
        return min(MOST, part.asked.requests)
    sizes = sorted((len(pack) for packs in part.packs.values() for pack in packs), reverse=True)
    return (
        sum(sizes[:_MOST_PACKS]) if not isinstance(part.task, Pooled) else max(_pool_sizes(part), default=0)
    )


def _pool_sizes(part: DrawnPart) -> list[int]:
    sizes: dict[str, int] = {}
    for packs in part.packs.values():
        for pack in packs:
            sizes[pack[0].section] = sizes.get(pack[0].section, 0) + len(pack)
    return list(sizes.values())


def _asked_twice(found: Reproduced, shard: int, packs: Sequence[Pack]) -> ReproductionExperiment:
    """Ask again what was just asked: how far the model is from itself here, and whether the archive is farther.

    If nothing changed, the archived answer and the third one are each as likely to be the farther from the second.
    """
    what = "the same requests once more, on this machine"
    try:
        again = _by_key(answers_once_more(found.run, shard, packs, table_of(found.part)))
    except AuditError as error:
        return _untried("asked_twice", what, str(error))
    before = [one for one in found.answers if _row(one) in again]
    pairs = [compared(one.here, again[_row(one)], found.floor) for one in before]
    beyond, gap = _beyond(pairs)
    farther = sum(one.size > twice.size for one, twice in zip(before, pairs, strict=True))
    nearer = sum(one.size < twice.size for one, twice in zip(before, pairs, strict=True))
    own_noise = bool(beyond) and _sign_test(farther, farther + nearer) >= _ALPHA
    if beyond == 0:
        said = "the model gives the same answers again"
    elif own_noise:
        said = (
            f"the model does not repeat itself here: {beyond} of {len(pairs)} differ, and the archived answers are no "
            "farther off than it is from itself"
        )
    else:
        said = (
            f"the model does not repeat itself here: {beyond} of {len(pairs)} differ; the archived answers are farther "
            f"off than that in {farther} of {farther + nearer}"
        )
    return ReproductionExperiment(
        name="asked_twice",
        what=what,
        answers=len(pairs),
        beyond_floor=beyond,
        largest_gap=gap,
        shows="own_noise" if own_noise else None,
        found=said,
    )


def _sign_test(farther: int, of: int) -> float:
    """Return how likely so many or more of these are farther, if each side is as likely to be.

    Examples
    --------
    >>> _sign_test(7, 7), _sign_test(0, 0)
    (0.0078125, 1.0)
    """
    return float(sum(math.comb(of, k) for k in range(farther, of + 1)) / 2**of)


def _own_passes(
    found: Reproduced, worst: Sequence[ComparedAnswer], packs: Sequence[Pack], kind: type[Backend]
) -> Iterator[ReproductionExperiment]:
    """Ask the model's own forward passes, which share nothing between prompts: is it the engine, or the model?"""
    requests = {request.key: request for pack in packs for request in pack if request.labels}
    if not requests or reply_places(found.run, requests.values()):
        return
    chosen = [one for one in worst if one.key in requests and one.here["label_probabilities"] is not None][
        :_OWN
    ]
    if not chosen:
        return
    what = "the same requests by the model's own passes, without packing"
    try:
        own = _own_answers(found.run, kind, [requests[one.key] for one in chosen])
    except AuditError as error:
        yield _untried("own_passes", what, str(error))
        return
    own_rows = [
        {**one.here, "label_probabilities": given, "label_mass": None, "status": "ok", "score": None}
        for one, given in zip(chosen, own, strict=True)
    ]
    allowed = as_allowed(
        found.floor
    )  # the floor of a few answers is no bound of what rounding does to others

    def against(side: Sequence[AnswerRow]) -> tuple[int, float | None]:
        pairs = zip(side, own_rows, strict=True)
        return _beyond([compared({**row, "score": None}, own_row, allowed) for row, own_row in pairs])

    engine, engine_gap = against([one.here for one in chosen])
    there, _ = against([one.archived for one in chosen])
    if engine == 0:
        said = "packing changes nothing here: the engine agrees with the model's own passes (as the audit allowed)"
    elif there == 0:
        said = "the model's own passes give the archived answers, and the engine here does not"
    else:
        said = f"the engine here differs from the model's own passes in {engine}, and these from the archive in {there}"
    yield ReproductionExperiment(
        name="own_passes",
        what=what,
        answers=len(chosen),
        beyond_floor=there,
        largest_gap=engine_gap,
        shows="software" if engine and not there else None,
        found=said,
    )


def _own_answers(
    run: Run, kind: type[Backend], requests: Sequence[Request]
) -> list[tuple[float, ...] | None]:
    with closing(kind(run.spec.model)) as answering:
        given: list[tuple[float, ...] | None] = answering.alone(requests)  # type: ignore[attr-defined]
        return given


def _restored(found: Reproduced, shard: int, packs: Sequence[Pack]) -> Iterator[ReproductionExperiment]:
    """Put each option that was set for this reproduction back as the run recorded it, and ask again."""
    set_here = found.here.settings
    several = [{key} for key in set_here] + ([set(set_here)] if len(set_here) > 1 else [])
    archived = _by_key([one.archived for one in found.answers])
    for keys in several:
        what = "as recorded: " + ", ".join(f"model.options.{key}" for key in sorted(keys))
        kept = replace(
            found.here, options={key: value for key, value in found.here.options.items() if key not in keys}
        )
        try:
            run = replace(found.run, spec=kept.of(found.archived.spec))
            again = answers_once_more(run, shard, packs, table_of(found.part))
        except AuditError as error:
            yield _untried("setting_restored", what, str(error))
            continue
        beyond, gap = _beyond(
            [
                compared(archived[key], row, found.floor)
                for key, row in _by_key(again).items()
                if key in archived
            ]
        )
        yield ReproductionExperiment(
            name="setting_restored",
            what=what,
            answers=len(again),
            beyond_floor=beyond,
            largest_gap=gap,
            shows="settings" if again and beyond == 0 else None,
            found="the archived answers come out"
            if beyond == 0
            else f"{beyond} of {len(again)} answers still differ",
        )


def _packs_around(part: DrawnPart, keys: Sequence[tuple[str, int]], *, alone: bool) -> tuple[int, list[Pack]]:
    """Return the shard of the answer that is furthest off, and the packs there that hold such answers, few of them."""
    first = keys[0]
    shard = next(n for n, packs in part.packs.items() if any(r.key == first for pack in packs for r in pack))
    packs, wanted = part.packs[shard], set(keys)
    if isinstance(part.task, Pooled):
        section = next(pack[0].section for pack in packs if any(r.key == first for r in pack))
        return shard, [pack for pack in packs if pack[0].section == section]
    if alone:
        of_shard = {r.key: r for pack in packs for r in pack}
        chosen = set([key for key in keys if key in of_shard][:MOST])
        parts = [tuple(r for r in pack if r.key in chosen) for pack in packs]
        return shard, [pack for pack in parts if pack]
    holding = [pack for pack in packs if any(r.key in wanted for r in pack)]
    holding.sort(key=lambda pack: all(r.key != first for r in pack))
    return shard, holding[:_MOST_PACKS]


def _beyond(pairs: Sequence[ComparedAnswer]) -> tuple[int, float | None]:
    gaps = [one.probability_gap for one in pairs if one.probability_gap is not None]
    return sum(one.differs for one in pairs), max(gaps, default=None)


def _row(one: ComparedAnswer) -> tuple[Any, ...]:
    return _key(one.here)


def _by_key(rows: Sequence[AnswerRow]) -> Mapping[tuple[Any, ...], AnswerRow]:
    return {_key(row): row for row in rows}


def _key(row: AnswerRow) -> tuple[Any, ...]:
    return (row["request_id"], row["repeat"], row.get("variant_id"))


def _untried(name: Any, what: str, why: str) -> ReproductionExperiment:
    return ReproductionExperiment(
        name=name,
        what=what,
        answers=0,
        beyond_floor=None,
        largest_gap=None,
        shows=None,
        found=f"could not be tried: {why}",
    )
