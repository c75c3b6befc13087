"""What a layout is: a function that writes an audit for one of its producers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.published_fourth.audit import Audit
from benchmarks.published_fourth.draw import Taste

Writer = Callable[[Audit, str, Path], None]


class NoFitError(Exception):
    """The page is too small for what was drawn."""


@dataclass(frozen=True)
class Layout:
    name: str
    producers: tuple[str, ...]
    taste: Taste
    write: Writer


def layout(producers: tuple[str, ...], taste: Taste) -> Callable[[Writer], Layout]:
    return lambda write: Layout(write.__name__, producers, taste, write)
