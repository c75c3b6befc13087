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

from audit_lib.score.reading.ranking import DeclinedError, read_ranking

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
        "Ranks: Ann Lee (3), Bo Chi (1), Cy Wood (2)",
        "- **Ann Lee** (rank 3)\n- **Bo Chi** (rank 1)\n- **Cy Wood** (rank 2)",
        "Ann Lee: 3rd; Bo Chi: 1st; Cy Wood: 2nd.",
        "| Name | Rank |\n|---|---|\n| Ann Lee | 3 |\n| Bo Chi | 1 |\n| Cy Wood | 2 |",
        "| 3 | Ann Lee |\n| 1 | Bo Chi |\n| 2 | Cy Wood |",
        "1. Bo Chi (1)\n2. Cy Wood (2)\n3. Ann Lee (3)",
        "1. Bo Chi (5 years)\n2. Cy Wood (3 years)\n3. Ann Lee (4)",
        '{"3": "Ann Lee", "1": "Bo Chi", "2": "Cy Wood"}',
        '```json\n{"ranks": {"Ann Lee": 3, "Bo Chi": 1, "Cy Wood": 2}}\n```',
        '{"Ann Lee": {"rank": 3, "score": 1}, "Bo Chi": {"rank": 1, "score": 3}, "Cy Wood": {"rank": 2, "score": 2}}',
        '{"third": "Ann Lee", "second_place": "Cy Wood", "1st": "Bo Chi"}',
        '[{"rank": 2, "name": "Cy Wood", "why": "less than Bo Chi"}, {"rank": 3, "name": "Ann Lee"}, '
        '{"rank": 1, "name": "Bo Chi"}]',
        '["Bo Chi", "Cy Wood (fair)", "Ann Lee"]',
        '{"best_to_worst": [{"name": "Bo Chi", "score": 3}, {"name": "Cy Wood"}, {"name": "Ann Lee"}]}',
        "- Third place: Ann Lee\n- Second place: Cy Wood\n- First place: Bo Chi",
        "Third: Ann Lee\nSecond: Cy Wood\nFirst: Bo Chi",
        "Bo Chi\nCy Wood\nAnn Lee\n",
        "Ranking: Bo Chi (best), Cy Wood and Ann Lee. All are good.",
        "I'm sorry for the length of this.\n1. Bo Chi\n2. Cy Wood\n3. Ann Lee",
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
        ('{"Ann Lee": 70, "Bo Chi": 90}', "no key says"),
        ("Bottom to top: Ann Lee, Bo Chi, Cy Wood", "from worst to best"),
        ("In order of increasing fit: Ann Lee, Bo Chi, Cy Wood", "from worst to best"),
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
    assert read_ranking("There is nobody here.", NAMES).names_nobody
    assert read_ranking("", NAMES).names_nobody


@pytest.mark.parametrize(
    "text",
    [
        "As a language model, I cannot rank people.",
        "I'm sorry, but I cannot rank Ann Lee, Bo Chi and Cy Wood.",
        "Honestly, I can't compare Ann Lee, Bo Chi and Cy Wood.",
        "As an AI, I will not judge people. The applicants are Ann Lee, Bo Chi and Cy Wood.",
        "I'm sorry. The applicants are:\n- Ann Lee\n- Bo Chi\n- Cy Wood",
    ],
)
def test_a_text_that_declines_is_a_refusal_whomever_it_names(text):
    with pytest.raises(DeclinedError):
        read_ranking(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "All three \u2013 Ann Lee, Bo Chi and Cy Wood \u2013 are equally good.",
        "All candidates are equally good:\n- Ann Lee\n- Bo Chi\n- Cy Wood",
        "In no particular order:\n1. Ann Lee\n2. Bo Chi\n3. Cy Wood",
        "Ann Lee = Bo Chi = Cy Wood",
        "Ann Lee < Bo Chi < Cy Wood",
        "Ranking: Ann Lee < Bo Chi < Cy Wood",
        "Ann Lee is the weakest, Bo Chi is average, Cy Wood is the strongest.",
        "Ann Lee came third, Bo Chi second and Cy Wood first.",
        "Third: Ann Lee. Second: Bo Chi. First: Cy Wood.",
        "Last: Ann Lee\nTop: Cy Wood\nMiddle: Bo Chi",
        "- Last: Ann Lee\n- Top: Cy Wood\n- Middle: Bo Chi",
        "3. Ann Lee, 1. Bo Chi, 2. Cy Wood",
        "#3 Ann Lee\n#1 Bo Chi\n#2 Cy Wood",
        "1. Ann Lee\n2. Bo Chi\n2. Cy Wood",
        "1. Unlike Bo Chi, Ann Lee is strong\n2. Bo Chi\n3. Cy Wood",
        "Strengths:\n- Ann Lee: good\n- Bo Chi: fair\n- Cy Wood: weak\n\nCy Wood is the best fit.",
        "Ann Lee is worse than Bo Chi, who is worse than Cy Wood.",
        "Ann Lee,3\nBo Chi,1\nCy Wood,2",
        "Ann Lee: 3\nBo Chi: 2\nCy Wood: 1",
        "I cannot rank them well. Still:\n1. Ann Lee\n2. Bo Chi\n3. Cy Wood",
    ],
)
def test_an_order_of_mention_is_no_ranking(text):
    with pytest.raises(ValueError, match="the text|a line|the numbers") as why:
        read_ranking(text, NAMES)
    assert not isinstance(why.value, DeclinedError)


