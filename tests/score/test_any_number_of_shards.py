"""Into however many shards a run is cut, and however many rows are read at a time: the same bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from audit_lib import pipeline
from audit_lib.page_transcript import NAME, read_transcript, read_visible
from audit_lib.run import Run
from audit_lib.score import shard_rows
from audit_lib.score.backends.recorded import Recorded
from audit_lib.window import Window
from tests.inputs import recorded_audit

ROWS, PACK = 1200, 2
NAMES_SHARDS = {
    "evidence/environment.json": "where the rows of each shard were made",
    "evidence/manifest.json": "lists every file",
    "plan/plan.json": "has the digest of the spec, which says how many shards there are",
    "plan/spec.json": "is the spec",
    "report/report.html": "prints the run's name, the digests and the times",
    "report/report.json": "has the run's name, the digests and the times",
    "variants/shards.json": "is the plan of the shards",
}
"""What names shards, or has the name of something that does; and the shards' own files."""
OWN = re.compile(r"(evidence/redacted/)?scores/\d+/|variants/shards/")
DIGESTS = re.compile(r"\b[0-9a-f]{16,64}\b")
TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?((\+00:00)|Z| UTC)?")


@pytest.fixture(scope="module")
def in_one(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made(tmp_path_factory.mktemp("one"), 1)


def made(folder: Path, shards: int) -> Run:
    spec = recorded_audit(folder, n=ROWS, score={"shards": shards})
    run = pipeline.open_run(spec, Window.parse("2026-01-05", "2026-01-12"), str(folder / "store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recorded, "pack_size", PACK)
        pipeline.run_all(run)
        assert len(pipeline.shards(run)) == shards
    return run


def artefacts(run: Run) -> dict[str, bytes]:
    found = {}
    for path in run.list():
        if path.endswith("/_SUCCESS"):
            stage = run.stage(path.removesuffix("/_SUCCESS"))
            for name in json.loads(run.store.get(f"{run.key.prefix}/{path}"))["artefacts"]:
                found[path.removesuffix("_SUCCESS") + name] = stage.read(name)
    return found


def scores(run: Run) -> pd.DataFrame:
    tables = [run.stage(f"scores/{n}").read_table("scores.parquet") for n in pipeline.shards(run)]
    return pd.concat(tables).sort_values(["variant_id", "repeat"], ignore_index=True)


@pytest.mark.parametrize(
    ("shards", "at_a_time"),
    [(7, 4096), (7, 100), (64, 4096), pytest.param(500, 333, marks=pytest.mark.slow)],
)
def test_all_but_what_names_shards_is_the_same(
    in_one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int, at_a_time: int
) -> None:
    monkeypatch.setattr(shard_rows, "_READ", at_a_time)
    cut = made(tmp_path, shards)
    one, several = artefacts(in_one), artefacts(cut)
    other = {name for name in one.keys() | several.keys() if one.get(name) != several.get(name)}
    assert {name for name in other if not OWN.match(name)} <= NAMES_SHARDS.keys()
    assert {"metrics/metrics.json", "variants/variants.parquet", "metrics/scores.csv"} <= one.keys() - other
    for name in ("report/report.html", "report/report.json"):
        assert plain(one[name]) == plain(several[name]), name
    pages = [read_visible(found["report/report.html"].decode()) for found in (one, several)]
    assert [read_transcript(page.transcript).shown == page.texts for page in pages] == [True, True]
    pd.testing.assert_frame_equal(scores(in_one), scores(cut))


def plain(content: bytes) -> str:
    """A page without digests, whose files are compared themselves, without times, and without its transcript."""
    text = re.sub(rf'<meta name="{NAME}"[^>]*>', "", content.decode())
    return TIMES.sub("@", DIGESTS.sub("#", text))


@pytest.mark.slow  # two runs of 64 shards
def test_how_many_rows_are_read_at_a_time_changes_no_byte_of_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for at_a_time in (4096, 77):
        monkeypatch.setattr(shard_rows, "_READ", at_a_time)
        (folder := tmp_path / str(at_a_time)).mkdir()
        found.append(artefacts(made(folder, 64)))
    timed = {"evidence/manifest.json", "report/report.html", "report/report.json"}
    assert {
        name for name in found[0].keys() | found[1].keys() if found[0].get(name) != found[1].get(name)
    } <= timed
