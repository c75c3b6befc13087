"""Lists of every two groups are compared: each number against loops over the file that the lists are in."""

from __future__ import annotations

import importlib.util
import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib import pipeline
from audit_lib.errors import SpecError
from tests.specs import INCLUDE, load

FILE = INCLUDE / "demo" / "job_lists_8.jsonl"
K = 10


def jaccard(a: list[str], b: list[str]) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


def serp(a: list[str], b: list[str]) -> float:
    def one(a: list[str], b: list[str]) -> float:
        return sum(K - place for place, item in enumerate(a) if item in b) / (K * (K + 1) / 2)

    return min(one(a, b), one(b, a))


def prag(a: list[str], b: list[str]) -> float:
    def one(a: list[str], b: list[str]) -> float:
        kept = 0
        for i, j in combinations(range(K), 2):
            place = [b.index(item) if item in b else K for item in (a[i], a[j])]
            kept += a[i] in b and place[0] < place[1]
        return kept / (K * (K - 1) / 2)

    return min(one(a, b), one(b, a))


def test_every_two_groups_are_compared(tmp_path: Path) -> None:
    run = pipeline.open_run(
        INCLUDE / "studies" / "langfair_recommendation.yaml",
        pipeline.Window.parse("2026-01-05", "2026-01-12"),
        str(tmp_path),
    )
    pipeline.run_all(run)
    lists: dict[tuple[str, str, str], list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        lists[row["application_id"], row["sex"], row["race"]] = json.loads(row["recorded_response"])
    requests = sorted({request for request, _, _ in lists})
    races = ("White", "Black", "Asian", "Hispanic")
    expected: dict[frozenset[tuple[tuple[str, str], ...]], list[tuple[list[str], list[str]]]] = defaultdict(
        list
    )
    for one in requests:
        for race in races:
            pair = frozenset({(("sex", "female"),), (("sex", "male"),)})
            expected[pair].append((lists[one, "female", race], lists[one, "male", race]))
        for a, b in combinations(races, 2):
            pair = frozenset({(("race", a),), (("race", b),)})
            expected[pair] += [(lists[one, sex, a], lists[one, sex, b]) for sex in ("female", "male")]
        for a, b in combinations([(sex, race) for sex in ("female", "male") for race in races], 2):
            pair = frozenset((("sex", cell[0]), ("race", cell[1])) for cell in (a, b))
            expected[pair].append((lists[one, *a], lists[one, *b]))
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    for name, score in (("jaccard_at_k", jaccard), ("serp_at_k", serp), ("prag_at_k", prag)):
        own = {
            frozenset(tuple(e[side].items()) for side in ("group", "reference")): e
            for e in found
            if e["metric"] == name
        }
        assert set(own) == set(expected) and len(own) == 1 + 6 + 28
        for pair, e in own.items():
            assert e["value"] == pytest.approx(np.mean([score(a, b) for a, b in expected[pair]]), abs=1e-12)
            assert (e["n"], e["clusters"]) == (len(expected[pair]), 24)
    lowest = min(
        (e for e in found if e["metric"] == "jaccard_at_k" and len(e["group"]) == 2), key=lambda e: e["value"]
    )
    assert {"sex": "male", "race": "Hispanic"} in (lowest["group"], lowest["reference"]), "the planted group"
    assert lowest["reference"] != {"sex": "male", "race": "White"}, (
        "which no comparison with the reference shows"
    )


def test_scores_have_no_pairs_of_answers() -> None:
    groups = {
        "provenance": "assigned",
        "attributes": {"sex": ["female", "male"]},
        "reference": {"sex": "male"},
    }
    with pytest.raises(SpecError, match="groups.pairs all is for texts and lists"):
        load(groups=groups | {"pairs": "all", "categories": {}})


@pytest.mark.parametrize("name", ["job_lists_8", "student_predictions", "teacher_applicants"])
def test_what_a_script_made_is_what_it_makes(name: str) -> None:
    scripts = {
        "job_lists_8": "build_job_lists",
        "student_predictions": "build_students",
        "teacher_applicants": "build_teachers",
    }
    path = INCLUDE / "demo" / f"{scripts[name]}.py"
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None and found.loader is not None
    build: Any = importlib.util.module_from_spec(found)
    found.loader.exec_module(build)
    assert build.FILE.stem == name and build.FILE.read_bytes() == build.content()
