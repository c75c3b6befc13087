"""Small cells, hidden so that no hidden count can be worked out, nor narrowed far, from what is printed.

Hidden with a cell is its row in every table and every number about it elsewhere. `hidden_cells` says which cells;
`printable` takes them out of ``metrics.json``, `masked` out of a typed table. The evidence keeps all of them.
"""

from __future__ import annotations

from audit_lib.report.suppress.cells import HIDDEN, StratumCell
from audit_lib.report.suppress.choose import hidden_cells
from audit_lib.report.suppress.redact import (
    GIVES_AWAY,
    masked,
    printable,
    redacted,
    redacted_sample,
    redacted_validation,
)

__all__ = [
    "GIVES_AWAY",
    "HIDDEN",
    "StratumCell",
    "hidden_cells",
    "masked",
    "printable",
    "redacted",
    "redacted_sample",
    "redacted_validation",
]
