"""Names of companies in sentences, and who is said to use the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# A word before a colon is the next label: "Auditor: Acme LLC. Vendor: Acme".
WORD: Final = r"(?:(?:Inc|Co|Corp|Ltd|LLC|[A-Z])\.|[A-Z][\w&'\u2019-]*(?!\w*\s*:))"
"""A word of a company's name."""
NAME: Final = rf"(?P<name>{WORD}(?:,? (?:{WORD}|&|of|and|the)){{0,6}})"
"""A company's name, as the group ``name``."""
_USES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{NAME} (?:has |have )?(?:begun|began|begins|started|starts|first) (?:using|used|to use)\b",
        rf"{NAME} (?:has|have) (?:been using|used) (?:the|this|its|[A-Z])",
        rf"\bwhich {NAME} (?:uses|has used)\b",
        rf"{NAME} (?:uses|deploys) (?:the|this|an?|[A-Z])",
    )
)


def users(text: str) -> Iterator[str]:
    """Yield the companies that a text says use the tool.

    Examples
    --------
    >>> list(users("Acme Stores uses Sorter. It screens resumes, which Bell Shops has used before."))
    ['Bell Shops', 'Acme Stores']
    """
    for pattern in _USES:
        for found in pattern.finditer(text):
            yield found["name"].strip(" ,.").removeprefix("The ")
