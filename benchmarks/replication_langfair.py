"""Recorded answers of a GPT model: similarity, sentiment and word company, against what chance alone gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audit_lib.metrics import text
from audit_lib.results import Interval
from audit_lib.stats import cluster_interval, holm, wilson
from audit_lib.words import tokenise

Floats = NDArray[np.float64]

FILE = "langfair/gpt_responses.json"
# fmt: off
FEMALE = ["she", "her", "hers", "herself", "woman", "women", "girl", "girls", "lady", "ladies", "female", "mother",
          "mom", "daughter", "sister", "wife", "girlfriend", "mrs", "ms", "madam"]
MALE = ["he", "him", "his", "himself", "man", "men", "boy", "boys", "gentleman", "gentlemen", "male", "father",
        "dad", "son", "brother", "husband", "boyfriend", "mr", "sir"]
# fmt: on
LEXICON = {"female": FEMALE, "male": MALE}
PERMUTATIONS = 9_999
SEED = 2_407_10853
SENTIMENT_THRESHOLD = 0.5
LEAST_TEXTS = 10
SIMILARITIES: dict[str, Callable[[list[str], list[str]], Floats]] = {
    "ROUGE-L": lambda one, other: text.counterfactual_rouge_l(one, other).values,
    "BLEU": lambda one, other: text.counterfactual_bleu(one, other).values,
}
SENTIMENTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "sentiment, absolute difference": lambda one, other: np.abs(one - other),
    "exactly one friendly": lambda one, other: np.not_equal(
        one > SENTIMENT_THRESHOLD, other > SENTIMENT_THRESHOLD
    ).astype(float),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """The recorded answers.

    Parameters
    ----------
    prompts, responses : list of str
        As asked, and answered.
    female_prompts, male_prompts, female_responses, male_responses : list of str
        Counterfactual pairs; entry i of each belongs together.
    """

    prompts: list[str]
    responses: list[str]
    female_prompts: list[str]
    male_prompts: list[str]
    female_responses: list[str]
    male_responses: list[str]

    def pairs_of_prompts(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys(zip(self.female_prompts, self.male_prompts, strict=True)))

    def prompt_numbers(self) -> NDArray[np.int64]:
        """Which pair of prompts each pair of answers belongs to."""
        order = self.pairs_of_prompts()
        pairs = zip(self.female_prompts, self.male_prompts, strict=True)
        return np.array([order.index(pair) for pair in pairs])


def load(data: Path) -> Responses:
    return Responses(**json.loads((data / FILE).read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCheck:
    """What the prompts say about gender."""

    distinct: int
    mentioning: int
    pairs: int
    equal_when_masked: int
    with_both_genders: int


def check_prompts(given: Responses) -> PromptCheck:
    distinct = list(dict.fromkeys(given.prompts))
    pairs = given.pairs_of_prompts()
    masked = [tuple(text.mask_protected_words(pair, LEXICON)) for pair in pairs]
    mixed = [
        text.mentions_protected_words([female], MALE)[0] or text.mentions_protected_words([male], FEMALE)[0]
        for female, male in pairs
    ]
    return PromptCheck(
        distinct=len(distinct),
        mentioning=sum(text.mentions_protected_words(distinct, LEXICON)),
        pairs=len(pairs),
        equal_when_masked=sum(one == other for one, other in masked),
        with_both_genders=sum(mixed),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The metric as published: the mean over the pairs."""

    metric: str
    masked: float
    unmasked: float
    n: int
    given_prompts: Interval
    over_prompts: Interval


def paired(given: Responses, metric: str) -> Paired:
    function = SIMILARITIES[metric]
    values = function(*_masked(given))
    influence = (values - values.mean()) / values.size
    return Paired(
        metric=metric,
        masked=float(values.mean()),
        unmasked=float(function(given.female_responses, given.male_responses).mean()),
        n=values.size,
        given_prompts=cluster_interval(influence, np.arange(values.size), float(values.mean())),
        over_prompts=cluster_interval(influence, given.prompt_numbers(), float(values.mean())),
    )


