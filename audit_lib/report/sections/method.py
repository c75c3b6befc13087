"""What was decided beforehand, what it rests on, and how anyone can check it."""

from __future__ import annotations

from fractions import Fraction

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
from audit_lib.report.numbers import UNDEFINED, count, half_up


def decisions(content: Content) -> Section:
    """The plan and the switches of the policy."""
    policy, plan = content.policy, content.plan
    lead = (
        "All of this was written down before the model was asked anything, and its digest names the run: "
        "changing any of it makes another run."
    )
    switches = Table(
        f"Where the text of {policy.short_law} leaves room, and how it is read here",
        tuple(Column(c, numeric=False) for c in ("Question", "Reading", "Why", "Paragraph")),
        tuple(
            Row(s.question, (Cell(s.options_text[s.value]), Cell(s.reason), Cell(s.cite)))
            for s in policy.switches
        ),
    )
    thresholds = plan["thresholds"]
    facts = Facts(
        (
            ("Metrics", text(", ".join(m.replace("_", " ") for m in plan["metrics"]))),
            ("Quotas k", text(", ".join(map(str, plan["quotas"])))),
            ("Guidance", text(f"{thresholds['guidance_ratio']} ({policy.guidance.cite})")),
            (
                "Significance, power, coverage",
                text(f"{thresholds['alpha']}, {thresholds['power']}, {thresholds['level']}"),
            ),
            (
                "Small cell",
                text(f"fewer than {thresholds['small_cell']} rows: marked, never left out in silence"),
            ),
            ("Policy", text(f"{policy.name} {policy.version}, as of {policy.as_of:%-d %B %Y}")),
        )
    )
    return Section(
        "decisions", "Decisions taken beforehand", (Paragraph(text(lead)), facts, switches, _power(content))
    )


def _power(content: Content) -> Fold:
    rows = []
    for entry in content.plan["power"]:
        value = entry["smallest_detectable_ratio"]
        label = in_words(entry["group"]) or f"two groups of {count(entry['n_group'])}"
        against = f" against {in_words(entry['reference'])}" if entry["reference"] else ""
        rate = entry["reference_rate"]
        rows.append(
            Row(
                label + against,
                (
                    Cell(count(entry["n_group"])),
                    Cell(count(entry["n_reference"])),
                    Cell(UNDEFINED if rate is None else half_up(Fraction(rate), 3)),
                    Cell(half_up(Fraction(value), 3) if isinstance(value, float) else UNDEFINED),
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
        f"Two independent proportions, two-sided at {content.plan['thresholds']['alpha']}, power "
        f"{content.plan['thresholds']['power']}."
    )
    return Fold(
        "What the audit can detect",
        (Table("Power, computed before the model was asked", columns, tuple(rows), (note,)),),
    )


def caveats(content: Content) -> Section:
    """What the numbers do not say."""
    words = [*content.policy.caveats, *(content.policy.experiment_caveats if content.is_experiment else ())]
    return Section("caveats", "What this does not say", (Bullets(tuple(text(w) for w in words)),))


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
                "The same tables are beside this page as ",
                code("tables.csv"),
                ", and everything on it as ",
                code("report.json"),
                ".",
            )
        ),
        Facts(
            (
                ("Run", text(code(key.prefix))),
                ("Spec, SHA-256", text(code(key.spec_digest))),
                ("Signature", text("Not signed. " + content.policy.wording["not_an_auditor"])),
            )
        ),
        Fold(
            "Artefacts this page was made from",
            (
                Table(
                    "SHA-256 by artefact",
                    (Column("Artefact", numeric=False), Column("SHA-256", numeric=False)),
                    tuple(Row(name, (Cell(digest),)) for name, digest in content.inputs.items()),
                ),
            ),
        ),
    ]
    return Section("evidence", "Check it yourself", tuple(blocks))


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
