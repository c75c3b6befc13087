"""What a registered metric is: a function from the rows of a stratum to estimates and rate tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from audit_lib.measure.rate_tables import RateTable
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.registry import Registry
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a metric gives for one stratum."""

    estimates: list[Estimate] = field(default_factory=list)
    tables: list[RateTable] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "estimates": [estimate.as_dict() for estimate in self.estimates],
            "tables": [table.as_dict() for table in self.tables],
        }


Metric = Callable[[Rows, AuditSpec, Policy], Measured]

METRICS: Final[Registry[Metric]] = Registry("metric", "audit_lib.measure.metrics")
metric = METRICS
