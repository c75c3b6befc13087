"""Counterfactual substitution in texts without slots: every word of a group, as its counterpart of another.

Only whole tokens are replaced, in the case that they had, and an article right before them where it has to follow;
every byte outside them stays. A text is parsed once and then rendered for any group. What was put in is never looked
at again, so pairs that swap are never chained. Method: Bouchard, "An Actionable Framework for Assessing Bias and
Fairness in Large Language Model Use Cases" (2024), section 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.errors import LexiconError
from audit_lib.perturb.surroundings import article_before, left_alone, takes_an, with_article
from audit_lib.perturb.tables import read_lexicon
from audit_lib.perturb.terms import NOTES as NOTES
from audit_lib.perturb.terms import Levels, Term, in_case, in_order, read_terms
from audit_lib.whole_words import WholeWords, folded

_BETWEEN: Final = re.compile(r"\s*/\s*|\s+or\s+(?:an?\s+)?", re.IGNORECASE)
_JOINED: Final = re.compile(r"(\s*/\s*)|\s+(?:and|or)\s+(?:an?\s+)?", re.IGNORECASE)
_NEAR: Final = 8  # characters between alternatives
Forms = tuple[str, ...]
"""A term as each level of an attribute has it."""
FormTable = tuple[Forms, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mention:
    """What stands in a text. `table` has a row for each level of a second attribute; one, `row`, if there is none."""

    attribute: str
    level: int
    other: str | None
    other_level: int
    table: FormTable
    row: Forms
    articles: bool
    pronoun: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """A text and where it mentions groups, ready to be rendered for any of them.

    Parameters
    ----------
    pieces : list of str
        The text, cut before and after each mention.
    mentions : mapping of str to sequence
        Attribute -> (place in `pieces`, what stands there for each level), for the attributes mentioned.
    joint : sequence
        Mentions of two attributes at once: place, the attributes, and for each level of the second what stands
        there for each level of the first.
    levels : mapping of str to mapping
        Attribute -> (level -> its number).
    doubtful : int
        Mentions whose part of speech was guessed, as of ``her`` where it could be *him* or *his*.
    left : int
        Words of groups that were left as they are: alternatives (*he/she*, *his or her*), those in links and
        addresses, and those that overlap a word of another attribute.
    """

    pieces: list[str]
    mentions: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]]
    levels: Mapping[str, Mapping[str, int]]
    doubtful: int
    left: int = 0
    joint: Sequence[tuple[int, tuple[str, str], FormTable, tuple[int, int]]] = ()

    @property
    def attributes(self) -> set[str]:
        """What the text mentions."""
        return {*self.mentions, *(attribute for _, both, _, _ in self.joint for attribute in both)}

    @property
    def count(self) -> int:
        """How many words are exchanged."""
        return sum(map(len, self.mentions.values())) + len(self.joint)

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
        for place, both, table, own in self.joint:
            first, second = (
                self.levels[attribute][cell[attribute]] if attribute in cell else said
                for attribute, said in zip(both, own, strict=True)
            )
            if (first, second) != own:
                pieces[place] = table[second][first]
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
        If there is no term, one stands for several sets of counterparts that nothing tells apart, or a phrase holds a
        word of another attribute.
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
        self.attributes = tuple(a for a in levels if any(a in term.attributes for term in terms))
        self.words = WholeWords(term.written for term in terms)
        by_form: dict[str, list[Term]] = {}
        for term in terms:
            by_form.setdefault(folded(term.written), []).append(term)
        self._terms = [in_order(by_form[form]) for form in self.words.entries]
        self._check_apart(terms)
        # What words without a second meaning become, once for each way of writing them.
        self._shown: dict[tuple[int, str], _Mention] = {}

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
        """Make a lexicon of rows: attribute -> rows of level -> term, and the columns of `NOTES` where needed."""
        return cls(read_terms(rows, levels), levels)

    def parse(self, text: str) -> ParsedText:
        """Find every mention of a group in a text.

        Examples
        --------
        >>> swap = SwapLexicon.of({"sex": [{"f": "woman", "m": "man"}]}, {"sex": ["f", "m"]})
        >>> parsed = swap.parse("A Woman, a manager.")
        >>> parsed.pieces, dict(parsed.mentions)
        (['A ', 'Woman', ', a manager.'], {'sex': [(1, ('Woman', 'Man'))]})
        """
        spared = left_alone(text)
        shown, terms = self._shown, self._terms
        pieces: list[str] = []
        mentions: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        joint: list[tuple[int, tuple[str, str], FormTable, tuple[int, int]]] = []
        behind = passed = doubtful = left = 0
        last: _Mention | None = None
        alternatives: set[int] = set()
        for start, end, entry in self.words.hits(text):
            if start < behind:
                left += last is not None and all(last.attribute not in one.attributes for one in terms[entry])
                continue
            own = text[start:end]
            mention = shown.get((entry, own))
            if mention is None:
                term, sure = _chosen(terms[entry], own, text, start, end)
                if term is None:
                    continue
                mention = _mention(term, own)
                if len(terms[entry]) == 1 and term.context is None:
                    shown[entry, own] = mention
                doubtful += not sure
            if spared and any(a < end and start < b for a, b in spared):
                left += start >= passed
                passed = end
                continue
            attribute, row = mention.attribute, mention.row
            twin = last if start - behind <= _NEAR else None
            if twin is not None and _alternatives(text, twin, behind, mention, start):
                alternatives |= {len(pieces) - 1, len(pieces) + 1}
            if twin is not None and not _as_one(text, twin, behind, mention, start):
                twin = None
            last, table = mention, mention.table
            if mention.articles and (begin := article_before(text, behind, start)) < start:
                table = _with_articles(table, text[begin:start], own)
                start, row = begin, table[0]
            if twin is not None:
                place, led = mentions[attribute].pop()
                row = _joined(led, twin, text[behind:start], mention, row)
                pieces[place] += text[behind:end]
            else:
                pieces.append(text[behind:start])
                pieces.append(text[start:end])
            behind = end
            if mention.other is None:
                mentions.setdefault(attribute, []).append((len(pieces) - 1, row))
            else:
                both, said = (attribute, mention.other), (mention.level, mention.other_level)
                joint.append((len(pieces) - 1, both, table, said))
        pieces.append(text[behind:])
        if alternatives:
            left += len(alternatives)
            kept = {a: [one for one in found if one[0] not in alternatives] for a, found in mentions.items()}
            mentions = {attribute: found for attribute, found in kept.items() if found}
            joint = [one for one in joint if one[0] not in alternatives]
        return ParsedText(
            pieces=pieces, mentions=mentions, levels=self.levels, doubtful=doubtful, left=left, joint=joint
        )

    def _check_apart(self, terms: Sequence[Term]) -> None:
        """Refuse phrases with a word of another attribute: they would take it, and it would never be exchanged."""
        for term in terms:
            for phrase in term.counterparts if term.other is None else (term.written,):
                for start, end, entry in self.words.hits(phrase):
                    others = [one for one in self._terms[entry] if term.attribute not in one.attributes]
                    if others and (start, end) != (0, len(phrase)):
                        raise LexiconError(
                            f"{term.where}: {phrase!r} holds {others[0].written!r} ({others[0].where}), which would "
                            f"never be exchanged for {others[0].attribute}; leave only the words of {term.attribute}, "
                            "and put what stands beside them into `before` or `after`"
                        )


def _alternatives(text: str, one: _Mention, end: int, two: _Mention, start: int) -> bool:
    """Tell whether two mentions are alternatives, such as *he/she* or *a woman or a man*."""
    return (
        one.attribute == two.attribute
        and one.level != two.level
        and _BETWEEN.fullmatch(text, end, start) is not None
    )


def _as_one(text: str, one: _Mention, end: int, two: _Mention, start: int) -> bool:
    """Tell whether two mentions name one group twice, such as *Hispanic/Latino*, and others have one word for both.

    Pronouns around *and* or *or* have a place each in the sentence: *saw him and his team*.
    """
    between = _JOINED.fullmatch(text, end, start)
    if between is None or one.attribute != two.attribute or one.level != two.level or one.other or two.other:
        return False
    if between.group(1) is None and (one.pronoun or two.pronoun):
        return False
    alike = [a.casefold() == b.casefold() for a, b in zip(one.row, two.row, strict=True)]
    return any(alike) and not alike[one.level]


def _joined(led: Forms, one: _Mention, between: str, two: _Mention, shown: Forms) -> Forms:
    """Return what stands for each level in place of two mentions: one word, or both as far as they differ."""
    return tuple(
        first if a.casefold() == b.casefold() else first + between + second
        for first, a, b, second in zip(led, one.row, two.row, shown, strict=True)
    )


def _chosen(terms: tuple[Term, ...], own: str, text: str, start: int, end: int) -> tuple[Term | None, bool]:
    """Return the term that stands here, and whether that is sure; None where no row fits."""
    fitting = [
        term
        for term in terms
        if (not term.exact or term.written == own)
        and (term.context is None or term.context.fits(text, start, end))
    ]
    if not fitting:
        return None, True
    first = fitting[0]
    if first.part is None or len(fitting) == 1:
        return first, True
    from audit_lib.perturb.agreement import part_of

    part, sure = part_of(text, start, end)
    agreeing = [term for term in fitting if term.part == part]
    return (agreeing or fitting)[0], sure and bool(agreeing)


def _mention(term: Term, own: str) -> _Mention:
    table = tuple(
        tuple(in_case(own, term, word) for word in row) for row in (term.table or (term.counterparts,))
    )
    return _Mention(
        attribute=term.attribute,
        level=term.level,
        other=term.other,
        other_level=term.other_level,
        table=table,
        row=table[0],
        articles=len({takes_an(word) for row in table for word in row}) > 1,
        pronoun=term.part is not None,
    )


def _with_articles(table: FormTable, led: str, own: str) -> FormTable:
    """Put the article that stands before a mention into its table, where it follows the word."""
    return tuple(
        tuple(led + own if word == own else with_article(led, own, word) for word in row) for row in table
    )
