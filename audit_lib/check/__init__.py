"""Check anyone's published summary of a bias audit: rebuild its numbers, look for what the law asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from audit_lib.check import (
    category_coverage,
    claims,
    contradicting_dates,
    contradicting_periods,
    omitted_categories,
    reading_doubts,
    same_people,
    stated_fields,
    table_consistency,
    understanding,
)
from audit_lib.check.cards import CARDS_UNSURE, grids_of_cards
from audit_lib.check.document_reader import read_document
from audit_lib.check.fact_tables import with_facts
from audit_lib.check.findings import KINDS, SEVERITIES, FindingKind, Rebuilt, SummaryFinding
from audit_lib.check.grids import Format, PublishedFile
from audit_lib.check.headers import has_header
from audit_lib.check.json_schema import SCHEMA
from audit_lib.check.number_notation import as_printed, plain
from audit_lib.check.own_document import document_findings
from audit_lib.check.own_footer import is_ours, named_policies
from audit_lib.check.own_language import in_english
from audit_lib.check.own_names import named_numerals
from audit_lib.check.own_numbers import contradictions
from audit_lib.check.own_page import OwnPage, agreement
from audit_lib.check.page_breaks import headless, joined
from audit_lib.check.published_tables import PublishedTable, tables_of, why_none
from audit_lib.check.rebuild import rebuild
from audit_lib.check.reshaping import reshaped
from audit_lib.check.split_tables import reunited
from audit_lib.check.stated_exclusions import with_stated_exclusions
from audit_lib.errors import InputError
from audit_lib.policies import Policy, load_policy, policy_named, policy_names

__all__ = [
    "KINDS",
    "CheckResult",
    "FindingKind",
    "Rebuilt",
    "SummaryFinding",
    "check_document",
    "check_report",
]

_POLICY: Final = "nyc_ll144"
_HEADER_ROWS: Final = 3
_NAMED_TABLES: Final = 5
_OF_LL144: Final = ("5-30", "FAQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What came of checking one published file.

    Parameters
    ----------
    file : str
        Its name as given.
    format : {"html", "csv", "text", "pdf", "docx", "xlsx", "image", "json"}
        What it was read as.
    policy : str
        Policy pack and version that it was checked against: the one that a page of ours names, or else LL144's.
    tables : tuple of str
        The tables of rates that were found.
    findings : tuple of SummaryFinding
        Errors first, then warnings, then notes.
    rebuilt : tuple of Rebuilt
        Every printed rate and ratio, and the conventions that give it.
    not_checked : tuple of str
        What was left unchecked, and why.
    """

    file: str
    format: Format
    policy: str
    tables: tuple[str, ...]
    findings: tuple[SummaryFinding, ...]
    rebuilt: tuple[Rebuilt, ...]
    not_checked: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is neither an error nor a warning; notes go beyond what the law asks."""
        return all(finding.severity == "note" for finding in self.findings)

    def conventions(self) -> dict[str, int]:
        """Count printed numbers by the first convention that gives them."""
        first = (r.conventions[0] if r.conventions else "not rebuilt" for r in self.rebuilt)
        return dict(Counter(first).most_common())

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "schema": SCHEMA,
            "file": self.file,
            "format": self.format,
            "policy": self.policy,
            "ok": self.ok,
            "tables": list(self.tables),
            "conventions": self.conventions(),
            "findings": [finding.as_dict() for finding in self.findings],
            "rebuilt": [record.as_dict() for record in self.rebuilt],
            "not_checked": list(self.not_checked),
        }


def check_report(path: str | Path, *, as_of: date | None = None, policy: str = _POLICY) -> CheckResult:
    """Check a published summary: an HTML page, CSV tables, a PDF, DOCX or XLSX, or a picture of one.

    Every rate is computed again from the printed numbers of people, half up at its printed digits, and every
    impact ratio over the highest rate of its table. What differs is tried cut off, from the printed rates, and
    over every other row, so that a finding says how the number came about.

    Parameters
    ----------
    path : path
        A saved file. Its content says what format it is.
    as_of : date, optional
        The day for which the audit must be recent enough; without it that is not checked.
    policy : str
        Policy pack with the categories, paragraphs and periods to check against.

    Raises
    ------
    InputError
        If the file cannot be read or holds no table of rates; the message says what was looked for.
    SpecError
        If there is no such policy.
    """
    return check_document(read_document(Path(path)), str(path), as_of=as_of, policy=policy)


def check_document(
    document: PublishedFile, name: str, *, as_of: date | None = None, policy: str = _POLICY
) -> CheckResult:
    """Check a summary that was read already; `name` is what messages and the result call it.

    Raises
    ------
    InputError
        If it holds no table of rates, or none that could be read.
    SpecError
        If there is no such policy.
    """
    pack = policy_named(policy)
    law = _law_of(document) or pack
    other = law.name != pack.name
    document, has_commas = plain(in_english(document))
    in_order = document.in_order or document.text
    if document.own is None:
        document = replace(document, text=with_facts(document.text, document.grids))
    document = replace(document, grids=reshaped(document.grids, pack, ours=document.own is not None))
    tables = reunited(tables_of(document.grids, pack), pack)
    if not tables and (cards := grids_of_cards(in_order, pack)):
        why = CARDS_UNSURE if document.format == "pdf" else ""
        cards = [replace(card, unsure=why) for card in cards]
        document = replace(document, grids=(*document.grids, *cards))
        tables = reunited(tables_of(cards, pack), pack)
    own = _own_page(document)
    if not tables and (own or (document.own is not None and _is_named_ours(document))):
        return CheckResult(
            file=name,
            format=document.format,
            policy=f"{law.name} {law.version}",
            tables=(),
            findings=tuple(own),
            rebuilt=(),
            not_checked=(
                "what its law asks of a summary: a page of ours, without tables of rates that were read",
            ),
        )
    if not tables:
        lacking = "".join(
            f" Table {i}{f' on page {grid.page}' if grid.page else ''}: {why_none(grid, pack)}."
            for i, grid in enumerate(document.grids[:_NAMED_TABLES], 1)
        ) + "".join(f" Not read: {part}." for part in document.unread)
        raise InputError(
            f"{name}: no table of rates among {len(document.grids)} table(s) read as {document.format}.{lacking} "
            "Looked for a header row that names an impact ratio, or a selection or scoring rate, beside a number of "
            "applicants or selected people"
        )
    said = stated_fields.read_words(document.text)
    tables = with_stated_exclusions(tables, document.text, pack, _unknown(tables, said) or 0)
    doubted = reading_doubts.with_doubted_labels(tables) if document.format == "pdf" else tables
    read = tables
    tables, findings = reading_doubts.part(read, pack)
    findings += [*reading_doubts.columns_not_read(tables, said.audited)]
    findings += headless(joined(document.grids), pack)
    findings += [*reading_doubts.pictures_not_read(document), *reading_doubts.hidden_parts(document)]
    rebuilt: list[Rebuilt] = []
    unknown = _unknown(tables, said)
    for table in list(tables):
        found, records = rebuild(table, pack)
        found += [
            *table_consistency.shares(table, unknown or 0),
            *table_consistency.totals(table),
            *table_consistency.stated_total(table),
        ]
        lost = reading_doubts.lost_rows(table, pack, found) or understanding.not_understood(table, found)
        if lost is not None:
            findings.append(lost)
            tables.remove(table)
            continue
        findings += understanding.with_doubts(table, found, document.grids)
        rebuilt += records
        of_rows = category_coverage.categories(table, pack)
        findings += [f for f in of_rows if law.families or f.id != "category_outside_taxonomy"]
        findings += category_coverage.small_cells(table, pack)
    if not tables:
        raise InputError(
            f"{name}: no table of rates could be read. " + "; ".join(f.message for f in findings)
        )
    findings += category_coverage.doubles(tables)
    for group in table_consistency.groups_of(tables):
        findings += table_consistency.families(group, pack, unknown or 0)
        findings += table_consistency.selected_alike(group, pack, unknown or 0)
        findings += table_consistency.people_alike(group, pack, unknown or 0)
        findings += table_consistency.unknown_people(group)
    with_words = document.format != "csv"
    # What could not be read may be what seems to be missing.
    if all(finding.id != "unreadable_table" for finding in findings):
        gone = [
            f
            for g in table_consistency.groups_of(tables)
            for f in omitted_categories.left_out(g, law, unknown, document.text)
        ]
        gone += omitted_categories.dropped(
            tables, law, unknown, document.text, with_words=with_words and not gone
        )
        findings += [*gone, *category_coverage.missing(tables, law, gone)]
    if with_words:
        unread = [table for table in read if table not in tables]
        findings += understanding.absent_families(tables, unread, document.grids, findings, law)
    findings += same_people.stated_alike(document.text, tables, pack)
    # A CSV may be tables alone: then nothing lacks, and what words it has are heard all the same.
    is_summary = document.format != "csv" or stated_fields.names_fields(document.text)
    all_read = all(finding.id != "unreadable_table" for finding in findings)
    claimed = claims.claims(
        document.text, unknown, tables, pack, of_audit=not said.no_audit, all_read=all_read
    )
    findings += [
        f
        for f in claimed
        if (is_summary or f.severity != "note") and not (other and f.rule.startswith(_OF_LL144))
    ]
    if not other:
        if is_summary:
            findings += stated_fields.fields(document.text, said, unknown, tables, pack)
        findings += stated_fields.validity(said, as_of, pack)
        findings += contradicting_dates.days(document.text, pack)
        findings += contradicting_periods.periods(document.text, tables)
    findings = [*own, *reading_doubts.cautioned(findings, doubted, document.unsure)]
    if has_commas:
        findings, rebuilt = as_printed(findings), as_printed(rebuilt)
    not_checked = _not_checked(document, tables, said, as_of, law if other else None, pack)
    if document.format == "csv" and (absent := list(category_coverage.missing_families(tables, law))):
        not_checked.insert(0, "; ".join(f.message for f in absent) + ": a CSV may be one file of several")
    return CheckResult(
        file=name,
        format=document.format,
        policy=f"{law.name} {law.version}",
        tables=tuple(table.name for table in tables),
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))),
        rebuilt=tuple(rebuilt),
        not_checked=tuple(not_checked),
    )


def _is_named_ours(document: PublishedFile) -> bool:
    """Whether a file with a transcript or digests also says that this library made it."""
    return isinstance(document.own, Mapping) or is_ours(document.text)


def _own_page(document: PublishedFile) -> list[SummaryFinding]:
    """What a page of ours shows and did not say when it was made; of others nothing."""
    if isinstance(document.own, Mapping):
        return list(document_findings(document.own))
    if document.own is not None:
        page = OwnPage(document.own)
        return [*agreement(page), *contradictions(page.texts), *named_numerals(page.told)]
    if document.format in ("html", "pdf") and is_ours(document.text):
        message = (
            "what it shows cannot be held against what was written: an older version made the page, or somebody took "
            "the transcript out. Check its signature (audit verify-page)"
        )
        return [SummaryFinding(id="transcript_missing", message=message)]
    return []


def _law_of(document: PublishedFile) -> Policy | None:
    """The policy that a page of ours names in its last line, and a report in its field."""
    named: list[Any] = [*named_policies(document.text)]
    if isinstance(document.own, Mapping) and isinstance(policy := document.own.get("policy"), Mapping):
        named = [policy.get("name")]
    named = [name for name in named if name in policy_names()]
    return load_policy(named[-1]) if named else None


def _unknown(tables: list[PublishedTable], said: stated_fields.Said) -> int | None:
    """Return the largest number of unknown people that words, a row or a column give."""
    counts = [said.unknown]
    for table in tables:
        counts += [row.cell("applicants").count for row in table.of("unknown")]
        counts += [*table.unknown, *(row.cell("unknown").count for row in table.rows)]
    return max((count for count in counts if count is not None), default=None)


def _not_checked(
    document: PublishedFile,
    tables: list[PublishedTable],
    said: stated_fields.Said,
    as_of: date | None,
    other: Policy | None,
    policy: Policy,
) -> list[str]:
    found = [document.caution] if document.caution else []
    if document.format == "csv" and not stated_fields.names_fields(document.text):
        found.append("required fields: the file holds tables, and words for none of these fields")
    elif other is not None:
        found.append(
            f"fields, words and age that {policy.short_law} asks for: the page names {other.law} as its law "
            f"({other.name} {other.version}), so it is not an {policy.short_law} summary: not asked"
        )
    elif said.no_audit:
        found.append("F01 and the age of the audit: the page says that it is none, so it has no date of one")
    elif as_of is None:
        found.append("age of the audit: give --as-of")
    elif said.audited is None:
        found.append("age of the audit: its date was not found")
    unread = [g for g in document.grids if not has_header(g) and _speaks_of_ratios(g.rows[:_HEADER_ROWS])]
    if unread:
        tables_ = "a table that speaks" if len(unread) == 1 else f"{len(unread)} tables that speak"
        found.append(f"{tables_} of impact ratios, without a header row of a known kind")
    names = dict.fromkeys(
        repr(name) for table in tables for name in table.unread if name not in table.repeated
    )
    if names:
        found.append(f"columns that were not read as counts, rates, ratios or shares: {', '.join(names)}")
    if not any(len(group) > 1 for group in table_consistency.groups_of(tables)):
        found.append("whether tables add up: no two tables of the same people were found")
    if other is not None:
        return found
    unseen = [
        f.id
        for f in policy.required_fields
        if f.where != "public summary" or f.condition.startswith("if the tool")
    ]
    found.append(f"{', '.join(unseen)}: not to be seen in a public summary, or only by knowing the tool")
    return found


def _speaks_of_ratios(rows: Any) -> bool:
    return any("impact ratio" in text.lower() for row in rows for text in row)
