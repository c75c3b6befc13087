"""Answers read from texts, after a reply of the model's own, and rankings by a live model."""

from __future__ import annotations

import json

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json, sha256
from audit_lib.errors import BackendError, SpecError
from audit_lib.perturb.template import REPLY
from audit_lib.records import SCORE_SCHEMA, to_parquet
from audit_lib.score import score_shard
from audit_lib.score.backends import backend
from audit_lib.score.reading.labels import read_label
from tests.score.audits import open_audit, up_to, write_audit
from tests.score.fakes import by_hash, fake
from tests.specs import INCLUDE


@pytest.fixture(autouse=True)
def hashing():
    """A backend whose answers follow from the question."""
    return fake("hashing", by_hash)


def scores(run, name="scores.parquet"):
    import pandas as pd

    tables = [run.stage(f"scores/{shard}").read_table(name) for shard in pipeline.shards(run)]
    return pd.concat(tables).sort_values(tables[0].columns[0], ignore_index=True)


def test_the_reply_stands_in_the_question_that_is_scored(tmp_path, hashing):
    run = up_to(open_audit(tmp_path, "pointwise", prompt={"max_tokens": 77}), "scores")
    first, second = hashing.asked[:16], hashing.asked[16:32]
    assert all(r.labels == () and r.sampling.max_tokens == 77 for r in (*first, *second))
    assert [len(r.messages) for r in first] == [2] * 16 and [len(r.messages) for r in second] == [4] * 16
    for asked, then in zip(first, second, strict=True):
        assert then.messages[:2] == asked.messages
        assert then.messages[2].content == by_hash(asked)
    replies, rows = scores(run, "replies.parquet"), scores(run)
    assert len(replies) == len(rows) == 32
    assert replies["text"].str.startswith("A summary, number ").all() and (replies["step"] == 1).all()
    assert rows["text"].str.startswith("Here it is: ").all()
    assert rows["score"].isin([1, 2, 3, 4, 5]).all() and rows["score"].nunique() > 1
    assert rows["label_probabilities"].isna().all() and set(rows["method"]) == {"generated"}
    stored = run.stage("variants").read_table("variants.parquet")["messages"]
    assert stored.str.contains(REPLY, regex=False).all(), "what is archived is the question before any reply"


def test_labels_are_read_by_their_probabilities_after_a_reply(tmp_path, hashing):
    run = up_to(open_audit(tmp_path, "pointwise", prompt={"read": "labels"}), "scores")
    rows = scores(run)
    assert [bool(r.labels) for r in hashing.asked[:32]] == [False] * 16 + [True] * 16
    assert rows["label_probabilities"].map(len).eq(5).all()
    assert rows["score"].between(1, 5).all() and rows["label_mass"].between(0, 1).all()


def test_a_reply_that_failed_is_the_row_s_failure(tmp_path):
    def answer(request):
        said = by_hash(request)
        if isinstance(said, str) and said.startswith("A summary") and said[-3] in "01234567":
            return None if said[-2] in "01234567" else " "
        return said

    fake("hashing", answer)
    run = up_to(open_audit(tmp_path, "pointwise"), "scores")
    rows = scores(run).set_index("variant_id")
    replies = scores(run, "replies.parquet").set_index("request_id")
    failed = replies["status"] == "error"
    empty = replies["text"].fillna("x").str.strip().eq("")
    assert failed.any() and empty.any() and not (failed | empty).all()
    assert set(rows[failed.reindex(rows.index)]["detail"]) == {"step 1: no answer"}
    assert set(rows[failed.reindex(rows.index)]["status"]) == {"error"}
    assert set(rows[empty.reindex(rows.index)]["status"]) == {"unparsed"}
    assert (rows[~(failed | empty).reindex(rows.index)]["status"] == "ok").all()


