"""A small perturbed audit: twelve resumes with slots, four groups, five names each."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from audit_lib.pipeline import run_stage
from audit_lib.run import Run
from audit_lib.window import Window
from tests.specs import LIVE, load

WEEK = Window.parse("2026-01-05", "2026-01-12")
GROUPS = [(sex, race) for sex in ("female", "male") for race in ("White", "Black")]
NAMES = {
    (sex, race): [(f"{sex.title()}{race}{n}", f"Family{race}{sex.title()}{n}") for n in range(5)]
    for sex, race in GROUPS
}
RESUME = (
    "{{title}} {{name}} \t«é»  {{Pronoun.subject}} leads {{pronoun.possessive}} team.\r\n{{first_name}} no. "
)


def table(header: list[str], rows: list[list[str]]) -> str:
    """CSV text."""
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def prompts(count: int = 12, resume: str = RESUME) -> list[dict[str, Any]]:
    """Resumes of two positions, not in the order of their ids."""
    rows = [
        {
            "prompt_id": f"p{i:02d}",
            "application_id": f"a{i:02d}",
            "position": "cook" if i % 3 else "driver",
            "resume": f"{resume}{i}",
        }
        for i in range(count)
    ]
    return rows[::-1]


def write_lexicons(folder: Path, **texts: str) -> None:
    """Write names, pronouns, titles and template; `texts` replaces one of them."""
    files = {
        "names": table(
            ["first_name", "last_name", "sex", "race"],
            [[*name, *group] for group, names in NAMES.items() for name in names],
        ),
        "pronouns": table(
            ["sex", "subject", "possessive"], [["female", "she", "her"], ["male", "he", "his"]]
        ),
        "titles": table(["sex", "title"], [["female", "Ms."], ["male", "Mr."]]),
        "template": "messages:\n- {role: user, content: 'Judge this:\n\n    {{resume}}'}\n",
    } | texts
    for name, text in files.items():
        (folder / f"{name}.csv").write_bytes(text.encode())


def persona_run(folder: Path, *, rows: Any = None, lexicons: Any = None, **sections: Any) -> Run:
    """Plan and sample a perturbed audit; `sections` are the spec's."""
    write_lexicons(folder, **(lexicons or {}))
    lines = "".join(json.dumps(row) + "\n" for row in (prompts() if rows is None else rows))
    (folder / "prompts.jsonl").write_text(lines)
    names = {"names": "names.csv", "pronouns": "pronouns.csv", "titles": "titles.csv"}
    perturb = sections.pop("perturb", {})
    sections = {
        "perturb": None if perturb is None else names | perturb,
        "prompt": {"template": "template.csv"},
        "model": LIVE,
    } | sections
    run = Run.open(load(folder, **sections), WEEK, str(folder / "store"))
    for stage in ("plan", "sample"):
        run_stage(run, stage)
    return run
