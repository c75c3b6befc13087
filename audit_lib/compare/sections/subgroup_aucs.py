"""The AUC gap's figure over models: AUC of everybody and of each subgroup, and the gap, a panel a model."""

from __future__ import annotations

from audit_lib.documents.comparison import ComparedEstimate, Comparison
from audit_lib.report.blocks import Paragraph, Section, text
from audit_lib.report.sections.subgroup_aucs import AUC, GAP, figure_of_aucs
from audit_lib.translation import t


def subgroup_aucs(document: Comparison) -> list[Section]:
    """Draw the figure, where the runs have AUCs of the whole audit."""
    panels: dict[str, list[ComparedEstimate]] = {}
    gaps: dict[str, ComparedEstimate] = {}
    for e in document.estimates:
        label = document.runs[e.run].label
        if set(e.stratum) != set(document.headline):
            continue
        if e.metric == AUC:
            panels.setdefault(label, []).append(e)
        elif e.metric == GAP and not e.group:
            gaps[label] = e
    chart = tuple(figure_of_aucs(panels, gaps, document.level)) if panels else ()
    if not chart:
        return []
    words = t(
        "How well each model's scores tell the qualified from others, by subgroup. A model's gap is between its own "
        "two most different subgroups; its interval allows for their having been picked."
    )
    return [Section("aucs", t("AUC by subgroup and model"), (Paragraph(text(words)), *chart))]
