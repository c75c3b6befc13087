"""What our own page says in the words of its pack: a sentence in which one word or number is another is not the pack's.

The last line names the pack with its version, and with another text a pack has another version. So a paragraph of the
law, the name of a duty or a reading of the law that is all but one word of what the pack says was changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final

from pydantic import BaseModel

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_footer import named_policies
from audit_lib.page_transcript import PageText
from audit_lib.policies import load_policy, policy_names
from audit_lib.translation import LANGUAGES, Speaker, texts_in

_LEAST: Final = 5
"""Words of a sentence: shorter ones may differ in one and both be somebody's."""
_END: Final = re.compile(r"(?<=[.:;?!])\s+")
_PLACES: Final = re.compile(r"\{[^{}]*\}")
_KINDS: Final = frozenset(
    {"p", "dd", "dt", "li", "small", "td", "th", "summary", "h1", "h2", "h3", "figcaption", "desc"}
)


def changed_sentences(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Yield the sentences of a page that are one of its pack but for one word."""
    named = _last_line("".join(one.words for one in texts if one.part == "footer"))
    if named is None:
        return
    fixed, near = _fixed(named)
    for one in texts:
        if one.kind not in _KINDS or " ".join(_plain(one.words)) in fixed:
            continue
        for sentence in (one.words, *_END.split(one.words)):
            if (own := _meant(sentence, fixed, near)) and not _fits(sentence):
                yield SummaryFinding(
                    id="number_contradicted", table=one.table or one.part, row=one.row, column=one.column,
                    printed=sentence, recomputed=own, message="the pack that the page names says it in other words",
                )  # fmt: skip
                break


def _last_line(words: str) -> str | None:
    """Return the pack that a page names with the version that is here."""
    for name in named_policies(words):
        if name in policy_names() and f"{name} {load_policy(name).version}." in words:
            return name
    return None


def _meant(sentence: str, fixed: frozenset[str], near: Mapping[str, str]) -> str:
    words = _plain(sentence)
    if len(words) < _LEAST or " ".join(words) in fixed:
        return ""
    for i, key in enumerate(_without_one(words)):
        if (own := near.get(key)) is not None:
            numbers = [any(map(str.isdigit, word)) for word in (words[i], _plain(own)[i])]
            if all(numbers) or (not any(numbers) and len(words) >= 2 * _LEAST):
                return own
    return ""


def _plain(sentence: str) -> list[str]:
    """Return the words of a sentence without the marks around them, in small letters."""
    return [word for part in sentence.split() if (word := part.strip(".,:;?!()\"'").casefold())]


def _without_one(words: Sequence[str]) -> Iterator[str]:
    for i in range(len(words)):
        yield f"{i} {' '.join((*words[:i], *words[i + 1 :]))}"


@cache
def _fixed(name: str) -> tuple[frozenset[str], Mapping[str, str]]:
    """All sentences of a pack, in every language, and each by what is left of it without one of its words."""
    sentences = set[str]()
    for english in _strings(load_policy(name)):
        for words in {Speaker(language).look_up(english) for language in LANGUAGES}:
            sentences |= {one for one in (words, *_END.split(words)) if "{" not in one}
    near: dict[str, str] = {}
    for one in sentences:
        plain = _plain(one)
        if len(plain) >= _LEAST:
            near |= dict.fromkeys(_without_one(plain), one)
    return frozenset(" ".join(_plain(one)) for one in sentences), near


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (words for one in value.values() for words in _strings(one))
    elif isinstance(value, list | tuple):
        yield from (words for one in value for words in _strings(one))
    elif is_dataclass(value):
        yield from (words for one in fields(value) for words in _strings(getattr(value, one.name)))
    elif isinstance(value, BaseModel):
        yield from (words for name in type(value).model_fields for words in _strings(getattr(value, name)))


def _fits(sentence: str) -> bool:
    """Whether a text with places may have been filled in to this sentence."""
    return any(one.search(sentence) for one in _filled())


@cache
def _filled() -> tuple[re.Pattern[str], ...]:
    found = []
    for language in LANGUAGES:
        for words in texts_in(language):
            for one in _END.split(words):
                own = [re.escape(part) for part in _PLACES.split(one)]
                if len(own) > 1 and sum(map(len, own)) > 2 * _LEAST:
                    found.append(re.compile("^" + ".*?".join(own) + "$"))
    return tuple(found)
