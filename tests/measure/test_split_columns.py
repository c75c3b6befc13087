"""Several employers, and tools that classify people into groups."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.errors import InputError, SpecError
from audit_lib.measure.rows.split_columns import with_further
from audit_lib.policies.fields import check_fields
from audit_lib.records import parquet_source, write_table
from tests.archive.cases import applicants, do, new_run
from tests.specs import load

STYLES = ["Liberal", "Coaching", "Democratic"]


def employed() -> list[dict[str, Any]]:
    return [
        row | {"employer": "Acme" if index % 5 < 3 else "Beta", "style": STYLES[index % 3]}
        for index, row in enumerate(applicants())
    ]


def tables(run: Any, **stratum: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.stage("metrics").read_json("metrics.json")["tables"]
    return [table for table in found if table["stratum"] == stratum]


def test_employers_are_pooled_and_each_alone(tmp_path: Path) -> None:
    run = new_run(
        tmp_path,
        str(tmp_path / "store"),
        rows=employed(),
        source={"fields": ["resume", "employer"]},
        measure={"strata": [[], ["employer"], ["employer", "position"]]},
    )
    pipeline.check(run.spec)
    do(run)
    pooled = tables(run)
    assert {table["family"] for table in pooled} == {"sex", "race_ethnicity", "intersectional"}
    for table in pooled:
        parts = [
            t
            for name in ("Acme", "Beta")
            for t in tables(run, employer=name)
            if (t["kind"], t["family"]) == (table["kind"], table["family"])
        ]
        assert len(parts) == 2
        for place, row in enumerate(table["rows"]):
            assert row["n"] == sum(part["rows"][place]["n"] for part in parts)
    assert sum(row["n"] for row in tables(run, employer="Acme")[0]["rows"]) == 30
    assert verify(run.uri).ok, "the split is computed again from the archive"


def test_a_column_that_is_no_field_is_refused(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"), measure={"strata": [[], ["employer"]]})
    with pytest.raises(SpecError, match=r"measure\.strata: 'employer' is not a column to split by"):
        pipeline.check(run.spec)


def test_each_classification_group_has_its_own_tables(tmp_path: Path) -> None:
    rows = employed()
    rows[0]["style"] = None
    run = new_run(
        tmp_path,
        str(tmp_path / "store"),
        rows=rows,
        source={"fields": ["resume", "style"]},
        decision={"rule": "above_median", "classes": STYLES, "class_field": "style"},
    )
    pipeline.check(run.spec)
    do(run)
    for style in STYLES:
        of_style = tables(run, classification=style)
        assert [t["family"] for t in of_style] == ["sex", "race_ethnicity", "intersectional"]
        (sex,) = (t for t in of_style if t["family"] == "sex")
        expected = {
            label: [row["style"] == style for row in rows if row["sex"] == label.lower() and row["style"]]
            for label in ("Male", "Female")
        }
        counts = {row["label"]: (row["selected"], row["n"]) for row in sex["rows"]}
        assert counts == {label: (sum(found), len(found)) for label, found in expected.items()}
        best = max(Fraction(*pair) for pair in counts.values())
        for row in sex["rows"]:
            assert row["impact_ratio"]["value"] == pytest.approx(
                float(Fraction(row["selected"], row["n"]) / best)
            )
    assert all("classification" not in t["stratum"] for t in tables(run))
    document = json.loads(run.stage("report").read("report.json"))
    fields = {one.id: one for one in check_fields(document, run.spec)}
    assert fields["F11"].status == "computed"
    document["metrics"]["tables"] = [
        t for t in document["metrics"]["tables"] if t["stratum"].get("classification") != "Coaching"
    ]
    fields = {one.id: one for one in check_fields(document, run.spec)}
    assert (fields["F11"].status, fields["F11"].found) == ("missing", "no tables for Coaching")
    assert verify(run.uri).ok


def test_a_group_that_was_not_listed_is_refused(tmp_path: Path) -> None:
    run = new_run(
        tmp_path,
        str(tmp_path / "store"),
        rows=employed(),
        source={"fields": ["resume", "style"]},
        decision={"rule": "above_median", "classes": STYLES[:2], "class_field": "style"},
    )
    with pytest.raises(InputError, match=r"column 'style': 16 of 48 rows.*5-301\(b\)\(4\)"):
        do(run, until="metrics")


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"class_field": "styl"}, r"class_field: 'styl' is not in source\.fields; did you mean 'style'"),
        ({}, r"classes: 'Liberal' is no label that a live model is asked for"),
    ],
)
def test_groups_that_nothing_gives_are_refused(tmp_path: Path, decision: dict[str, str], said: str) -> None:
    run = new_run(
        tmp_path,
        str(tmp_path / "store"),
        rows=employed(),
        source={"fields": ["resume", "style"]},
        decision={"rule": "above_median", "classes": STYLES} | decision,
    )
    with pytest.raises(SpecError, match=said):
        pipeline.check(run.spec)


def test_groups_are_listed_once_and_named_by_a_field() -> None:
    with pytest.raises(SpecError, match="'a' is listed twice"):
        load(decision={"rule": "above_median", "classes": ["a", "a"]})
    with pytest.raises(SpecError, match="list the groups in classes"):
        load(decision={"rule": "above_median", "class_field": "style"})


def test_a_live_model_puts_a_person_into_its_most_probable_group(tmp_path: Path) -> None:
    class Stage:
        def parquet(self, name: str) -> pa.NativeFile:
            rows = [
                ("a", 0, [0.2, 0.7, 0.1]),
                ("a", 1, [0.8, 0.1, 0.1]),
                ("b", 0, [0.1, 0.1, 0.8]),
                ("c", 0, None),
            ]
            shares = pa.array([row[2] for row in rows], pa.list_(pa.float64()))
            table = pa.table({"variant_id": [row[0] for row in rows], "label_probabilities": shares})
            return parquet_source(write_table(table))

    class Folder:
        spec = load(
            prompt={"template": "t.yaml", "labels": STYLES, "relevance": [0, 1, 2]},
            decision={"rule": "above_median", "classes": STYLES},
        )

        def stage(self, name: str) -> Stage:
            return Stage()

    variants = pa.table({"variant_id": ["a", "b", "c"]})
    found = with_further(Folder(), variants, [0])  # type: ignore[arg-type]
    # The mean over the repeats of a is (0.5, 0.4, 0.1); c has no answer.
    assert found["classification"].to_pylist() == ["Liberal", "Democratic", None]
