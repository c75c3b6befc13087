"""The comparison as a page: who is compared, effects and impact ratios by model, and how to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from audit_lib.documents.comparison import ComparedEstimate, Comparison
from audit_lib.documents.estimates import interval_method
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Facts,
    Heading,
    Notice,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
    code,
    text,
)
from audit_lib.report.numbers import count, p_value
from audit_lib.report.sections.estimates import (
    against,
    count_of,
    dot_of,
    forest_chart,
    limits_of,
    mark_of,
    reason_of,
    scale_of,
    tone_of,
    value_of,
    variation_in_words,
)
from audit_lib.results import Estimate

_DASH: Final = "\N{EN DASH}"
_EFFECTS: Final = (
    "Effect of each attribute on a model's score, in standard deviations of that model's own scores, with the other "
    "attributes held equal. Models spread their scores differently, so equal effects need not be equal in points."
)
_IMPACT: Final = (
    "Real applicants: the share of each group that a model rates at or above each threshold, over the reference's. The "
    "reference is fixed, not the group with the highest share. The thick bar is the 70% interval."
)
_READING: Final = (
    "Every run judged the same applications in the same versions, under the same rules of measurement; they differ in "
    "model, prompt or task only. The digest of what they share is at the top of this page.",
    "That one interval holds parity and another does not is no test of a difference between two models; neither is it "
    "one that two intervals overlap. The models judged the same applications, so their errors go together.",
    "Each run has its own evidence: verify it, and compare the manifest's SHA-256 with the one printed here.",
    "Parts of the audit (positions and other strata) are in comparison.csv and comparison.json.",
)


def comparison_page(document: Comparison) -> Page:
    """Return the page's blocks."""
    runs = document.runs
    family = document.multiplicity
    sections = [
        Section("runs", "What is compared", tuple(_runs(document))),
        _metric(document, "standardised_effect", "effects", "Standardised effects", _EFFECTS),
        _metric(document, "adverse_impact_ratio", "impact", "Impact ratios at thresholds", _IMPACT),
        Section("reading", "How to read it", (Bullets(tuple(text(words) for words in _READING)),)),
    ]
    badges: list[tuple[str, Tone]] = [("Not a bias audit", "flag")]
    if document.experiment:
        badges.append(("Experiment", "plain"))
    if not all(run.valid_judge for run in runs):
        badges.append(("Not all are valid judges", "flag"))
    return Page(
        title="Models, prompts and tasks compared",
        subtitle=runs[0].title,
        kicker=f"Comparison \N{MIDDLE DOT} {count(len(runs))} runs of one design",
        language="en",
        badges=tuple(badges),
        status=Facts(
            (
                ("Runs", text(count(len(runs)))),
                ("Tests in the family", text(count(family.family_size))),
                ("Found, unadjusted", text(count(family.findings.p_value))),
                ("Found, adjusted for their number", text(count(family.findings.p_holm))),
                ("Design", text(code(document.design[:16]))),
            ),
            strip=True,
        ),
        sections=tuple(section for section in sections if section is not None),
        footer=text("Made by audit_lib from the archived artefacts of the runs that it names."),
    )


def _runs(document: Comparison) -> Iterator[Block]:
    judged = [run.label for run in document.runs if not run.valid_judge]
    if judged:
        yield Notice(
            "Not fit to judge",
            text(
                f"{'; '.join(judged)}: named in the spec as no valid judge. What it says shows the method only."
            ),
        )
    columns = (
        Column("Run", numeric=False), Column("Task", numeric=False), Column("Prompt", numeric=False),
        Column("Answered"), Column("Evidence (SHA-256 of the manifest)", numeric=False),
    )  # fmt: skip
    rows = []
    for run in document.runs:
        served = "; ".join(name for name in run.answered_by if name != run.model)
        rows.append(
            Row(
                run.label,
                (
                    Cell(run.task, note=_listed("also", run.tasks)),
                    Cell((run.prompt_sha256 or "recorded")[:12], note=_listed("also", run.prompts)),
                    Cell(f"{count(run.answered)} of {count(run.rows)}"),
                    Cell(run.manifest_sha256[:16], note=run.run),
                ),
                note=served,
            )
        )
    yield Table("Runs", columns, tuple(rows))


