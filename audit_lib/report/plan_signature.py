"""The signature over a run's plan, as the page prints it; whether it holds is for `audit verify`."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime

from audit_lib.canonical import strict_json
from audit_lib.documents.run_statement import JournalHead, RunStatement
from audit_lib.errors import EvidenceError
from audit_lib.run import Run
from audit_lib.typed_json import decode

_PATH = "signatures/plan.dsse.json"


@dataclass(frozen=True, slots=True)
class PlanSignature:
    """Which key signed the plan, when as it claims, the plan's entry in the journal, and whose stamps it has."""

    key_id: str
    claimed_at: datetime
    journal: JournalHead | None
    own_authority: bool
    """Whether its time stamp is of an authority that whoever ran the audit runs too."""


def read_plan_signature(run: Run) -> PlanSignature | None:
    """Return the signature over a run's plan; None where it has none.

    Raises
    ------
    EvidenceError
        If what is there is none.
    """
    key = f"{run.prefix}/{_PATH}".lstrip("/")
    if not run.store.exists(key):
        return None
    where = run.store.uri(key)
    try:
        envelope = strict_json(run.store.get(key))
        payload = base64.b64decode(envelope["payload"], validate=True)
        mark = envelope["signatures"][0]["keyid"]
        if not isinstance(mark, str):
            raise TypeError
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None
    said = decode(RunStatement, payload, where).predicate
    return PlanSignature(
        mark, datetime.fromisoformat(said.claimed_at), said.journal, said.own_authority is True
    )
