"""Which requests of a run are asked again, by its own packs and shards: all, or a part that is drawn by a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.documents.reproduction import AskedPart, SubsetBound
from audit_lib.errors import InputError
from audit_lib.run import Run
from audit_lib.score.backends import backend
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Elicitation, Pooled, Request
from audit_lib.score.shard_plan import PLAN, read_shard, requests_in, shard_counts
from audit_lib.seeds import generator
from audit_lib.stats import clopper_pearson

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPart:
    """What is asked of each shard, and which units were drawn.

    Attributes
    ----------
    task : Elicitation
    packs : mapping of int to list of tuple of Request
        Shard -> the packs that are asked of it; a shard of which nothing is asked is not in it.
    drawn : frozenset of (str, int) or None
        Keys of the drawn requests; None: all.
    asked : AskedPart
        The same in numbers.
    """

    task: Elicitation
    packs: Mapping[int, list[Pack]]
    drawn: frozenset[tuple[str, int]] | None
    asked: AskedPart

    def unit_of(self, request: Request) -> str:
        """Return what a request is drawn with: its pool, or itself."""
        return _unit(self.task, request)


def draw_part(run: Run, size: int | None, seed: int) -> DrawnPart:
    """Draw `size` requests (pools, where answers about pairs make scores together) of a run; None: all.

    Where an answer depends on the pack that it is computed in, whole packs are asked, and the drawn ones are judged.

    Raises
    ------
    InputError
        If the run has no more than `size`: leave the option out.
    """
    shards = {number: read_shard(run, number) for number in shard_counts(run)}
    task = next(iter(shards.values())).task
    every = [request for what in shards.values() for request in requests_in(what.packs)]
    units = sorted({_unit(task, request) for request in every})
    unit: Literal["requests", "pools"] = "pools" if isinstance(task, Pooled) else "requests"
    if size is None:
        packs, drawn = {number: what.packs for number, what in shards.items()}, None
    else:
        if size >= len(units):
            raise InputError(
                f"--sample {size}: the run has {len(units)} {unit}; leave the option out to ask all"
            )
        places = generator(seed, "reproduce").choice(len(units), size=size, replace=False)
        chosen = {units[place] for place in places}
        drawn = frozenset(request.key for request in every if _unit(task, request) in chosen)
        alone = backend.get(run.spec.model.backend).answers_alone and unit == "requests"
        packs = {
            number: kept
            for number, what in shards.items()
            if (kept := _packs_with(what.packs, drawn, alone=alone))
        }
    return DrawnPart(
        task=task,
        packs=packs,
        drawn=drawn,
        asked=AskedPart(
            unit=unit,
            units=len(units) if size is None else size,
            of_units=len(units),
            seed=None if size is None else seed,
            requests=sum(len(requests_in(kept)) for kept in packs.values()),
            of_requests=len(every),
            plan_sha256=run.stage("variants").success().artefacts[PLAN].sha256,
        ),
    )


def subset_bound(drawn: int, differ: int) -> SubsetBound:
    """Return the most of all units that could differ: Clopper and Pearson's one-sided limit.

    Units are drawn without replacement, for which the binomial limit holds too (it is a little wide).

    Examples
    --------
    >>> round(subset_bound(59, 0).upper, 3)
    0.05
    """
    upper = clopper_pearson(differ, drawn, 2 * LEVEL - 1).high
    return SubsetBound(
        drawn=drawn,
        differ=differ,
        upper=upper,
        level=LEVEL,
        method="Clopper-Pearson, one-sided (exact binomial; drawn without replacement, so it is a little wide)",
    )


def _unit(task: Elicitation, request: Request) -> str:
    return request.section if isinstance(task, Pooled) else f"{request.request_id} {request.repeat}"


def _packs_with(packs: list[Pack], drawn: frozenset[tuple[str, int]], *, alone: bool) -> list[Pack]:
    if alone:
        parts = [tuple(request for request in pack if request.key in drawn) for pack in packs]
        return [part for part in parts if part]
    return [pack for pack in packs if any(request.key in drawn for request in pack)]
