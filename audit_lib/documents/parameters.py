"""Names of the parameters of estimates: what metrics write, and pages know the meaning of."""

from __future__ import annotations

from typing import Final

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
DESIGN: Final = (K, CLASSIFIER, ATTRIBUTE, VARIATION, THRESHOLD)
"""Those that come from the spec: by them two estimates of one metric, group and stratum are told apart."""
DEGREES_OF_FREEDOM: Final = "degrees_of_freedom"
OUTCOME_SD: Final = "outcome_sd"
"""Standard deviation of the score, the unit of an effect."""
WITHOUT_SCORE: Final = "without_score"
REPEATS: Final = "repeats"
"""How often each version was asked; and the variation of that name."""
UNCHANGED: Final = "unchanged"
"""Answers that were the same again."""
MEAN_ABSOLUTE_DIFFERENCE: Final = "mean_absolute_difference"
