"""How audits are doing, as gauges of Airflow's own metrics (StatsD, OpenTelemetry or Datadog, as Airflow is set up).

Each look at the events sends all of them, zeros too, so that what is over goes down. Their names begin with
``audit.<audit>.``:

- ``events.<kind>``: events that are open, and ``events.not_acknowledged``, of all kinds together;
- ``windows.<state>``: windows that the schedule owes, in each state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from airflow.sdk.observability import stats


def gauges(facts: Any, due: Iterable[Any]) -> Mapping[str, int]:
    """Return the gauges of an audit by name.

    Parameters
    ----------
    facts : AuditFacts
        Of the audit.
    due : iterable of DueMessage
        What is to be told of its events.
    """
    from audit_lib.documents.events import EventKind
    from audit_lib.windows import STATES

    opened = [one.logged for one in due if one.stage == "opened" and one.logged.closed is None]
    kinds = Counter(one.opened.event.kind for one in opened)
    states = Counter(one.state for one in facts.owed)
    start = f"audit.{facts.audit}"
    return {
        **{f"{start}.events.{kind}": kinds[kind] for kind in get_args(EventKind)},
        f"{start}.events.not_acknowledged": sum(not one.acknowledged for one in opened),
        **{f"{start}.windows.{state.replace(' ', '_')}": states[state] for state in STATES},
    }


def send_gauges(facts: Any, due: Iterable[Any]) -> None:
    """Send the gauges of an audit; where Airflow has no metrics set up, nothing happens."""
    for name, value in gauges(facts, due).items():
        stats.gauge(name, value)
