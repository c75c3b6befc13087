"""The uncertainty that sampled scores have by themselves: on the page, by group, and made again by verification."""

from __future__ import annotations

import json
import math
import shutil
import statistics
from collections import defaultdict
from html import unescape
from pathlib import Path

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import sha256
from audit_lib.records import SAMPLING_ERROR_SCHEMA, SCORE_SCHEMA, from_parquet, to_parquet
from audit_lib.run import Run
from audit_lib.score.request_rows import records
from tests.archive.cases import reseal
from tests.score.audits import open_audit, up_to
from tests.score.conftest import SECRET
from tests.score.loopback import completion, loopback

pytest.importorskip("openai", reason="openai is not installed")

LABELS = ["1", "2", "3", "4", "5"]
SAMPLES = 6
FILE = "sampling_error.parquet"


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, list[int]]]:
    """An archived audit whose scores were sampled, and what was answered to each prompt."""
    said: dict[str, list[int]] = defaultdict(list)

    def behave(word: str, time: int):
        prompt = "\n".join(turn["content"] for turn in server.bodies[-1]["messages"])
        with server.lock:
            label = 1 + int(sha256(f"{prompt}{len(said[prompt])}".encode()), 16) % 5
            said[prompt].append(label)
        return completion(None, str(label))

    with pytest.MonkeyPatch.context() as patched, loopback(behave) as server:
        patched.setenv("TEST_API_KEY", SECRET)
        options = {"base_url": server.url, "api_key_env": "TEST_API_KEY", "max_concurrency": 1}
        options |= {"method": "sampled", "samples": SAMPLES}
        run = open_audit(
            tmp_path_factory.mktemp("sampled"),
            "pointwise",
            model={
                "backend": "openai",
                "name": "m",
                "served": "any",
                "options": options,
                "valid_judge": True,
            },
            prompt={"read": "labels", "labels": LABELS, "relevance": [1, 2, 3, 4, 5]},
            report={"tool": "Scores.", "languages": ["es"]},
        )
        up_to(run, "evidence")
    return run, said


def test_metrics_hold_the_uncertainty_by_group(sampled):
    """Against the answers themselves, as the server gave them."""
    run, said = sampled
    found = run.stage("metrics").read_json("metrics.json")["sampling_errors"]
    variants = from_parquet(run.stage("variants").read("variants.parquet"))
    squares = defaultdict(list)
    for _, row in variants.iterrows():
        (answers,) = [a for prompt, a in said.items() if _shown(row["messages"], prompt)]
        assert len(answers) == SAMPLES
        group = tuple(row[axis] for axis in sorted(run.spec.groups.axes))
        squares[group].append(statistics.variance(answers) / SAMPLES)
    assert len(found) == len(squares) == 8
    for one in found:
        own = squares[tuple(one["group"][axis] for axis in sorted(one["group"]))]
        assert (one["n"], one["without"], one["answers"]) == (len(own), 0, len(own) * SAMPLES)
        assert one["of_score"] == pytest.approx(math.sqrt(statistics.fmean(own)))
        assert one["of_mean"] == pytest.approx(math.sqrt(sum(own)) / len(own))


def test_the_page_shows_it_in_both_languages(sampled):
    run, _ = sampled
    found = run.stage("metrics").read_json("metrics.json")["sampling_errors"]
    gap = math.hypot(*sorted(one["of_mean"] for one in found)[-2:])
    for name, title, meaning in (
        ("report.html", "Sampling error by group", "the gap between the means of two of these groups"),
        (
            "report.es.html",
            "Error de muestreo por grupo",
            "la diferencia entre las medias de dos de estos grupos",
        ),
    ):
        page = unescape(run.stage("report").read(name).decode())
        assert title in page and meaning in page and f"{gap:.4f}" in page
        assert all(f"{one['of_score']:.4f}" in page for one in found)


@pytest.mark.parametrize("what", ["changed", "away", "added"])
def test_verification_makes_it_again(sampled, tmp_path, what):
    run, _ = sampled
    assert verify(run.uri).findings == ()
    there = Path(run.uri.removeprefix("file://"))
    copy = tmp_path / there.relative_to(there.parents[2])
    shutil.copytree(there, copy)
    table = copy / "scores" / "0" / FILE
    if what == "changed":
        forged = from_parquet(table.read_bytes())
        forged["sampling_standard_error"] /= 10
        table.write_bytes(to_parquet(forged.to_dict("records"), SAMPLING_ERROR_SCHEMA, ["variant_id"]))
    elif what == "away":
        table.unlink()
    else:
        path = copy / "scores" / "0" / "scores.parquet"
        rows = records(from_parquet(path.read_bytes()))
        path.write_bytes(
            to_parquet(
                [{**row, "method": "logprobs"} for row in rows], SCORE_SCHEMA, ["variant_id", "repeat"]
            )
        )
    reseal(copy)
    found = verify(copy.as_uri()).findings
    about = {finding.detail for finding in found if finding.path == f"scores/0/{FILE}"}
    expected = {"changed": "sampling_standard_error", "away": "is not there", "added": "does not follow"}
    assert any(expected[what] in detail for detail in about), [*found]


def _shown(messages: str, prompt: str) -> bool:
    turns = json.loads(messages)
    return all(turn["content"] in prompt for turn in turns if turn["role"] != "assistant")
