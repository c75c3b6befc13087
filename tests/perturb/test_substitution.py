"""The perturbation ``lexicon`` in the stage: what is varied, what is not, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.errors import LexiconError, SpecError
from audit_lib.pipeline import run_stage
from tests.perturb.cases import persona_run, prompts, table

TERMS = {
    "terms_sex": table(["female", "male"], [["she", "he"], ["woman", "man"]]),
    "terms_race": table(["White", "Black", "case"], [["White", "Black", "exact"]]),
}
TEXTS = ["She is a White woman.", "A man, he says.", "A Black applicant.", "Nobody in particular."]


def lexicon_run(folder: Path, texts: list[str], **sections: Any) -> Any:
    rows = [row | {"resume": text} for row, text in zip(prompts(len(texts))[::-1], texts, strict=True)]
    perturb = {
        "kind": "lexicon", "names": None, "pronouns": None, "titles": None,
        "terms": {"sex": "terms_sex.csv", "race": "terms_race.csv"},
    } | sections.pop("perturb", {})  # fmt: skip
    return persona_run(folder, rows=rows, lexicons=TERMS, perturb=perturb, **sections)


def made(run: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    run_stage(run, "variants")
    return run.stage("variants").read_table("variants.parquet"), run.stage("variants").read_json(
        "design.json"
    )


def shown(frame: pd.DataFrame) -> dict[str, str]:
    return {
        row.variant_id: json.loads(row.messages)[0]["content"].removeprefix("Judge this:\n").lstrip()
        for row in frame.itertuples()
    }


def test_a_prompt_is_varied_over_what_it_mentions(tmp_path: Path) -> None:
    frame, design = made(lexicon_run(tmp_path, TEXTS))
    assert shown(frame) == {
        "p00/female.Black/0": "She is a Black woman.",
        "p00/female.White/0": "She is a White woman.",
        "p00/male.Black/0": "He is a Black man.",
        "p00/male.White/0": "He is a White man.",
        "p01/female.-/0": "A woman, she says.",
        "p01/male.-/0": "A man, he says.",
        "p02/-.Black/0": "A Black applicant.",
        "p02/-.White/0": "A White applicant.",
    }
    row = frame.set_index("variant_id").loc["p01/male.-/0"]
    assert row["sex"] == "male" and pd.isna(row["race"])
    assert set(frame["perturbation"]) == {"lexicon"} and frame["variant_id"].is_monotonic_increasing
    assert design["substitution"] == {
        "prompts_varied": 3, "prompts_without_mention": 1, "prompts_with_words_that_stay": 0, "mentions": 6,
        "doubtful_mentions": 0, "mentions_left_alone": 0,
    }  # fmt: skip
    assert (design["unknown_group"], design["requests"]) == (4, 8)
    ftu = design["ftu"]
    assert (ftu["prompts"], ftu["unaware"], ftu["any"]["mentioning"]) == (4, False, 3)
    assert {one["attribute"]: one["mentioning"] for one in ftu["attributes"]} == {"sex": 2, "race": 2}


def test_no_variant_holds_a_word_of_another_group(tmp_path: Path) -> None:
    frame, _ = made(lexicon_run(tmp_path, TEXTS))
    words = {"female": {"she", "woman"}, "male": {"he", "man"}, "White": {"white"}, "Black": {"black"}}
    for row, text in zip(frame.itertuples(), shown(frame).values(), strict=True):
        found = set(text.lower().replace(".", "").replace(",", "").split())
        for level in ("female", "male") if row.sex else ():
            assert bool(found & words[level]) == (row.sex == level)
        for level in ("White", "Black") if row.race else ():
            assert bool(found & words[level]) == (row.race == level)


def test_prompts_that_mention_nobody_are_refused_or_asked_as_they_are(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    run = lexicon_run(tmp_path / "one", ["A shed.", "Ashes."])
    with pytest.raises(
        LexiconError, match=r"none of 2 prompts mentions .*counterfactual metrics do not apply"
    ):
        run_stage(run, "variants")
    frame, design = made(
        lexicon_run(tmp_path / "two", ["A shed.", "Ashes."], perturb={"no_mention": "as_is"})
    )
    assert shown(frame) == {"p00": "A shed.", "p01": "Ashes."}
    assert set(frame["perturbation"]) == {"none"} and frame["sex"].isna().all()
    assert design["ftu"]["unaware"] and design["unknown_group"] == 2


def test_only_the_fields_named_are_changed(tmp_path: Path) -> None:
    run = lexicon_run(tmp_path, ["She cooks."], perturb={"fields": ["resume"]})
    assert set(shown(made(run)[0]).values()) == {"She cooks.", "He cooks."}
    (other := tmp_path / "other").mkdir()
    run = lexicon_run(other, ["She cooks."], perturb={"fields": ["resum"]})
    with pytest.raises(LexiconError, match=r"perturb\.fields: 'resum' is no field; did you mean 'resume'"):
        run_stage(run, "variants")


def test_two_sample_gives_each_prompt_one_version(tmp_path: Path) -> None:
    frame, design = made(lexicon_run(tmp_path, TEXTS, perturb={"design": "two_sample"}))
    assert frame["prompt_id"].tolist() == ["p00", "p01", "p02"]
    assert design["design"]["applications_by_group"] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"perturb": {"terms": {}}}, "kind lexicon needs terms"),
        ({"perturb": {"names": "names.csv"}}, "names is for kind persona and would be ignored by lexicon"),
        ({"perturb": {"terms": {"sx": "terms_sex.csv"}}}, r"perturb\.terms: 'sx' is not an attribute; did you mean"),
        ({"decision": {"rule": "top_k", "k": 1, "round": "one_per_group"}}, r"perturb\.kind lexicon gives a pool of"),
    ],
)  # fmt: skip
def test_specs_that_are_refused(tmp_path: Path, sections: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        lexicon_run(tmp_path, TEXTS, **sections)


def test_words_outside_the_slots_of_a_persona_are_counted(tmp_path: Path) -> None:
    rows = prompts(resume="{{name}} is a woman. ")
    run = persona_run(tmp_path, rows=rows, lexicons=TERMS, perturb={"terms": {"sex": "terms_sex.csv"}})
    _, design = made(run)
    assert design["ftu"]["attributes"] == [
        {
            "attribute": "sex",
            "mentioning": 12,
            "share": 1.0,
            "interval": [design["ftu"]["any"]["interval"][0], 1.0],
        }
    ]


def spoken(folder: Path, template: str, texts: list[str], **sections: Any) -> Any:
    """A run whose template says something of its own."""
    rows = [
        row | {"resume": text, "note": "He left."}
        for row, text in zip(prompts(len(texts)), texts, strict=True)
    ]
    perturb = {
        "kind": "lexicon", "names": None, "pronouns": None, "titles": None,
        "terms": {"sex": "terms_sex.csv", "race": "terms_race.csv"},
    } | sections.pop("perturb", {})  # fmt: skip
    content = json.dumps({"messages": [{"role": "user", "content": template}]})
    source = {"fields": ["resume", "note"]}
    return persona_run(
        folder, rows=rows, lexicons=TERMS | {"template": content}, perturb=perturb, source=source, **sections
    )


def test_what_the_template_says_counts_and_stays(tmp_path: Path) -> None:
    run = spoken(tmp_path, "Is she good? {{resume}}", ["He likes maps.", "A shed.", "White."])
    frame, design = made(run)
    assert frame["prompt_id"].tolist() == ["p00", "p00", "p02", "p02"]
    assert {one["attribute"]: one["mentioning"] for one in design["ftu"]["attributes"]} == {
        "sex": 3,
        "race": 1,
    }
    assert design["ftu"]["outside"] == [
        {"attribute": "sex", "mentioning": 3},
        {"attribute": "race", "mentioning": 0},
    ]
    assert design["substitution"]["prompts_with_words_that_stay"] == 1


def test_a_field_that_the_model_does_not_read_mentions_nothing(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="the model sees no group"):
        run_stage(spoken(tmp_path, "Good? {{resume}}", ["A shed."]), "variants")


@pytest.mark.parametrize(
    ("template", "perturb"),
    [("Does she, a woman, get it? {{resume}}", {}), ("{{resume}} {{note}}", {"fields": ["resume"]})],
)
def test_words_that_nothing_exchanges_are_no_unawareness(
    tmp_path: Path, template: str, perturb: dict[str, Any]
) -> None:
    run = spoken(tmp_path, template, ["A shed.", "Maps."], perturb=perturb)
    with pytest.raises(
        LexiconError, match=r"what mentions sex \(2\) is the template or another field"
    ) as caught:
        run_stage(run, "variants")
    assert "sees no group" not in str(caught.value)


def test_the_spec_s_answer_is_compared_with_the_prompts(tmp_path: Path) -> None:
    _, design = made(lexicon_run(tmp_path, TEXTS, framework={"ftu": True}))
    assert design["warnings"] == [
        "framework.ftu says that no prompt mentions a protected word; of 4 prompts 3 mention one of perturb.terms"
    ]
    (other := tmp_path / "other").mkdir()
    assert "warnings" not in made(lexicon_run(other, TEXTS, framework={"ftu": False}))[1]


def test_words_beside_the_slots_include_the_template_s(tmp_path: Path) -> None:
    template = "messages:\n- {role: user, content: 'Is this woman good? {{resume}}'}\n"
    lexicons = TERMS | {"template": template}
    run = persona_run(tmp_path, lexicons=lexicons, perturb={"terms": {"sex": "terms_sex.csv"}})
    assert made(run)[1]["ftu"]["any"]["mentioning"] == 12


def test_metrics_that_need_mentions_are_refused_where_there_are_none(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "task": "generation",
        "decision": None,
        "measure": {"metrics": ["counterfactual_rouge_l"]},
    }
    run = lexicon_run(tmp_path, ["A shed."], perturb={"no_mention": "as_is"}, **sections)
    with pytest.raises(
        SpecError, match=r"measure\.metrics has counterfactual_rouge_l, and no prompt mentions"
    ):
        run_stage(run, "variants")
