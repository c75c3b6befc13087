"""Models that think before they answer, behind servers in the shapes of providers (`tests.score.chat_shapes`)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.archive.verify import verify
from audit_lib.errors import BackendError, SpecError
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard
from audit_lib.spec import Model
from tests.score.audits import open_audit, up_to
from tests.score.cases import messages, run_with, variant
from tests.score.chat_shapes import VLLM, MistralChat, OSeries, ThinkingServer, serving
from tests.score.conftest import SECRET
from tests.score.loopback import completion, loopback

pytest.importorskip("openai", reason="openai is not installed")

SHAPES = {"o-series": OSeries, "mistral": MistralChat, "vllm": VLLM}


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ThinkingServer]]:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    with ExitStack() as servers:
        yield lambda kind: servers.enter_context(serving(kind()))


def section(server: ThinkingServer, **options: Any) -> dict[str, Any]:
    given = {
        "api_key_env": "TEST_API_KEY",
        "base_url": server.url,
        "retries": 1,
        "timeout": 5.0,
        "method": "sampled",
    }
    return {"backend": "openai", "name": "model-1", "served": "any", "options": given | options}


def scored(folder: Path, server: ThinkingServer, count: int = 12, **options: Any) -> tuple[pd.DataFrame, Any]:
    rows = [variant(f"w{i:02}", messages=messages(f"w{i:02} asks")) for i in range(count)]
    run = run_with(folder, rows, model=section(server, **options), score={"shards": 1})
    output = score_shard(run, 0)
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id"), output


@pytest.mark.parametrize("shape", SHAPES)
def test_labels_are_read_of_a_model_that_thinks(tmp_path, serve, shape):
    server = serve(SHAPES[shape])
    scores, output = scored(tmp_path, server, samples=5, thinking_tokens=400)
    assert scores.status.eq("ok").all() and scores.label_mass.eq(1.0).all()
    assert scores.score.nunique() > 2 and scores.method.eq("sampled").all()
    found = json.loads(output.artefacts["capabilities.json"])
    assert found["capabilities"]["thinks"] is True and found["capabilities"]["structured"] is True
    assert found["capabilities"]["token_limit"] == (
        "max_tokens" if shape == "mistral" else "max_completion_tokens"
    )
    assert found["capabilities"]["temperature"] is (shape != "o-series")
    assert found["capabilities"]["seed"] is (shape != "mistral")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structured", ["auto", "never"])
@pytest.mark.parametrize("task", ["pairwise", "listwise"])
def test_pairs_and_lists_are_readable(tmp_path, serve, shape, structured, task):
    server = serve(SHAPES[shape])
    options = {"samples": 1, "thinking_tokens": 400, "structured": structured, "max_tokens": 100}
    run = open_audit(
        tmp_path,
        task,
        model=section(server, **options),
        sample={"size": 1, "strata": []},
        score={"shards": 1},
    )
    up_to(run, "scores")
    name = "pairs.parquet" if task == "pairwise" else "scores.parquet"
    table = from_parquet(run.stage("scores/0").read(name))
    read = table["answer"].ne("unparsed") if task == "pairwise" else table["status"].eq("ok")
    assert len(table) >= 8 and read.mean() >= 0.99


@pytest.mark.slow  # a whole audit, verified
def test_a_whole_audit_of_a_model_that_thinks_is_verified(tmp_path, serve):
    server = serve(OSeries)
    model = section(server, samples=1, thinking_tokens=400, max_tokens=100) | {"valid_judge": True}
    run = open_audit(tmp_path, "listwise", model=model, score={"shards": 1, "repeats": 2})
    up_to(run, "evidence")
    verification = verify(run.uri)
    assert verification.ok, verification.summary()
    assert run.stage("scores/0").read_json("capabilities.json")["capabilities"]["thinks"] is True
    spread = from_parquet(run.stage("scores/0").read("sampling_error.parquet"))
    assert len(spread) == 32 and spread.draws.eq(2).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_that_thinks_without_a_budget_is_refused_before_a_row_is_paid(tmp_path, serve, shape):
    server = serve(SHAPES[shape])
    with pytest.raises(
        BackendError, match=r"model\.options\.thinking_tokens: model-1 thinks .* give a number"
    ):
        scored(tmp_path, server, probe=True)
    assert not [body for body in server.bodies if "asks" in json.dumps(body)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_budget_that_no_thought_fits_in_is_refused_before_a_row_is_paid(tmp_path, serve, shape):
    server = serve(SHAPES[shape])
    with pytest.raises(
        BackendError, match=r"thinking_tokens: model-1 came to no answer .*within 34 tokens.*give more"
    ):
        scored(tmp_path, server, thinking_tokens=2)
    assert not [body for body in server.bodies if "asks" in json.dumps(body)]


@pytest.mark.parametrize("shape", ["o-series", "vllm"])
def test_without_a_probe_the_first_empty_answer_says_it(tmp_path, serve, shape):
    server = serve(SHAPES[shape])
    with pytest.raises(BackendError, match=r"thinking_tokens: model-1 thought.* and came to no answer"):
        scored(tmp_path, server, count=60, samples=1, max_concurrency=2)
    assert server.asked.total() < 60


def test_log_probabilities_of_a_model_that_thinks_are_refused(tmp_path, serve):
    with pytest.raises(SpecError, match="method: logprobs cannot read it; use method: sampled"):
        check_model(Model(backend="openai", name="m", options={"method": "logprobs", "thinking_tokens": 100}))
    server = serve(OSeries)
    with pytest.raises(
        BackendError, match=r"gives no log-probabilities .*'logprobs' is not supported.*method: sampled"
    ):
        scored(tmp_path, server, probe=True, method="logprobs", thinking_tokens=0)
    assert not [body for body in server.bodies if "asks" in json.dumps(body)]


def test_a_field_that_is_refused_is_found_out_without_being_told_to(tmp_path, serve):
    """Mistral takes no ``max_completion_tokens``: what it refused cost nothing, and is asked again as it is taken."""
    server = serve(MistralChat)
    server.thinks = False
    scores, output = scored(tmp_path, server, samples=2)
    assert scores.status.eq("ok").all()
    found = json.loads(output.artefacts["capabilities.json"])
    assert found["adapted"][0] == "the limit of tokens is sent as max_tokens"
    assert found["capabilities"]["refusals"]["max_completion_tokens"].endswith(
        "max_completion_tokens: Extra inputs are not permitted"
    )


def test_the_spec_may_name_the_field_of_the_limit(tmp_path, serve):
    server = serve(MistralChat)
    server.thinks = False
    scores, output = scored(tmp_path, server, samples=2, token_limit="max_tokens", probe=False)
    assert scores.status.eq("ok").all() and "capabilities.json" not in output.artefacts
    assert all("max_completion_tokens" not in body for body in server.bodies)


@pytest.mark.parametrize("shape", SHAPES)
def test_spending_never_passes_the_cap(tmp_path, serve, shape):
    server = serve(SHAPES[shape])
    cap = 20_000
    with pytest.raises(BackendError, match="the budget is used up"):
        scored(tmp_path, server, count=60, samples=3, thinking_tokens=300, max_tokens_total=cap)
    rows = [body for body in server.bodies if "asks" in json.dumps(body)]
    assert server.generated <= cap and len(rows) > 5


def test_thinking_is_counted_and_priced(tmp_path, serve):
    server = serve(OSeries)
    prices = {"price_prompt": 0.0, "price_completion": 1_000_000.0}
    _, output = scored(tmp_path, server, samples=1, thinking_tokens=300, **prices)
    lines = [json.loads(line) for path in (tmp_path / "store").rglob("*.jsonl") for line in path.open()]
    kept = [line["record"]["response"] for line in lines]
    counted = json.loads(output.artefacts["usage.json"])
    assert counted["thinking_tokens"] == sum(answer["thinking_tokens"] for answer in kept)
    assert len(kept) == 12 and all(20 <= answer["thinking_tokens"] < 220 for answer in kept)
    assert all(answer["completion_tokens"] > answer["thinking_tokens"] for answer in kept)


def test_the_tokens_of_earlier_steps_are_counted(tmp_path, serve):
    """Of a template with a reply, both answers are paid for; the server's own counts say it."""
    server = serve(OSeries)
    model = section(server, samples=1, thinking_tokens=400, max_tokens=100) | {"valid_judge": False}
    run = up_to(open_audit(tmp_path, "pointwise", model=model, score={"shards": 1}), "scores")
    asked = run.stage("scores/0").read_table("replies.parquet")
    counted = run.stage("scores/0").read_json("usage.json")
    probed = run.stage("scores/0").read_json("capabilities.json")["capabilities"]
    assert len(asked) == 32 and len(server.bodies) == 64 + probed["calls"]
    assert counted["completion_tokens"] == server.generated - probed["completion_tokens"]


