"""The files of a study."""

from __future__ import annotations

from audit_lib.canonical import pretty_json
from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.html import render_html
from audit_lib.validity.page import validity_page
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.tables import correlations_csv, points_csv, selection_csv


def validity_files(study: ValidityStudy, panel: ScoredPanel) -> dict[str, bytes]:
    """Return page, document and tables by the names of their files; the same bytes for the same scores."""
    return {
        "validity.html": render_html(validity_page(study, panel)),
        "validity.json": pretty_json(study.as_dict()),
        "correlations.csv": correlations_csv(study),
        "model_selection.csv": selection_csv(study),
        "points.csv": points_csv(study),
    }
