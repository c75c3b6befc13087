"""Report: the page for people, the same as PDF and JSON, and the tables as CSV.

All are functions of the archived artefacts; the times in the status strip come from the stages' own records.
Rendering again gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.documents.earlier import EarlierAudit
from audit_lib.report.content import Content, gather
from audit_lib.report.document import document_frame, with_metrics
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page, page_in
from audit_lib.report.signature import Signature
from audit_lib.report.tables import answers_csv, estimates_csv, tables_csv
from audit_lib.run import Run, StageOutput

__all__ = ["EarlierAudit", "Signature", "rendered", "report"]


def report(
    run: Run, earlier: Sequence[EarlierAudit] | None = None, *, signature: Signature | None = None
) -> StageOutput:
    """Render the report of a measured run.

    Parameters
    ----------
    run : Run
        Complete through ``metrics``.
    earlier : sequence of EarlierAudit, optional
        Earlier audits of the same tool, the oldest first. Default: those that the plan archived.
    signature : Signature, optional
        The auditor's; without it every page says "not signed".

    Returns
    -------
    StageOutput
        ``report.html``, ``report.json``, ``tables.csv``, ``estimates.csv`` and ``answers.csv``; ``report.pdf``
        where ``report.formats`` of the spec asks for it, and ``report.LANGUAGE.html`` for each of
        ``report.languages``.

    Raises
    ------
    IncompleteRunError
        If a stage before the report is not complete.
    EvidenceError
        If a number does not follow from its own counts.
    """
    return rendered(run, gather(run, earlier_audits(run) if earlier is None else earlier, signature))


def rendered(run: Run, content: Content) -> StageOutput:
    """Return every form of a report from its content."""
    pages = {"report": make_page(content)}
    for language in run.spec.report.languages:
        pages[f"report.{language}"], untranslated = page_in(language, content)
        if untranslated:
            run.notify(
                f"report: {len(untranslated)} texts of report.{language}.html have no translation and are in English: "
                + "; ".join(untranslated)
            )
    artefacts = {
        **{f"{name}.html": render_html(page) for name, page in pages.items()},
        "tables.csv": tables_csv(content),
        "estimates.csv": estimates_csv(content),
        "answers.csv": answers_csv(content),
    }
    if "pdf" in run.spec.report.formats:
        from audit_lib.report.pdf import render_pdf, why_no_pdf

        if (reason := why_no_pdf()) is None:
            artefacts |= {f"{name}.pdf": render_pdf(page) for name, page in pages.items()}
        else:
            run.notify(f"report: no report.pdf was made: {reason}")
    counts = {"sections": len(pages["report"].sections), "tables": len(content.tables)}
    frame, archived = document_frame(content), content.archived_metrics
    # The largest text comes last, when what was read is not needed any more: a year's metrics fill memory once.
    del content, pages
    artefacts["report.json"] = with_metrics(frame, archived)
    return StageOutput(artefacts, counts)
