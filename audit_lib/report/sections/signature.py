"""Who signed, when, what they attest, and how to check it."""

from __future__ import annotations

from audit_lib.report.blocks import (
    Block,
    Bullets,
    Facts,
    Heading,
    Paragraph,
    Section,
    Text,
    code,
    filled,
    text,
)
from audit_lib.report.content import Content
from audit_lib.translation import t


def signature(content: Content) -> Section | None:
    """Make the section of a signed report."""
    signed = content.signature
    if signed is None:
        return None
    facts: list[tuple[str, Text]] = [
        (t("Auditor"), text(f"{signed.auditor}, {signed.organisation}")),
        (t("Signed"), text(f"{signed.signed_at:%Y-%m-%d %H:%M} UTC")),
        (t("Key"), text(code(signed.key_id[:16]))),
        (
            t("Statement"),
            filled(
                t("{file}, number {n} of this run", file="{file}", n=signed.number),
                file=code("statement.dsse.json"),
            ),
        ),
    ]
    blocks: list[Block] = [Facts(tuple(facts))]
    if signed.by_service:
        blocks.append(
            Paragraph(
                text(
                    t(
                        "The auditor answered under the account {account} of the service that ran the audit, and the "
                        "service's key made the signature. It shows that the service recorded this answer; it does "
                        "not bind the auditor as a key of their own would.",
                        account=signed.account,
                    )
                )
            )
        )
    if signed.attestations:
        blocks.append(Heading(t("The auditor attests")))
        blocks.append(
            Bullets(tuple(text(t(sentence) + " (" + t(cite) + ")") for sentence, cite in signed.attestations))
        )
    if signed.remarks:
        blocks += [Heading(t("Remarks")), Paragraph(text(signed.remarks))]
    if signed.supersedes is not None:
        words = t(
            "This statement takes the place of an earlier one, which is kept: {statement}. Reason given: {reason}",
            statement="{statement}",
            reason=signed.supersedes["reason"],
        )
        named = f"{signed.supersedes['run']}, {signed.supersedes['statement_sha256'][:16]}"
        blocks += [Heading(t("Supersedes")), Paragraph(filled(words, statement=code(named)))]
    blocks.append(
        Paragraph(
            filled(
                t(
                    "The signature covers the SHA-256 of this page, of the evidence's manifest and of the unsigned "
                    "report. Check it with {command}, with the auditor's public key got from the auditor."
                ),
                command=code("audit verify RUN --trust KEY.pub"),
            )
        )
    )
    return Section("signature", t("Signature"), tuple(blocks))
