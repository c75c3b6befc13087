"""What the planned power assumes, and what the intervals do not promise (``python -m benchmarks.promises``)."""

from __future__ import annotations

from typing import Final

from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

SIMULATED: Final = mark(
    "The audit was simulated before it ran: its rounds and applications, one category lower than all others of its "
    "table, the comparator picked by the data, and p-values adjusted for all tests. What is printed is the smallest "
    "difference that such audits find with this probability; after it what chance leaves in the simulation."
)

SCORES_ASSUMED: Final = mark(
    "Scores are assumed to be normal: applications have a standard deviation of 1, and versions of one application "
    "differ by {version_sd:g}. Scores of other shapes, and more than one category that differs, change what is found."
)

PEOPLE_ASSUMED: Final = mark(
    "People are taken as independent, and all categories as equally large, with the rate that is given: {reason}."
)

NAMES_ASSUMED: Final = mark(
    "Names of one group are assumed to differ by {name_sd:g} standard deviations; effects allow for other names than "
    "the {names:,} of each group."
)

STRATA_ASSUMED: Final = mark("Each further split is taken to have {n:,} strata.")

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
