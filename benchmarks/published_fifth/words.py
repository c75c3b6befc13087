"""The sentences of a page, in several wordings."""

from __future__ import annotations

from benchmarks.published_fifth.model import AuditTable
from benchmarks.published_fifth.names import pair_name, race_name
from benchmarks.published_fifth.numbers import rate_rounding, ratio_rounding
from benchmarks.published_fifth.sentences import said_rate
from benchmarks.published_fifth.words_facts import FactWords


class Words(FactWords):
    """The sentences of one draw; a missing fact gives nothing."""

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

    def unknown(self, number: int) -> list[str]:
        """The unknown people of one position."""
        if "unknown" in self.f.missing:
            return []
        unit = self.d.units[number]
        where = f" for {unit.name}" if len(self.d.units) > 1 else ""
        if unit.only_sex:
            return [
                f"Of the {self.count(unit.assessed)} individuals assessed{where}, "
                f"{self.count(unit.no_sex)} had an unknown sex and {self.count(unit.no_race)} an "
                f"unknown race/ethnicity; {self.count(unit.unknown)} lacked one or both. "
                "Those of unknown sex are not in the sex table, those of unknown race/ethnicity are "
                "not in the race/ethnicity table, and those who lack either are not in the "
                "intersectional table."
            ]
        number_text = self.count(unit.unknown)
        return [
            self.d.pick(
                "unk",
                [
                    f"Note: The AEDT was also used to assess {number_text} individuals{where} with "
                    "an unknown sex or race/ethnicity category. Data on those individuals was not "
                    "included in the calculations above.",
                    f"{number_text} individuals assessed{where} did not report their sex or "
                    "race/ethnicity and are not included in the calculations.",
                    f"A further {number_text} {self.people}{where} fall within an unknown category "
                    "(sex or race/ethnicity not given) and were left out of the tables.",
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
                    "The sex, race/ethnicity and intersectional results describe the same "
                    f"{number_text} {self.people}.",
                ],
            )
        ]

    def rounding(self) -> str:
        """How the numbers are rounded."""
        return (
            f"{self.rate.capitalize()}s are rounded to {rate_rounding(self.d.style.rate)} and impact "
            f"ratios to {ratio_rounding(self.d.style.ratio)}; impact ratios were calculated from "
            "unrounded rates."
        )

    def about_the_audit(self) -> list[str]:
        """What most pages end with: what the numbers mean, who audited, since when the tool is used."""
        return [
            *self.method(),
            self.rounding(),
            self.audited_by(),
            *self.independence(),
            *self.use_sentence(),
            *self.claim(),
        ]

    def method(self) -> list[str]:
        """What the rates and ratios mean."""
        if self.d.scoring:
            median = self.d.units[0].median if len(self.d.units) == 1 else ""
            text = (
                "The scoring rate is the share of individuals in a category who received a score "
                "above the median score of the full sample" + (f" ({median})." if median else ".")
            )
            return [
                text,
                "The impact ratio is the scoring rate of a category divided by the scoring rate of "
                "the highest scoring category.",
            ]
        return [
            self.d.pick(
                "sel",
                [
                    f"The selection rate is the number of {self.people} in a category who were "
                    "selected to move forward, divided by the number who applied.",
                    f"Selection rate means the share of {self.people} in a category whom the tool "
                    "moved forward to the next step.",
                ],
            ),
            "The impact ratio is the selection rate of a category divided by the selection rate of "
            "the most selected category.",
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
                for name, row in zip(names, rows, strict=True)
            )
            return [
                f"{who} left the following out of the impact ratio calculations, as each represents "
                f"less than 2% of the data, {why}: {told}."
            ]
        return [
            f"{style.blank}: {'; '.join(names)} "
            f"{'each represents' if len(names) > 1 else 'represents'} less than 2% of the data. "
            f"{who} excluded {'them' if len(names) > 1 else 'it'} from the impact ratio calculations "
            f"{why}."
        ]

    def highest(self, number: int) -> list[str]:
        """Sentences on the highest rates of a position."""
        told = self.d.highest
        return [told[(number, kind)] for kind in ("sex", "race", "inter", "low") if (number, kind) in told]

    def claim(self) -> list[str]:
        """A claim that no bias was found (a fault), or a neutral sentence."""
        if self.f.claim:
            return [self.f.claim]
        if self.d.chance("neutral", 55):
            return [
                self.d.pick(
                    "neu",
                    [
                        "Local Law 144 sets no passing score for a bias audit, and this summary "
                        "should not be read as a finding on whether the tool is free of bias.",
                        "The results are statistics; they are not a legal conclusion about discrimination.",
                        "The law does not require any specific action based on these results.",
                        "This summary is published for information only and makes no statement that "
                        "the tool is compliant or free of bias.",
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
                f"{f.employer} uses {f.tool}, an automated employment decision tool (AEDT) supplied "
                f"by {f.vendor}, to {f.purpose}. New York City Local Law 144 requires a summary of "
                "the results of the most recent bias audit to be made public.",
                "Under New York City Local Law 144 of 2021, employers that use an automated "
                "employment decision tool must post the results of an independent bias audit. "
                f"{f.employer} uses {f.tool} by {f.vendor} to {f.purpose}.",
                f"This page summarizes the bias audit of {f.tool}, which {f.employer} uses to "
                f"{f.purpose}. It is posted under NYC Admin. Code § 20-870 et seq. and 6 RCNY § "
                "5-300 et seq.",
                f"As part of our hiring process for positions in New York City, {f.employer} uses "
                f"{f.tool} ({f.vendor}) to {f.purpose}. Below are the results of the bias audit "
                "required by Local Law 144.",
            ],
        )

    def notice(self) -> str:
        """The notice to applicants."""
        return self.d.pick(
            "notice",
            [
                "Applicants who live in New York City may ask for an alternative selection process "
                "or a reasonable accommodation by writing to accommodations@example.com.",
                "To request a reasonable accommodation or information about the data collected and "
                "how long it is kept, e-mail hr-privacy@example.com. We answer within 30 days.",
                "The tool considers work history, skills and education. It doesn't use names, "
                "photographs or addresses. Requests for accommodation: careers@example.com.",
                "Data collected for the tool is kept for four years. A written request about the "
                "type and source of the data can be sent to privacy@example.com.",
            ],
        )
