"""The sentences of a page about its facts, in several wordings."""

from __future__ import annotations

from datetime import date

from benchmarks.published_fifth.facts import TEST_REASONS
from benchmarks.published_fifth.model import AuditTable, Draw
from benchmarks.published_fifth.names import pair_name, race_name
from benchmarks.published_fifth.numbers import (
    count_text,
    date_text,
    month_text,
    rate_rounding,
    ratio_rounding,
)
from benchmarks.published_fifth.sentences import said_rate


class Words:
    """Writes the sentences of one draw; a missing fact gives nothing."""

    def __init__(self, draw: Draw) -> None:
        self.d = draw
        self.f = draw.facts
        self.people = draw.pick("people", ["applicants", "candidates", "applicants"])
        self.rate = "scoring rate" if draw.scoring else "selection rate"

    def day(self, day: date) -> str:
        """A date in the file's own form."""
        return date_text(day, self.d.style.dates)

    def count(self, value: int) -> str:
        return count_text(value, self.d.style.count)

    def year(self) -> str:
        """The year of the audit, or nothing where the date is left out."""
        return "" if "audit" in self.f.missing else f"{self.f.audit.year} "

    def who(self) -> str:
        """The name of whoever audited."""
        return self.f.own_auditor or self.f.auditor

    def audit_pairs(self) -> list[tuple[str, str]]:
        """The date and maker of the audit as name and value."""
        out: list[tuple[str, str]] = []
        if "audit" not in self.f.missing:
            key = self.d.pick(
                "ak",
                [
                    "Date of bias audit",
                    "Bias audit date",
                    "Date of most recent bias audit",
                    "Audit completed",
                ],
            )
            out.append((key, self.day(self.f.audit)))
        name = (
            "Auditor"
            if self.f.own_auditor
            else self.d.pick("aud", ["Independent auditor", "Auditor", "Audit performed by"])
        )
        out.append((name, self.who()))
        return out

    def use_pairs(self) -> list[tuple[str, str]]:
        """The distribution date as name and value."""
        if "use" in self.f.missing:
            return []
        key = self.d.pick(
            "uk",
            [
                "Distribution date",
                "AEDT distribution date",
                "Distribution date (first use of the AEDT)",
                "Tool in use since (distribution date)",
            ],
        )
        return [(key, self.day(self.f.use))]

    def data_pairs(self) -> list[tuple[str, str]]:
        """Where the data came from, in short."""
        if "data" in self.f.missing:
            return []
        if self.f.made_up:
            return [("Data", "Generated sample")]
        source = {
            "own": f"Historical data of {self.f.employer}",
            "pooled": f"Historical data of {self.f.employers} employers that use the tool",
            "pooled_own": f"Historical data of {self.f.employers} employers, {self.f.employer} among them",
            "test": "Test data",
        }[self.f.data]
        return [
            (self.d.pick("dk", ["Data source", "Source of data", "Data used"]), source),
            ("Period of the data", self.window()),
        ]

    def window(self) -> str:
        """The first and last day of the data."""
        return f"{self.day(self.f.start)} {self.d.pick('to', ['to', 'through', 'to'])} {self.day(self.f.end)}"

    def unknown_total(self) -> int:
        return sum(unit.unknown for unit in self.d.units)

    def unknown_pairs(self) -> list[tuple[str, str]]:
        """The number of unknown people as name and value."""
        if "unknown" in self.f.missing:
            return []
        key = self.d.pick(
            "nk",
            [
                "Individuals with unknown sex or race/ethnicity",
                "Unknown sex or race/ethnicity",
                "Not included (unknown category)",
            ],
        )
        return [(key, self.count(self.unknown_total()))]

    def audited_by(self) -> str:
        """Who audited and when."""
        when = "" if "audit" in self.f.missing else self.day(self.f.audit_again)
        if self.f.own_auditor:
            return f"The bias audit was carried out by {self.f.own_auditor}" + (
                f" on {when}." if when else "."
            )
        stem = self.d.pick(
            "by",
            [
                f"{self.f.auditor}, an independent auditor, conducted the bias audit of {self.f.tool}",
                f"The bias audit of {self.f.tool} was performed by {self.f.auditor}, an independent third party",
                f"{self.f.vendor} engaged {self.f.auditor} as independent auditor; the bias audit was completed",
                f"The most recent bias audit was conducted by the independent firm {self.f.auditor}",
            ],
        )
        return stem + (f" on {when}." if when else ".")

    def independence(self) -> list[str]:
        """Why the auditor is independent."""
        if self.f.own_auditor:
            return []
        return [
            self.d.pick(
                "ind",
                [
                    f"{self.f.auditor} was not involved in using, developing or distributing the tool, had no employment relationship with {self.f.employer} or {self.f.vendor}, and has no financial interest in either.",
                    f"{self.f.auditor} has no financial interest in {self.f.vendor} or {self.f.employer} and took no part in building, selling or using {self.f.tool}.",
                    f"The auditor is not employed by {self.f.employer} or by {self.f.vendor}, did not help to develop, distribute or use the AEDT, and holds no direct or material indirect financial interest in either company.",
                ],
            )
        ]

    def use_sentence(self) -> list[str]:
        """The distribution date and the earlier audits."""
        out: list[str] = []
        if "use" not in self.f.missing:
            when = self.day(self.f.use_again)
            out.append(
                self.d.pick(
                    "us",
                    [
                        f"The distribution date of the AEDT, the date on which {self.f.employer} began using it, is {when}.",
                        f"{self.f.employer} began using {self.f.tool} on {when} (distribution date).",
                        f"Distribution date: {self.f.employer} has used the tool since {when}."
                        if self.f.earlier
                        else f"Distribution date: {self.f.employer} first used the tool on {when}.",
                    ],
                )
            )
        return out + self.earlier_sentence()

    def earlier_sentence(self) -> list[str]:
        """The audits before this one."""
        if not self.f.earlier:
            return []
        days = [self.day(day) for day in self.f.earlier]
        told = days[0] if len(days) == 1 else ", ".join(days[:-1]) + " and " + days[-1]
        plural = len(days) > 1
        return [
            self.d.pick(
                "ea",
                [
                    f"Earlier bias audit{'s' if plural else ''} of the tool {'were' if plural else 'was'} completed on {told}.",
                    f"The tool was also audited before: {told}.",
                    f"Before this one, {'bias audits were' if plural else 'a bias audit was'} conducted on {told}.",
                ],
            )
        ]

    def data(self) -> list[str]:
        """The source and explanation of the data."""
        if "data" in self.f.missing:
            return []
        if self.f.made_up:
            return [self.f.made_up]
        f, window = self.f, self.window()
        if f.data == "test":
            by_hand = any(word in f.tool for word in ("Video", "Game", "Insight"))
            text = TEST_REASONS[0] if by_hand else self.d.pick("test", TEST_REASONS)
            number = self.count(sum(unit.assessed for unit in self.d.units))
            return [
                text.format(employer=f.employer, people=number, start=self.day(f.start), end=self.day(f.end))
            ]
        verb = (
            self.d.pick("verb", ["assessed", "scored", "evaluated"])
            if self.d.scoring
            else self.d.pick("verb", ["assessed", "screened", "evaluated"])
        )
        tail = self.d.pick(
            "self",
            [
                f"Sex and race/ethnicity were reported by the {self.people} themselves when they applied; nothing was inferred or imputed.",
                f"Demographic information was voluntarily self-reported by {self.people}; no demographic data was inferred.",
                f"Demographics come from the voluntary EEO questions of the application form and were not imputed.",
            ],
        )
        head = {
            "own": f"The audit used historical data: all {self.people} in the United States whom the tool {verb} for {f.employer} from {window}.",
            "pooled": f"The audit used historical data of {f.employers} employers that use {f.tool}: all {self.people} in the United States whom the tool {verb} from {window}. {f.employer} had not used the tool before this audit.",
            "pooled_own": f"The audit used historical data of {f.employers} employers that use {f.tool}, {f.employer} among them, which gave the auditor the data from its own use: all {self.people} in the United States whom the tool {verb} from {window}.",
        }[f.data]
        return [head, tail, f.reason]

    def unknown(self, number: int) -> list[str]:
        """The unknown people of one position."""
        if "unknown" in self.f.missing:
            return []
        unit = self.d.units[number]
        where = f" for {unit.name}" if len(self.d.units) > 1 else ""
        if unit.only_sex:
            return [
                f"Of the {self.count(unit.assessed)} individuals assessed{where}, {self.count(unit.no_sex)} had an unknown sex and {self.count(unit.no_race)} an unknown race/ethnicity; {self.count(unit.unknown)} lacked one or both. "
                "Those of unknown sex are not in the sex table, those of unknown race/ethnicity are not in the race/ethnicity table, and those who lack either are not in the intersectional table."
            ]
        number_text = self.count(unit.unknown)
        return [
            self.d.pick(
                "unk",
                [
                    f"Note: The AEDT was also used to assess {number_text} individuals{where} with an unknown sex or race/ethnicity category. Data on those individuals was not included in the calculations above.",
                    f"{number_text} individuals assessed{where} did not report their sex or race/ethnicity and are not included in the calculations.",
                    f"A further {number_text} {self.people}{where} fall within an unknown category (sex or race/ethnicity not given) and were left out of the tables.",
                ],
            )
        ]

    def same_people(self, number: int) -> list[str]:
        """The sentence that the tables are of the same people."""
        if not self.d.style.same_people:
            return []
        number_text = self.count(self.d.units[number].both_known)
        return [
            self.d.pick(
                "same",
                [
                    f"Each of the tables covers the same {number_text} {self.people}.",
                    f"The sex, race/ethnicity and intersectional results describe the same {number_text} {self.people}.",
                ],
            )
        ]

    def rounding(self) -> str:
        """How the numbers are rounded."""
        return f"{self.rate.capitalize()}s are rounded to {rate_rounding(self.d.style.rate)} and impact ratios to {ratio_rounding(self.d.style.ratio)}; impact ratios were calculated from unrounded rates."

    def method(self) -> list[str]:
        """What the rates and ratios mean."""
        if self.d.scoring:
            median = self.d.units[0].median if len(self.d.units) == 1 else ""
            text = (
                "The scoring rate is the share of individuals in a category who received a score above the median score of the full sample"
                + (f" ({median})." if median else ".")
            )
            return [
                text,
                "The impact ratio is the scoring rate of a category divided by the scoring rate of the highest scoring category.",
            ]
        return [
            self.d.pick(
                "sel",
                [
                    f"The selection rate is the number of {self.people} in a category who were selected to move forward, divided by the number who applied.",
                    f"Selection rate means the share of {self.people} in a category whom the tool moved forward to the next step.",
                ],
            ),
            "The impact ratio is the selection rate of a category divided by the selection rate of the most selected category.",
        ]

    def exclusion(self, table: AuditTable) -> list[str]:
        """The justification for categories under two percent."""
        style = self.d.style
        rows = table.left_out or [row for row in table.rows if row.excluded]
        if not rows:
            return []
        names = [
            pair_name(style, row.sex, row.race) if row.sex else race_name(style, row.race) for row in rows
        ]
        who = "The auditor" if self.f.own_auditor else "The independent auditor"
        why = self.d.pick(
            "why",
            [
                "because so few people do not give a reliable ratio",
                "since a ratio drawn from so few people would be unstable",
            ],
        )
        if table.left_out:
            told = "; ".join(
                f"{name}: {row.n} {self.people}, {self.rate} {said_rate(style, row.rate)}"
                for name, row in zip(names, rows)
            )
            return [
                f"{who} left the following out of the impact ratio calculations, as each represents less than 2% of the data, {why}: {told}."
            ]
        return [
            f"{style.blank}: {'; '.join(names)} {'each represents' if len(names) > 1 else 'represents'} less than 2% of the data. {who} excluded {'them' if len(names) > 1 else 'it'} from the impact ratio calculations {why}."
        ]

    def highest(self, number: int) -> list[str]:
        """Sentences on the highest rates of a position."""
        out: list[str] = []
        for kind in ("sex", "race", "inter", "low"):
            if (number, kind) in self.d.highest:
                out.append(self.d.highest[(number, kind)])
        return out

    def claim(self) -> list[str]:
        """A claim that no bias was found (a fault), or a neutral sentence."""
        if self.f.claim:
            return [self.f.claim]
        if self.d.chance("neutral", 55):
            return [
                self.d.pick(
                    "neu",
                    [
                        "Local Law 144 sets no passing score for a bias audit, and this summary should not be read as a finding on whether the tool is free of bias.",
                        "The results are statistics; they are not a legal conclusion about discrimination.",
                        "The law does not require any specific action based on these results.",
                        "This summary is published for information only and makes no statement that the tool is compliant or free of bias.",
                    ],
                )
            ]
        return []

    def intro(self) -> str:
        """What the page is."""
        f = self.f
        return self.d.pick(
            "intro",
            [
                f"{f.employer} uses {f.tool}, an automated employment decision tool (AEDT) supplied by {f.vendor}, to {f.purpose}. New York City Local Law 144 requires a summary of the results of the most recent bias audit to be made public.",
                f"Under New York City Local Law 144 of 2021, employers that use an automated employment decision tool must post the results of an independent bias audit. {f.employer} uses {f.tool} by {f.vendor} to {f.purpose}.",
                f"This page summarizes the bias audit of {f.tool}, which {f.employer} uses to {f.purpose}. It is posted under NYC Admin. Code § 20-870 et seq. and 6 RCNY § 5-300 et seq.",
                f"As part of our hiring process for positions in New York City, {f.employer} uses {f.tool} ({f.vendor}) to {f.purpose}. Below are the results of the bias audit required by Local Law 144.",
            ],
        )

    def notice(self) -> str:
        """The notice to applicants."""
        return self.d.pick(
            "notice",
            [
                "Applicants who live in New York City may ask for an alternative selection process or a reasonable accommodation by writing to accommodations@example.com.",
                "To request a reasonable accommodation or information about the data collected and how long it is kept, e-mail hr-privacy@example.com. We answer within 30 days.",
                "The tool considers work history, skills and education. It doesn't use names, photographs or addresses. Requests for accommodation: careers@example.com.",
                "Data collected for the tool is kept for four years. A written request about the type and source of the data can be sent to privacy@example.com.",
            ],
        )


def months(words: Words) -> str:
    """The period of the data in months."""
    return f"{month_text(words.f.start)} to {month_text(words.f.end)}"
