"""The panels of a store: their last records, held against the runs that they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from audit_lib.canonical import sha256
from audit_lib.compare import VALIDITY
from audit_lib.documents.comparison import Comparison
from audit_lib.documents.panel import PanelMember, PanelRecord
from audit_lib.documents.validity import ValidityStudy
from audit_lib.errors import AuditError, EvidenceError, StoreUnreachableError
from audit_lib.panel.page import panel_page
from audit_lib.panel.panel_run import FOLDER, RECORD, last_record
from audit_lib.report.blocks import Facts, Section, Text, link, text
from audit_lib.report.html import readable, render_html
from audit_lib.report.numbers import count
from audit_lib.run import SUCCESS, StageFolder
from audit_lib.store import Store
from audit_lib.translation import t
from audit_lib.typed_json import decode
from audit_lib.window import Window

if TYPE_CHECKING:
    from audit_lib.site.catalogue import CataloguedRun

PAGE: Final = "panel.html"
_FILES: Final = ("panel.json", "comparison.json", "comparison.csv", "differences.csv", VALIDITY)
_RECORDED: Final = re.compile(rf"([^/]+/[^/]+/[^/]+)/{FOLDER}/[1-9][0-9]*/{SUCCESS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguedPanel:
    """The last record of a panel's window.

    Attributes
    ----------
    prefix : str
        The panel's folder, in the store and on the site.
    folder : StageFolder
        Of the record.
    record : PanelRecord
        What became of each model.
    comparison : Comparison or None
        None where there is none.
    reported : frozenset of str
        Runs whose reports are on the site.
    hides_cells : bool
        Whether the report of a model hides small cells: what holds a digest of its rows is not published then.
    """

    prefix: str
    folder: StageFolder
    record: PanelRecord
    comparison: Comparison | None
    reported: frozenset[str]
    hides_cells: bool

    def files(self) -> dict[str, bytes]:
        """Return what is published of it, by its path on the site."""
        up = "../" * 3

        def report_of(one: PanelMember) -> str:
            return f"{up}{one.run}/report.html" if one.run in self.reported else ""

        written = self.folder.success().artefacts
        kept = [name for name in _FILES if name in written]
        study = decode(ValidityStudy, self.folder.read(VALIDITY), VALIDITY) if VALIDITY in kept else None
        page = panel_page(self.record, self.comparison, report_of, study)
        if self.hides_cells:
            # Where rows are little more than their groups, who guesses hidden counts makes the rows and their digest.
            kept = [name for name in kept if name.endswith(".csv")]
            page = replace(page, status=Facts(_without_design(page.status.items), strip=True))
        made = {name: self.folder.read(name) for name in kept} | {PAGE: render_html(page)}
        return {f"{self.prefix}/{name}": content for name, content in made.items()}

    def section(self) -> Section:
        """Return its place on the index."""
        window = Window.from_label(self.record.window)
        words = f"{window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}"
        state = f"{count(len(self.record.members))} models"
        if self.record.failed:
            state += f", {count(len(self.record.failed))} of them not compared"
        return Section(
            f"panel-{self.record.audit}-{window.label}-{self.record.panel_digest[:8]}".lower(),
            f"{self.record.title}: a panel of {count(len(self.record.members))} models",
            (
                Facts(
                    (
                        ("Comparison", text(link(words, f"{self.prefix}/{PAGE}"))),
                        ("Models", text(state)),
                    )
                ),
            ),
        )


def _hides_cells(entry: CataloguedRun) -> bool:
    """Whether a run's report leaves out the digests of what hidden counts are made of, or would."""
    if entry.document is None:
        return entry.policy.cells.display == "suppress"
    return "metrics/metrics.json" not in entry.document.inputs


def _without_design(facts: tuple[tuple[str, Text], ...]) -> tuple[tuple[str, Text], ...]:
    return tuple(one for one in facts if one[0] != t("Design"))


def read_panels(
    store: Store, runs: Mapping[str, CataloguedRun], notify: Callable[[str], None]
) -> tuple[tuple[CataloguedPanel, ...], list[str]]:
    """Read the last record of each panel; one that does not agree with the runs that are published is left out.

    Returns
    -------
    tuple of CataloguedPanel, list of str
        The latest window first; and what is left out, with the reason.
    """
    prefixes = sorted({found[1] for key in store.list("") if (found := _RECORDED.fullmatch(key))})
    panels, left_out = [], []
    for prefix in prefixes:
        try:
            panels.append(_panel(store, prefix, runs))
        except StoreUnreachableError:
            raise
        except AuditError as error:
            left_out.append(readable(f"{prefix}: {str(error).splitlines()[0]}"))
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything, and stop no other page
            left_out.append(f"{prefix}: cannot be read ({type(error).__name__})")
    for reason in left_out:
        notify(f"WARNING: not published: {reason}")
    ordered = sorted(panels, key=lambda one: (one.record.window, one.prefix), reverse=True)
    return tuple(ordered), left_out


def _panel(store: Store, prefix: str, runs: Mapping[str, CataloguedRun]) -> CataloguedPanel:
    folder = StageFolder(store, f"{prefix}/{FOLDER}/{last_record(store, prefix)}")
    record = folder.read_document(PanelRecord, RECORD)
    if prefix != f"{record.audit}/{record.window}/{record.panel_digest[:16]}":
        raise EvidenceError("the panel's record is of another panel than its folder")
    sealed = {}
    for one in record.members:
        if one.manifest_sha256 is None:
            continue
        if one.run not in runs:
            raise EvidenceError(f"the run of {one.model} that the panel names is not published: {one.run}")
        found = sha256(runs[one.run].run.stage("evidence").read("manifest.json"))
        if found != one.manifest_sha256:
            raise EvidenceError(f"the evidence of {one.model} is not the one that the panel names: {one.run}")
        sealed[one.run] = found
    comparison = None
    if record.comparison_sha256 is not None:
        if sha256(folder.read("comparison.json")) != record.comparison_sha256:
            raise EvidenceError("comparison.json is not the one that the panel names")
        comparison = folder.read_document(Comparison, "comparison.json")
        if any(sealed.get(one.run) != one.manifest_sha256 for one in comparison.runs):
            raise EvidenceError("comparison.json is of other runs than the panel")
    reported = frozenset(path for path, entry in runs.items() if entry.document is not None)
    return CataloguedPanel(
        prefix=prefix,
        folder=folder,
        record=record,
        comparison=comparison,
        reported=reported,
        hides_cells=any(_hides_cells(runs[one.run]) for one in record.members if one.run in runs),
    )
