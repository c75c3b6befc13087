"""What an audit will take, counted before anything is asked."""

from __future__ import annotations

import re

import pytest

from audit_lib.cli.main import main
from audit_lib.score import estimate
from tests.inputs import recorded_audit
from tests.score.cases import messages, run_with, variant

PRICES = {"price_prompt": 2.0, "price_completion": 8.0}


def run_of(folder, count: int = 10, score=None, **options):
    rows = [variant(f"v{i}", messages=messages("x" * 40, "y" * 39)) for i in range(count)]
    model = {"backend": "openai", "name": "m", "options": options}
    return run_with(folder, rows, model=model, score={"shards": 1, **(score or {})})


def test_tokens_by_the_stated_rule_and_money_by_the_prices(tmp_path):
    found = estimate(run_of(tmp_path, **PRICES))
    prompt = (40 // 4 + 4) + (10 + 4) + (2 + 4)  # 40 bytes, 39 bytes, "Answer:"
    assert (found.requests, found.calls) == (10, 10)
    assert (found.usage.prompt, found.usage.completion) == (10 * prompt, 10)
    assert found.cost == pytest.approx((10 * prompt * 2 + 10 * 8) / 1e6)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"max_concurrency": 2}, 5.0),
        ({"max_concurrency": 2, "requests_per_minute": 6}, 100.0),
        ({"tokens_per_minute": 350}, 60.0),
    ],
)
def test_the_wall_clock_is_the_slowest_limit(tmp_path, options, seconds):
    assert estimate(run_of(tmp_path, **options)).seconds == pytest.approx(seconds)


def test_repeats_samples_and_canaries_are_counted(tmp_path):
    run = run_of(
        tmp_path, 4, {"repeats": 3, "canaries": ["a"]}, method="sampled", samples=10, samples_per_call=5
    )
    found = estimate(run)
    assert (found.requests, found.calls) == (13, 26)
    assert found.usage.completion == 13 * 10 * 16
    assert found.cost is None


TOKENS = 10 * ((40 // 4 + 4) + (10 + 4) + (2 + 4) + 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"max_tokens_total": TOKENS - 1},
            rf"max_tokens_total \({TOKENS - 1}\) .*: set it to {TOKENS} or more,",
        ),
        ({"max_cost": 0.0007, **PRICES}, r"max_cost \(0\.0007\) .*: set it to 0\.01 or more,"),
        ({"requests_per_minute": 6, "shard_deadline": 99}, r"shard_deadline \(99 s\) .* 100 s or more"),
        ({"tokens_per_minute": 60, "run_deadline": 99}, r"run_deadline \(99 s\) .* 350 s or more"),
        (
            {"method": "sampled", "samples": 9, "deadline": 8},
            r"deadline \(8 s\) .* 9 calls one after the other",
        ),
    ],
)
def test_a_limit_that_the_estimate_exceeds_is_named(tmp_path, options, said):
    (warning,) = estimate(run_of(tmp_path, **options)).warnings
    assert re.match(rf"model\.options\.{said}", warning)


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens_total": TOKENS},
        {"max_cost": 0.1, **PRICES},
        {"requests_per_minute": 6, "shard_deadline": 101, "run_deadline": 101},
    ],
)
def test_limits_that_hold_the_estimate_are_not_named(tmp_path, options):
    assert estimate(run_of(tmp_path, **options)).warnings == ()


def test_the_largest_shard_decides_since_each_has_an_equal_part(tmp_path):
    rows = [
        variant(f"v{i:02}", messages=messages("x" * 40, "y" * 39)) for i in range(70)
    ]  # packs of 64 and 6
    model = {"backend": "openai", "name": "m", "options": {"max_tokens_total": 70 * 35}}
    (warning,) = estimate(run_with(tmp_path, rows, model=model, score={"shards": 2})).warnings
    assert f"set it to {2 * 64 * 35:,} or more; each shard has an equal part" in warning


def test_a_batch_has_no_wall_clock(tmp_path):
    rows = [variant("v", messages=messages("x"))]
    model = {
        "backend": "openai_batch",
        "name": "m",
        "options": {"max_tokens_total": 1, "shard_deadline": 0.1},
    }
    found = estimate(run_with(tmp_path, rows, model=model, score={"shards": 1}))
    assert found.seconds is None and [w.split(" ")[0] for w in found.warnings] == [
        "model.options.max_tokens_total"
    ]


def test_the_command_prints_it_and_asks_nobody(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "prompt.yaml").write_text("messages:\n- {role: user, content: 'Fit? {{resume}}'}\n")
    options = {"base_url": "http://127.0.0.1:9/v1", "max_tokens_total": 10, **PRICES}
    path = recorded_audit(
        tmp_path,
        n=48,
        model={"backend": "openai", "name": "m", "options": options},
        prompt={"template": "prompt.yaml"},
        source={"fields": ["resume"], "windowed": False},
    )
    assert main(["plan", str(path), "--window", "2026-01-05", "2026-01-12"]) == 0
    printed = capsys.readouterr().out
    assert "requests   48 (48 calls)" in printed and "money      about" in printed
    assert "one token for every 4 bytes" in printed and "wall clock" in printed
    assert "warning    model.options.max_tokens_total (10) may stop the run: set it to" in printed
    assert {entry.name for entry in tmp_path.iterdir()} == {"prompt.yaml", "prompts.jsonl", "small.yaml"}
