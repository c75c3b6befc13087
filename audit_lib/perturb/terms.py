"""The rows of a lexicon of words that mention groups: read, checked, and told apart.

A word of one attribute never takes the words of another with it: *white* before *woman* is a row for *white* with a
condition on what follows, and a phrase such as *white woman* is refused where sex is audited too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from audit_lib.errors import LexiconError
from audit_lib.registry import did_you_mean

Levels = Mapping[str, Sequence[str]]
"""The spec's attributes, each with its levels."""

CONDITIONS: Final = ("before", "not_before", "after", "not_after")
"""Columns with words, ``|`` between them, that have to stand, or must not, right behind or ahead of a row's word."""

NOTES: Final = ("part", "case", "of", *CONDITIONS, "says", "joint")
"""Columns of a lexicon that are no level: the part of speech that a row is for; ``exact`` case; the only levels whose
word is looked for (*Mrs.* becomes *Mr.*, but *Mr.* becomes *Ms.*); conditions; another attribute's level that the
words say too (``sex=female`` for *Latina*); and the name of the rows that together give such a word's counterparts"""

_AHEAD: Final = 80  # characters looked back for what stands before a word
_GAP: Final = r"[\s-]+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What has to stand, or must not, right before and after a word; words are parted by white space or hyphens."""

    before: re.Pattern[str] | None
    not_before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    not_after: re.Pattern[str] | None

    @classmethod
    def of(cls, row: Mapping[str, str]) -> Context | None:
        """Read the conditions of a row.

        Examples
        --------
        >>> white = Context.of({"before": "man|woman"})
        >>> [white.fits(text, 2, 7) for text in ("A white  woman", "A white coat", "A white womanly")]
        [True, False, False]
        """
        wanted = {name: _phrases(row.get(name, "")) for name in CONDITIONS}
        if not any(wanted.values()):
            return None
        following = {
            name: re.compile(rf"{_GAP}(?:{wanted[name]})(?!\w)", re.IGNORECASE) if wanted[name] else None
            for name in ("before", "not_before")
        }
        leading = {
            name: re.compile(rf"(?<!\w)(?:{wanted[name]}){_GAP}\Z", re.IGNORECASE) if wanted[name] else None
            for name in ("after", "not_after")
        }
        return cls(**following, **leading)

    def fits(self, text: str, start: int, end: int) -> bool:
        """Tell whether ``text[start:end]`` stands where it has to."""
        if self.before is not None and not self.before.match(text, end):
            return False
        if self.not_before is not None and self.not_before.match(text, end):
            return False
        ahead = text[max(0, start - _AHEAD) : start]
        if self.after is not None and not self.after.search(ahead):
            return False
        return self.not_after is None or not self.not_after.search(ahead)


