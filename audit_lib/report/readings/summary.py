"""The statutory summary: what the law asks to be published, on two sheets of paper and in plain words."""

from __future__ import annotations

from collections.abc import Iterable

from audit_lib.policies.fields import FieldCheck
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Facts,
    Fold,
    Notice,
    Page,
    Paragraph,
    Section,
    Text,
    TextRun,
    code,
    filled,
    link,
    strong,
    text,
)
from audit_lib.report.content import Content, ExactTable
from audit_lib.report.document import field_checks
from audit_lib.report.duty_status import duty_status
from audit_lib.report.exact_tables import tally
from audit_lib.report.numbers import count
from audit_lib.report.readings import facts
from audit_lib.report.readings.names import APPLICANT, REPORT, SUMMARY, in_language, others
from audit_lib.report.readings.summary_tables import annexed, tables_of
from audit_lib.report.sections.law import not_in_force, other_pack
from audit_lib.report.sources import SEALED, sections_of, with_head
from audit_lib.translation import Filled, spoken, t, tn

_MOST_STRATA = 12
"""More parts of an audit than these have no line of their own here."""


def summary(content: Content, manifest: str, languages: tuple[str, ...]) -> Page:
    """Return the summary of a sealed run.

    Parameters
    ----------
    content : Content
        The report's.
    manifest : str
        SHA-256 of the sealed run's manifest.
    languages : tuple of str
        Those that the summary is made in.
    """
    sections = sections_of(
        content,
        _results,
        lambda read: Section("words", t("What the tables show"), tuple(_in_words(read))),
        lambda read: Section("data", t("The data"), (Facts(tuple(_data(read))),)),
        _missing,
        lambda read: Section("limits", t("What this does not say"), tuple(_limits(read))),
        lambda read: Section("check", t("Where to read more"), tuple(_check(read, manifest)), SEALED),
    )
    return with_head(content, lambda read: _page(read, languages, sections))


def _page(content: Content, languages: tuple[str, ...], sections: tuple[Section, ...]) -> Page:
    return Page(
        title=t(content.title),
        subtitle=facts.title(content),
        kicker=Filled(" \N{MIDDLE DOT} ").join((t(content.policy.jurisdiction), t(content.policy.law))),
        language=spoken(),
        others=others(SUMMARY, languages),
        badges=(),
        status=Facts(tuple(_strip(content)), strip=True),
        sections=sections,
        footer=text(
            t(
                "Made by audit_lib from the sealed run {run}. Policy {policy} {version}.",
                run=content.key.prefix,
                policy=content.policy.name,
                version=content.policy.version,
            )
        ),
    )


def _results(content: Content) -> Section:
    blocks: list[Block] = [*notices(content), Paragraph(text(Filled(" ").join(_first(content))), lead=True)]
    for kind in facts.KINDS:
        blocks += tables_of(content, kind)
    return Section("results", t("The results"), tuple(blocks))


def _strip(content: Content) -> Iterable[tuple[str, Text]]:
    english = in_language(SUMMARY, "en")
    yield t("What the tool decides"), facts.stated(content, "report.tool", english)
    yield t("The tool"), text(content.spec.model.name)
    if employer := content.spec.use.employer.strip():
        yield t("Used by"), text(employer)
    measured = t("Date of the audit") if content.is_audit else t("Computed")
    yield measured, text(f"{content.measured_at:%Y-%m-%d}")
    if (until := facts.last_day(content)) is not None:
        yield t("No use after"), text(f"{until:%Y-%m-%d}")
    if content.is_audit and (earlier := content.timeline.earlier):
        yield t("Earlier audits"), text(Filled("; ").join(t("audit of {day}", day=day) for day in earlier))
    yield t("In use since (distribution date)"), text(facts.used_since(content))
    yield t("Auditor"), text(facts.auditor(content))


def _first(content: Content) -> Iterable[str]:
    """Say what this is, and how to read a ratio."""
    rows = content.metrics.rows
    if content.headline:
        yield tn(
            "{n} decision was looked at.",
            "{n} decisions were looked at.",
            rows.total,
            n=count(rows.total),
        )
        if rows.answered < rows.total:
            yield t("{answered:,} of them have an answer.", answered=rows.answered)
        yield t("An impact ratio is a group's rate divided by the highest rate in the same table.")


def notices(content: Content) -> tuple[Notice, ...]:
    """Return what must be read first: that it is no audit and why, another law than the plan's, one not in force."""
    found: list[Notice] = []
    if content.rejected is not None:
        found.append(
            Notice(
                t("Its auditor rejected this."),
                text(t("The reason they gave: {reason}", reason=content.rejected.reason)),
            )
        )
    if content.is_experiment:
        found.append(
            Notice(
                t("This is an experiment, not a bias audit."),
                text(
                    t("Groups were assigned to the applications for this test."),
                    " ",
                    t("They are no real person's groups. It does not do what the law asks of an audit."),
                ),
            )
        )
    elif (why := content.why_no_audit) is not None:
        found.append(
            Notice(
                t("This is not a bias audit.")
                if content.policy.attestations
                else t("This is not a signed audit."),
                text(t("The reason: {why}.", why=why), " ", t("Nobody may rely on it as one.")),
            )
        )
    if not content.spec.model.valid_judge:
        found.append(
            Notice(
                t("This model is not a valid judge."),
                text(t("It stands here to show the method. Its numbers say nothing about a tool in use.")),
            )
        )
    found += [one for one in (other_pack(content), not_in_force(content)) if one is not None]
    return tuple(found)


