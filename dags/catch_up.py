"""Makes up the windows that nobody audited, one after another, and names those that are too old for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from audit_tasks import in_task, store_root, tell, window_of
from notify import tell_events

MADE_UP = "catch_up__"
"""How the id of a run begins that makes a window up."""
_BY_ITSELF = ("scheduled", "asset_triggered")


class CatchUp(TriggerDagRunOperator):
    """Start a run of this DAG for the oldest window that is owed and was not begun, if there is one.

    Airflow makes each window once, on time or not at all: one that comes due while it is down, or while a run lasts,
    is skipped. What is owed is derived from the schedule and the store. A scheduled run, and one that arriving data
    started, starts with the oldest such
    window, and each run that makes one up goes on with the next later one; the latest is left to the schedule. A run
    that somebody started by hand makes up nothing.

    Parameters
    ----------
    spec_path : str
        The audit's spec.
    """

    template_fields = ("spec_path",)

    def __init__(self, *, spec_path: str, **options: Any) -> None:
        super().__init__(skip_when_already_exists=True, logical_date=None, **options)
        self.spec_path = spec_path

    def execute(self, context: Any) -> None:
        """Name what is missed, and start the next run."""
        made_up = context["dag_run"].run_id.startswith(MADE_UP)
        if not made_up and context["dag_run"].run_type not in _BY_ITSELF:
            tell("a run by hand makes up no other window")
            return
        with in_task():
            window = self.next_window(context, after=made_up)
        if window is None:
            return
        tell(f"next: {window.start.isoformat()} to {window.end.isoformat()}")
        chain = context["dag_run"].run_id.rpartition("__by__")[2]
        self.trigger_run_id = f"{MADE_UP}{window.label}__by__{chain}"
        self.conf = {"window_start": window.start.isoformat(), "window_end": window.end.isoformat()}
        super().execute(context)

    def next_window(self, context: Any, *, after: bool) -> Any:
        """Return the window to make up, or None."""
        from audit_lib.spec import load_spec
        from audit_lib.store import open_store
        from audit_lib.window import Window
        from audit_lib.windows import begun_runs, next_to_make_up, note_missed, owed_windows, summary

        spec, store, now = load_spec(self.spec_path), open_store(store_root()), datetime.now(UTC)
        owed = owed_windows(spec, begun_runs(store, spec.audit), now)
        tell(f"windows: {summary(owed)}")
        for one in note_missed(store, spec.audit, owed, now):
            tell(f"MISSED: {one.start.isoformat()} to {one.end.isoformat()}")
        tell_events({spec.audit: spec}, context)
        return next_to_make_up(owed, Window.parse(*window_of(context)), after=after)
