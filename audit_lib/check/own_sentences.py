"""Fixed sentences of our own page: one in which a single word or number is another is none that we write.

What a page says is in the catalogues of texts. A sentence of it that no text there fits, and that is all but one word
of a text without places, was changed: a paragraph of the law, the name of a duty, what a word means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.page_transcript import PageText
from audit_lib.translation import LANGUAGES, texts_in

_LEAST: Final = 5
"""Words of a sentence: shorter ones may differ in one and both be somebody's."""
_END: Final = re.compile(r"(?<=[.:;?!])\s+")
_PLACES: Final = re.compile(r"\{[^{}]*\}")
_KINDS: Final = frozenset(
    {"p", "dd", "dt", "li", "small", "td", "th", "summary", "h1", "h2", "h3", "figcaption", "desc"}
)


def changed_sentences(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Yield the sentences of a page that are a fixed one of ours but for one word."""
    fixed, near = _fixed()
    for one in texts:
        if one.kind not in _KINDS or " ".join(_plain(one.words)) in fixed:
            continue
        for sentence in (one.words, *_END.split(one.words)):
            if (own := _meant(sentence, fixed, near)) and not _fits(sentence):
                yield SummaryFinding(
                    id="number_contradicted", table=one.table or one.part, row=one.row, column=one.column,
                    printed=sentence, recomputed=own, message="this sentence is always written in other words",
                )  # fmt: skip
                break


def _meant(sentence: str, fixed: frozenset[str], near: Mapping[str, str]) -> str:
    words = _plain(sentence)
    if len(words) < _LEAST or " ".join(words) in fixed:
        return ""
    return next((own for key in _without_one(words) if (own := near.get(key, ""))), "")


def _plain(sentence: str) -> list[str]:
    """Return the words of a sentence without the marks around them, in small letters."""
    return [word for part in sentence.split() if (word := part.strip(".,:;?!()\"'").casefold())]


def _without_one(words: Sequence[str]) -> Iterator[str]:
    for i in range(len(words)):
        yield f"{i} {' '.join((*words[:i], *words[i + 1 :]))}"


@cache
def _fixed() -> tuple[frozenset[str], Mapping[str, str]]:
    """All sentences without places, and each of them by what is left of it without one of its words."""
    sentences = set[str]()
    for language in LANGUAGES:
        for words in texts_in(language):
            plain = words.replace("{{", "").replace("}}", "")
            sentences |= {one for one in (words, *_END.split(words)) if "{" not in plain or "{" not in one}
    near: dict[str, str] = {}
    for one in sentences:
        words = _plain(one)
        if len(words) >= _LEAST:
            near |= dict.fromkeys(_without_one(words), one)
    return frozenset(" ".join(_plain(one)) for one in sentences), near


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
