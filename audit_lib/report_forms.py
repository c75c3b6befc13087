"""A sealed run's report in the forms that somebody asks for, made beside the evidence; each names its digest.

The run stays as it is. A page that an auditor signed is the one in the run; what is made here says so, and that it is
not the signed file itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, get_args

from audit_lib.canonical import sha256
from audit_lib.errors import InputError
from audit_lib.report.blocks import Page, code, filled, text
from audit_lib.report.content import Content
from audit_lib.report.document import document_bytes
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page, page_in
from audit_lib.report.readings import ReadingForm, readings
from audit_lib.report.readings.names import REPORT, in_language
from audit_lib.report.sources import SEALED
from audit_lib.report.tables import answers_csv, csv_bytes, estimates_csv, tables_csv
from audit_lib.report.under_pack import content_under
from audit_lib.run import Run
from audit_lib.signoff.archived_report import require_report
from audit_lib.signoff.rejection_file import content_now
from audit_lib.translation import speaking, t

FORMS: Final = ("html", "pdf", "json", "csv", "oscal", "card")
"""What a report can be asked for as."""
EVIDENCE: Final = "evidence_sha256"
"""Column that each table gets: SHA-256 of the sealed manifest."""
_MANIFEST: Final = "evidence/manifest.json"
_READINGS: Final = get_args(ReadingForm)


def report_forms(
    run: Run, forms: Sequence[str], *, language: str | None = None, policy: str | None = None
) -> dict[str, bytes]:
    """Return the report of a sealed run in some forms, by file name.

    Parameters
    ----------
    run : Run
        Sealed, with a report.
    forms : sequence of str
        Of `FORMS`.
    language : str, optional
        Language of the pages. Default: English, and the languages that the spec names.
    policy : str, optional
        Another pack to read the scores under.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed, or has no report.
    EvidenceError
        If its evidence or a sign-off does not verify.
    InputError
        If a form cannot be made, here or under another pack.
    SpecError, GateError
        If the other pack cannot be applied.
    """
    if unknown := [form for form in forms if form not in FORMS]:
        raise InputError(f"--format: {', '.join(unknown)}: no such form; there are {', '.join(FORMS)}")
    if policy is not None and "oscal" in forms:
        raise InputError("--format oscal: is of the sealed run's own pack; leave out --policy, or oscal")
    require_report(run)
    manifest = sha256(run.stage("evidence").read("manifest.json"))
    if policy is not None:
        content = content_under(run, policy)
    else:
        content = content_now(run)
        content = replace(content, inputs={**content.inputs, _MANIFEST: manifest})
    languages = ("en", *run.spec.report.languages) if language is None else (language,)
    made: dict[str, bytes] = {}
    for one in languages if {"html", "pdf"} & set(forms) else ():
        page = _named(_annex(run, content, one), one, manifest, signed=content.signature is not None)
        if "html" in forms:
            made[in_language(REPORT, one)] = render_html(page)
        if "pdf" in forms:
            from audit_lib.report.pdf import render_pdf

            made[in_language(REPORT, one, "pdf")] = render_pdf(page)
    if "json" in forms:
        made["report.json"] = document_bytes(content)
    if "csv" in forms:
        tables = {"tables": tables_csv, "estimates": estimates_csv, "answers": answers_csv}
        made |= {f"{name}.csv": _with_digest(of(content), manifest) for name, of in tables.items()}
    if "oscal" in forms:
        from audit_lib.oscal import assessment_results

        made["oscal.json"] = assessment_results(run)
    asked = tuple(form for form in _READINGS if form in forms)
    return made | readings(content, manifest, languages, asked)


def _annex(run: Run, content: Content, language: str) -> Page:
    if language == "en":
        return make_page(content)
    page, untranslated = page_in(language, content)
    if untranslated:
        run.notify(
            f"{in_language(REPORT, language)}: {len(untranslated)} texts have no translation and are in English"
        )
    return page


def _named(page: Page, language: str, manifest: str, *, signed: bool) -> Page:
    """Say on the page which evidence it was made beside, and that a signature is of another file."""
    with speaking(language):
        said = filled(
            t("Made beside sealed evidence; the SHA-256 of its manifest is {digest}."), digest=code(manifest)
        )
        if signed:
            said = (
                *said,
                *text(" ", t("The signature is of the report that lies in the run, and not of this copy.")),
            )
    return replace(page, footer=(*page.footer, *text(" "), *said), sources=(*page.sources, *SEALED))


def _with_digest(table: bytes, manifest: str) -> bytes:
    """Add a column that names the evidence to a table."""
    rows = csv.DictReader(io.StringIO(table.decode(), newline=""))
    columns = (*(rows.fieldnames or ()), EVIDENCE)
    return csv_bytes(columns, ({**row, EVIDENCE: manifest} for row in rows))
