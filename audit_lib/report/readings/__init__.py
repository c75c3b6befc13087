"""The short readings of a sealed run's report: the statutory summary, the applicant's page, the card and the badge.

They name the digest of the sealed manifest, so they are made beside the evidence and not in it. All numbers are those
of the report's own content.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from audit_lib.report.blocks import Page, text
from audit_lib.report.content import Content
from audit_lib.report.html import render_html
from audit_lib.report.readings.applicant import applicant
from audit_lib.report.readings.card import badge_svg, card_html, card_json
from audit_lib.report.readings.names import APPLICANT, BADGE, CARD, SUMMARY, in_language, is_reading
from audit_lib.report.readings.summary import summary
from audit_lib.translation import speaking, tn

__all__ = ["ReadingForm", "is_reading", "readings"]

ReadingForm = Literal["html", "pdf", "card"]
_PAGES: Final = {SUMMARY: summary, APPLICANT: applicant}


def readings(
    content: Content, manifest: str, languages: tuple[str, ...], forms: tuple[ReadingForm, ...]
) -> dict[str, bytes]:
    """Return the short readings by file name.

    Parameters
    ----------
    content : Content
        Of the sealed run's report.
    manifest : str
        SHA-256 of the sealed run's manifest.
    languages : tuple of str
        Languages to make them in.
    forms : tuple of {"html", "pdf", "card"}
        What to make: pages, the same as PDF, card and badge.

    Raises
    ------
    InputError
        If a PDF is asked for and none can be made on this machine.
    """
    made: dict[str, bytes] = {}
    for language in languages:
        for name in _PAGES if {"html", "pdf"} & set(forms) else ():
            page = _page(name, content, manifest, language, languages)
            if "html" in forms:
                made[in_language(name, language)] = render_html(page, short=True)
            if "pdf" in forms:
                from audit_lib.report.pdf import render_pdf

                made[in_language(name, language, "pdf")] = render_pdf(page, short=True)
        if "card" in forms:
            with speaking(language):
                made[in_language(CARD, language)] = card_html(content, manifest)
                made[in_language(BADGE, language, "svg")] = badge_svg(content, manifest)
    if "card" in forms:
        made[f"{CARD}.json"] = card_json(content, manifest)
    return made


def _page(name: str, content: Content, manifest: str, language: str, languages: tuple[str, ...]) -> Page:
    with speaking(language) as speaker:
        page = _PAGES[name](content, manifest, languages)
        if missing := list(speaker.untranslated):
            told = tn(
                "{n} text of this page has no translation and is in English.",
                "{n} texts of this page have no translation and are in English.",
                len(missing),
            )
            page = replace(page, untranslated=frozenset(missing), footer=(*page.footer, *text(" ", told)))
    return page
