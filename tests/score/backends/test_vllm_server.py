"""A vLLM server asked in token ids: what is computed and sent, what is recorded, and the guide's examples."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib.errors import BackendError, ModelNotFoundError, SpecError
from audit_lib.records import from_parquet
from audit_lib.score import check_model, estimate, score_shard
from audit_lib.score.backends.vllm import Vllm
from audit_lib.score.backends.vllm_server import VllmServer
from audit_lib.score.local.noise_floor import bounds
from audit_lib.score.remote.vllm_calls import estimated
from audit_lib.score.requests import Sampling
from audit_lib.spec import Model
from tests.installed import needs_torch
from tests.score.cases import messages, run_with, variant
from tests.score.conftest import SECRET
from tests.score.vllm_cases import FAST, asked_of, model_of, request, scored
from tests.score.vllm_shape import TokenServer
from tests.specs import REPOSITORY

pytestmark = needs_torch
pytest.importorskip("httpx2", reason="httpx2 is not installed")


def by_hand(vllm: TokenServer, text: str, label: str) -> float:
    """Return the probability that an answer begins with a label, at once or after a space."""
    total = 0.0
    for written in (label, f" {label}"):
        before = vllm.tokenizer.encode(text, add_special_tokens=False)
        tokens = vllm.tokenizer.encode(text + written, add_special_tokens=False)
        steps = range(len(before), len(tokens))
        total += math.exp(sum(float(vllm.logs(tokens[:at])[tokens[at]]) for at in steps))
    return total


def test_labels_of_several_tokens_are_the_model_s_own_probabilities(
    vllm: TokenServer, tiny_model: Path
) -> None:
    labels = ("Maybe not", "Yes", "1", "12")
    (found,) = asked_of(vllm, tiny_model, [request(7, labels)])
    text = "<|im_start|>user\napplicant 7<|im_end|>\n<|im_start|>assistant\nAnswer:"
    begins = [by_hand(vllm, text, label) for label in labels]
    wanted = [begins[0], begins[1], begins[2] - begins[3], begins[3]]
    assert found.status == "ok" and found.method == "logits"
    assert found.label_probabilities == pytest.approx(wanted, abs=1e-6)
    assert all("messages" not in body and isinstance(body["prompt"][0], int) for body in vllm.bodies)
    sent = [tuple(body["prompt"]) for body in vllm.bodies]
    assert len(sent) == len(set(sent)) > 2, "a look at what follows each beginning, and no more"
    assert found.prompt_tokens == sum(map(len, sent)) and found.completion_tokens == len(sent)


def test_more_tokens_than_a_server_shows_at_a_time_are_asked_for_in_parts(
    vllm: TokenServer, tiny_model: Path
) -> None:
    labels = tuple("abcdefghijklmnopqrstuvw")
    (found,) = asked_of(vllm, tiny_model, [request(1, labels)])
    assert found.status == "ok" and len(found.label_probabilities or ()) == 23
    assert max(len(body["logprob_token_ids"]) for body in vllm.bodies) == 20 and len(vllm.bodies) >= 2


def test_an_estimate_counts_the_calls_that_are_made(vllm: TokenServer, tiny_model: Path) -> None:
    asked = [request(1, ("Maybe not", "Yes")), request(2, tuple("abcdefghijklmnopqrstuvw"))]
    backend = VllmServer(Model(**model_of(vllm, tiny_model)))
    try:
        assert [backend.estimate(one)[0] for one in asked] == [1, 1]
        backend.load_for_estimate()
        counted = [backend.estimate(one)[0] for one in asked]
        assert not vllm.bodies and not vllm.asked, "nobody is asked for it"
        made = []
        for one in asked:
            backend.describe()
            vllm.bodies.clear()
            list(backend.score([(one,)]))
            made.append(len(vllm.bodies))
        assert counted == made and min(made) > 1
        prompts = backend.estimate(asked[0])[1].prompt
        assert prompts == made[0] * estimated(asked[0], 1)[1].prompt
    finally:
        backend.close()


def test_a_plan_counts_the_calls_of_labels_by_the_tokenizer(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    rows = [variant(word, messages=messages(f"{word} asks")) for word in ("w1", "w2")]
    run = run_with(tmp_path, rows, model=model_of(vllm, tiny_model), score={"shards": 1})
    assert estimate(run).calls == estimate(run).requests == 2
    planned = estimate(run, load=True).calls
    assert not vllm.bodies
    score_shard(run, 0)
    assert planned == len(vllm.bodies) - 2, "without the check of the server"


def test_labels_that_are_the_same_tokens_are_refused_before_anything_is_asked(
    vllm: TokenServer, tiny_model: Path
) -> None:
    backend = VllmServer(Model(**model_of(vllm, tiny_model)))
    try:
        with pytest.raises(BackendError, match="are the same tokens to this model's tokenizer"):
            backend.check_labels(["Yes", " Yes"])
        with pytest.raises(BackendError, match="are the same tokens"):
            backend.find_out([request(1, ("Yes", " Yes"))])
        backend.find_out([request(1, ("Yes", "No"))])
    finally:
        backend.close()


def test_a_text_is_written_without_the_server_s_own_defaults(vllm: TokenServer, tiny_model: Path) -> None:
    how = Sampling(max_tokens=5, temperature=0.5, seed=2**62)
    first, second = asked_of(vllm, tiny_model, [request(1, sampling=how), request(2, sampling=how)])
    assert first.method == "generated" and first.completion_tokens <= 5
    assert {first.status, second.status} <= {"ok", "unparsed"}
    for body in vllm.bodies:
        assert body["top_k"] == -1 and body["top_p"] == 1.0 and body["repetition_penalty"] == 1.0
        assert body["stop_token_ids"] and 0 <= body["seed"] < 2**63
    assert len({body["seed"] for body in vllm.bodies}) == 2, "each text has draws of its own"


@pytest.mark.slow  # starts processes that import torch
def test_a_shard_is_scored_and_held_against_the_model_s_own_attention(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    scores, output = scored(tmp_path, vllm, tiny_model, ["w1", "w2", "w3"], floor="transformers")
    assert scores.status.eq("ok").all() and scores.method.eq("logits").all() and scores.score.nunique() == 3
    plan = json.loads(output.artefacts["plan.json"])
    assert plan["noise_floor"]["requests"] >= 2 and plan["noise_floor"]["largest_difference"] < 1e-5
    model = json.loads(output.artefacts["model.json"])
    assert model["server"] == {"version": "0.32.0", "longest": 512} and model["tokenizer_sha256"]
    assert "weights_sha256" not in model and "max_concurrency" in model["client"]
    assert model["dtype"] == "float32", "what the floor's bound follows from"


@pytest.mark.slow  # starts processes that import torch
def test_a_fault_of_the_server_shows_in_the_floor(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    def warmer(body: dict[str, Any], asked: int, answer: Any) -> Any:
        top = answer["choices"][0]["logprobs"]["top_logprobs"][0]
        top.update({token: value - 0.5 for token, value in top.items()})
        return answer

    vllm.breaks = warmer
    _, output = scored(tmp_path, vllm, tiny_model, ["w1", "w2"], floor="transformers")
    floor = json.loads(output.artefacts["plan.json"])["noise_floor"]
    assert floor["largest_difference"] > 1e-5, "above what float32 may differ"


def test_without_a_reference_the_record_says_so(tmp_path: Path, vllm: TokenServer, tiny_model: Path) -> None:
    _, output = scored(tmp_path, vllm, tiny_model, ["w1"])
    floor = json.loads(output.artefacts["plan.json"])["noise_floor"]
    assert bounds(json.loads(output.artefacts["model.json"]))[0] == 1e-5, (
        "float32's, not that of an unknown type"
    )
    assert floor["requests"] == 0 and floor["largest_difference"] is None and "none" in floor["against"]


def test_the_key_is_sent_and_never_kept(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    vllm.key = SECRET
    scores, output = scored(tmp_path, vllm, tiny_model, ["w1"], api_key_env="TEST_API_KEY")
    assert scores.status.eq("ok").all()
    kept = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert SECRET.encode() not in b"".join(kept) and SECRET not in repr(output)
    monkeypatch.setenv("TEST_API_KEY", "another-key")
    (again := tmp_path / "again").mkdir()
    with pytest.raises(BackendError, match="HTTP 401, the key is refused; look at model.options.api_key_env"):
        scored(again, vllm, tiny_model, ["w1"], api_key_env="TEST_API_KEY")


def test_a_prompt_that_is_too_long_is_a_row(tmp_path: Path, vllm: TokenServer, tiny_model: Path) -> None:
    scores, _ = scored(tmp_path, vllm, tiny_model, ["w1", "w2 " + "many words " * 60])
    assert scores.status.to_list() == ["ok", "error"]
    assert "the model takes 511" in scores.detail.iloc[1]


def test_what_fails_for_a_while_is_asked_again_and_what_was_answered_is_kept(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    vllm.breaks = lambda body, asked, answer: (503, {}, b"{}")
    with pytest.raises(BackendError, match="HTTP 503; try again when the server is ready"):
        scored(tmp_path, vllm, tiny_model, ["w1", "w2"], retries=2)
    vllm.bodies.clear()
    vllm.breaks = lambda body, asked, answer: (
        (503, {"Retry-After": "0.01"}, b"{}") if asked == 1 and len(vllm.bodies) > 2 else answer
    )
    scores, _ = scored(tmp_path, vllm, tiny_model, ["w1", "w2"], retries=2)
    assert scores.status.eq("ok").all() and scores.attempts.eq(2).all()
    before = len(vllm.bodies)
    again, output = scored(tmp_path, vllm, tiny_model, ["w1", "w2"], retries=2)
    assert again.equals(scores) and output.counts["from_ledger"] == 2
    assert len(vllm.bodies) - before == 2, "the check of the server alone"


def test_a_budget_stops_the_shard_before_it_is_exceeded(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path
) -> None:
    words = [f"w{i:02}" for i in range(30)]
    with pytest.raises(BackendError, match="budget is used up"):
        scored(tmp_path, vllm, tiny_model, words, max_tokens_total=2000, max_concurrency=2)
    spent = sum(len(body["prompt"]) + 1 for body in vllm.bodies[2:])
    assert 1000 < spent <= 2000


def test_a_tokenizer_that_is_nowhere_is_refused_when_the_spec_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"say in model\.options\.tokenizer"):
        check_model(Model(backend="vllm_server", name="judge"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelNotFoundError, match=r"lacks config\.json, a tokenizer"):
        check_model(
            Model(backend="vllm_server", name="judge", options={"tokenizer": str(tmp_path / "empty")})
        )
    with pytest.raises(SpecError, match=r"did you mean 'tokenizer'"):
        check_model(Model(backend="vllm_server", name="judge", options={"tokeniser": "x/y"}))


@pytest.mark.slow  # starts processes that import torch
def test_weights_are_not_needed_here(
    vllm: TokenServer, tiny_model: Path, tmp_path: Path, own_process: None
) -> None:
    for file in tiny_model.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (found,) = asked_of(vllm, tmp_path, [request(1, ("No", "Yes"))])
    assert found.status == "ok"


def guide() -> list[dict[str, Any]]:
    """Return the specs' sections of the guide's part on vLLM."""
    text = (REPOSITORY / "docs" / "howto" / "backends.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"\n## vLLM\n.*?\n(?=## )", text, re.S)
    return [yaml.safe_load(block)["model"] for block in re.findall(r"```yaml\n(.*?)```", part, re.S)]


def test_the_guide_s_example_asks_a_server(
    tmp_path: Path, vllm: TokenServer, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (model,) = (one for one in guide() if one["backend"] == "vllm_server")
    monkeypatch.setenv(model["options"]["api_key_env"], SECRET)
    vllm.key, vllm.name = SECRET, model["name"]
    (place := tmp_path / model["options"]["tokenizer"]).parent.mkdir()
    place.symlink_to(tiny_model)
    model["options"] |= {"base_url": vllm.url} | FAST
    run = run_with(tmp_path, [variant("w1", messages=messages("w1 asks"))], model=model, score={"shards": 1})
    assert from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).status.eq("ok").all()


def test_the_guide_s_options_of_the_engine_are_options() -> None:
    found = [one for one in guide() if one["backend"] == "vllm"]
    assert len(found) == 2
    for one in found:
        assert Vllm(Model(**one)).options.floor in ("transformers", "none")
