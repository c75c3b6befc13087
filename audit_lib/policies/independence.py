"""Is whoever audits the employer or the vendor themselves? By their names, as a spec states them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

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
    | {"lp", "ltd", "nv", "pc", "plc", "pllc", "sa", "sarl", "se", "srl", "the"}
)
"""Legal forms, which people write or leave out."""
_INSIDE: Final = frozenset({"audit", "auditing", "auditors", "compliance", "internal", "risk"}) | {
    "department",
    "division",
    "office",
    "team",
    "unit",
}
"""What parts of a company are called: the audit department of an employer is the employer."""


def not_independent(use: Use, organisation: str) -> str | None:
    """Return as whom of the use an organisation is named, in the words of an error; None where it is not.

    Examples
    --------
    >>> from audit_lib.spec import Use
    >>> not_independent(Use(employer="Example Hotels, Inc."), "EXAMPLE HOTELS")
    'the employer that relies on it (use.employer)'
    >>> not_independent(Use(vendor="Toolmaker L.L.C."), "The Tool-Maker, Audit Department")
    'the maker of the tool (use.vendor)'
    """
    named = _words(organisation)
    for stated, who in (
        (use.employer, t("the employer that relies on it (use.employer)")),
        (use.vendor, t("the maker of the tool (use.vendor)")),
    ):
        own = "".join(_words(stated))
        for words in range(len(named), 0, -1):
            if "".join(named[:words]) == own and _INSIDE.issuperset(named[words:]):
                return who
    return None


def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name, without its legal form, accents and dots."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(char for char in letters if not unicodedata.combining(char) and char not in ".'\u2019")
    words = re.findall(r"\w+", plain)
    return tuple(word for word in words if word not in _FORMS) or tuple(words)
