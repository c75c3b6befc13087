"""How often alarms over all windows are false, and how soon true ones come, next to other detectors.

`python -m benchmarks.monitoring --out docs/monitoring.md`; with ``--peers PYTHON`` naming an interpreter that has
river, evidently and nannyml (and pandas below 3), the delays of these are measured on the same histories.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.drift import RunIdentity
from audit_lib.documents.sequences import Baseline, MonitorSettings, NamedSums, WindowSumsDocument
from audit_lib.monitor.sequences import follow
from audit_lib.results import Interval
from audit_lib.stats import wilson
from benchmarks import replication_bloomberg

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], list[tuple[Floats, Floats]]]
"""(random numbers, window) -> of each group the values of its units, and those of the reference."""

_WINDOWS, _BASELINE, _UNITS = 200, 10, 100
_START = np.datetime64("2026-01-05T00:00:00")


@dataclass(frozen=True, slots=True)
class Null:
    """A system that does not change: how its values are drawn, and the true mean differences."""

    title: str
    draw: Draw
    truth: tuple[float, ...]


def _pairs(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Decisions on the two versions of an application, which have much in common."""
    talent = rng.normal(size=_UNITS)
    return [tuple((talent + rng.normal(size=_UNITS) > 0.3).astype(float) for _ in range(2))]  # type: ignore[list-item]


