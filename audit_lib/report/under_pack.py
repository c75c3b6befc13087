"""A sealed run's report under another policy pack: its scores measured again, and nothing in the run changed."""

from __future__ import annotations

from dataclasses import replace

from audit_lib.canonical import sha256
from audit_lib.documents.plan import PolicyVersion
from audit_lib.errors import IncompleteRunError, SpecError
from audit_lib.large_file import bytes_of
from audit_lib.measure.stage import measure
from audit_lib.measure.statutory.categories import category_of
from audit_lib.policies import policy_names, policy_of
from audit_lib.policies.gates import check_spec
from audit_lib.registry import did_you_mean
from audit_lib.report import rendered
from audit_lib.report.content import Content, gather
from audit_lib.run import Run, StageOutput

_MADE = "metrics/"
_MANIFEST = "evidence/manifest.json"


def under_pack(run: Run, name: str) -> StageOutput:
    """Return the report of a sealed run as another pack reads its scores.

    The page says which pack was planned, and that nobody signed this one: an auditor's signature is of the sealed
    report. Its digests are those of the artefacts that it was made from, the manifest among them.

    Parameters
    ----------
    run : Run
        Sealed.
    name : str
        A pack that is shipped, or of an installed package; not that of the plan.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed.
    SpecError
        If there is no such pack, it is the plan's own, or the run's groups do not fill its tables.
    GateError
        If its law does not let such an audit pass.
    """
    content = content_under(run, name)
    return rendered(replace(run, spec=content.spec), content)


def content_under(run: Run, name: str) -> Content:
    """Return what such a report is about."""
    if name not in (names := policy_names()):
        raise SpecError(f"no policy is named {name!r}{did_you_mean(name, names)}")
    planned = policy_of(run.spec)
    if planned.name == name:
        raise SpecError(
            f"{name}: is the pack that the run was planned under; `audit report RUN` renders that report"
        )
    if not run.stage("evidence").is_complete():
        raise IncompleteRunError(
            f"{run.uri}: is not sealed; evidence is not complete, so a page of it could name no digest"
        )
    said = run.spec.report.model_copy(update={"policy": name, "switches": {}})
    other = replace(run, spec=run.spec.model_copy(update={"report": said}))
    policy = policy_of(other.spec)
    check_spec(policy, other.spec)
    category_of(other.spec.groups, policy)
    content = gather(other, metrics=bytes_of(measure(other).artefacts["metrics.json"]))
    inputs = {path: digest for path, digest in content.inputs.items() if not path.startswith(_MADE)}
    inputs[_MANIFEST] = sha256(run.stage("evidence").read("manifest.json"))
    here = PolicyVersion(name=policy.name, version=policy.version)
    return replace(
        content,
        plan=replace(content.plan, policy=here),
        planned_under=PolicyVersion(name=planned.name, version=planned.version),
        inputs=inputs,
    )
