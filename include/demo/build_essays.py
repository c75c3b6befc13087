"""Write `essays_11.jsonl.gz`: made-up essays of eleven groups on two statements, to be graded in an example audit.

    python include/demo/build_essays.py

`pool` says who competes where essays are compared two by two: eight pools on each statement, each with one essay of
each group, drawn by lot.

Nobody wrote these essays. Each is put together by lot from sentences of our own: more mastery is more reasons, an
objection that is answered and an example. Ten of the eleven groups have the same marks of a second language by the
same lot (an article, a plural, an ending is gone, or a preposition is another one); they differ in their names only, so
that whatever differs between them is chance. A gap to the group without marks is one of these marks. No sentence here
says anything of how people of any place write.

The groups, the statements and the grades are those of the essay task of Chen, Ji and Evans (2024), arXiv:2408.01285,
whose essays are of a learner corpus that may not be passed on.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "essays_11.jsonl.gz"
GROUPS = ("native", "CHN", "HKG", "IDN", "JPN", "KOR", "PAK", "PHL", "SIN", "THA", "TWN")
LEVELS = (2, 3, 4, 5)
ESSAYS = 2
"""Essays of each group, statement and level of mastery."""
MARKED = 0.3
"""Chance of each place where a mark can be."""

STATEMENTS = {
    "part_time_job": "A part-time job matters for college students.",
    "smoking_ban": "Smoking should be banned in all restaurants.",
}
OPENINGS = {
    "part_time_job": (
        "I agree that a part-time job matters for college students.",
        "In my opinion, every student should work a few hours a week.",
        "College teaches many things, but a job teaches others that no lecture can.",
        "Some people doubt that students should work; I think that they should.",
    ),
    "smoking_ban": (
        "I agree that smoking should be banned in all restaurants.",
        "In my opinion, a restaurant is no place for a cigarette.",
        "A meal is shared with strangers, and so is the air around the table.",
        "Some guests ask for a corner to smoke in; I think that there should be none.",
    ),
}
REASONS = {
    "part_time_job": (
        "A job pays for books and for small things, so the student asks the family for less.",
        "The student learns to come on time, because somebody else depends on it.",
        "The worker meets people of other ages and learns to speak with customers.",
        "A few hours in a shop or an office show whether a profession is what one hoped for.",
        "When every afternoon has its plan, the student reads before the evening and not after it.",
        "An employer later asks for experience, and a graduate with two jobs has an answer.",
    ),
    "smoking_ban": (
        "The smoke of one guest reaches the lungs of all the others in the room.",
        "The waiters breathe the air for eight hours and did not choose it.",
        "Food tastes of smoke, and the cook has worked for nothing.",
        "Parents bring children, who cannot ask the people at the next table to stop.",
        "A rule for all restaurants is fair, because no owner loses guests to another.",
        "The doctors of a town treat fewer patients when its bars and restaurants are free of smoke.",
    ),
}
OBJECTIONS = {
    "part_time_job": (
        "Critics say that work takes hours from study, and too many hours do; ten in a week leave the grades alone.",
        "It is true that a tired student learns little, so the hours should be few and the breaks real.",
    ),
    "smoking_ban": (
        "Owners fear for their income, but the guests who stayed away because of the smoke come back.",
        "It is true that an adult may choose to smoke, but the choice ends where the air of others begins.",
    ),
}
EXAMPLES = {
    "part_time_job": (
        "A friend of mine sold tickets in a theatre for a year and now plans the budget of a small company.",
        "My neighbour taught two children in the evenings and passed the exams with better grades than before.",
    ),
    "smoking_ban": (
        "In the street where I live, a cafe closed its smoking room and had to add tables within a month.",
        "My aunt, who has asthma, went to a restaurant again for the first time in years after the rule came.",
    ),
}
CLOSINGS = (
    "For these reasons I hold on to my opinion.",
    "This is why I think so, and I hope that others will agree.",
    "All in all, the reasons are stronger than the doubts.",
)
MARKS = (
    (re.compile(r"\b(?:the|a|an) (?=[a-z])"), ""),
    (re.compile(r"(?<=[a-z]{3})(?<!s)s\b(?=[ ,.;])"), ""),
    (re.compile(r"\b(?:in|on|at|for|of)\b(?= [a-z])"), "to"),
)
"""Where a mark can be, and what stands there instead."""


def essay(statement: str, mastery: int, rng: np.random.Generator) -> str:
    """Put an essay together; more mastery is more of it."""

    def some(of: tuple[str, ...], count: int) -> list[str]:
        return [of[place] for place in sorted(rng.choice(len(of), count, replace=False))]

    parts = some(OPENINGS[statement], 1) + some(REASONS[statement], min(mastery - 1, 3))
    if mastery >= 4:
        parts += some(OBJECTIONS[statement], 1)
    if mastery >= 5:
        parts += some(EXAMPLES[statement], 1)
    return " ".join([*parts, *some(CLOSINGS, 1)])


def marked(text: str, rng: np.random.Generator) -> str:
    """Put marks of a second language into a text, each with the same chance."""
    for pattern, instead in MARKS:
        text = pattern.sub(lambda found, put=instead: put if rng.random() < MARKED else found.group(), text)
    return text


def rows() -> list[dict[str, object]]:
    """Return the essays, each with its group, statement and mastery."""
    found = []
    for place, group in enumerate(GROUPS):
        for number, (position, statement) in enumerate(STATEMENTS.items()):
            lot = np.random.Generator(np.random.PCG64([20260124, place, number]))
            pools = iter(lot.permutation(len(LEVELS) * ESSAYS).tolist())
            for mastery in LEVELS:
                for copy in range(ESSAYS):
                    rng = np.random.Generator(np.random.PCG64([20260122, place, number, mastery, copy]))
                    words = essay(position, mastery, rng)
                    name = f"{position}-{group}-{mastery}-{copy + 1}".lower()
                    found.append(
                        {
                            "prompt_id": name, "application_id": name, "position": position,
                            "pool": f"{position}-{next(pools) + 1}", "background": group, "mastery": mastery,
                            "qualified": mastery >= 4, "synthetic": True, "statement": statement,
                            "essay": words if group == "native" else marked(words, rng),
                        }
                    )  # fmt: skip
    return found


def content() -> bytes:
    """Return the file: the same bytes each time."""
    lines = "".join(json.dumps(row) + "\n" for row in rows())
    return gzip.compress(lines.encode(), mtime=0)


if __name__ == "__main__":
    FILE.write_bytes(content())
