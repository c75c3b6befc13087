"""Above which share of inconsistent pairs a model is left out (Chen, Ji and Evans, arXiv:2408.01285)."""

from typing import Final

VALIDITY_LIMIT: Final = 0.55
SELECTION_LIMIT: Final = 0.50
