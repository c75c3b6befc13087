"""Two fixed runs whose reports are kept under tests/golden. To renew them, and then look at what changed:

    python -m tests.report.golden && git diff tests/golden

Times and digests are put aside: they differ from run to run, or with every key that a spec gains.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import numpy as np

from audit_lib.run import Run
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.runs import reported

FOLDER: Final = Path(__file__).parent.parent / "golden"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00| UTC)")
_DIGEST = re.compile(r"\b[0-9a-f]{12,64}\b")
_LONG_NUMBER = re.compile(r"(?<![\w.-])-?\d+\.\d{9,}(?:e[+-]\d+)?(?![\w.])")
_TODAY = re.compile(r"(?<=Computed\n)\d{4}-\d\d-\d\d|(?<=computed on )\d{4}-\d\d-\d\d")


def selection_audit(folder: Path) -> Run:
    """Recorded decisions of people who reported their demographics; some did not."""
    rows = recorded_rows(400, seed=11)
    rng = np.random.Generator(np.random.PCG64(11))
    for row in rows:
        chance = 0.5 if row["sex"] == "male" else 0.36
        row["recorded_selected"] = bool(rng.random() < chance)
        row["recorded_score"] = None
        if rng.random() < 0.05:
            row["race"] = "prefers not to say"
    path = recorded_audit(
        folder,
        title="Interviews at the Example Hotel",
        description="Who was invited to an interview, over one week.",
        source={"reason": "All applications of the week to the two positions that were open."},
        groups={"provenance": "self_reported"},
        decision={"rule": "recorded", "k": None, "round": None},
        measure={"metrics": ["impact_ratio"]},
        report={"tool": "Invites applicants to interviews, or does not.", "distribution_date": "2025-11-03"},
        use={"earlier_audits": ["2025-10-20"]},
    )
    write_jsonl(folder / "prompts.jsonl", rows)
    return reported(path)


def scoring_experiment(folder: Path) -> Run:
    """Recorded scores of applications whose groups were assigned."""
    return reported(
        recorded_audit(
            folder,
            160,
            title="Scores of a screening tool",
            description="Each application bears a name that signals a group.",
            measure={"quotas": [1, 4], "strata": [[]]},
            report={"tool": "Scores applications; the best four of each pool are seen by a person."},
        )
    )


RUNS: Final[dict[str, Callable[[Path], Run]]] = {
    "selection_audit": selection_audit,
    "scoring_experiment": scoring_experiment,
}


class _Text(HTMLParser):
    """The words of a page, a line for each piece."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag == "style"
        # The narrow chart says what the wide one says.
        self._hidden += tag == "div" and ("class", "narrow") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag == "style" or (tag == "div" and self._hidden > 0)

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if words and not self._hidden:
            self.lines.append(words)


def page_text(html: bytes) -> str:
    """Return the words of a page, without times and digests."""
    parser = _Text()
    parser.feed(html.decode())
    return _plain("\n".join(parser.lines) + "\n")


def document_text(report: bytes) -> str:
    """Return ``report.json`` with numbers at nine digits, without times and digests."""
    return _plain(
        json.dumps(_rounded(json.loads(report)), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


def table_text(tables: bytes) -> str:
    """Return ``tables.csv`` with numbers at nine digits: the last ones are those of a kind of processor."""
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.9g}", tables.decode())


def _plain(words: str) -> str:
    for pattern, instead in ((_TIME, "<time>"), (_TODAY, "<day>"), (_DIGEST, "<digest>")):
        words = pattern.sub(instead, words)
    return words


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def texts(name: str, folder: Path) -> dict[str, str]:
    """Make a run; return what is kept of its report, by file name."""
    stage = RUNS[name](folder).stage("report")
    return {
        "report.txt": page_text(stage.read("report.html")),
        "report.json": document_text(stage.read("report.json")),
        "tables.csv": table_text(stage.read("tables.csv")),
    }


def renew() -> None:
    """Write all of them again."""
    for name in RUNS:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            for file, content in texts(name, Path(folder)).items():
                (FOLDER / name / file).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    renew()
