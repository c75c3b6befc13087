"""Command about why a difference changed: ``audit attribute``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, json_option, notify, store_option
from audit_lib.results import Undefined

if TYPE_CHECKING:
    from audit_lib.documents.attribution import Attribution


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    attribute = command(
        "attribute",
        _attribute,
        "Say to what the change of each group's difference is to be attributed",
        "Compares windows with the baseline, or with other windows: the decision rule by applying the old one to the "
        "new scores, the mix by standardisation, and what is left by what became another. Exit code 1 where something "
        "cannot be compared.",
    )
    attribute.add_argument("audit", help="name of an audit in the store")
    attribute.add_argument(
        "--from",
        dest="first",
        metavar="INSTANT",
        required=True,
        help="start of the first later window (ISO 8601)",
    )
    attribute.add_argument(
        "--to", dest="last", metavar="INSTANT", required=True, help="end of the last later window (ISO 8601)"
    )
    attribute.add_argument(
        "--before",
        nargs=2,
        metavar=("START", "END"),
        help="windows to compare with, instead of the baseline's",
    )
    attribute.add_argument("--texts", action="store_true", help="compare the sampled texts too")
    json_option(attribute, "what was found (json: the whole documents)")
    store_option(attribute)


def _attribute(options: argparse.Namespace) -> int:
    from audit_lib.monitor import attribute_windows
    from audit_lib.store import open_store
    from audit_lib.window import Window

    found = attribute_windows(
        open_store(options.store),
        options.audit,
        Window.parse(options.first, options.last),
        None if options.before is None else Window.parse(*options.before),
        texts=options.texts,
        notify=notify,
    )
    if options.format == "json":
        print(json.dumps([one.as_dict() for one in found.attributions], indent=2, ensure_ascii=False))
    else:
        for one in found.attributions:
            print("\n".join(_lines(one)))
        for one in found.attributions[:1]:  # of the windows, and so the same for every group
            print("\n".join(_of_windows(one)))
    for line in found.left_out:
        notify(f"WARNING: {line}")
    return int(bool(found.left_out))


def _lines(one: Attribution) -> Iterator[str]:
    yield one.sentence
    low, high = one.change_over_missing
    if low < high:
        yield f"  had as many answers been read: a change of {low:+.3f} to {high:+.3f}, whatever they were"
    yield from (f"  note: {note}" for note in one.notes)


def _of_windows(one: Attribution) -> Iterator[str]:
    yield "The windows:"
    for field in one.fields:
        yield (
            f"  {field.field}: PSI {field.psi:.3f} (chance: up to {field.reference:.3f}), Jensen-Shannon divergence "
            f"{field.jsd:.3f} bits, p {field.p_value:.3f}"
        )
    if isinstance(one.texts, Undefined):
        yield f"  texts: {one.texts.reason}"
    else:
        yield f"  texts: AUC {one.texts.auc:.3f}, p {one.texts.p_value:.3f}"
    if one.canaries.compared:
        between, noise = (
            "unknown" if isinstance(value, Undefined) else f"{value:.3f}"
            for value in (one.canaries.between, one.canaries.noise)
        )
        yield f"  {one.canaries.compared} canaries: {between} apart, {noise} by themselves"
