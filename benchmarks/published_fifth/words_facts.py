"""What a page says of its audit, its dates and its data, in several wordings."""

from __future__ import annotations

from datetime import date

from benchmarks.published_fifth.facts import TEST_REASONS
from benchmarks.published_fifth.model import Draw
from benchmarks.published_fifth.numbers import count_text, date_text


class FactWords:
    """Sentences and pairs on the audit, first use and the data; a missing fact gives nothing."""

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
                    f"{self.f.auditor} was not involved in using, developing or distributing the "
                    f"tool, had no employment relationship with {self.f.employer} or "
                    f"{self.f.vendor}, and has no financial interest in either.",
                    f"{self.f.auditor} has no financial interest in {self.f.vendor} or "
                    f"{self.f.employer} and took no part in building, selling or using {self.f.tool}.",
                    f"The auditor is not employed by {self.f.employer} or by {self.f.vendor}, did "
                    "not help to develop, distribute or use the AEDT, and holds no direct or "
                    "material indirect financial interest in either company.",
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
                        f"The distribution date of the AEDT, the date on which {self.f.employer} "
                        f"began using it, is {when}.",
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
                    f"Earlier bias audit{'s' if plural else ''} of the tool "
                    f"{'were' if plural else 'was'} completed on {told}.",
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
                f"Sex and race/ethnicity were reported by the {self.people} themselves when they "
                "applied; nothing was inferred or imputed.",
                f"Demographic information was voluntarily self-reported by {self.people}; no "
                "demographic data was inferred.",
                "Demographics come from the voluntary EEO questions of the application form and were not imputed.",
            ],
        )
        head = {
            "own": f"The audit used historical data: all {self.people} in the United States whom the tool "
            f"{verb} for {f.employer} from {window}.",
            "pooled": f"The audit used historical data of {f.employers} employers that use {f.tool}: all "
            f"{self.people} in the United States whom the tool {verb} from {window}. {f.employer} "
            "had not used the tool before this audit.",
            "pooled_own": f"The audit used historical data of {f.employers} employers that use {f.tool}, "
            f"{f.employer} among them, which gave the auditor the data from its own use: all "
            f"{self.people} in the United States whom the tool {verb} from {window}.",
        }[f.data]
        return [head, tail, f.reason]
