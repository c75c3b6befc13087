"""The section ``monitor``: when windows that follow a baseline raise an alarm."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from audit_lib.spec.section import Share, SpecSection


class Monitor(SpecSection):
    """When windows that follow a baseline raise an alarm. Nothing here changes a number of a run."""

    false_alarms: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.05,
        description="Share of audits that ever raise an alarm though nothing changes: over all windows, groups and "
        "quantities together, for as long as the audit runs.",
    )
    floor: Share = Field(
        0.01,
        description="Smallest change that matters, of a difference of selection rates, or of scores as a share of "
        "their range: only more than that raises an alarm.",
    )
    minimum: Annotated[int, Field(ge=1)] = Field(
        50, description="Independent applications or rounds since a change, before it raises an alarm."
    )
    line: Annotated[float, Field(gt=0, le=1)] | None = Field(
        0.8,
        description="Ratio of selection rates below which an alarm is raised, against the reference of `groups`; null: "
        "none is.",
    )
