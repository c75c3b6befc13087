"""Which shard asks what: planned once, with the variants, so that a shard reads its own requests alone.

::

    variants/shards.json          the shards, how many requests each holds, and what of the whole run they need to know
    variants/shards/<n>.parquet   where there are several: the rows that shard n asks, and which repeats of each
    variants/shards/<n>.materials.parquet   and, of an audit of leakage, the texts that it turns into vectors

Packs are fixed over the whole run. They are not written down: made again from a shard's own requests they come out
the same, because a shard begins and ends with a pack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.canonical import pretty_json
from audit_lib.errors import EvidenceError, IncompleteRunError, InputError
from audit_lib.perturb import perturb
from audit_lib.records import VARIATION, from_parquet, parquet_source, write_table
from audit_lib.run import Run, StageOutput
from audit_lib.score.backends import Backend, backend
from audit_lib.score.materials import shard_texts
from audit_lib.score.packs import Pack, cut, pack
from audit_lib.score.requests import Elicitation, Pooled, Request, Stateful, elicitation

PLAN: Final = "shards.json"
_SCHEMA: Final = "audit-shards/1"
_FIRST, _END = "shard:first_repeat", "shard:end_repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What one shard asks.

    Attributes
    ----------
    task : Elicitation
    packs : list of tuple of Request
    numbers : tuple of int
        All shards of the run that hold requests, in order.
    variations : mapping of str to str or None
        Request id -> its variation.
    """

    task: Elicitation
    packs: list[Pack]
    numbers: tuple[int, ...]
    variations: Mapping[str, str | None]


Batching = Callable[[bytes, Sequence[Request]], Mapping[int, Sequence[Request]]]
"""Says of the table of variants and its requests which shard asks what; those that it leaves out are not asked."""


def variants(run: Run, batching: Batching | None = None) -> StageOutput:
    """Do the stage ``variants``: make the variants, and plan which shard asks what: as `batching` says, if given."""
    made = perturb(run)
    return StageOutput({**made.artefacts, **_planned(run, made.artefacts, batching)}, made.counts)


def is_planned(run: Run) -> bool:
    """Tell whether the shards were planned with the variants; runs of earlier versions have no such plan."""
    return PLAN in run.stage("variants").success().artefacts


def shard_counts(run: Run) -> dict[int, int]:
    """Return the requests of each shard that holds any.

    Raises
    ------
    IncompleteRunError
        If the variants are not there yet.
    InputError
        If there are no requests at all.
    """
    if is_planned(run):
        counts = {int(number): int(count) for number, count in _plan(run)["shards"].items()}
    else:
        counts = {number: sum(map(len, packs)) for number, packs in all_shards(run)[1].items()}
    if not counts:
        raise InputError("variants/variants.parquet: no rows, so there is nothing to score")
    return dict(sorted(counts.items()))


def read_shard(run: Run, number: int) -> Shard:
    """Return what one shard asks.

    Raises
    ------
    IncompleteRunError
        If the variants are not there, or the shard is empty.
    EvidenceError
        If the plan says another number of requests than there are.
    """
    counts = shard_counts(run)
    if number not in counts:
        raise IncompleteRunError(f"shard {number} holds no requests; the run's shards are {sorted(counts)}")
    numbers = tuple(counts)
    if not is_planned(run):
        task, cuts = all_shards(run)
        table = pq.read_table(parquet_source(run.stage("variants").read("variants.parquet")))
        return Shard(task=task, packs=cuts[number], numbers=numbers, variations=_variations(table))
    plan, task = _plan(run), elicitation.get(run.spec.task)(run.spec)
    own = f"shards/{number}.parquet"
    has_own = own in run.stage("variants").success().artefacts
    name = own if has_own else _table(task)
    frame = from_parquet(run.stage("variants").read(name))
    repeats: dict[str, tuple[int, int]] = {}
    if _FIRST in frame:
        repeats = {
            request: (first, end)
            for request, first, end in zip(
                frame["request_id"].tolist(), frame[_FIRST].tolist(), frame[_END].tolist(), strict=True
            )
        }
        frame = frame.drop(columns=[_FIRST, _END])
    asked = task.requests(frame)
    if isinstance(task, Stateful):
        task.know(plan["of_the_run"])
    every = (0, run.spec.score.repeats)
    packs = pack(
        _repeated(asked, lambda request: range(*repeats.get(request.request_id, every))),
        int(plan["pack_size"]),
    )
    if sum(map(len, packs)) != counts[number]:
        raise EvidenceError(
            f"variants/{name}: holds {sum(map(len, packs))} requests, and variants/{PLAN} says {counts[number]}"
        )
    variations: dict[str, str | None] = {}
    if VARIATION in frame:
        marks = frame[VARIATION].where(frame[VARIATION].notna(), None)
        variations = dict(zip(frame["request_id"].tolist(), marks.tolist(), strict=True))
    return Shard(task=task, packs=packs, numbers=numbers, variations=variations)