def _in_words(content: Content) -> Iterable[Block]:
    yield from facts.paragraphs(content)
    if not content.headline:
        yield Paragraph(
            annexed(t("There are no tables of rates. What was measured is in {page}.", page="{page}"))
        )
    yield from _parts(content)


def _parts(content: Content) -> Iterable[Block]:
    """Say of each part, such as a position, how many of its ratios are below the guideline."""
    by_place: dict[str, list[ExactTable]] = {}
    for table in content.by_stratum:
        by_place.setdefault(table.where, []).append(table)
    if not by_place:
        return
    said = []
    for where, tables in list(by_place.items())[:_MOST_STRATA]:
        found = tally(tables)
        words = tn(
            "{where}: {below} of {n} ratio is below {line}.",
            "{where}: {below} of {n} ratios are below {line}.",
            found.compared,
            n=count(found.compared),
            where=where,
            below=count(found.below),
            line=facts.line(content),
        )
        hidden = (
            " " + tn("{n} more is hidden.", "{n} more are hidden.", found.hidden, n=count(found.hidden))
            if found.hidden
            else ""
        )
        said.append(words + hidden)
    more = (
        t("Here is each part; its tables are in {page}.", page="{page}")
        if len(by_place) <= _MOST_STRATA
        else t("Here are some parts; all of them are in {page}.", page="{page}")
    )
    why = t("Tables of all parts together can hide what happens in one.")
    yield Paragraph((*text(why, " "), *annexed(more), *text(" ", Filled(" ").join(said))))


def _data(content: Content) -> Iterable[tuple[str, Text]]:
    spec, english = content.spec, in_language(SUMMARY, "en")
    sources = ", ".join(one.path for one in content.sample.sources)
    whose = {
        "historical": t("Historical data of the employer's own use"),
        "pooled": t("Historical data of several employers together"),
        "test": t("Test data, and no historical data"),
    }.get(spec.use.data or "", t("Whose data these are is not stated"))
    yield t("Source of the data"), text(f"{whose}. ", t("Files: {files}", files=sources))
    yield t("Explanation of the data"), facts.stated(content, "source.reason", english)
    window = content.key.window
    yield (
        t("Window audited"),
        text(t("{start:%Y-%m-%d} to {end:%Y-%m-%d}", start=window.start, end=window.end)),
    )
    if spec.use.data == "test" and spec.use.test_data is not None:
        yield (
            t("Why no historical data were used"),
            facts.stated(content, "use.test_data.why", english),
        )
        yield (
            t("How the test data were generated and obtained"),
            facts.stated(content, "use.test_data.how", english),
        )
        if spec.use.test_data.invoked.strip():
            yield (
                t("How the tool was called on the test data"),
                facts.stated(content, "use.test_data.invoked", english),
            )
    if not content.headline:
        n = content.metrics.rows.unknown_group
        yield t("Category unknown"), text(tn("{n:,} row", "{n:,} rows", n))


def _limits(content: Content) -> Iterable[Block]:
    """Give the first caveat, and the others folded away on a screen."""
    first, *more = content.caveats
    yield Paragraph(text(t(first)))
    if more:
        yield Fold(
            tn("{n} more caution", "{n} more cautions", len(more)),
            (Bullets(tuple(text(t(words)) for words in more)),),
        )


def _missing(content: Content) -> Iterable[Section]:
    """Say what the law asks for and nobody stated or did; of an experiment the law asks nothing."""
    if content.is_experiment or content.is_refused:
        return
    checks = [one for one in field_checks(content) if one.status in ("missing", "not met")]
    if not checks:
        return
    here = [one for one in checks if one.where == "public summary"]
    elsewhere = [one for one in checks if one not in here]
    blocks: list[Block] = [
        Paragraph(text(t("The law asks for what follows. The annex says more of each."))),
        *_by_status(content, here),
    ]
    if elsewhere:
        blocks.append(
            Fold(
                tn("{n} duty outside this summary", "{n} duties outside this summary", len(elsewhere)),
                tuple(_by_status(content, elsewhere)),
            )
        )
    yield Section("missing", t("What is missing"), tuple(blocks))


def _by_status(content: Content, checks: Iterable[FieldCheck]) -> Iterable[Block]:
    by_status: dict[str, list[str]] = {}
    for check in checks:
        by_status.setdefault(duty_status(content.policy, check), []).append(t(check.duty) + ".")
    for status, duties in by_status.items():
        yield Paragraph(text(strong(f"{status[:1].upper()}{status[1:]}:"), " " + Filled(" ").join(duties)))


def _check(content: Content, manifest: str) -> Iterable[Block]:
    spoken_now = spoken()
    applicant: TextRun = link(t("the page for people who are assessed"), in_language(APPLICANT, spoken_now))
    yield Paragraph(
        filled(
            t("All numbers, intervals and tests are in {annex}. What to ask, and whom, is on {applicant}."),
            annex=link(t("the annex"), in_language(REPORT, spoken_now)),
            applicant=applicant,
        )
    )
    yield Paragraph(
        filled(
            t("This page was made from sealed evidence. The SHA-256 of its manifest is {digest}."),
            digest=code(manifest),
        )
    )
