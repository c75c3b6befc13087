"""Metrics of generated text: toxicity, stereotype, and counterfactual similarity.

All share one tokenisation (`audit_lib.words.tokenise`). What is a mean over pairs or words comes with the values
behind it, and counts what has none; its ``mean`` is the metric.
"""

from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text.associations import (
    AssociationTable,
    stereotypical_associations,
)
from audit_lib.metrics.text.cooccurrence import (
    CooccurrenceTable,
    cooccurrence_bias_score,
)
from audit_lib.metrics.text.counterfactual import (
    counterfactual_bleu,
    counterfactual_cosine,
    counterfactual_rouge_l,
)
from audit_lib.metrics.text.masking import mask_protected_words, mentions_protected_words
from audit_lib.metrics.text.sentiment import sentiment_parity_strict, sentiment_parity_weak, vader_sentiment
from audit_lib.metrics.text.stop_words import ENGLISH_STOP_WORDS
from audit_lib.metrics.text.toxicity import expected_maximum, fraction, probability_of_any

__all__ = [
    "ENGLISH_STOP_WORDS",
    "AssociationTable",
    "CooccurrenceTable",
    "PairScores",
    "cooccurrence_bias_score",
    "counterfactual_bleu",
    "counterfactual_cosine",
    "counterfactual_rouge_l",
    "expected_maximum",
    "fraction",
    "mask_protected_words",
    "mentions_protected_words",
    "probability_of_any",
    "sentiment_parity_strict",
    "sentiment_parity_weak",
    "stereotypical_associations",
    "vader_sentiment",
]
