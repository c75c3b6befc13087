"""The page for somebody whom the tool assesses: what is used, what was found, whom to ask, how to ask for another way.

What the employer does not state is not stated here either.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit_lib.report.blocks import (
    Block,
    Bullets,
    Facts,
    Page,
    Paragraph,
    Section,
    Text,
    code,
    filled,
    link,
    text,
)
from audit_lib.report.content import Content
from audit_lib.report.readings import facts
from audit_lib.report.readings.names import APPLICANT, REPORT, SUMMARY, in_language, others
from audit_lib.report.readings.summary import notices
from audit_lib.report.sources import SEALED, sections_of, with_head
from audit_lib.translation import spoken, t
from audit_lib.web_page import is_address


def applicant(content: Content, manifest: str, languages: tuple[str, ...]) -> Page:
    """Return the page of a sealed run for people who are assessed; parameters as of `summary`."""
    sections = sections_of(
        content,
        lambda read: Section("used", t("What is used"), (Facts(tuple(_used(read))),)),
        lambda read: Section("found", t("What was found"), tuple(_found(read))),
        lambda read: Section("ask", t("Whom to ask"), (Facts(tuple(_ask(read))),)),
        lambda read: Section("alternative", t("How to ask for another way"), tuple(_alternative(read))),
        lambda read: Section(
            "check", t("Where these facts come from"), tuple(_sources(read, manifest)), SEALED
        ),
    )
    return with_head(content, lambda read: _page(read, languages, sections))


def _page(content: Content, languages: tuple[str, ...], sections: tuple[Section, ...]) -> Page:
    return Page(
        title=t("When this tool assesses you"),
        subtitle=facts.title(content),
        kicker=t(content.policy.jurisdiction),
        language=spoken(),
        others=others(APPLICANT, languages),
        badges=(),
        status=Facts(()),
        sections=sections,
        footer=text(t("Made by audit_lib from the sealed run {run}.", run=content.key.prefix)),
    )


def _employers(content: Content, words: str) -> Text:
    return text(words.strip() or t("not stated"))


def _used(content: Content) -> Iterable[tuple[str, Text]]:
    use, english = content.spec.use, in_language(APPLICANT, "en")
    yield t("The tool"), text(content.spec.model.name)
    yield t("Who uses it"), _employers(content, use.employer)
    yield t("Who made it"), _employers(content, use.vendor)
    yield t("What it decides"), facts.stated(content, "report.tool", english)
    yield t("What it looks at"), facts.stated(content, "use.assesses", english)
    yield t("How a person checks it"), facts.stated(content, "use.human_review", english)
    yield t("In use since"), text(facts.used_since(content))


def _found(content: Content) -> Iterable[Block]:
    yield from notices(content)
    kinds = [kind for kind in facts.KINDS if facts.headline(content, kind)]
    if not kinds:
        yield Paragraph(text(t("No rates of groups were compared.")))
    else:
        yield Paragraph(
            text(
                _counted(content),
                " ",
                t("An impact ratio is a group's rate divided by the highest rate in the same table."),
                " ",
                t("A ratio of 1 means that both rates are the same."),
            )
        )
    yield from facts.paragraphs(content)
    yield Paragraph(
        text(t("Such numbers are about groups. They do not say why you were chosen or turned down."))
    )
    yield Paragraph(
        filled(
            t("All groups and their rates are in {summary}."),
            summary=link(t("the summary"), in_language(SUMMARY, spoken())),
        )
    )


def _counted(content: Content) -> str:
    """Say who was counted: real people, or what was made for a test."""
    if content.is_experiment:
        return t("The applications of this test were counted by the groups that were assigned to them.")
    if content.spec.use.data == "test":
        return t("Test data were counted by group, and not the employer's own past decisions.")
    return t("The people whom the tool assessed were counted by group.")


def _ask(content: Content) -> Iterable[tuple[str, Text]]:
    use, website, english = content.spec.use, content.spec.use.website, in_language(APPLICANT, "en")
    yield t("Questions"), _employers(content, use.contact or "")
    yield t("How to ask in writing for what is kept about you"), _address(website.requests if website else "")
    yield t("How long data are kept"), _address(website.retention_policy if website else "")
    notice = use.notice
    yield t("Notice of the tool's use"), text(notice.given if notice else t("not stated"))
    yield t("Where that notice was given"), facts.stated(content, "use.notice.where", english)


def _address(stated: str) -> Text:
    words = stated.strip()
    if not words:
        return text(t("not stated"))
    return text(link(words, words)) if is_address(words) else text(words)


def _alternative(content: Content) -> Iterable[Block]:
    asked = facts.stated(content, "use.notice.alternative", in_language(APPLICANT, "en"))
    yield Paragraph(text(t("You may want to be assessed without the tool, or need an accommodation.")))
    yield Facts(((t("What the employer says about it"), asked),))


def _sources(content: Content, manifest: str) -> Iterable[Block]:
    yield Bullets(
        (
            text(
                t(
                    "What is used, whom to ask and the other way are as the employer stated them. Nobody checked it."
                )
            ),
            filled(
                t("The numbers come from sealed evidence. The SHA-256 of its manifest is {digest}."),
                digest=code(manifest),
            ),
            filled(
                t("How they were computed is in {annex}."),
                annex=link(t("the annex"), in_language(REPORT, spoken())),
            ),
        )
    )
