"""What a sentence on the highest rate says: of which breakdown, which category, and how high."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from audit_lib.check.row_labels import Label, read_label, without_denied_ethnicity
from audit_lib.check.stated_fields import NEGATED
from audit_lib.policies import Policy

_I: Final = re.IGNORECASE
_GROUP: Final = r"(?:categor(?:y|ies)|groups?)"
OTHER_RATES: Final = r"(?!withdraw|drop|complet|respon|attend|accept|turnover|retent|error)"
"""No rate of selection or scoring follows."""
_HIGHEST: Final = re.compile(
    rf"\b(?:highest|top|greatest|largest)[ -](?:{OTHER_RATES}[\w-]+ ){{0,2}}rate\b|"
    r"\bhighest[- ](?:scoring|selected|rated) "
    rf"{_GROUP}|\b(?:highest|top) {_GROUP}|\bmost[- ](?:often |frequently )?selected\b",
    _I,
)
_OTHER_RANK: Final = re.compile(
    r"\blowest\b|\bleast\b|\b(?:second|third|next)[- ](?:to )?(?:the )?(?:highest|most|largest)", _I
)
# A definition names no category: "divided by the rate of the most selected category".
_DEFINES: Final = re.compile(
    r"\b(?:divided by|divid\w+|compared (?:with|to)|relative to|means|defined)\b", _I
)
_EARLIER: Final = re.compile(
    r"\b(?:previous|prior|preceding|former|earlier|archiv\w+|superseded)\b|\blast year\b", _I
)
_YEAR: Final = re.compile(r"\b(?:in|of|for|from) (?:the (?:year )?)?((?:19|20)\d\d)\b", _I)
_CROSSED: Final = re.compile(r"\bintersection\w*|\bcross(?:ed|ing)?\b|\bcombin\w+", _I)
_BY_SEX: Final = re.compile(r"\b(?:sex(?:es)?|genders?)\b", _I)
_BY_RACE: Final = re.compile(r"\b(?:race|ethnicit\w+|ethnic|racial)\b", _I)
_RATE: Final = re.compile(
    r"(?<![\w.,/-])(?:(?P<percent>\d{1,3}(?:\.\d+)?) ?(?:%|percent\b|per cent\b)|"
    r"(?P<decimal>[01]?\.\d+)(?![\d%])(?! ?%))"
)
_OF_ANOTHER: Final = re.compile(
    r"(?:\bratios?\b[^\d;,]{0,30}|\b(?:than|under|below|above|over|least|most|within|median|threshold|interval)\b[^\d;,]{0,12}"
    r"|\d ?%? ?(?:-|\u2013|to|and) ?)$",
    _I,
)
_OF_SOMETHING: Final = re.compile(
    r"\s*(?:\(?(?:confidence|credible|interval|points?|higher|more|threshold|rule)\b|of (?:the |all |our )?(?:\w+ )?"
    r"(?:data|sample|applicants|candidates|pool|population|people|individuals)\b)",
    _I,
)
_NEAR: Final = 25
_WHO: Final = r"(?:within|among|amongst) (?:the |all |our )?(?P<who>[^,;:.()]{2,60}?)"
_OF_PART: Final = (
    re.compile(rf"^\W*{_WHO}(?=,| (?:had|has|have)\b)", _I),
    re.compile(rf"\brate(?:,? \([^()]*\)| of [\d.]+ ?%)? {_WHO}\W*$", _I),
)
"""A part of the people, at the begin of a statement or right behind its rate."""
_OF_ALL: Final = re.compile(
    r"\b(?:overall|all (?:the )?(?:\w+ )?(?:categories|groups)|also|too|except)\b", _I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Highest:
    """A statement on the highest rate.

    Parameters
    ----------
    attributes : frozenset of str
        The attributes of the breakdown that it is about.
    label : Label
        The category that it names; without levels where it names none.
    rates : tuple of (Fraction, int)
        The rates that it gives, and of each the decimals that it has as a fraction of 1.
    within : mapping of str to str
        Attribute -> category of the people that it is about, where it is about a part of them: "within the Black
        category, men".
    """

    attributes: frozenset[str]
    label: Label
    rates: tuple[tuple[Fraction, int], ...]
    within: Mapping[str, str] = field(default_factory=dict)


def highest_in(sentence: str, policy: Policy) -> Iterator[Highest]:
    """Yield what a sentence says of the highest rate, as far as it names one category or one breakdown.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> policy = load_policy("nyc_ll144")
    >>> said = "Among the race categories, White (Not Hispanic or Latino) had the highest rate (46.4%); its ratio is 1."
    >>> [(one.label.key, *one.rates) for one in highest_in(said, policy)]
    [('White', (Fraction(58, 125), 3))]
    >>> list(highest_in("The rate of a category is divided by the highest rate of its table.", policy))
    []
    """
    goes_on = False
    for part in re.split(r";", sentence):
        found = _HIGHEST.search(part)
        scope = _scope(part)
        if found is None and not (goes_on and scope):
            continue
        if _OTHER_RANK.search(part) or _DEFINES.search(part):
            continue
        if found is not None and _is_denied(part, found):
            continue
        goes_on = True
        label = read_label([part], policy)
        if label.role != "category":
            continue
        rates = tuple(_rates(part))
        if within := _within(part, policy):
            if len(label.levels) > len(within):
                yield Highest(attributes=frozenset(label.levels), label=label, rates=rates, within=within)
            continue
        levels = {name: level for name, level in label.levels.items() if not scope or name in scope}
        attributes = frozenset(levels) if levels else scope
        if scope and levels and set(levels) != set(scope):
            continue
        if levels or (scope and len(rates) == 1):
            yield Highest(
                attributes=attributes,
                label=Label(text=label.text, role="category", levels=levels),
                rates=rates,
            )


def _within(part: str, policy: Policy) -> Mapping[str, str]:
    """Return the category that a statement looks at a part of: "among Black applicants, men had the highest rate"."""
    for pattern in _OF_PART:
        if (found := pattern.search(part)) is None:
            continue
        rest = f"{part[: found.start()]} {part[found.end() :]}"
        if _scope(rest) or _OF_ALL.search(part):
            continue
        label, other = read_label([found["who"]], policy), read_label([rest], policy)
        if len(label.levels) == 1 and other.levels and not other.levels.items() <= label.levels.items():
            return label.levels
    return {}


def is_of_earlier(sentence: str, year: int | None) -> bool:
    """Whether a sentence is about an earlier audit or year than the one in `year`, which is the latest audit's.

    Examples
    --------
    >>> [is_of_earlier(text, 2026) for text in ("In 2025, men had it.", "In 2026, men had it.")]
    [True, False]
    """
    said = [int(found[1]) for found in _YEAR.finditer(sentence)]
    return _EARLIER.search(sentence) is not None or any(year is None or other < year for other in said)


def _scope(part: str) -> frozenset[str]:
    """Return the attributes of the breakdown that words name; none where they name none, or not one alone."""
    sex, race = _BY_SEX.search(part), _BY_RACE.search(part)
    if _CROSSED.search(part):
        return frozenset({"sex", "race"})
    if (sex is None) == (race is None):
        return frozenset()
    return frozenset({"sex"} if sex else {"race"})


def _is_denied(part: str, found: re.Match[str]) -> bool:
    before = re.split(r",", part[: found.start()])[-1]
    words = without_denied_ethnicity(f"{before} {part[found.start() : found.end() + _NEAR]}")
    return NEGATED.search(words) is not None


def _rates(part: str) -> Iterator[tuple[Fraction, int]]:
    for found in _RATE.finditer(part):
        if _OF_ANOTHER.search(part, 0, found.start()) or _OF_SOMETHING.match(part, found.end()):
            continue
        digits = found["percent"] or found["decimal"]
        value = Fraction(digits if digits[0] != "." else f"0{digits}")
        decimals = len(digits.partition(".")[2])
        if found["percent"]:
            value, decimals = value / 100, decimals + 2
        if 0 < value < 1:  # a ratio is 1 where a rate hardly is
            yield value, decimals
