"""Reading a rating from a generated text: typed, by stated rules.

What is read is a number of the scale or one of its labels; anything else is ``unparsed`` with the reason.
A text is called a refusal only if no rating can be read from it and it begins by declining.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.score.reading.json_values import RepeatedKeyError, json_values
from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.thinking import TooLongError, readable

_MARKDOWN: Final = re.compile(r"[*_`#>|~\"]+")
_HEADING: Final = re.compile(r"^.*(?:[^\W\d]|\([^()]*\))\s*:")  # not the colon of a time
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_RATED: Final = re.compile(
    rf"(?<![\w.,/-])(?P<value>{_NUMBER})(?:\s*(?:/|out\s+of|of)\s*(?P<top>{_NUMBER}))?(?![\w%/-]|[.,]\d)"
)
_ALONE: Final = re.compile(_RATED.pattern + r"(?P<stars>\s+stars?)?(?:\s*\([^()\d]*\)?)?", re.I)
_BOXED: Final = re.compile(rf"\$*\\boxed\{{\s*({_NUMBER})\s*\}}\$*")
DECLINES: Final = "the text declines to answer"
"""The detail of a refusal that was read from a text."""
CUT: Final = "the answer was cut at its most tokens"
"""The detail of a text that had no end: a rating, ranking or list in it is not read."""

_STARS: Final = 5
_BEGINS: Final = re.compile(
    r"(?:i\s+am\s+sorry|i['’]m\s+sorry|sorry|i\s+apologi[sz]e|i\s+can\s*not|i\s+can['’]t|i\s+am\s+(?:unable|not\s+able)"
    r"|i['’]m\s+(?:unable|not\s+able)|i\s+must\s+decline|i\s+won['’]t|i\s+will\s+not|as\s+an\s+ai)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScale:
    """What an answer may be.

    Attributes
    ----------
    labels : tuple of str
        Answers in words or digits.
    relevance : tuple of float
        Worth of each. Numbers between the smallest and the largest are answers too, unless the labels are
        numbers that mean something else.
    """

    labels: tuple[str, ...]
    relevance: tuple[float, ...]

    def of_label(self, text: str) -> float | None:
        """Return the worth of the label that `text` is, in any case."""
        plain = text.strip().casefold()
        found = [
            w
            for label, w in zip(self.labels, self.relevance, strict=True)
            if label.strip().casefold() == plain
        ]
        return found[0] if found else None

    def of_number(self, value: float) -> float | None:
        """Return the worth of a number, or None if it is not on the scale."""
        if (worth := self.of_label(f"{value:g}")) is not None:
            return worth
        means_itself = all(
            number is None or number == worth
            for number, worth in zip(map(_as_number, self.labels), self.relevance, strict=True)
        )
        return value if means_itself and min(self.relevance) <= value <= max(self.relevance) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A score; or a status that is not ok, and why there is none."""

    score: float | None = None
    status: AnswerStatus = "ok"
    detail: str | None = None


