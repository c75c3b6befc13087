"""What was decided beforehand, what it rests on, and how anyone can check it."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from audit_lib.measure.metric import record_of
from audit_lib.plan.power_limits import (
    NAMES_ASSUMED,
    PEOPLE_ASSUMED,
    SCORES_ASSUMED,
    SIMULATED,
    STRATA_ASSUMED,
)
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    CommandLine,
    Facts,
    Fold,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    filled,
    link,
    text,
)
from audit_lib.report.content import Content
from audit_lib.report.document import field_checks
from audit_lib.report.duty_status import duty_status
from audit_lib.report.numbers import UNDEFINED, count, day, half_up
from audit_lib.report.sections.store import store_words
from audit_lib.report.timing import plan_title, plan_words, power_words
from audit_lib.results import Undefined
from audit_lib.translation import Filled, archived, known, mark, spoken, t


def decisions(content: Content) -> Section:
    """The plan and the switches of the policy."""
    policy, plan = content.policy, content.plan
    switches = Table(
        t("Where the text of {law} leaves room, and how it is read here", law=t(policy.short_law)),
        tuple(Column(c, numeric=False) for c in (t("Question"), t("Reading"), t("Why"), t("Paragraph"))),
        tuple(
            Row(t(s.question), (Cell(t(s.options_text[s.value])), Cell(t(s.reason)), Cell(archived(s.cite))))
            for s in policy.switches
        ),
    )
    thresholds = plan.thresholds
    facts = Facts(
        (
            (t("Metrics"), text(Filled(", ").join(_name(metric) for metric in plan.metrics))),
            (t("Quotas k"), text(", ".join(map(str, plan.quotas)))),
            (t("Guidance"), text(f"{thresholds.guidance_ratio} ({t(policy.guidance.cite)})")),
            (
                t("Significance, power, coverage"),
                text(f"{thresholds.alpha}, {thresholds.power}, {thresholds.level}"),
            ),
            (
                t("Small cell"),
                text(_small(content)),
            ),
            (t("Policy"), text(_policy(content))),
        )
    )
    lead = Paragraph(text(plan_words(content)))
    readings = (Fold(switches.caption, (switches,)),) if switches.rows else ()
    return Section("decisions", plan_title(content), (lead, facts, *readings, _power(content)))


def _policy(content: Content) -> str:
    policy, planned = content.policy, content.planned_under
    words = t(
        "{policy} {version}, as of {day}", policy=policy.name, version=policy.version, day=day(policy.as_of)
    )
    if planned is None:
        return words
    return t(
        "{planned} in the plan; here {policy}", planned=f"{planned.name} {planned.version}", policy=words
    )


def _name(metric: str) -> str:
    """Return the name of a metric: its words in English, its title in other languages."""
    if spoken() == "en":
        return metric.replace("_", " ")
    title = t(record_of(metric).title)
    return title if title[:2].isupper() else title[:1].lower() + title[1:]  # an abbreviation stays as it is


def _small(content: Content) -> str:
    marked = content.plan.thresholds.small_cell
    if content.policy.cells.display == "suppress":
        size = max(content.policy.cells.small, marked)
        return t(
            "fewer than {size} people: hidden, with as many others as it takes that the number of people in a hidden "
            "row could be anything from 1 to {most}, or lies in a range of {size} or more",
            size=size,
            most=size - 1,
        )
    return t("fewer than {marked} rows: marked, never left out in silence", marked=marked)


def _power(content: Content) -> Fold:
    rows = []
    for entry in content.plan.power:
        value, error = entry.smallest_detectable, entry.monte_carlo_error
        shown = t(UNDEFINED)
        if not isinstance(value, Undefined) and error is not None:
            shown = f"{half_up(Fraction(value), 3)} \N{PLUS-MINUS SIGN} {half_up(Fraction(error), 3)}"
        name = t(record_of(entry.metric).title)
        if entry.quota is not None:
            name = t("{metric}, k = {k}", metric=name, k=entry.quota)
        rows.append(
            Row(
                name,
                (
                    Cell(
                        t(
                            "one of {n:,} by {attributes}",
                            n=entry.categories,
                            attributes=Filled(", ").join(
                                known(axis.replace("_", " ")) for axis in entry.attributes
                            ),
                        )
                    ),
                    Cell(count(entry.n)),
                    Cell("\N{EN DASH}" if entry.rate is None else half_up(Fraction(entry.rate), 3)),
                    Cell(shown),
                ),
            )
        )
    columns = (
        Column(t("Metric"), numeric=False),
        Column(t("Category"), numeric=False),
        Column(t("n of each")),
        Column(t("Rate of the others")),
        Column(t("Smallest difference found")),
    )
    power = t(
        "Found in {power:%} of audits, at {alpha:g} for all tests together. Effects and gaps of scores are in "
        "standard deviations of the score.",
        power=content.plan.thresholds.power,
        alpha=content.plan.thresholds.alpha,
    )
    title = t("Power, computed {when}", when=power_words(content))
    return Fold(
        t("What the audit could find"),
        (Table(title, columns, tuple(rows), (Filled(" ").join([power, *assumptions(content)]),)),),
    )


def assumptions(content: Content) -> list[str]:
    """Say what the simulated audits take for granted."""
    basis = content.plan.power_basis
    if basis is None:
        return []
    words = [t(SIMULATED)]
    if basis.not_simulated is not None:
        words.append(t(PEOPLE_ASSUMED, reason=archived(basis.not_simulated)))
    if basis.version_sd is not None:
        words.append(t(SCORES_ASSUMED, version_sd=basis.version_sd))
    if basis.names is not None and basis.name_sd is not None:
        words.append(t(NAMES_ASSUMED, name_sd=basis.name_sd, names=basis.names))
    if basis.strata_assumed is not None:
        words.append(t(STRATA_ASSUMED, n=basis.strata_assumed))
    return words


def caveats(content: Content) -> Section:
    """What the numbers do not say."""
    said = Bullets(tuple(text(t(words)) for words in content.caveats))
    return Section("caveats", t("What this does not say"), (said,))


def evidence(content: Content) -> Section:
    """The run's key, the digests, and the command that checks them."""
    key = content.key
    blocks: list[Block] = [
        *_checked_by(content),
        Paragraph(
            filled(
                t(
                    "Beside this page lie the statutory tables as {tables}, every other estimate as {estimates}, the "
                    "answers by group as {answers}, and everything on it as {report}."
                ),
                tables=link("tables.csv", "tables.csv"),
                estimates=link("estimates.csv", "estimates.csv"),
                answers=link("answers.csv", "answers.csv"),
                report=link("report.json", "report.json"),
            )
        ),
        Facts(
            (
                (t("Run"), text(code(key.prefix))),
                (t("Spec, SHA-256"), text(code(key.spec_digest))),
                (t("Plan"), text(_plan_signed(content))),
                *([(t("Store"), text(store))] if (store := store_words(content)) else []),
                (t("Signature"), text(_signed(content))),
            )
        ),
        Fold(
            t("Artefacts this page was made from"),
            (
                Facts(
                    tuple((f"{name}, SHA-256", text(code(digest))) for name, digest in content.inputs.items())
                ),
                *((Paragraph(text(t(_DIGESTS_HIDDEN))),) if content.hidden else ()),
            ),
        ),
    ]
    return Section("evidence", t("Check it yourself"), tuple(blocks))


