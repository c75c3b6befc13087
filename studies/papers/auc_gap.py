"""AUC gap over overlapping subgroups of students, for three tools and two years."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audit_lib.report.content import Content, gather, in_words
from audit_lib.report.numbers import count, decimal
from audit_lib.report.verdict_words import verdict_words
from audit_lib.results import Estimate, Interval, Undefined
from studies.markdown import rows
from studies.results import Results
from studies.study import Study

PROSE = """
## The paper's design

AUC Gap is the largest difference in AUC between any two subgroups of students: levels of single attributes, of several
together, any number of them, overlapping or not. Its Figure 1 shows, for several models next to each other, the AUC of
everybody, of each subgroup, and the gap. Outcomes that are numbers are cut at a threshold; of several classes each is
held against all others. The figure's numbers are of students' data that are not at hand, so none is next to ours.

## Ours

$students made-up students, half of them in each of two years, with sex, race, prior knowledge and free lunch. The
outcome is a number, grade points, and 2 or more count as passed (`source.outcome.threshold`). Three tools have scored
them. A script made the scores from the students' mastery and noise, and planted one thing: `tool-b` says next to
nothing of Black students with little prior knowledge, and `tool-c` does so in 2025 alone. `groups.also` names the pairs
of attributes and `groups.masks` the column of free lunch; with levels and full intersections that makes $subgroups
subgroups.

### The gap, and the two subgroups that make it

$gaps

The interval is simultaneous over all pairs, since the two were picked by the data. *Verdict*: held against
`measure.margins`, an AUC gap of $margin.

### As in Figure 1: the tools

$tools

### As in Figure 1: the years

$years

### AUC by subgroup

$table

## The difference, and why

- The planted subgroup is Black students with little prior knowledge. It is an intersection of two of three attributes:
  neither a level of one nor a full intersection, so an audit of these two kinds alone would not test it. The table
  shows its AUC with its own interval. The two subgroups that make a gap are the extremes of many: the lowest is a small
  full intersection inside the planted subgroup, or by chance another one.
- `tool-a` treats all alike, and its gap is not 0: the largest of many differences is large by chance. Its interval
  reaches down to next to nothing, which is why a gap is never read without one.
- `tool-c` is the reason to draw years next to each other: what both years together show is the mean of a year without
  the fault and one with it.
- The paper gives no interval. Ours allow for the picking and for people who are in several subgroups.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    found = {run.spec.model.name: gather(run) for run in results.runs()}
    first = next(iter(found.values()))
    areas = {name: _by_group(content, {}) for name, content in found.items()}
    everybody = areas[next(iter(areas))][()]
    return {
        "students": count(everybody.n),
        "subgroups": str(len(areas[next(iter(areas))]) - 1),
        "margin": str(first.spec.measure.margins["auc_gap"]),
        "gaps": rows(
            ["tool", "years", "AUC gap", "highest", "lowest", "verdict"],
            [_gap(name, e) for name, own in found.items() for e in own.estimates("auc_gap") if not e.group],
            text_columns=2,
        ),
        "tools": results.chart(results.comparison_page("auc_gap"), "AUC by subgroup, and the gap", "tools"),
        "years": results.chart(results.report("auc_gap", "tool_c"), "AUC by subgroup, and the gap", "years"),
        "table": rows(
            ["subgroup", "n", "passed", *found],
            [
                (
                    _name(one), count(one.n), count(int(one.parameters["positives"])),
                    *(_interval(own[cell].value, own[cell].interval) for own in areas.values()),
                )
                for cell, one in areas[next(iter(areas))].items()
            ],
        ),
    }  # fmt: skip


def _by_group(content: Content, stratum: Mapping[str, str]) -> dict[Sequence[tuple[str, str]], Estimate]:
    return {tuple(one.group.items()): one for one in content.estimates("auc") if one.stratum == stratum}


def _name(one: Estimate) -> str:
    words = (level if level not in ("yes", "no") else f"free lunch: {level}" for level in one.group.values())
    return ", ".join(words) or "everybody"


def _gap(name: str, one: Estimate) -> tuple[str, ...]:
    return (
        name, in_words(one.stratum) or "both", _interval(one.value, one.interval), str(one.parameters["highest"]),
        str(one.parameters["lowest"]), "none" if one.verdict is None else verdict_words(one.verdict),
    )  # fmt: skip


def _interval(value: object, interval: Interval | Undefined | None) -> str:
    if not isinstance(value, float) or not isinstance(interval, Interval):
        return "undefined"
    return f"{decimal(value)} [{decimal(interval.low)}, {decimal(interval.high)}]"


STUDY = Study(
    title="AUC Gap: overlapping subgroups",
    paper="Lee, Brooks, Yu and Kizilcec (2023), arXiv:2309.12371",
    about="Do three tools tell who will pass equally well in each of many overlapping subgroups of students?",
    takes="half a minute on 2 cores; recorded scores are read",
    cheap=False,
    specs=("auc_gap",),
    prose=PROSE,
    shown=shown,
)
