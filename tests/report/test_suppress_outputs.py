"""A group of few people, whose numbers are found nowhere else: in no output may any of them stand."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from audit_lib import pipeline, policies
from audit_lib.cli.main import main
from audit_lib.oscal import assessment_results
from audit_lib.run import Run
from audit_lib.site import publish
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.report.runs import WINDOW
from tests.report.test_suppress import suppressing

pytestmark = pytest.mark.slow

PEOPLE: Final = {
    "cook": {
        ("female", "White"): (405, 810), ("female", "Black"): (229, 337), ("female", "Asian"): (391, 788),
        ("male", "White"): (460, 833), ("male", "Black"): (390, 795), ("male", "Asian"): (385, 777),
    },
    "driver": {
        ("female", "White"): (411, 820), ("female", "Black"): (197, 311), ("female", "Asian"): (387, 771),
        ("male", "White"): (451, 841), ("male", "Black"): (380, 802), ("male", "Asian"): (393, 782),
    },
}  # fmt: skip
"""Selected, of how many. The black women are few: the policy of the test hides fewer than 650."""

FEW: Final = (*(counts["female", "Black"] for counts in PEOPLE.values()), (229 + 197, 337 + 311))


def _rows() -> list[dict[str, object]]:
    people = [
        (position, sex, race, place < selected)
        for position, counts in PEOPLE.items()
        for (sex, race), (selected, n) in counts.items()
        for place in range(n)
    ]
    rows = recorded_rows(len(people))
    for row, (position, sex, race, selected) in zip(rows, people, strict=True):
        row |= {"position": position, "sex": sex, "race": race, "recorded_selected": selected}
        row |= {"recorded_score": None, "round_id": None}
    return rows


class _Text(HTMLParser):
    """What a reader of a page is told: its text, and the text alternatives of its charts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.silent = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent = tag in ("style", "script")
        self.said += [v or "" for k, v in attributes if k in ("aria-label", "alt", "title")]

    def handle_endtag(self, tag: str) -> None:
        self.silent = False

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.said.append(data)


def _sealed(folder: Path) -> Run:
    path = recorded_audit(
        folder,
        groups={
            "provenance": "self_reported",
            "attributes": {"sex": ["female", "male"], "race": ["White", "Black", "Asian"]},
        },
        decision={"rule": "recorded", "k": None, "round": None},
        measure={"metrics": ["impact_ratio"]},
        sample={"strata": ["sex", "race"]},
    )
    write_jsonl(folder / "prompts.jsonl", _rows())
    run = pipeline.open_run(path, WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


def _outputs(run: Run, folder: Path) -> dict[str, str]:
    """Everything that is for people outside, as text."""
    made = dict.fromkeys(run.stage("report").success().artefacts)
    found = {name: run.stage("report").read(name).decode() for name in made if not name.endswith(".pdf")}
    store = str(folder / "store")
    publish(store, base="https://audits.example.org/")
    site = folder / "store" / "site"
    for path in sorted(
        p for p in site.rglob("*") if p.suffix in (".html", ".json", ".atom", ".xml", ".csv", ".svg")
    ):
        found[f"site/{path.relative_to(site).as_posix()}"] = path.read_text("utf-8")
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(["show", run.uri]) == 0
    found["audit show"] = shown.getvalue()
    found["oscal"] = assessment_results(run).decode()
    return {
        name: " ".join(_Text(content).said)
        if name.endswith((".html", ".svg"))
        else content.replace(",", " , ")
        for name, content in found.items()
    }


def _numbers() -> list[str]:
    """Counts and rates of the few, as any output writes them."""
    said: list[str] = []
    for selected, n in FEW:
        rate = Fraction(selected, n)
        said += [str(n), str(selected), str(n - selected), f"{float(100 * rate):.1f}%", f"{float(rate):.6f}"]
        said.append(f"{selected}/{n}")
    return said


def _finds(number: str, text: str) -> bool:
    """Whether a number stands by itself: not within a longer one, a date, a digest or an address."""
    return re.search(rf"(?<![\w.,/-]){re.escape(number)}(?![\w/-]|[.,]\d)", text) is not None


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Of one audit, under the pack as it is, which marks, and under one that suppresses."""
    pytest.importorskip("trestle", reason="writes OSCAL")
    made = {}
    for display in ("mark", "suppress"):
        folder = tmp_path_factory.mktemp(display)
        with pytest.MonkeyPatch.context() as patch:
            pack = suppressing(650)
            cells = pack.cells.model_copy(update={"display": display})
            pack = pack.model_copy(update={"cells": cells})
            patch.setattr(policies, "load_policy", lambda name, *_, pack=pack: pack)
            made[display] = _outputs(_sealed(folder), folder)
    return made


def test_the_search_finds_what_is_printed(outputs: dict[str, dict[str, str]]) -> None:
    """Under a policy that marks, the numbers stand in every output that has any: so that to miss them means much."""
    text = outputs["mark"]
    for name in ("report.html", "report.json", "tables.csv", "answers.csv", "audit show", "oscal"):
        assert _finds("648", text[name]), name
    assert _finds(f"{426 / 648:.6f}", text["tables.csv"])


def test_no_number_of_the_few_is_in_any_output(outputs: dict[str, dict[str, str]]) -> None:
    assert len(outputs["suppress"]) > 15
    found = {
        (name, number) for name, text in outputs["suppress"].items() for number in _numbers()
        if _finds(number, text)
    }  # fmt: skip
    assert not found


def test_no_digest_tells_whether_a_guess_at_the_counts_is_right(outputs: dict[str, dict[str, str]]) -> None:
    """Whoever knows all but a count could make ``metrics.json`` anew for each guess."""
    assert "metrics/metrics.json" in json.loads(outputs["mark"]["report.json"])["inputs"]
    known = {name.partition("/")[0] for name in json.loads(outputs["suppress"]["report.json"])["inputs"]}
    assert known == {"plan"}
    assert any(name.endswith("/manifest.json") for name in outputs["mark"])
    assert not any(name.endswith("/manifest.json") for name in outputs["suppress"])


def test_the_site_does_not_follow_over_all_windows_what_is_made_of_all_cells(
    outputs: dict[str, dict[str, str]],
) -> None:
    assert any(name.endswith("/monitor.html") for name in outputs["mark"])
    assert not any(name.endswith("/monitor.html") for name in outputs["suppress"])
    assert "not shown: small cells are hidden" in " ".join(outputs["suppress"].values())


def test_ratios_of_the_few_are_counted_as_hidden(outputs: dict[str, dict[str, str]]) -> None:
    tables = json.loads(outputs["suppress"]["report.json"])["metrics"]["tables"]
    of_all = [table for table in tables if not table["stratum"]]
    hidden = ratios = 0
    for table in of_all:
        for row in table["rows"]:
            ratio = isinstance(row["impact_ratio"]["value"], float)
            ratios += ratio and row["label"] != table["comparator"]
            reason = {} if ratio else row["impact_ratio"]["value"]
            hidden += str(reason.get("undefined")).startswith("hidden")
    assert ratios and hidden
    assert f"of {ratios} impact ratios" in outputs["suppress"]["report.html"]
    assert f"{hidden} more are hidden" in outputs["suppress"]["report.html"]
