"""Which groups each prompt of a run is shown in, and which pool each variant competes in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from audit_lib.documents.design import Dealt
from audit_lib.large_file import Content
from audit_lib.perturb.change import Change
from audit_lib.perturb.design import DesignBlock, DesignKind, allocate, balance, design_report
from audit_lib.records import stream_parquet
from audit_lib.run import Run
from audit_lib.seeds import generator


class Allocation:
    """The run's design, dealt to its prompts.

    Parameters
    ----------
    run : Run
        For the spec.
    positions : sequence of str
        Position of each prompt, in the order of the sorted sample.
    applications : mapping of str to str
        Application -> position; that of its first prompt, so that all prompts of one person share a design.
    each : int
        Variants of a prompt in each group.
    """

    def __init__(
        self, run: Run, positions: Sequence[str], applications: Mapping[str, str], each: int
    ) -> None:
        self._spec, self._positions, self._each = run.spec, positions, each
        self._applications = applications
        self._cells = run.spec.groups.cells()
        settings = run.spec.perturb
        self._kind: DesignKind = "full" if settings is None else settings.design
        self._block_size = None if settings is None else settings.block_size
        self._dealt = allocate(applications, len(self._cells), self._kind, self._block_size, run.spec.seed)
        self._pools: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        self._places: list[int] = []
        if run.spec.decision.round == "one_per_group":
            self._deal_pools()

    @classmethod
    def of(cls, run: Run, applications: Sequence[str], positions: Sequence[str], each: int) -> Allocation:
        """Deal the design to prompts, whose applications and positions are given in the order of their ids."""
        first: dict[str, str] = {}
        for application, position in zip(applications, positions, strict=True):
            first.setdefault(application, position)
        return cls(run, positions, first, each)

    def groups(self, record: Mapping[str, Any]) -> DesignBlock:
        """Return the groups that a prompt is shown in."""
        return self._dealt[record["application_id"]]

    def pool(self, index: int, change: Change) -> str | None:
        """Return the pool of a variant, where each has one candidate of every group."""
        if not self._pools:
            return None
        position = self._positions[index]
        place = self._places[index] * self._each + change.replicate
        return f"{position}/{self._pools[position, tuple(change.cell.values())][place]:05d}"

    def report(self) -> Dealt:
        """Return what ``design.json`` says of the design."""
        found = balance(self._dealt, self._applications, len(self._cells))
        return design_report(self._kind, self._block_size, found, self._cells)

    def artefacts(self) -> dict[str, Content]:
        """Return the design matrix: which application is shown in which group."""
        axes = self._spec.groups.axes
        schema = pa.schema([(name, pa.string()) for name in ("application_id", "position", *axes)])
        rows: Iterator[dict[str, object]] = (
            {"application_id": application, "position": self._applications[application], **self._cells[group]}
            for application, block in sorted(self._dealt.items())
            for group in sorted(block, key=lambda group: tuple(self._cells[group].values()))
        )
        return {"design.parquet": stream_parquet(rows, schema)}

    def _deal_pools(self) -> None:
        """Deal the variants of a position into pools with one of each group, in seeded order."""
        seen: Counter[str] = Counter()
        for position in self._positions:
            self._places.append(seen[position])
            seen[position] += 1
        for position, prompts in sorted(seen.items()):
            for cell in self._cells:
                levels = tuple(cell.values())
                order = generator(self._spec.seed, "pools", position, *levels).permutation(
                    prompts * self._each
                )
                self._pools[position, levels] = np.argsort(order).tolist()
