"""Other libraries' functions that tests hold ours against, where they want more than a call."""

from __future__ import annotations

import gc
from typing import Any
from unittest.mock import patch

from statsmodels.stats.multitest import multipletests as _multipletests


def multipletests(p_values: Any, **options: Any) -> Any:
    """Adjust p-values as statsmodels does, without its full collection of garbage at each call with Holm's method.

    Late in a whole run of the tests one collection takes a quarter of a second.
    """
    with patch.object(gc, "collect"):
        return _multipletests(p_values, **options)