def _repeated(requests: Iterable[Request], repeats: Callable[[Request], range]) -> list[Request]:
    return [
        request if number == request.repeat else replace(request, repeat=number)
        for request in requests
        for number in repeats(request)
    ]


def all_shards(run: Run) -> tuple[Elicitation, dict[int, list[Pack]]]:
    """Return the elicitation and the packs of every shard, from the whole table."""
    task = elicitation.get(run.spec.task)(run.spec)
    cuts, _ = _cuts(run, task, run.stage("variants").read(_table(task)))
    if not cuts:
        raise InputError("variants/variants.parquet: no rows, so there is nothing to score")
    return task, cuts


def _cuts(
    run: Run, task: Elicitation, content: bytes, batching: Batching | None = None
) -> tuple[dict[int, list[Pack]], int]:
    asked = task.requests(from_parquet(content))
    kind: type[Backend] = backend.get(run.spec.model.backend)
    size = kind(run.spec.model).pack_size

    def every(request: Request) -> range:
        return range(run.spec.score.repeats)

    if batching is not None:
        dealt = batching(content, asked)
        return {number: pack(_repeated(part, every), size) for number, part in dealt.items()}, size
    packs = pack(_repeated(asked, every), size)
    if not packs:
        return {}, size
    return cut(packs, run.spec.score.shards, whole_sections=isinstance(task, Pooled)), size


def _planned(run: Run, made: Mapping[str, bytes], batching: Batching | None = None) -> dict[str, bytes]:
    """Return the artefacts of the plan."""
    task = elicitation.get(run.spec.task)(run.spec)
    content = made[_table(task)]
    cuts, size = _cuts(run, task, content, batching)
    plan: dict[str, Any] = {
        "schema": _SCHEMA,
        "pack_size": size,
        "shards": {str(number): sum(map(len, packs)) for number, packs in sorted(cuts.items())},
        "of_the_run": task.known() if isinstance(task, Stateful) else {},
    }
    parts: dict[str, bytes] = {}
    if len(cuts) > 1 or batching is not None:
        table = pq.read_table(parquet_source(content))
        rows: dict[str, list[int]] = {}
        for place, request_id in enumerate(table["request_id"].to_pylist()):
            rows.setdefault(request_id, []).append(place)
        for number, packs in cuts.items():
            parts[f"shards/{number}.parquet"] = _part(table, rows, packs)
        parts |= shard_texts(run, made["variants.parquet"], _asked_by(cuts))
    return {PLAN: pretty_json(plan), **parts}


def _asked_by(cuts: Mapping[int, Iterable[Pack]]) -> dict[str, set[int]]:
    """Return the shards that ask about each variant: several where the repeats of its request are cut."""
    found: dict[str, set[int]] = {}
    for number, packs in cuts.items():
        for candidate in (candidate for request in requests_in(packs) for candidate in request.candidates):
            found.setdefault(candidate.variant_id, set()).add(number)
    return found


def _part(table: pa.Table, rows: Mapping[str, Sequence[int]], packs: Iterable[Pack]) -> bytes:
    """Return the rows of one shard's requests. The repeats of a request follow each other, so they are a range."""
    repeats: dict[str, tuple[int, int]] = {}
    for request in (request for one in packs for request in one):
        first, end = repeats.get(request.request_id, (request.repeat, request.repeat))
        repeats[request.request_id] = (min(first, request.repeat), max(end, request.repeat + 1))
    places = sorted((place, *repeats[name]) for name in repeats for place in rows[name])
    part = table.take([place for place, _, _ in places])
    for name, at in ((_FIRST, 1), (_END, 2)):
        part = part.append_column(name, pa.array([one[at] for one in places], pa.int32()))
    return write_table(part)


def _variations(table: pa.Table) -> dict[str, str | None]:
    if VARIATION not in table.column_names:
        return {}
    return dict(zip(table["request_id"].to_pylist(), table[VARIATION].to_pylist(), strict=True))


def _plan(run: Run) -> dict[str, Any]:
    plan: dict[str, Any] = run.stage("variants").read_json(PLAN)
    if plan.get("schema") != _SCHEMA:
        raise EvidenceError(f"variants/{PLAN}: is no {_SCHEMA}; this version of the library cannot read it")
    return plan


def _table(task: Elicitation) -> str:
    """Return the artefact of the stage ``variants`` that a task's requests are made of."""
    return task.table if isinstance(task, Pooled) else "variants.parquet"


def requests_in(packs: Iterable[Pack]) -> list[Request]:
    """Return the requests of packs, in order."""
    return [request for one in packs for request in one]
