"""May a run be called an audit? Only real demographics under an independent auditor's signature make one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from audit_lib.policies.contradictions import contradictions
from audit_lib.policies.independence import not_independent
from audit_lib.policies.timeline import Timeline
from audit_lib.translation import mark, t

PROVENANCE: Final = {
    "self_reported": mark("self-reported"),
    "observer_coded": mark("observer-coded"),
    "inferred": mark("inferred"),
    "assigned": mark("assigned"),
}
"""How demographics are known, in words."""


def why_no_audit(times: Timeline, attested: Collection[str]) -> str | None:
    """Return why a run is not what its law calls an audit; None where it is one.

    Parameters
    ----------
    times : Timeline
        The pack, the spec, the days of the audit, and who signed it.
    attested : collection of str
        Ids of the policy's attestations that the signature holds.

    Examples
    --------
    >>> from datetime import date
    >>> from audit_lib.policies import policy_of
    >>> from audit_lib.spec import AuditSpec
    >>> spec = AuditSpec.load("include/examples/recorded_decisions.yaml")
    >>> times = Timeline(policy=policy_of(spec), spec=spec, audited=date(2026, 11, 22), computed=True)
    >>> why_no_audit(times, ())
    'no independent auditor has signed it'
    """
    policy, spec = times.policy, times.spec
    provenance = spec.groups.provenance
    if provenance in policy.provenance.experiment:
        known_as = t(PROVENANCE[provenance])
        return t(
            "the demographics are {provenance}: an experiment is no audit of people", provenance=known_as
        )
    if provenance in policy.provenance.refused:
        known_as = t(PROVENANCE[provenance])
        return t("the law does not accept {provenance} demographics", provenance=known_as)
    if times.signer is None and policy.attestations:
        return t("no independent auditor has signed it")
    if times.signer is None:
        return t("no auditor has signed it")
    if lacking := [one.id for one in policy.attestations if one.id not in attested]:
        return t("its signature lacks attestations: {lacking}", lacking=", ".join(lacking))
    if policy.attestations and (who := not_independent(spec.use, ", ".join(times.signer))):
        return t("it is signed by {who}, which is no independent auditor", who=who)
    if found := contradictions(times):
        return t("stated facts contradict each other: {facts}", facts=found[0])
    return None
