"""Write `student_predictions.csv`: invented students, their grade points, and what three tools predicted of them.

    python include/demo/build_students.py

Nobody of these exists. A tool's score is the student's mastery and noise. `tool_a` is as noisy for everybody. `tool_b`
says next to nothing of Black students with little prior knowledge, in both years; `tool_c` does so in 2025 alone. No
other subgroup is treated differently, so that an audit of overlapping subgroups has one worst subgroup to find.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "student_predictions.csv"
STUDENTS = 1600
HEAD = "student,school,year,sex,race,prior,free_lunch,grade_points,band,tool_a,tool_b,tool_c"


def content() -> bytes:
    """Return the file."""
    rng = np.random.Generator(np.random.PCG64(20230920))
    lines = [HEAD]
    for number in range(STUDENTS):
        year = 2024 + number % 2
        sex = ("female", "male")[int(rng.integers(2))]
        race = str(rng.choice(("White", "Black", "Hispanic"), p=(0.4, 0.3, 0.3)))
        prior = ("low", "high")[int(rng.integers(2))]
        lunch = ("yes", "no")[int(rng.integers(2))]
        mastery = float(rng.normal())
        points = min(4.0, max(0.0, 2.2 + 0.9 * mastery + 0.4 * float(rng.normal())))
        band = "behind" if points < 1.8 else "ahead" if points >= 3 else "on_track"
        noise = rng.normal(size=3)
        worst = race == "Black" and prior == "low"
        weights = (1.0, 0.1 if worst else 1.0, 0.1 if worst and year == 2025 else 1.0)
        scores = [weight * mastery + 0.8 * float(e) for weight, e in zip(weights, noise, strict=True)]
        cells = (
            f"s{number:04d}",
            f"school {1 + number % 4}",
            year,
            sex,
            race,
            prior,
            lunch,
            f"{points:.1f}",
            band,
        )
        lines.append(",".join(map(str, (*cells, *(f"{score:.3f}" for score in scores)))))
    return "".join(f"{line}\n" for line in lines).encode()


if __name__ == "__main__":
    FILE.write_bytes(content())
