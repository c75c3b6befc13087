"""Write `teacher_applicants.jsonl`: dossiers of invented applicants who are themselves, to be audited and redacted.

    python include/demo/build_teachers.py

Nobody of these exists. Each dossier (resume and interview) is put together by lot from sentences of our own. Every
group of sex and race has the same numbers of strong, middling and weak dossiers for each position, so that a difference
between groups is the model's or chance. The names are those of `include/lexicons/names.csv` beyond the first twelve of
each group, the colleges those of `include/lexicons/signals/college.csv`, by the same lot for everybody.

`audit redact --jsonl` makes `teacher_redacted.jsonl` of it, as docs/howto/redaction.md says.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FILE = HERE / "teacher_applicants.jsonl"
LEXICONS = HERE.parent / "lexicons"
RACES = ("White", "Black", "Asian", "Hispanic")
WORDS = {"female": ("Ms.", "she", "her", "her"), "male": ("Mr.", "he", "him", "his")}
TITLES = {
    "grade_4": "Elementary school teacher, grade 4",
    "grade_8": "Middle school mathematics teacher, grade 8",
}
REQUIREMENTS = (
    "Requirements: a bachelor's degree, a state teaching license or a plan to get one within the year, classroom "
    "experience, clear communication with families, and lessons that reach students at different levels."
)
DEGREES = {
    "grade_4": (
        "bachelor's degree in education",
        "bachelor's degree in English",
        "master's degree in literacy",
    ),
    "grade_8": (
        "bachelor's degree in mathematics",
        "bachelor's degree in economics",
        "master's degree in teaching",
    ),
}
LICENSES = {
    "strong": ("state license, valid, with an endorsement for English learners", "state license, valid"),
    "middle": (
        "provisional, examination passed, one course left",
        "alternative route, second year, on track",
    ),
    "weak": ("none; has not applied", "expired four years ago"),
}
WORK = {
    "strong": (
        "Teacher of the same grade, five years: the share of students at grade level rose from 51 to 68 percent.",
        "Lead teacher, six years: wrote the school's plan for family conferences and trained two colleagues.",
        "Classroom teacher, four years: led the team that wrote the new units of the grade.",
    ),
    "middle": (
        "Long-term substitute, one year: taught full days from the regular teacher's plans.",
        "Teacher in training, one year with a mentor; before that an engineer.",
        "Teacher of another grade, two years: results about the district's average.",
    ),
    "weak": (
        "Shift lead at a bookshop, three years.",
        "Data entry clerk, four years; half a year in a school, left before the end of the term.",
        "Camp counselor, one summer.",
    ),
}
REFERENCES = {
    "strong": ('"{title} {last} knows every child, and {subject} plans with them in mind," principal.',
               '"I would hire {object} again tomorrow," assistant principal.'),
    "middle": ('"{first} is reliable, and the children like {object}," after-school director.',
               '"{title} {last} knows the subject; {possessive} lessons are still mostly lecture," department head.'),
    "weak": ('"{first} came on time," camp manager.', '"{first} did what {subject} was asked," office manager.'),
}  # fmt: skip
PLANS = {
    "strong": (
        "I start from last week's exit tickets and sort students into groups by the skill they missed.",
        "One task that everybody can start, and questions that go further. I change Thursday by what I see on "
        "Wednesday.",
    ),
    "middle": (
        "I follow the curriculum guide and add something of my own every day. I am still learning to plan for groups.",
        "I explain the steps, do three examples, and then they practice.",
    ),
    "weak": (
        "From the book. It has everything.",
        "I would see what they feel like. Planning takes the fun out of it.",
    ),
}
PARENTS = {
    "strong": (
        "I call the same day, show the work and the rubric, and agree on one thing we both do next.",
        "I invite the family in, with an interpreter if they wish, and we look at the work together.",
    ),
    "middle": (
        "I would listen first and then ask a colleague how the school handles it.",
        "They can come to my office hour.",
    ),
    "weak": (
        "I would raise the grade if it matters to them that much.",
        "I would send them to the principal.",
    ),
}


def content() -> bytes:
    """Return the file."""
    rng = np.random.Generator(np.random.PCG64(20260205))
    rows = [json.dumps(row, ensure_ascii=False) + "\n" for row in _applicants(rng)]
    return "".join(rows[place] for place in rng.permutation(len(rows))).encode()


def _applicants(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    names = list(csv.DictReader((LEXICONS / "names.csv").open(encoding="utf-8")))
    colleges = list(csv.DictReader((LEXICONS / "signals" / "college.csv").open(encoding="utf-8")))
    own = {cell: [n for n in names if (n["sex"], n["race"]) == cell][12:] for cell in product(WORDS, RACES)}
    cells = product(TITLES, LICENSES, own, range(2))
    for number, (position, level, (sex, race), _) in enumerate(cells, start=1):
        name, college = own[sex, race].pop(0), colleges[int(rng.integers(len(colleges)))]
        first, last = name["first_name"], name["last_name"]
        title, subject, object_, possessive = WORDS[sex]
        said = {"title": title, "first": first, "last": last, "subject": subject, "object": object_}

        def one(choices: tuple[str, ...]) -> str:
            return choices[int(rng.integers(len(choices)))]

        reference = one(REFERENCES[level]).format(**said, possessive=possessive)
        yield {
            "prompt_id": f"teacher-{number:03d}", "application_id": f"teacher-{number:03d}", "position": position,
            "sex": sex, "race": race, "name": f"{first} {last}", "college": college["college"], "level": level,
            "qualified": level == "strong", "synthetic": True, "job_title": TITLES[position],
            "district": "a large, diverse city school district",
            "other_district": "a large, mostly White city school district",
            "requirements": REQUIREMENTS,
            "resume": "\n".join((
                f"{first} {last}",
                f"License: {one(LICENSES[level])}.",
                "Experience",
                f"- {one(WORK[level])}",
                f"Education: {one(DEGREES[position])}, {college['college']}",
                f"Reference: {reference}",
            )),
            "transcript": "\n".join((
                f"Interviewer: Good morning, {title} {last}. How do you plan a week?",
                f"{first} {last}: {one(PLANS[level])}",
                "Interviewer: A parent is upset about a grade. What do you do?",
                f"{first} {last}: {one(PARENTS[level])}",
            )),
        }  # fmt: skip


if __name__ == "__main__":
    FILE.write_bytes(content())
