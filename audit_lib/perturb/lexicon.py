"""Counterfactual substitution in texts without slots: every word of a group, as its counterpart of another.

Only whole tokens are replaced, in the case that they had; every byte outside them stays. A text is parsed
once and then rendered for any group. What was put in is never looked at again, so pairs that swap are
never chained. Method: Bouchard, "An Actionable Framework for Assessing Bias and Fairness in Large
Language Model Use Cases" (2024), section 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.errors import LexiconError
from audit_lib.perturb.tables import read_lexicon
from audit_lib.registry import did_you_mean
from audit_lib.whole_words import WholeWords, folded

Levels = Mapping[str, Sequence[str]]
"""The spec's attributes, each with its levels."""

NOTES: Final = ("part", "case", "of")
"""Columns of a lexicon that are no level: the part of speech that a row is for; ``exact`` case; and the only level
whose word is looked for, so that *Mrs.* becomes *Mr.* but *Mr.* becomes *Ms.*"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word or phrase that mentions a group.

    Parameters
    ----------
    attribute : str
        What it mentions.
    written : str
        As the lexicon writes it.
    counterparts : tuple of str
        For each level of the attribute, in the spec's order.
    part : str or None
        The part of speech that it has to have here.
    exact : bool
        Whether it counts only in the case in which it is written: ``Black``, not ``black``.
    """

    attribute: str
    written: str
    counterparts: tuple[str, ...]
    part: str | None
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A text and where it mentions groups, ready to be rendered for any of them.

    Parameters
    ----------
    pieces : list of str
        The text, cut before and after each mention.
    mentions : mapping of str to sequence
        Attribute -> (place in `pieces`, what stands there for each level), for the attributes mentioned.
    levels : mapping of str to mapping
        Attribute -> (level -> its number).
    doubtful : int
        Mentions whose part of speech was guessed, as of ``her`` where it could be *him* or *his*.
    """

    pieces: list[str]
    mentions: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]]
    levels: Mapping[str, Mapping[str, int]]
    doubtful: int

    def render(self, cell: Mapping[str, str]) -> str:
        """Return the text for a group: the words of each attribute of `cell`, as that level's.

        Attributes that `cell` does not name, or the text does not mention, keep the words that they have.

        Examples
        --------
        >>> swap = SwapLexicon.of({"sex": [{"f": "she", "m": "he"}]}, {"sex": ["f", "m"]})
        >>> swap.parse("SHE said: there he is.").render({"sex": "m"})
        'HE said: there he is.'
        """
        pieces = self.pieces.copy()
        for attribute, mentions in self.mentions.items():
            if attribute in cell:
                number = self.levels[attribute][cell[attribute]]
                for place, shown in mentions:
                    pieces[place] = shown[number]
        return "".join(pieces)


class SwapLexicon:
    """The words of every group with their counterparts, found and replaced in texts.

    Parameters
    ----------
    terms : sequence of Term
        What is looked for.
    levels : mapping of str to sequence of str
        The spec's attributes with their levels.

    Raises
    ------
    LexiconError
        If there is no term, or one stands for several sets of counterparts that nothing tells apart.
    """

    def __init__(self, terms: Sequence[Term], levels: Levels) -> None:
        if not terms:
            raise LexiconError(
                "perturb.terms: no lexicon; give a CSV for each attribute that prompts may mention"
            )
        self.levels = {
            attribute: {level: number for number, level in enumerate(names)}
            for attribute, names in levels.items()
        }
        self.attributes = tuple(a for a in levels if any(term.attribute == a for term in terms))
        self.words = WholeWords(term.written for term in terms)
        by_form: dict[str, dict[Term, None]] = {}
        for term in terms:
            by_form.setdefault(folded(term.written), {})[term] = None
        self._terms = [tuple(by_form[form]) for form in self.words.entries]
        for same in self._terms:
            _check_told_apart(same)
        # What words without a second meaning become, once for each way of writing them.
        self._shown: dict[tuple[int, str], tuple[str, tuple[str, ...]]] = {}

    @classmethod
    def read(cls, files: Mapping[str, bytes], levels: Levels) -> SwapLexicon:
        """Read one CSV an attribute: a column a level, a row for each set of counterparts.

        Raises
        ------
        LexiconError
            If a file has no row, lacks a level, or has an entry that cannot be used.
        """
        return cls.of(
            {a: read_lexicon(content, f"perturb.terms.{a}", ()) for a, content in files.items()}, levels
        )

    @classmethod
    def of(cls, rows: Mapping[str, Sequence[Mapping[str, str]]], levels: Levels) -> SwapLexicon:
        """Make a lexicon of rows: attribute -> rows of level -> term, and ``part`` and ``case`` where needed."""
        terms: list[Term] = []
        for attribute, entries in rows.items():
            if attribute not in levels:
                known = did_you_mean(attribute, list(levels))
                raise LexiconError(f"perturb.terms: {attribute!r} is no attribute of groups{known}")
            for number, row in enumerate(entries, start=2):
                terms += _terms(
                    attribute, levels[attribute], row, f"perturb.terms.{attribute}, line {number}"
                )
        return cls(terms, levels)

    def parse(self, text: str) -> Parsed:
        """Find every mention of a group in a text.

        Examples
        --------
        >>> swap = SwapLexicon.of({"sex": [{"f": "woman", "m": "man"}]}, {"sex": ["f", "m"]})
        >>> parsed = swap.parse("A Woman, a manager.")
        >>> parsed.pieces, dict(parsed.mentions)
        (['A ', 'Woman', ', a manager.'], {'sex': [(1, ('Woman', 'Man'))]})
        """
        pieces: list[str] = []
        mentions: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        shown = self._shown
        behind = doubtful = 0
        for start, end, entry in self.words.hits(text):
            if start < behind:
                continue
            own = text[start:end]
            found = shown.get((entry, own))
            if found is None:
                term, sure = self._chosen(self._terms[entry], own, text, start, end)
                if term is None:
                    continue
                found = term.attribute, tuple(in_case(own, term, word) for word in term.counterparts)
                if len(self._terms[entry]) == 1:
                    shown[entry, own] = found
                doubtful += not sure
            pieces.append(text[behind:start])
            pieces.append(own)
            mentions.setdefault(found[0], []).append((len(pieces) - 1, found[1]))
            behind = end
        pieces.append(text[behind:])
        return Parsed(pieces=pieces, mentions=mentions, levels=self.levels, doubtful=doubtful)

    @staticmethod
    def _chosen(
        terms: tuple[Term, ...], own: str, text: str, start: int, end: int
    ) -> tuple[Term | None, bool]:
        """Return the term that stands here, and whether that is sure; None where case says it is another word."""
        if len(terms) == 1:
            return (None if terms[0].exact and terms[0].written != own else terms[0]), True
        fitting = [term for term in terms if not term.exact or term.written == own]
        if len(fitting) < 2:
            return (fitting[0] if fitting else None), True
        if fitting[0].exact != fitting[-1].exact:  # a row for this very case goes before one for any
            fitting = [term for term in fitting if term.exact]
        if len(fitting) == 1:
            return fitting[0], True
        from audit_lib.perturb.agreement import part_of

        part, sure = part_of(text, start, end)
        agreeing = [term for term in fitting if term.part == part]
        return (agreeing or fitting)[0], sure and bool(agreeing)


def in_case(own: str, term: Term, word: str) -> str:
    """Return a counterpart in the case that a mention has in its text.

    Examples
    --------
    >>> term = Term(attribute="sex", written="young woman", counterparts=("young man",), part=None, exact=False)
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


