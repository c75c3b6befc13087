"""May a new model take the place of the deployed one? Evidence for yes and for no, asked for prompt by prompt."""

from audit_lib.gate.batches import GateUnits, batch_ends
from audit_lib.gate.decision import GateQuestion, GateVerdict, more_units, verdict_of
from audit_lib.gate.planned_gate import PlannedGate, open_gate, read_model
from audit_lib.gate.questions import GateScheme
from audit_lib.gate.run_gate import ask_gate

__all__ = [
    "GateQuestion",
    "GateScheme",
    "GateUnits",
    "GateVerdict",
    "PlannedGate",
    "ask_gate",
    "batch_ends",
    "more_units",
    "open_gate",
    "read_model",
    "verdict_of",
]