def read_rating(text: str | None, how: str, scale: RatingScale) -> Reading:
    r"""Read one rating.

    Parameters
    ----------
    text : str or None
        What was generated.
    how : str
        ``number``: a line that holds nothing but a number, after a heading with a colon or not ("Overall: 4/5"),
        and perhaps stars (on a scale up to 5) or words in brackets after it; without such a line, the one number
        that ends a clause and is out of the scale's top ("4/5") or comes after a word such as "rate" or "score"
        ("I rate this a 4."). None in a clause that says "not" or "at least", beside a range, or where the
        text speaks of a scale with another top.
        ``phrase``: the label with which the text begins, or that stands alone on a line. ``json:KEY``: the value
        at KEY, a dotted path, of a JSON object in the text; none if an object gives a key twice.
    scale : RatingScale
        What an answer may be.

    Returns
    -------
    Reading
        Two different ratings are no rating.

    Examples
    --------
    >>> five = RatingScale(labels=("1", "2", "3", "4", "5"), relevance=(1, 2, 3, 4, 5))
    >>> read_rating("Experience is solid.\n**Overall: 4/5**", "number", five).score
    4
    >>> read_rating('{"fit": 3, "overall": 9}', "json:overall", five).detail
    'the rating is not on the scale'
    >>> read_rating("I'm sorry, but I cannot rate people.", "number", five).status
    'refused'
    """
    try:
        text = readable(text or "")
    except TooLongError as why:
        return Reading(status="unparsed", detail=str(why))
    try:
        if how.startswith("json:"):
            score = _from_json(text, how.removeprefix("json:").split("."), scale)
        else:
            score = {"number": _from_number, "phrase": _from_phrase}[how](text, scale)
    except _DeclinedError:
        return Reading(status="refused", detail=DECLINES)
    except (OverflowError, RecursionError):
        return Reading(status="unparsed", detail="the rating is not on the scale")
    except _UnreadError as why:
        if not text.strip():
            return Reading(status="unparsed", detail="the text is empty")
        if begins_declining(text):
            return Reading(status="refused", detail=DECLINES)
        return Reading(status="unparsed", detail=str(why))
    return Reading(score=score)


def begins_declining(text: str) -> bool:
    """Return whether a text begins by saying that it gives no answer.

    Examples
    --------
    >>> begins_declining("**I'm sorry**, but I can't."), begins_declining("4, I'm sorry to say")
    (True, False)
    """
    return _BEGINS.match(_MARKDOWN.sub("", text).strip().casefold()) is not None


class _UnreadError(Exception):
    """Why no rating is read; without a word of the text."""


class _DeclinedError(Exception):
    """The text says that it gives no rating."""


_DECLINING: Final = re.compile(
    r"\b(?:cannot|can['\u2019]?t|can not|unable to|won['\u2019]?t|will not|not able to)\b", re.I
)
_SEEN: Final = 60
"""Characters before and after a number that can make it a rating."""
_OPENS: Final = re.compile(r"[.;:!?\n](?!\d)")
_LAST: Final = (
    r"(?:an?|as|at|be|is|it|of|this|that|them|him|her|me|applicant|candidate|person|resume|cv|fit|would"
    r"|rate|rating|score)"
)
_CUE: Final = re.compile(
    rf"\b(?:rat(?:e|ed|ing)|scor(?:e|ed|ing)|giv(?:e|en)|grade)\b(?:[^\d.;\n$]{{0,40}}\b{_LAST})?[\s:=(]*$"
    rf"|\b(?:overall|answer|say)\b[\s:=,]*(?:{_LAST}\b[\s:=,]*){{0,4}}$",
    re.I,
)
_NAMED: Final = re.compile(r"\b(?:rate|score|grade|give)\s+(?:[^\W\d_a-z][\w'\u2019.-]*\s+){1,4}$")
_NOT_SO: Final = re.compile(
    r"n['\u2019]t\b|\b(?:not|never|cannot|nor|neither|no|below|under|above|over|than|least|most|between|from|around|up\s+to"
    r"|almost|nearly|minimum|maximum|if|unless|either)\b",
    re.I,
)
_ENDS: Final = re.compile(
    r"\s*(?:stars?\b|points?\b|here\b|overall\b)?\s*\)?\s*"
    r"(?:$|\n|[.;!)](?!\d)|,(?!\s*(?:\d|or\b|maybe\b|perhaps\b|possibly\b|if\b))|[-\u2013\u2014](?=\s+[^\W\d])"
    r"|(?:because|since|based)\b)",
    re.I,
)
_SCALE: Final = re.compile(
    rf"\bscale\b(?:\s+(?:is|of|from|runs|goes|being|that))*\s*:?\s*(?:{_NUMBER}\s*(?:[-\u2013\u2014]|to)\s*)?(?P<top>{_NUMBER})"
    rf"|(?P<points>{_NUMBER})[\s-]points?\s+scale\b|\(\s*\d+\s*(?:[-\u2013\u2014]|to)\s*(?P<range>\d+)\s*\)\s*:",
    re.I,
)


