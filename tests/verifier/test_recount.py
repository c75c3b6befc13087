"""Forgers who seal everything again: what the packed verifier counts itself, and what only `audit verify` finds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json
from audit_lib.cli.main import main
from audit_lib.run import Run
from tests.archive.cases import applicants, do, new_run, reseal
from tests.verifier.conftest import Told, found_here

KINDS: dict[str, dict[str, Any]] = {
    "top_k": {"decision": {"rule": "top_k", "k": 3, "round": "round_id"}},
    "threshold": {"decision": {"rule": "threshold", "threshold": 0.5}},
    "above_median": {"decision": {"rule": "above_median"}},
    "strata": {"measure": {"strata": [[], ["position"], ["office"]]}},
    "list_wise": {"report": {"switches": {"unknown": "list_wise", "median": "known", "exclusion_base": "all"}}},
    "hidden": {"report": {"policy": "nyc_ll144"}, "measure": {"small_cell": 9}},
    "assigned": {"groups": {"provenance": "assigned"}},
}  # fmt: skip


def people() -> list[dict[str, Any]]:
    """With levels that a spreadsheet would run, gaps in races and scores, ties, and rounds."""
    rows = applicants(120)
    for number, row in enumerate(rows):
        row |= {
            "round_id": f"{row['position']} {number // 24}",
            "office": ["=Bronx", "Queens, NY", ""][number % 3],
        }
        row["recorded_score"] = round(row["recorded_score"], 1 if number % 2 else 6)
        row["race"] = None if number % 11 == 3 else row["race"]
        row["recorded_score"] = None if number % 13 == 5 else row["recorded_score"]
    return rows


def audited(folder: Path, kind: str) -> Run:
    sections: dict[str, Any] = {
        "source": {"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume", "office"]},
        "checks": {"minimum_answered_share": 0.1, "maximum_answered_gap": 0.9},
        "measure": {"metrics": ["impact_ratio", "scoring_rate_impact_ratio", "score_gap"]},
    }
    for name, section in KINDS[kind].items():
        sections[name] = {**sections.get(name, {}), **section}
    return do(new_run(folder, str(folder / "store"), rows=people(), **sections))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audited(tmp_path_factory.mktemp("top_k"), "top_k")


@pytest.fixture
def bundle(made: Run, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.uri, tmp_path / "copy"))


@pytest.mark.parametrize("kind", list(KINDS))
def test_clean_runs_of_many_kinds_verify(kind: str, tmp_path: Path, told: Told) -> None:
    code, said = told(audited(tmp_path, kind).uri)
    assert (code, said["findings"], said["undecided"]) == (0, [], [])
    assert "impact ratios" in said["computed_again"]


def test_audit_verify_says_it_in_the_same_form(
    made: Run, told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", made.uri, "--json"]) == 0
    ours, theirs = json.loads(capsys.readouterr().out), told(made.uri)[1]
    assert list(ours) == list(theirs)
    same = (
        "schema",
        "verdict",
        "where",
        "audit",
        "window",
        "design",
        "outcome",
        "manifest_sha256",
        "files",
        "level",
    )
    assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}


def edit(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_bytes(pretty_json(document))


def of_row(name: str, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        tables = document["metrics"]["tables"] if "metrics" in document else document["tables"]
        row = tables[0]["rows"][0]
        if isinstance(row[name], dict):
            row[name]["value"] = value
        else:
            row[name] = value

    return change


METRICS_FORGED: dict[str, Callable[[Any], None]] = {
    "n": of_row("n", 61),
    "selected": of_row("selected", 1),
    "rate": of_row("rate", 0.99),
    "ratio": of_row("impact_ratio", 0.99),
    "flag": of_row("four_fifths_flag", "neither"),
    "share": of_row("share_of_data", 0.123),
    "total": lambda d: d["tables"][0].update(total=1),
    "unknown": lambda d: d["tables"][1].update(unknown=99),
    "lots": lambda d: d["tables"][0].update(tied_rounds=77),
    "median": lambda d: next(t for t in d["tables"] if t["kind"] == "scoring").update(median=0.4321),
    "ties": lambda d: next(t for t in d["tables"] if t["kind"] == "scoring").update(median_ties=55),
    "a category left out": lambda d: d["tables"][0]["rows"].pop(),
    "status": lambda d: d["rows"]["by_status"].update(ok=1),
    "rows": lambda d: d["rows"].update(total=1),
    "missing": lambda d: d["missingness"][0].update(refused=7),
    "mean": lambda d: d["scores"][0].update(mean=d["scores"][0]["mean"] + 0.001),
}


@pytest.mark.parametrize("what", list(METRICS_FORGED))
def test_a_measured_number_changed_and_sealed_again_is_found(bundle: Path, what: str) -> None:
    edit(bundle / "metrics/metrics.json", METRICS_FORGED[what])
    reseal(bundle)
    found = found_here(bundle)
    assert any(one.startswith("metrics/metrics.json: ") for one in found), found


@pytest.mark.parametrize("name", ["n", "selected", "rate", "impact_ratio"])
def test_a_published_number_is_found(bundle: Path, name: str) -> None:
    edit(bundle / "report/report.json", of_row(name, 42))
    reseal(bundle)
    assert any("report/report.json: metrics.tables[0]" in one for one in found_here(bundle))


@pytest.mark.parametrize("column", [6, 7, 9, 12])
def test_a_number_of_the_published_table_is_found(bundle: Path, column: int) -> None:
    path = bundle / "report/tables.csv"
    lines = path.read_text().split("\n")
    cells = lines[1].split(",")
    cells[column] = "0.5432" if "." in cells[column] else "7"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]))
    reseal(bundle)
    assert any(one.startswith("report/tables.csv: ") for one in found_here(bundle))


def test_a_table_that_breaks_off_within_quotes_is_found(bundle: Path) -> None:
    path = bundle / "report/tables.csv"
    path.write_bytes(path.read_bytes()[:-40] + b',"Male, \x00')
    reseal(bundle)
    assert any(one.startswith("report/tables.csv: is no table") for one in found_here(bundle))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (",1,0\n", ",0,0\n"),  # one person more is rejected
        (",female,", ",male,"),
        (",ok,", ",refused,"),
        ("0\n", "1\n"),
    ],
)
def test_a_row_changed_and_sealed_again_is_found(bundle: Path, before: str, after: str) -> None:
    path = bundle / "metrics/scores.csv"
    content = path.read_text()
    path.write_text(content.replace(before, after, 1))
    assert path.read_text() != content
    reseal(bundle)
    assert found_here(bundle)


@pytest.mark.parametrize(
    "content", [b"", b"variant_id\n", b"\xff\n", b'variant_id,"\n', b"a,a\n1,2\n", b"variant_id,status\nx\n"]
)
def test_what_is_no_such_table_is_found(bundle: Path, content: bytes) -> None:
    (bundle / "metrics/scores.csv").write_bytes(content)
    reseal(bundle)
    assert any(one.startswith("metrics/scores.csv: ") for one in found_here(bundle))


def test_a_swapped_decision_with_all_counts_the_same_is_found(bundle: Path) -> None:
    """The best of a round loses the place to the worst of the same sex and race."""
    path = bundle / "metrics/scores.csv"
    lines = path.read_text().split("\n")
    rows = [line.rsplit(",", 2) for line in lines[1:-1]]
    for one in rows:
        one[1] = {"1": "0", "0": "1"}.get(one[1], one[1]) if "retail 0" in one[0] else one[1]
    path.write_text("\n".join([lines[0], *(",".join(one) for one in rows), ""]))
    reseal(bundle)
    assert any("hold other decisions than top_k makes" in one for one in found_here(bundle))


SEEN_BY_AUDIT_VERIFY_ALONE: dict[str, Callable[[Path], None]] = {
    "an interval": lambda folder: edit(
        folder / "metrics/metrics.json",
        lambda d: d["tables"][0]["rows"][0]["rate"]["interval"].update(low=0.0),
    ),
    "a metric": lambda folder: edit(
        folder / "metrics/metrics.json", lambda d: d["estimates"][0].update(value=0.0)
    ),
    "the page": lambda folder: (folder / "report/report.html").write_bytes(b"<p>fair</p>\n") and None,  # type: ignore[func-returns-value]
    "a table of rows": lambda folder: (folder / "scores/0/scores.parquet").write_bytes(b"PAR1") and None,  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("what", list(SEEN_BY_AUDIT_VERIFY_ALONE))
def test_what_it_does_not_look_at_is_as_it_says(bundle: Path, what: str) -> None:
    """Without a signature: under trust the manifest is another one, which it finds."""
    SEEN_BY_AUDIT_VERIFY_ALONE[what](bundle)
    reseal(bundle)
    assert found_here(bundle) == []
    assert not verify(str(bundle)).ok
