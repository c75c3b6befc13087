"""The command ``recommend``: which metrics apply to a use of a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, find_run, json_option, store_option

if TYPE_CHECKING:
    from audit_lib.measure.availability import Availability


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    advice = command(
        "recommend",
        _recommend,
        "Say which metrics apply to a use of a model, which do not, and why",
        "From the framework section of a spec, or from answers given here. Exit code 1: the spec measures what does "
        "not apply, or lacks what does.",
    )
    advice.add_argument("spec", nargs="?", help="YAML file with a framework section")
    advice.add_argument("--task", help="generation, classification or recommendation")
    advice.add_argument("--ftu", choices=("yes", "no"), help="yes: no prompt mentions a protected word")
    advice.add_argument(
        "--answers", nargs="+", default=[], metavar="KEY=VALUE", help="such as human_review=no"
    )
    advice.add_argument(
        "--run",
        help="a run, or an audit in the store: whether its prompts mention a protected word is then measured, and of "
        "each recommended metric it says: measured, possible with what, or not possible and why",
    )
    store_option(advice)
    json_option(advice)


def _recommend(options: argparse.Namespace) -> int:
    from audit_lib.canonical import pretty_json
    from audit_lib.documents.design import Design
    from audit_lib.framework import read_answers, recommend, recommend_for, recommendation_text
    from audit_lib.measure.availability import availability
    from audit_lib.spec import load_spec

    short = [f"{key}={value}" for key in ("task", "ftu") if (value := getattr(options, key)) is not None]
    answers = read_answers([*short, *options.answers])
    run = find_run(options.run, options.store) if options.run else None
    design = None if run is None else run.stage("variants").read_document(Design, "design.json")
    if options.spec:
        found = recommend_for(load_spec(options.spec), answers, design)
    else:
        found = recommend(answers) if run is None else recommend_for(run.spec, answers, design)
    statuses = [] if run is None else availability(found.metrics(), run)
    if options.format == "json":
        told = {} if run is None else {"availability": [one.as_dict() for one in statuses]}
        print(pretty_json(found.as_dict() | told).decode(), end="")
    else:
        print(recommendation_text(found), end="")
        for one in statuses:
            print(f"{one.metric}: {_say(one)}")
    return 1 if found.warnings else 0


def _say(one: Availability) -> str:
    if one.status == "possible" and one.columns:
        return f"possible with a further column ({' or '.join(one.columns)}): {one.why}"
    return f"{one.status}: {one.why}"
