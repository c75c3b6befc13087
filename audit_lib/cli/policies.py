"""``audit policies``: which laws are known, since when, how sure; and a run's report under another of them."""

from __future__ import annotations

import argparse
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand, date_of

if TYPE_CHECKING:
    from audit_lib.policies import Policy
    from audit_lib.run import Run


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    known = command(
        "policies",
        _policies,
        "Say of each policy pack whether its law is in force on a day, and whether its sources were looked at lately",
        "Exit code 1: a pack was last reviewed more than 90 days before --today.",
    )
    known.add_argument("name", nargs="*", help="packs, by name (default: all)")
    known.add_argument(
        "--on", type=date_of, metavar="DAY", help="whether a law is in force on this day (default: --today)"
    )
    today_option(known)


def today_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says which day it is: a review is old by it, and it is in nothing that is sealed."""
    parser.add_argument(
        "--today",
        type=date_of,
        metavar="DAY",
        default=None,
        help="the day from which a pack's review is counted back (default: today, UTC)",
    )


def warnings(policy: Policy, today: date | None) -> list[str]:
    """Say that a pack was reviewed too long ago."""
    from audit_lib.policies.standing import review_due

    due = review_due(policy, today or datetime.now(UTC).date())
    return [] if due is None else [due]


def _policies(options: argparse.Namespace) -> int:
    from audit_lib.policies import load_policy, policy_names
    from audit_lib.policies.retention import longest
    from audit_lib.policies.standing import not_yet, standing
    from audit_lib.report.sections.periods import length

    today = options.today or datetime.now(UTC).date()
    on, old = options.on or today, 0
    for name in options.name or policy_names():
        policy = load_policy(name)
        clock = longest(policy, on)
        kept = "no period set" if clock is None else f"{length(clock)} ({clock.cite})"
        print(f"{policy.name} {policy.version}, as of {policy.as_of}: {policy.law}")
        print(f"  {standing(policy, on)}")
        if policy.in_force is not None and policy.in_force.doubt is not None:
            print(f"  {policy.in_force.doubt}")
        for duty in policy.duties:
            if not_yet(policy, on, duty) != not_yet(policy, on):
                print(f"  {duty.cite}: {standing(policy, on, duty)}")
        print(f"  records are kept longest for: {kept}")
        for due in warnings(policy, today):
            old += 1
            print(f"  warning: {due}")
    return bool(old)


def kept_longer(run: Run, name: str) -> list[str]:
    """Say that a pack's law keeps records for longer than the run is kept by its own."""
    from audit_lib.policies import load_policy, policy_of
    from audit_lib.policies.retention import kept_until

    sealed = run.stage("evidence").success().finished
    here, there = (
        kept_until(policy, run.spec, sealed) for policy in (load_policy(name), policy_of(run.spec))
    )
    if here is None or (there is not None and here <= there):
        return []
    day = (here - timedelta(days=1)).date()
    kept = (
        "its own sets no period" if there is None else f"its own until {(there - timedelta(days=1)).date()}"
    )
    return [
        f"{name} keeps records until {day} at least, and {kept}: `audit store extend {run.uri} --until {day}`, where "
        "the store locks"
    ]
