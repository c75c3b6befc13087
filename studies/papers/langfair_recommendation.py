"""Recommended lists of every two groups, as in the framework for uses of language models."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.report.content import gather, in_words
from audit_lib.report.numbers import decimal
from audit_lib.results import Estimate, Undefined
from studies.markdown import rows
from studies.results import Results
from studies.study import Study

_METRICS = {"jaccard_at_k": "Jaccard at K", "serp_at_k": "SERP at K", "prag_at_k": "PRAG at K"}

PROSE = """
## The paper's design

For lists that a model recommends, the framework asks: does a prompt mention a protected word, and should the list be
the same whatever the group? If both, counterfactual lists are compared: the lists for versions of one request that
differ in the group alone. Three similarities of two lists of K items, each 1 for identical ones:

- Jaccard at K: shared items over all items; the order says nothing.
- SERP at K: shared items weigh more the higher they are ranked; the smaller of both directions.
- PRAG at K: the share of pairs of items that stand in the same order in both; the smaller of both directions.

The paper prints no table of measured lists that is at hand, so there are no published numbers next to ours. Its
definitions are the law here: published code leaves the second direction of SERP and PRAG out.

## Ours

$requests requests, each in eight versions (sex and race), ten jobs a list, all made up by a script: each version has
one job in ten replaced, and Hispanic men's lists four in ten. So an audit has something to find, and no number here is
of a model. `groups.pairs: all` compares every two groups: $pairs pairs.

$found

$jaccard

$prag

All three metrics of every two groups:

$table

What the framework says of this use:

$families

## The difference, and why

- The planted group is the one that the pairs name. A comparison of each group with White men alone has $against pairs
  and shows Hispanic men against White men only; that they differ from the other six groups too, and that those are
  alike, takes all pairs.
- Identical lists would give 1. No pair reaches it, since every list here has some jobs replaced by lot: what two lists
  share when nobody is treated differently has to be known before a similarity is read (the pairs without Hispanic men
  show it here; a real audit asks each request twice).
- 24 requests are few: intervals are of requests, each with all its versions.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    (run,) = results.runs()
    content, page = gather(run), results.report("langfair_recommendation")
    found = {name: content.estimates(name) for name in _METRICS}
    first = found["jaccard_at_k"]
    lines = [
        (_pair(one), *(_cell(found[name][place]) for name in _METRICS)) for place, one in enumerate(first)
    ]
    reference = content.spec.groups.reference
    against = [one for one in first if all(reference[axis] == level for axis, level in one.reference.items())]
    return {
        "requests": str(first[0].clusters),
        "pairs": str(len(first)),
        "against": str(len(against)),
        "found": " ".join(_sentence(title, found[name]) for name, title in _METRICS.items()),
        "jaccard": results.chart(page, "Jaccard at K", "jaccard"),
        "prag": results.chart(page, "PRAG at K", "prag"),
        "table": rows(["groups", *_METRICS.values()], lines),
        "families": results.table(page, "Families of metrics"),
    }


def _pair(one: Estimate) -> str:
    return f"{in_words(one.group)} and {in_words(one.reference)}"


def _cell(one: Estimate) -> str:
    if isinstance(one.value, Undefined) or isinstance(one.interval, Undefined) or one.interval is None:
        return "undefined"
    return f"{decimal(one.value)} [{decimal(one.interval.low)}, {decimal(one.interval.high)}]"


def _sentence(title: str, found: list[Estimate]) -> str:
    whole = [one for one in found if len(one.group) > 1 and not isinstance(one.value, Undefined)]
    low, high = (choose(whole, key=lambda one: float(one.value)) for choose in (min, max))  # type: ignore[arg-type]
    return (
        f"{title} is lowest between {in_words(low.group)} and {in_words(low.reference)} ({_cell(low)}) and highest "
        f"between {in_words(high.group)} and {in_words(high.reference)} ({_cell(high)})."
    )


STUDY = Study(
    title="The framework: recommended lists",
    paper="Bouchard (2024), arXiv:2407.10853",
    about="Are the lists that are recommended to versions of one request the same, for every two groups?",
    takes="no time; recorded lists are read",
    cheap=True,
    specs=("langfair_recommendation",),
    prose=PROSE,
    shown=shown,
)
