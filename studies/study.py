"""What a study says of itself, and how the studies are found."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from studies import papers

if TYPE_CHECKING:
    from studies.results import Results

ROOT: Final = Path(__file__).resolve().parents[1]
SPECS: Final = ROOT / "include" / "studies"
WINDOW: Final = ("2026-01-05", "2026-01-12")
"""The same for every run, so that a second call finds the first one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A paper's design on data and models that are here; a file of `studies.papers` has one as ``STUDY``.

    Attributes
    ----------
    title : str
        Heading of the page.
    paper : str
        Who published the design, and where.
    about : str
        What is studied, in one sentence for the index.
    takes : str
        How long the models take, such as ``"12 minutes on 2 cores"``.
    cheap : bool
        Whether the fast tests run it again: recorded answers, and seconds.
    specs : tuple of str
        Files of `include/studies`, without ``.yaml``, in the order in which they are run.
    prose : str
        The page in Markdown, with ``$name`` where a result belongs (`string.Template`). It holds no number of a run.
    shown : callable
        Returns a text for each ``$name`` of the prose, made from the runs.
    """

    title: str
    paper: str
    about: str
    takes: str
    cheap: bool
    specs: tuple[str, ...]
    prose: str
    shown: Callable[[Results], Mapping[str, str]]


def find_studies() -> dict[str, Study]:
    """Return the studies by the names of their files."""
    names = sorted(one.name for one in pkgutil.iter_modules(papers.__path__))
    return {name: import_module(f"{papers.__name__}.{name}").STUDY for name in names}


def spec_path(name: str) -> Path:
    """Return the file of a spec."""
    return SPECS / f"{name}.yaml"
