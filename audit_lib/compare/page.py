"""The comparison as a page: its sections in order, below who is compared and what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from audit_lib.compare.sections.answers import answers
from audit_lib.compare.sections.between_models import between_models
from audit_lib.compare.sections.manipulation import manipulation
from audit_lib.compare.sections.metrics import metrics
from audit_lib.compare.sections.rates import rates
from audit_lib.compare.sections.reading import reading
from audit_lib.compare.sections.runs import cost, runs
from audit_lib.compare.sections.subgroup_aucs import subgroup_aucs
from audit_lib.documents.comparison import Comparison
from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.blocks import Facts, Page, Section, Tone, code, text
from audit_lib.report.numbers import count
from audit_lib.results import Undefined
from audit_lib.translation import t
from audit_lib.validity import validity_section
from audit_lib.validity.run_labels import shared_title

SECTIONS: Final[tuple[Callable[[Comparison], list[Section]], ...]] = (
    runs,
    rates,
    metrics,
    subgroup_aucs,
    between_models,
    manipulation,
    answers,
    cost,
    reading,
)
"""In the order of the page."""


def comparison_page(
    document: Comparison,
    before: Sequence[Section] = (),
    title: str = "",
    validity: ValidityStudy | None = None,
) -> Page:
    """Return the page's blocks.

    Parameters
    ----------
    document : Comparison
        What is compared.
    before : sequence of Section
        Sections that come first, such as what became of a panel's models.
    title : str
        Of the audit; that of the first run where it is empty.
    validity : ValidityStudy, optional
        Which metric foretells the gaps of these models (`study_of_runs`); the document says why there is none.
    """
    badges: list[tuple[str, Tone]] = [(t("Not a bias audit"), "flag")]
    if document.experiment:
        badges.append((t("Experiment"), "plain"))
    if not all(run.valid_judge for run in document.runs):
        badges.append((t("Not all are valid judges"), "flag"))
    found = t(
        "{findings} of {tests}",
        findings=count(document.paired.findings.p_holm),
        tests=count(document.paired.family_size),
    )
    return Page(
        title=t("Models, prompts and tasks compared"),
        subtitle=title or shared_title([run.title for run in document.runs]),
        kicker=t("Comparison \N{MIDDLE DOT} {runs} runs of one design", runs=count(len(document.runs))),
        language="en",
        badges=tuple(badges),
        status=Facts(
            (
                (t("Runs"), text(count(len(document.runs)))),
                (t("Tests in the family"), text(count(document.multiplicity.family_size))),
                (t("Found, unadjusted"), text(count(document.multiplicity.findings.p_value))),
                (t("Found, adjusted for their number"), text(count(document.multiplicity.findings.p_holm))),
                (t("Between models, adjusted"), text(found)),
                (t("Design"), text(code(document.design[:16]))),
            ),
            strip=True,
        ),
        sections=(
            *before,
            *(section for make in SECTIONS for section in make(document)),
            validity_section(Undefined(document.not_studied or "") if validity is None else validity),
        ),
        footer=text(t("Made by audit_lib from the archived artefacts of the runs that it names.")),
    )
