"""The page on texts, computed a second time: other masking, slow similarities, other random numbers."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from benchmarks import replication_langfair as langfair
from benchmarks.replication_page import data_folder
from tests.metrics.slow_text import slow_bleu, slow_rouge

FILE = data_folder() / langfair.FILE
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILE.exists(), reason=f"no recorded answers at {FILE}; set AUDIT_SHARED_DATA"),
]

GENDERED = re.compile(rf"\b(?:{'|'.join([*langfair.FEMALE, *langfair.MALE])})\b", re.IGNORECASE)
SLOW = {
    "ROUGE-L": slow_rouge,
    "BLEU": lambda one, other: min(slow_bleu(one, other), slow_bleu(other, one)),
}


@pytest.fixture(scope="module")
def given() -> langfair.Responses:
    return langfair.load(data_folder())


@pytest.fixture(scope="module")
def words() -> dict[str, list[list[str]]]:
    """Masked answers as lists of words."""
    raw = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        side: [
            re.findall(r"[a-z0-9]+", GENDERED.sub("[MASK]", text).lower())
            for text in raw[f"{side}_responses"]
        ]
        for side in ("female", "male")
    }


@pytest.fixture(scope="module")
def moods(given: langfair.Responses) -> dict[str, np.ndarray]:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    return {
        side: np.array([(analyser.polarity_scores(text)["compound"] + 1) / 2 for text in texts])
        for side, texts in (("female", given.female_responses), ("male", given.male_responses))
    }


@pytest.fixture(scope="module")
def against(given: langfair.Responses) -> list[langfair.AgainstChance]:
    return langfair.against_chance(given)


def test_prompts(given: langfair.Responses) -> None:
    assert [len(given.responses), len(given.female_responses), len(given.male_responses)] == [125, 75, 75]
    assert Counter(given.prompts).most_common()[-1][1] == 25
    pairs = given.pairs_of_prompts()
    assert Counter(given.prompt_numbers().tolist()) == {0: 25, 1: 25, 2: 25}
    check = langfair.check_prompts(given)
    assert (check.distinct, check.pairs) == (len(set(given.prompts)), len(pairs)) == (5, 3)
    assert check.mentioning == sum(bool(GENDERED.search(p)) for p in set(given.prompts)) == 4
    assert check.equal_when_masked == sum(GENDERED.sub("", a) == GENDERED.sub("", b) for a, b in pairs) == 3
    # The quotation on the page.
    assert "He is 14 months old, so she is due" in pairs[0][0]
    assert check.with_both_genders == 3


@pytest.mark.parametrize("metric", SLOW)
def test_similarity_of_the_pairs(
    given: langfair.Responses, words: dict[str, list[list[str]]], metric: str
) -> None:
    values = np.array([SLOW[metric](*pair) for pair in zip(words["female"], words["male"], strict=True)])
    found = langfair.paired(given, metric)
    assert found.n == values.size == 75
    assert found.masked == pytest.approx(values.mean(), rel=1e-12)
    for interval, units in (
        (found.given_prompts, values),
        (found.over_prompts, values.reshape(3, 25).mean(axis=1)),
    ):
        limits = stats.t.interval(0.95, units.size - 1, units.mean(), stats.sem(units))
        np.testing.assert_allclose([interval.low, interval.high], limits, rtol=1e-9)
    assert found.unmasked < found.masked


def test_across_and_within(
    against: list[langfair.AgainstChance], words: dict[str, list[list[str]]], moods: dict[str, np.ndarray]
) -> None:
    one_prompt = {
        **{name: (function, {side: words[side][:25] for side in words}) for name, function in SLOW.items()},
        "sentiment, absolute difference": (lambda a, b: abs(a - b), {s: moods[s][:25] for s in moods}),
        "exactly one friendly": (lambda a, b: (a > 0.5) != (b > 0.5), {s: moods[s][:25] for s in moods}),
    }
    for name, (function, sides) in one_prompt.items():
        row = next(r for r in against if (r.metric, r.prompt) == (name, 0))
        across = [function(a, b) for a, b in product(sides["female"], sides["male"])]
        within = [function(a, b) for side in sides.values() for a, b in combinations(side, 2)]
        assert (len(across), len(within), row.answers) == (625, 600, 50)
        assert row.across == pytest.approx(np.mean(across), rel=1e-9)
        assert row.within == pytest.approx(np.mean(within), rel=1e-9)
    for name in one_prompt:
        rows = [r for r in against if r.metric == name]
        whole = next(r for r in rows if r.prompt is None)
        assert whole.across == pytest.approx(np.mean([r.across for r in rows if r.prompt is not None]))


def test_permutations_with_other_random_numbers(
    against: list[langfair.AgainstChance], moods: dict[str, np.ndarray]
) -> None:
    rng, draws = np.random.default_rng(7), 3_000
    scores = [np.concatenate([moods["female"][i : i + 25], moods["male"][i : i + 25]]) for i in (0, 25, 50)]
    tables = [np.abs(np.subtract.outer(s, s)) for s in scores]

    def difference(order: list[np.ndarray]) -> float:
        found = []
        for table, o in zip(tables, order, strict=True):
            t = table[np.ix_(o, o)]
            found.append(t[:25, 25:].mean() - (t[:25, :25].sum() + t[25:, 25:].sum()) / 1_200)
        return abs(float(np.mean(found)))

    observed = difference([np.arange(50)] * 3)
    shuffled = [difference([rng.permutation(50) for _ in range(3)]) for _ in range(draws)]
    share = float(np.mean(np.array(shuffled) >= observed - 1e-12))
    row = next(r for r in against if r.prompt is None and r.metric.startswith("sentiment"))
    assert row.p_value == pytest.approx(share, abs=4 * math.sqrt(0.25 / draws))


def test_what_the_page_says_of_gender(against: list[langfair.AgainstChance]) -> None:
    p = {row.metric: row.p_value for row in against if row.prompt is None}
    ordered = sorted(p, key=p.__getitem__)
    holm: dict[str, float] = {}
    for i, metric in enumerate(ordered):
        holm[metric] = max([min(1.0, (len(p) - i) * p[metric]), *holm.values()])
    assert langfair.adjusted(against) == pytest.approx(holm)
    assert {metric for metric, value in holm.items() if value < 0.05} == {"ROUGE-L", "BLEU"}
    for row in against:
        if row.metric in SLOW:
            assert 0 < row.within - row.across < 0.02


def test_sentiment_parity(given: langfair.Responses, moods: dict[str, np.ndarray]) -> None:
    found = langfair.sentiment(given)
    female, male = moods["female"], moods["male"]
    assert found.strict == pytest.approx(stats.wasserstein_distance(female, male), rel=1e-9)
    assert found.discordant == ((female > 0.5) != (male > 0.5)).sum() == 11
    assert found.weak == 11 / 75
    limits = stats.binomtest(11, 75).proportion_ci(method="wilson")
    np.testing.assert_allclose([found.weak_interval.low, found.weak_interval.high], limits, rtol=1e-9)
    assert found.friendly == ((female > 0.5).sum(), (male > 0.5).sum()) == (66, 69)
    rng, by_chance = np.random.default_rng(3), []
    for _ in range(2_000):
        pools = [rng.permutation([*female[i : i + 25], *male[i : i + 25]]) for i in (0, 25, 50)]
        by_chance.append(
            stats.wasserstein_distance(
                np.concatenate([pool[:25] for pool in pools]), np.concatenate([pool[25:] for pool in pools])
            )
        )
    # The page permutes all answers to a prompt too, so its halves are as large.
    assert found.strict_by_chance == pytest.approx(np.mean(by_chance), abs=4 * np.std(by_chance) / 2_000**0.5)
    assert found.strict < found.strict_by_chance


def test_company_of_words(given: langfair.Responses) -> None:
    tokens = [re.findall(r"[a-z0-9]+", text.lower()) for text in given.responses]
    targets = langfair.target_words(given.responses)
    assert all(sum(word in text for text in tokens) >= langfair.LEAST_TEXTS for word in targets)
    shares = []
    for word in targets:
        female, male = (
            sum(sum(w in group for w in text) for text in tokens if word in text)
            for group in (langfair.FEMALE, langfair.MALE)
        )
        if female + male:
            shares.append(abs(female / (female + male) - 0.5))
    found = {row.metric: row for row in langfair.company(given)}
    assert found["SA"].value == pytest.approx(np.mean(shares), rel=1e-12)
    assert (found["SA"].defined, found["SA"].words) == (len(shares), len(targets))

    content = {w for text in tokens for w in text} - {*langfair.FEMALE, *langfair.MALE} - _stop_words()
    near: dict[str, Counter[str]] = {"f": Counter(), "m": Counter()}
    for text in tokens:
        for i, word in enumerate(text):
            window = [*text[max(0, i - 10) : i], *text[i + 1 : i + 11]]
            near["f"][word] += sum(w in langfair.FEMALE for w in window)
            near["m"][word] += sum(w in langfair.MALE for w in window)
    totals = {side: sum(n for word, n in counts.items() if word in content) for side, counts in near.items()}
    times = [sum(w in group for text in tokens for w in text) for group in (langfair.FEMALE, langfair.MALE)]
    logs = [
        math.log((near["f"][w] / totals["f"] / times[0]) / (near["m"][w] / totals["m"] / times[1]))
        for w in targets
        if near["f"][w] and near["m"][w]
    ]
    cobs = found["COBS, 10 words each side"]
    assert cobs.value == pytest.approx(np.mean(logs), abs=1e-12)
    assert cobs.defined == len(logs)
    for row in found.values():
        assert row.low < row.value < row.high
        assert row.metric == "SA" or row.low < 0 < row.high


def _stop_words() -> frozenset[str]:
    from audit_lib.metrics.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS
