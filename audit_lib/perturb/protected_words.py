"""Words that say which group somebody belongs to, by kind (sex, race, ...), found in any text.

The finding is that of `perturb.lexicon`: whole words, conditions on what stands before and after, and alternatives
such as *he or she*, links and addresses left out. The words ship as ``include/lexicons/protected/KIND.csv``; nothing
is exchanged here, so a word needs no counterpart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from audit_lib.errors import LexiconError
from audit_lib.perturb.lexicon import SwapLexicon
from audit_lib.perturb.tables import read_lexicon
from audit_lib.perturb.terms import CONDITIONS, Context, Term
from audit_lib.spec.protected_lists import shipped_files

COLUMNS: Final = ("word", "level", "also", "case", *CONDITIONS)
"""``word`` may hold several with ``|`` between them; ``level`` tells alternatives apart (*he or she*); ``also`` is
another kind and level that the word says too."""

_AGE: Final = "age"
_SAID: Final = "mentioned"
_AGES: Final = re.compile(
    r"(?<![\w.-])(?:1[4-9]|[2-9]\d)[ -]?years?[ -]old(?!\w)"
    r"(?![ -](?:firm|company|business|building|bridge|codebase|system|software|house|plant|brand|school|institution))"
    r"|\bage[d:]*\s+(?:1[4-9]|[2-9]\d)(?!\d)"
    r"|\bdate of birth\b|\bborn\s+(?:in|on)\s+(?:[a-z]+\s+)?(?:\d{1,2},?\s+)?(?:19[2-9]|20[01])\d(?!\d)"
    r"|\b(?:under|over|below|above)\s+(?:the\s+age\s+of\s+)?(?:[2-9]0)(?![\w%.,]|\s+(?:\w+))"
    r"|\b(?:under|over)\s+the\s+age\s+of\b",
    re.IGNORECASE,
)
"""Ages in numbers, which no list of words holds."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A protected word in a text: its kind, and from which character to which it stands."""

    kind: str
    start: int
    end: int


class ProtectedWords:
    """Finds protected words by kind.

    Parameters
    ----------
    files : mapping of str to bytes
        Kind -> CSV with the columns of `COLUMNS`.

    Raises
    ------
    LexiconError
        If a file cannot be used.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        rows = {kind: read_lexicon(content, _named(kind), COLUMNS) for kind, content in files.items()}
        levels: dict[str, list[str]] = {}
        for kind, entries in rows.items():
            levels[kind] = list(dict.fromkeys(row["level"] or _SAID for row in entries))
        self.kinds = tuple(rows)
        self._lexicon = SwapLexicon(
            [term for kind, entries in rows.items() for term in _terms(kind, entries, levels)], levels
        )

    def find(self, text: str) -> list[Mention]:
        """Return the mentions in a text, from the left.

        Examples
        --------
        >>> words = shipped_words()
        >>> text = "Ms. Black, 62 years old, chairs the Black Student Union; he/she may work from May."
        >>> [(one.kind, text[one.start:one.end]) for one in words.find(text)]
        [('sex', 'Ms.'), ('age', '62 years old'), ('race', 'Black')]
        """
        text, at = _plain(text)
        parsed = self._lexicon.parse(text)
        starts = [0]
        for piece in parsed.pieces:
            starts.append(starts[-1] + len(piece))
        found = {
            Mention(kind, starts[place], starts[place + 1])
            for kind, mentions in parsed.mentions.items()
            for place, _ in mentions
        }
        for place, kinds, _, _ in parsed.joint:
            found |= {Mention(kind, starts[place], starts[place + 1]) for kind in kinds}
        if _AGE in self.kinds:
            found |= {Mention(_AGE, *match.span()) for match in _AGES.finditer(text)}
        if at is not None:
            found = {Mention(one.kind, at[one.start], at[one.end - 1] + 1) for one in found}
        return sorted(found, key=lambda one: (one.start, one.end, one.kind))


def shipped_words() -> ProtectedWords:
    """Return what finds the words of the shipped lists."""
    return ProtectedWords(shipped_files())


def _plain(text: str) -> tuple[str, list[int] | None]:
    """Return a text with every letter in its plain form, and where each of its characters stands in the original.

    Full-width letters, dashes and spaces of other kinds are the plain ones; signs that nobody sees are left out. Cases
    and accents stay: the lists say which matter.
    """
    if text.isascii():
        return text, None
    out: list[str] = []
    at: list[int] = []
    for place, char in enumerate(text):
        for plain in char if char.isascii() else _plain_character(char):
            out.append(plain)
            at.append(place)
    return "".join(out), at


@lru_cache(4096)
def _plain_character(char: str) -> str:
    if unicodedata.category(char) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKC", char)
    return "-" if plain in "\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{MINUS SIGN}" else plain


def _named(kind: str) -> str:
    return f"protected words, {kind}"


def _terms(kind: str, rows: list[dict[str, str]], levels: Mapping[str, list[str]]) -> Iterator[Term]:
    own = levels[kind]
    for line, row in enumerate(rows, start=2):
        other, equals, level = row["also"].partition("=")
        if other and (other not in levels or level not in levels[other] or not equals):
            raise LexiconError(
                f"{_named(kind)}, line {line}: also is a kind of another list and its level, such as sex=female, not "
                f"{row['also']!r}"
            )
        if row["case"] not in ("", "exact"):
            raise LexiconError(f"{_named(kind)}, line {line}: case is empty or 'exact', not {row['case']!r}")
        context = Context.of(row)
        for word in row["word"].split("|"):
            same = (word,) * len(own)
            yield Term(
                attribute=kind, written=word, level=own.index(row["level"] or _SAID), counterparts=same,
                exact=row["case"] == "exact", context=context, line=line,
                other=other or None, other_level=levels[other].index(level) if other else 0,
                table=(same,) * len(levels[other]) if other else (),
            )  # fmt: skip
