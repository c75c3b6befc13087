"""Names of the files of a report's short readings, and of those beside them that they lead to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from audit_lib.translation import LANGUAGES, spoken

REPORT: Final = "report"
SUMMARY: Final = "summary"
APPLICANT: Final = "applicant"
CARD: Final = "card"
BADGE: Final = "badge"
_READING: Final = re.compile(
    rf"(?:{SUMMARY}|{APPLICANT})(?:\.[a-z]{{2}})?\.(?:html|pdf)|{CARD}(?:\.[a-z]{{2}})?\.html|{CARD}\.json|"
    rf"{BADGE}(?:\.[a-z]{{2}})?\.svg"
)


def in_language(name: str, language: str, form: str = "html") -> str:
    """Return a file's name in a language.

    Examples
    --------
    >>> in_language("summary", "en"), in_language("summary", "es", "pdf")
    ('summary.html', 'summary.es.pdf')
    """
    return f"{name}.{form}" if language == "en" else f"{name}.{language}.{form}"


def is_reading(name: str) -> bool:
    """Whether a file is one of the short readings.

    Examples
    --------
    >>> [is_reading(name) for name in ("summary.es.html", "card.json", "report.html")]
    [True, True, False]
    """
    return _READING.fullmatch(name) is not None


def reading_names(languages: Sequence[str]) -> list[str]:
    """Return the names of the short readings in some languages, but for PDFs.

    Examples
    --------
    >>> reading_names(["en"])
    ['summary.html', 'applicant.html', 'card.html', 'badge.svg', 'card.json']
    """
    pages = [in_language(name, one) for name in (SUMMARY, APPLICANT, CARD) for one in languages]
    return [*pages, *(in_language(BADGE, one, "svg") for one in languages), f"{CARD}.json"]


def others(name: str, languages: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return code, name and address of a page in the languages that it is not in now."""
    return tuple(
        (language, LANGUAGES[language], in_language(name, language))
        for language in languages
        if language != spoken()
    )
