"""Scoring by a provider's batches: the task sleeps without a worker until the provider is done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator
from audit_tasks import in_task, small, tell

from audit_lib.errors import StillWaitingError


class BatchScoring(BaseOperator):
    """Score one shard with the backend ``openai_batch``, holding no worker slot while batches are under way.

    Each time it wakes it does one step: collect what is done, submit what is to be asked again. The ids of
    batches are in the store, so a task that is killed, retried or cleared goes on from the same batches. The
    trigger only waits; the endpoint's key stays with the workers.

    Parameters
    ----------
    run_uri, spec_path, shard : str, str, int
        Which shard of which run.
    poll : float
        Seconds between two steps.
    """

    template_fields = ("run_uri", "spec_path", "shard")

    def __init__(
        self, *, run_uri: str, spec_path: str, shard: int, poll: float = 300.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self.run_uri, self.spec_path, self.shard, self.poll = run_uri, spec_path, shard, poll

    def execute(self, context: Any) -> dict[str, int]:
        """Do one step; return the shard's counts, or defer."""
        from audit_lib.pipeline import load_run, run_stage
        from audit_lib.score.remote.limits import without_waiting

        with in_task():
            run = load_run(self.run_uri, spec_path=self.spec_path, notify=tell)
            try:
                with without_waiting():
                    return small(run_stage(run, "scores", shard=int(self.shard)))
            except StillWaitingError as waiting:
                tell(str(waiting))
        self.defer(trigger=TimeDeltaTrigger(timedelta(seconds=self.poll)), method_name="resume")

    def resume(self, context: Any, event: Any = None) -> dict[str, int]:
        """Go on after the wait."""
        return self.execute(context)
