"""Metrics of generated text: toxicity, stereotype, and counterfactual similarity. The public face of ``text_*``.

All share one tokenisation (`tokenise`). Every mean comes with a ``*_table`` that has the values behind it
and counts what has none.
"""

from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text.associations import (
    AssociationTable,
    stereotypical_associations,
    stereotypical_associations_table,
)
from audit_lib.metrics.text.cooccurrence import (
    CooccurrenceTable,
    cooccurrence_bias_score,
    cooccurrence_bias_table,
)
from audit_lib.metrics.text.counterfactual import (
    counterfactual_bleu,
    counterfactual_bleu_table,
    counterfactual_cosine,
    counterfactual_cosine_table,
    counterfactual_rouge_l,
    counterfactual_rouge_l_table,
)
from audit_lib.metrics.text.masking import mask_protected_words, mentions_protected_words
from audit_lib.metrics.text.sentiment import sentiment_parity_strict, sentiment_parity_weak, vader_sentiment
from audit_lib.metrics.text.stop_words import ENGLISH_STOP_WORDS
from audit_lib.metrics.text.tokens import tokenise
from audit_lib.metrics.text.toxicity import expected_maximum, fraction, probability_of_any

__all__ = [
    "ENGLISH_STOP_WORDS",
    "AssociationTable",
    "CooccurrenceTable",
    "PairScores",
    "cooccurrence_bias_score",
    "cooccurrence_bias_table",
    "counterfactual_bleu",
    "counterfactual_bleu_table",
    "counterfactual_cosine",
    "counterfactual_cosine_table",
    "counterfactual_rouge_l",
    "counterfactual_rouge_l_table",
    "expected_maximum",
    "fraction",
    "mask_protected_words",
    "mentions_protected_words",
    "probability_of_any",
    "sentiment_parity_strict",
    "sentiment_parity_weak",
    "stereotypical_associations",
    "stereotypical_associations_table",
    "tokenise",
    "vader_sentiment",
]
