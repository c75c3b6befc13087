"""How often the right cause of a change is named first, and what is said where two coincide.

`python -m benchmarks.attribution --data FOLDER --out docs/attribution.md`; the histories are drawn by code that shares
nothing with what attributes their changes but the document that the monitor keeps of a window.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.attribution import Attribution
from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.sequence_name import Quantity, SequenceName
from audit_lib.documents.window_cells import CountedCell, FieldLevel, KeptCanary, WindowCells
from audit_lib.monitor.attribution import TwoSides, attribute
from audit_lib.stats import wilson
from benchmarks import replication_bloomberg

Floats = NDArray[np.float64]

BLOCKS, WINDOWS, PEOPLE = 20, 6, 300
POSITIONS = ("clerk", "driver", "nurse")
NAME = SequenceName(quantity="selection_rate", group={"sex": "female"}, reference={"sex": "male"})


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """How a window comes about: who applies, how women fare in each position, what is read, and what is recorded.

    Parameters
    ----------
    effect : tuple of float
        Of women, in standard deviations of the score, by position.
    mix : tuple of float
        Shares of the positions.
    threshold : float
        Of the decision rule.
    unread : float
        Share of the answers about selected women that cannot be read.
    canary : float
        Probability that a canary is answered with, but for noise.
    versions : mapping of str to str
        What is recorded of model, prompt and the like.
    """

    effect: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mix: tuple[float, float, float] = (0.4, 0.3, 0.3)
    threshold: float = 0.0
    unread: float = 0.0
    canary: float = 0.6
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A change: the system before and after, and what should be named first."""

    title: str
    before: System
    after: System
    right: str


_LOWER = (-0.5, -0.5, -0.5)
_UNEVEN = (-1.0, 0.1, 0.1)
CASES = (
    Planted(
        title="model, under another name",
        before=System(),
        after=System(effect=_LOWER, canary=0.7, versions={"model": "b"}),
        right="model",
    ),
    Planted(
        title="model, under the same name: canaries alone show it",
        before=System(),
        after=System(effect=_LOWER, canary=0.63),
        right="model",
    ),
    Planted(
        title="prompt template",
        before=System(),
        after=System(effect=_LOWER, versions={"prompt": "b"}),
        right="prompt",
    ),
    Planted(
        title="decision rule",
        before=System(effect=_LOWER),
        after=System(effect=_LOWER, threshold=1.5, versions={"decision": "b"}),
        right="rule",
    ),
    Planted(
        title="mix of positions",
        before=System(effect=_UNEVEN, mix=(0.2, 0.4, 0.4)),
        after=System(effect=_UNEVEN, mix=(0.8, 0.1, 0.1)),
        right="mix",
    ),
    Planted(
        title="parsing: answers about selected women not read",
        before=System(),
        after=System(unread=0.4),
        right="answers",
    ),
    Planted(
        title="rule, and another model that changes nothing",
        before=System(effect=_LOWER),
        after=System(effect=_LOWER, threshold=1.5, versions={"decision": "b", "model": "b"}),
        right="rule",
    ),
    Planted(
        title="mix, and another prompt that changes nothing",
        before=System(effect=_UNEVEN, mix=(0.2, 0.4, 0.4)),
        after=System(effect=_UNEVEN, mix=(0.8, 0.1, 0.1), versions={"prompt": "b"}),
        right="mix",
    ),
    Planted(
        title="model and prompt at once",
        before=System(),
        after=System(effect=_LOWER, canary=0.7, versions={"model": "b", "prompt": "b"}),
        right="cannot_tell",
    ),
    Planted(
        title="model, and missing answers that could account for most of it",
        before=System(),
        after=System(effect=(-0.1, -0.1, -0.1), unread=0.4, versions={"model": "b"}),
        right="cannot_tell",
    ),
    Planted(
        title="source and software at once",
        before=System(),
        after=System(effect=_LOWER, versions={"source": "b", "software": "b"}),
        right="cannot_tell",
    ),
    Planted(title="nothing that is recorded", before=System(), after=System(effect=_LOWER), right="none"),
)
_PARTS = ("model", "prompt", "reading", "decision", "source", "score")


