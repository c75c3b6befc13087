"""The stage: rows, shards, and that a shard is a pure function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from audit_lib.errors import (
    BackendError,
    ColumnTypeError,
    IncompleteRunError,
    InputError,
    ModelNotFoundError,
    SpecError,
)
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard, shards
from audit_lib.score.backends import backend
from audit_lib.score.backends.recorded import Recorded
from audit_lib.spec import Model
from tests.installed import needs_torch
from tests.score.cases import personas, run_with, variant

ROUND = [("ANN LEE", "female"), ("BO CHI", "male"), ("CY WOOD", "female")]


def table(run, shard: int = 0) -> pd.DataFrame:
    return from_parquet(score_shard(run, shard).artefacts["scores.parquet"])


def decisions(count: int) -> list[dict[str, object]]:
    return [
        variant(f"a{i:03}", position="ab"[i % 2], recorded_score=i / 7, recorded_selected=i % 3 == 0)
        for i in range(count)
    ]


def round_of(answer: str | None, round_id: str = "r1") -> list[dict[str, object]]:
    return [
        variant(
            f"{round_id}/{i}",
            round_id=round_id,
            request_id=round_id,
            order_shown=i + 1,
            candidate=name,
            recorded_model="gpt-x-0613",
            recorded_response=answer,
            sex=sex,
        )
        for i, (name, sex) in enumerate(ROUND)
    ]


def test_recorded_scores_and_decisions(tmp_path):
    rows = [
        variant("scored", recorded_score=0.25, recorded_selected=False),
        variant("decided", recorded_selected=True, recorded_model="tool-2"),
        variant("answered", recorded_response="No, not a fit."),
        variant("nothing", recorded_response="Hm."),
        variant("infinite", recorded_score=float("inf")),
    ]
    scores = table(run_with(tmp_path, rows, score={"shards": 1})).set_index("variant_id")
    assert scores.status.to_dict() == {
        "answered": "unparsed",
        "decided": "unparsed",
        "infinite": "unparsed",
        "nothing": "unparsed",
        "scored": "ok",
    }
    assert scores.score["scored"] == 0.25
    assert scores.score.drop("scored").isna().all(), "0 or 1 need not lie on the others' scale"
    assert scores.selected["scored"] is False or not scores.selected["scored"]
    assert scores.model["decided"] == "tool-2" and scores.model["scored"] == "recorded decisions"
    assert set(scores.method) == {"recorded"}
    assert scores.label_mass.isna().all()
    assert scores.request_digest.str.fullmatch("[0-9a-f]{64}").all()


def test_decisions_alone_are_scored_1_and_0(tmp_path):
    rows = [
        variant("decided", recorded_selected=True),
        variant("answered", recorded_response="No, not a fit."),
        variant("nothing", recorded_response="Hm."),
    ]
    scores = table(run_with(tmp_path, rows, score={"shards": 1})).set_index("variant_id")
    assert scores.score[["decided", "answered"]].tolist() == [1.0, 0.0]
    assert scores.status["nothing"] == "unparsed"


def test_one_shard_and_64_give_the_same_rows(tmp_path):
    tables = {}
    for count in (1, 64):
        (folder := tmp_path / str(count)).mkdir()
        run = run_with(folder, decisions(1000), score={"shards": count})
        assert len(shards(run)) == (1 if count == 1 else 4)  # packs of 256 are never cut
        tables[count] = pd.concat([table(run, shard) for shard in shards(run)]).sort_values("variant_id")
    pd.testing.assert_frame_equal(tables[1].reset_index(drop=True), tables[64].reset_index(drop=True))
    assert len(tables[1]) == 1000


def test_a_shard_is_a_pure_function(tmp_path):
    run = run_with(tmp_path, decisions(40), score={"shards": 2})
    first, second = score_shard(run, 1), score_shard(run, 1)
    assert dict(first.artefacts) == dict(second.artefacts)
    assert first.counts == second.counts == {"rows": 20, "requests": 20, "ok": 20}


def test_repeats_are_rows_of_their_own(tmp_path):
    scores = table(run_with(tmp_path, decisions(3), score={"shards": 1, "repeats": 2}))
    assert len(scores) == 6
    assert scores.groupby("variant_id").repeat.apply(list).tolist() == [[0, 1]] * 3


def test_a_listwise_answer_ranks_its_candidates(tmp_path):
    rows = round_of("1. Cy Wood\n2. An Lee") + round_of("I cannot.", "r2") + round_of(None, "r3")
    run = run_with(tmp_path, rows, task="listwise", score={"shards": 1}, prompt=None)
    output = score_shard(run, 0)
    scores = from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id")
    assert scores.score[["r1/0", "r1/1", "r1/2"]].tolist() == [2.0, 1.0, 3.0]
    assert scores.status[["r1/0", "r1/1", "r1/2"]].tolist() == ["unranked", "unranked", "ok"]
    assert scores.detail[["r1/0", "r1/1"]].tolist() == ["misspelt", "absent"]
    assert set(scores.status[["r2/0", "r2/1", "r2/2"]]) == {"refused"}
    assert set(scores.status[["r3/0", "r3/1", "r3/2"]]) == {"unparsed"}
    assert scores.score[3:].isna().all()
    assert set(scores.model) == {"gpt-x-0613"}
    assert output.counts == {"rows": 9, "requests": 3, "ok": 1, "unranked": 2, "refused": 3, "unparsed": 3}


def test_two_candidates_of_one_name_are_unparsed(tmp_path):
    rows = [{**row, "candidate": "ANN LEE"} for row in round_of("1. Ann Lee")]
    scores = table(run_with(tmp_path, rows, task="listwise", score={"shards": 1}, prompt=None))
    assert scores.status.tolist() == ["unparsed"] * 3
    assert not scores.detail.str.contains("ann", case=False).any()  # no names in details


def test_rows_of_one_request_must_ask_the_same(tmp_path):
    rows = round_of("1. Ann Lee")
    rows[1]["recorded_response"] = "1. Bo Chi"
    with pytest.raises(ColumnTypeError, match="'r1' differ"):
        shards(run_with(tmp_path, rows, task="listwise", prompt=None))


def test_messages_that_are_no_turns(tmp_path):
    with pytest.raises(ColumnTypeError, match="request 'a' are not a JSON list"):
        shards(run_with(tmp_path, [variant("a", messages='["hello"]')]))


def test_an_empty_table_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no rows"):
        shards(run_with(tmp_path, []))


def test_a_shard_without_requests_is_an_error(tmp_path):
    with pytest.raises(IncompleteRunError, match=r"shard 7 .*\[0\]"):
        score_shard(run_with(tmp_path, decisions(3), score={"shards": 1}), 7)


@pytest.mark.parametrize(("fault", "message"), [("lost", "gave no answer"), ("doubled", "answered twice")])
def test_an_answer_lost_or_doubled_is_an_error(tmp_path, monkeypatch, fault, message):
    whole = Recorded.score

    def faulty(self, packs):
        responses = list(whole(self, packs))
        yield from responses[1:] if fault == "lost" else [responses[0], *responses]

    monkeypatch.setattr(Recorded, "score", faulty)
    with pytest.raises(BackendError, match=message):
        score_shard(run_with(tmp_path, decisions(5), score={"shards": 1}), 0)


def test_progress_is_told_with_the_count(tmp_path):
    told: list[str] = []
    run = run_with(tmp_path, decisions(5), score={"shards": 1})
    score_shard(type(run)(run.spec, run.key, run.store, told.append), 0)
    assert "5 of 5 requests" in told[-1]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"backend": "transformer"}, "no backend is named 'transformer'; did you mean 'transformers'"),
        ({"backend": "transformers", "options": {"devise": "cpu"}}, "did you mean 'device'"),
        ({"backend": "transformers", "options": {"threads": 0}}, "model.options.threads: .*greater than"),
        ({"backend": "openai", "options": {"api_key_env": "sk-abc"}}, "api_key_env"),
        ({"backend": "openai", "options": {"base_url": "https://me:pw@host/v1"}}, "must not hold a user"),
        ({"backend": "openai", "options": {"base_url": "localhost:8080"}}, "needs http"),
        ({"backend": "recorded", "options": {"x": 1}}, "unknown option of recorded; known: none"),
    ],
)
def test_wrong_model_sections_are_refused(model, message):
    with pytest.raises(SpecError, match=message) as caught:
        check_model(Model(name="smollm2-135m-instruct", **model))
    assert "pw@" not in str(caught.value)


def test_a_backend_that_cannot_do_the_task_is_refused():
    with pytest.raises(
        SpecError, match="the task listwise asks for text; backends that give it: .*openai.*recorded"
    ):
        check_model(Model(backend="embedding", name="all-minilm-l6-v2"), "listwise")


@needs_torch
def test_a_folder_that_is_no_model_names_what_is_missing(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match=r"lacks weights \(\*\.safetensors\), a tokenizer"):
        check_model(Model(backend="transformers", name=str(tmp_path)))
    with pytest.raises(ModelNotFoundError, match="no such folder"):
        check_model(Model(backend="transformers", name=str(tmp_path / "absent")))


@pytest.mark.parametrize("name", [name for name, _ in backend])
def test_every_backend_declares_what_it_gives(name):
    kind = backend.get(name)
    assert kind.gives and set(kind.gives) <= {"labels", "text"}
    assert kind.Options.model_config["extra"] == "forbid"
    assert all(field.description for field in kind.Options.model_fields.values())
    needed = {"http": {"url": "https://host/x", "body": {"t": "{{user}}"}, "score_path": "s"}}
    needed["pydantic_ai"] = {"provider": "anthropic"}
    made = kind(Model(backend=name, name="smollm2-135m-instruct", options=needed.get(name, {})))
    assert made.pack_size >= 1
    made.close()


def test_importing_the_stage_is_light():
    code = (
        "import sys, audit_lib.score as s; s.check_model; from audit_lib.score.backends import backend; list(backend);"
        "from audit_lib.score.requests import elicitation; list(elicitation);"
        "print(sorted({'torch', 'transformers', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.strip() == "[]"


def test_variants_are_asked_family_by_family(tmp_path):
    from audit_lib.score.tasks.pointwise import Pointwise

    run = run_with(tmp_path, personas(3))
    variants = run.stage("variants").read_table("variants.parquet")
    requests = Pointwise(run.spec).requests(variants)
    assert {r.family for r in requests} == {"p00", "p01", "p02"}
    assert all(r.labels == ("No", "Yes") and r.messages[-1].content == "Answer:" for r in requests)