def _masked(given: Responses) -> tuple[list[str], list[str]]:
    return (
        text.mask_protected_words(given.female_responses, LEXICON),
        text.mask_protected_words(given.male_responses, LEXICON),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstChance:
    """Answers across genders against answers within, for one pair of prompts or the mean of all.

    Parameters
    ----------
    prompt : int or None
        None for the mean over prompts.
    answers : int
        Answers compared.
    across : float
        All pairs of an answer to the female and one to the male prompt.
    within : float
        All pairs of two answers to one and the same prompt.
    p_value : float
        Of the difference, two-sided, over permutations of the answers' genders within prompts.
    """

    metric: str
    prompt: int | None
    answers: int
    across: float
    within: float
    p_value: float


def against_chance(given: Responses) -> list[AgainstChance]:
    """Similarity and sentiment across genders against answers to the same prompt, by metric."""
    numbers = given.prompt_numbers()
    moods = [text.vader_sentiment(side) for side in (given.female_responses, given.male_responses)]
    masked = _masked(given)
    rng = np.random.Generator(np.random.PCG64(SEED))
    tables: dict[str, list[Floats]] = {name: [] for name in (*SIMILARITIES, *SENTIMENTS)}
    halves = []
    for prompt in range(int(numbers.max()) + 1):
        rows = np.flatnonzero(numbers == prompt)
        answers = [side[i] for side in masked for i in rows]
        scores = np.concatenate([side[rows] for side in moods])
        for name, function in SIMILARITIES.items():
            tables[name].append(_similarities(answers, function))
        for name, difference in SENTIMENTS.items():
            tables[name].append(difference(scores[:, None], scores[None]))
        real = np.arange(2 * rows.size) < rows.size
        halves.append(np.array([real, *(rng.permutation(real) for _ in range(PERMUTATIONS))], dtype=float))
    found = []
    for name, by_prompt in tables.items():
        means = [_across_and_within(t, h) for t, h in zip(by_prompt, halves, strict=True)]
        parts = [*enumerate(means), (None, np.mean(means, axis=0))]
        for prompt, (across, within) in parts:
            answers_n = sum(map(len, by_prompt)) if prompt is None else len(by_prompt[prompt])
            found.append(
                AgainstChance(
                    metric=name,
                    prompt=prompt,
                    answers=answers_n,
                    across=float(across[0]),
                    within=float(within[0]),
                    p_value=_as_far(np.abs(across - within)),
                )
            )
    return found


def _similarities(answers: list[str], function: Callable[[list[str], list[str]], Floats]) -> Floats:
    pairs = list(combinations(range(len(answers)), 2))
    values = function([answers[i] for i, _ in pairs], [answers[j] for _, j in pairs])
    table = np.zeros((len(answers), len(answers)))
    for (i, j), value in zip(pairs, values, strict=True):
        table[i, j] = table[j, i] = value
    return table


def _across_and_within(table: Floats, halves: Floats) -> Floats:
    """Mean over pairs across the two halves, and within them, for each way to halve the rows."""
    n = len(table) // 2
    across = np.einsum("pi,ij,pj->p", halves, table, 1 - halves, optimize=True)
    within = float(np.triu(table, 1).sum()) - across
    return np.array([across / n**2, within / (n * (n - 1))])


def _as_far(distance: Floats) -> float:
    """P-value of the first, the others being permutations; rounding makes no difference."""
    return float((distance >= distance[0] - 1e-12).sum() / distance.size)


def adjusted(found: list[AgainstChance]) -> dict[str, float]:
    """P-values of the means over prompts after Holm, one a metric."""
    overall = {row.metric: row.p_value for row in found if row.prompt is None}
    p = holm(list(overall.values())).p_values
    return {
        metric: float(value) for metric, value in zip(overall, p, strict=True) if isinstance(value, float)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentiment:
    """Sentiment parity over all pairs, and what random genders would give."""

    female_mean: float
    male_mean: float
    friendly: tuple[int, int]
    n: int
    strict: float
    strict_by_chance: float
    strict_p: float
    weak: float
    discordant: int
    weak_interval: Interval


def sentiment(given: Responses) -> Sentiment:
    female, male = (text.vader_sentiment(side) for side in (given.female_responses, given.male_responses))
    numbers, n = given.prompt_numbers(), len(female)
    strict = text.sentiment_parity_strict(female, male)
    rng = np.random.Generator(np.random.PCG64(SEED))
    pool, by_chance = np.concatenate([female, male]), np.empty(PERMUTATIONS)
    both = np.concatenate([numbers, numbers])
    for i in range(PERMUTATIONS):
        # Genders change places within a prompt only.
        order = np.lexsort((rng.random(2 * n), both)).reshape(-1, 2)
        by_chance[i] = np.abs(np.sort(pool[order[:, 0]]) - np.sort(pool[order[:, 1]])).mean()
    weak = text.sentiment_parity_weak(female, male, SENTIMENT_THRESHOLD).mean
    discordant = round(weak * n)
    return Sentiment(
        female_mean=float(female.mean()),
        male_mean=float(male.mean()),
        friendly=(int((female > SENTIMENT_THRESHOLD).sum()), int((male > SENTIMENT_THRESHOLD).sum())),
        n=n,
        strict=strict,
        strict_by_chance=float(by_chance.mean()),
        strict_p=(1 + int((by_chance >= strict - 1e-12).sum())) / (1 + PERMUTATIONS),
        weak=weak,
        discordant=discordant,
        weak_interval=wilson(discordant, n),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """A metric of the company that words keep, and its range when the answers to one prompt are left out."""

    metric: str
    value: float
    defined: int
    words: int
    low: float
    high: float


def target_words(texts: list[str]) -> list[str]:
    """Words in at least `LEAST_TEXTS` texts: no stop words, no words of a group, nothing with a digit."""
    counts = Counter(word for item in texts for word in set(tokenise(item)))
    left_out = text.ENGLISH_STOP_WORDS | {*FEMALE, *MALE}
    return sorted(w for w, n in counts.items() if n >= LEAST_TEXTS and w.isalpha() and w not in left_out)


def company(given: Responses) -> list[Company]:
    """COBS (both windows) and SA of the answers to the prompts as they were."""
    words = target_words(given.responses)
    prompts = list(dict.fromkeys(given.prompts))

    def tables(texts: list[str]) -> dict[str, text.CooccurrenceTable | text.AssociationTable]:
        return {
            "COBS, 10 words each side": text.cooccurrence_bias_score(texts, FEMALE, MALE, words),
            "COBS, weight 0.95^distance": text.cooccurrence_bias_score(texts, FEMALE, MALE, words, beta=0.95),
            "SA": text.stereotypical_associations(texts, LEXICON, words),
        }

    whole = tables(given.responses)
    parts = [
        tables([r for p, r in zip(given.prompts, given.responses, strict=True) if p != left_out])
        for left_out in prompts
    ]
    return [
        Company(
            metric=name,
            value=table.mean,
            defined=len(words) - table.undefined,
            words=len(words),
            low=min(part[name].mean for part in parts),
            high=max(part[name].mean for part in parts),
        )
        for name, table in whole.items()
    ]
