"""Runs every combination and writes the reference page.

``python -m tests.combinations.page docs/reference/combinations.md [--all]``

Without ``--all`` servers and logs answer a set of combinations in which every two values of two axes come together, as
in the fast tests; with it they answer all, which takes hours of one core, and local models, whose process takes seconds
to start, such a set. Each is asked twice: with the planted bias and without.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.combinations.axes import ANSWERING, ASKED, DECIDED, VARIED
from tests.combinations.biased_judge import Judge
from tests.combinations.covering import covering
from tests.combinations.planted import APPLICATIONS, GAP, Combination, Outcome, combinations, run_combination
from tests.combinations.who_answers import KEY, KEY_NAME, judging

LOCAL: Final = ("transformers", "embedding")
Outcomes = dict[tuple[Combination, float], Outcome]
HEAD: Final = f"""# Combinations

Combinations of what is varied, who answers, what is asked and who is selected, run by the library's tests
(`tests/combinations`) with a planted bias. Who answers knows a group by what stands in the prompt alone, and values it
{GAP} standard deviations below the reference; a control has no bias. {APPLICATIONS} applications each.
A combination is recovered if its first metric's 95% interval holds what was planted. One in twenty may miss by chance.

This page is made by `python -m tests.combinations.page docs/reference/combinations.md`. It holds a set in which every
two values of two axes come together; `--all` runs every combination. The backend `pydantic_ai` is in none yet.
"""


def outcomes(gap: float, *, whole: bool) -> Iterator[tuple[Combination, Outcome | str]]:
    """Yield what becomes of each combination; of one that cannot be built by hand, why."""
    judge = Judge(gap)
    remote = tuple(name for name in ANSWERING if name not in LOCAL)
    cases = _set(remote)
    if whole:
        cases = [*(case for case in combinations() if case.answering in remote), *_set(LOCAL)]
    with tempfile.TemporaryDirectory() as scratch, judging(judge, Path(scratch) if whole else None) as who:
        for case in cases:
            why = who[case.answering].cannot(case)
            folder = Path(scratch, "run")
            yield case, run_combination(case, folder, who[case.answering], judge) if why is None else why
            shutil.rmtree(folder, ignore_errors=True)


def _set(names: tuple[str, ...]) -> list[Combination]:
    return [Combination(*row) for row in covering([list(VARIED), list(names), list(ASKED), list(DECIDED)])]


def page(found: dict[tuple[Combination, float], Outcome | str]) -> str:
    """Return the page: a table for each who answers, then the reasons by their numbers."""
    reasons: list[str] = []
    run, missed, tables = 0, 0, []
    for answering in ANSWERING:
        lines = ["| varied | asked | " + " | ".join(DECIDED) + " |", "|---|---|" + "---|" * len(DECIDED)]
        for varied in VARIED:
            for asked in ASKED:
                cells = []
                for decided in DECIDED:
                    both = [
                        found.get((Combination(varied, answering, asked, decided), gap)) for gap in (GAP, 0.0)
                    ]
                    cells.append(_cell([one for one in both if one is not None], reasons))
                    intervals = [
                        o.found[0] for o in both if isinstance(o, Outcome) and o.found and o.found[0].measured
                    ]
                    run += len(intervals)
                    missed += sum(not one.covers for one in intervals)
                if any(cells):
                    lines.append(f"| {varied} | {asked} | " + " | ".join(cells) + " |")
        tables.append(f"## {answering[0].upper()}{answering[1:]}\n\n" + "\n".join(lines) + "\n")
    told = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    shown = (
        f"\n{run - missed} of {run} intervals hold what was planted ({1 - missed / max(run, 1):.1%}; by chance "
        "alone about 95%). In the tables: `yes` both the bias and the control are recovered; `missed` one of "
        "the two intervals misses; a number is the reason of a refusal, listed at the end; empty was not run.\n\n"
    )
    return f"{HEAD}{shown}" + "\n".join(tables) + f"\n## Reasons\n\n{told}\n"


def _cell(both: list[Outcome | str], reasons: list[str]) -> str:
    said = []
    for one in both:
        if isinstance(one, str):
            said.append(_number(f"Not built: {one}.", reasons))
        elif one.fault is not None or one.late:
            said.append("FAULT")
        elif one.refused is not None:
            said.append(_number(_plain(one.refused), reasons))
        else:
            said.append("yes" if one.found[0].covers else "missed" if one.found[0].measured else "no spread")
    return "missed" if "missed" in said else ", ".join(dict.fromkeys(said))


def _number(reason: str, reasons: list[str]) -> str:
    if reason not in reasons:
        reasons.append(reason)
    return str(1 + reasons.index(reason))


def _plain(refused: str) -> str:
    """Return a reason without the path of this run, and without the backend, task or pool that it met."""
    said = re.sub(r"^\S+\.yaml: (spec: )?", "", refused)
    said = re.sub(r"\bpool \S+:", "pool P:", said)
    said = re.sub(
        r"backend (openai|openai_batch|http|transformers|embedding) gives none", "backend B gives none", said
    )
    return said.replace("{{", "`{{").replace("}}", "}}`")


def main(target: str, *, whole: bool) -> None:
    """Run all of it and write the page."""
    os.environ[KEY_NAME] = KEY
    os.fsync = lambda _: None
    found: dict[tuple[Combination, float], Outcome | str] = {}
    for gap in (GAP, 0.0):
        for case, outcome in outcomes(gap, whole=whole):
            found[case, gap] = outcome
            if isinstance(outcome, Outcome) and (outcome.fault or outcome.late):
                print(f"{case}, gap {gap}: {outcome.fault or outcome.refused}", file=sys.stderr, flush=True)
    Path(target).write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], whole="--all" in sys.argv)