def window(rng: np.random.Generator, place: int, system: System, rule: float | None = None) -> WindowCells:
    """Draw a window; of the same draw by another threshold, where one is given."""
    female = rng.random(PEOPLE) < 0.5
    position = rng.choice(len(POSITIONS), PEOPLE, p=system.mix)
    score = rng.normal(size=PEOPLE) + female * np.array(system.effect)[position]
    own = score >= system.threshold
    read = ~(own & female & (rng.random(PEOPLE) < system.unread))
    block = rng.integers(0, BLOCKS, PEOPLE)
    canaries = np.clip(system.canary + 0.02 * rng.normal(size=8), 0.0, 1.0)
    threshold = system.threshold if rule is None else rule
    cells = [
        _cell(
            NAME.quantity,
            {"sex": "female" if woman else "male"},
            (name,),
            block[mask],
            read[mask],
            (score[mask] >= threshold).astype(float),
        )
        for woman in (True, False)
        for number, name in enumerate(POSITIONS)
        for mask in [(female == woman) & (position == number)]
    ]
    fields = [
        FieldLevel(field="position", level=name, rows=_counts(block[position == number]))
        for number, name in enumerate(POSITIONS)
    ]
    fields += [
        FieldLevel(field="sex", level=level, rows=_counts(block[female == woman]))
        for woman, level in ((True, "female"), (False, "male"))
    ]
    return _document(
        place,
        cells,
        {name: system.versions.get(name, "a") for name in _PARTS},
        ("position",),
        rule=f"{threshold:g}",
        own_rule=f"{system.threshold:g}",
        software={"scores:torch": system.versions.get("software", "a")},
        fields=fields,
        canaries=[
            KeptCanary(
                request_digest=f"{number}",
                status="ok",
                score=None,
                label_probabilities=(1.0 - value, value),
                text_sha256=None,
            )
            for number, value in enumerate(canaries.tolist())
        ],
    )