def test_what_the_model_thinks_in_a_reply_stands_in_no_question(tmp_path):
    def answer(request):
        said = by_hash(request)
        if not said.startswith("A summary"):
            return said
        return "<think>cut off" if said[-3] in "01234567" else f"<think>He is Black.</think>\n{said}"

    part = fake("hashing", answer)
    run = up_to(open_audit(tmp_path, "pointwise"), "scores")
    assert not [r for r in part.asked for m in r.messages if "think" in m.content]
    then = [r.messages[2].content for r in part.asked if len(r.messages) > 2]
    assert then and all(text.startswith("A summary") for text in then)
    replies, rows = (
        scores(run, "replies.parquet").set_index("request_id"),
        scores(run).set_index("variant_id"),
    )
    assert replies["text"].str.startswith("<think>").all(), "the whole text is archived"
    alone = replies["text"].eq("<think>cut off").reindex(rows.index)
    assert alone.any() and not alone.all()
    assert set(rows[alone]["detail"]) == {"step 1: the reply is empty"} and set(rows[~alone]["status"]) == {
        "ok"
    }


def test_what_the_model_or_an_applicant_writes_is_no_step(tmp_path):
    part = fake("hashing", lambda r: by_hash(r) if len(r.messages) > 2 else REPLY)
    run = up_to(open_audit(tmp_path / "model", "pointwise"), "scores")
    assert set(scores(run, "replies.parquet")["text"]) == {REPLY}
    assert len(part.asked) == 2 * len(scores(run))
    template = tmp_path / "t.yaml"
    turns = [
        ("user", "Judge this: {{resume}}"),
        ("assistant", "{{job_description}}"),
        ("user", "JSON object?"),
    ]
    template.write_text(json.dumps({"messages": [{"role": r, "content": c} for r, c in turns]}))
    resumes = tmp_path / "resumes.jsonl"
    first = json.loads((INCLUDE / "demo" / "resumes.jsonl").read_text(encoding="utf-8").splitlines()[0])
    resumes.write_text(json.dumps({**first, "job_description": "{{open_braces}}reply}}"}))
    part = fake("hashing", by_hash)
    run = open_audit(
        tmp_path / "applicant",
        "pointwise",
        prompt={"template": str(template)},
        source={"paths": [str(resumes)]},
        sample={"size": 1},
    )
    run = up_to(run, "scores")
    assert part.asked and all(len(r.messages) == 3 and r.messages[1].content == REPLY for r in part.asked)
    assert "replies.parquet" not in run.stage("scores/0").success().artefacts


def test_steps_are_whole_audits_whose_evidence_verifies_and_shards_change_nothing(tmp_path):
    metrics = []
    for shards in (1, 3):
        run = open_audit(tmp_path / str(shards), "pointwise", score={"shards": shards})
        pipeline.run_all(run)
        metrics.append(run.stage("metrics").read("metrics.json"))
        verified = verify(run.uri)
        assert verified.ok, verified.summary()
    assert metrics[0] == metrics[1]


def test_a_lost_reply_is_an_error(tmp_path, hashing, monkeypatch):
    whole = hashing.score
    monkeypatch.setattr(hashing, "score", lambda self, packs: list(whole(self, packs))[1:])
    run = up_to(open_audit(tmp_path, "pointwise"), "variants")
    with pytest.raises(BackendError, match="gave no answer"):
        score_shard(run, 0)


def test_a_live_ranking_has_an_order_by_seed_and_is_read_by_names(tmp_path, hashing):
    run = up_to(open_audit(tmp_path, "listwise"), "metrics")
    variants, rows = run.stage("variants").read_table("variants.parquet"), scores(run)
    both = rows.merge(variants, on="variant_id")
    for _, pool in both.groupby("round_id"):
        assert sorted(pool["order_shown"]) == list(range(1, 9))
        listed = pool["text"].iloc[0].splitlines()
        assert pool.sort_values("score", ascending=False)["candidate"].tolist() == listed
        shown = pool.sort_values("order_shown")["candidate"].tolist()
        places = [
            pool["messages"].iloc[0].index(f"Applicant {i}: {name}") for i, name in enumerate(shown, start=1)
        ]
        assert places == sorted(places)
    orders = both.groupby("round_id")["order_shown"].apply(tuple)
    assert orders.nunique() > 1, "each pool has an order of its own"
    other = up_to(open_audit(tmp_path / "other", "listwise", seed=1), "variants")
    again = up_to(open_audit(tmp_path / "again", "listwise"), "variants")
    name = "variants.parquet"
    assert again.stage("variants").read(name) == run.stage("variants").read(name)
    assert other.stage("variants").read(name) != run.stage("variants").read(name)


