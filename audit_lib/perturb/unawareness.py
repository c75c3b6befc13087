"""Fairness through unawareness of any prompts: which mention a protected word, of which kind, in which field and group.

Looked at are the sampled prompts, before anything is put into slots or exchanged, and the prompt template: all of the
model's input that is not the audit's own. Source: Bouchard (2024), arXiv:2407.10853, section 4.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from audit_lib.canonical import sha256
from audit_lib.documents.design import MentionsOfField, MentionsOfGroup, ProtectedMentions, ProtectedWord
from audit_lib.languages import not_english
from audit_lib.metrics.text.stop_words import ENGLISH_STOP_WORDS
from audit_lib.perturb.ftu import ftu_report, shown_fields, template_texts
from audit_lib.perturb.protected_words import Mention, ProtectedWords, shipped_words
from audit_lib.perturb.template import parts
from audit_lib.run import Run
from audit_lib.sample.read import first_fields
from audit_lib.spec import AuditSpec
from audit_lib.spec.protected_lists import KEPT

TEMPLATE: Final = "prompt template"
LOOKED_AT: Final = 200
"""Prompts that are looked at before a run."""
MOST_WORDS: Final = 8
"""Words of each kind that are named."""
_AROUND: Final = 4  # words before and after, in an example
_WORD: Final = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}-]\w+)*")
_MASK: Final = "\N{HORIZONTAL ELLIPSIS}"


def unawareness(run: Run, records: Iterable[Mapping[str, Any]]) -> ProtectedMentions:
    """Return what ``design.json`` says of protected words.

    Parameters
    ----------
    run : Run
        Its spec, and the template that the plan archived.
    records : iterable of mapping
        The sampled prompts, which are gone through several times.
    """
    lists = {kind: run.design_file(f"{KEPT}{kind}") for kind in run.spec.protected_lists()}
    words, shown, level = ProtectedWords(lists), shown_fields(run), run.spec.measure.level
    seen = _Seen(words)
    template = [seen.look(TEMPLATE, " ".join(parts(text)[0])) for text in template_texts(run)]
    always = {kind for found in template for kind in found}
    prompts: list[set[str]] = []
    by_field: dict[str, list[set[str]]] = {}
    with_text = unread = 0
    for record in records:
        fields = {
            name: " ".join(parts(text)[0])
            for name, text in json.loads(record["fields"]).items()
            if shown is None or name in shown
        }
        found = {name: seen.look(name, text) for name, text in fields.items()}
        for name, kinds in found.items():
            by_field.setdefault(name, []).append(kinds)
        prompts.append(always.union(*found.values()))
        with_text += bool(template) or any(text.strip() for text in fields.values())
        unread += not prompts[-1] and any(_in_another_language(text) for text in fields.values())
        seen.next_prompt()
    whole = ftu_report(prompts, words.kinds, level)
    of_fields = {name: ftu_report(found, words.kinds, level) for name, found in sorted(by_field.items())}
    return ProtectedMentions(
        prompts=len(prompts),
        without_text=len(prompts) - with_text,
        not_english=unread,
        unaware=None if not with_text or (whole.unaware and unread) else whole.unaware,
        level=level,
        any=whole.any,
        kinds=whole.attributes,
        fields=tuple(
            MentionsOfField(field=name, any=found.any, kinds=found.attributes)
            for name, found in of_fields.items()
        ),
        groups=tuple(_by_group(run, records, prompts, words.kinds)),
        template=tuple(kind for kind in words.kinds if kind in always),
        words=tuple(seen.most(words.kinds)),
        lists={kind: sha256(content) for kind, content in lists.items()},
    )


def first_mentions(spec: AuditSpec, most: int = LOOKED_AT) -> tuple[int, list[set[str]]]:
    """Look at the template and at the first prompts of local files, before a run.

    Returns
    -------
    int, list of set of str
        How many prompts were looked at; of those that mention a protected word, the kinds.

    Raises
    ------
    AuditError
        If a file cannot be read as the spec says.
    """
    words = shipped_words()
    always: set[str] = set()
    if spec.prompt is not None:
        content = spec.design_file("prompt.template").decode()
        always = {one.kind for one in words.find(" ".join(parts(content)[0]))}
    prompts = [
        always.union(*({one.kind for one in words.find(text)} for text in json.loads(fields).values()))
        for fields in first_fields(spec, most)
    ]
    return len(prompts), [kinds for kinds in prompts if kinds]


def _by_group(
    run: Run, records: Iterable[Mapping[str, Any]], prompts: Sequence[set[str]], kinds: Sequence[str]
) -> Iterator[MentionsOfGroup]:
    """Count by the levels of each attribute that the data know; assigned groups come only afterwards."""
    for axis, levels in run.spec.groups.attributes.items():
        for level in levels:
            own = [said for record, said in zip(records, prompts, strict=True) if record[axis] == level]
            if own:
                part = ftu_report(own, kinds, run.spec.measure.level)
                yield MentionsOfGroup(
                    group={axis: level}, prompts=len(own), any=part.any, kinds=part.attributes
                )


def _in_another_language(text: str) -> bool:
    """Tell whether a text is in a language that can be named, or a script, of which the lists hold no word."""
    return not_english(text) not in ("", "no English")


class _Seen:
    """The words that were found: in how many prompts each, and where first."""

    def __init__(self, words: ProtectedWords) -> None:
        self._words = words
        self._counts: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], tuple[str, str]] = {}
        self._here: set[tuple[str, str]] = set()

    def look(self, field: str, text: str) -> set[str]:
        """Return the kinds that a text mentions, and remember its words."""
        found = self._words.find(text)
        for one in found:
            key = one.kind, " ".join(text[one.start : one.end].lower().split())
            self._here.add(key)
            if key not in self._first:
                self._first[key] = field, masked(text, one, found)
        return {one.kind for one in found}

    def next_prompt(self) -> None:
        """Count the words of this prompt once each."""
        self._counts.update(self._here)
        self._here = set()

    def most(self, kinds: Sequence[str]) -> Iterator[ProtectedWord]:
        """Yield the most frequent words of each kind."""
        for kind in kinds:
            own = sorted((-n, word) for (of, word), n in self._counts.items() if of == kind)
            for n, word in own[:MOST_WORDS]:
                field, example = self._first[kind, word]
                yield ProtectedWord(kind=kind, word=word, prompts=-n, field=field, example=example)


def masked(text: str, one: Mention, found: Sequence[Mention]) -> str:
    """Return a mention with a few words around it, in which only protected and the commonest words can be read.

    Examples
    --------
    >>> from audit_lib.perturb.protected_words import shipped_words
    >>> text = "Ana Ruiz of 5 Elm Street says that she is the best cook, and her boss agrees."
    >>> found = shipped_words().find(text)
    >>> masked(text, found[0], found)
    '… … … that she is the … …'
    """
    tokens = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]
    before = [token for token in tokens if token[1] <= one.start][-_AROUND:]
    after = [token for token in tokens if token[0] >= one.end][:_AROUND]

    def said(start: int, end: int, word: str) -> str:
        protected = any(other.start <= start and end <= other.end for other in found)
        return word if protected or word.lower() in ENGLISH_STOP_WORDS else _MASK

    own = " ".join(text[one.start : one.end].split())
    return " ".join([*(said(*token) for token in before), own, *(said(*token) for token in after)])
