"""Cells of a file as values of ours: texts, numbers, truth values, instants, decisions in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from types import NoneType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from audit_lib.errors import InputError
from audit_lib.metrics.imputed import shares_fault
from audit_lib.records import NO_AND_YES
from audit_lib.spec import Outcome, Source

Convert = Callable[[Any, bool], Any]
"""From a value, and whether it is text to be read (CSV), to ours."""

DECISION: Final = "recorded_selected"
OUTCOME: Final = "outcome"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRUTH: Final[dict[str, bool]] = {
    "true": True, "1": True, "yes": True, "y": True, "false": False, "0": False, "no": False, "n": False,
}  # fmt: skip
_MONTHS: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DATE: Final = re.compile(
    rf"(?:\d{{4}}[-/. ]\d{{1,2}}[-/. ]\d{{1,2}}|\d{{1,2}}[-/. ]\d{{1,2}}[-/. ](?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-. ](?:{_MONTHS})[-,. ]+\d{{2,4}}|(?:{_MONTHS})[. ]+\d{{1,2}},? \d{{4}})"
    r"(?:[T ,]+\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?)? ?(?:[ap]m|z|utc|[+-]\d{2}:?\d{2})?",
    re.I | re.ASCII,
)
"""What looks like a date, and like no number of a person: such a value may be printed."""


class WrongTypeError(Exception):
    """Carries what was expected, and the value where it is a date."""

    def __init__(self, expected: str, shown: str | None = None, hint: str = "") -> None:
        super().__init__(expected)
        self.shown, self.hint = shown, f"; {hint}" if hint else ""


class UnknownWordError(Exception):
    """A decision in a word that the spec does not list."""


def converter(ours: str, kind: pa.DataType, source: Source) -> Convert:
    """Return what reads a column of ours."""
    if pa.types.is_timestamp(kind):
        return _instants(source.time_format)
    if ours == DECISION and source.selected_values:
        return _decisions(source.selected_values, source.rejected_values)
    if ours == DECISION:
        return _plain_decision
    if ours == OUTCOME and source.outcome is not None and source.outcome.threshold is None:
        return _outcomes(source.outcome)
    return {pa.string(): text, pa.int32(): _integer, pa.float64(): _number, pa.bool_(): _boolean}[kind]


def text(value: Any, is_text: bool) -> str:
    """Read a text, or a whole number as one.

    Raises
    ------
    WrongTypeError
        If it is anything else.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # ids are often numbers
    raise WrongTypeError("text")


def is_own_value(convert: Convert, kinds: set[type], values: Sequence[Any]) -> bool:
    """Tell at a glance that what a converter makes of values, which are of these kinds, is the values."""
    if convert is text:
        return kinds <= {str, NoneType}
    return convert is _number and kinds == {float} and all(map(math.isfinite, values))


def _integer(value: Any, is_text: bool) -> int:
    if is_text:
        try:
            value = int(value)
        except ValueError:
            raise WrongTypeError("a whole number") from None
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise WrongTypeError("a whole number")
    return value


def _number(value: Any, is_text: bool) -> float:
    if is_text:
        try:
            value = float(value)
        except ValueError:
            comma = re.fullmatch(r"[+-]?\d+,\d+", value.strip(), re.ASCII)
            hint = "write the decimal point as a point" if comma else ""
            raise WrongTypeError("a number", hint=hint) from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise WrongTypeError("a finite number")
    return float(value)


def _boolean(value: Any, is_text: bool) -> bool:
    if is_text:
        value = _TRUTH.get(value.strip().lower())
    if not isinstance(value, bool):
        raise WrongTypeError("true or false", hint="write true or false; in CSV also yes and no, or 1 and 0")
    return value


def _plain_decision(value: Any, is_text: bool) -> bool:
    try:
        return _boolean(value, is_text)
    except WrongTypeError as error:
        hint = "list the words for decisions in source.selected_values and source.rejected_values"
        raise WrongTypeError(str(error), hint=hint) from None


def folded(word: Any) -> str:
    """Return a word as decisions are compared: without case and without spaces around it."""
    return " ".join(str(word).split()).casefold()


def _decisions(selected: list[str], rejected: list[str]) -> Convert:
    known = {folded(word): True for word in selected} | {folded(word): False for word in rejected}

    def convert(value: Any, is_text: bool) -> bool:
        if not isinstance(value, (str, int)):
            raise WrongTypeError("a decision in a word")
        word = folded(value)
        if word not in known:
            raise UnknownWordError(str(value).strip())
        return known[word]

    return convert


def _outcomes(how: Outcome) -> Convert:
    """Return what reads a word as 1 or 0, or a class as its place in the list."""
    known = {folded(word): 1.0 for word in how.positive} | {folded(word): 0.0 for word in how.negative}
    known |= {folded(word): float(place) for place, word in enumerate(how.classes)}
    listed = ", ".join((*how.positive, *how.negative, *how.classes))

    def convert(value: Any, is_text: bool) -> float:
        if not isinstance(value, (str, int)) or folded(value) not in known:
            raise WrongTypeError(f"one of {listed}", hint="list every word in source.outcome")
        return known[folded(value)]

    return convert


