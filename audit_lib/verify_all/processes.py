"""The processes that verify: one that hangs, grows or crashes is ended and replaced."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.verify_all.bounds import CostBounds
from audit_lib.worker_processes import WorkerProcess


class VerifyingProcess(WorkerProcess):
    """One process, started when it is first needed.

    Parameters
    ----------
    root : str
        Of the store.
    trust : sequence of str
        Paths of trust files or keys.
    bounds : CostBounds
        Seconds and bytes of one run.
    """

    def __init__(self, root: str, trust: Sequence[str], bounds: CostBounds) -> None:
        super().__init__(
            "audit_lib.verify_all.worker",
            {"root": root, "trust": list(trust)},
            seconds=bounds.run_seconds,
            memory=bounds.run_bytes,
        )
