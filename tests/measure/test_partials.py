"""Counts of single shards: the same from any cut, in any order, and those of ``metrics.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from audit_lib import pipeline
from audit_lib.cli.main import main
from audit_lib.documents.shard_totals import ShardTotals
from audit_lib.errors import ConflictError, EvidenceError, InputError
from audit_lib.large_file import bytes_of
from audit_lib.measure.partials.count_shards import count_shards
from audit_lib.measure.partials.shard_totals import totals
from audit_lib.measure.partials.value_counts import ShardCounts, ValueCounts, merged
from audit_lib.measure.stage import complete_shards
from audit_lib.records import ParquetSink
from audit_lib.results import Undefined
from audit_lib.run import Run
from audit_lib.typed_json import decode
from audit_lib.window import Window
from tests.inputs import recorded_audit
from tests.specs import load

AXES = ("sex", "race")
WINDOW = Window.parse("2026-01-05", "2026-01-12")
SPECS = {
    rule: load(decision={"rule": rule, **more})
    for rule, more in {"threshold": {"threshold": 0.5}, "above_median": {}, "recorded": {}}.items()
}

SCORES = st.sampled_from([0.0, 0.1, 0.1 + 2**-55, 0.5, 0.7, 1e100])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["cook", "driver"]),
        st.sampled_from(["female", "male", None]),
        st.sampled_from(["Black", "White", None]),
        st.sampled_from(["ok", "unparsed", "error"]),
        st.sampled_from([True, False, None]),
        SCORES,
    ),
    max_size=40,
)


def counted(rows: list[tuple[Any, ...]], shard: int, sha256: str | None = None) -> ValueCounts:
    """The counts of a shard of some rows."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    table = pa.table(
        {
            "position": pa.array(columns[0], pa.string()),
            "sex": pa.array(columns[1], pa.string()),
            "race": pa.array(columns[2], pa.string()),
            "status": pa.array(columns[3], pa.string()),
            "selected": pa.array(columns[4], pa.bool_()),
            "score": pa.array(
                [
                    score if status == "ok" else None
                    for score, status in zip(columns[5], columns[3], strict=True)
                ],
                pa.float64(),
            ),
        }
    )
    own = ShardCounts.of(table, AXES, sha256 or f"{shard:064x}")
    return ValueCounts(run="one", axes=AXES, shards={shard: own})


@settings(max_examples=40)
@given(rows=ROWS, data=st.data())
def test_any_cut_in_any_order_adds_up_to_the_same(rows: list[tuple[Any, ...]], data: st.DataObject) -> None:
    shards = data.draw(st.integers(1, 9))
    cut = data.draw(st.lists(st.integers(0, shards - 1), min_size=len(rows), max_size=len(rows)))
    parts = [
        counted([row for row, own in zip(rows, cut, strict=True) if own == shard], shard)
        for shard in range(shards)
    ]
    again = data.draw(st.lists(st.sampled_from(parts), max_size=5))
    order = data.draw(st.permutations([*parts, *again]))
    split = data.draw(st.integers(0, len(order)))
    halves = [merged(half) for half in (order[:split], order[split:]) if half]
    found = merged(halves)
    assert found == merged(parts) == found.merge(found)
    assert bytes_of(found.content()) == bytes_of(merged(parts).content())
    assert ValueCounts.read(found.content(), "kept") == found
    whole = counted(rows, 0)
    for spec in SPECS.values():
        assert replace(totals(found, spec, shards), shards=(0,)) == totals(whole, spec, shards)


