"""Charts say in words what they draw, and draw what they say."""

from __future__ import annotations

import math
import re
from hashlib import sha256
from xml.etree import ElementTree

import pytest

from audit_lib.figures import Dot, dot_chart

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*dots: Dot, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(dot_chart("Title", "Words", dots, span=(0.0, 2.0), **options))  # type: ignore[arg-type]


def test_places_are_in_proportion() -> None:
    marks = drawn(*(Dot(label=str(v), value=v, printed=str(v)) for v in (0.0, 0.5, 1.0, 2.0))).iter(
        f"{SVG}circle"
    )
    left, a, b, right = (float(mark.attrib["cx"]) for mark in marks)
    assert (a - left, b - left) == ((right - left) / 4, (right - left) / 2)


def test_an_interval_that_leaves_the_scale_ends_in_an_arrow() -> None:
    inside = drawn(Dot(label="a", value=1.0, printed="1", low=0.5, high=1.5))
    outside = drawn(Dot(label="a", value=1.0, printed="1", low=0.5, high=math.inf))
    assert len(list(inside.iter(f"{SVG}path"))) == 0
    assert len(list(outside.iter(f"{SVG}path"))) == 1


def test_an_undefined_number_has_its_row_and_no_dot() -> None:
    chart = drawn(Dot(label="empty", value=None, printed="undefined"))
    assert not list(chart.iter(f"{SVG}circle"))
    assert {"empty", "undefined"} <= {text.text for text in chart.iter(f"{SVG}text")}


def test_a_heading_is_no_row() -> None:
    chart = drawn(Dot(label="By sex", value=None, printed="", heading=True))
    assert [t.text for t in chart.iter(f"{SVG}text") if t.attrib["class"] == "heading"] == ["By sex"]
    assert not [t for t in chart.iter(f"{SVG}text") if t.attrib["class"] in {"name", "value"}]


def test_title_and_words_come_first_and_text_is_escaped() -> None:
    hostile = '<script>&"'
    svg = dot_chart(hostile, hostile, [Dot(label=hostile, value=1.0, printed=hostile)], span=(0.0, 2.0))
    chart = ElementTree.fromstring(svg)
    assert [child.tag for child in chart][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert chart[0].text == chart[1].text == hostile
    assert "<script" not in svg


def test_text_of_the_narrow_chart_is_legible_on_a_phone() -> None:
    wide, narrow = (dot_chart("t", "d", [Dot(label="a", value=1.0, printed="1")], span=(0, 2), width=w, names=n)
                    for w, n in ((760, 270), (360, 0)))  # fmt: skip
    widths = [int(re.findall(r'viewBox="0 0 (\d+) ', svg)[0]) for svg in (wide, narrow)]
    assert widths == [760, 360], "at 360 units a phone of 390 pixels shows text at its own size"


def test_the_dot_chart_of_reports_keeps_its_bytes() -> None:
    svg = dot_chart(
        "Ratios",
        "Words & more",
        [
            Dot(label="By sex", value=None, printed="", heading=True),
            Dot(label="men", value=1.0, printed="1.000", hollow=True),
            Dot(label="women", value=0.75, printed="0.750", low=0.5, high=math.inf, flagged=True),
            Dot(label="none", value=None, printed="undefined"),
        ],
        span=(0.0, 1.5),
        guide=(0.8, "4/5"),
        origin=1.0,
    )
    assert (
        sha256(svg.encode()).hexdigest() == "18b45780ad9f7cb1e270e8f36600be391dc5566d98c78402dc271c23b60d6038"
    ), "archived reports render again to the same bytes"


@pytest.mark.parametrize(("width", "names"), [(760, 250), (360, 0)])
def test_no_interval_is_drawn_under_printed_bounds(width: int, names: int) -> None:
    row = Dot(
        label="a", value=0.1, low=-1.0, high=1.0, inner=(-0.5, 1.0), printed="\N{MINUS SIGN}0.500 to +1.000"
    )
    svg = dot_chart("Gaps", "", [row], span=(-1.0, 1.0), width=width, names=names)
    bars = [float(end) for end in re.findall(r'class="bar[^"]*" x1="[^"]*" x2="([^"]*)"', svg)]
    assert max(bars) < width - 4 - 6.0 * len(
        row.printed
    )  # 6 pixels a character, of text that ends at width - 4
