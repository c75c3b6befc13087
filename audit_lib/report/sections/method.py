"""What was decided beforehand, what it rests on, and how anyone can check it."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from audit_lib.plan.power_limits import NOT_PROMISED
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Command,
    Facts,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    link,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.document import field_checks
from audit_lib.report.numbers import UNDEFINED, count, half_up
from audit_lib.report.timing import plan_title, plan_words, power_words
from audit_lib.results import Undefined


def decisions(content: Content) -> Section:
    """The plan and the switches of the policy."""
    policy, plan = content.policy, content.plan
    lead = f"{plan_words(content)}changing any of it makes another run."
    switches = Table(
        f"Where the text of {policy.short_law} leaves room, and how it is read here",
        tuple(Column(c, numeric=False) for c in ("Question", "Reading", "Why", "Paragraph")),
        tuple(
            Row(s.question, (Cell(s.options_text[s.value]), Cell(s.reason), Cell(s.cite)))
            for s in policy.switches
        ),
    )
    thresholds = plan.thresholds
    facts = Facts(
        (
            ("Metrics", text(", ".join(m.replace("_", " ") for m in plan.metrics))),
            ("Quotas k", text(", ".join(map(str, plan.quotas)))),
            ("Guidance", text(f"{thresholds.guidance_ratio} ({policy.guidance.cite})")),
            (
                "Significance, power, coverage",
                text(f"{thresholds.alpha}, {thresholds.power}, {thresholds.level}"),
            ),
            (
                "Small cell",
                text(_small(content)),
            ),
            ("Policy", text(f"{policy.name} {policy.version}, as of {policy.as_of:%-d %B %Y}")),
        )
    )
    return Section(
        "decisions", plan_title(content), (Paragraph(text(lead)), facts, switches, _power(content))
    )


def _small(content: Content) -> str:
    marked = content.plan.thresholds.small_cell
    if content.policy.cells.display == "suppress":
        size = max(content.policy.cells.small, marked)
        return (
            f"fewer than {size} people: hidden, with as many others as it takes that the number of people in a hidden "
            f"row could be anything from 1 to {size - 1}, or lies in a range of {size} or more"
        )
    return f"fewer than {marked} rows: marked, never left out in silence"


def _power(content: Content) -> Fold:
    rows = []
    for entry in content.plan.power:
        value = entry.smallest_detectable_ratio
        label = in_words(entry.group) or f"two groups of {count(entry.n_group)}"
        against = f" against {in_words(entry.reference)}" if entry.reference else ""
        rate = entry.reference_rate
        rows.append(
            Row(
                label + against,
                (
                    Cell(count(entry.n_group)),
                    Cell(count(entry.n_reference)),
                    Cell(UNDEFINED if rate is None else half_up(Fraction(rate), 3)),
                    Cell(UNDEFINED if isinstance(value, Undefined) else half_up(Fraction(value), 3)),
                ),
            )
        )
    columns = (
        Column("Comparison", numeric=False),
        Column("n, group"),
        Column("n, reference"),
        Column("Reference's rate"),
        Column("Smallest detectable ratio"),
    )
    note = (
        f"Two independent proportions, two-sided at {content.plan.thresholds.alpha}, nominal power "
        f"{content.plan.thresholds.power}. {NOT_PROMISED}"
    )
    return Fold(
        "What the audit could detect, were people independent and the comparator fixed",
        (Table(f"Power, computed {power_words(content)}", columns, tuple(rows), (note,)),),
    )


def caveats(content: Content) -> Section:
    """What the numbers do not say."""
    return Section("caveats", "What this does not say", (Bullets(tuple(text(w) for w in content.caveats)),))


def evidence(content: Content) -> Section:
    """The run's key, the digests, and the command that checks them."""
    key = content.key
    lead = (
        "Every artefact of this run is archived with its SHA-256. The command below needs no network and no "
        "trust in whoever "
        "published this page: it hashes everything again and recomputes every number here from the archived scores."
    )
    blocks: list[Block] = [
        Paragraph(text(lead)),
        Command(f"audit verify <store>/{key.prefix}"),
        Paragraph(
            text(
                "Beside this page lie the statutory tables as ",
                link("tables.csv", "tables.csv"),
                ", every other estimate as ",
                link("estimates.csv", "estimates.csv"),
                ", the answers by group as ",
                link("answers.csv", "answers.csv"),
                ", and everything on it as ",
                link("report.json", "report.json"),
                ".",
            )
        ),
        Facts(
            (
                ("Run", text(code(key.prefix))),
                ("Spec, SHA-256", text(code(key.spec_digest))),
                ("Signature", text(_signed(content))),
            )
        ),
        Fold(
            "Artefacts this page was made from",
            (
                Facts(
                    tuple((f"{name}, SHA-256", text(code(digest))) for name, digest in content.inputs.items())
                ),
                *((Paragraph(text(_DIGESTS_HIDDEN)),) if content.hidden else ()),
            ),
        ),
    ]
    return Section("evidence", "Check it yourself", tuple(blocks))


_DIGESTS_HIDDEN: Final = (
    "The digests of artefacts that hold hidden counts are not printed: a guess at a count could be tested by them. The "
    "sealed manifest, which the auditor and the regulator have, holds them."
)


def checklist(content: Content) -> Section | None:
    """What the law asks for, and whether it is here; none where the policy has no list, or this is no audit."""
    checks = field_checks(content)
    if not checks or content.is_experiment or content.is_refused:
        return None
    rows = tuple(
        Row(
            # The status stands in one cell with the duty: by itself a duty reads as if it were met.
            f"{check.id} {check.duty}: {'not met' if check.status == 'missing' else check.status}",
            (Cell(check.found, tone="flag" if check.status == "missing" else "plain"), Cell(check.cite)),
            "muted" if check.status == "not applicable" else "plain",
        )
        for check in checks
    )
    columns = tuple(
        Column(c, numeric=False) for c in ("Duty, and whether it is met", "Where, or what", "Paragraph")
    )
    lead = (
        f"What {content.policy.short_law} asks for, one by one. Met is what this run's own artefacts show. Stated, not "
        "checked is what somebody wrote down, such as an address that nobody visited; whether it is so must be found "
        "out elsewhere. What is not stated is not assumed."
    )
    return Section(
        "checklist",
        "What the law asks for",
        (Paragraph(text(lead)), Table(f"Checklist of {content.policy.short_law}", columns, rows)),
    )


def terms(content: Content) -> Section:
    """Words and sources."""
    policy = content.policy
    sources = tuple(
        text(link(c.title, c.url) if c.url else c.title, f". {c.publisher}, {c.dated}.")
        for c in policy.citations
    )
    return Section(
        "terms",
        "Words and sources",
        (Facts(tuple((t.term, text(t.text)) for t in policy.glossary)), Heading("Sources"), Bullets(sources)),
    )


def _signed(content: Content) -> str:
    if content.signature is None:
        return "Not signed. " + content.policy.wording["not_an_auditor"]
    return f"Signed by {content.signature.auditor}, see the section Signature."
