"""Tables of any shape as what the rest reads: a header row, and below it a row for each category."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.check.column_arithmetic import named
from audit_lib.check.compact_cells import spread
from audit_lib.check.complementary_tables import completed
from audit_lib.check.decorations import undecorated
from audit_lib.check.grids import Grid
from audit_lib.check.long_tables import widened, with_named_breakdowns
from audit_lib.check.measure_matrices import tabled
from audit_lib.check.neighbouring_tables import apart
from audit_lib.check.transposed_tables import upright
from audit_lib.policies import Policy


def reshaped(grids: Sequence[Grid], policy: Policy) -> tuple[Grid, ...]:
    """Cut tables that stand next to each other, turn those on their side, and spread what one cell or column holds."""
    grids = upright(tuple(undecorated(apart(grids, policy))), policy)
    return named(completed(spread(widened(with_named_breakdowns(tabled(grids, policy))))))
