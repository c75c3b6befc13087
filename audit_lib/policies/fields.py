"""What a law asks to be said or done, line by line, and whether this audit says or does it.

Every line of a pack's `required_fields` names a check of `field_checks`. A check reads the spec and the report's own
document (``report.json``: sample, metrics, times), and nothing else; what neither states is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from audit_lib.policies.checked_report import CheckedReport, DutyStatus
from audit_lib.policies.contradictions import Contradiction, contradictions
from audit_lib.policies.field_checks import CHECKS
from audit_lib.policies.pack_schema import RequiredField
from audit_lib.policies.policy import Policy
from audit_lib.policies.standing import not_yet
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec

__all__ = ["CHECKS", "FieldCheck", "check_fields", "required_fields"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCheck:
    """One line of a law's checklist, and how it stands.

    Parameters
    ----------
    id, duty, cite, where : str
        The line of the pack: F01 and so on, what is asked, the paragraph, and where it belongs.
    status : {"computed", "stated", "seen", "missing", "not met", "not applicable"}
        What the run's own artefacts show is computed; what the spec alone says is stated, and nothing checked it; of
        what is seen a page was there on a day. A duty that the facts break, or whose facts contradict each other, is
        not met; one that the data or the design does not raise is not applicable, and neither is one that the law does
        not ask for yet on the last day of the window and that nothing here meets.
    found : str
        Where it is said or what it is; for a missing one, what to write and where; for one that is not met, the facts.
    """

    id: str
    duty: str
    cite: str
    where: str
    status: DutyStatus
    found: str

    def as_dict(self) -> dict[str, str]:
        """JSON form."""
        return asdict(self)


def required_fields(policy: Policy, spec: AuditSpec, facts: Mapping[str, Any]) -> tuple[FieldCheck, ...]:
    """Check every required field of a pack.

    Parameters
    ----------
    policy : Policy
        The pack as it stands for the spec.
    spec : AuditSpec
        The audit.
    facts : mapping
        The report's document: ``sample``, ``metrics``, ``planned_at``, ``scored_at``, ``measured_at``, ``models``,
        ``prompt_template_sha256``, ``status``, ``window``, ``signature`` and ``attested`` (ids of attestations).

    Returns
    -------
    tuple of FieldCheck
        In the pack's order.
    """
    case = CheckedReport(policy, spec, facts)
    found = [] if case.timeline is None else contradictions(case.timeline)
    return tuple(_checked(field, case, found) for field in policy.required_fields)


def check_fields(document: Mapping[str, Any], spec: AuditSpec) -> tuple[FieldCheck, ...]:
    """Check every required field of the pack that the spec names, from a report's document."""
    from audit_lib.policies import policy_of  # it imports this package's parts

    return required_fields(policy_of(spec), spec, document)


def _checked(field: RequiredField, case: CheckedReport, contradicting: Sequence[Contradiction]) -> FieldCheck:
    status, found = CHECKS[field.check](case)
    if broken := [str(one) for one in contradicting if field.check in one.breaks]:
        status, found = "not met", "; ".join(broken)
    if (later := not_yet(case.policy, case.last_day, field)) is not None:
        if status in ("missing", "not met"):
            status = "not applicable"
        found = t(
            "not in force yet on {day}: asked from {since}; {found}",
            day=case.last_day,
            since=later,
            found=found,
        )
    return FieldCheck(
        id=field.id, duty=field.duty, cite=field.cite, where=field.where, status=status, found=found
    )
