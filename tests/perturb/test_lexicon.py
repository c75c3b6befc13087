"""Words of one group exchanged for another's: whole tokens, case kept, nothing else touched."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import LexiconError
from audit_lib.metrics.text import mask_protected_words
from audit_lib.perturb.lexicon import NOTES, SwapLexicon
from tests.specs import INCLUDE

SEX = {"sex": ["female", "male"]}
PAIRS = {
    "she": "he",
    "woman": "man",
    "women": "men",
    "herself": "himself",
    "young woman": "young man",
    "Ms.": "Mr.",
}
SWAP = SwapLexicon.of({"sex": [{"female": f, "male": m} for f, m in PAIRS.items()]}, SEX)
BOTH = {**PAIRS, **{m: f for f, m in PAIRS.items()}}
TERMS = INCLUDE / "lexicons" / "terms"


def swapped(text: str, level: str, swap: SwapLexicon = SWAP) -> str:
    return swap.parse(text).render({"sex": level})


@pytest.mark.parametrize(
    ("text", "male"),
    [
        ("She leads. she SHE shed s-he-r, ashes", "He leads. he HE shed s-he-r, ashes"),
        (
            "women's rights; the woman, (woman) \u201cWOMAN\u201d",
            "men's rights; the man, (man) \u201cMAN\u201d",
        ),
        (
            "she\u2019s here, she's not; she_x she2 2she sh\u00e9",
            "he\u2019s here, he's not; he_x she2 2she sh\u00e9",
        ),
        ("she\u0301 shee\u0301 \u00e9she", "she\u0301 shee\u0301 \u00e9she"),
        (
            "Young woman, Young Woman, YOUNG WOMAN, young\n  woman",
            "Young man, Young Man, YOUNG MAN, young man",
        ),
        ("younger woman, young womanly", "younger man, young womanly"),
        ("Ms. Hu, MS. HU, ms. hu, Ms Hu", "Mr. Hu, MR. HU, mr. hu, Ms Hu"),
        (
            "\t a\r\n\u00a0she \u3042 \U0001f600 herself\u2026",
            "\t a\r\n\u00a0he \u3042 \U0001f600 himself\u2026",
        ),
        ("nothing to exchange", "nothing to exchange"),
        ("", ""),
    ],
)
def test_words_become_their_counterparts(text: str, male: str) -> None:
    assert swapped(text, "male") == male


def test_swaps_are_never_chained_and_one_level_gets_all() -> None:
    assert swapped("she and he, he and she", "male") == "he and he, he and he"
    cyclic = SwapLexicon.of(
        {"g": [{"a": "red", "b": "blue"}, {"a": "green", "b": "white"}]}, {"g": ["a", "b"]}
    )
    assert cyclic.parse("red blue green white").render({"g": "b"}) == "blue blue white white"


def test_a_text_is_its_own_variant_for_the_group_that_it_mentions() -> None:
    text = "SHE wrote: \u201cthe Woman herself\u201d \u2013 she\u2019d  know.\r\n"
    assert swapped(text, "female") == text
    assert SWAP.parse(text).render({}) == text


WORDS = st.sampled_from(
    [*BOTH, "She", "HE", "Woman", "here", "x", "Sheila", "1he", "mankind", "na\u00efve", "e\u0301"]
)
GAPS = st.sampled_from([" ", ", ", "-", "'", "\n", "\u2014", "\t", "  ", "; ", ""])


@settings(max_examples=300)
@given(st.lists(st.tuples(WORDS, GAPS), max_size=12))
def test_exactly_what_masking_finds_is_replaced_and_every_other_character_stays(
    parts: list[tuple[str, str]],
) -> None:
    text = "".join(word + gap for word, gap in parts)
    parsed = SWAP.parse(text)
    assert "".join(parsed.pieces) == text
    places = {place for place, _ in parsed.mentions.get("sex", ())}
    masked = "".join("\ue000" if number in places else piece for number, piece in enumerate(parsed.pieces))
    assert mask_protected_words([text], list(BOTH), mask="\ue000") == [masked]
    there, back = swapped(text, "male"), swapped(swapped(text, "male"), "female")
    assert swapped(there, "male") == there  # nothing of the other group is left
    assert swapped(back, "male") == there


@given(st.lists(st.sampled_from(["she", "her", "and", "saw", "Woman", "WOMEN"]), max_size=10))
def test_the_same_words_by_a_regular_expression(words: list[str]) -> None:
    text = " ".join(words)

    def other(match: re.Match[str]) -> str:
        own = match[0]
        word = PAIRS[own.lower()]
        return word.upper() if own.isupper() else word.title() if own.istitle() else word

    assert swapped(text, "male") == re.sub(r"\b(?:she|woman|women)\b", other, text, flags=re.IGNORECASE)


def test_exact_case_tells_a_group_from_a_colour() -> None:
    rows = [
        {"White": "White", "Black": "Black", "case": "exact"},
        {"White": "white woman", "Black": "black woman", "case": ""},
    ]
    swap = SwapLexicon.of({"race": rows}, {"race": ["White", "Black"]})
    text = "A White nurse, a white coat, a white Woman, BLACK ink."
    assert (
        swap.parse(text).render({"race": "Black"}) == "A Black nurse, a white coat, a black Woman, BLACK ink."
    )
    assert swap.parse("white coat, BLACK ink").mentions == {}


def test_several_attributes_change_apart_and_together() -> None:
    rows = {
        "sex": [{"female": "woman", "male": "man"}],
        "race": [{"White": "White", "Black": "Black", "Asian": "Asian"}],
    }
    swap = SwapLexicon.of(rows, SEX | {"race": ["White", "Black", "Asian"]})
    parsed = swap.parse("An Asian woman")
    assert set(parsed.mentions) == {"sex", "race"}
    assert parsed.render({"sex": "male"}) == "An Asian man"
    assert parsed.render({"race": "Black"}) == "A Black woman"  # the article follows its word
    assert parsed.render({"race": "White", "sex": "male"}) == "A White man"
    assert set(swap.parse("a woman").mentions) == {"sex"}


def test_a_level_whose_word_is_only_looked_for() -> None:
    rows = [{"female": "Ms.", "male": "Mr."}, {"female": "Mrs.", "male": "Mr.", "of": "female"}]
    swap = SwapLexicon.of({"sex": rows}, SEX)
    assert swapped("Mrs. A, Ms. B, Mr. C", "male", swap) == "Mr. A, Mr. B, Mr. C"
    assert swapped("Mrs. A, Ms. B, Mr. C", "female", swap) == "Mrs. A, Ms. B, Ms. C"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no lexicon"),
        ([{"female": "she", "mal": "he"}], r"line 2: no column for the level 'male'; did you mean 'mal'"),
        ([{"female": "she", "male": " "}], "line 2: no word for the level 'male'"),
        ([{"female": "one", "male": "one"}], "line 2: all levels have the same word"),
        ([{"female": "she", "male": "he", "case": "Exact"}], "case is empty or 'exact', not 'Exact'"),
        ([{"female": "she", "male": "he", "of": "mail"}], "of names no level: 'mail'; did you mean 'male'"),
        (
            [{"female": "she", "male": "he", "part": "subjct"}],
            "no part of speech is named 'subjct'; did you mean",
        ),
        (
            [{"female": "lady", "male": "man"}, {"female": "woman", "male": "Man"}],
            "'Man' stands in two rows with different counterparts",
        ),
        (
            [{"female": "her", "male": "him", "part": "object"}, {"female": "her", "male": "his"}],
            "'her' (stands in two rows|has a row with a `part` and one without)",
        ),
    ],
)
def test_a_lexicon_that_cannot_be_used(rows: list[dict[str, str]], message: str) -> None:
    with pytest.raises(LexiconError, match=message):
        SwapLexicon.of({"sex": rows}, SEX)


def test_an_attribute_that_is_none_of_the_audit_s() -> None:
    with pytest.raises(LexiconError, match=r"'sx' is no attribute of groups; did you mean 'sex'"):
        SwapLexicon.of({"sx": [{"female": "she", "male": "he"}]}, SEX)


def shipped(attribute: str) -> tuple[SwapLexicon, list[str]]:
    content = (TERMS / f"{attribute}.csv").read_bytes()
    header = next(csv.reader([content.decode().splitlines()[0]]))
    levels = [column for column in header if column not in NOTES]
    return SwapLexicon.read({attribute: content}, {attribute: levels}), levels


@pytest.mark.parametrize("path", sorted(TERMS.glob("*.csv")), ids=lambda path: path.stem)
def test_every_shipped_row_is_reached_and_leaves_no_word_of_another_level(path: Path) -> None:
    swap, levels = shipped(path.stem)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) >= 8
    for row in rows:
        after, before = (row.get(name, "").split("|")[0] for name in ("after", "before"))
        for own in [] if row.get("of") == "-" else (row["of"].split("|") if row.get("of") else levels):
            for level in levels:
                made = swap.parse(f"It {after} {row[own]} {before} {{here}}.").render({path.stem: level})
                if not row.get("part") and row[level] != row[own]:
                    assert row[level].lower() in made.lower()


ALL = {
    "sex": ["female", "male"],
    "race": ["White", "Black", "Asian", "Hispanic"],
    "age": ["younger", "older"],
    "national_origin": ["American", "Mexican", "Indian", "Chinese", "Nigerian"],
    "religion": ["Christian", "Muslim", "Jewish", "Hindu"],
    "disability": ["none", "disabled"],
}


def shipped_for(*attributes: str) -> SwapLexicon:
    files = {a: (TERMS / f"{a}.csv").read_bytes() for a in attributes}
    return SwapLexicon.read(files, {a: ALL[a] for a in attributes})


@pytest.mark.parametrize(
    ("text", "cell", "made"),
    [
        ("A white woman applied.", {"sex": "male", "race": "Black"}, "A black man applied."),
        ("Two black men applied.", {"sex": "female", "race": "Asian"}, "Two Asian women applied."),
        ("An Asian man; a White man.", {"sex": "female", "race": "Black"}, "A Black woman; a Black woman."),
        ("A young woman in her twenties.", {"sex": "male", "age": "older"}, "An old man in his sixties."),
        ("The young Black men left.", {"sex": "female", "race": "Asian", "age": "older"}, "The old Asian women left."),
        ("A Latina woman", {"sex": "male", "race": "Hispanic"}, "A Latino man"),
        ("A Latina woman", {"sex": "female", "race": "Asian"}, "An Asian woman"),
        ("A Latina engineer", {"sex": "male", "race": "Black"}, "A Black male engineer"),
        ("A Latina applied", {"sex": "male", "race": "White"}, "A White man applied"),
        ("She is Latina.", {"sex": "male", "race": "Hispanic"}, "He is Latino."),
        ("A Latina engineer", {"sex": "male"}, "A Latino engineer"),
        ("A Latina engineer", {"race": "Black"}, "A Black female engineer"),
        ("Latino communities", {"sex": "female", "race": "Black"}, "Black communities"),
        ("An African American nurse", {"race": "White", "national_origin": "Indian"}, "A European American nurse"),
        ("A hearing woman, deaf person", {"disability": "disabled", "sex": "male"}, "A deaf man, deaf person"),
    ],
)  # fmt: skip
def test_a_word_of_one_attribute_takes_no_word_of_another(text: str, cell: dict[str, str], made: str) -> None:
    parsed = shipped_for(*cell).parse(text)
    assert parsed.render(cell) == made
    assert "".join(parsed.pieces) == text
    assert parsed.attributes <= set(cell)


def test_a_word_that_says_two_attributes_mentions_both() -> None:
    parsed = shipped_for("sex", "race").parse("A Latina engineer applied.")
    assert parsed.attributes == {"sex", "race"} and parsed.count == 1
    assert parsed.render({}) == "A Latina engineer applied."
    assert parsed.render({"race": "Black"}) == "A Black female engineer applied."
    assert shipped_for("sex").parse("A Latina engineer").attributes == {"sex"}
    assert shipped_for("race").parse("A Latina engineer").attributes == {"race"}


def test_all_shipped_lists_stand_together() -> None:
    parsed = shipped_for(*ALL).parse(
        "A young deaf African American woman in her twenties, a Mexican Christian."
    )
    assert parsed.attributes == set(ALL) and parsed.left == 0


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("sex", "I host events, was a hero and a steward of funds in a mom-and-pop shop of girl Scouts."),
        ("sex", "Lady Gaga, our sister company, Mother Teresa, the mother tongue, Sir John"),
        ("sex", "he/she, his or her, s/he, (s)he, a woman or a man, Dear Sir or Madam"),
        ("sex", "https://x.org/women?she=he she@mail.example @she www.women.com/he women.org"),
        ("race", "a white board, a White House tour, black or white"),
        ("national_origin", "African American, Native American, Latin American, American Airlines, American Indian"),
        ("national_origin", "Mexico City, New Mexico, the United States Army, Indian River, speaks Chinese, Indiana"),
        ("religion", "12 Church Street"),
        ("disability", "a blind review; somebody disabled the alarm"),
        ("age", "10 years old, in the twenties"),
    ],
)  # fmt: skip
def test_words_with_another_meaning_stay(attribute: str, text: str) -> None:
    parsed = shipped_for(attribute).parse(text)
    assert parsed.attributes == set()
    assert {parsed.render({attribute: level}) for level in ALL[attribute]} == {text}


@pytest.mark.parametrize(
    ("text", "count", "own", "white", "asian"),
    [
        ("Hispanic/Latino.", 1, "Hispanic", "White.", "Asian."),
        ("A Hispanic / Latino or Latinx person", 1, "Hispanic", "A White person", "An Asian person"),
        ("HISPANIC OR LATINO", 1, "Hispanic", "WHITE", "ASIAN"),
        ("Black or African American", 1, "Black", "White or European American", "Asian American"),
        ("Hispanic, Latino", 2, "Hispanic", "White, White", "Asian, Asian"),
        ("Hispanic/Latino/White", 0, "White", "Hispanic/Latino/White", "Hispanic/Latino/White"),
    ],
)
def test_a_group_that_is_named_twice_is_one_mention(
    text: str, count: int, own: str, white: str, asian: str
) -> None:
    parsed = shipped_for("race").parse(text)
    assert (parsed.count, parsed.render({"race": own})) == (count, text)
    assert [parsed.render({"race": level}) for level in ("White", "Asian")] == [white, asian]


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("I saw him and his brother, him or his son.", "I saw her and her sister, her or her daughter."),
        ("Give her and her mother this.", "Give him and his father this."),
    ],
)
def test_pronouns_of_one_person_are_mentions_of_their_own(text: str, swapped: str) -> None:
    level = "female" if "him" in text else "male"
    assert shipped_for("sex").parse(text).render({"sex": level}) == swapped


def test_words_left_alone_are_counted() -> None:
    swap = shipped_for("sex", "race")
    assert swap.parse("he/she and his or her work, Black/White/Asian").left == 7
    assert swap.parse("see https://x.org/she or ask her").left == 1
    assert swap.parse("she and he").left == 0


@pytest.mark.parametrize(
    ("text", "male"),
    [
        ("Mrs Lee, Ms Hu, MR HU, Mr Ode", "Mr Lee, Mr Hu, MR HU, Mr Ode"),
        ("a fianc\u00e9e, her stepmother and grandma", "a fianc\u00e9, his stepfather and grandpa"),
        ("A hostess, a heroine", "A host, a hero"),
    ],
)
def test_forms_of_address_and_of_family(text: str, male: str) -> None:
    assert shipped_for("sex").parse(text).render({"sex": "male"}) == male


def test_an_article_follows_its_word_and_comes_back() -> None:
    swap = shipped_for("race")
    for text, made in {
        "An Asian nurse": "A Black nurse",
        "AN ASIAN NURSE": "A BLACK NURSE",
        "not an  Asian\nnurse": "not a  Black\nnurse",
        "a European American": "an African American",
    }.items():
        assert swap.parse(text).render({"race": "Black"}) == made
        assert swap.parse(made).render({"race": "White" if "Eu" in text else "Asian"}) == text
    assert swap.parse("An Asian nurse").render({"race": "Asian"}) == "An Asian nurse"
    assert swap.parse("a Asian nurse").render({"race": "Asian"}) == "a Asian nurse", "a variant of itself"
    assert swap.parse("A Black nurse").render({"race": "Asian"}) == "An Asian nurse"
    assert swap.parse("vitamin A  Asian, banana Asian").render({"race": "Black"}).endswith("banana Black")


def test_conditions_say_where_a_row_counts() -> None:
    rows = [
        {"f": "head", "m": "chief", "before": "of staff|nurse"},
        {"f": "she-wolf", "m": "wolf", "of": "f"},
        {"f": "lead", "m": "leader", "not_after": "to|dog", "not_before": "pipe"},
    ]
    swap = SwapLexicon.of({"g": rows}, {"g": ["f", "m"]})
    made = swap.parse("head-of  staff, head, Head nurse; to lead, the lead, lead pipe; wolf").render(
        {"g": "m"}
    )
    assert made == "chief-of  staff, head, Chief nurse; to lead, the leader, lead pipe; wolf"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            {"sex": [{"female": "woman", "male": "man"}], "race": [{"White": "white woman", "Black": "black woman"}]},
            r"terms\.race, line 2: 'white woman' holds 'woman' \(perturb\.terms\.sex, line 2\)",
        ),
        (
            {"sex": [{"female": "Latina", "male": "Latino"}], "race": [{"White": "White", "Black": "Latina"}]},
            "'Latina' stands in two rows .the other in",
        ),
        ({"race": [{"White": "W", "Black": "B", "says": "sex=femal", "joint": "x"}]}, "names no level of sex: 'femal'"),
        ({"race": [{"White": "W", "Black": "B", "says": "sex", "joint": "x"}]}, "such as sex=female, not 'sex'"),
        (
            {"race": [{"White": "W", "Black": "B", "says": "sex=female", "joint": "x"}]},
            "joint 'x' has no row that says sex=male",
        ),
    ],
)  # fmt: skip
def test_lexicons_whose_words_take_others_are_refused(
    rows: dict[str, list[dict[str, str]]], message: str
) -> None:
    with pytest.raises(LexiconError, match=message):
        SwapLexicon.of(rows, SEX | {"race": ["White", "Black"]})


@pytest.mark.parametrize(
    ("text", "sex", "made"),
    [
        ("She gave her notes to him; the idea is hers.", "male", "He gave his notes to him; the idea is his."),
        ("He saw his friend, a friend of his. Ask him himself.", "female",
         "She saw her friend, a friend of hers. Ask her herself."),
        ("Ask her about her team.", "male", "Ask him about his team."),
        ("HER HUSBAND SAW HER", "male", "HIS HUSBAND SAW HIM"),  # husband is a man's word already
    ],
)  # fmt: skip
def test_pronouns_by_part_of_speech(text: str, sex: str, made: str) -> None:
    swap, _ = shipped("sex")
    assert swap.parse(text).render({"sex": sex}) == made


def test_doubtful_pronouns_are_counted() -> None:
    swap, _ = shipped("sex")
    assert swap.parse("She spoke. He left.").doubtful == 0
    from audit_lib.perturb.agreement import part_of

    text = "They hurt her back."
    start = text.index("her")
    assert swap.parse(text).doubtful == int(not part_of(text, start, start + 3)[1])
