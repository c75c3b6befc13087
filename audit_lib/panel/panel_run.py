"""One window of a panel: its runs, and where its records are.

::

    <root>/<panel>/<window>/<panel digest>/compare/<n>/{panel.json, panel.html, comparison.json, ...}

A record is written once. When a model that failed is run again, the next number says so; the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from audit_lib import pipeline
from audit_lib.errors import SpecError
from audit_lib.progress import ignore
from audit_lib.run import SUCCESS, Run, RunKey, StageFolder
from audit_lib.spec import Panel, panel_digest
from audit_lib.store import Store
from audit_lib.window import Window

FOLDER: Final = "compare"
RECORD: Final = "panel.json"
_NUMBERED: Final = re.compile(rf"{FOLDER}/([1-9][0-9]{{0,8}})/{SUCCESS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRun:
    """One window of a panel.

    Attributes
    ----------
    key : RunKey
        Name, window and digest of the panel.
    title : str
        Of the panel.
    names : tuple of str
        What each model is called in the panel.
    runs : tuple of Run
        The run of each.
    """

    key: RunKey
    title: str
    names: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def store(self) -> Store:
        """Where all of it is."""
        return self.runs[0].store

    @property
    def uri(self) -> str:
        """Where the panel's records are."""
        return self.store.uri(self.key.prefix)

    def notify(self, message: str) -> None:
        """Tell how far it is."""
        self.runs[0].notify(message)

    def record(self, number: int) -> StageFolder:
        """Return the folder of a record."""
        return StageFolder(self.store, f"{self.key.prefix}/{FOLDER}/{number}")

    def last_number(self) -> int:
        """Return the number of the last record; 0 for none."""
        return last_record(self.store, self.key.prefix)


def last_record(store: Store, prefix: str) -> int:
    """Return the number of a panel's last record; 0 for none."""
    found = [
        _NUMBERED.fullmatch(key.removeprefix(f"{prefix}/").lstrip("/"))
        for key in store.list(f"{prefix}/{FOLDER}".lstrip("/"))
    ]
    return max((int(one[1]) for one in found if one is not None), default=0)


def open_panel(
    panel: Panel,
    window: Window,
    root: str,
    *,
    sample_size: int | None = None,
    names_per_cell: int | None = None,
    notify: Callable[[str], None] = ignore,
) -> PanelRun:
    """Return a panel's runs over a window, with the spec's numbers overridden where given. Nothing is written.

    Raises
    ------
    SpecError
        If the spec is wrong for one of the models; says for which.
    """
    runs = []
    for name, reference in zip(panel.names, panel.references, strict=True):
        try:
            run = pipeline.open_run(
                reference, window, root, sample_size=sample_size, names_per_cell=names_per_cell, notify=notify
            )
        except SpecError as error:
            raise SpecError(f"{error} (model {name})") from None
        runs.append(run)
    digest = panel_digest(panel.audit, [run.key.spec_digest for run in runs])
    return PanelRun(
        key=RunKey(panel.audit, window, digest), title=panel.title, names=panel.names, runs=tuple(runs)
    )
