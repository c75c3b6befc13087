"""May a run be called an audit? Only real demographics under an independent auditor's signature make one."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from audit_lib.policies.policy import Policy
from audit_lib.translation import mark, t

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec, Use

_FORMS: Final = frozenset(
    {
        "ag",
        "bv",
        "co",
        "company",
        "corp",
        "corporation",
        "gmbh",
        "inc",
        "incorporated",
        "kg",
        "limited",
        "llc",
        "llp",
    }
    | {"lp", "ltd", "nv", "plc", "sa", "sarl", "se", "srl"}
)
"""Legal forms, which people write or leave out."""

PROVENANCE: Final = {
    "self_reported": mark("self-reported"),
    "observer_coded": mark("observer-coded"),
    "inferred": mark("inferred"),
    "assigned": mark("assigned"),
}
"""How demographics are known, in words."""


def why_no_audit(
    policy: Policy, spec: AuditSpec, organisation: str | None, attested: Collection[str]
) -> str | None:
    """Return why a run is not what its law calls an audit; None where it is one.

    Parameters
    ----------
    policy : Policy
        The pack as it stands for the spec.
    spec : AuditSpec
        The audit.
    organisation : str or None
        Of the auditor whose signature stands; None where nobody signed.
    attested : collection of str
        Ids of the policy's attestations that the signature holds.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> from audit_lib.spec import Use
    >>> not_independent(Use(employer="Example Hotels, Inc."), "EXAMPLE HOTELS")
    'the employer that relies on it (use.employer)'
    """
    provenance = spec.groups.provenance
    if provenance in policy.provenance.experiment:
        known_as = t(PROVENANCE[provenance])
        return t(
            "the demographics are {provenance}: an experiment is no audit of people", provenance=known_as
        )
    if provenance in policy.provenance.refused:
        known_as = t(PROVENANCE[provenance])
        return t("the law does not accept {provenance} demographics", provenance=known_as)
    if organisation is None and policy.attestations:
        return t("no independent auditor has signed it")
    if organisation is None:
        return t("no auditor has signed it")
    if lacking := [one.id for one in policy.attestations if one.id not in attested]:
        return t("its signature lacks attestations: {lacking}", lacking=", ".join(lacking))
    if policy.attestations and (who := not_independent(spec.use, organisation)):
        return t("it is signed by {who}, which is no independent auditor", who=who)
    return None


def not_independent(use: Use, organisation: str) -> str | None:
    """Return as whom of the use an organisation is named, in the words of an error; None where it is not."""
    for stated, who in (
        (use.employer, t("the employer that relies on it (use.employer)")),
        (use.vendor, t("the maker of the tool (use.vendor)")),
    ):
        if _words(stated) and _words(stated) == _words(organisation):
            return who
    return None


def _words(name: str) -> tuple[str, ...]:
    words = re.findall(r"\w+", name.casefold())
    return tuple(word for word in words if word not in _FORMS) or tuple(words)
