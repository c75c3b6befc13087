"""A corpus of generated pages by several producers, and the same a week later with changes planted in some of it.

Nothing here is shared with the checker: pages are made from true counts, and what is planted is written down by who
plants it. Pages without a planted change are made anew too, many of them in another layout or with other words.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.check_report_markup import docx, html
from benchmarks.check_report_producers import chromium, excel, reportlab, weasyprint
from benchmarks.check_report_summaries import FAMILIES, RATIO, Summary, make, printed

SHARES: Final[Mapping[str, int]] = {
    "HTML": 22,
    "HTML with scripts": 6,
    "Excel": 6,
    "DOCX": 6,
    "WeasyPrint": 4,
    "ReportLab": 4,
    "Chromium": 2,
}
"""Of 50 pages, how many each producer makes."""
PLANTED: Final[Mapping[str, int]] = {
    "numbers_changed_silently": 7,
    "numbers_changed_with_date": 3,
    "date_moved_without_numbers": 4,
    "taken_down": 4,
    "no_longer_readable": 2,
}
"""Kind of change -> pages of the 20 that have it."""
PAIRS: Final = 8
"""Pairs of employers whose pages have the same counts."""
_HOME: Final = (
    "<!doctype html><title>Careers</title><h1>Careers</h1><p>Join us. We are an equal employer.</p>"
)
_DATES: Final = ("%B %-d, %Y", "%Y-%m-%d", "%-d %B %Y")


@dataclass(frozen=True, kw_only=True)
class CorpusPage:
    """A page of the corpus.

    Parameters
    ----------
    number : int
        Its place.
    producer : str
        A key of `SHARES`.
    planted : str
        What happens to it in the week: a key of `PLANTED`, or nothing.
    twin : int or None
        The page whose counts it has.
    """

    number: int
    producer: str
    planted: str = ""
    twin: int | None = None

    @property
    def employer(self) -> str:
        """Its name, which is that of its file."""
        return f"Employer {self.number:03}"


def corpus_pages(count: int, seed: int) -> list[CorpusPage]:
    """Choose producers, planted changes and twins; the same seed gives the same."""
    rng = random.Random(f"corpus/{seed}")
    producers = [name for name, share in SHARES.items() for _ in range(share)]
    chosen = rng.sample(range(count), sum(PLANTED.values()) + 2 * PAIRS)
    planted = dict(zip(chosen, (kind for kind, many in PLANTED.items() for _ in range(many)), strict=False))
    pairs = chosen[len(planted) :]
    twins = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return [
        CorpusPage(
            number=i, producer=producers[i % len(producers)], planted=planted.get(i, ""), twin=twins.get(i)
        )
        for i in range(count)
    ]


def write_page(page: CorpusPage, seed: int, week: int, folder: Path) -> None:
    """Write a page as it is before (week 0) or after (week 1) the week; one that was taken down is not written."""
    made = _summary(page, seed)
    rng = random.Random(f"{seed}/{page.number}/after")
    if week:
        if page.planted == "taken_down":
            return
        if page.planted == "no_longer_readable":
            _stored(page, folder, _HOME.encode())
            return
        made = CHANGES[page.planted](made, rng) if page.planted else _made_again(made, rng)
    with TemporaryDirectory() as scratch:
        path = PRODUCERS[page.producer](made, Path(scratch))
        _stored(page, folder, path.read_bytes())


def _stored(page: CorpusPage, folder: Path, content: bytes) -> None:
    # The name does not say what it is made of, as an address does not.
    (folder / f"{page.employer}.page").write_bytes(content)


def _summary(page: CorpusPage, seed: int) -> Summary:
    made = make(1000 * seed + page.number, 1)
    if page.twin is None:
        return made
    other = make(1000 * seed + page.twin, 1)
    made = replace(made, cells=other.cells, unknown=other.unknown, is_scoring=other.is_scoring)
    return _printed_anew(made)


def _printed_anew(made: Summary) -> Summary:
    return replace(made, tables=[printed(made, family) for family in FAMILIES])


def _made_again(made: Summary, rng: random.Random) -> Summary:
    """Of pages in which nothing happened, a third is the same file, a third has another layout, a third other words."""
    way = rng.randrange(3)
    if way == 0:
        return made
    layout = replace(make(rng.randrange(10**6), 1).layout, is_transposed=made.layout.is_transposed)
    made = replace(made, layout=layout)
    return (
        made
        if way == 1
        else replace(made, words=[*made.words, "Visit our careers page to see what we offer."])
    )


def _recounted(made: Summary, rng: random.Random) -> Summary:
    """Change one count of people; every number that follows from it follows."""
    cells = dict(made.cells)
    key = rng.choice(sorted(cells))
    people, picked = cells[key]
    cells[key] = (people + rng.randrange(2, 9), picked)
    return _printed_anew(replace(made, cells=cells))


def _reratioed(made: Summary, rng: random.Random) -> Summary:
    """Change one printed ratio alone."""
    made = _printed_anew(made)
    column = -1 if made.is_scoring else RATIO
    lines = [line for line in rng.choice(made.tables).lines if re.fullmatch(r"0?\.\d+", line.cells[column])]
    line = rng.choice(lines)
    text = line.cells[column]
    line.cells[column] = text[:-2] + str((int(text[-2]) + rng.randrange(1, 9)) % 10) + text[-1]
    return made


def _silently(made: Summary, rng: random.Random) -> Summary:
    return _reratioed(made, rng) if rng.random() < 0.4 else _recounted(made, rng)


def _redated(made: Summary, rng: random.Random) -> Summary:
    """Move the day of the audit, where the page says it."""
    before = made.facts["audited"]
    later = made.audited + timedelta(days=rng.randrange(5, 15))
    after = next(later.strftime(way) for way in _DATES if made.audited.strftime(way) == before)
    words = [text.replace(before, after) for text in made.words]
    assert words != made.words, "the page says its day"
    return replace(made, audited=later, words=words)


CHANGES: Final[Mapping[str, Callable[[Summary, random.Random], Summary]]] = {
    "numbers_changed_silently": _silently,
    "numbers_changed_with_date": lambda made, rng: _redated(_recounted(made, rng), rng),
    "date_moved_without_numbers": _redated,
}


def _page(made: Summary, folder: Path) -> Path:
    out = folder / "page.html"
    out.write_text(html(made), encoding="utf-8")
    return out


def _scripted(made: Summary, folder: Path) -> Path:
    """A page as a site builder makes it: wrappers, scripts, and marks that differ each time that it is asked for."""
    mark = zlib.crc32(repr(made.layout).encode())
    inner = html(made).partition("<body>")[2].partition("</body>")[0]
    out = folder / "page.html"
    out.write_text(
        f"<!doctype html><html><head><meta charset=utf-8><title>{made.title}</title>"
        f"<script nonce={mark}>window.__state = {{'visits': {mark}, 'rates': [0.5, 1, 0.75]}}</script></head><body>"
        f"<header><nav><ul><li>Home<li>Jobs<li>About</ul></nav></header><div id=app data-v-{mark}><main>{inner}</main>"
        "</div><footer><table><tr><td>Help</td><td>Privacy</td></tr></table></footer></body></html>",
        encoding="utf-8",
    )
    return out


def _docx(made: Summary, folder: Path) -> Path:
    out = folder / "summary.docx"
    out.write_bytes(docx(made))
    return out


PRODUCERS: Final[Mapping[str, Callable[[Summary, Path], Path]]] = {
    "HTML": _page,
    "HTML with scripts": _scripted,
    "Excel": excel,
    "DOCX": _docx,
    "WeasyPrint": weasyprint,
    "ReportLab": reportlab,
    "Chromium": chromium,
}


def truth(pages: list[CorpusPage]) -> Iterator[tuple[str, str]]:
    """Yield employer and kind of each planted change."""
    yield from ((page.employer, page.planted) for page in pages if page.planted)


def twins(pages: list[CorpusPage]) -> set[frozenset[str]]:
    """Return the pairs of employers whose counts are equal."""
    return {frozenset({page.employer, pages[page.twin].employer}) for page in pages if page.twin is not None}
