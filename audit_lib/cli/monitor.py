"""Commands about an audit over its windows: ``audit baseline`` and ``audit trend``."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, check_audit, json_option, notify, store_option
from audit_lib.errors import InputError
from audit_lib.results import Undefined

if TYPE_CHECKING:
    from audit_lib.documents.attribution import Attribution
    from audit_lib.documents.sequences import Baseline, FollowedSequence, Sequences
    from audit_lib.store import Store


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser."""
    baseline = command(
        "baseline",
        _baseline,
        "Decide which windows of an audit later ones are compared with, or show what was decided",
        "No window becomes a baseline by itself. `set` verifies the runs and writes the decision into the store; it is "
        "never changed, and a later one takes its place: the sequences begin anew.",
    )
    baseline.add_argument("what", choices=("set", "show"), help="decide a baseline, or print all decisions")
    baseline.add_argument("audit", help="name of an audit in the store")
    baseline.add_argument(
        "--from", dest="first", metavar="INSTANT", help="start of the first window (ISO 8601)"
    )
    baseline.add_argument("--to", dest="last", metavar="INSTANT", help="end of the last window (ISO 8601)")
    baseline.add_argument("--name", default="", help="what the baseline is called on pages")
    baseline.add_argument("--by", default="", help="who decides it: a full name")
    baseline.add_argument("--reason", default="", help="why these windows")
    baseline.add_argument(
        "--key", metavar="FILE", help="sign the decision with this private key (`audit keygen`)"
    )
    _trust_option(baseline)
    store_option(baseline)

    trend = command(
        "trend",
        _trend,
        "Print how groups compare over all windows of an audit, and what has changed since the baseline",
        "Evidence over all windows so far that may be looked at each time: if nothing changes, at most the share "
        "`monitor.false_alarms` of audits ever raises an alarm. Exit code 1 where an alarm stands, or the "
        "baseline that was decided cannot be used.",
    )
    trend.add_argument("audit", help="name of an audit in the store")
    json_option(trend, "the trend (json: the whole document)")
    trend.add_argument(
        "--verify",
        action="store_true",
        help="make all sums again from the sealed runs, and say where the kept ones differ (exit code 1)",
    )
    _trust_option(trend)
    trend.add_argument("--page", metavar="FILE", help="draw it as a page, too: an HTML file")
    store_option(trend)


def _trust_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="KEY.pub",
        help="refuse a baseline that none of these public keys signed; get them from who decided",
    )


def _check_signature(store: Store, baselines: Sequence[Baseline], options: argparse.Namespace) -> None:
    """Refuse baselines that no trusted key signed; without --trust nothing is checked."""
    from audit_lib.signoff import load_public_key
    from audit_lib.signoff.baseline_signature import check_baseline

    trusted = [load_public_key(Path(path)) for path in options.trust]
    for one in baselines if trusted else []:
        check_baseline(store, one, trusted)


def _baseline(options: argparse.Namespace) -> int:
    from audit_lib.monitor import read_baselines, set_baseline
    from audit_lib.monitor.baseline import named_key
    from audit_lib.store import open_store
    from audit_lib.window import Window

    store = open_store(options.store)
    if options.what == "show":
        found = read_baselines(store, options.audit)
        _check_signature(store, found, options)
        for one in found:
            print("\n".join(_told(one, one is found[-1])))
            print(f"   {_signed(named_key(store, one), bool(options.trust))}")
        if not found:
            print(f"{options.audit}: no baseline; decide one with `audit baseline set {options.audit}`")
        return 0
    missing = [
        flag
        for flag, value in (
            ("--from", options.first),
            ("--to", options.last),
            ("--name", options.name),
            ("--by", options.by),
            ("--reason", options.reason),
        )
        if not value
    ]
    if missing:
        raise InputError(f"audit baseline set: give {', '.join(missing)} too")
    key = None
    if options.key:
        from audit_lib.signoff import load_private_key

        key = load_private_key(Path(options.key))

    def sign(baseline: Baseline) -> bytes:
        from audit_lib.signoff.baseline_signature import sign_baseline

        assert key is not None
        return sign_baseline(baseline, key)

    decided = set_baseline(
        store,
        options.audit,
        Window.parse(options.first, options.last),
        name=options.name,
        decided_by=options.by,
        reason=options.reason,
        sign=None if key is None else sign,
    )
    print("\n".join(_told(decided, True)))
    print(f"   {_signed(named_key(store, decided), False)}")
    return 0