def _given(plain: str, number: re.Match[str]) -> bool:
    """Whether a number in prose is given as a rating."""
    before = plain[max(number.start() - _SEEN, 0) : number.start()]
    clause = _OPENS.split(before)[-1]
    if _NOT_SO.search(clause) or not _ENDS.match(plain, number.end(), number.end() + _SEEN):
        return False
    return number["top"] is not None or any(cue.search(before) for cue in (_CUE, _NAMED))


def _from_number(text: str, scale: RatingScale) -> float:
    plain = _BOXED.sub(r"\1", _MARKDOWN.sub("", text))
    alone = [found for line in _statements(plain) if (found := _ALONE.fullmatch(line)) is not None]
    if not alone and _DECLINING.search(plain) is not None:
        raise _DeclinedError
    # In prose a number is a rating after a word that says so, or out of the scale's top: not years, lists or money.
    rated = alone or [found for found in _RATED.finditer(plain) if _given(plain, found)]
    if not rated:
        raise _UnreadError("the text holds no number that is given as a rating")
    top = max(scale.relevance)
    if any(
        float(said) != top for found in _SCALE.finditer(plain) for said in found.groups() if said is not None
    ):
        raise _UnreadError(f"the text speaks of a scale that does not end at {top:g}")
    if any(found["top"] is not None and float(found["top"]) != top for found in rated):
        raise _UnreadError(f"the rating is out of another number than {top:g}")
    if top != _STARS and any(found["stars"] and found["top"] is None for found in alone):
        raise _UnreadError(
            f"the rating is in stars, of which there are {_STARS}, and the scale ends at {top:g}"
        )
    values = {float(found["value"]) for found in rated}
    if len(values) > 1:
        raise _UnreadError("the text holds several numbers, and none of them alone on a line")
    return _on(scale, values.pop())


def _from_phrase(text: str, scale: RatingScale) -> float:
    found = {
        worth for line in _statements(_MARKDOWN.sub("", text)) if (worth := scale.of_label(line)) is not None
    }
    if not found and (begun := read_label(text, scale.labels)) is not None:
        found = {scale.relevance[begun]}
    if not found:
        raise _UnreadError("no label stands alone on a line or begins the text")
    if len(found) > 1:
        raise _UnreadError("the text gives several labels")
    return found.pop()


def _statements(text: str) -> Iterator[str]:
    """Yield each line, without its heading if it has one, and without punctuation around it."""
    for line in text.splitlines():
        yield _HEADING.sub("", line).strip(" \t.,;!'()[]")


def _from_json(text: str, path: Sequence[str], scale: RatingScale) -> float:
    try:
        objects = [value for _, value in json_values(text, "{")]
    except RepeatedKeyError as why:
        raise _UnreadError(str(why)) from None
    values = [value for found in objects for value in _at(found, path)]
    if not values:
        raise _UnreadError(
            f"no JSON object in the text has the key {'.'.join(path)}" if objects else "no JSON object"
        )
    scores = {_typed(value, scale) for value in values}
    if len(scores) > 1:
        raise _UnreadError("the text holds several JSON objects with different ratings")
    return scores.pop()


def _at(value: Any, path: Sequence[str]) -> list[Any]:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return []
        value = value[key]
    return [value]


def _typed(value: Any, scale: RatingScale) -> float:
    if isinstance(value, str):
        if (worth := scale.of_label(value)) is not None:
            return worth
        number = _as_number(value)
    else:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None:
        raise _UnreadError("the value is no number and none of the labels")
    return _on(scale, number)


def _on(scale: RatingScale, value: float) -> float:
    if (worth := scale.of_number(value)) is None:
        raise _UnreadError("the rating is not on the scale")
    return worth


def _as_number(text: str) -> float | None:
    return float(text) if re.fullmatch(_NUMBER, text.strip()) else None
