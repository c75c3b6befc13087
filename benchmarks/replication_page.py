"""How the replication page writes tables, numbers and their intervals."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from audit_lib.results import Interval, Undefined


def data_folder(given: str | None = None) -> Path:
    """Folder with the recorded data: the one given, or ``data`` in $AUDIT_SHARED_DATA or in ../shared."""
    if given:
        return Path(given)
    shared = os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).resolve().parents[2] / "shared"
    return Path(shared) / "data"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int = 1) -> str:
    """A Markdown table; columns after the first `text_columns` are set to the right."""
    lines = [f"| {' | '.join(columns)} |"]
    lines.append("|" + "".join(" --- |" if i < text_columns else " ---: |" for i in range(len(columns))))
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def number(value: float | Undefined, digits: int = 3, *, signed: bool = False) -> str:
    """A number with fixed digits; no minus before a zero; what is undefined says so."""
    if isinstance(value, Undefined):
        return f"undefined ({value.reason})"
    shown = f"{float(value):{'+' if signed else ''}.{digits}f}"
    return shown.replace("-", "").replace("+", "") if float(shown) == 0 else shown


def limits(interval: Interval | Undefined, digits: int = 3, *, signed: bool = False) -> str:
    if isinstance(interval, Undefined):
        return f"no interval ({interval.reason})"
    return f"[{number(interval.low, digits, signed=signed)}, {number(interval.high, digits, signed=signed)}]"


def estimate(
    value: float | Undefined, interval: Interval | Undefined, digits: int = 3, *, signed: bool = False
) -> str:
    """``value [low, high]``."""
    if isinstance(value, Undefined):
        return number(value)
    return f"{number(value, digits, signed=signed)} {limits(interval, digits, signed=signed)}"


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f}%"


def excludes(interval: Interval | Undefined, value: float) -> bool:
    return isinstance(interval, Interval) and not interval.low <= value <= interval.high


def reflow(markdown: str, width: int = 118) -> str:
    """Wrap the paragraphs and list items; headings, tables and code stay as they are."""
    blocks = []
    for block in markdown.split("\n\n"):
        if block.startswith(("#", "|", "    ")):
            blocks.append(block)
            continue
        items = block.split("\n- ")
        mark = "- " if items[0].startswith("- ") else ""
        items[0] = items[0].removeprefix("- ")
        blocks.append(
            "\n".join(
                textwrap.fill(
                    " ".join(item.split()),
                    width,
                    initial_indent=mark,
                    subsequent_indent=" " * len(mark),
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                for item in items
            )
        )
    return "\n\n".join(blocks).rstrip() + "\n"
