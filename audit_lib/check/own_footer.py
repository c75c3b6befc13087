"""The last line of a page of ours, in every language: that it is ours, and the policy that it names."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter
from typing import Final

from audit_lib.translation import LANGUAGES, Speaker

_LAST_LINES: Final = (
    "Made by audit_lib from the archived artefacts of run {run}. Policy {policy} {version}.",
    "Made by audit_lib from the sealed run {run}. Policy {policy} {version}.",
    "Made by audit_lib from the sealed run {run}.",
    "Made by audit_lib from the archived artefacts of the runs that it names.",
    "Made by audit_lib from the scores that this page names.",
)
_PLACES: Final = {"run": r"[^.]+?", "policy": r"(?P<policy>\w+)", "version": r"\d+\.\d+\.\d+"}


def is_ours(words: str) -> bool:
    """Whether a page says that this library made it.

    Examples
    --------
    >>> is_ours("Hecho por audit_lib a partir de la ejecución sellada demo/2026.")
    True
    """
    return any(pattern.search(words) for pattern in _patterns())


def language_of(words: str) -> str | None:
    """Return the language that a page of ours is in, by its last line; None where no line says that it is ours.

    Examples
    --------
    >>> language_of("Hecho por audit_lib a partir de la ejecución sellada demo/2026.")
    'es'
    """
    found = (
        language
        for language in LANGUAGES
        for words_of in _LAST_LINES
        if _pattern(Speaker(language).look_up(words_of)).search(words)
    )
    return next(found, None)


def named_policies(words: str) -> list[str]:
    """Return the policies that a page's last line names.

    Examples
    --------
    >>> named_policies("Made by audit_lib from the sealed run demo/2026. Policy us_ugesp 1.0.0.")
    ['us_ugesp']
    """
    return [
        found["policy"]
        for pattern in _patterns()
        if "policy" in pattern.groupindex
        for found in pattern.finditer(words)
    ]


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(
        _pattern(Speaker(language).look_up(words)) for language in LANGUAGES for words in _LAST_LINES
    )


def _pattern(words: str) -> re.Pattern[str]:
    """The sentence with its places; a PDF sets any space as the end of a line."""
    pieces = []
    for own, place, _, _ in Formatter().parse(words):
        pieces.append(r"\s+".join(re.escape(part) for part in re.split(r"\s+", own)))
        if place is not None:
            pieces.append(_PLACES[place])
    return re.compile("".join(pieces))