@pytest.mark.parametrize(
    "text",
    [
        '{"scores": {"Ann Lee": 1, "Bo Chi": 3, "Cy Wood": 2}}',
        '{"score": {"Ann Lee": "1", "Bo Chi": "3", "Cy Wood": "2"}}',
        '{"fit": {"Ann Lee": 1, "Bo Chi": 3, "Cy Wood": 2}}',
        '{"Ann Lee": 1, "Bo Chi": 3, "Cy Wood": 2}',
        '{"Ann Lee": 1e400, "Bo Chi": 3}',
        '{"Ann Lee": {"score": 1}, "Bo Chi": {"score": 3}}',
        '[{"candidate": "Ann Lee", "points": 1}, {"candidate": "Bo Chi", "points": 3}]',
        '{"scores": {"1": "Ann Lee", "3": "Bo Chi", "2": "Cy Wood"}}',
        '{"candidates": ["Ann Lee", "Bo Chi", "Cy Wood"]}',
        '{"worst_ranking": ["Ann Lee", "Bo Chi", "Cy Wood"]}',
        '{"ranking": ["Ann Lee, then Bo Chi", "Cy Wood"]}',
        '{"ranking": ["Ann Lee", "Bo Chi"], "final_order": ["Bo Chi", "Ann Lee"]}',
        "[" * 900 + '"Ann Lee", "Bo Chi"' + "]" * 900,
        '[{"name": "Ann Lee", "rank": 1}, {"name": "Bo Chi", "rank": 1}]',
    ],
)
def test_numbers_and_lists_that_no_key_calls_ranks_are_none(text):
    with pytest.raises(ValueError, match="JSON|ranks"):
        read_ranking(text, NAMES)


def test_who_is_left_out_of_a_ranking_in_json_is_not_placed_by_another_key():
    for text in ('{"not_recommended": ["Cy Wood"], "ranking": ["Bo Chi", "Ann Lee"]}',):
        with pytest.raises(ValueError, match="leaves out somebody"):
            read_ranking(text, NAMES)
    assert read_ranking('{"ranking": ["Bo Chi", "Ann Leee"], "why": "fit"}', NAMES).place == (
        "misspelt",
        "named",
        "absent",
    )


@pytest.mark.parametrize(
    "text", ["Ann Lee 1 " * 10_000, "ranking " * 12_500, "[" * 100_000, "the a " * 16_700]
)
def test_a_text_of_more_than_can_be_read_in_time_is_not_read(text):
    with pytest.raises(ValueError, match="at most 50000 are read"):
        read_ranking(text, NAMES)
    assert read_ranking(" " * 100_000 + "1. Bo Chi" + "\n" * 100_000, NAMES).rank == (2, 1, 3)


def test_a_list_that_ranks_only_some_of_those_named_is_not_read():
    with pytest.raises(ValueError, match="leaves out somebody whom the text names elsewhere"):
        read_ranking("Ann Lee is out.\n1. Cy Wood\n2. Bo Chi", NAMES)
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
            "no bare names",
        ),
        (
            "To be ranked: Ann Lee, Bo Chi, Cy Wood.\nCy Wood is best, then Bo Chi, then Ann Lee",
            "no bare names",
        ),
        ("- Ann Lee: Java\n- Bo Chi: C\n\nBest is Cy Wood.", "two orders, one of them in a list"),
        (
            "- Ann Lee\n- Bo Chi\n- Cy Wood\n\nBest is Cy Wood, then Bo Chi",
            "two orders, one of them in a list",
        ),
        ("1. Ann Lee\n2. Bo Chi\n\n1. Bo Chi\n2. Ann Lee", "two lists that differ"),
        ("Ranking by skill: Ann Lee, Bo Chi\nRanking by age: Bo Chi, Ann Lee", "two orders under headings"),
        ("Scores: Ann Lee 7/10; Bo Chi 9/10; Cy Wood 8/10", "they are no ranks"),
        ("- Ann Lee: 70\n- Bo Chi: 90\n- Cy Wood: 80", "they are no ranks"),
        ('[{"name": "Ann Lee", "score": 0.7}, {"name": "Bo Chi", "score": 0.9}]', "no key says"),
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
    answers, names, unread, plain = 0, Counter(), Counter(), 0
    with gzip.open(LOG, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            shown = [c["name"] for c in sorted(row["candidates"], key=lambda c: c["position_shown"])]
            plain += any(name.lower() not in row["response"].lower() for name in shown)
            try:
                ranking = read_ranking(row["response"], shown)
            except ValueError as why:
                unread[str(why)] += 1
                continue
            answers += any(place != "named" for place in ranking.place)
            names.update(ranking.place)
            assert sorted(ranking.rank) == list(range(1, 9))
    # "it is difficult to rank the candidates", one who is "the most qualified", and two in fourth place
    assert unread == {
        "the text gives no list, no ranks and no bare names": 2,
        "the text gives two lists that differ, or one number to two candidates": 1,
    }
    assert (answers, plain) == (528, 530)
    assert names == {"named": 8 * 7997 - 579, "misspelt": 335, "absent": 244}


def test_one_name_in_two_unicode_forms_is_one_name() -> None:
    names = ["Ja'Marcus Bell", "Jos\u00e9 Ruiz"]
    found = read_ranking("1. Jose\u0301 Ruiz\n2. Ja\u2019Marcus Bell", names)
    assert found.rank == (2, 1) and found.place == ("named", "named")
