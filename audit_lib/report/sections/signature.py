"""Who signed, when, what they attest, and how to check it."""

from __future__ import annotations

from audit_lib.report.blocks import Block, Bullets, Facts, Heading, Paragraph, Section, Text, code, text
from audit_lib.report.content import Content


def signature(content: Content) -> Section | None:
    """Make the section of a signed report."""
    signed = content.signature
    if signed is None:
        return None
    facts: list[tuple[str, Text]] = [
        ("Auditor", text(f"{signed.auditor}, {signed.organisation}")),
        ("Signed", text(f"{signed.signed_at:%Y-%m-%d %H:%M} UTC")),
        ("Key", text(code(signed.key_id[:16]))),
        ("Statement", text(code("statement.dsse.json"), f", number {signed.number} of this run")),
    ]
    blocks: list[Block] = [Facts(tuple(facts))]
    if signed.by_service:
        blocks.append(
            Paragraph(
                text(
                    f"The auditor answered under the account {signed.account} of the service that ran the audit, and "
                    "the service's key made the signature. It shows that the service recorded this answer; it does not "
                    "bind the auditor as a key of their own would."
                )
            )
        )
    if signed.attestations:
        blocks.append(Heading("The auditor attests"))
        blocks.append(Bullets(tuple(text(f"{sentence} ({cite})") for sentence, cite in signed.attestations)))
    if signed.remarks:
        blocks += [Heading("Remarks"), Paragraph(text(signed.remarks))]
    if signed.supersedes is not None:
        blocks.append(Heading("Supersedes"))
        blocks.append(
            Paragraph(
                text(
                    "This statement takes the place of an earlier one, which is kept: ",
                    code(f"{signed.supersedes['run']}, {signed.supersedes['statement_sha256'][:16]}"),
                    f". Reason given: {signed.supersedes['reason']}",
                )
            )
        )
    blocks.append(
        Paragraph(
            text(
                "The signature covers the SHA-256 of this page, of the evidence's manifest and of the unsigned report. "
                "Check it with ",
                code("audit verify RUN --trust KEY.pub"),
                ", with the auditor's public key got from the auditor.",
            )
        )
    )
    return Section("signature", "Signature", tuple(blocks))
