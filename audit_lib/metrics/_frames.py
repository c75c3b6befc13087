"""Results as tables of pandas: numbers that do not exist are missing, and the reason is next to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from audit_lib.results import Interval, Undefined

if TYPE_CHECKING:
    import pandas as pd


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a table; the column ``undefined`` says why a number is missing.

    Examples
    --------
    >>> frame_of([{"rate": Fraction(1, 2)}, {"rate": Undefined("nobody")}]).to_dict("list")
    {'rate': [0.5, nan], 'undefined': [nan, 'nobody']}
    """
    import pandas as pd

    made = []
    for row in rows:
        reasons = [one.reason for one in row.values() if isinstance(one, Undefined)]
        made.append(
            {name: _plain(one) for name, one in row.items()}
            | {"undefined": "; ".join(dict.fromkeys(reasons)) or None}
        )
    return pd.DataFrame(made)


def limits_of(interval: Interval | Undefined) -> dict[str, float | Undefined]:
    """Return the columns of an interval.

    Examples
    --------
    >>> limits_of(Interval(low=0.1, high=0.3, method="t"))
    {'low': 0.1, 'high': 0.3, 'interval_level': 0.95}
    """
    if isinstance(interval, Undefined):
        return dict.fromkeys(("low", "high", "interval_level"), interval)
    return {"low": interval.low, "high": interval.high, "interval_level": interval.level}


def _plain(value: Any) -> Any:
    if isinstance(value, Undefined):
        return math.nan
    return float(value) if isinstance(value, Fraction) else value
