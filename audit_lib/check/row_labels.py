"""Row labels of published tables, as categories of the policy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from audit_lib.policies import Policy

RowRole = Literal["category", "unknown", "total"]

# How people write the policy's categories. The policy's own name always counts; a test holds the two together.
_SYNONYMS: Final[Mapping[str, str]] = {
    "Male": r"males?|men|man|m",
    "Female": r"females?|women|woman|f",
    "Hispanic or Latino": r"hispanics?|latin[oaxe]s?|latino/a",
    "White": r"whites?|caucasians?",
    "Black or African American": r"blacks?|(?:african|afr\.?)[- ]americans?",
    "Native Hawaiian or Pacific Islander": r"(?:native |nat\.? )?hawaiians?|(?:pacific|pac\.?) (?:islander|isl\.?)s?|"
    r"nhpi|nhopi",
    "Asian": r"asians?",
    "Native American or Alaska Native": r"(?:native american|american indian|am\.? indian|amer\.? indian)s?|"
    r"alaskan? (?:natives?|nat\.?)|ai/?an|naan",
    "Two or More Races": r"(?:two|2) or more(?: races)?|(?:two|2) ?\+(?: races)?|(?:more than|over) one(?: race)?|"
    r"multiple races|multi[- ]?racial|mixed race",
}
_SEXES: Final = ("Male", "Female")
_FILLERS: Final = frozenset(
    {"or", "and", "other", "alone", "applicants", "candidates", "individuals", "people"}
)
_OF_TABLES: Final = frozenset(
    {"by", "of", "for", "table", "exhibit", "results", "only", "race", "ethnicity", "sex", "gender", "categories",
     "impact", "ratios", "continued", "cont", "d"}
)  # fmt: skip
_NOT_HISPANIC: Final = re.compile(
    r"\(?\s*\bno[nt][ /-]*hispanic(?:(?:\s*(?:/|,|or|and)\s*)?\s*latin[oaxe](?:/a)?)?\s*\)?"
)
_UNKNOWN: Final = re.compile(
    r"\b(?:unknown|undisclosed|undeclared|unreported|unspecified|missing|declined?|"
    r"(?:not|no|non)[ -](?:\w+[ -])?(?:disclosed|specified|reported|provided|answer(?:ed)?|response|stated|declared|"
    r"identified|available|known|data)|prefer(?:red)? not|(?:do|did|does)(?: not|n't) (?:wish|want|identify|disclose|"
    r"answer|report|know)|blank)\b"
)
_TOTAL: Final = re.compile(
    r"(?:\w+ )?(?:sub)?totals?\b.*|overall\b.*|all(?: (?:applicants|candidates|categories|groups|known|people|persons|"
    r"individuals|rows|sexes|genders|races))?|(?:column |the )?sums?|every(?:one|body)|both(?: sexes| genders)?|"
    r"combined|(?:men and women|women and men|male and female|female and male)(?: together)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a row is about.

    Parameters
    ----------
    text : str
        The label as it prints.
    role : {"category", "unknown", "total"}
        A category of people, people of unknown category, or a sum of rows.
    levels : mapping of str to str
        Attribute -> the policy's category; without an attribute that was not recognised. Of unknown people and sums
        it is what they are restricted to: none in ``Total``, a sex in ``Male, Total``.
    """

    text: str
    role: RowRole
    levels: Mapping[str, str]

    @property
    def key(self) -> str:
        """Equal for two labels of one category."""
        return ", ".join(self.levels.values()) if self.levels else self.text.casefold()

    @property
    def whole(self) -> bool:
        """Whether each of its parts was recognised: not in ``Female, Rare``, of which a policy knows the sex only."""
        parts = _NOT_HISPANIC.sub("", self.text.casefold()).split(",")
        return sum(bool(part.strip()) for part in parts) <= max(len(self.levels), 1)


def read_label(parts: Sequence[str], policy: Policy) -> Label:
    """Understand the label cells of a row, from the left.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> policy = load_policy("nyc_ll144")
    >>> dict(read_label(["Non/Hispanic or Latino", "Female", "Black"], policy).levels)
    {'sex': 'Female', 'race': 'Black or African American'}
    >>> read_label(["Declined to answer"], policy).role, read_label(["Non-binary"], policy).levels
    ('unknown', {})
    """
    kept = [part for i, part in enumerate(parts) if part and part not in parts[:i]]
    text = ", ".join(kept)
    words = _plain(text)
    levels: dict[str, str] = {}
    rest = _NOT_HISPANIC.sub(" ", words)
    for attribute in policy.attributes:
        found = [
            name for name in (level.name for level in attribute.categories) if _pattern(name).search(rest)
        ]
        # Two races in one label ("Asian or Pacific Islander") are a category of another taxonomy.
        if len(found) == 1:
            levels[attribute.name] = found[0]
    role: RowRole = "category"
    if _UNKNOWN.search(words):
        role = "unknown"
    elif any(_TOTAL.fullmatch(_plain(part)) for part in (text, *kept)):
        role = "total"
    return Label(text=text, role=role, levels=levels)


