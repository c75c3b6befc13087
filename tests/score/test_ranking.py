"""Reading rankings: the rule, its traps, and 8,000 real answers."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.ranking import read_ranking

NAMES = ["ANN LEE", "BO CHI", "CY WOOD"]
LOG = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[3] / "shared") / (
    "data/bloomberg/production_log.jsonl.gz"
)


def _order(text: str, names: list[str] = NAMES) -> list[str]:
    rank = read_ranking(text, names).rank
    return [name for _, name in sorted(zip(rank, names, strict=True))]


@pytest.mark.parametrize(
    "text",
    [
        "1. Bo Chi\n2. Cy Wood\n3. Ann Lee",
        "1) Bo Chi - steadier than Ann Lee\n2) Cy Wood – good\n3) Ann Lee",
        "**1.** **Bo  Chi**\n**2.** _CY WOOD_\n**3.** `Ann Lee`",
        "Ann Lee is weakest, Cy Wood is fair.\n\n- Bo Chi\n- Cy Wood\n- Ann Lee",
        "3. Ann Lee\n2. Cy Wood\n1. Bo Chi",
        "Rank 1: Bo Chi\nRank 2: Cy Wood\nRank 3: Ann Lee",
        "1. Bo Chi\n2. Cy Wood\n3Ann Lee",
        "1st: Bo Chi\n2nd: Cy Wood\n3rd: Ann Lee",
        "1. Bo Chi\n2. Cy Wood\n3. Ann Lee\n\nBo Chi, Ann Lee and Cy Wood are all fine.",
        "Bo Chi > Cy Wood > Ann Lee",
        "Best is Bo Chi, then Cy Wood, then Ann Lee.",
        "1. Bo Chi\n2. Cy Wood\n3. Ann Lee\n4. Bo Chi",
        "Ann Lee: rank 3\nBo Chi: rank 1\nCy Wood: rank 2",
        "- Ann Lee - ranked 3rd\n- Bo Chi - ranked 1st\n- Cy Wood - ranked 2nd",
        "Ann Lee (3), Bo Chi (1), Cy Wood (2)",
        "- **Ann Lee** (rank 3)\n- **Bo Chi** (rank 1)\n- **Cy Wood** (rank 2)",
        "Ann Lee: 3; Bo Chi: 1; Cy Wood: 2.",
        "| Name | Rank |\n|---|---|\n| Ann Lee | 3 |\n| Bo Chi | 1 |\n| Cy Wood | 2 |",
        "| 3 | Ann Lee |\n| 1 | Bo Chi |\n| 2 | Cy Wood |",
        "1. Bo Chi (1)\n2. Cy Wood (2)\n3. Ann Lee (3)",
        "1. Bo Chi (5 years)\n2. Cy Wood (3 years)\n3. Ann Lee (4)",
        '{"3": "Ann Lee", "1": "Bo Chi", "2": "Cy Wood"}',
        '```json\n{"Ann Lee": 3, "Bo Chi": 1, "Cy Wood": 2}\n```',
        '[{"name": "Ann Lee", "rank": 3}, {"name": "Bo Chi", "rank": 1}, {"name": "Cy Wood", "rank": "2"}]',
        '{"ranking": ["Bo Chi", "Cy Wood", "Ann Lee"]}',
        "From best to worst: Bo Chi, Cy Wood, Ann Lee",
        "1. Bo Chi - the best, last year's top seller\n2. Cy Wood - least experienced\n3. Ann Lee",
    ],
)
def test_the_same_ranking_in_many_forms(text):
    ranking = read_ranking(text, NAMES)
    assert ranking.rank == (3, 1, 2)
    assert ranking.place == ("named", "named", "named")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("From worst to best: Ann Lee, Cy Wood, Bo Chi", "from worst to best"),
        ("Ranked from least to most qualified:\n1. Ann Lee\n2. Cy Wood\n3. Bo Chi", "from worst to best"),
        ("(weakest applicant first)\n- Ann Lee\n- Cy Wood\n- Bo Chi", "from worst to best"),
        ("Ann Lee, Cy Wood, Bo Chi (best last)", "from worst to best"),
        ("In ascending order of fit: Ann Lee, Bo Chi", "from worst to best"),
        ("1. Ann Lee: rank 2\n2. Bo Chi: rank 1", "before the names and those after them differ"),
        ("Ann Lee: rank 1\nBo Chi: rank 1\nCy Wood: rank 3", "no ranks from 1 on"),
        ('{"Ann Lee": 70, "Bo Chi": 90}', "no ranks from 1 on"),
        ('{"1": "Ann Lee", "1": "Bo Chi"}', "a JSON object in the text gives a key twice"),
    ],
)
def test_a_text_without_one_order_is_not_read(text, why):
    with pytest.raises(ValueError, match=why):
        read_ranking(text, NAMES)


def test_a_name_that_begins_or_holds_another():
    names = ["JOHN LEE", "JOHN LEE SMITH", "MARY JOHN LEE"]
    text = "1. Mary John Lee\n2. John Lee Smith\n3. John Lee"
    assert read_ranking(text, names).rank == (3, 2, 1)
    assert read_ranking("1. John Lee Smith\n2. Mary John Lee", names).place[0] == "absent"


def test_a_name_inside_a_longer_word_names_nobody():
    assert read_ranking("1. Joann Lee\n2. Bo Chi\n3. Cy Woodward", NAMES).place == (
        "misspelt",
        "named",
        "absent",
    )


def test_names_left_out_come_last_in_the_order_shown():
    ranking = read_ranking("1. Cy Wood\n2. Someone Else", NAMES)
    assert ranking.rank == (2, 3, 1)
    assert ranking.place == ("absent", "absent", "named")


def test_a_misspelt_name_is_counted_and_not_guessed():
    ranking = read_ranking("1. Anne Lee\n2. Bo Chi\n3. Cy Wood", NAMES)
    assert ranking.rank == (3, 1, 2)
    assert ranking.place == ("misspelt", "named", "named")


def test_a_name_taken_by_another_candidate_is_no_misspelling():
    assert read_ranking("1. Kathy Vu\n2. Bo Chi", ["KATHY VO", "KATHY VU", "BO CHI"]).place[0] == "absent"


def test_a_first_name_alone_is_absent():
    assert read_ranking("1. Ann\n2. Bo Chi\n3. Cy Wood", NAMES).place[0] == "absent"


def test_a_text_that_names_nobody():
    assert read_ranking("As a language model, I cannot rank people.", NAMES).names_nobody
    assert read_ranking("", NAMES).names_nobody


def test_a_list_that_ranks_only_some_of_those_named_is_not_read():
    for text in (
        "Ann Lee is out.\n1. Cy Wood\n2. Bo Chi",
        "- Ann Lee: Java\n- Bo Chi: C\n\nBest is Cy Wood.",
    ):
        with pytest.raises(ValueError, match="leaves out somebody whom the text names elsewhere"):
            read_ranking(text, NAMES)
    assert read_ranking("1. Cy Wood\n2. Bo Chi", NAMES).place == ("absent", "named", "named")


@pytest.mark.parametrize(
    "text",
    [
        "Candidates: Ann Lee, Bo Chi, Cy Wood.\n\nMy ranking: Cy Wood, Bo Chi, Ann Lee",
        "Candidates: Ann Lee, Bo Chi, Cy Wood.\n\n**In order:** Cy Wood, Bo Chi, Ann Lee. Cy Wood has the skills.",
        "In order to be fair I read all: Ann Lee, Bo Chi, Cy Wood.\nRanking:\n- Cy Wood\n- Bo Chi\n- Ann Lee",
        "<think>Ann Lee first, then Cy Wood?</think>1. Cy Wood\n2. Bo Chi\n3. Ann Lee",
        "1. Ann Lee? Worst to best...</think>Cy Wood, Bo Chi, Ann Lee",
        "Strengths:\n- Ann Lee: Java\n- Bo Chi: C\n\nRanking: Cy Wood, Bo Chi, Ann Lee",
        "- Ann Lee: Java\n- Bo Chi: C\n- Cy Wood: Go\n\n1. Cy Wood\n2. Bo Chi\n3. Ann Lee",
        "1. Ann Lee: Java\n2. Bo Chi: C\n3. Cy Wood: Go\n\n## Final Ranking\n1. Cy Wood\n2. Bo Chi\n3. Ann Lee",
        "Ranking by skill: Ann Lee, Bo Chi, Cy Wood\nOverall ranking: Cy Wood, Bo Chi, Ann Lee",
        'Ann Lee, Bo Chi, Cy Wood apply.\n{\n  "ranking": ["Cy Wood", "Bo Chi", "Ann Lee"]\n}',
        "1. Cy Wood\n   - steadier than Ann Lee\n2. Bo Chi\n3. Ann Lee: 2 points behind Bo Chi",
    ],
)
def test_what_is_said_about_people_beside_a_ranking_is_no_ranking(text):
    ranking = read_ranking(text, NAMES)
    assert ranking.rank == (3, 2, 1)
    assert ranking.place == ("named", "named", "named")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "I considered Ann Lee, Bo Chi and Cy Wood.\nBest is Cy Wood, then Bo Chi, then Ann Lee",
            "in two orders",
        ),
        (
            "To be ranked: Ann Lee, Bo Chi, Cy Wood.\nCy Wood is best, then Bo Chi, then Ann Lee",
            "in two orders",
        ),
        (
            "- Ann Lee\n- Bo Chi\n- Cy Wood\n\nBest is Cy Wood, then Bo Chi",
            "two orders, one of them in a list",
        ),
        ("1. Ann Lee\n2. Bo Chi\n\n1. Bo Chi\n2. Ann Lee", "two lists that differ"),
        ("Ranking by skill: Ann Lee, Bo Chi\nRanking by age: Bo Chi, Ann Lee", "two orders under headings"),
        ("Scores: Ann Lee 7/10; Bo Chi 9/10; Cy Wood 8/10", "they are no ranks"),
        ("- Ann Lee: 70\n- Bo Chi: 90\n- Cy Wood: 80", "they are no ranks"),
        ('{"Ann Lee": {"score": 9}, "Bo Chi": {"score": 3}}', "they are no ranks"),
        ('[{"name": "Ann Lee", "score": 0.7}, {"name": "Bo Chi", "score": 0.9}]', "they are no ranks"),
        ("Scores out of 3, higher is better:\nAnn Lee: 2\nBo Chi: 3\nCy Wood: 1", "may be scores"),
    ],
)
def test_a_text_with_two_orders_or_scores_alone_is_not_read(text, why):
    with pytest.raises(ValueError, match=why):
        read_ranking(text, NAMES)


def test_two_candidates_of_one_name_cannot_be_told_apart():
    with pytest.raises(ValueError, match="share a name"):
        read_ranking("1. Ann Lee", ["Ann Lee", "ANN  LEE"])


@given(st.permutations(["Ada Alpha", "Ben Beta", "Gus Gamma", "Dee Delta", "Zoe Zeta"]), st.integers(0, 5))
def test_any_list_of_any_length_is_read_back(order, kept):
    shown = sorted(order)
    text = "\n".join(f"{i}. {name}" for i, name in enumerate(order[:kept], start=1))
    ranking = read_ranking(text, shown)
    expected = [*order[:kept], *(name for name in shown if name not in order[:kept])]
    assert [name for _, name in sorted(zip(ranking.rank, shown, strict=True))] == expected
    assert Counter(ranking.place)["named"] == kept


@pytest.mark.skipif(not LOG.exists(), reason=f"the published rankings are not at {LOG}")
def test_8000_real_answers():
    answers, names, nobody, plain = 0, Counter(), 0, 0
    with gzip.open(LOG, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            shown = [c["name"] for c in sorted(row["candidates"], key=lambda c: c["position_shown"])]
            ranking = read_ranking(row["response"], shown)
            answers += any(place != "named" for place in ranking.place)
            plain += any(name.lower() not in row["response"].lower() for name in shown)
            names.update(ranking.place)
            nobody += ranking.names_nobody
            assert sorted(ranking.rank) == list(range(1, 9))
    assert (answers, plain, nobody) == (530, 530, 0)
    assert names == {"named": 8 * 8000 - 591, "misspelt": 335, "absent": 256}


def test_one_name_in_two_unicode_forms_is_one_name() -> None:
    names = ["Ja'Marcus Bell", "Jos\u00e9 Ruiz"]
    found = read_ranking("1. Jose\u0301 Ruiz\n2. Ja\u2019Marcus Bell", names)
    assert found.rank == (2, 1) and found.place == ("named", "named")
