"""Is whoever audits the employer or the vendor themselves? By their names, as a spec states them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from audit_lib.plain_text import in_latin_letters
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.spec import Use

_FORMS: Final = frozenset(
    {
        "ag",
        "bv",
        "co",
        "company",
        "corp",
        "corporation",
        "gmbh",
        "inc",
        "incorporated",
        "kg",
        "limited",
        "llc",
        "llp",
    }
    | {"ab", "aps", "kk", "ltda", "mbh", "oy", "pte", "pty", "pvt", "sas", "sl", "slu", "spa", "ug"}
    | {"lp", "ltd", "nv", "pc", "plc", "pllc", "sa", "sarl", "se", "srl", "the"}
)
"""Legal forms, which people write or leave out."""
_INSIDE: Final = frozenset({"audit", "auditing", "auditors", "compliance", "internal", "risk"}) | {
    "department",
    "division",
    "global",
    "group",
    "holding",
    "holdings",
    "international",
    "office",
    "team",
    "unit",
}
"""What parts of a company and the whole of it are called: its audit department is the employer, and so is its group."""

_PARTS: Final = re.compile(r"[,;:()<>@/|\u2013\u2014]|\s-\s|\b(?:at|from)\b", re.IGNORECASE)
"""What parts a person from a company, and a company from what it is called besides."""

_BESIDE: Final = re.compile(r"['\u2019]s\b|\bwww\.|\.(?:com|net|org|io|ai|eu)\b", re.IGNORECASE)
"""What is no part of a name: whose it is, and what makes an address of it."""


def not_independent(use: Use, named: str) -> str | None:
    r"""Return as whom of the use an auditor is named, in the words of an error; None where as nobody.

    Examples
    --------
    >>> from audit_lib.spec import Use
    >>> not_independent(Use(employer="Example Hotels, Inc."), "EXAMPLE HOTELS")
    'the employer that relies on it (use.employer)'
    >>> not_independent(Use(vendor="Toolmaker L.L.C."), "Ada Maker, The Tool-Maker, Audit Department")
    'the maker of the tool (use.vendor)'
    >>> not_independent(Use(vendor="Toolmaker LLC"), "T\u043e\u043elmaker")
    'the maker of the tool (use.vendor)'
    """
    for stated, who in (
        (use.employer, t("the employer that relies on it (use.employer)")),
        (use.vendor, t("the maker of the tool (use.vendor)")),
    ):
        own = "".join(_words(stated))
        for part in (named, *named.split(","), *_PARTS.split(named)):
            words = _of_whom(_words(part))
            if any(
                "".join(words[:end]) == own and _INSIDE.issuperset(words[end:])
                for end in range(1, len(words) + 1)
            ):
                return who
    return None


def is_another(named: str, auditor: str, organisation: str) -> bool:
    """Whether neither who signs nor the organisation they sign for is the auditor whom a spec names.

    Examples
    --------
    >>> is_another("Ada Auditor, CPA", "Ada Auditor", "Independent LLP")
    False
    >>> is_another("Ada Auditor, Independent LLP", "Bob Builder", "Other LLP")
    True
    """
    names = [words for part in named.split(",") if not _FORMS.issuperset(words := _words(part))]
    signing = [_words(auditor), _words(organisation)]
    return bool(names) and not any(
        "".join(one) in _runs(other) or "".join(other) in _runs(one) for one in names for other in signing
    )


def _runs(words: tuple[str, ...]) -> Iterator[str]:
    """Yield all words that follow each other, written together."""
    for first in range(len(words)):
        for end in range(first + 1, len(words) + 1):
            yield "".join(words[first:end])


def _of_whom(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return whose part is named: of an audit department of a company, the company."""
    if "of" in words and _INSIDE.issuperset(words[: words.index("of")]):
        return words[words.index("of") + 1 :]
    return words


def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name, without its legal form, accents, dots and letters that look like others."""
    letters = _BESIDE.sub(" ", unicodedata.normalize("NFKD", name))
    plain = "".join(char for char in letters if not unicodedata.combining(char) and char not in ".'\u2019")
    words = re.findall(r"\w+", in_latin_letters(plain).casefold())
    return tuple(word for word in words if word not in _FORMS) or tuple(words)
