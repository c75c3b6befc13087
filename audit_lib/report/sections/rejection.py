"""Who rejected the run, when and why, and how to check it."""

from __future__ import annotations

from audit_lib.report.blocks import Block, Facts, Heading, Paragraph, Section, code, filled, text
from audit_lib.report.content import Content
from audit_lib.translation import t


def rejection(content: Content) -> Section | None:
    """Make the section of a rejected report."""
    said = content.rejected
    if said is None:
        return None
    blocks: list[Block] = [
        Facts(
            (
                (t("Auditor"), text(f"{said.auditor}, {said.organisation}")),
                (t("Rejected"), text(f"{said.rejected_at:%Y-%m-%d %H:%M} UTC")),
                (t("Key"), text(code(said.key_id[:16]))),
            )
        ),
        Heading(t("The reason")),
        *(Paragraph(text(line)) for line in said.reason.splitlines() if line.strip()),
    ]
    if said.by_service:
        blocks.append(
            Paragraph(
                text(
                    t(
                        "The auditor answered under the account {account} of the service that ran the audit, and a "
                        "key of the service made the signature.",
                        account=said.account,
                    )
                )
            )
        )
    blocks.append(
        Paragraph(
            filled(
                t(
                    "The numbers below are as they were sealed. Nobody can sign this run any more; a corrected audit "
                    "is another run. Check the rejection with {command}, with the auditor's public key got from the "
                    "auditor."
                ),
                command=code("audit verify RUN --trust KEY.pub"),
            )
        )
    )
    return Section("rejection", t("Rejected by the auditor"), tuple(blocks))
