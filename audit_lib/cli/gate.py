"""The command that a deployment pipeline asks before a release: ``audit gate``."""

from __future__ import annotations

import argparse
import json
import math
import sys
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NoReturn

from audit_lib.cli.shared import AddCommand, json_option, notify, positive, store_option
from audit_lib.errors import AuditError, InputError

if TYPE_CHECKING:
    from audit_lib.documents.gate import GateAnswer, GateRecord
    from audit_lib.gate import PlannedGate
    from audit_lib.spec import AuditSpec

CODES: Final = {"equivalent": 0, "harm": 1, "undecided": 2}
REFUSED: Final = 3
"""Exit code of anything else: no verdict."""


def add_command(command: AddCommand) -> None:
    """Add the command to the parser."""
    gate = command(
        "gate",
        _gate,
        "Tell whether a new model may take the place of the deployed one: equivalent, harm or undecided",
        "Asks the model the prompts of a window in batches, until there is evidence. Exit code 0: every number lies "
        "inside its margin; 1: one lies beyond it; 2: undecided, with how many more prompts would tell; 3: there is no "
        "verdict, because something is missing or failed.",
    )

    def refuse(message: str) -> NoReturn:
        gate.print_usage(sys.stderr)
        gate.exit(REFUSED, f"{gate.prog}: error: {message}\n")

    gate.error = refuse  # type: ignore[method-assign]
    gate.add_argument("audit", help="the audit's spec (a YAML file), or its name in the store")
    gate.add_argument(
        "--model",
        required=True,
        metavar="NEW",
        help="a YAML file with the section `model` of the new one, or a name for the spec's own section",
    )
    gate.add_argument(
        "--window",
        nargs=2,
        metavar=("START", "END"),
        help="whose prompts are asked (ISO 8601; default: the last window of the baseline)",
    )
    gate.add_argument(
        "--limit", type=positive, metavar="N", help="most prompts that are asked (default: the whole sample)"
    )
    json_option(gate, "the verdict (json: its record)")
    gate.add_argument(
        "--dry-run", action="store_true", help="say what it can cost, and ask nothing; exit code 3"
    )
    gate.add_argument("--yes", action="store_true", help="ask a model that is reached over a network")
    store_option(gate)


def _gate(options: argparse.Namespace) -> int:
    from audit_lib.gate import ask_gate

    try:
        planned = _planned(options)
        for line in cost_lines(planned):
            notify(line)
        if options.dry_run:
            return REFUSED
        if _costs(planned) and not options.yes:
            raise InputError(
                "nothing was asked: this model is reached over a network; add --yes if that is meant"
            )
        record, where = ask_gate(planned)
    except AuditError as error:
        print(f"audit: {error}", file=sys.stderr)
        return REFUSED
    except OSError as error:
        what = f"{error.filename or 'input or output'}: {error.strerror or error}"
        print(f"audit: {what}", file=sys.stderr)
        return REFUSED
    except Exception:  # noqa: BLE001 - Python's own exit code of a fault in here is 1, which would say harm
        traceback.print_exc()
        print("audit: no verdict: a fault of audit_lib, above", file=sys.stderr)
        return REFUSED
    if options.format == "json":
        print(json.dumps(record.as_dict() | {"record": where}, indent=2, ensure_ascii=False))
    else:
        print("\n".join([*verdict_lines(record), f"record    {where}"]))
    return CODES[record.decision]


def _planned(options: argparse.Namespace) -> PlannedGate:
    from audit_lib.gate import open_gate, read_model
    from audit_lib.preflight import require_ready
    from audit_lib.window import Window

    spec = _spec(options.audit, options.store)
    model = read_model(options.model, spec)
    require_ready(
        spec.override("model", **model.model_dump(mode="json")), load=False, offline=options.dry_run
    )
    window = Window.parse(*options.window) if options.window else None
    return open_gate(spec, model, options.store, window=window, limit=options.limit, notify=notify)


def _spec(name: str, root: str) -> AuditSpec:
    from audit_lib.monitor import read_baselines
    from audit_lib.run import Run
    from audit_lib.spec import load_spec
    from audit_lib.store import open_store

    if name.endswith((".yaml", ".yml")) or "/" in name or "#" in name:
        return load_spec(name)
    store = open_store(root)
    baselines = read_baselines(store, name)
    if not baselines:
        raise InputError(f"{name}: no baseline: decide one with `audit baseline set {name}`")
    last = baselines[-1].runs[-1]
    return Run.load(store.uri(f"{name}/{last.window}/{last.spec_digest[:16]}")).spec


def _costs(planned: PlannedGate) -> bool:
    from audit_lib.backends import BACKENDS

    kind = BACKENDS.get(planned.run.spec.model.backend)
    return not kind.local and not kind.answers_are_recorded


def cost_lines(planned: PlannedGate) -> list[str]:
    """Return what a gate asks and what it can cost at most, for people."""
    deployed = planned.deployed
    against = deployed.uri if hasattr(deployed, "uri") else f"the margins alone: {deployed.reason}"
    return [
        f"model      {planned.run.spec.model.name} ({planned.run.spec.model.backend})",
        f"compared   with {against}",
        f"asked      at most {sum(planned.counts.values()):,} prompts in {len(planned.counts)} batches",
        *planned.estimate.lines(),
        *(f"left out   {one.metric}: {one.reason}" for one in planned.scheme.left_out),
    ]


def verdict_lines(record: GateRecord) -> list[str]:
    """Return what a gate decided, for people."""
    from audit_lib.results import Undefined

    requests = sum(one.requests for one in record.batches)
    said = [
        f"{record.decision.upper()}: {record.reason}",
        f"asked     {requests:,} of {record.planned_requests:,} prompts, in {len(record.batches)} batches",
    ]
    said += [_line(one) for one in record.answers]
    if record.decision == "undecided":
        more = record.more_prompts
        said.append(
            f"more      {more.reason}"
            if isinstance(more, Undefined)
            else f"more      about {more:,} further prompts would tell, if gaps and spread stay what they are"
        )
    return said


def _line(one: GateAnswer) -> str:
    from audit_lib.results import Undefined

    pair = f"{_cell(one.group)} and {_cell(one.reference)}"
    if isinstance(one.estimate, Undefined) or isinstance(one.interval, Undefined):
        found = "no number"
    else:
        found = (
            f"{one.estimate:+.3f}, within {one.interval.low:+.3f} to {one.interval.high:+.3f} at all looks"
        )
    state = "beyond" if one.harm else "inside" if one.equivalent else "open"
    against = "margin" if one.compared == "margin" else "margin of the change from the deployed model"
    odds = math.exp(min(max(one.inside, one.outside), 50.0))
    return (
        f"  {state:7} {one.metric} of {pair}: {found}; {against} {one.low:+.3f} to {one.high:+.3f}; {one.units} units; "
        f"evidence {odds:,.3g} to 1"
    )


def _cell(levels: Mapping[str, str]) -> str:
    return "+".join(levels.values())
