"""Categories as data write them: which level a label means, and which values may be printed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from audit_lib.spec import AuditSpec

BLANK: Final = "(blank)"
MOST_VALUES: Final = 50
"""With more unknown values than this the column is hardly a demographic one, and none is named."""

UNNAMED: Final = "(not the look of a category)"
FEWEST_NAMED: Final = 5
"""A value of fewer than so many may be what one of them wrote of themselves, their name too."""
RARE: Final = f"(values of fewer than {FEWEST_NAMED} each)"
# Labels of the EEO-1 form end in a qualifier: (Not Hispanic or Latino).
_LABEL: Final = re.compile(r"(?!.*\d{5})[^@:\\]{1,48}?( ?\([^@:\\()]{1,32}\))?")
_FEW: Final = 10

_NOT_HISPANIC: Final = re.compile(
    r"[\s,;:-]*[(\[]?\s*(?:not|non)[\s-]+hispanic(?:\s+or\s+latin[oaxe])?\s*[)\]]?$"
)
_SAID: Final = (
    ("american indian", "native american"), ("other pacific islander", "pacific islander"),
    ("alaskan native", "alaska native"),
)  # fmt: skip
"""What forms say for the same category: EEO-1's words -> the rule's."""


def levels_by_label(spec: AuditSpec) -> dict[str, dict[str, str]]:
    """Return attribute -> (folded label -> level): each level, and the policy's category for it as reports print it.

    So that a table printed by a report, and a file that uses the form's own words, can be read back. A label that
    would be two levels is left out.
    """
    categories = spec.groups.categories
    found: dict[str, dict[str, str]] = {}
    for axis, levels in spec.groups.attributes.items():
        meant: dict[str, set[str]] = {}
        for level in levels:
            for label in {level, categories.get(axis, {}).get(level, level)}:
                meant.setdefault(_folded(label), set()).add(level)
        found[axis] = {label: one for label, (one, *more) in meant.items() if not more}
    return found


def level_of(value: str | None, levels: list[str], labels: Mapping[str, str]) -> str | None:
    """Return the level that a value is, or means as a label; None for neither."""
    if value is None or value in levels:
        return value
    return labels.get(_folded(value))


def _folded(label: str) -> str:
    plain = " ".join(label.casefold().replace("/", " or ").split())
    plain = _NOT_HISPANIC.sub("", plain) or plain
    for theirs, ours in _SAID:
        plain = plain.replace(theirs, ours)
    return plain


def bounded(found: Counter[str], known: frozenset[str] = frozenset(), *, fewest: int = 1) -> dict[str, int]:
    """Return counts of values that may be printed: those `known`, and what looks like a category; the rest together.

    What fewer than `fewest` wrote is none of them.
    """
    counts = Counter({value: n for value, n in found.items() if value not in known})
    named = Counter({value: n for value, n in found.items() if value in known})
    if len(counts) > MOST_VALUES:
        return dict(sorted({**named, f"(more than {MOST_VALUES} different values)": counts.total()}.items()))
    # Many values that hardly repeat are names or free text, whatever each looks like.
    personal = len(counts) > _FEW and counts.total() < 2 * len(counts)
    for value, count in counts.items():
        if value != BLANK and (personal or not _LABEL.fullmatch(value)):
            value = UNNAMED
        elif value != BLANK and count < fewest:
            value = RARE
        named[value] += count
    return dict(sorted(named.items()))
