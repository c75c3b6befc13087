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
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.canonical import pretty_json
from audit_lib.errors import EvidenceError, IncompleteRunError, InputError
from audit_lib.large_file import Content
from audit_lib.perturb import perturb
from audit_lib.records import VARIATION, from_parquet
from audit_lib.run import Run, StageOutput
from audit_lib.score.backends import Backend, backend
from audit_lib.score.materials import shard_texts
from audit_lib.score.packs import Pack, cut, pack
from audit_lib.score.requests import Elicitation, Planned, Pooled, Request, Stateful, elicitation
from audit_lib.score.shard_rows import (
    END_REPEAT,
    FIRST_REPEAT,
    planned_rows,
    rows_of_packs,
    shard_tables,
    variants_by_shard,
)

if TYPE_CHECKING:
    pass

PLAN: Final = "shards.json"
_SCHEMA: Final = "audit-shards/1"


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


Batching = Callable[[Content, Sequence[Request]], Mapping[int, Sequence[Request]]]
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


def table_of(run: Run, number: int) -> str:
    """Return the artefact of the stage ``variants`` that a planned shard's requests are made of."""
    own = f"shards/{number}.parquet"
    if own in run.stage("variants").success().artefacts:
        return own
    return _table(elicitation.get(run.spec.task)(run.spec))


def of_the_run(run: Run) -> dict[str, Any]:
    """Return what the plan says of the whole run (`Stateful.known`)."""
    known: dict[str, Any] = _plan(run)["of_the_run"]
    return known


def read_shard(run: Run, number: int, *, whole: bool = True) -> Shard:
    """Return what one shard asks; without `whole`, some of its rows may have been erased.

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
        table = pq.read_table(run.stage("variants").parquet("variants.parquet"))
        return Shard(task=task, packs=cuts[number], numbers=numbers, variations=_variations(table))
    plan, task = _plan(run), elicitation.get(run.spec.task)(run.spec)
    name = table_of(run, number)
    frame = run.stage("variants").read_table(name)
    repeats: dict[str, tuple[int, int]] = {}
    if FIRST_REPEAT in frame:
        repeats = {
            request: (first, end)
            for request, first, end in zip(
                frame["request_id"].tolist(),
                frame[FIRST_REPEAT].tolist(),
                frame[END_REPEAT].tolist(),
                strict=True,
            )
        }
        frame = frame.drop(columns=[FIRST_REPEAT, END_REPEAT])
    asked = task.requests(frame)
    if isinstance(task, Stateful):
        task.know(of_the_run(run))
    every = (0, run.spec.score.repeats)
    packs = pack(
        _repeated(asked, lambda request: range(*repeats.get(request.request_id, every))),
        int(plan["pack_size"]),
    )
    if whole and sum(map(len, packs)) != counts[number]:
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
    cuts, _ = _cuts(run, task, run.stage("variants").content(_table(task)))
    if not cuts:
        raise InputError("variants/variants.parquet: no rows, so there is nothing to score")
    return task, cuts


def _cuts(
    run: Run, task: Elicitation, content: Content, batching: Batching | None = None
) -> tuple[dict[int, list[Pack]], int]:
    asked = task.requests(from_parquet(content))
    size = _pack_size(run)

    def every(request: Request) -> range:
        return range(run.spec.score.repeats)

    if batching is not None:
        dealt = batching(content, asked)
        return {number: pack(_repeated(part, every), size) for number, part in dealt.items()}, size
    packs = pack(_repeated(asked, every), size)
    if not packs:
        return {}, size
    return cut(packs, run.spec.score.shards, whole_sections=isinstance(task, Pooled)), size


def _planned(run: Run, made: Mapping[str, Content], batching: Batching | None = None) -> dict[str, Content]:
    """Return the artefacts of the plan."""
    task = elicitation.get(run.spec.task)(run.spec)
    content = made[_table(task)]
    if batching is None and isinstance(task, Planned):
        size = _pack_size(run)
        rows = planned_rows(
            content,
            task.planned_by,
            repeats=run.spec.score.repeats,
            pack_size=size,
            shards=run.spec.score.shards,
            whole_sections=isinstance(task, Pooled),
        )
    else:
        cuts, size = _cuts(run, task, content, batching)
        rows = rows_of_packs(content, cuts, run.spec.score.repeats)
    plan: dict[str, Any] = {
        "schema": _SCHEMA,
        "pack_size": size,
        "shards": {str(number): end - start for number, (start, end) in sorted(rows.spans.items())},
        "of_the_run": task.known(from_parquet(content, task.known_by)) if isinstance(task, Stateful) else {},
    }
    parts: dict[str, Content] = {}
    if len(rows.spans) > 1 or batching is not None:
        parts = {f"shards/{number}.parquet": part for number, part in shard_tables(content, rows).items()}
        if run.spec.leakage is not None:
            named = ("first", "second") if isinstance(task, Pooled) else ("variant_id",)
            parts |= shard_texts(run, made["variants.parquet"], variants_by_shard(content, named, rows))
    return {PLAN: pretty_json(plan), **parts}


def _pack_size(run: Run) -> int:
    kind: type[Backend] = backend.get(run.spec.model.backend)
    return kind(run.spec.model).pack_size


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
