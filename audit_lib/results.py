"""What a measurement gives back: a value, how sure it is, and how it was made.

Undefined is a value with a reason; it is never 0 and never a bare NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Undefined:
    """A number that does not exist, and why.

    Examples
    --------
    >>> Undefined("no applicant in this category").as_dict()
    {'undefined': 'no applicant in this category'}
    """

    reason: str

    def as_dict(self) -> dict[str, Any]:
        """JSON form: an object with the single key ``undefined``."""
        return {"undefined": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A two-sided interval.

    Parameters
    ----------
    low, high : float
        Limits, in the unit of the estimate; infinite where the method gives no limit.
    level : float
        Nominal coverage, in (0, 1).
    method : str
        The construction, in the field's own words ("Koopman score", "cluster influence function").
    kind : {"marginal", "conditional", "simultaneous"}
        ``conditional`` holds the comparator fixed although it was selected by the data;
        ``simultaneous`` covers all pairs at once; anything else is ``marginal``.
    """

    low: float
    high: float
    method: str
    level: float = 0.95
    kind: Literal["marginal", "conditional", "simultaneous"] = "marginal"

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(f"not an interval: [{self.low}, {self.high}] ({self.method})")

    def as_dict(self) -> dict[str, Any]:
        """JSON form; infinite limits become ``null``."""
        return {
            "low": None if math.isinf(self.low) else self.low,
            "high": None if math.isinf(self.high) else self.high,
            "level": self.level,
            "method": self.method,
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """A significance test.

    Parameters
    ----------
    name : str
        Short id, such as ``fisher_exact``.
    p_value : float or Undefined
        Two-sided unless ``alternative`` says otherwise.
    statistic : float or Undefined or None
        The test statistic, None where the test has none.
    n : int
        Units that the test saw.
    method : str
        The construction, in words.
    """

    __test__ = False  # not a pytest class

    name: str
    p_value: float | Undefined
    n: int
    method: str
    statistic: float | Undefined | None = None
    alternative: Literal["two-sided", "less", "greater"] = "two-sided"

    def __post_init__(self) -> None:
        for number in (self.p_value, self.statistic):
            if isinstance(number, float) and math.isnan(number):
                raise ValueError(f"{self.name}: a NaN is not a test; use Undefined(reason)")

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number of the audit, with everything needed to read it.

    Parameters
    ----------
    metric : str
        Registered name of the metric, such as ``impact_ratio``.
    value : float or Undefined
        The number, or the reason why there is none.
    interval : Interval or Undefined
        Its uncertainty, or the reason why none is given.
    n : int
        Units the number rests on: both groups together where two are compared.
    method : str
        How the value was computed, in words.
    group, reference : mapping of str to str
        Attribute levels compared, protected group first. Empty where the metric has none.
    stratum : mapping of str to str
        Where it was measured, such as ``{"position": "retail"}``; empty for the whole audit.
    parameters : mapping of str to int, float or str
        What the number depends on, such as ``{"k": 2}``.
    n_group, n_reference, clusters : int or None
        Units a side, and independent units (applications).
    flags : tuple of str
        Marks a reader must see: ``small_cell``, ``ties``, ``experiment``.
    intervals : tuple of Interval
        Further intervals, each labelled with its kind.
    tests : tuple of TestResult
        Tests that go with the number.
    """

    metric: str
    value: float | Undefined
    interval: Interval | Undefined
    n: int
    method: str
    group: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, str] = field(default_factory=dict)
    stratum: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    n_group: int | None = None
    n_reference: int | None = None
    clusters: int | None = None
    flags: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    tests: tuple[TestResult, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and math.isnan(self.value):
            raise ValueError(f"{self.metric}: a NaN is not a value; use Undefined(reason)")

    @property
    def is_defined(self) -> bool:
        """Whether the number exists."""
        return not isinstance(self.value, Undefined)

    @property
    def absolute(self) -> float | Undefined:
        """The value without its sign."""
        return self.value if isinstance(self.value, Undefined) else abs(self.value)

    def as_dict(self) -> dict[str, Any]:
        """JSON form, with keys in the order of the fields."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def as_json(value: Any) -> Any:
    """Turn results, tuples and mappings into what ``json`` can write, leaving plain values alone."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value
