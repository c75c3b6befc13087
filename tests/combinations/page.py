"""Runs every combination and writes the reference page.

``python -m tests.combinations.page docs/reference/combinations.md [--all] [--kept FILE.jsonl] [--part 1/2]``

Without ``--all`` servers and logs answer a set of combinations in which every two values of two axes come together, as
in the fast tests; with it they answer all, which takes half an hour of one core or more. Each is asked twice: with the
planted bias and without; one that is refused before anybody is asked is refused twice. ``--kept`` keeps what became of
each, so that a run goes on where it was stopped; with ``--part`` several processes share the work and write no page,
which a last run without it does from their files (``--kept`` may be given several times).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Final

from tests.combinations.axes import ANSWERING, ASKED, DECIDED, VARIED
from tests.combinations.biased_judge import Judge
from tests.combinations.covering import covering
from tests.combinations.planted import (
    APPLICATIONS,
    GAP,
    Combination,
    Found,
    Outcome,
    combinations,
    run_combination,
)
from tests.combinations.who_answers import KEY, KEY_NAME, judging

LOCAL: Final = ("transformers", "embedding")
Outcomes = dict[tuple[Combination, float], Outcome | str]
HEAD: Final = f"""# Combinations

Combinations of what is varied, who answers, what is asked and who is selected, run by the library's tests
(`tests/combinations`) with a planted bias. Who answers knows a group by what stands in the prompt alone, and values it
{GAP} standard deviations below the reference; a control has no bias. {APPLICATIONS} applications each.
A combination is recovered if its first metric's 95% interval holds what was planted. One in twenty may miss by chance.

This page is made by `python -m tests.combinations.page docs/reference/combinations.md --all`. Servers and logs answer
every combination; local models, whose process takes seconds to start, are not on it. Without `--all` it holds a set in
which every two values of two axes come together. The backends `vllm` and `vllm_server` are in none.
"""


def cases_of(*, whole: bool) -> list[Combination]:
    """Return the combinations that are run."""
    remote = tuple(name for name in ANSWERING if name not in LOCAL)
    if not whole:
        return _set(remote)
    return [case for case in combinations() if case.answering in remote]


def outcomes(gap: float, cases: Sequence[Combination]) -> Iterator[tuple[Combination, Outcome | str]]:
    """Yield what becomes of each combination; of one that cannot be built by hand, why."""
    judge = Judge(gap)
    with tempfile.TemporaryDirectory() as scratch, judging(judge) as who:
        for case in cases:
            why = who[case.answering].cannot(case)
            folder = Path(scratch, "run")
            yield case, run_combination(case, folder, who[case.answering], judge) if why is None else why
            shutil.rmtree(folder, ignore_errors=True)


def _set(names: tuple[str, ...]) -> list[Combination]:
    return [Combination(*row) for row in covering([list(VARIED), list(names), list(ASKED), list(DECIDED)])]


def page(found: Outcomes) -> str:
    """Return the page: a table for each who answers, then the reasons by their numbers."""
    reasons: list[str] = []
    run, missed, tables = 0, 0, []
    for answering in (name for name in ANSWERING if name not in LOCAL):
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
        r"backend (openai|openai_batch|pydantic_ai|http|transformers|embedding) gives none",
        "backend B gives none",
        said,
    )
    return said.replace("{{", "`{{").replace("}}", "}}`")


def kept(path: Path) -> Outcomes:
    """Read what an earlier run kept."""
    found: Outcomes = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        one = json.loads(line)
        became = one["became"]
        if not isinstance(became, str):
            became = Outcome(**became | {"found": tuple(Found(**e) for e in became["found"])})
        found[Combination(*one["case"]), one["gap"]] = became
    return found


def run(found: Outcomes, cases: Sequence[Combination], file: Path | None) -> None:
    """Run the combinations that are not among the found, and keep what becomes of each."""
    for gap in (GAP, 0.0):
        missing = [case for case in cases if (case, gap) not in found]
        if gap == 0.0:
            missing = [case for case in missing if not _same(found.get((case, GAP)))]
        for number, (case, became) in enumerate(outcomes(gap, missing) if missing else (), start=1):
            found[case, gap] = became
            if isinstance(became, Outcome) and (became.fault or became.late):
                print(f"{case}, gap {gap}: {became.fault or became.refused}", file=sys.stderr, flush=True)
            if number % 100 == 0:
                print(f"gap {gap}: {number} of {len(missing)}", file=sys.stderr, flush=True)
            if file is not None:
                told = became if isinstance(became, str) else asdict(became)
                line = {"case": astuple(case), "gap": gap, "became": told}
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(line) + "\n")


def _same(biased: Outcome | str | None) -> bool:
    """Whether a control would be refused in the same words: nobody was asked, so that no answer differs."""
    return isinstance(biased, str) or (biased is not None and biased.refused is not None and not biased.late)


def main() -> None:
    """Run all of it and write the page."""
    asked = argparse.ArgumentParser(
        description="Run combinations with a planted bias and write the reference page."
    )
    asked.add_argument("page", type=Path)
    asked.add_argument("--all", action="store_true", help="every combination, not a set of them")
    asked.add_argument(
        "--kept", type=Path, action="append", default=[], help="a file that keeps what became of each"
    )
    asked.add_argument(
        "--part", default="1/1", help="which share of the combinations, such as 1/2; writes no page"
    )
    given = asked.parse_args()
    os.environ[KEY_NAME] = KEY
    os.fsync = lambda _: None
    part, parts = map(int, given.part.split("/"))
    found: Outcomes = {}
    for file in given.kept:
        found |= kept(file)
    run(found, cases_of(whole=given.all)[part - 1 :: parts], given.kept[0] if given.kept else None)
    if parts == 1:
        given.page.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