def _terms(attribute: str, levels: Sequence[str], row: Mapping[str, str], where: str) -> Iterator[Term]:
    for level in levels:
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
    counterparts = tuple(" ".join(row[level].split()) for level in levels)
    for level, written in zip(levels, counterparts, strict=True):
        if not any(map(str.isalnum, written)):
            raise LexiconError(f"{where}: no word for the level {level!r}; a counterpart cannot be empty")
    if len(set(counterparts)) == 1:
        raise LexiconError(f"{where}: all levels have the same word, which tells no group; remove the row")
    of = row.get("of", "").strip()
    if of and of not in levels:
        raise LexiconError(f"{where}: of names no level: {of!r}{did_you_mean(of, list(levels))}")
    wanted = counterparts if not of else (counterparts[list(levels).index(of)],)
    for written in dict.fromkeys(wanted):
        yield Term(
            attribute=attribute, written=written, counterparts=counterparts, part=part, exact=case == "exact"
        )


def _check_told_apart(terms: Sequence[Term]) -> None:
    """Refuse terms of one form that neither a part of speech nor their case tells apart."""
    seen: dict[tuple[str | None, str], Term] = {}
    for term in terms:
        key = (term.part, term.written if term.exact else "")
        other = seen.setdefault(key, term)
        if other is not term or (
            term.part is None and any(k[1] == key[1] and k[0] is not None for k in seen)
        ):
            raise LexiconError(
                f"perturb.terms.{term.attribute}: {term.written!r} stands in two rows"
                + (f" (the other in {other.attribute})" if other.attribute != term.attribute else "")
                + " with different counterparts; give both rows a `part`, or keep one"
            )
        if any(k[0] is None and k[1] == key[1] for k in seen) and term.part is not None:
            raise LexiconError(
                f"perturb.terms.{term.attribute}: {term.written!r} has a row with a `part` and one without; "
                "give both rows a `part`"
            )
