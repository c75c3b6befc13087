"""One call of every figure, with usual data, and helpers that read what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree import ElementTree

import numpy as np

from audit_lib import figures
from audit_lib.figures.drawing import SMALL, TEXT, text_width

SVG = "{http://www.w3.org/2000/svg}"
SMALL_CLASSES = {"tick", "axis", "guide-name", "name small"}

RNG = np.random.Generator(np.random.PCG64(11))
MODELS = ["gpt-3.5-turbo-0125", "llama-3-8b-instruct", "mistral-7b", "qwen-2.5-72b-instruct", "phi-3"]
GROUPS = [f"{race} {sex}" for sex in ("women", "men") for race in ("Asian", "Black", "Hispanic", "White")]
SCORES = {group: RNG.normal(i / 10, 1, 300) for i, group in enumerate(GROUPS)}
CORRELATIONS = {name: RNG.uniform(-0.4, 1, 7) for name in ("RABBI", "score gap", "JS divergence", "EMD")}
P_VALUES = {name: RNG.uniform(0, 0.02, 7) for name in CORRELATIONS}
POINTS = RNG.normal(0, 0.1, (2, 40))
SMALLEST = RNG.uniform(0.5, 1, 7)
AUCS = [
    figures.ModelAuc(model=model, overall=0.8, auc=a, low=a - 0.05, high=a + 0.05, gap_low=0.0, gap_high=0.4)
    for model, a in zip(MODELS, RNG.uniform(0.6, 0.9, (3, 8)), strict=False)
]
FOREST = {
    heading: [
        figures.Dot(
            label=f"{group} against White men",
            value=v,
            low=v - 0.2,
            high=v + 0.2,
            inner=(v - 0.1, v + 0.1),
            printed=f"{v:.3f}",
        )
        for group, v in zip(GROUPS, RNG.normal(0.9, 0.1, 3), strict=False)
    ]
    for heading in ("as asked", "prompt: second", "task: resume only")
}
RELIABILITY = {
    group: [
        figures.ReliabilityPoint(
            score=i / 5 + 0.1, outcome=p, n=40, low=max(p - 0.2, 0.0), high=min(p + 0.2, 1.0)
        )
        for i, p in enumerate(RNG.uniform(0, 1, 5).tolist())
    ]
    for group in GROUPS
}

CASES: dict[str, Callable[..., str]] = {
    "distributions": lambda **o: figures.score_distributions(SCORES, "White men", **o),
    "scatter": lambda **o: figures.metric_against_gap(
        *POINTS, series=[MODELS[i % 5] for i in range(40)], **o
    ),
    "identity": lambda **o: figures.metric_against_gap(*POINTS, line="identity", **o),
    "by k": lambda **o: figures.correlation_by_k(range(1, 8), CORRELATIONS, P_VALUES, **o),
    "by group": lambda **o: figures.correlation_by_group(GROUPS[:7], CORRELATIONS, P_VALUES, **o),
    "ndcg": lambda **o: figures.fairness_ndcg_curve(
        range(1, 8), {name: np.abs(r) for name, r in CORRELATIONS.items()}, **o
    ),
    "sequence": lambda **o: figures.sequence(
        [f"2026-{k + 1:02d}-01" for k in range(7)],
        POINTS[0][:7],
        np.stack([POINTS[0][:7] - 0.2, POINTS[0][:7] + 0.2], axis=1),
        baseline=3,
        since=5,
        versions=[4],
        **o,
    ),
    "bump": lambda **o: figures.rank_bump(MODELS, [5, 1, 2, 2, 3], [1, 5, 2, 4, 3], **o),
    "moments": lambda **o: figures.score_moments(dict.fromkeys(MODELS[:3], SCORES), **o),
    "boxes": lambda **o: figures.score_boxes(
        {group: np.quantile(v, [0, 0.25, 0.5, 0.75, 1]) for group, v in SCORES.items()},
        guide=(0.4, "median"),
        **o,
    ),
    "trend": lambda **o: figures.trend(
        [f"202{i}-01-0{i}" for i in range(1, 8)],
        {"Selection": SMALLEST, "Scoring": [0.9, None] * 3 + [1]},
        ["a", "a", "b", "b", "c", "c", "c"],
        guide=(0.8, "four-fifths guideline (0.8)"),
        **o,
    ),
    "forest": lambda **o: figures.forest(FOREST, **o),
    "ratios": lambda **o: figures.forest(FOREST, parity=1.0, span=(0.0, 2.0), guide=(0.8, "0.8"), **o),
    "reliability": lambda **o: figures.reliability_diagram(RELIABILITY, **o),
    "auc": lambda **o: figures.auc_gap_figure(GROUPS, AUCS, **o),
}


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def words(figure: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in figure.iter(f"{SVG}text")]


def centres(figure: ElementTree.Element, kind: str = "mark s1") -> list[tuple[float, float]]:
    """Where the circles of a class are; the first series' marks are circles, and the legend's is one of them."""
    return [
        (float(mark.attrib["cx"]), float(mark.attrib["cy"]))
        for mark in figure.iter(f"{SVG}circle")
        if mark.attrib["class"] == kind
    ]


def boxes(figure: ElementTree.Element) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Words, and about where they stand: left, top, right, bottom."""
    for text in figure.iter(f"{SVG}text"):
        kind, said = text.attrib["class"], text.text or ""
        size = SMALL if kind in SMALL_CLASSES else TEXT
        wide = text_width(said, size) / (0.88 if kind == "heading" else 1)
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib.get("text-anchor", "start")]
        yield said, (left, y - 0.72 * size, left + wide, y + 0.2 * size)
