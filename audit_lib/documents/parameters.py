"""Names of the parameters of estimates: what metrics write, and pages know the meaning of."""

from __future__ import annotations

from typing import Final

from audit_lib.translation import mark

K: Final = "k"
"""How many places a selection has."""
ROUNDS_LEFT_OUT: Final = "rounds_left_out"
"""Rounds with fewer scored candidates than k."""
VARIATION: Final = "variation"
"""What was asked otherwise: ``none``, or a control, format, prompt or task."""
ATTRIBUTE: Final = "attribute"
"""The attribute that the model was asked for."""
THRESHOLD: Final = "threshold"
"""The rating from which on somebody counts as selected."""
CLASSIFIER: Final = "classifier"
"""The classifier whose scores of texts were taken."""
CLASS: Final = "class"
"""The class that is held against all others, where a tool puts people into several."""
DESIGN: Final = (K, CLASSIFIER, ATTRIBUTE, VARIATION, THRESHOLD, CLASS)
"""Those that come from the spec: by them two estimates of one metric, group and stratum are told apart."""
DEGREES_OF_FREEDOM: Final = "degrees_of_freedom"
OUTCOME_SD: Final = "outcome_sd"
"""Standard deviation of the score, the unit of an effect."""
WITHOUT_SCORE: Final = "without_score"
WITHOUT_DECISION: Final = "without_decision"
"""Rows of the stratum that have no decision, and so are in no rate."""
WITHOUT_OUTCOME: Final = "without_outcome"
"""Rows of the stratum that have a decision, and whose true outcome is not known."""
REPEATS: Final = "repeats"
"""How often each version was asked; and the variation of that name."""
UNCHANGED: Final = "unchanged"
"""Answers that were the same again."""
MEAN_ABSOLUTE_DIFFERENCE: Final = "mean_absolute_difference"
WORDS: Final = {
    "attribute": mark("attribute"),
    "bins": mark("bins"),
    "classifier": mark("classifier"),
    "highest": mark("highest"),
    "items": mark("items"),
    "label": mark("label"),
    "losses": mark("losses"),
    "lowest": mark("lowest"),
    "repeats": mark("repeats"),
    "rounds": mark("rounds"),
    "rounds_left_out": mark("rounds left out"),
    "threshold": mark("threshold"),
    "undefined_pairs": mark("undefined pairs"),
    "unpaired": mark("unpaired"),
    "variation": mark("variation"),
    "window": mark("window"),
    "wins": mark("wins"),
    "words": mark("words"),
    "words_defined": mark("words defined"),
}
"""Names of parameters as pages print them; others print as they are, with spaces."""
