"""Words that a narrow column cut: within a word without a hyphen, or at the edge of the cell."""

from __future__ import annotations

from functools import cache
from typing import Final

_PHRASES: Final = (
    "American Indian or Alaska Native", "Native American or Alaska Native", "Black or African American",
    "Native Hawaiian or Other Pacific Islander", "Native Hawaiian or Pacific Islander", "Two or More Races",
    "Hispanic or Latino", "Not Hispanic or Latino", "Race/Ethnicity", "Race or ethnicity", "White", "Asian", "Male",
    "Female", "Gender", "Category", "Impact Ratio", "Adverse Impact Ratio", "Selection Rate", "Scoring Rate",
    "Passing Rate", "Advancement Rate", "Hire Rate", "Number of Applicants", "Number of Candidates",
    "Individuals Assessed", "Individuals Selected", "Candidates Advanced", "Total Applicants", "Total Selected",
    "Unknown", "Overall", "Grand Total", "Prefer not to say",
)  # fmt: skip
_WORDS: Final = frozenset(word.lower() for phrase in _PHRASES for word in phrase.replace("/", " ").split())
_MOST_PIECES: Final = 4
_SHORTEST: Final = 8  # letters that tell a phrase which goes on beyond its cell
_ENDS: Final = ".,:;*\u00b9\u00b2\u00b3\u2020\u2021"


@cache
def whole_words(text: str) -> str:
    """Put words of tables together that a line's end cut, and end a phrase of which only the beginning is there.

    Examples
    --------
    >>> whole_words("Individual s Assessed"), whole_words("Americ an Indian"), whole_words("Native Hawa")
    ('Individuals Assessed', 'American Indian', 'Native Hawaiian or Other Pacific Islander')
    """
    pieces, found = text.split(" "), []
    while pieces:
        for many in range(min(_MOST_PIECES, len(pieces)), 1, -1):
            joined = "".join(pieces[:many])
            if _is_word(joined) and not all(map(_is_word, pieces[:many])):
                found.append(joined)
                del pieces[:many]
                break
        else:
            found.append(pieces.pop(0))
    whole = " ".join(found)
    begun = [phrase for phrase in _PHRASES if phrase.lower().startswith(whole.lower())]
    if len(whole) >= _SHORTEST and not _is_word(whole.split(" ")[-1]) and begun:
        return begun[0]
    return whole


def _is_word(text: str) -> bool:
    return all(part in _WORDS for part in text.lower().strip(_ENDS).split("/"))
