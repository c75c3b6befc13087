"""A panel of models: one ordinary run each, over the same sample and versions, and a comparison of them.

::

    preflight of all -> plan, sample, variants of all -> are they the same? -> scores ... evidence of each -> compare

Nobody is asked before all models could be: a fault of one stops the panel while it costs nothing. A model that fails
later is a row of the panel's record, and the others go on.
"""

from audit_lib.panel.panel_run import PanelRun, open_panel
from audit_lib.panel.panel_stage import compare_panel
from audit_lib.panel.run_panel import costs_of, prepare, require_panel_ready, run_panel

__all__ = [
    "PanelRun",
    "compare_panel",
    "costs_of",
    "open_panel",
    "prepare",
    "require_panel_ready",
    "run_panel",
]