def test_a_sampled_score_has_its_own_uncertainty(tmp_path, serve):
    """Against the spread of the answers themselves, one by one."""
    scores, output = scored(tmp_path, serve(OSeries), samples=8, thinking_tokens=300)
    spread = from_parquet(output.artefacts["sampling_error.parquet"]).set_index("variant_id")
    assert list(spread.index) == list(scores.index) and spread.draws.eq(8).all()
    for name, row in spread.iterrows():
        yes = round(scores.score[name] * 8)
        answers = [1.0] * yes + [0.0] * (8 - yes)
        assert row.sampling_standard_error == pytest.approx(statistics.stdev(answers) / 8**0.5)
    assert spread.sampling_standard_error.max() > 0.1


TOOLS = {"tools": [{"type": "function", "function": {"name": "judge", "parameters": {"type": "object"}}}]}


def calling(*calls: tuple[str, str]) -> dict[str, Any]:
    """Return a message that answers by calls of tools: names and arguments."""
    listed = [
        {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


CALLS = {
    "yes": (calling(("judge", '{"result": {"fit": "Yes"}}')), "ok"),
    "other": (calling(("search", "{}"), ("judge", '{"result": {"fit": "No"}}')), "ok"),
    "twice": (
        calling(("judge", '{"result": {"fit": "No"}}'), ("judge", '{"result": {"fit": "Yes"}}')),
        "unparsed",
    ),
    "elsewhere": (calling(("judge", '{"fit": "Yes"}')), "unparsed"),
    "none": ({"role": "assistant", "content": "Yes"}, "unparsed"),
    "broken": (calling(("judge", '{"result": {"fit": "Ye')), "unparsed"),
    "repeated": (calling(("judge", '{"result": {"fit": "No", "fit": "Yes"}}')), "unparsed"),
}


def test_an_answer_by_a_call_of_a_tool_is_read_by_name_and_path(tmp_path, monkeypatch):
    """As https://platform.openai.com/docs/guides/function-calling says of `tool_calls`."""
    monkeypatch.setenv("TEST_API_KEY", SECRET)

    def behave(word: str, time: int) -> Any:
        return completion(None, message=CALLS[word][0], finish_reason="tool_calls")

    with loopback(behave) as server:
        options = {"samples": 1, "extra_body": TOOLS, "tool": "judge", "tool_path": "result.fit"}
        rows = [variant(word, messages=messages(f"{word} asks")) for word in CALLS]
        model = section(server, **options)
        output = score_shard(run_with(tmp_path, rows, model=model, score={"shards": 1}), 0)
    scores = from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id")
    assert scores.status.to_dict() == {word: status for word, (_, status) in CALLS.items()}
    assert (scores.score["yes"], scores.score["other"]) == (1.0, 0.0)
    assert all(body["tools"] == TOOLS["tools"] for body in server.bodies)


def test_a_tool_that_is_not_offered_is_refused():
    with pytest.raises(SpecError, match="tool: judge is offered to nobody"):
        check_model(Model(backend="openai", name="m", options={"tool": "judge", "method": "sampled"}))


def test_one_answer_has_no_spread(tmp_path, serve):
    _, output = scored(tmp_path, serve(OSeries), samples=1, thinking_tokens=300)
    assert "sampling_error.parquet" not in output.artefacts


def test_what_a_model_can_do_is_found_out_once(tmp_path, serve):
    server = serve(OSeries)
    rows = [variant(f"w{i:03}", prompt_id=f"p{i:03}", messages=messages(f"w{i:03} asks")) for i in range(130)]
    run = run_with(tmp_path, rows, model=section(server, samples=1, thinking_tokens=300), score={"shards": 2})
    outputs = [score_shard(run, shard) for shard in (0, 1)]
    probes = [body for body in server.bodies if "asks" not in json.dumps(body)]
    found = [json.loads(output.artefacts["capabilities.json"]) for output in outputs]
    assert found[0] == found[1] and found[0]["capabilities"]["calls"] == len(probes)
    assert "no temperature is sent" in " ".join(found[0]["adapted"])


def test_a_temperature_that_the_spec_asks_for_and_the_model_does_not_take_is_refused(tmp_path, serve):
    with pytest.raises(BackendError, match=r"model\.options\.temperature: model-1 does not take it"):
        scored(tmp_path, serve(OSeries), thinking_tokens=300, temperature=0.3)


def test_finding_out_keeps_to_the_rate(tmp_path, serve):
    server = serve(OSeries)
    scored(tmp_path, server, count=1, samples=1, thinking_tokens=300, requests_per_minute=240)
    assert (
        server.times[-1] - server.times[0] >= (len(server.times) - 5) / 4
    )  # four a second, and four at once


def test_a_budget_that_does_not_hold_the_probe_is_said_before_it(tmp_path, serve):
    server = serve(OSeries)
    with pytest.raises(BackendError, match="does not hold the"):
        scored(tmp_path, server, thinking_tokens=300, max_tokens_total=500)
    assert not server.bodies
