"""Whether the data of a window have arrived: an audit that waits for them begins then, and not at the tick."""

from __future__ import annotations

from datetime import datetime, timedelta

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec
from audit_lib.store import Store, open_store
from audit_lib.window import Window
from audit_lib.windows.schedule import latest_window
from audit_lib.windows.window_states import begun_runs


def arrived_window(spec: AuditSpec, store: Store, now: datetime) -> Window | None:
    """Return the latest window if its data have arrived and nobody has begun to audit it.

    Parameters
    ----------
    spec : AuditSpec
        With ``schedule.arrival``.
    store : Store
        Of the runs.
    now : datetime
        Aware.

    Raises
    ------
    SpecError
        If the spec does not wait for data.
    StoreError
        If what is under the prefix cannot be listed.
    """
    arrival = spec.schedule.arrival
    if arrival is None:
        raise SpecError("schedule.arrival: is not given; the audit begins at the tick of its schedule")
    window = latest_window(spec.schedule, now)
    if spec.schedule.start is not None and window.start < spec.schedule.start:
        return None
    newest = open_store(spec.path(arrival.prefix)).newest("")
    if newest is None or newest < window.end or now - newest < timedelta(minutes=arrival.quiet_minutes):
        return None
    return None if any(one.window == window for one in begun_runs(store, spec.audit)) else window
