"""Generated texts: toxicity, the company of words and counterfactual likeness, as in the framework."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.framework import FrameworkAnswer, recommend
from studies.markdown import rows
from studies.results import Results
from studies.study import Study

_USES: Mapping[str, Mapping[str, FrameworkAnswer]] = {
    "texts, no prompt mentions a group": {"task": "generation", "ftu": True},
    "texts, the same content is due to all": {"task": "generation", "ftu": False, "content_differs": False},
    "texts, content ought to differ": {"task": "generation", "ftu": False, "content_differs": True},
    "classes, equal shares wanted": {
        "task": "classification", "ftu": True, "person_level": True, "equal_prevalence": True,
    },
    "classes, a prediction helps": {
        "task": "classification", "ftu": True, "person_level": True, "equal_prevalence": False,
        "intervention": "assistive",
    },
    "classes, a prediction harms": {
        "task": "classification", "ftu": True, "person_level": True, "equal_prevalence": False,
        "intervention": "punitive",
    },
    "classes, neither about a person nor with a group": {
        "task": "classification", "ftu": True, "person_level": False,
    },
    "lists, no prompt mentions a group": {"task": "recommendation", "ftu": True},
    "lists, the same for all": {"task": "recommendation", "ftu": False, "invariance": True},
    "lists, may differ": {"task": "recommendation", "ftu": False, "invariance": False},
}  # fmt: skip
"""What the framework's figure leads through: uses that differ in what it asks."""

PROSE = """
## The paper's design

The framework goes from a use of a model to the metrics that apply. Texts: toxicity always; where prompts mention
protected words, also stereotypes and counterfactual likeness; where the content ought to differ by group, of the
latter only the sentiment. As this library has its rules:

$uses

For toxicity and stereotypes the paper has 25 texts of each prompt (m = 25) and a classifier's score from 0 to 1:

- EMT, the expected maximum: mean over prompts of the highest score of a prompt's texts;
- TP, the probability of any: share of prompts with at least one text at or above one half;
- TF, the fraction: share of all texts at or above one half.

Without a classifier of stereotypes there are COBS (which words keep company with words of one group) and SA (whose
company a word keeps). Counterfactual likeness is of the texts for two versions of a request: ROUGE-L, BLEU and cosine
once the words that tell the group are masked, and two parities of sentiment. The paper's use cases and their numbers
are not at hand, so no published number is next to ours.

## Ours

Made-up letters of reference: each request about a woman and the same about a man, three letters each. A script wrote
them; no number is of a model. tox-block's weights, VADER and all-MiniLM-L6-v2 judge the letters; a word list that calls
some of the letters' own words rude is next to tox-block, so that not every rate is 0.

$families

### Toxicity

$m

$maximum

$any

$fraction

### Stereotypes, by words

COBS is the mean over words of a signed logarithm, so that opposite words cancel; its absolute form does not let them.
By word it says which: above 0 a word keeps company with women, below with men. No classifier of stereotypes is shipped:
the audit says so, and EMS, SP and SF need one that you bring.

$words

$cobs

$absolute

$by_word

$associations

### Counterfactual likeness and sentiment

$rouge

$bleu

$cosine

$strict

$weak

## The difference, and why

- **m.** EMT and TP grow with the texts of each prompt. Three are here and 25 in the paper, so these two would be
  higher there for the same model; the report warns, and TF does not depend on m.
- **Words.** COBS is smaller than its absolute form: some words keep company with women and some with men, and cancel.
  Read the table by word.
- **Likeness.** The requests differ in the sex alone, and so, but for their lot, do the letters: masked words make
  ROUGE-L and BLEU high. The cosine is of the texts as they are, with *he* and *she*, and of three letters that differ
  by lot too. What two letters for one and the same request share would have to be known to read these as unequal
  treatment.
- **Published code** departs from the paper (another threshold for toxicity, a smoothed BLEU, a mean of absolute
  logarithms for COBS); the paper's definitions are computed here.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    page = results.report("langfair_text")

    def table(caption: str) -> str:
        return results.table(page, caption, notes=False)

    return {
        "uses": rows(
            ["use", "metrics that apply"],
            [
                (use, ", ".join(recommend(given).metrics()) or "none: not applicable")
                for use, given in _USES.items()
            ],
            text_columns=2,
        ),
        "families": table("Families of metrics"),
        "m": results.notice(page, "Few generations of each prompt"),
        "maximum": results.table(page, "Expected maximum"),
        "any": results.table(page, "Probability of any"),
        "fraction": results.table(page, "Fraction flagged"),
        "words": results.chart(page, "Co-occurrence bias by word", "by-word"),
        "cobs": table("Co-occurrence bias score (COBS)"),
        "absolute": table("Co-occurrence bias score, absolute (COBS)"),
        "by_word": table("Co-occurrence bias by word"),
        "associations": table("Stereotypical associations"),
        "rouge": table("Counterfactual ROUGE-L"),
        "bleu": table("Counterfactual BLEU"),
        "cosine": table("Counterfactual cosine similarity"),
        "strict": table("Sentiment parity, strict"),
        "weak": table("Sentiment parity, weak"),
    }


STUDY = Study(
    title="The framework: generated texts",
    paper="Bouchard (2024), arXiv:2407.10853",
    about="Are letters about women and men as toxic, of the same words and of the same tone?",
    takes="half a minute on 2 cores, for three classifiers",
    cheap=False,
    specs=("langfair_text",),
    prose=PROSE,
    shown=shown,
)
