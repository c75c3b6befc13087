"""The report of a sealed run in one form: as archived, or set from the same artefacts; nothing in the run changes."""

from __future__ import annotations

from typing import Final

from audit_lib.archive.artefact_differences import compare
from audit_lib.documents.evidence import Manifest
from audit_lib.errors import EvidenceError, IncompleteRunError, InputError
from audit_lib.report.content import gather
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page, page_in
from audit_lib.report.pdf import render_pdf
from audit_lib.run import Run
from audit_lib.signoff.rejection_file import content_now, read_rejection
from audit_lib.signoff.sign_off_files import read_sign_offs
from audit_lib.signoff.signed_report import last_signature
from audit_lib.signoff.verification import verify_signed

FORMS: Final = {"html": "report.html", "pdf": "report.pdf", "json": "report.json", "csv": "tables.csv"}
"""Form of a report -> its file."""


def archived_report(run: Run, form: str, language: str = "en") -> bytes:
    """Return the report of a sealed run in one form; of a signed run, the last signed report.

    What lies in the run is given as it is. The page of a rejected run says so, and is set anew. It, a PDF or a
    language that is not there is set from the run's artefacts, if the English page that they make here is the archived
    one.

    Parameters
    ----------
    run : Run
        Sealed, with a report.
    form : str
        A key of `FORMS`.
    language : str
        Language of the page; of JSON and CSV there is one form only.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed or has no report.
    EvidenceError
        If its evidence or a sign-off does not verify, or this version of the library makes another page.
    InputError
        If no PDF can be made on this machine, or the form has no languages.
    """
    name = FORMS[form]
    if language != "en":
        if form not in ("html", "pdf"):
            raise InputError(f"--language {language}: {name} has one form, for machines; use html or pdf")
        name = f"report.{language}.{form}"
    require_report(run)
    signed = read_sign_offs(run)
    folder = signed[-1].folder if signed else run.stage("report")
    if name in folder.success().artefacts:
        archived = folder.read(name)
        if form in ("json", "csv") or read_rejection(run) is None:
            return archived
    content = gather(run, earlier_audits(run), last_signature(run))
    page = make_page(content)
    difference = compare("report.html", folder.read("report.html"), render_html(page))
    if difference is not None and difference.exceeds:
        raise EvidenceError(
            f"{run.uri}: this version of audit_lib makes another page than the archived one, so its {name} would not "
            f"be that report: {'; '.join(difference.exceeds)}. Use the version that made it"
        )
    content = content_now(run)
    page = make_page(content)
    if language != "en":
        page, untranslated = page_in(language, content)
        if untranslated:
            run.notify(f"{name}: {len(untranslated)} texts have no translation and are in English")
    return render_pdf(page) if form == "pdf" else render_html(page)


def require_report(run: Run) -> None:
    """Refuse a run that is not sealed, failed, or does not verify.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed, or was sealed without a report.
    EvidenceError
        If its evidence or a sign-off does not verify.
    """
    sealed, reported = (run.stage(stage).is_complete() for stage in ("evidence", "report"))
    if sealed and not reported:
        outcome = run.stage("evidence").read_document(Manifest, "manifest.json").outcome.replace("_", " ")
        raise IncompleteRunError(
            f"{run.uri}: was sealed without a report, and ended as: {outcome}. Nothing is published of its numbers"
        )
    if not (sealed and reported):
        lacks = "report" if not reported else "evidence"
        raise IncompleteRunError(
            f"{run.uri}: not a sealed run with a report; {lacks} is not complete. `audit report RUN --out FOLDER` "
            "renders what was measured"
        )
    checked = verify_signed(run.uri, recompute={})
    if not checked.ok:
        raise EvidenceError(
            f"{run.uri}: does not verify, so no report is taken from it:\n{checked.summary()}"
        )
