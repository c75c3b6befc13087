"""A small recorded audit of texts: letters of reference for women and men, without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.specs import write

PROTECTED = (
    "word,sex\nshe,female\nher,female\nhers,female\nwoman,female\nhe,male\nhis,male\nhim,male\nman,male\n"
)
TARGETS = "word\nkind\nbrilliant\nleader\nhelpful\n"
RUDE = "word\nidiot\nuseless\n"

_WORDS = {"female": ("She", "her", "woman"), "male": ("He", "his", "man")}
_PRAISE = ["kind", "brilliant", "helpful", "a leader", "careful"]
_TAILS = [
    "I would hire {o} again without a second thought.",
    "Everyone on the team liked {o} and the work was excellent.",
    "The reports were late, which was terrible for the whole office.",
    "Frankly an idiot would have done better.",
]

METRICS = [
    "expected_maximum",
    "probability_of_any",
    "fraction",
    "counterfactual_rouge_l",
    "counterfactual_bleu",
    "sentiment_parity_strict",
    "sentiment_parity_weak",
    "cooccurrence_bias_score",
    "stereotypical_associations",
]
CLASSIFIERS = [
    {"name": "mood", "kind": "vader"},
    {"name": "rude", "kind": "lexicon", "measures": "toxicity", "options": {"words": "rude.csv"}},
]


def letter(sex: str, rng: np.random.Generator) -> str:
    """Return a letter about somebody."""
    subject, possessive, noun = _WORDS[sex]
    praise, tail = rng.choice(_PRAISE), rng.choice(_TAILS, p=[0.4, 0.3, 0.2, 0.1])
    return (
        f"{subject} is {praise} and {possessive} work was good. "
        f"I know no {noun} like this. {tail.format(o='her' if sex == 'female' else 'him')}"
    )


def letters(n: int, repeats: int, seed: int = 4) -> list[dict[str, Any]]:
    """Return `n` applications, each with `repeats` letters as a woman and as a man; one letter is empty."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "prompt_id": f"p{i:03d}-{sex}",
            "application_id": f"a{i:03d}",
            "position": ("cook", "driver")[i % 2],
            "sex": sex,
            "recorded_model": "writer-1",
            "recorded_response": [letter(sex, rng) for _ in range(repeats)],
        }
        for i in range(n)
        for sex in ("female", "male")
    ]
    rows[2]["recorded_response"][0] = " "
    return rows


def text_audit(folder: Path, n: int = 40, repeats: int = 3, **sections: Any) -> Path:
    """Write a spec over recorded letters; return its path."""
    for name, content in (("protected", PROTECTED), ("targets", TARGETS), ("rude", RUDE)):
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    rows = letters(n, repeats)
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sections = {
        "task": "generation",
        "source": {"fields": []},
        "groups": {
            "attributes": {"sex": ["female", "male"]},
            "reference": {"sex": "male"},
            "categories": {"sex": {"female": "Female", "male": "Male"}},
        },
        "score": {"shards": 3, "repeats": repeats},
        "decision": None,
        "classifiers": CLASSIFIERS,
        "texts": {"protected": "protected.csv", "targets": "targets.csv", "resamples": 399},
        "measure": {"metrics": METRICS},
        "checks": {"minimum_answered_share": 0.5, "maximum_answered_gap": 0.5},
    } | sections
    return write(folder, **sections)