def _signed(named: str | None, checked: bool) -> str:
    if named is None:
        return "not signed"
    return f"signed with key {named}" + ("" if checked else ", not checked here (--trust)")


def _told(one: Baseline, newest: bool) -> list[str]:
    state = "in use" if newest else "replaced"
    settings = one.settings
    return [
        f"{one.number}. {one.name} ({state}): {len(one.runs)} windows, decided by {one.decided_by} at "
        f"{one.decided_at}: {one.reason}",
        f"   false alarms {settings.false_alarms:g}, floor {settings.floor:g}, at least {settings.minimum} units, "
        f"line {'none' if settings.line is None else f'{settings.line:g}'}",
        *(
            f"   {run.window}  spec {run.spec_digest[:12]}  manifest {run.manifest_sha256}"
            for run in one.runs
        ),
    ]


def _trend(options: argparse.Namespace) -> int:
    from audit_lib.monitor import follow_audit, read_baselines
    from audit_lib.store import open_store

    store = open_store(options.store)
    check_audit(store, options.audit)
    if options.trust:
        _check_signature(store, read_baselines(store, options.audit)[-1:], options)
    followed = follow_audit(store, options.audit, notify, verify=options.verify)
    document = followed.sequences
    if options.format == "json":
        print(json.dumps(document.as_dict(), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(document, bool(options.trust))))
    if options.page:
        from audit_lib.report.html import render_html
        from audit_lib.site.monitor_page import monitor_page

        Path(options.page).write_bytes(render_html(monitor_page(options.audit, document, on_site=False)))
        notify(f"wrote {options.page}")
    for line in followed.not_read:
        notify(f"WARNING: {line}")
    for line in followed.differing:
        print(f"DIFFERS {line}")
    stands = any(alarm.stands for one in document.sequences for alarm in one.alarms)
    unusable = isinstance(document.baseline, Undefined) and bool(read_baselines(store, options.audit))
    return int(stands or unusable or bool(followed.not_read) or bool(followed.differing))


def _lines(document: Sequences, trusted: bool) -> list[str]:
    baseline = document.baseline
    if isinstance(baseline, Undefined):
        said = [f"{document.audit}: {baseline.reason}"]
    else:
        said = [
            f"{document.audit}: against {baseline.name} ({len(baseline.runs)} windows, decided by "
            f"{baseline.decided_by}, {_signed(document.signed_with, trusted)}); at most "
            f"{baseline.settings.false_alarms:g} of such audits ever raise a false alarm, over {document.hypotheses} "
            "questions"
        ]
    for one in document.sequences:
        said += _of_sequence(one, document.attributions)
    said += [f"  {one.window}: {', '.join(one.changed)} became another" for one in document.versions]
    said += [
        f"  {one.window} (spec {one.spec_digest[:12]}) left out: {one.reason}" for one in document.set_aside
    ]
    said += [f"  {one.quantity}: not followed: {one.reason}" for one in document.left_out]
    return said


def _of_sequence(one: FollowedSequence, attributions: Sequence[Attribution]) -> list[str]:
    from audit_lib.monitor import alarm_line

    name = f"{one.quantity} of {_cell(one.group)} less {_cell(one.reference)}"
    if not one.looks:
        return [f"  {name}: no window"]
    last = one.looks[-1]
    units = sum(look.units for look in one.looks)
    said = [
        f"  {name}: {len(one.looks)} windows, {units} units; mean difference within {last.interval.low:+.3f} to "
        f"{last.interval.high:+.3f} at all looks; change since the baseline: {_evidence(last.change)}"
    ]
    absent = dict.fromkeys(
        (look.window, look.difference.reason) for look in one.looks if isinstance(look.difference, Undefined)
    )
    said += [f"    no value in {window}: {reason}" for window, reason in absent]
    return said + [
        f"    ALARM{'' if alarm.stands else ' (no longer told)'}: {alarm_line(one, alarm, attributions)}"
        for alarm in one.alarms
    ]


def _evidence(log_e: float | None) -> str:
    if log_e is None:
        return "not looked for"
    return f"evidence {math.exp(min(log_e, 700.0)):.3g} to 1"


def _cell(levels: Mapping[str, str]) -> str:
    return "+".join(levels.values())
