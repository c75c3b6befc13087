"""What can be wrong with a published summary: kinds of finding, their weight, and the paragraph behind each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from audit_lib.typed_json import as_json

Severity = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")

_TRANSCRIPT: Final = "the page's own transcript"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding: how much it weighs, what it means, and the paragraph of the rule (or none)."""

    severity: Severity
    meaning: str
    rule: str


KINDS: Final[Mapping[str, FindingKind]] = MappingProxyType(
    {
        # Counts.
        "negative_count": FindingKind("error", "a number of people is negative", "5-301(b)(1)"),
        "fractional_count": FindingKind("error", "a number of people is not whole", "5-301(b)(1)"),
        "unreadable_number": FindingKind("error", "a cell that should hold a number does not", "5-303(a)(1)"),
        "more_selected_than_applied": FindingKind(
            "error", "more people selected than assessed", "5-300, Selection Rate"
        ),
        # Rates and ratios.
        "rate_not_rebuilt": FindingKind(
            "error", "the rate does not follow from the counts", "5-301(b)(1) and (c)(2)"
        ),
        "rate_impossible": FindingKind("error", "no whole number of people gives this rate", "5-300"),
        "ratio_not_rebuilt": FindingKind(
            "error", "the impact ratio does not follow from the table", "5-300, Impact Ratio"
        ),
        "comparator_not_highest": FindingKind(
            "error",
            "ratios are taken over a rate that is not the highest of the table",
            "5-300, Impact Ratio",
        ),
        "comparator_elsewhere": FindingKind(
            "warning",
            "ratios follow over a higher rate than the table has: a part of it may stand elsewhere",
            "5-300, Impact Ratio",
        ),
        "ratio_of_zero_rates": FindingKind(
            "error", "a ratio is printed although the highest rate is 0", "5-300, Impact Ratio"
        ),
        "truncated": FindingKind(
            "warning", "digits were cut off where the rule's tables round half up", "5-301(b)"
        ),
        "ratio_from_printed_rates": FindingKind(
            "warning",
            "the ratio follows from rates that were already rounded, not from the counts",
            "5-301(b)",
        ),
        "share_not_rebuilt": FindingKind(
            "warning", "the share of the data does not follow from the counts", "5-301(d)"
        ),
        "mixed_digits": FindingKind("note", "one column prints different numbers of decimals", "5-301(b)"),
        "missing_percent_sign": FindingKind("note", "a percentage is printed without its sign", "5-301(c)"),
        # Rows and tables.
        "unknown_in_calculation": FindingKind(
            "error", "people of unknown category have an impact ratio", "5-301(b)(5) and (c)(5)"
        ),
        "unreadable_table": FindingKind(
            "warning",
            "a table was not read, or not with certainty: from where words stand, or without a header",
            "5-303(a)(1)",
        ),
        "picture_not_read": FindingKind(
            "warning", "a picture that may hold a table was not read", "5-303(a)(1)"
        ),
        "hidden_content": FindingKind(
            "warning", "part of a table is in the file and not shown, or not to every reader", "5-303(a)(1)"
        ),
        "columns_not_read": FindingKind(
            "error",
            "columns of rates or ratios were not read: nothing tells them from others of the same header",
            "5-303(a)(1)",
        ),
        "duplicate_category": FindingKind("error", "two rows of a table have one category", "5-301(b)(3)"),
        "duplicate_table": FindingKind(
            "warning", "two tables of one kind cannot be told apart", "5-301(b)(3) and (4)"
        ),
        "category_outside_taxonomy": FindingKind(
            "warning", "a category is not one of the EEO-1 report's", "5-301(b)(3); 29 CFR 1602.7"
        ),
        "category_left_out": FindingKind(
            "error",
            "a table has no row for people whom another table of the same people holds",
            "5-301(b)(3)",
        ),
        "category_dropped": FindingKind(
            "warning",
            "no table has a row for a category, and many people are of unknown category, or a total has more people",
            "5-303(a)(1); 5-301(b)(5) and (c)(5)",
        ),
        "category_missing": FindingKind("note", "a category of the taxonomy has no row", "5-303(a)(1)"),
        "category_without_ratio": FindingKind(
            "error", "a category of 2% of the data or more has no ratio", "5-301(d)"
        ),
        "small_cell": FindingKind("note", "very few people stand behind a row", "beyond the rule"),
        "total_mismatch": FindingKind("warning", "the total is not the sum of its rows", "5-303(a)(1)"),
        "unknown_does_not_add_up": FindingKind(
            "warning",
            "the people of known and of unknown category are not equally many in tables of the same people",
            "5-301(b)(5) and (c)(5)",
        ),
        "tables_do_not_add_up": FindingKind(
            "warning", "tables of the same people hold different counts", "5-301(b)(3)"
        ),
        # The page.
        "table_missing": FindingKind("error", "a family of tables was not found", "5-301(b)(3)"),
        "column_missing": FindingKind("error", "a table lacks a required column", "5-303(a)(1)"),
        "field_not_found": FindingKind("warning", "words for a required field were not found", "5-303(a)"),
        "four_fifths_as_law": FindingKind(
            "warning", "four fifths is stated as if the law set it; it is guidance", "29 CFR 1607.4(D)"
        ),
        "no_bias_audit": FindingKind(
            "note", "the page says of itself that it is no bias audit", "5-301(a); 5-303(a)"
        ),
        "audit_too_old": FindingKind("error", "the audit is older than the law allows", "5-301(a)"),
        "audit_too_old_at_use": FindingKind(
            "error", "the tool's use began more than a year after the latest audit before it", "5-301(a)"
        ),
        "audit_after_as_of": FindingKind(
            "warning", "the audit's date lies after the day of this check", "5-303(a)(1)"
        ),
        "audit_day_not_found": FindingKind(
            "note", "the audit's date has a month and no day", "5-301(a); 5-303(a)(1)"
        ),
        "scores_not_from_tool": FindingKind(
            "warning", "the text says that scores were made up rather than given by the tool", "5-302"
        ),
        "verdict_given": FindingKind(
            "warning", "the page says that the tool passed, or that it has no bias", "5-301(b) and (c)"
        ),
        "auditor_not_independent": FindingKind(
            "error",
            "the audit was made by the vendor, the employer or people of theirs",
            "5-300, Independent Auditor",
        ),
        "auditor_may_be_related": FindingKind(
            "warning",
            "the auditor's name begins like the vendor's or employer's",
            "5-300, Independent Auditor",
        ),
        "audit_dates_differ": FindingKind(
            "warning", "the page gives several dates of the audit", "5-303(a)(1)"
        ),
        "data_after_audit": FindingKind(
            "warning",
            "the data are said to be of a time after the audit that used them",
            "5-301(a); 5-303(a)(1)",
        ),
        "data_before_use": FindingKind(
            "warning",
            "the data are said to be of the employer's own use and end before that use began",
            "5-300, Historical Data; 5-302",
        ),
        "use_dates_differ": FindingKind(
            "warning", "the page gives several distribution dates", "5-303(a)(2)"
        ),
        "use_before_first_audit": FindingKind(
            "error", "the tool was used before its first audit, as the page says", "5-301(a)"
        ),
        # A page that is renewed with each audit names the latest alone: nothing in it contradicts that.
        "use_before_audit": FindingKind(
            "note", "the tool was used before the audit, and no earlier one is named", "5-301(a)"
        ),
        "numbers_not_given": FindingKind(
            "error", "a table gives no number of people, or no rate, for any category", "5-303(a)(1)"
        ),
        "highest_category_wrong": FindingKind(
            "warning",
            "a sentence names a category as the one of the highest rate, and the tables have another",
            "5-300, Impact Ratio",
        ),
        "imputed_demographics": FindingKind(
            "error", "the demographics are imputed or inferred, not those that people gave", "FAQ III.6"
        ),
        "median_of_known": FindingKind(
            "note",
            "the median is of the people of known category, where the rule says full sample",
            "5-301(c)(1)",
        ),
        "excluded_highest": FindingKind(
            "note",
            "the highest rate belongs to a category without a ratio, and the page does not say what that means",
            "5-300, Impact Ratio; 5-301(d)",
        ),
        "position_not_found": FindingKind(
            "note", "words that name the position were not found", "beyond the rule"
        ),
        "significance_without_test": FindingKind(
            "note", "significance is claimed and no test, p-value or interval was found", "beyond the rule"
        ),
        "unknown_without_bounds": FindingKind(
            "note", "people are unknown and the page does not bound what they could change", "beyond the rule"
        ),
        # A page of ours, which carries a transcript of what it said when it was made.
        "numeral_changed": FindingKind(
            "error", "a numeral of our page is not the one that was written", _TRANSCRIPT
        ),
        "words_changed": FindingKind(
            "error", "words of our page are not those that were written", _TRANSCRIPT
        ),
        "marks_changed": FindingKind(
            "error", "marks, colours or drawings of our page are not those that were written", _TRANSCRIPT
        ),
        "transcript_unreadable": FindingKind(
            "error", "our page's transcript cannot be read, or was not written with the page", _TRANSCRIPT
        ),
        "transcript_missing": FindingKind(
            "warning", "a page that says it is ours carries no transcript of what it said", _TRANSCRIPT
        ),
        "number_contradicted": FindingKind(
            "error", "a number of our page does not follow from others of the page", "the page's own counts"
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFinding:
    """One fault of a published summary.

    Parameters
    ----------
    id : str
        A key of `KINDS`.
    message : str
        What is wrong, in words.
    table, row, column : str
        Where; empty where the finding is about more than that.
    printed, recomputed : str
        The number as published and as it follows from the table; empty where there is none.
    rule : str
        Paragraph of 6 RCNY (or other source) that it rests on; by default the kind's.
    unsure : str
        Why what it rests on may have been misread; empty where it was read with certainty.
    """

    id: str
    message: str
    table: str = ""
    row: str = ""
    column: str = ""
    printed: str = ""
    recomputed: str = ""
    rule: str = ""
    unsure: str = ""

    def __post_init__(self) -> None:
        if not self.rule:
            object.__setattr__(self, "rule", KINDS[self.id].rule)

    @property
    def severity(self) -> Severity:
        """``error``, ``warning`` or ``note``; what may have been misread is no error."""
        severity = KINDS[self.id].severity
        return "warning" if self.unsure and severity == "error" else severity

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "id": self.id,
            "severity": self.severity,
            "message": self.message,
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "printed": self.printed,
            "recomputed": self.recomputed,
            "rule": self.rule,
            "unsure": self.unsure,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """One published rate or ratio, and every convention that gives it.

    Parameters
    ----------
    table, row, column : str
        Where it is.
    printed, recomputed : str
        As published, and as it follows from the counts, half up at the published digits.
    conventions : tuple of str
        How the published number comes about; none if it could not be rebuilt.
    """

    table: str
    row: str
    column: str
    printed: str
    recomputed: str
    conventions: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "table": self.table,
            "row": self.row,
            "column": self.column,
            "printed": self.printed,
            "recomputed": self.recomputed,
            "conventions": as_json(self.conventions),
        }
