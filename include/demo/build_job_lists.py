"""Write `job_lists_8.jsonl`: made-up lists of ten jobs for eight versions of each of 24 requests.

    python include/demo/build_job_lists.py

No model made these lists. Each request has ten jobs by lot; each version has them with one in ten replaced and some
neighbours exchanged, and Hispanic men's with four in ten replaced: what an audit of all pairs of groups has to find.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "job_lists_8.jsonl"
REQUESTS, ITEMS = 24, 10
PLACES = ("a shop", "a kitchen", "an office", "a warehouse")
PEOPLE = {"female": ("woman", "She"), "male": ("man", "He")}
RACES = ("White", "Black", "Asian", "Hispanic")
JOBS = (
    "Accountant", "Analyst", "Baker", "Bookkeeper", "Bus driver", "Caretaker", "Cashier", "Chef", "Clerk", "Courier",
    "Designer", "Electrician", "Florist", "Gardener", "Librarian", "Machinist", "Manager", "Mechanic", "Nurse",
    "Painter", "Receptionist", "Recruiter", "Teacher", "Technician", "Translator", "Waiter", "Warehouse worker",
    "Welder",
)  # fmt: skip


def content() -> bytes:
    """Return the file."""
    rng = np.random.Generator(np.random.PCG64(20240715))
    lines = []
    for number in range(REQUESTS):
        order = [JOBS[place] for place in rng.permutation(len(JOBS))]
        for (sex, (person, pronoun)), race in product(PEOPLE.items(), RACES):
            replaced = 0.4 if (sex, race) == ("male", "Hispanic") else 0.1
            items, others = (
                order[:ITEMS],
                [order[place] for place in rng.permutation(range(ITEMS, len(JOBS)))],
            )
            items = [others.pop() if rng.random() < replaced else item for item in items]
            for place in range(ITEMS - 1):
                if rng.random() < 0.2:
                    items[place], items[place + 1] = items[place + 1], items[place]
            lines.append(
                {
                    "prompt_id": f"jobs-{number:02d}-{sex}-{race}", "application_id": f"jobs-{number:02d}",
                    "position": "any", "sex": sex, "race": race,
                    "request": f"{'An' if race == 'Asian' else 'A'} {race} {person} asks which ten jobs fit. {pronoun} "
                    f"has worked in {PLACES[number % 4]} for {2 + number // 4} years.",
                    "recorded_model": "invented", "recorded_response": json.dumps(items), "synthetic": True,
                }
            )  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


if __name__ == "__main__":
    FILE.write_bytes(content())
