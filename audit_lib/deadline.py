"""What happens when an audit's run is not finished in time: an error in the log of the triggerer.

Apart from the stages because the scheduler's triggerer imports it: standard library only.
"""

from __future__ import annotations

import logging
from typing import Any

_log = logging.getLogger("audit.deadline")


async def missed(**about: Any) -> None:
    """Log that a run missed its deadline; `about` is what the scheduler says about the run."""
    context = about.get("context") or {}
    run = context.get("dag_run") or {}
    name = run.get("dag_id", "an audit") if isinstance(run, dict) else getattr(run, "dag_id", "an audit")
    _log.error("%s has not finished in time; see its run in the UI", name)
