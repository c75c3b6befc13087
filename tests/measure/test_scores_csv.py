"""``scores.csv``: read with the standard library alone, it gives the counts, rates and ratios of ``metrics.json``."""

from __future__ import annotations

import csv
import io
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audit_lib.archive.verify import verify
from audit_lib.measure.scores_csv import cell, float_texts, written
from audit_lib.run import Run
from tests.archive.cases import applicants, do, new_run, redact_again, reseal


def restored(text: str) -> str:
    """Take away the apostrophe that makes a text harmless."""
    return text[1:] if text[:1] == "'" else text


def lines(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With ids and levels that a spreadsheet would run, people without an answer, and people of unknown race."""
    folder, rows = tmp_path_factory.mktemp("scores"), applicants(96)
    for number, row in enumerate(rows):
        row["application_id"] = ["=1+1", "@a", "-2", 'a"b', "a,b", "'a", "a\nb"][number % 7] + str(number)
        row["race"] = "+Black" if row["race"] == "Black" else row["race"]
        if number % 11 == 3:
            row["race"] = None
        if number % 13 == 5:
            row["recorded_score"] = None
    groups = {
        "provenance": "self_reported",
        "attributes": {"sex": ["female", "male"], "race": ["White", "+Black"]},
        "reference": {"sex": "male", "race": "White"},
        "categories": {
            "sex": {"female": "Female", "male": "Male"},
            "race": {"+Black": "Black or African American"},
        },
    }
    return do(
        new_run(
            folder,
            str(folder / "store"),
            rows=rows,
            groups=groups,
            decision={"rule": "above_median"},
            checks={"minimum_answered_share": 0.1, "maximum_answered_gap": 0.9},
        )
    )


def test_its_counts_rates_and_ratios_are_those_of_the_metrics(run: Run) -> None:
    metrics = json.loads(run.stage("metrics").read("metrics.json"))
    rows = lines(run.stage("metrics").read("scores.csv"))
    category = {"female": "Female", "male": "Male", "White": "White", "+Black": "Black or African American"}
    scores = sorted(float(row["score"]) for row in rows if row["score"])
    assert {table["kind"] for table in metrics["tables"]} == {"selection", "scoring"}
    tried = 0
    for table in metrics["tables"]:
        part = [row for row in rows if all(row[name] == level for name, level in table["stratum"].items())]
        scores = sorted(float(row["score"]) for row in part if row["score"])
        low, high = scores[(len(scores) - 1) // 2], scores[len(scores) // 2]
        counts: dict[str, list[int]] = {}
        for row in part:
            own = {axis: category.get(restored(row[axis])) for axis in ("sex", "race")}
            chosen = row["selected"]
            if table["kind"] == "scoring" and row["score"]:
                chosen = str(int(float(row["score"]) > low if low == high else float(row["score"]) >= high))
            elif table["kind"] == "scoring":
                chosen = ""
            for one in table["rows"]:
                if chosen and all(own[axis] == level for axis, level in one["category"].items()):
                    count = counts.setdefault(one["label"], [0, 0])
                    count[0] += int(chosen)
                    count[1] += 1
        best = max((Fraction(*pair) for pair in counts.values()), default=Fraction(0))
        for one in table["rows"]:
            selected, n = counts.get(one["label"], [0, 0])
            assert (one["selected"], one["n"]) == (selected, n)
            if n and best:
                assert one["rate"]["value"] == selected / n
                assert one["impact_ratio"]["value"] == float(Fraction(selected, n) / best)
                tried += 1
    assert tried > 20


def test_a_line_a_row_of_the_decisions(run: Run) -> None:
    decisions = run.stage("metrics").read_table("decisions.parquet").to_dict("records")
    rows = lines(run.stage("metrics").read("scores.csv"))
    assert [restored(row["variant_id"]) for row in rows] == [one["variant_id"] for one in decisions]
    for row, one in zip(rows, decisions, strict=True):
        assert (float(row["score"]) if row["score"] else None) == (one["score"] if row["score"] else None)
        assert (row["status"] == "ok") == bool(row["score"]) == (one["score"] == one["score"])
    assert len({restored(row["application_id"]) for row in rows}) == 96
    assert not any(row["application_id"][:1] in "=+-@" for row in rows)


@pytest.mark.parametrize("text", ["", "a", "=1", "'=1", "''", '"', "a,b", "\n", "\t", "-1", "é", "'"])
def test_a_text_is_read_back(text: str) -> None:
    (row,) = csv.reader(io.StringIO(f"{cell(text)},x\n", newline=""))
    assert row == [row[0], "x"] and restored(row[0]) == text


@given(
    st.lists(st.none() | st.text(st.sampled_from("ab=+-@\t\r\n'\",é"), max_size=3), max_size=6),
    st.integers(0, 2),
)
def test_texts_are_written_as_each_is(texts: list[str | None], left_out: int) -> None:
    """Also those of a part of an array, whose texts lie among others."""
    expected = ["" if text is None else cell(text) for text in texts]
    array = pa.array([*["=,"] * left_out, *texts, "x\n"], pa.string())
    assert written(array.slice(left_out, len(texts))).to_pylist() == expected
    assert written(pa.array(texts, pa.string())).to_pylist() == expected


@settings(max_examples=300)
@example(
    [1e-4, 9.999999999999999e-05, 1e10, 9999999999.5, -0.0, 0.0, 5e-324, 1e16, 1e15, 123456789.125, -1e-4]
)
@given(
    st.lists(
        st.floats(allow_infinity=True, allow_nan=True)
        | st.floats(-1, 1)
        | st.integers(-(10**11), 10**11).map(float)
        | st.integers(-(10**14), 10**14).map(lambda n: n / 1e4)
    )
)
def test_numbers_are_written_as_python_writes_them(values: list[float]) -> None:
    found = float_texts(np.array(values, dtype=np.float64)).to_pylist()
    assert found == ["" if value != value else repr(value) for value in values]


def test_names_that_are_taken_are_told_apart(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [row | {"status": "veteran", "score": "x"} for row in applicants()]
    run = do(
        new_run(
            tmp_path,
            str(tmp_path / "store"),
            rows=rows,
            source={"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume", "status", "score"]},
            measure={"metrics": ["impact_ratio"], "strata": [[], ["status"]]},
        ),
        until="metrics",
    )
    header = run.stage("metrics").read("scores.csv").decode().splitlines()[0].split(",")
    assert header.count("status") == 1 and "source:status" in header


class TestVerification:
    """The file is checked against the Parquet that it is made from."""

    @pytest.fixture
    def bundle(self, run: Run, tmp_path: Path) -> Path:
        return Path(shutil.copytree(run.uri, tmp_path / "copy"))

    def test_a_changed_decision_is_found(self, bundle: Path) -> None:
        path = bundle / "metrics/scores.csv"
        content = path.read_bytes()
        path.write_bytes(content.replace(b",1,0\n", b",0,0\n", 1))
        assert path.read_bytes() != content
        reseal(bundle)
        found = [str(one) for one in verify(str(bundle)).findings]
        assert [one for one in found if one.startswith("metrics/scores.csv: differs from line")]

    def test_a_run_of_before_has_none_and_verifies(self, bundle: Path) -> None:
        (bundle / "metrics/scores.csv").unlink()
        reseal(bundle)
        redact_again(bundle)
        reseal(bundle)
        verification = verify(str(bundle))
        assert verification.findings == ()
        assert any(note.startswith("metrics/scores.csv: is not there") for note in verification.notes)

    def test_one_that_was_taken_away_is_found(self, bundle: Path) -> None:
        (bundle / "metrics/scores.csv").unlink()
        assert any(one.path == "metrics/scores.csv" for one in verify(str(bundle)).findings)