def _checked_by(content: Content) -> tuple[Block, ...]:
    """Say which command checks the page: of another pack than the plan's, one more makes it again."""
    run = f"<store>/{content.key.prefix}"
    if content.planned_under is None:
        lead = t(
            "Every artefact of this run is archived with its SHA-256. The command below needs no network and no "
            "trust in whoever published this page. It hashes everything again and recomputes every number here from "
            "the archived scores."
        )
        return Paragraph(text(lead)), CommandLine(f"audit verify {run}")
    lead = t(
        "Every artefact of this run is archived with its SHA-256. The first command below hashes everything again and "
        "recomputes the sealed report from the archived scores; the second computes this page from them again."
    )
    return (
        Paragraph(text(lead)),
        CommandLine(f"audit verify {run}"),
        CommandLine(f"audit report {run} --policy {content.policy.name}"),
    )


_DIGESTS_HIDDEN: Final = mark(
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
            t(
                "{duty}: {status}",
                duty=f"{check.id} {t(check.duty)}",
                status=duty_status(content.policy, check),
            ),
            (
                Cell(check.found, tone="flag" if check.status in ("missing", "not met") else "plain"),
                Cell(archived(check.cite)),
            ),
            "muted" if check.status == "not applicable" else "plain",
        )
        for check in checks
    )
    columns = tuple(
        Column(c, numeric=False)
        for c in (t("Duty, and how it is known"), t("Where, or what"), t("Paragraph"))
    )
    law = t(content.policy.short_law)
    lead = t(
        "What {law} asks for, one by one. Computed is what this run's own artefacts show. Stated is what somebody "
        "wrote down, such as an address that nobody visited; whether it is so must be found out elsewhere. Seen is a "
        "page that was there when it was fetched. Missing is what is not stated. Not met is what the facts break.",
        law=law,
    )
    return Section(
        "checklist",
        t("What the law asks for"),
        (Paragraph(text(lead)), Table(t("Checklist of {law}", law=law), columns, rows)),
    )


def terms(content: Content) -> Section:
    """Words and sources."""
    policy = content.policy
    sources = tuple(
        text(
            link(t(c.title), c.url) if c.url else t(c.title),
            ". " + Filled(", ").join((t(c.publisher), archived(c.dated))) + ".",
        )
        for c in policy.citations
    )
    words = Facts(tuple((t(one.term), text(t(one.text))) for one in policy.glossary))
    folded = (Fold(t("Words"), (words,)), Fold(t("Sources"), (Bullets(sources),)))
    return Section("terms", t("Words and sources"), folded)


def _plan_signed(content: Content) -> str:
    """Say whether the plan was signed before the model was asked, where it is entered, and whose stamp it has."""
    signed = content.plan_signature
    if signed is None:
        return t("not signed before the model was asked")
    said = {"key": signed.key_id[:16], "time": f"{signed.claimed_at:%Y-%m-%d %H:%M}"}
    if signed.journal is None:
        words = t(
            "signed with key {key} before the model was asked, on {time} UTC by the signer's clock", **said
        )
    else:
        words = t(
            "signed with key {key} before the model was asked, on {time} UTC by the signer's clock; entry {n} of the "
            "journal of attempts, {head}",
            **said,
            n=signed.journal.number,
            head=signed.journal.sha256,
        )
    if not signed.own_authority:
        return words
    return t(
        "{signed}; its time stamp is of an authority that whoever ran the audit runs too, which is not independent",
        signed=words,
    )


def _signed(content: Content) -> str:
    if content.rejected is not None:
        return t("Rejected by {auditor}, see the section about it.", auditor=content.rejected.auditor)
    if content.signature is None:
        return t("Not signed.") + " " + t(content.policy.wording["not_an_auditor"])
    return t("Signed by {auditor}, see the section Signature.", auditor=content.signature.auditor)
