"""The selection tables again for each group into which a tool classifies people (6 RCNY 5-301(b)(4))."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.split_columns import CLASSIFICATION
from audit_lib.measure.statutory.rate_tables import ClusteredTable, rate_tables
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


def classification_tables(metric: str, rows: Rows, spec: AuditSpec, policy: Policy) -> list[ClusteredTable]:
    """Return the policy's tables for each of ``decision.classes``: who was put into it, of all who were classified.

    Parameters
    ----------
    metric : str
        Name of the impact ratio's estimates.
    rows : Rows
        With a column ``classification``, where the tool classifies.
    """
    column = rows.columns.get(CLASSIFICATION)
    if column is None:
        return []
    tables: list[ClusteredTable] = []
    for name in spec.decision.classes:
        positive = np.where(column.codes < 0, -1, column.codes == column.code(name)).astype(np.int8)
        part = replace(rows, levels={**rows.levels, CLASSIFICATION: name})
        tables += rate_tables("selection", metric, part, spec, policy, positive, classification=name)
    return tables
