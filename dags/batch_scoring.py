"""Scoring by a provider's batches: the task sleeps without a worker until the provider is done."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator
from audit_stages import shards_of
from audit_tasks import in_task, small, tell

from audit_lib.errors import StillWaitingError


class BatchScoring(BaseOperator):
    """Score the shards of a part with the backend ``openai_batch``, without a worker slot while batches are under way.

    Each time it wakes it does one step: collect what is done, submit what is to be asked again. The ids of
    batches are in the store, so a task that is killed, retried or cleared goes on from the same batches. The
    trigger only waits; the endpoint's key stays with the workers.

    Parameters
    ----------
    run_uri, spec_path, part : str, str, (int, int)
        Which shards of which run: the first and the last.
    poll : float
        Seconds between two steps.
    """

    template_fields = ("run_uri", "spec_path", "part")

    def __init__(
        self, *, run_uri: str, spec_path: str, part: list[int], poll: float = 300.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self.run_uri, self.spec_path, self.part, self.poll = run_uri, spec_path, part, poll

    def execute(self, context: Any) -> dict[str, int]:
        """Do one step of each shard; return their counts, or defer."""
        from audit_lib.pipeline import ShardScorer, load_run
        from audit_lib.score.remote.limits import without_waiting

        with in_task("scores"):
            run = load_run(self.run_uri, spec_path=self.spec_path, notify=tell)
            numbers, scorer = shards_of(self.part, run), ShardScorer(run)
        counts, waiting = Counter[str](), False
        for shard in numbers:
            with in_task(f"scores/{shard}"):
                try:
                    with without_waiting():
                        counts.update(scorer.score(shard))
                except StillWaitingError as still:
                    tell(str(still))
                    waiting = True
        if not waiting:
            return small(dict(counts))
        self.defer(trigger=TimeDeltaTrigger(timedelta(seconds=self.poll)), method_name="resume")

    def resume(self, context: Any, event: Any = None) -> dict[str, int]:
        """Go on after the wait."""
        return self.execute(context)