def _instants(how: str) -> Convert:
    return {"unix_s": _unix_seconds, "iso8601": _iso8601}.get(how) or _declared(how)


def _declared(how: str) -> Convert:
    def convert(value: Any, is_text: bool) -> datetime:
        if isinstance(value, str):
            try:
                return _in_utc(datetime.strptime(value.strip(), how))
            except ValueError:
                raise WrongTypeError(f"a date as source.time_format {how!r} says", _shown(value)) from None
        return _iso8601(value, is_text)  # Parquet may type its instants

    return convert


def _iso8601(value: Any, is_text: bool) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise WrongTypeError(
                "an ISO 8601 date or instant",
                _shown(value),
                'declare how dates are written in source.time_format, such as "%m/%d/%Y" (month first)',
            ) from None
    if not isinstance(value, date):
        raise WrongTypeError("an ISO 8601 date or instant (source.time_format: unix_s reads seconds)")
    return _in_utc(value if isinstance(value, datetime) else datetime.combine(value, time()))


def _in_utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _unix_seconds(value: Any, is_text: bool) -> datetime:
    if isinstance(value, datetime):  # Parquet may type its instants
        return _iso8601(value, is_text)
    try:
        seconds = _number(value, is_text)
    except WrongTypeError as error:
        shown = _shown(value) if isinstance(value, str) else None
        raise WrongTypeError(f"{error} of seconds since 1970" if shown else str(error), shown) from None
    try:
        return _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        raise WrongTypeError("seconds since 1970 (not milliseconds)") from None


def _shown(value: str) -> str | None:
    """Return a value that may be printed, since it is a date; anything else may say who somebody is."""
    plain = value.strip()
    return plain if _DATE.fullmatch(plain) else None


def yes_or_no(name: str, values: Sequence[str | None]) -> list[str | None]:
    """Return the values of a mask as ``yes``, ``no`` or None.

    Raises
    ------
    InputError
        If one is neither; says how many, and no value.

    Examples
    --------
    >>> yes_or_no("veteran", ["true", "0", None])
    ['yes', 'no', None]
    """
    found = [None if value is None else _TRUTH.get(value.strip().casefold()) for value in values]
    strange = sum(value is not None and said is None for value, said in zip(values, found, strict=True))
    if strange:
        raise InputError(
            f"groups.masks: {strange} of {len(values)} rows say neither yes nor no in the column {name!r}; write true "
            "and false, yes and no, or 1 and 0, and leave the cell empty where it is not known"
        )
    return [None if said is None else NO_AND_YES[said] for said in found]


def imputed_shares(columns: Mapping[str, Sequence[Any]], attribute: str) -> list[str | None]:
    """Return each row's probabilities of an attribute's levels as one text, in their order; None where it has none.

    Parameters
    ----------
    columns : mapping of str to sequence
        Level -> its column.
    attribute : str
        Which one, for messages.

    Raises
    ------
    InputError
        If a row has some of them only, one is no number from 0 to 1, or they do not sum to 1; says how many rows.

    Examples
    --------
    >>> imputed_shares({"a": ["0.25", None], "b": [0.75, ""]}, "race")
    ['0.25 0.75', None]
    """
    rows = list(zip(*columns.values(), strict=True))
    empty = [all(value is None or value == "" for value in row) for row in rows]
    numbers = [
        [_share(value) for value in row] for row, nothing in zip(rows, empty, strict=True) if not nothing
    ]
    if numbers and (fault := shares_fault(list(np.array(numbers, dtype=np.float64).T))) is not None:
        raise InputError(
            f"groups.imputed.{attribute}: of the rows with probabilities {fault}; correct the columns of "
            f"{', '.join(map(repr, columns))}, and leave all of them empty where nothing is known"
        )
    found = iter(numbers)
    return [None if nothing else " ".join(map(repr, next(found))) for nothing in empty]


def _share(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def sampling_weights(values: Sequence[Any], where: str) -> pa.Array:
    """Return sampling weights as numbers.

    Raises
    ------
    InputError
        If one is missing, no number, not finite, or not above 0; says how many rows, and shows the first.

    Examples
    --------
    >>> sampling_weights(["1.5", 2], "weights").to_pylist()
    [1.5, 2.0]
    """
    found, wrong = [], []
    for value in values:
        try:
            weight = float(value)
        except (TypeError, ValueError):
            weight = math.nan
        found.append(weight)
        if not 0.0 < weight < math.inf:
            wrong.append(value)
    if wrong:
        shown = "nothing" if wrong[0] is None or wrong[0] == "" else repr(wrong[0])
        raise InputError(
            f"{where}: {len(wrong)} of {len(found)} rows have no sampling weight that is positive and finite, such as "
            f"{shown}; a weight says of how many people of the population a row was drawn. Give each row one, or leave "
            "rows out of the file that stand for nobody"
        )
    return pa.array(found, pa.float64())
