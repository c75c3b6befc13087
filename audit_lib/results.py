"""What a measurement gives back: a value, how sure it is, and how it was made.

Undefined is a value with a reason; it is never 0 and never a bare NaN.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from audit_lib.typed_json import OPTIONAL, Typed, keyed

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class _Limit:
    """Reads a limit of an interval; ``null`` is `none`, an infinite one."""

    def __init__(self, none: float) -> None:
        self.none = none

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic import Field, PlainValidator

        written = Annotated[float | None, Field(description="null: no limit")]
        return PlainValidator(self._read, json_schema_input_type=written).__get_pydantic_core_schema__(
            source, handler
        )

    def _read(self, value: Any) -> float:
        if value is None:
            return self.none
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("is not a number, nor null for no limit")
        if not -sys.float_info.max <= value <= sys.float_info.max:
            raise ValueError("is not a finite number, nor null for no limit")
        return float(value)


@dataclass(frozen=True, slots=True)
class Undefined(Typed):
    """A number that does not exist, and why.

    Examples
    --------
    >>> Undefined("no applicant in this category").as_dict()
    {'undefined': 'no applicant in this category'}
    """

    reason: str = field(metadata=keyed("undefined"))

    def as_dict(self) -> dict[str, Any]:
        """JSON form: an object with the single key ``undefined``."""
        return {"undefined": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Typed):
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

    low: Annotated[float, _Limit(-math.inf)]
    high: Annotated[float, _Limit(math.inf)]
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
class TestResult(Typed):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplicity(Typed):
    """The p-value of a test, adjusted for the number of tests of the audit.

    Parameters
    ----------
    test : str
        Name of the test.
    holm : float or Undefined
        The adjusted p-value.
    """

    test: str
    holm: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldToMargin(Typed):
    """What of a number is held against the margin that the plan gives its metric.

    Parameters
    ----------
    margin : float
        Largest distance from parity that is of no interest; of a ratio the lowest ratio that is.
    level : float
        Nominal coverage of the interval, 1 - 2 alpha / m for m numbers with a margin: two one-sided tests of each at
        alpha / m.
    interval : Interval or Undefined
        At that level; of an impact ratio the one that allows for the comparator being picked by the data.
    """

    margin: float
    level: float
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Typed):
    """What is said of a planned comparison (`audit_lib.measure.verdicts`).

    Parameters
    ----------
    kind : {"difference", "below_the_line", "equivalent", "undecided", "uninterpretable"}
        ``below_the_line`` is a difference, and the ratio is shown to be below the margin. ``uninterpretable`` is what
        would be undecided or equivalent, of groups that the model did not tell apart when asked.
    size : {"within", "beyond"} or None
        Of a difference: shown to be within the margin, shown to be beyond it, or neither.
    reason : str or None
        Why nothing could be told, or what else has to be known.
    """

    kind: Literal["difference", "below_the_line", "equivalent", "undecided", "uninterpretable"]
    size: Literal["within", "beyond"] | None = field(default=None, metadata=OPTIONAL)
    reason: str | None = field(default=None, metadata=OPTIONAL)

    @property
    def found(self) -> bool:
        """Whether a difference is shown."""
        return self.kind in ("difference", "below_the_line")


@dataclass(frozen=True, slots=True, kw_only=True)
class TheseNames(Typed):
    """What an effect is for the names that were shown alone, next to one that holds for other names like them.

    Parameters
    ----------
    names_group, names_reference : int
        Names that were shown, a side.
    standard_error : float or Undefined
        Of the estimate, with the names taken as fixed.
    interval : Interval or Undefined
        Likewise.
    test : TestResult or None
        Likewise; None where there is no standard error. It is no member of the family of all tests.
    """

    names_group: int
    names_reference: int
    standard_error: float | Undefined
    interval: Interval | Undefined
    test: TestResult | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRate(Typed):
    """A rate by sampling weights.

    Parameters
    ----------
    value : float
        The rate.
    interval : Interval or Undefined
        Its interval, by clusters.
    """

    value: float
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted(Typed):
    """What belongs to a gap that is estimated by sampling weights.

    Parameters
    ----------
    effective_group, effective_reference : float
        Kish's effective number of rows a side.
    rate_group, rate_reference : WeightedRate or None
        Weighted rates of the two sides; None of a metric of scores.
    ratio : float or Undefined or None
        The group's rate over the reference's.
    ratio_interval : Interval or Undefined or None
        Its interval.
    """

    effective_group: float
    effective_reference: float
    rate_group: WeightedRate | None = field(default=None, metadata=OPTIONAL)
    rate_reference: WeightedRate | None = field(default=None, metadata=OPTIONAL)
    ratio: float | Undefined | None = field(default=None, metadata=OPTIONAL)
    ratio_interval: Interval | Undefined | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingOutcomes(Typed):
    """What people whose true outcome is not known could change in a gap of two groups.

    Parameters
    ----------
    group, reference : int
        People a side who have a decision (or score) and no known outcome.
    bounds : tuple of float or Undefined
        The least and the greatest gap, whatever their outcomes are.
    interval : Interval or Undefined
        Of all that lies between the bounds, at the level: sampling error added at both ends.
    at_random : float or Undefined or None
        The gap where outcomes are missing at random among like people; None where the spec does not say so.
    at_random_interval : Interval or Undefined or None
        Its interval.
    """

    group: int
    reference: int
    bounds: tuple[float, float] | Undefined
    interval: Interval | Undefined
    at_random: float | Undefined | None = field(default=None, metadata=OPTIONAL)
    at_random_interval: Interval | Undefined | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImputedBounds(Typed):
    """What is known of a number of groups whose members are known as probabilities only.

    Parameters
    ----------
    bounds : tuple of float
        The least and the greatest value that the probabilities allow.
    weighted : float or Undefined
        The value where only chance links group and decision, among people with the same probabilities.
    members : float
        How many people belong to the group by their probabilities.
    reference_members : float or None
        Likewise of the reference; None where there is none.
    counted : int or None
        People whose label and group are both known; None where the probabilities are taken as right.
    """

    bounds: tuple[float, float]
    weighted: float | Undefined
    members: float
    reference_members: float | None = field(default=None, metadata=OPTIONAL)
    counted: int | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Typed):
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
    standard_error : float or Undefined or None
        Of the estimate on its scale; None where nothing combines such estimates.
    scale : {"identity", "logit"} or None
        ``logit``: of the rank index x, log((1 + x) / (1 - x)).
    multiplicity : Multiplicity or None
        The first test's p-value, adjusted; None before that, and where there is none.
    held : HeldToMargin or None
        What is held against the plan's margin; None where there is none.
    verdict : Verdict or None
        What is said of a planned comparison; None of what compares nothing.
    remark : str or None
        Why the number, though it is right, does not say what it seems to: a null of groups that the model does not
        tell apart.
    these_names : TheseNames or None
        The same for the names that were shown alone, where interval, tests and standard error are for other names like
        them; None where names are no part of the design.
    missing_outcomes : MissingOutcomes or None
        Of a metric of true outcomes: what those that are not known could change; None where all are known.
    weighted : Weighted or None
        Of an audit with sampling weights; None elsewhere.
    imputed : ImputedBounds or None
        Of groups whose members are known as probabilities: bounds, where there is no value; None elsewhere.
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
    standard_error: float | Undefined | None = field(default=None, metadata=OPTIONAL)
    scale: Literal["identity", "logit"] | None = field(default=None, metadata=OPTIONAL)
    multiplicity: Multiplicity | None = field(default=None, metadata=OPTIONAL)
    held: HeldToMargin | None = field(default=None, metadata=OPTIONAL)
    verdict: Verdict | None = field(default=None, metadata=OPTIONAL)
    remark: str | None = field(default=None, metadata=OPTIONAL)
    these_names: TheseNames | None = field(default=None, metadata=OPTIONAL)
    missing_outcomes: MissingOutcomes | None = field(default=None, metadata=OPTIONAL)
    weighted: Weighted | None = field(default=None, metadata=OPTIONAL)
    imputed: ImputedBounds | None = field(default=None, metadata=OPTIONAL)

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
