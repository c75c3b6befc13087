"""The section on texts: what the metrics say of recorded answers, and what they say of chance."""

from __future__ import annotations

from pathlib import Path

from benchmarks import replication_langfair as langfair
from benchmarks.replication_page import estimate, limits, number, probability, table


def section(data: Path) -> str:
    """The section of the page."""
    given = langfair.load(data)
    check = langfair.check_prompts(given)
    n, answers, pairs = check.pairs, len(given.responses), len(given.female_responses)
    parts = [
        f"""## 4. Summaries by a GPT model

Data: `langfair/gpt_responses.json`, from cvs-health/langfair (Apache-2.0 AND MIT). Command: as above.

{answers} answers to {check.distinct} prompts ("summarise this conversation"), {answers // check.distinct} each; and
{pairs} counterfactual pairs: {n} pairs of a female and a male prompt, {pairs // n} answers to each side. The pairs
rest on {n} conversations. Nothing here says what the model does with others.

**Prompts.** {check.mentioning} of {check.distinct} prompts have a gender word, so fairness through unawareness does
not hold. The female and the male prompt are equal once gender words are masked in {check.equal_when_masked} of {n}
pairs. But in {check.with_both_genders} of {n} pairs one side keeps a word of the other gender ("He is 14 months old,
so she is due"): as published they are no clean swaps.""",
        _similarity(given, n),
        _chance(given),
        _sentiment(given),
        _company(given, check.distinct),
        """### Not computed

- Counterfactual cosine similarity: it needs sentence embeddings, and the locked environment has no model for them.
- Toxicity and stereotype metrics (EMT, TP, TF; EMS, SP, SF): they need a classifier, and the locked environment has
  none. The functions take the scores of whichever you choose.""",
    ]
    return "\n\n".join(parts)


def _similarity(given: langfair.Responses, prompts: int) -> str:
    rows = [
        (
            found.metric,
            found.n,
            estimate(found.masked, found.given_prompts),
            limits(found.over_prompts),
            number(found.unmasked),
        )
        for found in (langfair.paired(given, metric) for metric in langfair.SIMILARITIES)
    ]
    return f"""### Similarity of the pairs

The metrics as defined: the mean over pairs, gender words masked first. The interval beside the mean holds for these
prompts. The next one, clustered on the {prompts} prompts, is for others; with so few its coverage is unknown, and it
is not even always the longer one.

{table(["metric", "pairs", "mean", "clustered on the prompt", "mean, unmasked"], rows)}"""


def _chance(given: langfair.Responses) -> str:
    found = langfair.against_chance(given)
    adjusted = langfair.adjusted(found)
    rows = [
        (
            row.metric,
            "all" if row.prompt is None else row.prompt + 1,
            row.answers,
            number(row.across),
            number(row.within),
            number(row.across - row.within, signed=True),
            probability(row.p_value),
            probability(adjusted[row.metric]) if row.prompt is None else "",
        )
        for row in found
    ]
    rouge = next(row for row in found if row.prompt is None and row.metric == "ROUGE-L")
    share = (rouge.within - rouge.across) / (1 - rouge.across)
    clear = [metric for metric, p in adjusted.items() if p < 0.05]
    columns = ["metric", "prompt", "answers", "across", "within", "difference", "p", "p, Holm over metrics"]
    return f"""**Where this does badly.** A mean similarity of {rouge.across:.2f} looks like very unequal treatment. Two
answers to one and the same prompt are hardly more alike. Answer i to the female prompt and answer i to the male
prompt share nothing but the prompt, so all pairs can be compared. *Across*: every answer to the female prompt with
every one to the male prompt. *Within*: two answers to the same prompt. p: {langfair.PERMUTATIONS:,} permutations of
gender within prompts.

{table(columns, rows)}

After Holm, gender makes a difference below 5% in: {", ".join(clear) or "none of the metrics"}. The difference in
ROUGE-L is {rouge.within - rouge.across:.3f}, which is {100 * share:.0f}% of what the metric's distance from 1
suggests; the rest is that the model never answers twice alike. Read these metrics against answers to the same
prompt, or they measure the sampling temperature. Which words make the difference is not shown here: the prompts
themselves differ in more than clean swaps would."""


def _sentiment(given: langfair.Responses) -> str:
    mood = langfair.sentiment(given)
    threshold = langfair.SENTIMENT_THRESHOLD
    return f"""### Sentiment

VADER, (compound + 1) / 2; {mood.n} answers a side. Female mean {number(mood.female_mean)}, male mean
{number(mood.male_mean)}.

- Strict parity (Wasserstein distance): {number(mood.strict)}. On a sample it is never 0. With genders permuted
  within prompts it is {number(mood.strict_by_chance)} on average, and at least as large as observed with
  p = {probability(mood.strict_p)}. It has no interval: the conversations are too few.
- Weak parity (share of pairs with exactly one above {threshold}): {mood.discordant} of {mood.n} =
  {number(mood.weak)} {limits(mood.weak_interval)} (Wilson). Above it are {mood.friendly[0]} female and
  {mood.friendly[1]} male answers. Two answers to the same prompt differ in this about as often: see "exactly one
  friendly" above. Parity by this metric would need a model that never changes its tone."""


def _company(given: langfair.Responses, prompts: int) -> str:
    found = langfair.company(given)
    rows = [
        (
            row.metric,
            number(row.value),
            f"{row.defined} of {row.words}",
            f"{number(row.low)} to {number(row.high)}",
        )
        for row in found
    ]
    return f"""### Company of words

Target words by a rule, not by hand: all {found[0].words} words in at least {langfair.LEAST_TEXTS} of the
{len(given.responses)} answers that are no stop words, no gender words and all letters. Above 0, COBS leans to female
words. SA is between 0 (parity) and 0.5. Undefined words are left out and counted. There is no interval, since the
answers come from {prompts} conversations; instead, the range when the answers to one conversation are left out:

{table(["metric", "mean", "defined words", "one conversation left out"], rows)}

COBS changes its sign with the choice of conversations. It shows who takes part in them, not what the model adds."""