def names_category(text: str, name: str) -> bool:
    """Whether a text names one of the policy's categories, in its own words or in other ones.

    Examples
    --------
    >>> names_category("Pacific Islanders were 12 people.", "Native Hawaiian or Pacific Islander")
    True
    """
    return _pattern(name).search(_plain(text)) is not None


def without_denied_ethnicity(text: str) -> str:
    """Return a text without the "not Hispanic or Latino" of a race's own name, which denies nobody.

    Examples
    --------
    >>> without_denied_ethnicity("White (Not Hispanic or Latino), 12")
    'white , 12'
    """
    return " ".join(_NOT_HISPANIC.sub(" ", _plain(text)).split())


def category_named(text: str) -> str:
    """Return the category of sex or of race that a text is the whole name of, or nothing.

    Examples
    --------
    >>> category_named("Women"), category_named("Asian (not Hispanic or Latino)"), category_named("Asian Women")
    ('Female', 'Asian', '')
    """
    found = [*categories_in(text)]
    if len(found) != 1:
        return ""
    rest = re.findall(r"\w+", _pattern(found[0]).sub(" ", without_denied_ethnicity(text)))
    return found[0] if set(rest) <= _FILLERS else ""


def category_over(caption: str) -> str:
    """Return the category of sex or of race that a table is about by its caption, or nothing.

    Examples
    --------
    >>> [category_over(text) for text in ("Table 3: Women by race/ethnicity", "Men and women", "Women in sales")]
    ['Female', '', '']
    """
    found = [*categories_in(caption)]
    if len(found) != 1:
        return ""
    rest = re.findall(r"[a-z]+", _pattern(found[0]).sub(" ", without_denied_ethnicity(caption)))
    return found[0] if set(rest) <= _FILLERS | _OF_TABLES else ""


def categories_in(text: str) -> set[str]:
    """Return the categories of sex and of race that a text names.

    Examples
    --------
    >>> sorted(categories_in("Men, women and Asian women"))
    ['Asian', 'Female', 'Male']
    """
    words = _NOT_HISPANIC.sub(" ", _plain(text))
    return {name for name in _SYNONYMS if _pattern(name).search(words)}


def told_apart(texts: Sequence[str]) -> int:
    """Count the texts that name one category of sex, of race or of both, which no other one names.

    Examples
    --------
    >>> told_apart(["Male", "Two or More Races Male"]), told_apart(["Asian Two or More", "Races"])
    (2, 0)
    """
    return sum(1 for found, times in Counter(map(named_alone, texts)).items() if found and times == 1)


def of_one_category(texts: Sequence[str]) -> int:
    """Count the texts that name one category of sex, of race or of both, though others may name it too.

    Examples
    --------
    >>> of_one_category(["Asian", "Asian", "Latino White"])
    2
    """
    return sum(bool(named_alone(text)) for text in texts)


def named_alone(text: str) -> tuple[str, ...]:
    """Return the one category of sex, of race or of both that a text names; nothing of a sum or unknown people.

    Examples
    --------
    >>> named_alone("Asian women"), named_alone("Total women"), named_alone("Asian or white")
    (('Asian', 'Female'), (), ())
    """
    words = _plain(text)
    if _UNKNOWN.search(words) or re.search(r"\btotals?\b", words):
        return ()
    found = tuple(sorted(categories_in(text)))
    races = [name for name in found if name not in _SEXES]
    return found if len(races) < 2 and len(found) - len(races) < 2 else ()


@cache
def _pattern(name: str) -> re.Pattern[str]:
    words = re.escape(name.lower()) + (f"|{_SYNONYMS[name]}" if name in _SYNONYMS else "")
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")


def _plain(text: str) -> str:
    words = re.sub(
        r"[*\u2020\u2021\u00a7\u00b9\u00b2\u00b3]|\[\d+\]|\(\w\)", " ", text.lower().replace("\u2019", "'")
    )
    return " ".join(words.replace("&", " and ").split())
