"""Who is compared, and what asking each of them takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from audit_lib.documents.comparison import Comparison
from audit_lib.report.blocks import Block, Cell, Column, Notice, Paragraph, Row, Section, Table, text
from audit_lib.report.numbers import count
from audit_lib.translation import t


def runs(document: Comparison) -> list[Section]:
    """List the runs: task, prompt, how many were answered, and the evidence."""
    blocks: list[Block] = []
    judged = [run.label for run in document.runs if not run.valid_judge]
    if judged:
        words = t(
            "{models}: named in the spec as no valid judge. What it says shows the method only.",
            models="; ".join(judged),
        )
        blocks.append(Notice(t("Not fit to judge"), text(words)))
    blocks += _twins(document)
    blocks += _versions(document)
    columns = (
        Column(t("Run"), numeric=False),
        Column(t("Task"), numeric=False),
        Column(t("Prompt"), numeric=False),
        Column(t("Answered")),
        Column(t("Evidence (SHA-256 of the manifest)"), numeric=False),
    )
    rows = tuple(
        Row(
            run.label,
            (
                Cell(run.task, note=_also(run.tasks)),
                Cell((run.prompt_sha256 or t("recorded"))[:12], note=_also(run.prompts)),
                Cell(t("{part} of {whole}", part=count(run.answered), whole=count(run.rows))),
                Cell(run.manifest_sha256[:16], note=run.run),
            ),
            note="; ".join(name for name in run.answered_by if name != run.model),
        )
        for run in document.runs
    )
    blocks.append(Table(t("Runs"), columns, rows))
    return [Section("runs", t("What is compared"), tuple(blocks))]


def _twins(document: Comparison) -> list[Block]:
    """Name the runs whose numbers are all the same: one tool under two names would count as two."""
    same: dict[tuple[str, ...], list[str]] = {}
    for place, run in enumerate(document.runs):
        numbers = (
            *(repr(replace(one, run=0)) for one in document.estimates if one.run == place),
            *(repr(replace(one, run=0)) for one in document.rates if one.run == place),
        )
        if numbers:
            same.setdefault(numbers, []).append(run.label)
    return [
        Notice(
            t("The same numbers"),
            text(
                t(
                    "{models} have the same value in each estimate and rate that is compared. Their answers may be "
                    "those of one model under several names. Each counts as a model of its own in every test here, "
                    "and in what is said of metrics over models: leave all but one out if they are one.",
                    models=", ".join(labels),
                )
            ),
        )
        for labels in same.values()
        if len(labels) > 1
    ]


def _versions(document: Comparison) -> list[Block]:
    """Say which runs were made with other versions of what their numbers may depend on."""
    names = sorted({name for run in document.runs for name in run.software})
    said = []
    for name in names:
        made: dict[str, list[str]] = {}
        for run in document.runs:
            made.setdefault(run.software.get(name, t("not recorded")), []).append(run.label)
        if len(made) > 1:
            said.append(
                f"{name} " + ", ".join(f"{version} ({', '.join(of)})" for version, of in made.items())
            )
    if not said:
        return []
    words = t(
        "The runs were made with different versions: {versions}. Their estimates are as each version computed them, "
        "and may differ by that; the tests between models are computed here for all. Make the runs again with one "
        "version to be sure.",
        versions="; ".join(said),
    )
    return [Notice(t("Different versions"), text(words))]


def cost(document: Comparison) -> list[Section]:
    """List requests, calls, tokens and money of each run, and of all."""
    asked = [run.asked for run in document.runs]
    priced = [one.money for one in asked if one.money is not None]
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Requests")),
        Column(t("Calls")),
        Column(t("Tokens read")),
        Column(t("Tokens written, at most")),
        Column(t("Money")),
    )
    rows = [
        Row(
            run.label,
            (
                *map(Cell, map(count, (one.requests, one.calls, one.prompt_tokens, one.completion_tokens))),
                Cell(_money(one.money)),
            ),
        )
        for run, one in zip(document.runs, asked, strict=True)
    ]
    totals = (
        sum(one.requests for one in asked),
        sum(one.calls for one in asked),
        sum(one.prompt_tokens for one in asked),
        sum(one.completion_tokens for one in asked),
    )
    of_some = 0 < len(priced) < len(asked)
    note = t("of {some} of {all} models", some=count(len(priced)), all=count(len(asked))) if of_some else ""
    rows.append(
        Row(
            t("All models"),
            (*map(Cell, map(count, totals)), Cell(_money(sum(priced) if priced else None), note=note)),
        )
    )
    words = t(
        "Counted from the requests themselves, before any is sent; retries are not in it. Tokens are estimated, as are "
        "prices, which come from the spec. Recorded answers cost nothing now."
    )
    table = Table(t("What asking takes, by run"), columns, tuple(rows))
    return [Section("cost", t("What asking takes"), (Paragraph(text(words)), table, _used(document)))]


def _used(document: Comparison) -> Table:
    """Make the table of what the answers really took."""
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Answers")),
        Column(t("Tokens read")),
        Column(t("Tokens written")),
        Column(t("Money")),
    )
    rows = []
    for run in document.runs:
        if run.used is None:
            rows.append(Row(run.label, (Cell(t("not counted")), *(Cell("\N{EN DASH}") for _ in columns[2:]))))
            continue
        counts = (run.used.answers, run.used.prompt_tokens, run.used.completion_tokens)
        rows.append(Row(run.label, (*map(Cell, map(count, counts)), Cell(_money(run.used.money)))))
    note = t(
        "As the endpoint or the local model counted them, with steps and control questions. An answer that was kept "
        "from before has the tokens of the first time; failures, and calls that were made again, are not in it."
    )
    return Table(t("What the answers took"), columns, tuple(rows), (note,))


def _money(value: float | None) -> str:
    return t("no prices") if value is None else f"{value:,.2f}"


def _also(names: Sequence[str]) -> str:
    return t("also {names}", names=", ".join(name.replace("_", " ") for name in names)) if names else ""
