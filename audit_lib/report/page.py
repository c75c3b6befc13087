"""The whole page, top to bottom, from a run's content."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from audit_lib.policies.clocks import valid_until
from audit_lib.report.blocks import Facts, Page, Section, Text, Tone, text
from audit_lib.report.content import Content
from audit_lib.report.sections.answers_and_validation import answers_and_validation
from audit_lib.report.sections.attempts import attempts
from audit_lib.report.sections.experiment import experiment
from audit_lib.report.sections.framework import framework
from audit_lib.report.sections.history import earlier_audits, history
from audit_lib.report.sections.law import law
from audit_lib.report.sections.leakage import leakage
from audit_lib.report.sections.margins import margins
from audit_lib.report.sections.method import caveats, checklist, decisions, evidence, terms
from audit_lib.report.sections.metric_estimates import metric_estimates
from audit_lib.report.sections.other_rate_tables import other_rate_tables
from audit_lib.report.sections.pairwise_answers import pairwise_answers
from audit_lib.report.sections.periods import periods
from audit_lib.report.sections.rejection import rejection
from audit_lib.report.sections.signature import signature
from audit_lib.report.sections.statutory import statutory, strata
from audit_lib.report.sections.subgroup_aucs import subgroup_aucs
from audit_lib.report.sections.summary import summary
from audit_lib.report.sections.unawareness import unawareness
from audit_lib.report.sections.verdict import verdict
from audit_lib.report.sections.what_was_audited import what_was_audited
from audit_lib.report.sources import sections_of, with_head
from audit_lib.translation import LANGUAGES, Filled, speaking, spoken, stated, t, tn


def page_in(language: str, content: Content) -> tuple[Page, list[str]]:
    """Return the page in a language, and its texts that have no words in it, which are in English and marked."""
    with speaking(language) as speaker:
        page = make_page(content)
        missing = list(speaker.untranslated)
        if missing:
            told = tn(
                "{n} text of this page has no translation and is in English.",
                "{n} texts of this page have no translation and are in English.",
                len(missing),
            )
            page = replace(page, untranslated=frozenset(missing), footer=(*page.footer, *text(" ", told)))
    return page, missing


_RESULTS: Final = (
    statutory, strata, signature, rejection, summary, what_was_audited, checklist, law, periods, experiment, leakage,
    metric_estimates, subgroup_aucs, margins, pairwise_answers, other_rate_tables, answers_and_validation,
)  # fmt: skip
_BEHIND: Final = (decisions, unawareness, framework, caveats, attempts, evidence)


def make_page(content: Content) -> Page:
    """Return the page's blocks; each part, and what is around them, names the files that it is made from."""
    # Earlier audits were read under the plan's pack.
    before, behind = ((history,), (earlier_audits,)) if content.planned_under is None else ((), ())
    sections = sections_of(content, *_RESULTS, *before, *_BEHIND, *behind, terms)
    top = sections_of(content, lambda read: verdict(read, sections))
    return with_head(content, lambda read: _page(read, (*top, *sections)))


def _page(content: Content, sections: tuple[Section, ...]) -> Page:
    """Return the page with its head, its status and its last line."""
    spec, key = content.spec, content.key
    return Page(
        title=t(content.title),
        subtitle=stated(spec.title),
        kicker=Filled(" \N{MIDDLE DOT} ").join(
            (t(content.policy.jurisdiction), t(content.policy.law), spec.audit)
        ),
        language=spoken(),
        others=tuple(
            (language, LANGUAGES[language], "report.html" if language == "en" else f"report.{language}.html")
            for language in ("en", *spec.report.languages)
            if spec.report.languages and language != spoken()
        ),
        badges=tuple(_badges(content)),
        status=_status(content),
        sections=sections,
        footer=text(
            t(
                "Made by audit_lib from the archived artefacts of run {run}. Policy {policy} {version}.",
                run=key.prefix,
                policy=content.policy.name,
                version=content.policy.version,
            )
        ),
    )


def _auditor(content: Content) -> str:
    if (said := content.rejected) is not None:
        return t(
            "{auditor}, {organisation}: rejected it", auditor=said.auditor, organisation=said.organisation
        )
    if content.signature is not None:
        return f"{content.signature.auditor}, {content.signature.organisation}"
    named = content.spec.report.auditor
    return t("{auditor}: not signed", auditor=named) if named else t("not signed")


def _badges(content: Content) -> list[tuple[str, Tone]]:
    signed, rejected = content.signature, content.rejected
    badges: list[tuple[str, Tone]] = []
    if rejected is not None:
        badges.append((t("Rejected {day}", day=f"{rejected.rejected_at:%Y-%m-%d}"), "flag"))
    elif signed is None:
        badges.append((t("Not signed"), "flag"))
    else:
        badges.append((t("Signed {day}", day=f"{signed.signed_at:%Y-%m-%d}"), "plain"))
    if content.is_experiment:
        badges.append((t("Experiment"), "plain"))
    if not content.spec.model.valid_judge:
        badges.append((t("Not a valid judge"), "flag"))
    if content.validation.severity_failed is not None:
        badges.append((t("Validation: {severity}", severity=t(content.validation.severity_failed)), "flag"))
    return badges


def _status(content: Content) -> Facts:
    spec, window = content.spec, content.key.window
    model = spec.model.name + (f" @ {spec.model.revision}" if spec.model.revision else "")
    # Only an audit has a date and is valid for a time; an experiment never allows any use.
    measured = t("Date of the audit") if content.is_audit else t("Computed")
    dates: tuple[tuple[str, Text], ...] = ((measured, text(f"{content.measured_at:%Y-%m-%d}")),)
    if content.is_audit and content.policy.gate("validity") is not None:
        until = valid_until(content.policy, content.measured_at.date())
        dates += ((t("No use after"), text(f"{until:%Y-%m-%d}")),)
    # The order of the strip: when, until when, what exactly, since when, by whom.
    return Facts(
        (
            (
                t("Window audited"),
                text(t("{start:%Y-%m-%d} to {end:%Y-%m-%d}", start=window.start, end=window.end)),
            ),
            *dates,
            (t("Model"), text(model)),
            (t("In use since"), text(spec.report.distribution_date or t("never used, or not stated"))),
            (t("Auditor"), text(_auditor(content))),
        ),
        strip=True,
    )
