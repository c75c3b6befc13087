"""What the planned power and the intervals do not promise, with figures of ``python -m benchmarks.promises``."""

from __future__ import annotations

from typing import Final

from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

NOT_PROMISED: Final = mark(
    "The nominal power is that of two groups of independent people, fixed beforehand. It knows neither that rows share "
    "applications or rounds, nor that the comparator is picked and p-values are adjusted, so it is no promise. Of "
    "simulated differences planned for 80%, between groups of 100, 20% were found in a table of eight that is one of "
    "100 tests, and 45% of two groups where five rows share an application (intraclass correlation 0.3)."
)

THESE_NAMES: Final = mark(
    "Intervals hold for the names that were shown, not for all names that could signal a group: in simulated "
    "experiments of 300 applications and 30 names a group, whose own effects have a standard deviation of 0.25 "
    "(that of the score is 1), intervals at 95% held the effect over all names in 67 to 89%."
)


BOTH_SCOPES: Final = mark(
    "Intervals of gaps, ratios and ranks hold for the names that were shown, not for all names that could signal a "
    "group. Standardised effects are given for both: for these names, and for other names like them."
)


def of_names(spec: AuditSpec) -> bool:
    """Tell whether names in the design signal the groups."""
    return spec.perturb is not None and spec.perturb.kind == "persona" and spec.perturb.names is not None


def scope_of_names(spec: AuditSpec) -> str | None:
    """Say which names the intervals hold for; None where names are no part of the design."""
    if not of_names(spec):
        return None
    return BOTH_SCOPES if "standardised_effect" in spec.measure.metrics else THESE_NAMES
