"""Who is compared, and what asking each of them takes."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.compare.wording import say
from audit_lib.documents.comparison import Comparison
from audit_lib.report.blocks import Block, Cell, Column, Notice, Paragraph, Row, Section, Table, text
from audit_lib.report.numbers import count


def runs(document: Comparison) -> list[Section]:
    """List the runs: task, prompt, how many were answered, and the evidence."""
    blocks: list[Block] = []
    judged = [run.label for run in document.runs if not run.valid_judge]
    if judged:
        words = say(
            "{models}: named in the spec as no valid judge. What it says shows the method only.",
            models="; ".join(judged),
        )
        blocks.append(Notice(say("Not fit to judge"), text(words)))
    columns = (
        Column(say("Run"), numeric=False),
        Column(say("Task"), numeric=False),
        Column(say("Prompt"), numeric=False),
        Column(say("Answered")),
        Column(say("Evidence (SHA-256 of the manifest)"), numeric=False),
    )
    rows = tuple(
        Row(
            run.label,
            (
                Cell(run.task, note=_also(run.tasks)),
                Cell((run.prompt_sha256 or say("recorded"))[:12], note=_also(run.prompts)),
                Cell(say("{part} of {whole}", part=count(run.answered), whole=count(run.rows))),
                Cell(run.manifest_sha256[:16], note=run.run),
            ),
            note="; ".join(name for name in run.answered_by if name != run.model),
        )
        for run in document.runs
    )
    blocks.append(Table(say("Runs"), columns, rows))
    return [Section("runs", say("What is compared"), tuple(blocks))]


def cost(document: Comparison) -> list[Section]:
    """List requests, calls, tokens and money of each run, and of all."""
    asked = [run.asked for run in document.runs]
    priced = [one.money for one in asked if one.money is not None]
    columns = (
        Column(say("Model"), numeric=False),
        Column(say("Requests")),
        Column(say("Calls")),
        Column(say("Tokens read")),
        Column(say("Tokens written, at most")),
        Column(say("Money")),
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
    note = say("of {some} of {all} models", some=count(len(priced)), all=count(len(asked))) if of_some else ""
    rows.append(
        Row(
            say("All models"),
            (*map(Cell, map(count, totals)), Cell(_money(sum(priced) if priced else None), note=note)),
        )
    )
    words = say(
        "Counted from the requests themselves, before any is sent; retries are not in it. Tokens are estimated, as are "
        "prices, which come from the spec. Recorded answers cost nothing now."
    )
    table = Table(say("What asking takes"), columns, tuple(rows))
    return [Section("cost", say("What asking takes"), (Paragraph(text(words)), table))]


def _money(value: float | None) -> str:
    return say("no prices") if value is None else f"{value:,.2f}"


def _also(names: Sequence[str]) -> str:
    return say("also {names}", names=", ".join(name.replace("_", " ") for name in names)) if names else ""
