"""A frame has the numbers of a run on the same rows, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import audit_lib
from audit_lib.documents.metrics import Metrics, read_metrics
from audit_lib.results import Interval
from tests.archive.cases import do, new_run
from tests.dataframe.people import lines, people

GROUPS: dict[str, Any] = {
    "attributes": {"sex": ["female", "male"], "race": ["Black", "White"]},
    "reference": {"sex": "male", "race": "White"},
    "categories": {},
}
FRAME: dict[str, Any] = {"groups": ["sex", "race"], "reference": {"sex": "male", "race": "White"}, "seed": 7,
                         "maximum_answered_gap": 1.0}  # fmt: skip


def of_run(folder: Path, frame: pd.DataFrame, columns: tuple[str, ...], **sections: Any) -> Metrics:
    """The numbers of a run that recorded these rows."""
    groups = GROUPS | sections.pop("groups", {"provenance": "observer_coded"})
    run = new_run(
        folder,
        str(folder / "store"),
        rows=lines(frame, *columns),
        groups=groups,
        report={"policy": "generic"},
        source={"fields": ["resume", "job"]},
        checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 1.0},
        **sections,
    )
    return read_metrics(do(run, until="metrics").stage("metrics").read("metrics.json"))


def told(metrics: Metrics) -> dict[str, Any]:
    """What both must agree on: all but how the sample's demographics were read."""
    document = metrics.as_dict()
    for name in ("demographics", "sampling_errors", "leakage"):
        document.pop(name, None)
    return document


CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], dict[str, Any]]] = {
    "decisions": (
        ("hired",),
        {"decision": "hired", "by": "job"},
        {"decision": {"rule": "recorded"}, "measure": {"strata": [[], ["job"]]}},
    ),
    "decisions of people who came twice, with scores and outcomes": (
        ("person", "score", "hired", "able"),
        {"decision": "hired", "score": "score", "clusters": "person", "qualified": "able"},
        {"decision": {"rule": "recorded"}, "measure": {"strata": [[]]}},
    ),
    "the best of each round": (
        ("person", "round", "score"),
        {"decision": {"rule": "top_k", "k": 2}, "score": "score", "rounds": "round", "clusters": "person"},
        {"decision": {"rule": "top_k", "k": 2, "round": "round_id"}, "measure": {"strata": [[]]}},
    ),
    "an experiment": (
        ("person", "score"),
        {"score": "score", "clusters": "person", "assigned": True, "measure": {"level": 0.9}},
        {"groups": {"provenance": "assigned"}, "measure": {"strata": [[]], "level": 0.9}},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_frame_has_the_numbers_of_a_run(tmp_path: Path, case: str) -> None:
    columns, keywords, sections = CASES[case]
    rows = people()
    if {"score", "hired"} <= set(columns):
        rows["hired"] = rows["hired"].fillna(True)  # a run wants a decision next to each score
    found = audit_lib.frame(rows, **FRAME, **keywords)
    sections["measure"] = sections["measure"] | {"metrics": found.spec.measure.metrics}
    assert told(found.metrics) == told(of_run(tmp_path, rows, columns, **sections))
    assert len(found.metrics.estimates) > 5, "there was something to compare"


def test_decisions_in_rounds_depend_on_each_other_as_those_of_a_cluster() -> None:
    rows = people()
    rounds, clusters = (
        audit_lib.frame(rows, decision="hired", **{unit: "round"}, **FRAME) for unit in ("rounds", "clusters")
    )
    for ours, theirs in zip(rounds.numbers, clusters.numbers, strict=True):
        one, other = ours.estimate, theirs.estimate
        assert (one.value, one.n, one.clusters) == (other.value, other.n, other.clusters)
        for a, b in ((ours.interval, theirs.interval), (one.interval, other.interval)):
            assert isinstance(a, Interval) is isinstance(b, Interval)
            assert not (isinstance(a, Interval) and isinstance(b, Interval)) or (a.low, a.high) == (
                b.low,
                b.high,
            )
    alone = audit_lib.frame(rows, decision="hired", **FRAME)
    assert [one.interval for one in alone.gaps] != [one.interval for one in rounds.gaps]


def test_a_weight_is_a_number_of_people(tmp_path: Path) -> None:
    rows = people(80)
    weights = np.random.default_rng(2).integers(0, 4, len(rows))
    found = audit_lib.frame(
        rows.assign(people=weights.astype(float)), decision="hired", weights="people", **FRAME
    )
    repeated = rows.loc[np.repeat(rows.index, weights)].reset_index(drop=True)
    assert told(found.metrics) == told(audit_lib.frame(repeated, decision="hired", **FRAME).metrics)
    assert found.metrics.rows.total == weights.sum()
    assert f"{(weights == 0).sum()} rows have the weight 0" in found.notes[0]
