"""Tables of facts, such as "Audit firm | Date of the audit" over their values: what they say, a line for each fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.check.grids import Grid
from audit_lib.check.headers import has_header
from audit_lib.check.published_numbers import read_number

_LONGEST_NAME: Final = 80
_MOST_ROWS: Final = 20


def with_facts(text: str, grids: Sequence[Grid]) -> str:
    """Return a page's words with a line "name: value" in place of the lines that its tables of facts are printed as."""
    facts: list[str] = []
    printed: set[str] = set()
    for grid in grids:
        if not has_header(grid) and (said := list(_facts(grid.rows))):
            facts += said
            printed |= {" ".join(text for text in row if text) for row in grid.rows}
    lines = [line for line in text.split("\n") if line not in printed]
    return "\n".join([*lines, *facts]) if facts else text


def _facts(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield what a grid says that names things in its first row or column and says of each what it is."""
    held = [row for row in rows if any(row)]
    width = max((len(row) for row in held), default=0)
    if len(held) == 2 and width > 2 and all(map(_is_name, held[0])):
        yield from (f"{_plain(name)}: {value}" for name, value in zip(*held, strict=True) if value)
    elif width == 2 and len(held) <= _MOST_ROWS and all(map(_is_name, (row[0] for row in held))):
        for name, value in held:
            yield f"{_plain(name)}: {value}" if value and value != name else name


def _is_name(text: str) -> bool:
    return bool(text) and len(text) <= _LONGEST_NAME and read_number(text) is None


def _plain(name: str) -> str:
    return name.rstrip(" :")
