"""What a law does not let pass. A refusal names the law, the paragraph, and what would make it pass.

A pack without a gate of a name lets everything of that kind pass. A fact that a gate needs and that the spec
does not state is never taken as the favourable one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NoReturn

from audit_lib.errors import GateError, SpecError
from audit_lib.policies.clocks import valid_until
from audit_lib.policies.pack_schema import GateName
from audit_lib.policies.policy import Policy
from audit_lib.registry import did_you_mean
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec, Use

Data = Literal["historical", "pooled", "test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliance:
    """Whether an employer may rely on an audit of one kind of data.

    Parameters
    ----------
    data : {"historical", "pooled", "test"}
        Its own historical data, those of several employers, or test data.
    allowed : bool or None
        None where a fact that decides it is not stated.
    reason, cite : str
        Why, and the paragraph.
    """

    data: Data
    allowed: bool | None
    reason: str
    cite: str


def check_spec(policy: Policy, spec: AuditSpec) -> None:
    """Refuse what the spec alone shows that the policy's law does not let pass.

    Raises
    ------
    GateError
        If a gate is shut; the message names the paragraph and the key of the spec.
    SpecError
        If ``use.exclusions`` names what is no category.
    """
    provenance = spec.groups.provenance
    check_provenance(policy, provenance)
    check_exclusions(policy, spec.use)
    if provenance not in policy.provenance.experiment:  # an experiment is no audit that anyone relies on
        check_reliance(policy, spec.use)


def check_provenance(policy: Policy, provenance: str) -> None:
    """Refuse demographics that the law does not accept.

    Raises
    ------
    GateError
        If they are observed or inferred and the law accepts neither.

    Examples
    --------
    >>> from audit_lib.policies import load_policy
    >>> check_provenance(load_policy("nyc_ll144"), "inferred")
    Traceback (most recent call last):
    audit_lib.errors.GateError: LL144, FAQ III.6: imputed or inferred demographics cannot be used ...
    """
    if provenance in policy.provenance.refused:
        accepted = " or ".join(policy.provenance.audit)
        _refuse(
            policy,
            "provenance",
            f"groups.provenance is {provenance}; use {accepted} demographics, or another report.policy",
        )


def reliance(policy: Policy, use: Use) -> tuple[Reliance, ...]:
    """Say for each kind of data whether the employer may rely on an audit of it.

    6 RCNY 5-302: own historical data, once there are any; pooled ones, if the employer contributed its own or
    never used the tool; test data, if its historical data are too few.

    Examples
    --------
    The rule's third example, three years of use with enough data:

    >>> from audit_lib.policies import load_policy
    >>> from audit_lib.spec import Use
    >>> use = Use(months=36, own_data_sufficient=True, own_data_contributed=True)
    >>> [(one.data, one.allowed) for one in reliance(load_policy("nyc_ll144"), use)]
    [('historical', True), ('pooled', True), ('test', False)]
    """
    if policy.gate("reliance") is None:
        return ()
    own: tuple[bool | None, str]
    pooled: tuple[bool | None, str]
    test: tuple[bool | None, str]
    months, enough, gave = use.months, use.own_data_sufficient, use.own_data_contributed
    never = None if months is None else months == 0
    if never is None:
        own = (None, _not_stated("months"))
    elif never:
        own = (False, t("the tool was never used, so there are no historical data of its own"))
    elif enough is False:
        own = (
            True,
            t("its own data are few: the rule names pooled or test data then, and does not forbid these"),
        )
    else:
        own = (True, t("it has used the tool for {months} months", months=months))
    if never or gave:
        pooled = (True, t("it never used the tool") if never else t("it gave its own data to the auditor"))
    elif never is False and gave is False:
        pooled = (
            False,
            t(
                "it used the tool for {months} months and gave the auditor none of its own data",
                months=months,
            ),
        )
    else:
        pooled = (None, _not_stated("own_data_contributed" if never is False else "months"))
    if never or enough is False:
        test = (True, t("there are no historical data") if never else t("its historical data are too few"))
    elif enough:
        test = (False, t("its own historical data are enough for a significant audit"))
    else:
        test = (None, _not_stated("own_data_sufficient" if never is False else "months"))
    return (
        Reliance(data="historical", allowed=own[0], reason=own[1], cite=_cite(policy, "reliance")),
        Reliance(data="pooled", allowed=pooled[0], reason=pooled[1], cite=_cite(policy, "reliance")),
        Reliance(data="test", allowed=test[0], reason=test[1], cite=_cite(policy, "test_data")),
    )


def _not_stated(key: str) -> str:
    return t("use.{key} is not stated", key=key)


def check_reliance(policy: Policy, use: Use) -> None:
    """Refuse an audit on data that the employer may not rely on; where `use.data` is not stated, nothing.

    Raises
    ------
    GateError
        If the law does not allow it, a fact that decides it is missing, or test data are not explained.
    """
    found = next((one for one in reliance(policy, use) if one.data == use.data), None)
    if found is None:
        return
    gate: GateName = "test_data" if found.data == "test" else "reliance"
    if found.allowed is None:
        _refuse(policy, gate, f"use.data is {found.data}, and {found.reason}; state it")
    if not found.allowed:
        may = [one.data for one in reliance(policy, use) if one.allowed]
        _refuse(
            policy,
            gate,
            f"use.data is {found.data}, but {found.reason}; rely on {' or '.join(may) or 'none'}",
        )
    if found.data == "test":
        for key in ("why", "how"):
            if use.test_data is None or not getattr(use.test_data, key).strip():
                _refuse(policy, gate, f"use.data is test, and use.test_data.{key} is empty; write it")


def check_exclusions(policy: Policy, use: Use) -> None:
    """Refuse exclusions that the pack's switch does not allow, or that are not justified.

    Raises
    ------
    GateError
        If the switch says that none is left out, or a justification is empty.
    SpecError
        If a key is no category of the pack.
    """
    if not use.exclusions:
        return
    known = [row.label for family in policy.families for row in policy.categories(family.name)]
    for label, why in use.exclusions.items():
        if not known:
            raise SpecError(
                f"use.exclusions: the pack {policy.name} lists no categories of its own, and lets none be left out"
            )
        if label not in known:
            raise SpecError(f"use.exclusions: {label!r} is no category{did_you_mean(label, known)}")
        if not why.strip():
            _refuse(
                policy, "exclusion", f"use.exclusions[{label!r}] is empty; write the auditor's justification"
            )
    if not any(switch.name == "exclude_small_share" and switch.value == "yes" for switch in policy.switches):
        _refuse(
            policy,
            "exclusion",
            "use.exclusions names categories and the switch says none is left out; set report.switches: "
            '{exclude_small_share: "yes"}',
        )


def check_excluded_share(policy: Policy, label: str, n: int, base: int) -> None:
    """Refuse to leave out a category that is not small.

    Raises
    ------
    GateError
        If it has the law's share of the data or more; with its number and the base.
    """
    if policy.gate("exclusion") is not None and base and Fraction(n, base) >= policy.exclusion.share:
        _refuse(policy, "exclusion", f"{label} has {n} of {base} people; take it out of use.exclusions")


def check_validity(policy: Policy, audited: date, on: date) -> None:
    """Refuse to rely on an audit that is too old on a day.

    Raises
    ------
    GateError
        If that day is after the audit's last valid one, or before the audit.
    """
    if policy.gate("validity") is None:
        return
    if on < audited:
        _refuse(policy, "validity", f"the audit is of {audited}, after {on}: none was done by then")
    until = valid_until(policy, audited)
    if on > until:
        _refuse(
            policy, "validity", f"the audit of {audited} was valid until {until}, before {on}; audit again"
        )


def check_invoked(policy: Policy, spec: AuditSpec, *, answered: int, total: int, attributed: int) -> None:
    """Refuse an audit in which the tool was never invoked.

    Parameters
    ----------
    answered, total : int
        Score rows with an answer, and all.
    attributed : int
        Rows whose recorded answer names the model that gave it.

    Raises
    ------
    GateError
        If no row has an answer; or if answers to test data are recorded ones of which neither the rows nor
        the spec say how the tool was called.
    """
    if policy.gate("tool_invoked") is None:
        return
    if not answered:
        _refuse(policy, "tool_invoked", f"0 of {total} score rows have an answer of the tool")
    told = spec.use.test_data is not None and spec.use.test_data.invoked.strip()
    if spec.use.data == "test" and spec.model.answers_are_recorded and attributed < answered and not told:
        _refuse(
            policy,
            "tool_invoked",
            f"the data are test data, and {answered - attributed} of {answered} recorded answers name no model; give "
            "recorded_model in the source, or say in use.test_data.invoked how the tool was called",
        )


def check_known(policy: Policy, value: str, allowed: Collection[str], where: str) -> None:
    """Refuse a value of a demographic column that is neither a category nor declared as unknown.

    Raises
    ------
    GateError
        If there is one; names `where` (file, row, column), never the value.
    """
    if value not in allowed:
        _refuse(
            policy,
            "taxonomy",
            f"{where} holds a value that is no level of groups.attributes and not in groups.unknown_values; map it in "
            "demographics.values or add it to one of them",
        )


def _cite(policy: Policy, name: GateName) -> str:
    gate = policy.gate(name)
    return "" if gate is None else gate.cite


def _refuse(policy: Policy, name: GateName, facts: str) -> NoReturn:
    gate = policy.gate(name)
    if gate is None:
        raise GateError(f"{policy.short_law}: {facts}")
    raise GateError(f"{policy.short_law}, {gate.cite}: {gate.wording}: {facts}")
