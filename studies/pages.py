"""The pages of the studies, and the list of them."""

from __future__ import annotations

from pathlib import PurePosixPath
from string import Template
from typing import Final

from audit_lib.report.numbers import count
from studies.markdown import rows
from studies.results import Results
from studies.study import WINDOW, Study

FOLDER: Final = PurePosixPath("studies")
IMAGES: Final = PurePosixPath("images/studies")
_MADE: Final = "<!-- Made by `make studies`; edit studies/papers/{name}.py, then make it again. -->"


def pages_of(results: Results) -> dict[str, bytes]:
    """Return a study's page and its figures, by their paths under ``docs``; the same bytes for the same runs."""
    study, name = results.study, results.name
    shown = study.shown(results)
    page = "\n\n".join(
        [
            f"# {study.title}",
            _MADE.format(name=name),
            f"{study.about} The design is that of {study.paper}. All runs: [the studies](index.md).",
            Template(study.prose.strip()).substitute(shown),
            "## Make it again",
            f"`make studies` (the models take {study.takes}; runs that are there are not made again) does this:",
            "```bash\n" + "\n".join(_commands(results)) + "\n```",
            _runs(results),
        ]
    )
    made = {str(FOLDER / f"{name}.md"): f"{page}\n".encode()}
    return made | {str(IMAGES / file): svg for file, svg in sorted(results.images.items())}


def index_of(studies: dict[str, Study]) -> bytes:
    """Return the list of the studies."""
    lines = [(f"[{one.title}]({name}.md)", one.paper, one.about, one.takes) for name, one in studies.items()]
    return "\n\n".join(
        [
            "# The papers as studies",
            _MADE.format(name="*"),
            "The designs of the papers that the metrics come from, on data and small models that are here. "
            "`make studies` runs each spec of `include/studies` with the commands that anybody uses, and writes these "
            "pages; `python -m studies NAME` does one. Another model in a spec gives the same tables of that model. "
            "None of the models here is a valid judge of people: the pages show the method, side by side with what a "
            "paper printed where that is known here.",
            rows(["study", "paper", "what", "the models take"], lines, text_columns=4) + "\n",
        ]
    ).encode()


def _commands(results: Results) -> list[str]:
    """Return the commands as a person types them."""
    window = " ".join(WINDOW)
    lines = [f"audit run include/studies/{spec}.yaml --window {window}" for spec in results.study.specs]
    for one in sorted(results.made.iterdir()) if results.made.is_dir() else []:
        command, *specs = one.name.split("-")
        names = " ".join(run.key.audit for run in results.runs(*specs))
        lines.append(f"audit {command} {names} --out {one.name}")
    return lines


def _runs(results: Results) -> str:
    lines = []
    for run in results.runs():
        counted = run.stage("metrics").success().counts
        lines.append((f"`{run.key.audit}`", run.spec.model.name, run.spec.task, count(counted["rows"])))
    return rows(["run", "model", "task", "rows"], lines, text_columns=3)