def _ties(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Scores of five values, of which one is very frequent."""
    group, reference = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], (2, _UNITS), p=[0.02, 0.03, 0.15, 0.7, 0.1])
    return [(group, reference)]


def _skewed(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Probabilities next to 0, seldom next to 1; the group's are of another spread with the same mean."""
    return [(rng.beta(0.1, 1.9, _UNITS), rng.beta(0.5, 9.5, _UNITS))]


def _rounds(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Rounds of four and four, of whom three are chosen: rates of one go down where those of the other go up."""
    order = np.argsort(rng.random((_UNITS, 8)), axis=1) < 3
    return [(order[:, :4].mean(axis=1), order[:, 4:].mean(axis=1))]


def _uneven(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Windows of 0 to 400 applications, and rates of reference and group that are not equal, but stay what they are."""
    units = int(rng.integers(0, 4)) ** 2 * int(rng.integers(1, 45))
    return [((rng.random(units) < 0.3).astype(float), (rng.random(units) < 0.5).astype(float))]


def _waves(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Rates of both that rise and fall together: windows are not like each other, and their differences are."""
    rate = 0.5 + 0.3 * math.sin(window / 8)
    return [tuple((rng.random(_UNITS) < rate).astype(float) for _ in range(2))]  # type: ignore[list-item]


def _groups(rng: np.random.Generator, window: int) -> list[tuple[Floats, Floats]]:
    """Ten groups and five scores each against one reference, whose values all of them share."""
    found = []
    for score in range(5):
        talent = rng.normal(size=40)
        reference = (talent + rng.normal(size=40) > 0.2 * score).astype(float)
        found += [((talent + rng.normal(size=40) > 0.2 * score).astype(float), reference) for _ in range(10)]
    return found


NULLS = (
    Null("decisions on two versions of 100 applications", _pairs, (0.0,)),
    Null("scores of five values, 70% of them the same", _ties, (0.0,)),
    Null("probabilities near 0, of two spreads", _skewed, (0.0,)),
    Null("100 rounds of eight, three chosen", _rounds, (0.0,)),
    Null("windows of 0 to 396 applications, rates of 30% and 50%", _uneven, (-0.2,)),
    Null("rates that rise and fall over the year", _waves, (0.0,)),
    Null("ten groups, five scores each, one reference: 50 sequences", _groups, (0.0,) * 50),
)


def documents(
    windows: Iterable[list[tuple[Floats, Floats]]], models: Sequence[str] = ()
) -> list[WindowSumsDocument]:
    """Make what the monitor keeps of each window out of its values, and of the model that gave them."""
    made = []
    for place, sequences in enumerate(windows):
        start, end = (
            str(_START + np.timedelta64(7 * week, "D")).replace("-", "").replace(":", "") + "Z"
            for week in (place, place + 1)
        )
        made.append(
            WindowSumsDocument(
                audit="simulated",
                run=RunIdentity(
                    window=f"{start}_{end}", spec_digest="0" * 64, manifest_sha256=f"{place:064d}"
                ),
                question={},
                version={"model": models[place]} if models else {},
                unit="application",
                score_range=(0.0, 1.0),
                sums=tuple(
                    NamedSums(
                        quantity="score",
                        group={"group": str(number)},
                        reference={"group": "reference"},
                        rows=int(one.size),
                        reference_rows=int(other.size),
                        units=int(one.size),
                        group_sum=math.fsum(one),
                        reference_sum=math.fsum(other),
                        group_squares=math.fsum(one * one),
                        reference_squares=math.fsum(other * other),
                        products=math.fsum(one * other),
                    )
                    for number, (one, other) in enumerate(sequences)
                ),
                left_out=(),
            )
        )
    return made


def baseline_of(history: list[WindowSumsDocument], *, false_alarms: float = 0.05) -> Baseline:
    """Decide that the first windows are the baseline."""
    return Baseline(
        audit="simulated",
        number=1,
        name="first",
        runs=tuple(one.run for one in history[:_BASELINE]),
        question={},
        settings=MonitorSettings(false_alarms=false_alarms, floor=0.0, minimum=1, line=None),
        decided_by="the benchmark",
        reason="simulated",
        decided_at="2026-01-01T00:00:00+00:00",
    )


def null_row(number: int, null: Null, histories: int) -> list[str]:
    """Follow many histories in which nothing changes: how many ever alarm, and how many intervals ever miss."""
    alarmed = missed = 0
    for history in range(histories):
        rng = np.random.default_rng([90_000 + number, history])
        made = documents(null.draw(rng, window) for window in range(_WINDOWS))
        found = follow("simulated", baseline_of(made), made)
        alarmed += any(one.alarms for one in found.sequences)
        missed += sum(
            not all(look.interval.low <= truth <= look.interval.high for look in one.looks)
            for one, truth in zip(found.sequences, null.truth, strict=True)
        )
    intervals = histories * len(null.truth)
    row = [null.title, str(histories), _share(alarmed, histories), _share(missed, intervals)]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def _share(count: int, n: int) -> str:
    interval: Interval = wilson(count, n)
    return f"{100 * count / n:.1f} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


SCENARIOS: dict[str, Callable[[int], float]] = {
    "null": lambda week: 0.0,
    "step of -0.05": lambda week: -0.05 if week >= 20 else 0.0,
    "step of -0.10": lambda week: -0.10 if week >= 20 else 0.0,
    "step of -0.20": lambda week: -0.20 if week >= 20 else 0.0,
    "drift of -0.002 a window": lambda week: -0.002 * max(week - 19, 0),
    "one bad week of -0.30": lambda week: -0.30 if week == 20 else 0.0,
}
_LENGTH = 110


def differences(scenario: str, histories: int, seed: int) -> NDArray[np.int8]:
    """Draw histories of decisions on 100 applications a window, whose difference is the scenario's."""
    rng = np.random.default_rng(seed)
    change = np.array([SCENARIOS[scenario](week) for week in range(_LENGTH)])
    group = rng.random((histories, _LENGTH, _UNITS)) < 0.5 + change[:, None]
    reference = rng.random((histories, _LENGTH, _UNITS)) < 0.5
    return group.astype(np.int8) - reference


def ours(history: NDArray[np.int8]) -> Floats:
    """The product's evidence of a change at each look, as a logarithm."""
    made = documents([((one > 0).astype(float), (one < 0).astype(float))] for one in history)
    found = follow("simulated", baseline_of(made), made).sequences[0]
    return np.array([-math.inf if look.change is None else look.change for look in found.looks])


def cusum(history: NDArray[np.int8]) -> Floats:
    """Page's two-sided CUSUM of the windows' means, in standard deviations of the baseline."""
    means = history.mean(axis=1)
    z = (means - means[:_BASELINE].mean()) / (history[:_BASELINE].std() / math.sqrt(_UNITS))
    high = low = 0.0
    found = np.zeros(len(means))
    for week in range(_BASELINE, len(means)):
        high, low = max(0.0, high + z[week] - 0.5), max(0.0, low - z[week] - 0.5)
        found[week] = max(high, low)
    return found


def first_at(statistic: Floats, threshold: float) -> int:
    """Return the first window at which a statistic reaches a threshold, or -1."""
    told = np.flatnonzero(statistic >= threshold)
    return int(told[0]) if told.size else -1


def delays(histories: int, calibration: int, python: str | None) -> list[list[str]]:
    """Measure how soon each method tells each change, all of them at the same share of false alarms."""
    sets = {"calibration": differences("null", calibration, 1)}
    sets |= {name: differences(name, histories, 2 + k) for k, name in enumerate(SCENARIOS)}
    first: dict[str, dict[str, NDArray[np.int64]]] = {}
    for title, statistic, shipped in (
        ("this monitor, as it is (5% of audits ever)", ours, math.log(20)),
        ("this monitor, threshold set as below", ours, None),
        ("CUSUM", cusum, None),
    ):
        values = {name: np.stack([statistic(one) for one in drawn]) for name, drawn in sets.items()}
        threshold = shipped or float(np.quantile(values["calibration"].max(axis=1), 0.95))
        first[title] = {
            name: np.array([first_at(one, threshold) for one in found]) for name, found in values.items()
        }
        print(title, threshold, file=sys.stderr, flush=True)
    if python is not None:
        first |= _of_peers(python, sets)
    rows = []
    for title, by_scenario in first.items():
        row = [title]
        for name, change in SCENARIOS.items():
            found = by_scenario[name]
            begins = next((week for week in range(_LENGTH) if change(week)), _LENGTH)
            early = int(((found >= 0) & (found < begins)).sum())
            after = found[found >= begins] - begins + 1
            if name == "null":
                row.append(f"{100 * early / histories:.1f}")
            elif not after.size:
                row.append("0%")
            else:
                low, middle, high = np.quantile(after, [0.1, 0.5, 0.9])
                row.append(
                    f"{100 * after.size / (histories - early):.0f}%, {middle:.0f} ({low:.0f} to {high:.0f})"
                )
        rows.append(row)
        print(*row, sep=" | ", file=sys.stderr, flush=True)
    return rows


def _of_peers(python: str, sets: dict[str, NDArray[np.int8]]) -> dict[str, dict[str, NDArray[np.int64]]]:
    """Run the peers in their environment; of each, at the setting nearest to 5% of false alarms, and not above 6%."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "histories.npz", Path(folder) / "answer.npz"
        np.savez(source, baseline=np.array(_BASELINE), **sets)  # type: ignore[arg-type]
        subprocess.run(
            [python, str(Path(__file__).with_name("monitoring_peers.py")), str(source), str(target)],
            check=True,
        )
        answer = dict(np.load(target))
    found = {}
    for name in dict.fromkeys(key.split("/")[0] for key in answer):
        rates = (answer[f"{name}/calibration"] >= 0).mean(axis=0)
        usable = np.flatnonzero(rates <= 0.06)
        if not usable.size:
            continue
        best = int(usable[np.argmax(rates[usable])])
        setting = float(answer[f"{name}/settings"][best])
        found[f"{name} ({setting:.3g})"] = {
            scenario: answer[f"{name}/{scenario}"][:, best] for scenario in sets
        }
    return found


def bloomberg(data: Path) -> list[list[str]]:
    """Follow 8,000 recorded rankings in the order in which they were made, 200 rounds a window."""
    rankings = replication_bloomberg.load(data)
    with gzip.open(data / replication_bloomberg.LOG, "rt", encoding="utf-8") as log:
        created = np.array([json.loads(line)["created"] for line in log])
    by_model = [np.flatnonzero(rankings.model == model) for model in replication_bloomberg.MODELS]
    first, second = (rows[np.argsort(created[rows], kind="stable")] for rows in by_model)
    rng = np.random.default_rng(50_000)
    histories = {
        "GPT-3.5, then GPT-4, each in the order of `created`": [np.concatenate([first, second])],
        "GPT-3.5 alone, in the order of `created`": [first],
        "GPT-3.5, then GPT-4, each shuffled": [
            np.concatenate([rng.permutation(first), rng.permutation(second)]) for _ in range(20)
        ],
        "GPT-3.5 alone, shuffled": [rng.permutation(first) for _ in range(20)],
    }
    rows = []
    for title, orders in histories.items():
        made = [
            documents(
                (_ranked(rankings, order[k : k + 200]) for k in range(0, len(order), 200)),
                [str(model) for model in rankings.model[order[::200]]],
            )
            for order in orders
        ]
        found = [follow("simulated", baseline_of(one), one) for one in made]
        most = [
            max(look.change or -math.inf for one in history.sequences for look in one.looks)
            for history in found
        ]
        alarmed = sum(any(one.alarms for one in history.sequences) for history in found)
        named = sum(
            any(alarm.became_another for one in history.sequences for alarm in one.alarms)
            for history in found
        )
        rows.append(
            [
                title,
                str(len(orders)),
                str(alarmed),
                str(named),
                f"{math.exp(min(most)):.0f} to {math.exp(max(most)):.0f}",
            ]
        )
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def _ranked(rankings: replication_bloomberg.Rankings, rows: NDArray[np.int64]) -> list[tuple[Floats, Floats]]:
    """Scores from 0 to 1 by rank, and first places, of seven groups and of White men."""
    groups = replication_bloomberg.RANKS
    scores = (groups - rankings.rank[rows]) / (groups - 1)
    firsts = (rankings.rank[rows] == 1).astype(float)
    return [
        (values[:, group], values[:, replication_bloomberg.REFERENCE])
        for values in (scores, firsts)
        for group in replication_bloomberg.COMPARED
    ]


def page(nulls: list[list[str]], found: list[list[str]], log: list[list[str]], histories: int) -> str:
    """Return the page."""

    def table(head: list[str], rows: list[list[str]]) -> str:
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    return f"""# How often alarms are false, and how soon true ones come

Written by `python -m benchmarks.monitoring`; do not edit. Everything goes through `audit_lib.monitor.sequences.follow`,
as a monitored audit does; the histories are drawn by other code. A history has {_WINDOWS} windows, of which the first
{_BASELINE} are the baseline; no floor and no minimum.

## Nothing changes

Histories that ever raise an alarm of a change, in percent; at most 5 is promised for any number of windows. And
sequences whose interval misses the true mean difference at any look; at most 5 is promised. Each with Wilson's
interval; where a history has 50 sequences, which depend on each other, that of the second column is too narrow.

{table(["values", "histories", "ever an alarm, %", "ever outside, %"], nulls)}

## Something changes

Decisions on two versions of {_UNITS} applications a window, each selected with a rate of a half; {_BASELINE} windows of
baseline, ten more without a change, then the change, up to window {_LENGTH}. {histories} histories a scenario. Every
method but the first has the threshold at which about 5% of other histories without a change ever raise an alarm, so
that delays can be compared; it has to be found by simulation, for this length and these data, where the first needs
none. In each cell: how many found it, and after how many windows (the middle one; a tenth sooner, a tenth later).

{table(["method", *SCENARIOS], found)}

A peer's setting is in brackets: of a grid, the one whose share of false alarms is nearest to 5% and not above 6%.
river is shown one difference after the other; Evidently's chi-square test and NannyML's threshold compare each window
with the baseline. CUSUM is Page's, two-sided, with an allowance of half a standard deviation of a window's mean.

Aimed at 5%, the shares of false alarms in the histories of this table still differ (column `null`), so that small
differences between delays mean nothing.

## A recorded change of the model

Bloomberg's 8,000 rankings: 4,000 of GPT-3.5, 4,000 of GPT-4, in windows of 200 rounds of which the first ten are the
baseline. Seven groups are compared with White men, by their ranks and by first places: 14 sequences, so that one of
them alone is told at evidence of 280 to 1. What is staked on each bet was chosen after this log had been looked at:
with equal stakes the first history gave 157 to 1, and no alarm. In the tables the largest difference between the two
models is 4.7 standard errors (ranks of Asian women).

{table(["history", "of these", "with an alarm", "that names the model", "most evidence of a change, to 1"], log)}
"""


def main() -> None:
    """Run everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where the page goes (default: standard output)")
    parser.add_argument("--histories", type=int, default=1000, help="without a change, a row")
    parser.add_argument("--changes", type=int, default=200, help="histories of each change")
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter with river, evidently and nannyml")
    parser.add_argument("--data", type=Path, help="folder with Bloomberg's log, as for the replication")
    parser.add_argument("--only", choices=("null", "changes", "log"))
    options = parser.parse_args()
    nulls = []
    for number, null in enumerate(NULLS if options.only in (None, "null") else ()):
        nulls.append(null_row(number, null, options.histories // (1 if len(null.truth) == 1 else 5)))
    found = (
        [] if options.only in ("null", "log") else delays(options.changes, 2 * options.changes, options.peers)
    )
    log = bloomberg(options.data) if options.data else []
    text = page(nulls, found, log, options.changes)
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
