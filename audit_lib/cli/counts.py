"""The command ``counts``: what the complete shards of a run add up to, before all are there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, json_option, run_at

if TYPE_CHECKING:
    from audit_lib.documents.shard_totals import ShardTotals
    from audit_lib.results import Undefined


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    counts = command(
        "counts",
        _counts,
        "Count what the complete shards of a run say: statuses, scores and selected people of each group",
        "Also while others are still scored. Each shard is counted by itself; --keep holds the counts, and only new "
        "shards are read the next time. Counts of several machines merge. No interval and no test: those come from the "
        "whole run. Small groups are printed too; do not publish it.",
    )
    counts.add_argument("run", help="URI of a run")
    counts.add_argument(
        "--keep", metavar="FILE", help="where counts are kept (Parquet): read if it is there, and written"
    )
    counts.add_argument(
        "--merge", nargs="+", default=[], metavar="FILE", help="add the counts that others kept"
    )
    json_option(counts, "the totals")


def _counts(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.large_file import stream_of
    from audit_lib.measure.partials.count_shards import count_shards
    from audit_lib.measure.partials.shard_totals import totals
    from audit_lib.measure.partials.value_counts import ValueCounts, merged
    from audit_lib.measure.stage import complete_shards
    from audit_lib.score.shard_plan import shard_counts

    run = run_at(options.run)
    files = [*options.merge]
    if options.keep is not None and Path(options.keep).exists():
        files.append(options.keep)
    kept = [ValueCounts.read(Path(file).read_bytes(), file) for file in files]
    found = count_shards(run, complete_shards(run), merged(kept) if kept else None)
    if options.keep is not None:
        with stream_of(found.content()) as stream:
            Path(options.keep).write_bytes(stream.read())
    said = totals(found, run.spec, len(shard_counts(run)))
    print(pretty_json(said.as_dict()).decode() if options.format == "json" else _text(said), end="")
    return 0


def _text(found: ShardTotals) -> str:
    """Return the totals of the whole audit as a table; positions are in the JSON."""
    from audit_lib.results import Undefined

    left = "" if len(found.shards) == found.planned else "; the numbers change with those that are not"
    lines = [
        f"{len(found.shards):,} of {found.planned:,} shards are counted{left}",
        f"{found.rows.total:,} rows, {found.rows.answered:,} answered, {found.rows.unknown_group:,} of unknown group",
        "",
    ]
    table = [["group", "rows", "answered", "mean score", "decided", "selected", "rate", "ratio"]]
    scores = [one for one in found.scores if not one.stratum]
    chosen = () if isinstance(found.selection, Undefined) else found.selection
    selection = {tuple(one.group.items()): one for one in chosen if not one.stratum}
    answers = {tuple(one.group.items()): one for one in found.missingness if one.group is not None}
    for one in scores:
        own, picked = answers[tuple(one.group.items())], selection.get(tuple(one.group.items()))
        cells = [" x ".join(one.group.values()), f"{own.n:,}", f"{own.answered:,}", _number(one.mean, 4)]
        if picked is not None:
            cells += [
                f"{picked.n:,}",
                f"{picked.selected:,}",
                _number(picked.rate, 4),
                _number(picked.ratio, 3),
            ]
        table.append([*cells, *["-"] * (len(table[0]) - len(cells))])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *others in table:
        padded = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *padded]))
    if isinstance(found.selection, Undefined):
        lines += ["", f"selection is not counted: {found.selection.reason}"]
    return "\n".join(lines) + "\n"


def _number(value: float | Undefined | None, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else "-"
