"""Ask a new model the prompts of an audit in batches, until it is decided, and keep what was asked and found.

::

    <audit>/gates/<audit>/<window>/<digest of the spec with the new model>/{plan,sample,variants,scores/<batch>}
    <audit>/gates/<audit>/<window>/<digest>/gate/<baseline>-<limit>/gate.json

A batch is a shard of an ordinary run, which is written once: the same gate asked again asks no model, and with a larger
limit it goes on where it was.
"""

from __future__ import annotations

from datetime import UTC, datetime

from audit_lib.canonical import pretty_json
from audit_lib.documents.gate import GateRecord
from audit_lib.errors import EvidenceError
from audit_lib.gate.answers import AskedSoFar, add_batch, questions_of, why_unanswered
from audit_lib.gate.decision import verdict_of
from audit_lib.gate.planned_gate import PlannedGate
from audit_lib.gate.record import record_of
from audit_lib.pipeline import run_stage
from audit_lib.plan.hypotheses import fewest_people
from audit_lib.policies import policy_of
from audit_lib.run import StageOutput


def ask_gate(gate: PlannedGate) -> tuple[GateRecord, str]:
    """Ask batch after batch until it is decided, or all were asked; return the record, and where it is kept.

    Raises
    ------
    BackendError
        If the model cannot be loaded or reached; what was answered is kept.
    """
    run, scheme, alpha = gate.run, gate.scheme, gate.scheme.spec.measure.alpha
    minimum = fewest_people(scheme.spec, policy_of(scheme.spec))
    asked = AskedSoFar()
    for number, requests in gate.counts.items():
        run_stage(run, "scores", shard=number)
        add_batch(gate, asked, number, requests)
        questions = questions_of(gate, asked)
        verdict = verdict_of(questions, alpha, minimum)
        why_not = why_unanswered(scheme.spec, asked)
        run.notify(
            f"gate: {sum(one.requests for one in asked.batches)} of {sum(gate.counts.values())} requests: "
            f"{verdict.decision}"
        )
        if verdict.decision == "harm" or (verdict.decision == "equivalent" and why_not is None):
            break
    record = record_of(gate, asked, questions, verdict, why_not, minimum)
    name = f"gate/{gate.baseline}-{gate.limit or 'all'}"
    folder = run.stage(name)
    if not folder.is_complete():
        output = StageOutput({"gate.json": pretty_json(record.as_dict())}, {"batches": len(asked.batches)})
        folder.commit(output, datetime.now(UTC))
    elif folder.read("gate.json") != pretty_json(record.as_dict()):
        raise EvidenceError(f"{run.uri}/{name}: the same gate, asked again, finds something else")
    return record, f"{run.uri}/{name}/gate.json"
