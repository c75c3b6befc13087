"""The command that asks a sealed audit's model again: ``audit reproduce``."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit_lib.cli.shared import AddCommand, json_option, notify, positive, store_option
from audit_lib.errors import AuditError, InputError

if TYPE_CHECKING:
    from audit_lib.documents.reproduction import Reproduction
    from audit_lib.reproduce import SealedBundle

CODES: Final = {"reproduced": 0, "differs": 1, "nothing_to_ask": 2}
REFUSED: Final = 2
"""Exit code where nothing was reproduced: no model, no key, no consent, or evidence that does not verify."""


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    again = command(
        "reproduce",
        _reproduce,
        "Ask a sealed run's model again, and compare answer by answer",
        "The same requests, packs, shards and seeds, from the archived variants; the bundle is verified first. Before "
        "it starts it says what is not as it was and what asking costs. Exit code 0: every answer is equal or within "
        "the recorded noise floor; 1: some are not, with the cause; 2: it could not be done.",
    )
    again.add_argument(
        "run", help="URI or folder of a sealed run, a bag of `audit export`, or the name of an audit"
    )
    again.add_argument(
        "--out",
        metavar="FOLDER",
        help="where the new answers and reproduction.json go (default: reproduction_AUDIT_WINDOW_DESIGN); the same "
        "command goes on where one was stopped",
    )
    again.add_argument(
        "--sample", type=positive, metavar="N", help="ask N requests, drawn at random, in place of all"
    )
    again.add_argument("--seed", type=int, default=0, help="of that draw (default: 0)")
    again.add_argument(
        "--model", metavar="NAME", help="the model's folder or name here, if it is another one"
    )
    again.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="OPTION=VALUE",
        help="options of the model in place of the spec's, such as device=cuda; each is told and recorded",
    )
    again.add_argument(
        "--max-cost", type=float, metavar="MONEY", help="budget in the prices' currency; means --yes"
    )
    again.add_argument("--yes", action="store_true", help="ask a model that is reached over a network")
    again.add_argument(
        "--dry-run", action="store_true", help="say what it would ask, and ask nothing; exit code 2"
    )
    again.add_argument(
        "--trust",
        nargs="+",
        default=[],
        metavar="FILE",
        help="public keys or a trust file, as for `audit verify`",
    )
    json_option(again)
    store_option(again)


def _reproduce(options: argparse.Namespace) -> int:
    from audit_lib.reproduce.told_reproduction import told

    try:
        record, where = _record(options)
    except AuditError as error:
        print(f"audit: could not be reproduced: {error}", file=sys.stderr)
        return REFUSED
    except OSError as error:
        what = f"{error.filename or 'input or output'}: {error.strerror or error}"
        print(f"audit: could not be reproduced: {what}", file=sys.stderr)
        return REFUSED
    except Exception:  # noqa: BLE001 - Python's own exit code of a fault in here is 1, which would say that it differs
        traceback.print_exc()
        print("audit: could not be reproduced: a fault of audit_lib, above", file=sys.stderr)
        return REFUSED
    if record is None:
        return REFUSED
    if options.format == "json":
        from audit_lib.canonical import pretty_json

        print(pretty_json(record.as_dict()).decode(), end="")
    else:
        print(f"{told(record)}\n  record {where}")
    return CODES[record.outcome]


def _record(options: argparse.Namespace) -> tuple[Reproduction | None, str]:
    from audit_lib.reproduce import sealed_bundle

    trusted, trust = _trusted(options.trust)
    with sealed_bundle(_run(options), trusted, trust, notify) as bundle:
        return _of_bundle(bundle, options)


def _of_bundle(bundle: SealedBundle, options: argparse.Namespace) -> tuple[Reproduction | None, str]:
    from audit_lib.reproduce import ModelHere, nothing_to_ask, plan_reproduction, reproduce
    from audit_lib.reproduce.told_reproduction import planned_lines
    from audit_lib.store import open_store

    key = bundle.run.key
    folder = options.out or f"reproduction_{key.audit}_{key.window.label}_{key.spec_digest[:16]}"
    local = "://" not in folder and "://" not in bundle.run.uri
    if local and Path(folder).resolve().is_relative_to(Path(bundle.run.uri).resolve()):
        raise InputError(f"{folder}: lies in the run, which is sealed; name another folder with --out")
    out = open_store(folder)
    where = out.uri("reproduction.json")
    if bundle.run.spec.model.answers_are_recorded:
        return nothing_to_ask(bundle, out), where
    here = ModelHere(name=options.model, options=_options(options))
    planned = plan_reproduction(bundle, here, out, size=options.sample, seed=options.seed, notify=notify)
    for line in planned_lines(planned):
        notify(line)
    if options.dry_run:
        return None, where
    if planned.costs and not options.yes and options.max_cost is None:
        raise InputError(
            "nothing was asked: this model is reached over a network, where answers cost money; add --yes, or a budget "
            "(--max-cost)"
        )
    return reproduce(planned), where


def _options(options: argparse.Namespace) -> dict[str, Any]:
    """Read OPTION=VALUE; a value is JSON, or else a text."""
    import json

    found: dict[str, Any] = {}
    for given in options.set:
        key, equals, text = given.partition("=")
        if not key or not equals:
            raise InputError(f"--set {given}: write OPTION=VALUE, such as device=cuda")
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    if options.max_cost is not None:
        found["max_cost"] = options.max_cost
    return found


def _run(options: argparse.Namespace) -> str:
    """Return where the run is: of an audit's name, its latest one."""
    from audit_lib.pipeline import latest_run

    given: str = options.run
    return given if "/" in given or Path(given).exists() else latest_run(given, options.store).uri


def _trusted(files: list[str]) -> tuple[list[Any], Any]:
    from datetime import UTC, datetime

    from audit_lib.signing.trust import is_trust_file, read_trust
    from audit_lib.signoff import load_public_key

    if files and is_trust_file(Path(files[0])):
        return [], read_trust([Path(path) for path in files], datetime.now(UTC))
    return [load_public_key(Path(path)) for path in files], None
