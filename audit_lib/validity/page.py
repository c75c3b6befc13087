"""The study as a page of its own."""

from __future__ import annotations

from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.blocks import Facts, Page, Tone, code, text
from audit_lib.report.numbers import count
from audit_lib.translation import spoken, t
from audit_lib.validity.scored_panel import ScoredPanel
from audit_lib.validity.sections import validity_sections


def validity_page(study: ValidityStudy, panel: ScoredPanel) -> Page:
    """Return the page's blocks, in the language spoken now."""
    badges: list[tuple[str, Tone]] = [(t("Not a bias audit"), "flag")]
    if any(one.valid_judge is False for one in study.models):
        badges.append((t("Not all are valid judges"), "flag"))
    return Page(
        title=t("Which metric foretells the gaps of an allocation?"),
        subtitle=study.title,
        kicker=t("Predictive validity of metrics over {models} models", models=count(study.best.models)),
        language=spoken(),
        badges=tuple(badges),
        status=Facts(
            (
                (t("Models"), text(count(len({one.label for one in study.models})))),
                (t("Points"), text(count(len(study.points)))),
                (t("Reference"), text(study.reference)),
                (t("Quotas"), text(", ".join(map(str, study.quotas)))),
                (t("Scores"), text(code(study.design[:16]))),
            ),
            strip=True,
        ),
        sections=validity_sections(study, panel),
        footer=text(t("Made by audit_lib from the scores that this page names.")),
    )