def test_names_that_a_live_ranking_leaves_out_are_unranked(tmp_path):
    fake("hashing", lambda request: "\n".join(by_hash(request).splitlines()[1:]))
    rows = scores(up_to(open_audit(tmp_path, "listwise"), "scores"))
    assert rows["status"].value_counts().to_dict() == {"ok": 28, "unranked": 4}
    assert set(rows[rows["status"] == "unranked"]["score"]) == {1.0}


@pytest.mark.parametrize(
    ("task", "sections", "message"),
    [
        (
            "pairwise",
            {"decision": {"rule": "above_median", "k": None, "round": None}},
            "say who they are in decision.round",
        ),
        ("pairwise", {"model": {"backend": "recorded"}}, "task pairwise asks a live model"),
        ("pairwise", {"prompt": {"template": "resume_screening.yaml"}}, "no slot such as {{first.resume}}"),
        (
            "pairwise",
            {"prompt": {"labels": ["A", "B"]}},
            "prompt.labels is for task pointwise and would be ignored",
        ),
        ("listwise", {"prompt": {"template": "resume_screening.yaml"}}, "needs the slot {{candidates}}"),
        ("listwise", {"prompt": {"tie": "Both"}}, "prompt.tie is for task pairwise and would be ignored"),
        ("pointwise", {"prompt": {"read": "json"}}, "prompt.read"),
        (
            "pointwise",
            {"model": {"backend": "recorded"}, "perturb": None, "decision": {"k": 1, "round": "round_id"}},
            "{{reply}} asks a live model",
        ),
        (
            "pointwise",
            {"measure": {"metrics": ["pairwise_win_gap"]}},
            "computed from answers about pairs of candidates",
        ),
    ],
)
def test_specs_that_cannot_be_asked(tmp_path, task, sections, message):
    with pytest.raises(SpecError) as caught:
        open_audit(tmp_path, task, **sections)
    assert message in str(caught.value)


def test_a_backend_without_texts_is_refused_before_anything_is_asked(tmp_path, hashing, monkeypatch):
    monkeypatch.setattr(hashing, "gives", ("labels",))
    for prompt in ({}, {"read": "labels"}):  # a text is read; a reply is asked for
        with pytest.raises(SpecError, match="asks for text"):
            open_audit(tmp_path, "pointwise", prompt=prompt)
    assert backend.get("hashing").asked == []


def test_a_template_that_ends_in_a_reply_is_refused(tmp_path):
    template = tmp_path / "t.yaml"
    template.write_text(
        "messages:\n- {role: user, content: 'Sum up {{resume}}'}\n- {role: assistant, content: '{{reply}}'}\n"
    )
    with pytest.raises(SpecError, match="leave that turn out"):
        open_audit(tmp_path, "pointwise", prompt={"template": str(template)})


def test_the_first_word_is_a_label_whichever_way_it_is_written():
    assert [read_label(t, ["Keisha", "Ann"]) for t in ("Keisha, by far", "**ann**", "Keisha Jones")] == [
        0,
        1,
        None,
    ]


def test_the_spec_is_checked_by_the_command(tmp_path, capsys):
    from audit_lib.cli.main import main

    for task in ("pairwise", "listwise", "pointwise"):
        assert main(["validate", str(write_audit(tmp_path / task, task))]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("task", "prompt"), [("pointwise", {}), ("pointwise", {"read": "labels"}), ("listwise", {})]
)
def test_a_score_that_does_not_follow_from_its_answer_is_found(tmp_path, task, prompt):
    run = up_to(open_audit(tmp_path, task, prompt=prompt), "scores")
    folder = run.stage("scores/0")
    table = folder.read_table("scores.parquet")
    table.loc[0, "score"] = 3.0 if table.loc[0, "score"] != 3.0 else 2.0
    forged = to_parquet(table, SCORE_SCHEMA, ["variant_id", "repeat"])
    path = tmp_path / "store" / folder.prefix
    record = json.loads((path / "_SUCCESS").read_text())
    record["artefacts"]["scores.parquet"] = {"sha256": sha256(forged), "bytes": len(forged)}
    (path / "_SUCCESS").write_bytes(pretty_json(record))
    (path / "scores.parquet").write_bytes(forged)
    up_to(run, "evidence")
    findings = [str(finding) for finding in verify(run.uri).findings]
    assert findings == ["scores/0/scores.parquet: column score, row 0: another number [recomputation]"]
