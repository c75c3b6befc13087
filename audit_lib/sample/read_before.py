"""Which units other windows of an audit have read, so that each is audited once: what comes again, what came late."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

import pyarrow as pa

from audit_lib.documents.sample import EarlierRead, ReadBefore
from audit_lib.large_file import Content
from audit_lib.records import from_parquet, to_parquet
from audit_lib.run import Run
from audit_lib.sample.columns import unit_of_sample
from audit_lib.window import Window
from audit_lib.windows import begun_runs

UNITS_READ: Final = "units_read.parquet"
_SCHEMA: Final = pa.schema([pa.field("unit", pa.binary(16), nullable=False)])

Whose = Literal["own", "late", "read_before", "outside"]


@dataclass(slots=True)
class OnceOnly:
    """Tells of each row whether this window audits it; remembers the units that it does.

    A unit is what is drawn whole: a prompt, or all that compete in a round or an application. Kept of each is half of
    the SHA-256 of the audit's name and its id.

    Attributes
    ----------
    earlier : list of EarlierRead
        The complete runs of other windows, with the digest of what each has read.
    read : set of bytes
        Units that they have read.
    told : list of Window
        Windows of which it is known what was read: prompts of these that nobody read came late.
    """

    audit: str
    window: Window
    late: timedelta
    earlier: list[EarlierRead] = field(default_factory=list)
    read: set[bytes] = field(default_factory=set)
    told: list[Window] = field(default_factory=list)
    own: set[bytes] = field(default_factory=set)
    rows_read_before: int = 0
    rows_late: int = 0

    @classmethod
    def of(cls, run: Run) -> OnceOnly | None:
        """Read what the complete runs of other windows have read; None where ``source.once`` is not asked for.

        Of a run without that record, made before it was asked for, the units that it drew are known.
        """
        once = run.spec.source.once
        if once is None:
            return None
        found = cls(run.key.audit, run.key.window, timedelta(days=once.late_days))
        for one in begun_runs(run.store, run.key.audit):
            if one.outcome != "complete" or one.window == run.key.window:
                continue
            other = Run.load(run.store.uri(one.prefix))
            stage, unit = other.stage("sample"), unit_of_sample(other.spec)
            artefacts = stage.success().artefacts
            knows = UNITS_READ in artefacts
            name = UNITS_READ if knows else "prompts.parquet"
            table = from_parquet(stage.read(name))
            if knows:
                found.read.update(table["unit"])
            else:
                found.read.update(found._digest(one_id) for one_id in table[f"{unit}_id"].dropna().unique())
            if knows or other.spec.sample.size is None:
                found.told.append(one.window)
            found.earlier.append(
                EarlierRead(
                    run=one.prefix.removeprefix(f"{run.key.audit}/"),
                    sha256=artefacts[name].sha256,
                    all_it_read=knows or other.spec.sample.size is None,
                )
            )
        return found

    def whose(self, unit: str, occurred: datetime) -> Whose:
        """Return what a row is to this window."""
        inside = self.window.start <= occurred < self.window.end
        late = not inside and self._may_be_late(occurred)
        if not inside and not late:
            return "outside"
        digest = self._digest(unit)
        if digest in self.read:
            self.rows_read_before += inside
            return "read_before"
        self.own.add(digest)
        self.rows_late += late
        return "late" if late else "own"

    def _may_be_late(self, occurred: datetime) -> bool:
        return self.window.start - self.late <= occurred < self.window.start and any(
            one.start <= occurred < one.end for one in self.told
        )

    def _digest(self, unit: str) -> bytes:
        return hashlib.sha256(f"{self.audit}\0{unit}".encode()).digest()[:16]

    def table(self) -> Content:
        """Return the units that this window has read, as ``units_read.parquet``."""
        return to_parquet(({"unit": unit} for unit in sorted(self.own)), _SCHEMA, ["unit"])

    def account(self) -> ReadBefore:
        """Return what is told of it."""
        return ReadBefore(
            late_days=self.late.days,
            earlier=tuple(self.earlier),
            rows_read_before=self.rows_read_before,
            rows_late=self.rows_late,
        )
