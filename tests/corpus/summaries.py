"""Summaries for tests, written by hand: counts in, a page out. Shares nothing with the readers."""

from __future__ import annotations

from dataclasses import dataclass, field

RACES = (
    "Hispanic or Latino",
    "White",
    "Black or African American",
    "Native Hawaiian or Pacific Islander",
    "Asian",
    "Native American or Alaska Native",
    "Two or More Races",
)
COUNTS = ((412, 151), (1390, 567), (538, 187), (34, 12), (871, 371), (41, 14), (153, 61))


@dataclass
class Made:
    """What a page says."""

    date: str = "2026-03-14"
    counts: list[tuple[int, int]] = field(default_factory=lambda: list(COUNTS))
    words: str = "The data are historical data of the employer."
    style: str = ""
    head: str = "Race/ethnicity"

    def rows(self) -> list[tuple[str, int, int, str, str]]:
        best = max(picked / people for people, picked in self.counts)
        return [
            (race, people, picked, f"{100 * picked / people:.1f}%", f"{picked / people / best:.2f}")
            for race, (people, picked) in zip(RACES, self.counts, strict=True)
        ]

    def html(self) -> bytes:
        lines = "".join(f"<tr><td>{'</td><td>'.join(map(str, row))}</td></tr>" for row in self.rows())
        return (
            f"<!doctype html><html><head><meta charset=utf-8>{self.style}<title>Bias audit</title></head><body>"
            f"<h1>Summary of results</h1><p>Date of the bias audit: {self.date}.</p><p>{self.words}</p>"
            "<p>The tool has been in use since 2026-04-01. 27 individuals are of unknown category.</p>"
            f"<h2>{self.head}</h2><table><tr><th>Race/ethnicity</th><th>Applicants</th><th>Selected</th>"
            f"<th>Selection rate</th><th>Impact ratio</th></tr>{lines}</table></body></html>"
        ).encode()

    def csv(self) -> bytes:
        lines = ["Race/ethnicity,Applicants,Selected,Selection rate,Impact ratio"]
        return "\n".join([*lines, *(",".join(map(str, row)) for row in self.rows())]).encode()
