"""Which metric foretells gaps on real scores: small models of packages, and rankings by two large ones.

    python -m benchmarks.validity_real                               # Bloomberg's rankings, as benchmarks.replication
    python -m benchmarks.validity_real RUN RUN RUN [--out FOLDER]    # sealed runs of small models too

The small models are SmolLM2-135M-Instruct (P(Yes), under two wordings of the question) and all-MiniLM-L6-v2 (the
cosine of job and resume), over the demo's 24 resumes under two names a group; docs/validity.md says how to make the
runs. Neither is a valid judge.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

from audit_lib.documents.validity import ValidityStudy
from audit_lib.results import Interval, Undefined
from audit_lib.run import Run
from audit_lib.validity import (
    ScoredPanel,
    TableOptions,
    panel_of_runs,
    panel_of_table,
    study_of,
    validity_files,
)
from benchmarks import replication_bloomberg as bloomberg
from benchmarks.replication_page import data_folder, table

TITLES = {
    "rabbi": "RABBI",
    "score_gap": "score gap",
    "jensen_shannon_divergence": "JS divergence",
    "earth_movers_distance": "EMD",
}


def rankings(data: Path) -> ScoredPanel:
    """Bloomberg's 8,000 rankings as a panel: the score of rank r of 8 is 9 - r."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(("model", "job", "group", "round", "score"))
    for model, job, part in bloomberg.load(data).strata():
        for number, scores in enumerate(part.scores):
            for group, score in zip(bloomberg.GROUPS, scores.tolist(), strict=True):
                lines.writerow((model, job, group, f"r{number}", score))
    reference = bloomberg.GROUPS[bloomberg.REFERENCE]
    options = TableOptions(reference=reference, title="8,000 recorded rankings by GPT-3.5 and GPT-4")
    return panel_of_table(out.getvalue().encode(), options)


def figures(study: ValidityStudy) -> str:
    """The sentence, r of all points by gap and quota, and what the metrics are on rounds not seen."""
    parts = [f"> {study.best.sentence}"]
    for gap in dict.fromkeys(c.gap for c in study.correlations):
        rows = []
        for metric in study.points[0].metrics:
            whole = [
                c
                for c in study.correlations
                if (c.gap, c.metric, c.job, c.group) == (gap, metric, None, None)
            ]
            best = next(c for c in study.best.contenders if c.metric == metric)
            rows.append(
                (
                    TITLES.get(metric, metric),
                    *(_cell(c.r, c.interval) for c in whole),
                    "undefined" if isinstance(best.held_out, Undefined) else f"{best.held_out:.3f}",
                )
            )
        n = max(c.n for c in study.correlations if c.gap == gap)
        parts.append(
            f"{gap.replace('_', ' ')}, {n} points of {study.best.models} models:\n\n"
            + table(
                ["metric", *(f"k = {k}" for k in study.quotas), "on rounds not seen (all settings)"], rows
            )
        )
    return "\n\n".join(parts)


def _cell(r: float | Undefined, interval: Interval | Undefined) -> str:
    if isinstance(r, Undefined):
        return "undefined"
    if isinstance(interval, Undefined):
        return f"{r:.3f}"
    return f"{r:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", nargs="*", metavar="RUN", help="folder of a sealed run")
    parser.add_argument("--data", help="folder that holds bloomberg/")
    parser.add_argument("--out", type=Path, help="folder for the pages")
    options = parser.parse_args()
    panels = {}
    if options.runs:
        panels["small models"] = panel_of_runs([Run.from_bundle(uri) for uri in options.runs])
    data = data_folder(options.data)
    if (data / "bloomberg").is_dir():
        panels["rankings"] = rankings(data)
    else:
        print(f"{data}/bloomberg is not there: no rankings\n")
    for name, panel in panels.items():
        study = study_of(panel)
        print(f"## {name}\n\n{figures(study)}\n")
        if options.out is not None:
            folder = options.out / name.replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            for file, content in validity_files(study, panel).items():
                (folder / file).write_bytes(content)


if __name__ == "__main__":
    main()