@settings(max_examples=40)
@given(rows=ROWS)
def test_totals_are_those_of_the_rows(rows: list[tuple[Any, ...]]) -> None:
    table = pd.DataFrame(rows, columns=["position", "sex", "race", "status", "selected", "score"])
    table.loc[table["status"] != "ok", "score"] = None
    cut = [counted(rows[number::3], number) for number in range(3)]
    found = totals(merged(cut), SPECS["threshold"], 3)
    assert found.rows.by_status == {
        **dict.fromkeys(found.rows.by_status, 0),
        **Counter(table["status"]),
    }
    assert found.rows.unknown_group == int(table[["sex", "race"]].isna().any(axis=1).sum())
    assert not isinstance(found.selection, Undefined)
    for one in found.selection:
        own = members(table, one.stratum, one.group)["score"].dropna()
        assert (one.n, one.selected) == (own.size, int((own >= 0.5).sum()))
    for pair in found.pairs:
        a = members(table, pair.stratum, pair.group)["score"].dropna().tolist()
        b = members(table, pair.stratum, pair.reference)["score"].dropna().tolist()
        assert pair.wins == sum(x > y for x, y in product(a, b))
        assert pair.ties == sum(x == y for x, y in product(a, b))
        assert pair.losses == sum(x < y for x, y in product(a, b))
        if a and b:
            assert pair.index == pytest.approx(2 * mannwhitneyu(a, b).statistic / (len(a) * len(b)) - 1)


def members(table: pd.DataFrame, stratum: Any, group: Any) -> pd.DataFrame:
    """The rows of a group in a stratum."""
    for name, label in (*stratum.items(), *group.items()):
        table = table[table[name] == label]
    return table


def test_another_content_of_a_shard_is_refused() -> None:
    row = ("cook", "female", "Black", "ok", None, 0.5)
    one, other = counted([row], 3), counted([row, row], 3, "f" * 64)
    with pytest.raises(ConflictError, match="shard 3: the counts of scores .* differ"):
        one.merge(other)
    with pytest.raises(ConflictError, match="shard 3"):
        one.merge(counted([row, row], 3))
    with pytest.raises(ConflictError, match="not counts of one run"):
        one.merge(replace(counted([row], 4), run="another"))


def rewritten(
    content: bytes, head: dict[str, Any], lines: Callable[[pa.Table], pa.Table] = lambda one: one
) -> bytes:
    """A file of counts with something else in its head, or other lines."""
    table = lines(pq.read_table(pa.BufferReader(content)))
    said = json.loads(table.schema.metadata[b"value_counts"]) | head
    with ParquetSink(table.schema.with_metadata({b"value_counts": json.dumps(said)})) as sink:
        sink.write(table.replace_schema_metadata({b"value_counts": json.dumps(said)}))
    return bytes_of(sink.content())


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"",
        lambda content: content[:-8],
        lambda content: rewritten(content, {"schema": "audit-value-counts/2"}),
        lambda content: rewritten(content, {"axes": ["sex"]}),
        lambda content: rewritten(content, {"shards": [[3, "x" * 64, 2]]}),
        lambda content: rewritten(content, {"shards": [[3, "0" * 64, 1]]}),
        lambda content: rewritten(content, {"shards": [["3", "0" * 64, 2]]}),
        lambda content: rewritten(content, {"shards": [[3, "0" * 64, 2], [3, "0" * 64, 0]]}),
        lambda content: rewritten(content, {}, lambda table: table.take([1, 0])),
        lambda content: rewritten(content, {}, lambda table: table.drop_columns("status")),
    ],
)
def test_a_file_of_anything_else_is_refused(change: Callable[[bytes], bytes]) -> None:
    one = ("cook", "female", "Black", "ok", None, 0.5)
    content = bytes_of(counted([one, ("driver", *one[1:])], 3).content())
    assert ValueCounts.read(rewritten(content, {}), "kept") == ValueCounts.read(content, "kept")
    with pytest.raises(EvidenceError, match=r"kept: is no file of counts"):
        ValueCounts.read(change(content), "kept")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def scored(folder: Path, name: str, **sections: Any) -> Run:
    """A run of 640 recorded scores, up to the scores."""
    (folder / name).mkdir()
    run = pipeline.open_run(
        recorded_audit(folder / name, **{"n": 640} | sections), WINDOW, str(folder / name / "store")
    )
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    return run


