"""Predictive validity: which metric foretells the gaps of an allocation, over several models.

`panel_of_runs` and `panel_of_table` read the scores, `study_of` makes the document, `validity_sections` and
`validity_files` what people read; `validity_section` is the part for a page about the models.
"""

from audit_lib.validity.files import validity_files
from audit_lib.validity.of_runs import panel_of_runs
from audit_lib.validity.of_table import TableOptions, panel_of_table
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.sections import validity_section, validity_sections
from audit_lib.validity.study import study_of, study_of_runs

__all__ = [
    "ScoredPanel",
    "TableOptions",
    "panel_of_runs",
    "panel_of_table",
    "study_of",
    "study_of_runs",
    "validity_files",
    "validity_section",
    "validity_sections",
]
