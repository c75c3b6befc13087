"""What all figures are drawn with: scales, ticks, axes, marks, legends, and text that fits.

Nothing here has an id or a clock, so the same data give the same bytes, and many figures can stand in one page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError

Floats = NDArray[np.float64]

TEXT = 13
"""Size of text, in pixels."""
SMALL = 12
LINE = 18
"""Height of a line of text."""
NARROWEST = 280
SHAPES = ("circle", "square", "triangle", "diamond", "cross")
COLOURS = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from data to pixels; values off its ends are drawn at them."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Pixel of a value."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, pixels: float) -> list[float]:
        """Round numbers on the scale, about one every so many pixels."""
        return ticks(self.low, self.high, max(2.0, abs(self.end - self.start) / pixels))


def scale_over(values: Floats, start: float, end: float, margin: float = 8) -> Scale:
    """A scale that holds all values with a margin in pixels at either end."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if size > 1e100:
        raise InputError(f"a value of {size:g} is too large to draw")
    if high - low <= 1e-9 * size or high == low:  # one place: give it room
        half = 0.5 * size or 1.0
        return Scale(low - half, high + half, start, end)
    room = (high - low) * margin / max(abs(end - start) - 2 * margin, 1)
    return Scale(low - room, high + room, start, end)


def ticks(low: float, high: float, count: float = 6) -> list[float]:
    """Round numbers from `low` to `high`, about `count` of them."""
    rough = (high - low) / count
    base = 10.0 ** math.floor(math.log10(rough))
    step = base * next(m for m in (1, 2, 2.5, 5, 10) if m * base >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    digits = max(10, 3 - math.floor(math.log10(step)))
    return [round(i * step, digits) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float, digits: int = 6) -> str:
    """A number as the axes print it."""
    return f"{value + 0.0:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def fixed(value: float, decimals: int = 3) -> str:
    """A number with so many decimals and a true minus sign; never a negative zero."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def tick_labels(at: Sequence[float]) -> list[str]:
    """Labels of ticks, with as many digits as tell neighbours apart."""
    digits = 6
    if len(at) > 1 and at[1] > at[0]:
        largest = max(abs(at[0]), abs(at[-1]))
        digits = max(6, math.ceil(math.log10(largest / (at[1] - at[0]))) + 3)
    return [short(value, min(digits, 17)) for value in at]


def text_width(words: str, size: float = TEXT) -> float:
    """Width of text in pixels: an estimate on the wide side, for fonts differ."""
    return size * sum(_em(c) for c in words)


def _em(c: str) -> float:
    if c in "iIjl.,:;'|! ()[]ft":
        return 0.4
    if c in "mwMW%@":
        return 0.98
    if ord(c) >= 0x1100:
        return 1.0
    return 0.72 if c.isupper() else 0.64


def fit(words: str, room: float, size: float = TEXT) -> str:
    """The words, with an ellipsis in their middle where they are wider than the room."""
    if text_width(words, size) <= room:
        return words
    kept = len(words)
    while kept > 1:
        kept -= 1
        head = words[: (kept + 1) // 2].rstrip()
        tail = words[len(words) - kept // 2 :].lstrip()
        if text_width(cut := f"{head}\N{HORIZONTAL ELLIPSIS}{tail}", size) <= room:
            return cut
    return "\N{HORIZONTAL ELLIPSIS}"


def wrap(words: str, room: float, size: float = TEXT) -> list[str]:
    """Lines no wider than the room; a single word that is wider is cut."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(fit(word, room, size))
    return lines


def series(number: int) -> str:
    """Class of the n-th series; colours come round again after eight."""
    return f"s{number % COLOURS + 1}"


class Drawing:
    """Collects the parts of one figure from top to bottom.

    Parameters
    ----------
    title : str
        Printed at the top and announced to those who do not see the figure.
    width : int
        Pixels of the whole.
    subtitle : str
        What the data say in numbers, below the title.

    Raises
    ------
    InputError
        If the figure would be narrower than a phone.
    """

    def __init__(self, title: str, width: int, subtitle: str = "") -> None:
        if width < NARROWEST:
            raise InputError(f"width: expected at least {NARROWEST} pixels, got {width}")
        self.title, self.width, self.bottom = title, width, 0.0
        self._parts: list[str] = []
        self._notes: list[str] = []
        self.paragraph(title, "heading")
        self.paragraph(subtitle, "tick")
        self.bottom += 4

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """A straight line."""
        self._parts.append(f'<line class="{kind}" x1="{_n(x1)}" x2="{_n(x2)}" y1="{_n(y1)}" y2="{_n(y2)}"/>')

    def path(self, kind: str, d: str) -> None:
        """A path of SVG commands."""
        self._parts.append(f'<path class="{kind}" d="{d}"/>')

    def text(self, kind: str, x: float, y: float, words: str, anchor: str = "start") -> None:
        """Words at a place."""
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}"{end}>{escape(words)}</text>')

    def paragraph(self, words: str, kind: str) -> None:
        """Wrapped words below what is already there."""
        size = TEXT if kind == "heading" else SMALL
        # Bold letters are wider.
        room = (self.width - 8) * (0.88 if kind == "heading" else 1)
        for words_of_line in wrap(words, room, size):
            self.bottom += LINE
            self.text(kind, 4, self.bottom - 4, words_of_line)

    def mark(self, number: int, x: float, y: float, *, hollow: bool = False, radius: float = 4.5) -> None:
        """The n-th series' mark, so that series differ in shape as well as in colour."""
        kind = f"mark {series(number)}{' hollow' if hollow else ''}"
        shape, r = SHAPES[number % len(SHAPES)], radius
        if shape == "circle":
            self._parts.append(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}"/>')
        elif shape == "square":
            self.path(kind, polygon([(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]))
        elif shape == "triangle":
            self.path(kind, polygon([(x, y - 1.2 * r), (x + 1.15 * r, y + r), (x - 1.15 * r, y + r)]))
        elif shape == "diamond":
            self.path(
                kind, polygon([(x, y - 1.35 * r), (x + 1.35 * r, y), (x, y + 1.35 * r), (x - 1.35 * r, y)])
            )
        else:
            t = r / 2.4
            corners = [(t, r), (t, t), (r, t), (r, -t), (t, -t), (t, -r)]
            both = corners + [(-a, -b) for a, b in corners]
            self.path(kind, polygon([(x + a, y + b) for a, b in both]))

    def legend(
        self, names: Sequence[str], extra: Sequence[tuple[str, str]] = (), *, lines: bool = False
    ) -> None:
        """Names of the series, then other signs (class of a short line, name), over as many lines as they need."""
        x, entries = 4.0, [(name, "") for name in names] + [(name, kind) for kind, name in extra]
        if entries:
            self.bottom += LINE
        for number, (name, kind) in enumerate(entries):
            words = fit(name, self.width - 40, SMALL)
            wide = 28 + text_width(words, SMALL) + 10
            if x > 4 and x + wide > self.width:
                x, self.bottom = 4.0, self.bottom + LINE
            y = self.bottom - 8
            if kind == "hollow-mark":
                self._parts.append(
                    f'<circle class="mark hollow key" cx="{_n(x + 11)}" cy="{_n(y)}" r="4.5"/>'
                )
            elif kind:
                self.line(kind, x, y, x + 22, y)
            else:
                if lines:
                    self.line(f"curve {series(number)}", x, y, x + 22, y)
                self.mark(number, x + 11, y)
            self.text("tick", x + 28, self.bottom - 4, words)
            x += wide
        self.bottom += 6 if entries else 0

    def note(self, words: str) -> None:
        """A sentence below the figure, and in its description."""
        self._notes.append(words)

    def x_axis(
        self, scale: Scale, top: float, bottom: float, name: str = "", at: Sequence[float] = ()
    ) -> float:
        """Grid, ticks and name of a horizontal scale; gives back where its labels end."""
        places = list(at) or scale.ticks(72)
        for place, label in zip(places, tick_labels(places), strict=True):
            self.line("grid", scale(place), top, scale(place), bottom)
            half = text_width(label, SMALL) / 2
            x = min(max(scale(place), half), self.width - half)
            self.text("tick", x, bottom + 16, label, "middle")
        if not name:
            return bottom + 22
        y = bottom + 16
        for words in wrap(name, self.width - 16, SMALL):
            y += LINE
            half = text_width(words, SMALL) / 2
            middle = min(max((scale.start + scale.end) / 2, half + 4), self.width - half - 4)
            self.text("axis", middle, y, words, "middle")
        return y + 8

    def y_axis(
        self, scale: Scale, left: float, right: float, name: str = "", at: Sequence[float] = ()
    ) -> None:
        """Grid and ticks of a vertical scale, its name above them."""
        places = list(at) or scale.ticks(48)
        for place, label in zip(places, tick_labels(places), strict=True):
            self.line("grid", left, scale(place), right, scale(place))
            self.text("tick", left - 6, scale(place) + 4, label, "end")
        if name:
            self.text("axis", 4, scale.end - 10, fit(name, self.width - 8, SMALL))

    def svg(self, description: str, height: float | None = None) -> str:
        """The figure, its notes below."""
        self.bottom = height if height is not None else self.bottom
        for words in self._notes:
            self.paragraph(words, "tick")
        said = " ".join([description, *self._notes])
        return "".join(
            [
                f'<svg class="chart" viewBox="0 0 {self.width} {math.ceil(self.bottom + 8)}" role="img" '
                f'xmlns="http://www.w3.org/2000/svg">',
                f"<title>{escape(self.title)}</title><desc>{escape(said)}</desc>",
                *self._parts,
                "</svg>",
            ]
        )


def y_room(scale: Scale) -> float:
    """Pixels that the labels of a vertical scale take."""
    return max(text_width(label, SMALL) for label in tick_labels(scale.ticks(48))) + 8


def polygon(points: Iterable[tuple[float, float]]) -> str:
    """A closed path through points."""
    return polyline(points) + "Z"


def polyline(points: Iterable[tuple[float, float]]) -> str:
    """A path through points."""
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(value: float) -> str:
    """A coordinate: one decimal at most."""
    return f"{round(value, 1) + 0.0:g}"
