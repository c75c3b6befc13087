"""The command ``audit validity``: which metric foretells the gaps of an allocation, over several models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, find_run, positive, store_option, write_new

if TYPE_CHECKING:
    from audit_lib.validity import ScoredPanel

_MORE = """\
Give sealed runs of several models over the same candidates and rounds, or a table of scores.

For each metric (RABBI, score gap, Jensen-Shannon divergence, earth mover's distance, pairwise win gap) it prints how
well it foretells the demographic parity gap and the equal opportunity gap: Pearson's r with n, p and intervals, by
task, quota k, group and job; whether it lists the fairest models first (NDCG at N); and one sentence that says which
metric foretells the gaps best here, with how sure that choice is."""

_EPILOG = """\
examples:
  audit validity resume_a resume_b resume_c --out validity
  audit validity --table scores.csv --reference "White men" --out validity

the table (CSV, UTF-8, a line a candidate of a round):
  model       who scored                                  needed
  round       who competes with whom                      needed
  group       the candidate's group                       needed, may be empty
  score       higher is better                            needed, may be empty
  job, task   what for, and how the model was asked       where there are several
  candidate   who it is; each once a round                shows that pools are the same
  qualified   yes or no                                   for the equal opportunity gap
  inconsistent_share   of a pairwise model's pairs        leaves out above 0.55 and 0.50

writes into --out: validity.html (the page), validity.json (its schema: audit schema --validity), correlations.csv,
model_selection.csv and points.csv. The same scores give the same bytes."""


def add_command(command: AddCommand) -> None:
    """Add the command to the parser's."""
    validity = command(
        "validity",
        _validity,
        "Say which metric foretells the gaps of an allocation, over several models",
        _MORE,
    )
    validity.formatter_class = argparse.RawDescriptionHelpFormatter
    validity.epilog = _EPILOG
    validity.add_argument(
        "runs", nargs="*", metavar="RUN", help="URI or folder of a run, or the name of an audit"
    )
    validity.add_argument("--table", help="CSV file of scores, instead of runs")
    validity.add_argument("--reference", help="with --table: the group that all others are compared with")
    validity.add_argument("--title", help="with --table: subtitle of the page")
    validity.add_argument(
        "--quotas",
        nargs="+",
        type=positive,
        default=[],
        metavar="K",
        help="places of a round that are given out (default: those of the runs' specs; with --table 1 2 3 4 5)",
    )
    validity.add_argument("--bins", type=positive, help="with --table: bins of the divergence (default: 20)")
    validity.add_argument("--out", required=True, help="folder to write into; nothing in it is overwritten")
    store_option(validity)


def _validity(options: argparse.Namespace) -> int:
    from audit_lib.validity import study_of, validity_files

    panel = _panel(options)
    study = study_of(panel)
    write_new(Path(options.out), validity_files(study, panel))
    print(study.best.sentence)
    return 0


def _panel(options: argparse.Namespace) -> ScoredPanel:
    from audit_lib.errors import InputError
    from audit_lib.validity import TableOptions, panel_of_runs, panel_of_table

    if options.table is None:
        for name in ("reference", "title", "bins"):
            if getattr(options, name) is not None:
                raise InputError(f"--{name} goes with --table; runs say it in their specs")
        return panel_of_runs([find_run(uri, options.store) for uri in options.runs], options.quotas)
    if options.runs:
        raise InputError("runs and --table: give one or the other")
    if options.reference is None:
        raise InputError("--table needs --reference: the group that all others are compared with")
    given = {name: value for name in ("title", "bins") if (value := getattr(options, name)) is not None}
    if options.quotas:
        given["quotas"] = tuple(sorted(set(options.quotas)))
    path = Path(options.table)
    return panel_of_table(path.read_bytes(), TableOptions(reference=options.reference, **given), path.name)
