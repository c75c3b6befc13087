"""What an audit will take, counted before anything is asked."""

from __future__ import annotations

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


def test_the_command_prints_it_and_asks_nobody(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "prompt.yaml").write_text("messages:\n- {role: user, content: 'Fit? {{resume}}'}\n")
    options = {"base_url": "http://127.0.0.1:9/v1", **PRICES}
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
    assert {entry.name for entry in tmp_path.iterdir()} == {"prompt.yaml", "prompts.jsonl", "small.yaml"}
