"""Every combination of what is varied, who answers, what is asked and who is selected, with a planted bias.

Each is recovered inside its interval or refused before anybody is asked, by a message that names the key to change. A
95% interval misses now and then: how many of all may miss is a binomial bound over the combinations, which were
drawn once, each with people of its own.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from scipy import stats

from audit_lib.backends import BACKENDS
from audit_lib.perturb import PERTURBATIONS
from audit_lib.score.requests import elicitation
from audit_lib.spec import AuditSpec
from audit_lib.spec.experiment import Manipulation, Robustness
from audit_lib.spec.outcome import Decision
from audit_lib.spec.perturb import Perturb
from tests.combinations.axes import ANSWERING, ASKED, DECIDED, VARIED
from tests.combinations.biased_judge import Judge
from tests.combinations.covering import covering
from tests.combinations.planted import (
    GAP,
    Combination,
    Found,
    Outcome,
    combinations,
    run_combination,
)
from tests.combinations.who_answers import KEY, KEY_NAME, judging

LOCAL = ("transformers", "embedding")
"""Who answers in a process of its own, which takes seconds to start: for the slow tests."""
NOT_COMBINED = {"vllm", "vllm_server"}
"""Backends that have no answering side here: nothing is shown of them by these tests."""
CHANCE = 1e-3
"""Chance at which the number of intervals that miss is called no chance."""
SIZES = {
    "names_per_cell", "minimum_first_share", "minimum_last_share", "unique_first_names", "names_per_group", "fields",
    "no_mention", "block_size",
}  # fmt: skip
"""Keys of `perturb` that choose rows of a table, or words, and make no version of another kind."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_NAME, KEY)


def cases(names: tuple[str, ...]) -> list[Combination]:
    """Return combinations in which every two values of two axes come together, of some who answer."""
    return [Combination(*row) for row in covering([list(VARIED), list(names), list(ASKED), list(DECIDED)])]


def outcomes(
    folder: Path, cases: list[Combination], gap: float, local: bool = False
) -> Iterator[tuple[Combination, Outcome]]:
    """Yield what becomes of each combination that can be built."""
    judge = Judge(gap)
    with judging(judge, folder if local else None) as who:
        for number, case in enumerate(cases):
            if who[case.answering].cannot(case) is None:
                yield case, run_combination(case, folder / str(number), who[case.answering], judge)
                shutil.rmtree(folder / str(number))


def held(found: list[tuple[Combination, Outcome]]) -> tuple[int, int]:
    """Return how many combinations were run, and how many of them miss; each counts once, by its first metric."""
    first: list[Found] = [o.found[0] for _, o in found if o.found and o.found[0].measured]
    return len(first), sum(not one.covers for one in first)


def check(found: list[tuple[Combination, Outcome]]) -> None:
    """Check that each is recovered or refused, and that no more intervals miss than chance allows."""
    faults = [f"{case}: {outcome.fault}" for case, outcome in found if outcome.fault]
    assert not faults, "\n".join(faults)
    late = [f"{case}: {outcome.refused}" for case, outcome in found if outcome.late]
    assert not late, "refused after the model was asked:\n" + "\n".join(late)
    unhelpful = [f"{case}: {o.refused}" for case, o in found if o.refused and not names_a_key(o.refused)]
    assert not unhelpful, "a refusal that names no key of the spec:\n" + "\n".join(unhelpful)
    run, missed = held(found)
    assert missed <= stats.binom.ppf(1 - CHANCE, run, 0.05), f"{missed} of {run} intervals miss"


def names_a_key(message: str) -> bool:
    """Tell whether a refusal says which key of the spec it is about, or which section, at its beginning."""
    sections = "|".join(AuditSpec.model_fields)
    at_first = re.match(rf"(?:\S+\.yaml: (?:spec: )?)?(?:the spec has no )?({sections}|backend)\b", message)
    return at_first is not None or re.search(rf"\b({sections})\.\w+", message) is not None


def test_every_registered_part_is_combined() -> None:
    assert {one.perturb["kind"] for one in VARIED.values() if one.perturb} == set(PERTURBATIONS.names())
    used = {key for one in VARIED.values() for key in one.perturb or {}}
    assert used | SIZES == set(Perturb.model_fields), "a key of perturb is combined with nothing"
    designs = {one.perturb.get("design", "full") for one in VARIED.values() if one.perturb}
    # A balanced incomplete design of two groups is the full one.
    assert designs | {"balanced_incomplete"} == set(get_args(Perturb.model_fields["design"].annotation))
    sections = {key: keys for one in VARIED.values() for key, keys in one.sections.items()}
    assert set(sections["robustness"]) == set(Robustness.model_fields)
    assert set(sections["manipulation"]) <= set(Manipulation.model_fields)
    shipped = [
        name for name in BACKENDS.names() if name not in BACKENDS.plugins.names() and name != "hashing"
    ]
    assert {*ANSWERING.values(), *NOT_COMBINED} >= {
        n for n in shipped if BACKENDS.get(n).__module__.startswith("audit_lib.")
    }
    assert {one.task for one in ASKED.values()} == set(elicitation.names())
    rules = {
        (decide(ASKED["pointwise"], VARIED["names"]) or {"rule": "none"})["rule"]
        for decide in DECIDED.values()
    }
    assert rules == set(get_args(Decision.model_fields["rule"].annotation))
    rounds = {
        (decide(ASKED["pointwise"], VARIED["names"]) or {}).get("round") for decide in DECIDED.values()
    } - {None}
    named = {
        value for part in get_args(Decision.model_fields["round"].annotation) for value in get_args(part)
    }
    assert rounds == named


@pytest.mark.parametrize("gap", [GAP, 0.0], ids=["biased", "control"])
def test_two_of_any_axes_are_recovered_or_refused(tmp_path: Path, gap: float) -> None:
    found = list(outcomes(tmp_path, cases(tuple(name for name in ANSWERING if name not in LOCAL)), gap))
    check(found)
    assert held(found)[0] > 10, "most combinations were refused, so hardly anything was measured"


@pytest.mark.slow  # all that one side is asked: some minutes each
@pytest.mark.parametrize("gap", [GAP, 0.0], ids=["biased", "control"])
@pytest.mark.parametrize("answering", [name for name in ANSWERING if name not in LOCAL])
def test_every_combination_is_recovered_or_refused(tmp_path: Path, answering: str, gap: float) -> None:
    check(list(outcomes(tmp_path, [case for case in combinations() if case.answering == answering], gap)))


@pytest.mark.slow  # a process of its own that loads a model, for each combination
@pytest.mark.parametrize("gap", [GAP, 0.0], ids=["biased", "control"])
def test_local_models_are_recovered_or_refused(tmp_path: Path, gap: float) -> None:
    found = list(outcomes(tmp_path, cases(LOCAL), gap, local=True))
    check(found)
    assert held(found)[0]