def _counts(blocks: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(np.bincount(blocks, minlength=BLOCKS).tolist())


def _cell(
    quantity: Quantity,
    group: Mapping[str, str],
    stratum: tuple[str, ...],
    block: NDArray[np.int64],
    read: NDArray[np.bool_],
    values: Floats,
) -> CountedCell:
    return CountedCell(
        quantity=quantity,
        group=group,
        stratum=stratum,
        asked=_counts(block),
        answered=_counts(block[read]),
        total=tuple(np.bincount(block[read], values[read], BLOCKS).tolist()),
    )


def _document(
    place: int,
    cells: Sequence[CountedCell],
    versions: Mapping[str, str],
    strata_by: tuple[str, ...],
    *,
    rule: str = "",
    own_rule: str = "",
    software: Mapping[str, str] | None = None,
    fields: Sequence[FieldLevel] = (),
    canaries: Sequence[KeptCanary] = (),
) -> WindowCells:
    return WindowCells(
        audit="simulated",
        run=RunIdentity(window=f"{place}", spec_digest="0" * 64, manifest_sha256=f"{place:064d}"),
        rule=rule,
        own_rule=own_rule,
        reading="",
        own_reading="",
        versions=versions,
        served=(),
        fingerprints=(),
        software={} if software is None else software,
        strata_by=strata_by,
        score_range=(0.0, 1.0),
        cells=tuple(cells),
        fields=tuple(fields),
        canaries=tuple(canaries),
    )


def history(case: Planted, number: int) -> Attribution:
    """Draw the windows of both sides, and attribute their change."""

    def side(system: System, begin: int, rule: float | None = None) -> list[WindowCells]:
        return [
            window(np.random.default_rng([70_000, number, begin + k]), begin + k, system, rule)
            for k in range(WINDOWS)
        ]

    other = case.before.threshold != case.after.threshold
    return attribute(
        NAME,
        TwoSides(
            before=side(case.before, 0),
            after=side(case.after, WINDOWS),
            exchanged={
                ("before", "after", "before"): side(case.before, 0, case.after.threshold),
                ("after", "before", "after"): side(case.after, WINDOWS, case.before.threshold),
            }
            if other
            else {},
            exchangeable=("rule",) if other else (),
        ),
    )


def planted_row(case: Planted, histories: int) -> list[str]:
    """Count how often the right cause is named first, and how much of the change it is given."""
    found = [history(case, number) for number in range(histories)]
    right = sum(one.parts[0].cause == case.right for one in found)
    interval = wilson(right, histories)
    shares = [sum(part.part for part in one.parts if part.cause == case.right) / one.change for one in found]
    low, middle, high = np.quantile(shares, [0.1, 0.5, 0.9])
    row = [
        case.title,
        case.right.replace("_", " "),
        str(histories),
        f"{100 * right / histories:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})",
        f"{np.mean([one.change for one in found]):+.3f}",
        f"{100 * middle:.0f} ({100 * low:.0f} to {100 * high:.0f})",
    ]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def coverage_rows(histories: int) -> list[list[str]]:
    """Hold the intervals of change and mix against their true values in the history where the mix changes."""
    case = CASES[4]
    truth = _true_differences(case)
    found = [history(case, 10_000 + number) for number in range(histories)]
    rows = []
    for title, value, intervals in (
        ("whole change", truth, [one.interval for one in found]),
        ("mix", truth, [p.interval for one in found for p in one.parts if p.cause == "mix"]),
    ):
        held = sum(one.low <= value <= one.high for one in intervals)  # type: ignore[union-attr]
        interval = wilson(held, len(intervals))
        rows.append(
            [
                title,
                f"{value:+.3f}",
                str(len(intervals)),
                f"{100 * held / len(intervals):.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})",
            ]
        )
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def _true_differences(case: Planted) -> float:
    """Return the true change of the difference, all of it by the mix, from the normal law."""
    from statistics import NormalDist

    rate = NormalDist().cdf
    gap = [rate(effect) - rate(0.0) for effect in case.before.effect]
    return sum((new - old) * own for new, old, own in zip(case.after.mix, case.before.mix, gap, strict=True))


def bloomberg(data: Path) -> list[list[str]]:
    """Attribute what changed between GPT-3.5 and GPT-4 in 8,000 recorded rankings, 200 rounds a window."""
    rankings = replication_bloomberg.load(data)
    with gzip.open(data / replication_bloomberg.LOG, "rt", encoding="utf-8") as log:
        created = np.array([json.loads(line)["created"] for line in log])
    sides = []
    for model in replication_bloomberg.MODELS:
        own = np.flatnonzero(rankings.model == model)
        ordered = own[np.argsort(created[own], kind="stable")]
        sides.append(
            [
                _ranked(rankings, ordered[k : k + 200], k // 200, str(model))
                for k in range(0, len(ordered), 200)
            ]
        )
    rows = []
    for quantity in ("score", "selection_rate"):
        for group in replication_bloomberg.COMPARED:
            name = SequenceName(
                quantity="score" if quantity == "score" else "selection_rate",
                group={"group": replication_bloomberg.GROUPS[group]},
                reference={"group": replication_bloomberg.GROUPS[replication_bloomberg.REFERENCE]},
            )
            one = attribute(name, TwoSides(before=sides[0], after=sides[1]))
            parts = {part.cause: part for part in one.parts}
            rows.append(
                [
                    "ranks" if quantity == "score" else "first places",
                    replication_bloomberg.GROUPS[group],
                    _number(one.change, one.interval),
                    _number(parts["model"].part, parts["model"].interval),
                    _number(parts["mix"].part, parts["mix"].interval),
                    one.parts[0].cause,
                ]
            )
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def _number(value: float, interval: object) -> str:
    return f"{value:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"  # type: ignore[attr-defined]


def _ranked(
    rankings: replication_bloomberg.Rankings, rows: NDArray[np.int64], place: int, model: str
) -> WindowCells:
    """Ranks from 0 to 1 and first places, by job; rounds are the clusters."""
    ranks = rankings.rank[rows]
    scores = (replication_bloomberg.RANKS - ranks) / (replication_bloomberg.RANKS - 1)
    cells = [
        _cell(
            quantity,
            {"group": replication_bloomberg.GROUPS[group]},
            (str(job),),
            rows[mask] % BLOCKS,
            np.ones(int(mask.sum()), dtype=bool),
            values[mask, group],
        )
        for quantity, values in (("score", scores), ("selection_rate", (ranks == 1).astype(float)))
        for job in np.unique(rankings.job)
        for mask in [rankings.job[rows] == job]
        for group in range(replication_bloomberg.RANKS)
    ]
    return _document(  # type: ignore[arg-type]
        place, cells, {name: model if name == "model" else "a" for name in _PARTS}, ("job",)
    )


def page(planted: list[list[str]], covered: list[list[str]], log: list[list[str]]) -> str:
    """Return the page."""

    def table(head: list[str], rows: list[list[str]]) -> str:
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    return f"""# How often the right cause of a change is named

Written by `python -m benchmarks.attribution`; do not edit. [How it is done](howto/monitor.md#why-it-changed).

## Planted causes

{WINDOWS} windows of {PEOPLE} people before the change and {WINDOWS} after it, three positions, eight canaries with
noise of their own (SD 0.02). *Right first*: share of histories in which the largest part is attributed to the right
cause, with Wilson's interval. *Of the change*: what share of it that cause is given, the middle history and a tenth
below and above.

{table(["planted", "right answer", "histories", "right first, %", "mean change", "of the change, %"], planted)}

## Intervals

How often the 95% intervals hold the true value where the mix changes, and nothing else: all of the change is the
mix's.

{table(["what", "truth", "intervals", "hold it, %"], covered)}

## A recorded change of the model

Bloomberg's 8,000 rankings: 20 windows of GPT-3.5, then 20 of GPT-4, in the order of `created`; groups against White
men, rounds as clusters, four jobs as strata. Nothing else is known to have changed, so what is left after the mix of
jobs is attributed to the model.

{table(["quantity", "group", "change", "model", "mix of jobs", "first"], log) if log else "Not run: no `--data`."}
"""


def main() -> None:
    """Run everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where the page goes (default: standard output)")
    parser.add_argument("--histories", type=int, default=200, help="of each planted cause")
    parser.add_argument("--data", type=Path, help="folder with Bloomberg's log, as for the replication")
    options = parser.parse_args()
    planted = [planted_row(case, options.histories) for case in CASES]
    covered = coverage_rows(5 * options.histories)
    log = bloomberg(options.data) if options.data else []
    text = page(planted, covered, log)
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