RULES: dict[str, dict[str, Any]] = {
    "threshold": {"rule": "threshold", "threshold": 0.25},
    "above_median": {"rule": "above_median"},
    "top_k": {"rule": "top_k", "k": 4, "round": "round_id"},
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shards", [1, 7])
def test_shards_add_up_to_what_the_metrics_say(folder: Path, rule: str, shards: int) -> None:
    run = scored(folder, f"{rule}{shards}", decision=RULES[rule], score={"shards": shards})
    numbers = list(pipeline.shards(run))
    kept: ValueCounts | None = None
    for shard in reversed(numbers):  # each is counted when it is there
        pipeline.run_stage(run, "scores", shard=shard)
        kept = count_shards(run, complete_shards(run), kept)
    assert kept is not None
    found = json.loads(json.dumps(totals(kept, run.spec, shards).as_dict()))
    for stage in ("validation", "metrics"):
        pipeline.run_stage(run, stage)
    metrics = run.stage("metrics").read_json("metrics.json")
    assert found["rows"] == metrics["rows"]
    assert found["missingness"] == metrics["missingness"]
    by_position = [one for one in found["scores"] if len(one["stratum"]) <= 1]
    assert [one for one in metrics["scores"] if one["stratum"].keys() <= {"position"}] == by_position
    told = {
        (str(e["stratum"]), str(e["group"])): e["value"]
        for e in metrics["estimates"]
        if e["metric"] == "rabbi"
    }
    for pair in found["pairs"]:
        assert told[str(pair["stratum"]), str(pair["group"])] == pair["index"]
    if rule == "top_k":
        assert "round" in found["selection"]["undefined"]
        return
    tables = {
        str(table["stratum"]): table["rows"]
        for table in metrics["tables"]
        if table["kind"] == "selection" and len(table["rows"][0]["category"]) == 2
    }
    for stratum, rows in tables.items():
        own = sorted(
            (one["n"], one["selected"]) for one in found["selection"] if str(one["stratum"]) == stratum
        )
        assert own == sorted((row["n"], row["selected"]) for row in rows)


def test_a_late_shard_is_added_without_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = scored(folder, "late", n=900, decision=RULES["threshold"], score={"shards": 5})
    *early, last = pipeline.shards(run)
    for shard in early:
        pipeline.run_stage(run, "scores", shard=shard)
    kept = str(folder / "late.parquet")
    assert main(["counts", run.uri, "--keep", kept]) == 0
    assert f"{len(early)} of {len(early) + 1} shards are counted" in capsys.readouterr().out
    pipeline.run_stage(run, "scores", shard=last)
    read: list[str] = []
    own = ShardCounts.of.__func__  # type: ignore[attr-defined]

    def of(cls: Any, rows: pa.Table, axes: Any, sha256: str) -> ShardCounts:
        read.append(sha256)
        made: ShardCounts = own(cls, rows, axes, sha256)
        return made

    monkeypatch.setattr(ShardCounts, "of", classmethod(of))
    assert main(["counts", run.uri, "--keep", kept, "--json"]) == 0
    assert read == [run.stage(f"scores/{last}").success().artefacts["scores.parquet"].sha256]
    late = capsys.readouterr().out
    assert main(["counts", run.uri, "--merge", kept, "--json"]) == 0
    assert capsys.readouterr().out == late
    assert main(["counts", run.uri, "--json"]) == 0
    assert capsys.readouterr().out == late
    assert decode(ShardTotals, late, "stdout").rows.total == 900


def test_repeats_are_not_counted_by_shard(folder: Path) -> None:
    run = scored(folder, "repeats", score={"shards": 2})
    spec = run.spec.model_copy(update={"score": run.spec.score.model_copy(update={"repeats": 3})})
    with pytest.raises(InputError, match="mean of repeats"):
        count_shards(replace(run, spec=spec), [0])
