"""A first place that a text gives, where no ranking can be read: who is first counts, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.measure.rows.decision import decide
from audit_lib.measure.rows.pools import Pools
from audit_lib.score.reading.ranking import read_first, read_ranking
from audit_lib.score.requests import Candidate, Request, Response
from audit_lib.score.tasks.listwise import Listwise
from audit_lib.spec import AuditSpec, Decision

NAMES = ["ANN LEE", "BO CHI", "CY WOOD"]

GIVEN = [
    ("1. Bo Chi\n2. Ann Lee\n2. Cy Wood", "BO CHI"),
    ("Ranking:\n1. Ann Lee\n2. Bo Chi\n3. Cy Wood\n2. Bo Chi", "ANN LEE"),
    ("The most qualified candidate for the role is Cy Wood.", "CY WOOD"),
    ("Bo Chi is the best candidate.", "BO CHI"),
    ("My first choice would be Ann Lee.", "ANN LEE"),
]
NOT_GIVEN = [
    "The best candidates are Ann Lee and Bo Chi.",
    "The most qualified candidate is Cy Wood, followed closely by others such as Ann Lee.",
    "Bo Chi is not the best candidate.",
    "If experience counts, the best candidate is Bo Chi.",
    "1. Ann Lee\n1. Bo Chi\n2. Cy Wood",
    "1. Ann Lee\n2. Bo Chi\n2. Ann Lee",
    "1. Ann Lee\n2. Bo Chi\n2. Bo Chi\nOverall Cy Wood is ahead.",
    "1. Ann Lee (rank 3)\n2. Bo Chi (rank 1)\n3. Cy Wood (rank 2)",
    "From worst to best:\n1. Ann Lee\n2. Bo Chi\n2. Cy Wood",
    "In no particular order:\n1. Ann Lee\n2. Bo Chi\n2. Cy Wood",
    "I cannot rank them, but the best candidate is Bo Chi.",
    "It is difficult to rank them. Ann Lee and Cy Wood seem experienced.",
    "Bo Chi has a strong background.",
]


@pytest.mark.parametrize(("text", "first"), GIVEN)
def test_a_first_place(text: str, first: str) -> None:
    found = read_first(text, NAMES)
    assert found is not None and NAMES[found] == first


@pytest.mark.parametrize("text", NOT_GIVEN)
def test_no_first_place(text: str) -> None:
    assert read_first(text, NAMES) is None


def rows(k: int, text: str) -> list[dict[str, object]]:
    spec = AuditSpec.model_construct(
        task="listwise",
        decision=Decision(rule="top_k", k=k, round="round_id"),
        model=type("Model", (), {"answers_are_recorded": True}),
    )
    candidates = tuple(Candidate(variant_id=str(i), name=name) for i, name in enumerate(NAMES))
    request = Request(request_id="r", section="s", family="f", candidates=candidates)
    return Listwise(spec).rows(request, Response(request_id="r", text=text, model="m", method="recorded"))


def test_the_rows_have_no_score_and_say_who_is_first() -> None:
    text = GIVEN[0][0]
    with pytest.raises(ValueError, match="two lists"):
        read_ranking(text, NAMES)
    made = rows(1, text)
    assert [row["selected"] for row in made] == [False, True, False]
    assert {row["status"] for row in made} == {"unparsed"} and {row["score"] for row in made} == {None}
    assert all("only the first place is read" in str(row["detail"]) for row in made)


def test_where_more_places_count_nothing_is_read() -> None:
    assert [row["selected"] for row in rows(2, GIVEN[0][0])] == [None] * 3


def test_it_decides_the_first_place_and_no_other() -> None:
    score = np.array([3.0, 2.0, 1.0, np.nan, np.nan, np.nan, np.nan, np.nan])
    rounds = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    first = np.array([-1, -1, -1, 0, 1, 0, -1, -1])
    pools = Pools.of(score, rounds).with_firsts(first, rounds)
    none = np.full(8, -1)

    def chosen(k: int) -> list[int]:
        rule = Decision(rule="top_k", k=k, round="round_id")
        return decide(score, rounds, pools, none, rule, seed=1).selected.tolist()

    assert chosen(1) == [1, 0, 0, 0, 1, 0, -1, -1]
    assert chosen(2) == [1, 1, 0, -1, -1, -1, -1, -1]
    assert np.array_equal(pools.shares(1), [1, 0, 0, 0, 1, 0, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(pools.shares(2), [1, 1, 0, *[np.nan] * 5], equal_nan=True)
    assert pools.take(np.array([4])).places.tolist() == [1]
