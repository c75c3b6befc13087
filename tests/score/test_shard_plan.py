"""Shards are planned once: each reads its own requests, in the packs of the whole run."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from audit_lib.errors import EvidenceError, IncompleteRunError
from audit_lib.records import from_parquet, prompt_schema, to_parquet
from audit_lib.run import Run, StageFolder, StageOutput
from audit_lib.score import score_shard, scores_again, shard_plan, shards
from audit_lib.score.shard_plan import PLAN, all_shards, read_shard
from tests.score.cases import personas, run_with, variant
from tests.score.fakes import by_hash, fake


def planned(run: Run) -> Run:
    """Plan the shards of a run whose variants were written by hand, as the stage does."""
    folder = run.stage("variants")
    made = {name: folder.read(name) for name in folder.success().artefacts}
    again = StageOutput({**made, **shard_plan._planned(run, made)})
    run.store.delete(f"{folder.prefix}/_SUCCESS")
    folder.commit(again, datetime.now(UTC))
    return run


def many(count: int, seed: int = 3) -> list[dict[str, Any]]:
    """Return requests of families of all sizes in several sections, in no order."""
    draw = random.Random(seed)
    rows = [
        variant(
            f"v{n:04}", prompt_id=f"p{draw.randrange(count // 4):04}", position=draw.choice("abc"),
            messages=json.dumps([{"role": "user", "content": f"number {n}"}]),
        )
        for n in range(count)
    ]  # fmt: skip
    draw.shuffle(rows)
    return rows


@pytest.mark.parametrize("count", [1, 2, 7, 64])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("size", [1, 5, 16])
def test_each_shard_s_packs_are_those_of_the_whole_run(tmp_path, monkeypatch, count, repeats, size):
    kind = fake("planned", by_hash)
    monkeypatch.setattr(kind, "pack_size", size)
    score = {"shards": count, "repeats": repeats}
    run = run_with(tmp_path, many(90), model={"backend": "planned", "name": "m"}, score=score)
    _, cuts = all_shards(run)
    planned(run)
    monkeypatch.setattr(kind, "pack_size", 33)  # the plan's own number holds, whatever a later version packs
    assert shards(run) == sorted(cuts)
    assert {number: read_shard(run, number).packs for number in cuts} == cuts
    assert sum(len(pack) for packs in cuts.values() for pack in packs) == 90 * repeats


def test_a_shard_reads_its_own_requests_alone_and_a_listing_none(tmp_path, monkeypatch):
    kind = fake("planned", by_hash)
    model = {"backend": "planned", "name": "m"}
    run = planned(run_with(tmp_path, many(200), model=model, score={"shards": 8, "ledger": "off"}))
    made: list[int] = []
    real = shard_plan.elicitation.get("pointwise")

    class Watched(real):
        def requests(self, variants):
            made.append(len(variants))
            return super().requests(variants)

    monkeypatch.setitem(shard_plan.elicitation._parts, "pointwise", Watched)
    numbers = shards(run)
    assert len(numbers) == 8 and made == []
    for number in numbers:
        folder = run.stage(f"scores/{number}")
        folder.commit(score_shard(run, number), datetime.now(UTC))
        scores_again(run, number)
    assert sum(made) == 2 * 200 and max(made) < 50, (
        "each of scoring and verifying reads every row once in all"
    )
    assert len(kind.asked) == 200


@pytest.mark.parametrize("task", ["pointwise", "listwise"])
def test_shards_planned_or_not_score_the_same_bytes(tmp_path, task):
    fake("planned", by_hash)
    tables = {}
    for name, count, plans in (("a", 1, True), ("b", 6, True), ("c", 6, False), ("d", 1, False)):
        (tmp_path / name).mkdir()
        rows = personas(12)
        if task == "listwise":
            for n, row in enumerate(rows):
                row |= {"candidate": f"Person {n}", "request_id": f"l{n // 4}", "round_id": f"l{n // 4}"}
                row |= {"order_shown": n % 4 + 1, "messages": rows[n // 4 * 4]["messages"]}
        model = {"backend": "planned", "name": "m"}
        run = run_with(tmp_path / name, rows, task=task, model=model, score={"shards": count})
        run = planned(run) if plans else run
        found = [from_parquet(score_shard(run, n).artefacts["scores.parquet"]) for n in shards(run)]
        tables[name] = sorted(
            (row.variant_id, row.score, row.request_digest) for t in found for row in t.itertuples()
        )
    assert len({json.dumps(table, default=str) for table in tables.values()}) == 1 and len(tables["a"]) == 48


def test_what_a_shard_knows_of_the_run_does_not_depend_on_its_rows(tmp_path):
    """One recorded score anywhere means that decisions without one have none, in every shard."""
    rows = [
        variant(
            f"v{n}",
            position=f"job {n}",
            recorded_model="x",
            recorded_selected=n % 2 == 0,
            recorded_score=0.5 if n == 0 else None,
        )
        for n in range(12)
    ]
    run = run_with(
        tmp_path, rows, model={"backend": "recorded", "name": "m"}, prompt=None, score={"shards": 4}
    )
    run = planned(run)
    tables = [from_parquet(score_shard(run, n).artefacts["scores.parquet"]) for n in shards(run)]
    status = {row.variant_id: row.status for table in tables for row in table.itertuples()}
    assert len(tables) > 1 and status.pop("v0") == "ok"
    assert set(status.values()) == {"unparsed"}


def test_a_plan_that_does_not_fit_is_refused(tmp_path):
    fake("planned", by_hash)
    run = run_with(tmp_path, many(90), model={"backend": "planned", "name": "m"}, score={"shards": 4})
    run = planned(run)
    with pytest.raises(IncompleteRunError, match="shard 9 holds no requests"):
        read_shard(run, 9)
    folder = run.stage("variants")
    plan = folder.read_json(PLAN)
    plan["shards"]["1"] += 1  # and nobody noticed
    made = {name: folder.read(name) for name in folder.success().artefacts} | {
        PLAN: json.dumps(plan).encode()
    }
    for name in ("_SUCCESS", PLAN):
        run.store.delete(f"{folder.prefix}/{name}")
    folder.commit(StageOutput(made), datetime.now(UTC))
    with pytest.raises(EvidenceError, match=r"shards/1\.parquet: holds \d+ requests, and .* says"):
        read_shard(run, 1)


def test_a_shard_reads_the_texts_of_its_own_materials_alone(tmp_path, monkeypatch):
    """Also where the repeats of one request are cut between shards, and both need its text."""
    kind = fake("planned", by_hash)
    monkeypatch.setattr(kind, "pack_size", 4)
    leakage = {"embedding": "words", "materials": {"resume": {"unredacted": ["resume"]}}}
    model, score = {"backend": "planned", "name": "m"}, {"shards": 7, "repeats": 3}
    run = run_with(tmp_path, rows := many(40), model=model, score=score, leakage=leakage, perturb=None)
    prompts = [
        {
            "prompt_id": name,
            "application_id": name,
            "position": "a",
            "provenance": "assigned",
            "fields": json.dumps({"resume": f"the words of {name}"}),
        }
        for name in sorted({row["prompt_id"] for row in rows})
    ]
    content = to_parquet(prompts, prompt_schema(run.spec.groups.axes), ["prompt_id"])
    run.stage("sample").commit(StageOutput({"prompts.parquet": content}), datetime.now(UTC))
    whole = {number: score_shard(run, number).artefacts["materials.parquet"] for number in shards(run)}
    planned(run)
    read: list[str] = []
    of_folder = StageFolder.read
    monkeypatch.setattr(StageFolder, "read", lambda self, name: read.append(name) or of_folder(self, name))
    assert {number: score_shard(run, number).artefacts["materials.parquet"] for number in whole} == whole
    assert len(whole) == 7 and not {"prompts.parquet", "variants.parquet"} & set(read)
    rows_of = [len(from_parquet(content)) for content in whole.values()]
    assert sum(rows_of) > 40 > max(rows_of), "some requests have repeats in two shards"
