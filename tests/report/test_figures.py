"""Every figure: what it says, what it refuses, that it fits, and that places follow the data."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from audit_lib import figures
from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Undefined
from tests.report.figure_cases import AUCS, CASES, CORRELATIONS, GROUPS, SVG, boxes, centres, parse, words

nan = float("nan")


def one_auc(value: float, **ends: object) -> figures.ModelAuc:
    return figures.ModelAuc(model="m", overall=0.5, auc=[value], **ends)  # type: ignore[arg-type]


def point(**given: float) -> figures.ReliabilityPoint:
    return figures.ReliabilityPoint(**{"score": 0.5, "outcome": 0.5, "n": 9, **given})  # type: ignore[arg-type]


each = pytest.mark.parametrize("draw", CASES.values(), ids=CASES)
both_widths = pytest.mark.parametrize("width", [360, 760])
values = st.floats(-1e6, 1e6, allow_subnormal=False)


@each
@both_widths
def test_one_title_and_one_description_come_first(draw: Callable[..., str], width: int) -> None:
    figure = parse(draw(title="A title", width=width))
    assert figure.attrib["role"] == "img"
    assert figure.attrib["viewBox"].startswith(f"0 0 {width} ")
    assert [child.tag for child in figure][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert len(list(figure.iter(f"{SVG}title"))) == len(list(figure.iter(f"{SVG}desc"))) == 1
    assert figure[0].text == "A title" and len(figure[1].text or "") > 40
    assert not [part for part in figure.iter() if "id" in part.attrib], (
        "ids would clash in a page of many figures"
    )


@each
def test_the_same_data_give_the_same_bytes(draw: Callable[..., str]) -> None:
    assert draw(width=500) == draw(width=500)


@each
def test_text_is_escaped(draw: Callable[..., str]) -> None:
    hostile = '</title><script>&"'
    svg = draw(title=hostile)
    assert parse(svg)[0].text == hostile and "<script" not in svg


@each
def test_every_class_has_a_rule(draw: Callable[..., str]) -> None:
    page = files("audit_lib.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    sheet = page + figures.figure_style()
    used = {name for part in parse(draw()).iter() for name in part.attrib.get("class", "").split()}
    unstyled = {name for name in used if f".{name}" not in sheet}
    assert unstyled <= {"name"}, "names have the style of all text"


@each
@both_widths
def test_labels_neither_overlap_nor_leave_the_figure(draw: Callable[..., str], width: int) -> None:
    figure = parse(draw(width=width))
    found = list(boxes(figure))
    height = float(figure.attrib["viewBox"].split()[3])
    for said, (left, top, right, bottom) in found:
        assert left >= -1 and right <= width + 1 and top >= 0 and bottom <= height, said
    for i, (said, a) in enumerate(found):
        for other, b in found[:i]:
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
            assert apart, f"{said!r} on {other!r}"


@each
def test_a_figure_narrower_than_a_phone_is_refused(draw: Callable[..., str]) -> None:
    with pytest.raises(InputError, match="at least 280 pixels"):
        draw(width=200)


@pytest.mark.parametrize(
    "call",
    [
        lambda: figures.score_distributions({}, "a"),
        lambda: figures.score_distributions({"a": [1], "b": []}, "a"),
        lambda: figures.score_distributions({"a": [1]}, "a"),
        lambda: figures.metric_against_gap([], []),
        lambda: figures.metric_against_gap([1, 2], [1]),
        lambda: figures.metric_against_gap(["x"], [1]),
        lambda: figures.metric_against_gap([1], [1], series=["a", "b"]),
        lambda: figures.metric_against_gap([1], [1], line="other"),  # type: ignore[arg-type]
        lambda: figures.metric_against_gap([1e200], [1]),
        lambda: figures.correlation_by_k([], {"a": []}),
        lambda: figures.correlation_by_k([1, 2], {}),
        lambda: figures.correlation_by_k([1, 2], {"a": [1]}),
        lambda: figures.correlation_by_k([2, 1], {"a": [0, 1]}),
        lambda: figures.correlation_by_k([1, 2], {"a": [0, 1.2]}),
        lambda: figures.correlation_by_k([1], {"a": [1]}, {"b": [1]}),
        lambda: figures.correlation_by_k([1], {"a": [1]}, {"a": [nan]}),
        lambda: figures.correlation_by_group([], {"a": []}),
        lambda: figures.correlation_by_group(["g", "g"], {"a": [0, 1]}),
        lambda: figures.fairness_ndcg_curve([1], {"a": [-0.5]}),
        lambda: figures.rank_bump([], [], []),
        lambda: figures.rank_bump(["a", "a"], [1, 2], [1, 2]),
        lambda: figures.rank_bump(["a", "b"], [-1, 2], [1, 2]),
        lambda: figures.score_moments({}),
        lambda: figures.score_moments({"m": {}}),
        lambda: figures.auc_gap_figure([], []),
        lambda: figures.auc_gap_figure(["g"], [one_auc(1.5)]),
        lambda: figures.auc_gap_figure(["g"], [one_auc(0.5, low=[0.6], high=[0.7])]),
        lambda: figures.auc_gap_figure(["g"], [one_auc(0.5, low=[0.4])]),
        lambda: figures.auc_gap_figure(["g"], [one_auc(0.5)] * 2),
        lambda: figures.auc_gap_figure(["g", "h"], [one_auc(0.5)]),
        lambda: figures.reliability_diagram({}),
        lambda: figures.reliability_diagram({"g": [point(score=1.5)]}),
        lambda: figures.reliability_diagram({"g": [point(low=0.4)]}),
        lambda: figures.reliability_diagram({"g": [point(low=0.6, high=0.7)]}),
        lambda: figures.reliability_diagram({"g": [point(n=0)]}),
        lambda: figures.standalone("<svg></svg>"),
    ],
)  # fmt: skip
def test_wrong_input_is_an_error(call: Callable[[], str]) -> None:
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: figures.score_distributions({"a": [nan], "b": [1]}, "a"),
        lambda: figures.score_distributions({"a": [1], "b": [None]}, "a"),
        lambda: figures.metric_against_gap([nan, 1], [1, nan]),
        lambda: figures.correlation_by_k([1], {"a": [nan]}),
        lambda: figures.correlation_by_group(["g"], {"a": [None]}),
        lambda: figures.fairness_ndcg_curve([1], {"a": [Undefined("none")]}),
        lambda: figures.rank_bump(["a", "b"], [1, nan], [1, 2]),
        lambda: figures.reliability_diagram({"g": []}),
        lambda: figures.score_moments({"m": {"g": [1, 1, 1], "h": [1, 2]}}),
        lambda: figures.auc_gap_figure(
            ["g"], [figures.ModelAuc(model="m", overall=Undefined("none"), auc=[nan])]
        ),
    ],
)
def test_nothing_defined_is_an_error(call: Callable[[], str]) -> None:
    with pytest.raises(UndefinedMetricError):
        call()


def test_undefined_points_are_counted_and_not_drawn_at_zero() -> None:
    figure = parse(figures.metric_against_gap([1, 2, nan, 4, np.inf], [3, None, 1, 5, 2]))
    assert len(centres(figure)) == 2
    said = "3 of 5 points are undefined and not drawn."
    assert said in words(figure) and said in (figure[1].text or "")


def test_an_undefined_value_breaks_the_line() -> None:
    figure = parse(figures.fairness_ndcg_curve([1, 2, 3, 4, 5], {"m": [0.5, 0.6, None, 0.7, 0.8]}))
    curves = [p.attrib["d"] for p in figure.iter(f"{SVG}path") if p.attrib["class"] == "curve s1"]
    assert [d.count("L") + 1 for d in curves] == [2, 2]
    assert len(centres(figure)) == 1 + 4, "the legend's mark and four values"
    assert "1 of 5 values is undefined and not drawn (m 1)." in words(figure)


def test_a_group_without_scores_keeps_its_panel() -> None:
    figure = parse(figures.score_distributions({"a": [1, 2], "b": [nan, nan], "c": [2, 3]}, "a"))
    assert "no score defined" in words(figure)
    assert len([p for p in figure.iter(f"{SVG}path") if p.attrib["class"] == "area"]) == 1
    assert "2 of 6 scores are undefined and not drawn (b 2)." in words(figure)


def test_an_undefined_auc_keeps_its_row() -> None:
    figure = parse(
        figures.auc_gap_figure(["g", "h"], [figures.ModelAuc(model="m", overall=0.6, auc=[0.7, nan])])
    )
    assert {"undefined", "gap undefined", "overall 0.600", "0.700"} <= set(words(figure))
    assert len([p for p in figure.iter(f"{SVG}line") if p.attrib["class"] == "gap"]) == 1, "the legend's"


@given(st.lists(st.tuples(values, values), min_size=1, max_size=30))
def test_scatter_places_rise_with_the_data(points: list[tuple[float, float]]) -> None:
    metric, gap = zip(*points, strict=True)
    drawn = centres(parse(figures.metric_against_gap(metric, gap)))
    assert len(drawn) == len(points)
    in_order(metric, [x for x, _ in drawn])
    in_order(gap, [-y for _, y in drawn])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_correlations_rise_with_their_size(rows: list[float]) -> None:
    over_k = centres(parse(figures.correlation_by_k(range(len(rows)), {"m": rows})))[1:]
    in_order(rows, [-y for _, y in over_k])
    assert [x for x, _ in over_k] == sorted({x for x, _ in over_k})
    by_group = centres(parse(figures.correlation_by_group([f"g{i}" for i in range(len(rows))], {"m": rows})))[
        1:
    ]
    in_order(rows, [x for x, _ in by_group])
    assert [y for _, y in by_group] == sorted({y for _, y in by_group})


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_aucs_rise_to_the_right(rows: list[float]) -> None:
    groups = [f"g{i}" for i in range(len(rows))]
    figure = parse(figures.auc_gap_figure(groups, [figures.ModelAuc(model="m", overall=0.5, auc=rows)]))
    in_order(rows, [x for x, _ in centres(figure)[1:]])
    if len(rows) > 1:
        assert f"gap {max(rows) - min(rows):.3f}" in words(figure)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=2, max_size=12))
def test_ranks_are_those_of_the_values(rows: list[tuple[float, float]]) -> None:
    metric, gap = zip(*rows, strict=True)
    figure = parse(figures.rank_bump([f"model {i}" for i in range(len(rows))], metric, gap, width=760))
    for side, data in (("end", metric), ("start", gap)):
        rank = dict(zip(data, scipy.stats.rankdata(data), strict=True))
        texts = [t for t in figure.iter(f"{SVG}text") if t.attrib.get("text-anchor", "start") == side]
        names = {t.text: float(t.attrib["y"]) for t in texts if t.attrib["class"] == "name"}
        heights = [names[f"model {i}"] for i in range(len(rows))]
        assert len(set(heights)) == len(rows)
        in_order(data, heights)
        printed = {float(t.attrib["y"]): t.text for t in texts if t.attrib["class"] == "tick"}
        assert [printed[y] for y in heights] == [f"{rank[value]:g}" for value in data]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60), st.lists(st.integers(0, 9), min_size=1, max_size=60)
)
def test_bars_are_in_proportion_to_shares(group: list[int], reference: list[int]) -> None:
    figure = parse(figures.score_distributions({"g": group, "r": reference}, "r"))
    for kind, data in (("area", group), ("outline", reference)):
        path = next(p for p in figure.iter(f"{SVG}path") if p.attrib["class"] == kind)
        y = [float(pair.split(" ")[1]) for pair in re.findall(r"[\d.]+ [\d.]+", path.attrib["d"])]
        heights = np.array([y[0] - v for v in y[1:-1:2]])
        assert heights.sum() > 0
        shares = heights / heights.sum()
        counts = np.array([data.count(v) for v in range(min(group + reference), max(group + reference) + 1)])
        expected = counts[counts > 0] / len(data)
        assert np.allclose(np.sort(shares[shares > 0]), np.sort(expected), atol=0.01)


@given(
    st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=3, max_size=40).filter(
        lambda x: np.ptp(x) > 1e-3
    )
)
def test_shapes_are_those_of_scipy(scores: list[float]) -> None:
    svg = figures.score_moments({"m": {"g": scores}})
    skewness, kurtosis = scipy.stats.skew(scores), scipy.stats.kurtosis(scores)
    found = re.search(r"m, g: skewness (\S+), kurtosis (\S+)\.<", svg)
    assert found is not None
    printed = [float(n.replace("\N{MINUS SIGN}", "-")) for n in found.groups()]
    assert printed == pytest.approx([skewness, kurtosis], abs=6e-4)


def test_the_printed_correlation_is_numpys() -> None:
    x, y = np.random.Generator(np.random.PCG64(5)).normal(size=(2, 50))
    r, p = scipy.stats.pearsonr(x, y)
    assert abs(r - np.corrcoef(x, y)[0, 1]) < 1e-12
    assert f"Pearson r = {r:.3f} (p = {p:.2g}; p above 0.01), n = 50".replace("-", "\N{MINUS SIGN}") in words(
        parse(figures.metric_against_gap(x, y))
    )


def test_a_single_point_is_drawn_and_has_no_correlation() -> None:
    figure = parse(figures.metric_against_gap([0.2], [0.1]))
    assert len(centres(figure)) == 1
    assert any(said.startswith("Pearson r is undefined") for said in words(figure))


def test_weak_correlations_are_open() -> None:
    rows, p = {"m": [0.9, 0.5, 0.7]}, {"m": [0.0001, 0.01, 0.010001]}
    for figure in (
        figures.correlation_by_k([1, 2, 3], rows, p),
        figures.correlation_by_group(list("abc"), rows, p),
    ):
        assert len(centres(parse(figure), "mark s1")) == 1 + 2
        assert len(centres(parse(figure), "mark s1 hollow")) == 1


@both_widths
def test_64_groups_have_their_labels(width: int) -> None:
    groups = [f"Group number {i}" for i in range(64)]
    rng = np.random.Generator(np.random.PCG64(2))
    a = rng.uniform(0.4, 0.9, 64)
    for svg in (
        figures.correlation_by_group(
            groups, {name: rng.uniform(-1, 1, 64) for name in CORRELATIONS}, width=width
        ),
        figures.auc_gap_figure(
            groups,
            [figures.ModelAuc(model=m, overall=0.6, auc=a, low=a - 0.1, high=a + 0.1) for m in "xy"],
            width=width,
        ),
        figures.rank_bump(groups, a, a[::-1], width=width),
        figures.score_distributions({g: rng.normal(size=30) for g in groups}, groups[0], width=width),
    ):
        test_labels_neither_overlap_nor_leave_the_figure(lambda width, svg=svg: svg, width)
        figure = parse(svg)
        assert len(set(groups[1:]) & set(words(figure))) == 63
        assert len(svg) < 150_000


def test_names_that_do_not_fit_are_cut_in_the_middle() -> None:
    long = ["an extraordinarily long name of a group that fits no phone, number one", "another"]
    figure = parse(figures.correlation_by_group(long, {"m": [0.1, 0.2]}, width=360))
    cut = next(said for said in words(figure) if "\N{HORIZONTAL ELLIPSIS}" in said)
    assert cut.startswith("an extra") and cut.endswith("one")
    assert long[0] in (figure[1].text or ""), "the description has the whole name"


@each
def test_a_file_stands_by_itself(draw: Callable[..., str]) -> None:
    file = figures.standalone(draw(width=360))
    figure = parse(file)
    assert [child.tag for child in figure][:3] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert figure.attrib["width"] == "360" and float(figure.attrib["height"]) > 100
    sheet = figure[2].text or ""
    light, dark = sheet.split("@media (prefers-color-scheme: dark)")
    assert "background:#fdfdfb" in light and "background:#14171b" in dark, "the page's own colours"
    assert "var(" not in sheet and "url(" not in file
    assert len(file) < 60_000


def test_marks_in_the_dark_keep_their_size() -> None:
    light, dark = figures.standalone(CASES["bump"]()).split("@media (prefers-color-scheme: dark)")
    assert "stroke-width:8" in light and "stroke-width" not in dark.split("</style>")[0]


def test_the_interval_of_the_gap_is_printed() -> None:
    a = np.asarray(AUCS[0].auc)
    assert f"gap {a.max() - a.min():.3f} [0.000, 0.400]" in words(parse(figures.auc_gap_figure(GROUPS, AUCS)))


def in_order(data: object, places: list[float]) -> None:
    """Where one datum is above another, its place is not before the other's."""
    ranked = [place for _, place in sorted(zip(data, places, strict=True), key=lambda pair: pair[0])]  # type: ignore[call-overload]
    assert ranked == sorted(ranked)
