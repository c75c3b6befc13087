"""What the runs of a study gave: reached by the commands that anybody uses, and read from what these wrote."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from audit_lib.cli.main import main as audit
from audit_lib.compare.page import comparison_page
from audit_lib.documents.comparison import Comparison
from audit_lib.documents.validity import ValidityStudy
from audit_lib.figures import standalone
from audit_lib.panel import open_panel
from audit_lib.pipeline import open_run
from audit_lib.report.blocks import Block, Bullets, Chart, Fold, Heading, Notice, Page, Table
from audit_lib.report.content import gather
from audit_lib.report.page import make_page
from audit_lib.run import Run
from audit_lib.spec import Panel, read_spec
from audit_lib.typed_json import decode
from audit_lib.validity import panel_of_runs
from audit_lib.validity.page import validity_page
from audit_lib.window import Window
from studies import markdown
from studies.study import WINDOW, Study, spec_path

WIDE, NARROW = 760, 360
Shown = TypeVar("Shown", Table, Chart, Notice, Bullets)


class StudyError(Exception):
    """A command of a study failed, or its page names what its runs do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The runs of a study in a store.

    Attributes
    ----------
    name : str
        Of the study.
    study : Study
        What it is.
    store : Path
        Where its runs are, or will be.
    made : Path
        Folder of what the commands on the runs write.
    images : dict of str to bytes
        The figures that its page shows, by the names of their files.
    """

    name: str
    study: Study
    store: Path
    made: Path
    images: dict[str, bytes] = field(default_factory=dict)

    def run(self) -> None:
        """Run every spec; one that was run before is found in the store, and no model is asked again."""
        for spec in self.study.specs:
            self.command("run", str(spec_path(spec)), "--window", *WINDOW, "--store", str(self.store))

    def command(self, *words: str) -> None:
        """Run one command of `audit`.

        Raises
        ------
        StudyError
            If it does not end well.
        """
        if code := audit(words):
            raise StudyError(f"audit {' '.join(words)}: exit code {code}")

    def runs(self, *specs: str) -> list[Run]:
        """Return the sealed runs of specs, of a panel one a model, in the specs' order; without names, of all."""
        window = Window.parse(*WINDOW)
        found: list[Run] = []
        for spec in specs or self.study.specs:
            read = read_spec(spec_path(spec))
            if isinstance(read, Panel):
                found += open_panel(read, window, str(self.store)).runs
            else:
                found.append(open_run(str(spec_path(spec)), window, str(self.store)))
        return found

    def report(self, spec: str, model: str = "") -> Page:
        """Return the report of a run; `model` is one of a panel's."""
        own = [run for run in self.runs(spec) if not model or run.key.audit.endswith(f"_{model}")]
        if len(own) != 1:
            raise StudyError(f"{self.name}: {len(own)} runs of {spec} are called {model!r}; name one")
        return make_page(gather(own[0]))

    def comparison(self, *specs: str) -> Comparison:
        """Return what `audit compare` writes of the specs' runs."""
        made = self._made("compare", specs) / "comparison.json"
        return decode(Comparison, made.read_bytes(), str(made))

    def comparison_page(self, *specs: str) -> Page:
        """Return the page that `audit compare` writes."""
        return comparison_page(self.comparison(*specs))

    def validity(self, *specs: str) -> ValidityStudy:
        """Return what `audit validity` writes of the specs' runs."""
        made = self._made("validity", specs) / "validity.json"
        return decode(ValidityStudy, made.read_bytes(), str(made))

    def validity_page(self, *specs: str) -> Page:
        """Return the page that `audit validity` writes."""
        return validity_page(self.validity(*specs), panel_of_runs(self.runs(*specs)))

    def table(self, page: Page, caption: str, *, notes: bool = True) -> str:
        """Return the table of a page that has this caption."""
        found = self._one(caption, "", [(one.caption, under, one) for under, one in _of(page, Table)])
        return markdown.table(found, notes=notes)

    def notice(self, page: Page, title: str) -> str:
        """Return the first notice of a page that has this title."""
        found = [one for _, one in _of(page, Notice) if one.title == title]
        if not found:
            raise StudyError(f"{self.name}: {page.title}: no notice {title!r}")
        return markdown.block(found[0])

    def chart(self, page: Page, title: str, name: str, under: str = "") -> str:
        """Return the figure of a page that has this title, kept as the image ``name``.

        Several figures may have one title, each under a heading of its own; `under` says which.
        """
        charts = [(markdown.title_of(one), heading, one) for heading, one in _of(page, Chart)]
        one = self._one(title, under, charts)
        return f"{self._picture(name, title, one.wide, one.narrow)}\n\n*{one.caption}*"

    def bullets(self, page: Page, heading: str) -> str:
        """Return the list of a page that is under a heading."""
        return markdown.block(self._one(heading, "", [(own, own, one) for own, one in _of(page, Bullets)]))

    def _one(self, name: str, under: str, there: list[tuple[str, str, Shown]]) -> Shown:
        found = [one for own, heading, one in there if own == name and under in ("", heading)]
        if len(found) != 1:
            all_names = "; ".join(sorted({f"{own!r} under {heading!r}" for own, heading, _ in there}))
            raise StudyError(
                f"{self.name}: {len(found)} times {name!r} on the page, where one was meant: {all_names}"
            )
        return found[0]

    def figure(self, draw: Callable[[int], str], title: str, name: str) -> str:
        """Return a figure that `draw` makes for a width, kept as the image ``name``."""
        return self._picture(name, title, draw(WIDE), draw(NARROW))

    def _picture(self, name: str, said: str, wide: str, narrow: str) -> str:
        files = [f"{self.name}-{name}{end}.svg" for end in ("", "-narrow")]
        for file, svg in zip(files, (wide, narrow), strict=True):
            if self.images.setdefault(file, standalone(svg).encode()) != standalone(svg).encode():
                raise StudyError(f"{self.name}: two figures are called {name!r}")
        return markdown.picture(f"../images/studies/{files[0]}", f"../images/studies/{files[1]}", said)

    def _made(self, command: str, specs: Iterable[str]) -> Path:
        specs = tuple(specs) or self.study.specs
        out = self.made / "-".join((command, *specs))
        if not out.exists():
            self.command(command, *(run.uri for run in self.runs(*specs)), "--out", str(out))
        return out


def _of(page: Page, kind: type[Shown]) -> Iterator[tuple[str, Shown]]:
    """Yield the blocks of a kind, those that are folded away too, each with the heading above it."""

    def inside(blocks: Iterable[Block], heading: str) -> Iterator[tuple[str, Shown]]:
        for one in blocks:
            heading = one.text if isinstance(one, Heading) else heading
            if isinstance(one, kind):
                yield heading, one
            if isinstance(one, Fold):
                yield from inside(one.blocks, heading)

    for section in page.sections:
        yield from inside(section.blocks, section.title)


def results_of(name: str, study: Study, store: Path) -> Results:
    """Return what a study's runs in a store give; what commands wrote about them before is thrown away."""
    made = store.parent / "pages" / name
    shutil.rmtree(made, ignore_errors=True)
    return Results(name=name, study=study, store=store, made=made)