def _listed(word: str, names: Sequence[str]) -> str:
    return f"{word} {', '.join(name.replace('_', ' ') for name in names)}" if names else ""


def _metric(document: Comparison, metric: str, place: str, title: str, words: str) -> Section | None:
    found = [e for e in document.estimates if e.metric == metric and tuple(e.stratum) == document.headline]
    if not found:
        return None
    ratio = metric == "adverse_impact_ratio"
    blocks: list[Block] = [Paragraph(text(words))]
    parity = 1.0 if ratio else 0.0
    # One scale for all contrasts: a small effect must not look like a large one.
    span = scale_of((dot_of(_estimate(e)) for e in found), parity)
    inner = " (thin) and 70% (thick)" if ratio else ""
    rest = f"with {document.level:.0%}{inner} intervals; the line at {parity:g} is parity."
    contrasts: dict[str, list[ComparedEstimate]] = {}
    for e in found:
        contrasts.setdefault(against(_estimate(e)), []).append(e)
    for contrast, estimates in contrasts.items():
        groups: dict[str, list[Any]] = {}
        for e in estimates:
            label = document.runs[e.run].label
            groups.setdefault(_setting(e), []).append(dot_of(_estimate(e), sign=not ratio, label=label))
        several = len(groups) > 1
        shown = groups if several else {"": next(iter(groups.values()))}
        blocks.append(Heading(contrast))
        blocks += forest_chart(contrast, shown, parity, f"{contrast}, {rest}", span)
        blocks.append(_table(document, contrast, estimates, ratio, several))
    return Section(place, title, tuple(blocks))


def _table(
    document: Comparison, contrast: str, estimates: Sequence[ComparedEstimate], ratio: bool, several: bool
) -> Table:
    alpha = document.multiplicity.alpha
    columns = (
        Column("Model", numeric=False),
        Column("Ratio" if ratio else "Effect"),
        Column("Interval"),
        Column("p"),
        Column("p adjusted for all runs' tests"),
        Column("n, group"),
        Column("n, reference"),
        Column("Applications"),
    )
    rows = [
        Row(
            document.runs[e.run].label,
            (
                Cell(
                    value_of(_estimate(e), sign=not ratio),
                    mark=mark_of(_estimate(e)),
                    note=reason_of(_estimate(e)),
                    tone=tone_of(_estimate(e)),
                ),
                Cell(limits_of(_estimate(e), sign=not ratio)),
                *(Cell(p_value(p, alpha) if p is not None else _DASH) for p in (e.p_value, e.p_holm)),
                *(Cell(count_of(n)) for n in (e.n_group, e.n_reference, e.clusters)),
            ),
            note=_setting(e) if several else "",
        )
        for e in _by_setting(estimates)
    ]
    methods = dict.fromkeys(f"{e.method}; interval: {interval_method(_estimate(e))}" for e in estimates)
    return Table(contrast, columns, tuple(rows), tuple(list(methods)[:2]))


def _estimate(e: ComparedEstimate) -> Estimate:
    """Return the estimate as its own run has it, less what the comparison does not keep."""
    return Estimate(
        metric=e.metric,
        value=e.value,
        interval=e.interval,
        intervals=e.intervals,
        n=e.n,
        n_group=e.n_group,
        n_reference=e.n_reference,
        clusters=e.clusters,
        flags=e.flags,
        method=e.method,
        stratum=e.stratum,
        group=e.group,
        reference=e.reference,
    )


def _setting(e: ComparedEstimate) -> str:
    if e.threshold is not None:
        return f"rated {e.threshold:g} or more"
    return variation_in_words(e.variation or "none")


def _by_setting(estimates: Sequence[ComparedEstimate]) -> list[ComparedEstimate]:
    order = list(dict.fromkeys(_setting(e) for e in estimates))
    return sorted(estimates, key=lambda e: (order.index(_setting(e)), e.run))