def _phrases(cell: str) -> str:
    phrases = [re.split(r"[\s-]+", phrase.strip()) for phrase in cell.split("|") if phrase.strip()]
    return "|".join(_GAP.join(map(re.escape, words)) for words in phrases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word or phrase that mentions a group.

    Parameters
    ----------
    attribute : str
        What it mentions.
    written : str
        As the lexicon writes it.
    level : int
        Which level of the attribute it says.
    counterparts : tuple of str
        For each level of the attribute, in the spec's order.
    part : str or None
        The part of speech that it has to have here.
    exact : bool
        Whether it counts only in the case in which it is written: ``Black``, not ``black``.
    context : Context or None
        What has to stand around it.
    other, other_level : str or None, int
        A second attribute that it says too, and which level of it.
    table : tuple of tuple of str
        Counterparts for each level of `other`; empty without one.
    line : int
        Where it stands in the file, for messages.
    """

    attribute: str
    written: str
    level: int
    counterparts: tuple[str, ...]
    part: str | None = None
    exact: bool = False
    context: Context | None = None
    other: str | None = None
    other_level: int = 0
    table: tuple[tuple[str, ...], ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All that it mentions."""
        return (self.attribute,) if self.other is None else (self.attribute, self.other)

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"perturb.terms.{self.attribute}, line {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    attribute: str
    line: int
    counterparts: tuple[str, ...]
    wanted: tuple[int, ...]
    part: str | None
    exact: bool
    context: Context | None
    says: tuple[str, str] | None
    joint: str

    @property
    def where(self) -> str:
        return f"perturb.terms.{self.attribute}, line {self.line}"


def read_terms(rows: Mapping[str, Sequence[Mapping[str, str]]], levels: Levels) -> list[Term]:
    """Return the terms of lexicons: attribute -> rows of level -> word, with the columns of `NOTES` where needed.

    Raises
    ------
    LexiconError
        If an attribute is none of the spec's, or a row cannot be used.
    """
    read: list[_Row] = []
    for attribute, entries in rows.items():
        if attribute not in levels:
            known = did_you_mean(attribute, list(levels))
            raise LexiconError(f"perturb.terms: {attribute!r} is no attribute of groups{known}")
        read += [_row(attribute, levels, row, line) for line, row in enumerate(entries, start=2)]
    return [term for row in read for term in _of_row(row, read, levels)]


def _row(attribute: str, levels: Levels, row: Mapping[str, str], line: int) -> _Row:
    where, own = f"perturb.terms.{attribute}, line {line}", list(levels[attribute])
    for level in own:
        if level not in row:
            known = did_you_mean(level, [column for column in row if column not in NOTES])
            raise LexiconError(f"{where}: no column for the level {level!r}{known}")
    part, case = row.get("part", "").strip() or None, row.get("case", "").strip()
    if case not in ("", "exact"):
        raise LexiconError(f"{where}: case is empty or 'exact', not {case!r}")
    if part is not None:
        from audit_lib.perturb.agreement import PARTS

        if part not in PARTS:
            raise LexiconError(
                f"{where}: no part of speech is named {part!r}{did_you_mean(part, list(PARTS))}"
            )
    counterparts = tuple(" ".join(row[level].split()) for level in own)
    for level, written in zip(own, counterparts, strict=True):
        if not any(map(str.isalnum, written)):
            raise LexiconError(f"{where}: no word for the level {level!r}; a counterpart cannot be empty")
    of, says = row.get("of", "").strip(), _says(row, levels, attribute, where)
    if len(set(counterparts)) == 1 and says is None:
        raise LexiconError(f"{where}: all levels have the same word, which tells no group; remove the row")
    wanted = [one.strip() for one in of.split("|")] if of not in ("", "-") else [] if of else own
    for level in wanted:
        # A level that only other audits have is no fault: its word is a counterpart of nothing here.
        if level not in own and level not in row:
            raise LexiconError(f"{where}: of names no level: {level!r}{did_you_mean(level, own)}")
    return _Row(
        attribute=attribute, line=line, counterparts=counterparts,
        wanted=tuple(own.index(level) for level in wanted if level in own),
        part=part, exact=case == "exact", context=Context.of(row), says=says, joint=row.get("joint", "").strip(),
    )  # fmt: skip


def _says(row: Mapping[str, str], levels: Levels, attribute: str, where: str) -> tuple[str, str] | None:
    """Return the other attribute of this audit, and its level, that a row's words say."""
    if not (cell := row.get("says", "").strip()):
        return None
    other, equals, level = (part.strip() for part in cell.partition("="))
    if not equals or other == attribute:
        raise LexiconError(
            f"{where}: says is another attribute and its level, such as sex=female, not {cell!r}"
        )
    if other not in levels:
        return None
    if level not in levels[other]:
        raise LexiconError(
            f"{where}: says names no level of {other}: {level!r}{did_you_mean(level, list(levels[other]))}"
        )
    return other, level


def _of_row(row: _Row, rows: Sequence[_Row], levels: Levels) -> Iterator[Term]:
    table: tuple[tuple[str, ...], ...] = ()
    other, other_level = None, 0
    if row.says is not None:
        if not row.joint:
            return  # the other attribute's own file has the word
        other, other_level = row.says[0], list(levels[row.says[0]]).index(row.says[1])
        together = {
            one.says[1]: one.counterparts
            for one in rows
            if one.attribute == row.attribute and one.joint == row.joint and one.says and one.says[0] == other
        }
        if missing := [level for level in levels[other] if level not in together]:
            raise LexiconError(f"{row.where}: joint {row.joint!r} has no row that says {other}={missing[0]}")
        table = tuple(together[level] for level in levels[other])
    seen: set[str] = set()
    for level in row.wanted:
        if (written := row.counterparts[level]) not in seen:
            seen.add(written)
            yield Term(
                attribute=row.attribute, written=written, level=level, counterparts=row.counterparts,
                part=row.part, exact=row.exact, context=row.context, other=other, other_level=other_level,
                table=table, line=row.line,
            )  # fmt: skip


def in_order(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return terms of one form in the order in which they are tried, and refuse those that nothing tells apart.

    One with a condition goes before one without, one for an exact case before one for any; else the first row.

    Raises
    ------
    LexiconError
        If a term could never be reached, or the parts of speech of some are not given.
    """
    ordered = tuple(sorted(dict.fromkeys(terms), key=lambda term: (term.context is None, not term.exact)))
    for place, later in enumerate(ordered):
        for earlier in ordered[:place]:
            if earlier.context is not None:
                continue
            if (
                earlier.attribute == later.attribute
                and earlier.exact
                and (not later.exact or earlier.written != later.written)
            ):
                continue
            if earlier.part is not None and later.part is not None and earlier.part != later.part:
                continue
            if (earlier.part is None) != (later.part is None):
                raise LexiconError(
                    f"perturb.terms.{later.attribute}: {later.written!r} has a row with a `part` and one without; "
                    "give both rows a `part`"
                )
            raise LexiconError(
                f"perturb.terms.{later.attribute}: {later.written!r} stands in two rows"
                + (f" (the other in {earlier.attribute})" if earlier.attribute != later.attribute else "")
                + f" with different counterparts (lines {earlier.line} and {later.line}); give both rows a `part` or "
                "a condition, or keep one"
            )
    return ordered


def in_case(own: str, term: Term, word: str) -> str:
    """Return a counterpart in the case that a mention has in its text.

    Examples
    --------
    >>> term = Term(attribute="sex", written="young woman", level=0, counterparts=("young woman", "young man"))
    >>> [in_case(own, term, "young man") for own in ("young woman", "Young woman", "Young Woman", "YOUNG WOMAN")]
    ['young man', 'Young man', 'Young Man', 'YOUNG MAN']
    >>> in_case("Maternity Leave", term, "leave for fathers")
    'Leave For Fathers'
    """
    if term.exact or own == term.written:
        return word
    parts, words = own.split(), word.split(" ")
    if len(parts) == len(words):
        return " ".join(map(_like, parts, words))
    if all(part[:1].isupper() for part in parts):
        return " ".join(_like(parts[0], one) for one in words)
    return _like(own, word)


def _like(own: str, word: str) -> str:
    if own.isupper() and sum(map(str.isalpha, own)) > 1:
        return word.upper()
    if own.islower():
        return word.lower()
    return word[:1].upper() + word[1:] if own[:1].isupper() else word
