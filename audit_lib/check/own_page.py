"""A page of ours against the transcript that it carries: every word and numeral that it shows is one that was written.

What follows from what on the page is for `audit_lib.check.own_numbers`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_pdf import PdfWords
from audit_lib.page_transcript import PageText, Transcript, Visible, numerals, read_transcript
from audit_lib.translation import LANGUAGES, Speaker

_MOST: Final = 50
_SHOWN: Final = 160
_NOT_SET: Final = frozenset({"title", "alt", "data-running"})
"""What the paper's page holds beside the words that are set on it."""


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A page of ours as it was read.

    Parameters
    ----------
    seen : Visible or PdfWords
        What it shows, and the transcript that it carries.
    """

    seen: Visible | PdfWords

    @property
    def texts(self) -> tuple[PageText, ...]:
        """Its texts with their places; those of a PDF as its transcript has them, which shows the same if it agrees."""
        return self.seen.texts if isinstance(self.seen, Visible) else self.told

    @property
    def told(self) -> tuple[PageText, ...]:
        """The texts of its transcript, which says of its numerals what they are; none where it cannot be read."""
        try:
            return read_transcript(self.seen.transcript).texts
        except ValueError:
            return ()


def agreement(page: OwnPage) -> list[SummaryFinding]:
    """Return where a page shows what its transcript does not say."""
    try:
        transcript = read_transcript(page.seen.transcript)
    except ValueError as error:
        return [SummaryFinding(id="transcript_unreadable", message=f"the page's own transcript: {error}")]
    seen = page.seen
    found = list(_html(seen, transcript) if isinstance(seen, Visible) else _pdf(seen, transcript))
    return found[:_MOST]


def _html(seen: Visible, transcript: Transcript) -> Iterator[SummaryFinding]:
    yield from _texts(transcript.shown, transcript.comparable(seen.texts))
    yield from _elements(transcript.elements, seen.elements)
    yield from _names(seen, transcript)


def _texts(written: Sequence[PageText], shown: Sequence[PageText]) -> Iterator[SummaryFinding]:
    if written == shown:
        return
    matched = SequenceMatcher(None, _keys(written), _keys(shown), autojunk=False)
    differ = [one for one in matched.get_opcodes() if one[0] != "equal"]
    for _, a, b, c, d in differ:
        for was, is_ in zip_longest(written[a:b], shown[c:d]):
            yield _changed(was, is_)
    if not differ:
        was, is_ = next(pair for pair in zip(written, shown, strict=True) if pair[0] != pair[1])
        yield SummaryFinding(
            id="words_changed",
            table=is_.table,
            row=is_.row,
            column=is_.column,
            printed=is_.place,
            recomputed=was.place,
            message="the page's transcript has this text at another place",
        )


def _keys(texts: Sequence[PageText]) -> list[tuple[str, ...]]:
    return [(one.part, one.kind, one.words, one.of) for one in texts]


def _changed(was: PageText | None, is_: PageText | None) -> SummaryFinding:
    place = is_ or was
    assert place is not None
    before, after = ("" if one is None else one.words for one in (was, is_))
    numbers = [Counter(numerals(words)) for words in (before, after)]
    is_number = was is None or is_ is None or numbers[0] != numbers[1]
    if was is None:
        message = "the page's transcript does not have this text"
    elif is_ is None:
        message = "the page's transcript has this text, and the page has not"
    else:
        message = "the page's transcript has another text here"
    return SummaryFinding(
        id="numeral_changed" if is_number and any(numbers) else "words_changed",
        table=place.table,
        row=place.row,
        column=place.column,
        printed=_around(after, before),
        recomputed=_around(before, after),
        message=f"{message}{f' (part {place.part!r} of the page)' if place.part else ''}",
    )


def _elements(written: Mapping[str, str], shown: Mapping[str, str]) -> Iterator[SummaryFinding]:
    for part in dict.fromkeys((*written, *shown)):
        if written.get(part) != shown.get(part):
            yield SummaryFinding(
                id="marks_changed",
                message=f"the elements of part {part!r} of the page (marks, colours, drawings, styles) are not "
                "those that its transcript has a digest of",
            )


def _names(seen: Visible, transcript: Transcript) -> Iterator[SummaryFinding]:
    """What the transcript says of parts and numerals beside their words; pages whose parts name files say both."""
    if not seen.sources:
        return
    if transcript.sources != seen.sources:
        message = "it names other files for the page's parts than these do (data-from)"
    elif not any(one.of for text in transcript.texts for one in text.numerals):
        message = "it does not say what any numeral of the page is: it was not written with the page"
    else:
        return
    yield SummaryFinding(id="transcript_unreadable", message=f"the page's own transcript: {message}")


def _pdf(seen: PdfWords, transcript: Transcript) -> Iterator[SummaryFinding]:
    by_kind: dict[str, list[str]] = {kind: [] for kind in _NOT_SET}
    for one in transcript.texts:
        if one.kind in _NOT_SET:
            by_kind[one.kind].append(one.words)
    title = by_kind["title"][0] if by_kind["title"] else ""
    if _letters(seen.title) != _letters(title):
        yield _other("the document's title", seen.title, title)
    for told, shown in zip_longest(by_kind["alt"], seen.alternatives, fillvalue=""):
        if _letters(told) != _letters(shown):
            yield _other("what is read aloud of a picture", shown, told)
    for over in seen.over:
        yield _other("what lies over a page", over, "nothing")
    running = _letters(" ".join(by_kind["data-running"]))
    for page, words in enumerate(seen.around, 1):
        rest = _letters(words).replace(running, "", 1) if running else _letters(words)
        number = next((found for one in _page_numbers() if (found := one.fullmatch(rest))), None)
        if rest and (number is None or (int(number["page"]), int(number["pages"])) != (page, seen.pages)):
            yield _other(f"what is printed around page {page}", words, "; ".join(by_kind["data-running"]))
    yield from _stream([one for one in transcript.texts if one.kind not in _NOT_SET], "".join(seen.words))


@cache
def _page_numbers() -> tuple[re.Pattern[str], ...]:
    """What the foot of a page says, in every language, as `_letters` leaves it."""
    said = [_letters(Speaker(language).look_up("{page} of {pages}")) for language in LANGUAGES]
    return tuple(
        re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d+)", re.escape(one)), re.ASCII) for one in said
    )


def _stream(written: Sequence[PageText], shown: str) -> Iterator[SummaryFinding]:
    """Compare the words set on the pages with the transcript's, letter by letter; name the first text that differs."""
    letters = [_letters(one.words) for one in written]
    all_, found = "".join(letters), _letters(shown)
    if all_ == found:
        return
    first = next(
        (i for i, (a, b) in enumerate(zip(all_, found, strict=False)) if a != b), min(len(all_), len(found))
    )
    last = next(
        (i for i, (a, b) in enumerate(zip(reversed(all_), reversed(found), strict=False)) if a != b),
        min(len(all_), len(found)),
    )
    at = 0
    for one, words in zip(written, letters, strict=True):  # noqa: B007 - the one that it stops at
        if at + len(words) > first:
            break
        at += len(words)
    else:
        one, words = written[-1], letters[-1]
    # From the end of the page back as much is alike: what is between stands for this text.
    behind = max(last, len(all_) - at - len(words))
    printed = found[at : max(at, len(found) - behind)] or found[at : at + len(words)]
    whole = at + len(words) >= len(all_) - last
    is_number = Counter(_digits(words)) != Counter(_digits(printed))
    yield SummaryFinding(
        id="numeral_changed" if is_number else "words_changed",
        table=one.table,
        row=one.row,
        column=one.column,
        printed=_short(printed),
        recomputed=_short(one.words),
        message=f"the document's transcript has another text here (part {one.part!r})"
        + ("" if whole else ", the first of several"),
    )


def _digits(words: str) -> str:
    return "".join(one for one in words if one.isdigit() or one in "+-.%\N{MINUS SIGN}")


def _other(what: str, shown: str, written: str) -> SummaryFinding:
    numbers = [Counter(numerals(words)) for words in (shown, written)]
    return SummaryFinding(
        id="numeral_changed" if numbers[0] != numbers[1] else "words_changed",
        printed=_short(shown),
        recomputed=_short(written),
        message=f"{what} is not what the document's transcript has",
    )


def _letters(words: str) -> str:
    """Return a text as it can be compared: no white space, and no ligatures and case, which styles change."""
    return unicodedata.normalize("NFKC", "".join(words.split())).casefold()


def _around(words: str, other: str) -> str:
    """Return what of a text stands around the first difference from another."""
    first = next((i for i, (a, b) in enumerate(zip(words, other, strict=False)) if a != b), len(other))
    start = max(0, min(first - _SHOWN // 2, len(words) - _SHOWN))
    return _short(words if start == 0 else "\N{HORIZONTAL ELLIPSIS}" + words[start:].lstrip())


def _short(words: str) -> str:
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"
