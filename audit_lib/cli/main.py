"""The command line: ``audit init | validate | schema | plan | run | show | report | verify | check-report | ...``.

Exit codes: 0 done, 1 findings (an audit or its evidence failed), 2 wrong input. ``audit gate`` and ``audit reproduce``
have their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from audit_lib import __version__
from audit_lib.cli import (
    attach,
    attribute,
    bags,
    compare,
    corpus,
    counts,
    events,
    evidence,
    experiment,
    gate,
    journal,
    look,
    monitor,
    policies,
    presign,
    privacy,
    recommend,
    redact,
    report,
    reproduce,
    runs,
    sign_off,
    store,
    validity,
    verify_page,
    windows,
)
from audit_lib.cli.shared import Action
from audit_lib.errors import AuditError, EvidenceError, ValidationFailedError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser.parse_args(given)
    except SystemExit as stop:  # what a gate does not know is no verdict of it, whose codes are 0, 1 and 2
        raise SystemExit(gate.REFUSED if stop.code == 2 and given[:1] == ["gate"] else stop.code) from None
    if options.command is None:
        parser.print_help()
        return 2
    action: Action = options.action
    try:
        return action(options)
    except (ValidationFailedError, EvidenceError) as error:
        print(f"audit: {error}", file=sys.stderr)
        return 1
    except AuditError as error:
        print(f"audit: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"audit: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("audit: stopped; run the same command again to go on where it was", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="audit",
        description="Audit how a language model allocates opportunities, and keep evidence that recomputes.",
        epilog="A first audit:  audit init my_audit && audit run my_audit/audit.yaml",
    )
    parser.add_argument("--version", action="version", version=f"audit_lib {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")

    def command(name: str, action: Action, text: str, more: str = "") -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=f"{text}. {more}".strip())
        sub.set_defaults(action=action)
        return sub

    runs.add_commands(command)
    policies.add_command(command)
    report.add_command(command)
    counts.add_command(command)
    evidence.add_commands(command)
    corpus.add_command(command)
    journal.add_commands(command)
    attach.add_commands(command)
    bags.add_commands(command)
    presign.add_command(command)
    privacy.add_commands(command)
    reproduce.add_command(command)
    sign_off.add_commands(command)
    store.add_command(command)
    experiment.add_commands(command)
    compare.add_command(command)
    validity.add_command(command)
    redact.add_command(command)
    recommend.add_command(command)
    look.add_command(command)
    verify_page.add_command(command)
    windows.add_commands(command)
    attribute.add_command(command)
    monitor.add_commands(command)
    events.add_commands(command)
    gate.add_command(command)
    return parser
