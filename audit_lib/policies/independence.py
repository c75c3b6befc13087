"""Is whoever audits the employer or the vendor themselves? By their names, as a spec states them."""

from __future__ import annotations

import re
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
    | {"lp", "ltd", "nv", "plc", "sa", "sarl", "se", "srl"}
)
"""Legal forms, which people write or leave out."""


def not_independent(use: Use, organisation: str) -> str | None:
    """Return as whom of the use an organisation is named, in the words of an error; None where it is not.

    Examples
    --------
    >>> from audit_lib.spec import Use
    >>> not_independent(Use(employer="Example Hotels, Inc."), "EXAMPLE HOTELS")
    'the employer that relies on it (use.employer)'
    """
    for stated, who in (
        (use.employer, t("the employer that relies on it (use.employer)")),
        (use.vendor, t("the maker of the tool (use.vendor)")),
    ):
        if _words(stated) and _words(stated) == _words(organisation):
            return who
    return None


def _words(name: str) -> tuple[str, ...]:
    words = re.findall(r"\w+", name.casefold())
    return tuple(word for word in words if word not in _FORMS) or tuple(words)
