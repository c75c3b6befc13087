"""Several archived runs of one design side by side: other models, prompts or tasks, the same applications.

What is compared must be comparable: `audit_lib.compare.same_design` refuses runs that differ in anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit_lib.canonical import pretty_json
from audit_lib.compare.comparison_document import comparison_csv, comparison_of, differences_csv
from audit_lib.compare.page import comparison_page
from audit_lib.compare.same_design import check_same_design
from audit_lib.report.html import render_html
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.validity import study_of_runs

__all__ = ["VALIDITY", "compare"]

VALIDITY: Final = "validity.json"
"""The file of the study."""


def compare(runs: Sequence[Run]) -> dict[str, bytes]:
    """Compare archived runs of one design.

    Parameters
    ----------
    runs : sequence of Run
        Two or more, sealed. Their order is that of the tables.

    Returns
    -------
    dict of str to bytes
        ``comparison.json``, ``comparison.html``, and as tables ``comparison.csv`` (every estimate of a metric that all
        runs have) and ``differences.csv`` (every pair of runs tested on the same applications). Where candidates
        compete for places, ``validity.json`` too: which metric foretells their gaps; elsewhere the page says why not.
        The same bytes for the same runs.

    Raises
    ------
    InputError
        If the runs differ in more than model, prompt and task, or have no metric in common.
    IncompleteRunError
        If a run is not sealed.
    EvidenceError
        If an artefact is not what its stage wrote.
    """
    design, study = check_same_design(runs), study_of_runs(runs)
    studied = None if isinstance(study, Undefined) else study
    document = comparison_of(runs, design, study.reason if isinstance(study, Undefined) else None)
    return {
        "comparison.csv": comparison_csv(document),
        "differences.csv": differences_csv(document),
        "comparison.json": pretty_json(document.as_dict()),
        "comparison.html": render_html(comparison_page(document, validity=studied)),
        **({} if studied is None else {VALIDITY: pretty_json(studied.as_dict())}),
    }
