"""Published summaries for the tests: the rule's shape in small, a whole audit of ours, and pages made of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from itertools import product
from pathlib import Path

import numpy as np

from audit_lib import pipeline
from audit_lib.check import CheckResult, check_report
from audit_lib.metrics.rounding import round_half_up
from audit_lib.policies import load_policy
from audit_lib.run import Run
from tests.inputs import recorded_rows, write_jsonl
from tests.report.conftest import WINDOW
from tests.specs import write

POLICY = load_policy("nyc_ll144")
RACES = [level.name for level in POLICY.attribute("race").categories]
WORDS = """<p>Date of the bias audit: June 29, 2023. Distribution date: January 5, 2023.</p>
<p>Source of the data: the applications for this position held by the employer.</p>
<p>Explanation of the data: every application of 2022, all regions.</p>
<p>0 individuals were of an unknown category.</p>"""

Table = list[list[str]]
Counts = Mapping[str, tuple[int, int]]


def counts(seed: int = 3) -> dict[tuple[str, str], tuple[int, int]]:
    """People and selected people of the fourteen intersectional categories."""
    rng = np.random.default_rng(seed)
    people = {cell: int(rng.integers(40, 400)) for cell in product(("Male", "Female"), RACES)}
    return {cell: (n, int(rng.integers(n // 4, n // 2))) for cell, n in people.items()}


def rated(groups: Counts, rate_digits: int = 1, ratio_digits: int = 3) -> Table:
    """Rows of label, applicants, selected, rate and ratio, printed as the rule prints them."""
    best = max(Fraction(k, n) for n, k in groups.values())
    return [
        [
            label,
            f"{n:,}",
            f"{k:,}",
            round_half_up(100 * Fraction(k, n), rate_digits) + "%",
            round_half_up(Fraction(k, n) / best, ratio_digits),
        ]
        for label, (n, k) in groups.items()
    ]


def summary(cells: Mapping[tuple[str, str], tuple[int, int]] | None = None) -> dict[str, Table]:
    """Three tables that add up, by caption."""
    cells = counts() if cells is None else cells
    sums: dict[str, dict[str, tuple[int, int]]] = {"Sex categories": {}, "Race/ethnicity categories": {}}
    for (sex, race), (n, k) in cells.items():
        for caption, label in (("Sex categories", sex), ("Race/ethnicity categories", race)):
            before = sums[caption].get(label, (0, 0))
            sums[caption][label] = (before[0] + n, before[1] + k)
    both = {f"{sex}, {race}": pair for (sex, race), pair in cells.items()}
    return {
        caption: rated(groups) for caption, groups in (sums | {"Intersectional categories": both}).items()
    }


HEADER = ("Category", "# of applicants", "# selected", "Selection rate", "Impact ratio")


def html(tables: Mapping[str, Table], words: str = WORDS, header: Sequence[str] = HEADER) -> str:
    """Make a page of tables and words."""
    parts = []
    for caption, rows in tables.items():
        head = "".join(f"<th>{escape(text)}</th>" for text in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>\n" for row in rows
        )
        parts.append(f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>\n{body}</table>")
    return f"<!DOCTYPE html><html><body><h1>Bias audit</h1>{words}{''.join(parts)}</body></html>"


def save(folder: Path, text: str, name: str = "summary.html") -> Path:
    """Write a text; return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def checked(folder: Path, tables: Mapping[str, Table], words: str = WORDS) -> CheckResult:
    """Check a page of these tables."""
    return check_report(save(folder, html(tables, words)))


def kinds(report: CheckResult, *, notes: bool = True) -> list[str]:
    """Return the kinds of finding, each once, in order."""
    return list(dict.fromkeys(f.id for f in report.findings if notes or f.severity != "note"))


def whole_audit(folder: Path, people: int = 2400) -> Run:
    """Run a bias audit of self-reported demographics, all categories, some unknown, two positions."""
    rng = np.random.default_rng(5)
    rows = recorded_rows(people)
    for row in rows:
        row["race"] = str(rng.choice([*RACES, "not stated"], p=[*[0.135] * 7, 0.055]))
    races = {race.lower().replace(" ", "_"): race for race in RACES}
    names = {race: short for short, race in races.items()}
    for row in rows:
        row["race"] = names.get(row["race"], row["race"])
    path = write(
        folder,
        groups={
            "provenance": "self_reported",
            "attributes": {"sex": ["female", "male"], "race": list(races)},
            "reference": {"sex": "male", "race": "white"},
            "categories": {"sex": {"female": "Female", "male": "Male"}, "race": races},
        },
        decision={"rule": "top_k", "k": 4, "round": "round_id"},
        checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
        score={"shards": 4},
        report={"distribution_date": "2025-11-03", "tool": "Ranks applications."},
        use={"earlier_audits": ["2025-10-20"]},
    )
    write_jsonl(folder / "prompts.jsonl", rows)
    return _run(path)


def _run(path: Path) -> Run:
    run = pipeline.open_run(path, WINDOW, str(path.parent / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics", "report"):
        pipeline.run_stage(run, name)
    return run
