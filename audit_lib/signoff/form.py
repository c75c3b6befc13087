"""What an auditor is shown before signing: where the report is, its key figures, and what the policy asks to attest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from audit_lib.archive.verify import verify
from audit_lib.canonical import sha256
from audit_lib.documents.validation import Validation
from audit_lib.errors import IncompleteRunError
from audit_lib.policies import policy_of
from audit_lib.policies.standing import standing
from audit_lib.report.blocks import Figures
from audit_lib.report.content import Content, gather
from audit_lib.report.exact_tables import tally
from audit_lib.report.html import readable
from audit_lib.report.sections.summary import summary
from audit_lib.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form for one run.

    Parameters
    ----------
    subject : str
        One line.
    body : str
        Markdown.
    attestations : mapping of str to str
        Id -> sentence and paragraph, of the run's own policy; empty where its law asks for none.
    """

    subject: str
    body: str
    attestations: Mapping[str, str]


def form_of(run: Run, site: str = "") -> Form:
    """Return the form for a sealed run.

    Parameters
    ----------
    run : Run
        Sealed, with a report.
    site : str
        Address of the published site, if there is one: its page of the run is linked, otherwise the sealed report.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed or has no report.
    """
    for stage in ("report", "evidence"):
        if not run.stage(stage).is_complete():
            raise IncompleteRunError(
                f"{run.uri}: only a sealed run with a report is signed; {stage} is not complete"
            )
    content, policy = gather(run), policy_of(run.spec)
    asked = {one.id: f"{one.text} ({one.cite})" for one in policy.attestations}
    window = run.key.window
    # A report that hides small cells leaves out checks of groups; who signs it is told of all.
    checked = run.stage("validation").read_document(Validation, "validation.json")
    facts = {
        "Audit": f"{run.spec.title} ({run.spec.audit})",
        "Window": f"{window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}",
        "Tool": content.tool_version,
        "Law": f"{policy.law} (policy {policy.name} {policy.version})",
        "Called so far": content.title,
        "Law on the last day of the window": standing(policy, content.last_day),
        "Validation": checked.severity_failed or "passed",
    }
    verdict, evidence = _verdict(content), _evidence(run)
    section = summary(content)
    figures = [block for block in section.blocks if isinstance(block, Figures)] if section else []
    # A list, since its lines wrap: Airflow cuts a table with a long address off at the edge of a narrow window.
    lines = [
        *(f"- {_plain(name)}: {_plain(value)}" for name, value in facts.items()),
        f"- Evidence: {_plain(evidence)}",
        f"- Report: {_link(run, site)}",
        f"- Manifest, SHA-256: `{sha256(run.stage('evidence').read('manifest.json'))}`",
        "",
        "**Key figures, as the report prints them**",
        "",
        *(
            f"- {_plain(one.label)}: **{_plain(one.value)}**. {_plain(one.detail)}"
            for block in figures
            for one in block.items
        ),
        *([] if figures else ["- The report has no ratio to lead with."]),
        "",
        "Read the report and verify its evidence first:",
        "",
        f"    audit verify {run.uri}",
        "",
        "Approving signs the digest of its manifest in your name, with the key that this service keeps for it. "
        + (
            "Tick every attestation that you make; without all of them nothing is signed. "
            if asked
            else f"{_plain(policy.short_law[:1].upper() + policy.short_law[1:])} asks for no attestation. "
        )
        + "To reject, write the reason: it is signed with your name, kept beside the run and shown wherever the run is "
        "shown, and nobody can sign the run any more.",
    ]
    title = readable(" ".join(run.spec.title.split()))
    subject = f"Sign off {title}, {window.start:%Y-%m-%d} to {window.end:%Y-%m-%d}: {verdict}"
    return Form(subject=subject, body="\n".join(lines), attestations=asked)


def _verdict(content: Content) -> str:
    """What came out, in a few words: for a list of sign-offs that are asked for."""
    found, threshold = tally(content.headline), float(content.policy.guidance.threshold)
    if not found.compared:
        return "no impact ratio"
    return f"{found.below} of {found.compared} ratios below {threshold:g}"


def _evidence(run: Run) -> str:
    """What verifying the sealed files says now; numbers are recomputed by whoever runs the command below."""
    checked = verify(run.uri, recompute={})
    if checked.ok:
        return (
            f"{checked.files} files are as they were sealed; their numbers were not recomputed for this form"
        )
    more = len(checked.findings)
    return f"DOES NOT VERIFY, do not sign: {checked.findings[0]} ({more} finding{'' if more == 1 else 's'} in all)"


def _link(run: Run, site: str) -> str:
    """A link where a browser can follow it; a bucket's address otherwise."""
    if site:
        return f"[Open the report](<{site.rstrip('/')}/{run.key.prefix}/report.html>)"
    address = f"{run.uri}/report/report.html"
    return f"`{address}`" if "://" in address else f"[Open the report](<{Path(address).absolute().as_uri()}>)"


def _plain(words: str) -> str:
    """Words of a spec as Markdown that shows them and does nothing else."""
    return re.sub(r"([\\`*_{}\[\]()#+.!|<>~&-])", r"\\\1", readable(" ".join(words.split())))
