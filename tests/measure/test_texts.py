"""Which answers are counterfactuals of each other, what is masked, and sums that add up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audit_lib.errors import EvidenceError, LexiconError
from audit_lib.measure.rows.counterfactual_pairs import text_pairs
from audit_lib.measure.rows.load import _VARIANT_COLUMNS, make_rows
from audit_lib.measure.rows.load_texts import make_texts
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.measure.rows.word_lists import Words, read_protected
from audit_lib.metrics.text.cooccurrence import (
    cooccurrence_bias_score,
    cooccurrence_sums,
    score_of_sums,
)
from audit_lib.pipeline import run_stage
from audit_lib.records import variant_schema
from audit_lib.spec import AuditSpec
from audit_lib.stats.exchange import exchange_test
from tests.measure.tables import as_rows, parts, table
from tests.perturb.cases import persona_run, prompts
from tests.specs import load


def rows_of(
    variants: pd.DataFrame, spec: AuditSpec, repeats: int = 1, lost: set[str] | None = None, thought: str = ""
) -> Rows:
    """Rows and texts of variants; each text says whose it is."""
    schema = variant_schema(spec.groups.axes)
    schema = pa.schema([schema.field(name) for name in variants.columns if name in schema.names])
    plain = variants.astype(object).where(variants.notna(), None)
    table = pa.Table.from_pylist(plain.to_dict("records"), schema=schema)
    found = [
        {
            "variant_id": v, "repeat": r, "model": "m", "label_mass": None, "score": None, "selected": None,
            "status": "unparsed" if v in (lost or ()) else "ok", "text": f"{thought}{v} {r}", "items": None,
        }
        for v in variants["variant_id"] for r in range(repeats)
    ]  # fmt: skip
    scores = pa.Table.from_pylist(found)
    for name, kind in (("label_mass", pa.float64()), ("score", pa.float64()), ("selected", pa.bool_())):
        scores = scores.set_column(scores.schema.get_field_index(name), name, pa.nulls(len(scores), kind))
    rows, ids = make_rows(table.select([*_VARIANT_COLUMNS, *spec.groups.axes]), [scores], spec)
    texts = make_texts(table, [scores], [], rows, ids, spec, Words(protected={}, targets=()))
    return replace(rows, texts=texts)


def said(rows: Rows, group: dict[str, str], reference: dict[str, str]) -> list[tuple[str, str]]:
    assert rows.texts is not None
    pairs = text_pairs(rows, rows.texts, group, reference)
    text = rows.texts.text
    return sorted(zip(text[pairs.group].tolist(), text[pairs.reference].tolist(), strict=True))


@pytest.fixture(scope="module")
def personas(tmp_path_factory: pytest.TempPathFactory) -> Any:
    run = persona_run(
        tmp_path_factory.mktemp("personas"),
        rows=prompts(3),
        perturb={"names_per_cell": 2},
        task="generation",
        decision=None,
        score={"repeats": 2},
        measure={"metrics": ["counterfactual_rouge_l"]},
    )
    run_stage(run, "variants")
    return run


def test_personas_are_paired_by_prompt_replicate_and_repeat(personas: Any) -> None:
    variants = personas.stage("variants").read_table("variants.parquet")
    rows = rows_of(variants, personas.spec, repeats=2)
    margin = said(rows, {"sex": "female"}, {"sex": "male"})
    assert len(margin) == 3 * 2 * 2 * 2, "prompts, races, names, repeats"
    for ours, theirs in margin:
        assert ours.replace("/female.", "/male.") == theirs, "all but sex is the same"
    cell = said(rows, {"sex": "female", "race": "Black"}, {"sex": "male", "race": "White"})
    assert len(cell) == 3 * 2 * 2
    assert all(a.replace("female.Black", "male.White") == b for a, b in cell)


def test_an_answer_without_its_counterpart_is_counted(personas: Any) -> None:
    variants = personas.stage("variants").read_table("variants.parquet")
    lost = variants["variant_id"].iloc[0]
    rows = rows_of(variants, personas.spec, repeats=2, lost={lost})
    assert rows.texts is not None
    group, reference = {"sex": "female"}, {"sex": "male"}
    pairs = text_pairs(rows, rows.texts, group, reference)
    assert (pairs.group.size, pairs.unpaired) == (24 - 2, 2)
    assert not any(lost in text for pair in said(rows, group, reference) for text in pair)


def test_what_a_persona_put_in_is_masked(personas: Any) -> None:
    variants = personas.stage("variants").read_table("variants.parquet")
    rows = rows_of(variants, personas.spec)
    assert rows.texts is not None
    masked = rows.texts.words.masked()
    assert {"she", "her", "he", "his", "Ms.", "Mr."} <= set(masked)
    for edits in variants["edits"]:
        assert set(json.loads(edits).values()) <= set(masked)


def test_a_stratum_has_the_answers_of_its_rows(personas: Any) -> None:
    variants = personas.stage("variants").read_table("variants.parquet")
    rows = rows_of(variants, personas.spec, repeats=2)
    position = variants.set_index("variant_id")["position"]
    total = 0
    for part in strata(rows, ["position"]):
        assert part.texts is not None
        total += len(part.texts)
        assert {position[text.rpartition(" ")[0]] for text in part.texts.text} == {part.levels["position"]}
        pairs = text_pairs(part, part.texts, {"sex": "female"}, {"sex": "male"})
        assert pairs.group.size == len(part.texts) / 2
    assert total == len(variants) * 2


def unperturbed(**columns: list[Any]) -> pd.DataFrame:
    """Rows as they were logged: two calls for each sex in application a, one woman in application b."""
    n = 5
    frame = pd.DataFrame(
        {
            "variant_id": [f"v{i}" for i in range(n)],
            "prompt_id": [f"v{i}" for i in range(n)],
            "application_id": ["a", "a", "a", "a", "b"],
            "position": ["cook"] * n,
            "round_id": pd.array(["r0", "r0", "r1", "r1", "r0"], dtype="string"),
            "sex": ["female", "male", "female", "male", "female"],
            "race": ["White"] * n,
            "qualified": pd.array([None] * n, dtype="boolean"),
            "outcome": [np.nan] * n,
            "recorded_selected": pd.array([None] * n, dtype="boolean"),
            "perturbation": ["none"] * n,
            "edits": ["{}"] * n,
        }
    )
    return frame.assign(**columns)


GENERATION = load(task="generation", decision=None, measure={"metrics": ["counterfactual_rouge_l"]})


def test_what_belongs_together_is_not_guessed() -> None:
    """Two prompts of one application and no round that tells them apart: none is paired."""
    rows = rows_of(unperturbed(round_id=pd.array([None] * 5, dtype="string")), GENERATION)
    assert said(rows, {"sex": "female"}, {"sex": "male"}) == []
    assert rows.texts is not None
    assert text_pairs(rows, rows.texts, {"sex": "female"}, {"sex": "male"}).unpaired == 5


def test_logged_answers_are_paired_within_their_application_and_round() -> None:
    rows = rows_of(unperturbed(), GENERATION)
    assert said(rows, {"sex": "female"}, {"sex": "male"}) == [("v0 0", "v1 0"), ("v2 0", "v3 0")]
    assert rows.texts is not None
    assert text_pairs(rows, rows.texts, {"sex": "female"}, {"sex": "male"}).unpaired == 1


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        ({"race": ["White", "Black", "White", "White", "White"]}, 1),
        ({"race": [None, None, "White", "White", "White"]}, 1),
        ({"position": ["cook", "driver", "cook", "driver", "cook"]}, 0),
        ({"sex": ["female", None, "female", "male", "female"]}, 1),
    ],
)
def test_what_differs_in_more_than_the_group_is_no_pair(columns: dict[str, list[Any]], pairs: int) -> None:
    assert len(said(rows_of(unperturbed(**columns), GENERATION), {"sex": "female"}, {"sex": "male"})) == pairs


def test_what_a_model_thinks_is_no_text_that_is_compared() -> None:
    groups = {"sex": "female"}, {"sex": "male"}
    plain, thought = (rows_of(unperturbed(), GENERATION, thought=t) for t in ("", "<think>He?</think>"))
    assert said(thought, *groups) == said(plain, *groups) != []


def test_rows_of_other_variants_are_no_evidence() -> None:
    variants = pa.Table.from_pandas(unperturbed(), preserve_index=False)
    rows = as_rows(table(8))
    with pytest.raises(EvidenceError, match="not those that the rows were made of"):
        make_texts(
            variants, [], [], rows, pa.chunked_array([["x"] * 8]), GENERATION, Words(protected={}, targets=())
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("word,sex\n", "at least one row"),
        ("term,sex\nshe,female\n", "column `word`"),
        ("word,gender\nshe,female\n", "'gender' is no attribute"),
        ("word,sex\nshe,femal\n", "line 2: 'femal' is no level of 'sex'; did you mean 'female'?"),
        ("word,sex\nshe\n", "line 2 lacks a cell"),
        ("word,sex\nshe,\n", "line 2 names no level"),
    ],
)
def test_faults_of_the_protected_words(content: str, message: str) -> None:
    with pytest.raises(LexiconError, match=message):
        read_protected(content.encode(), {"sex": ["female", "male"]})


def test_sums_of_company_are_the_table_s_and_add_up() -> None:
    rows = as_rows(table(48))
    assert rows.texts is not None
    texts = rows.texts.text.tolist()
    lists = ["she", "her"], ["he", "his"], ["kind", "able", "late"]
    clusters = np.arange(len(texts)) // 2
    sums = cooccurrence_sums(texts, clusters, *lists, window=3)
    whole = cooccurrence_bias_score(texts, *lists, window=3)
    np.testing.assert_array_equal(sums.sum(axis=0)[:3], whole.group_cooccurrence)
    np.testing.assert_array_equal(sums.sum(axis=0)[3:6], whole.reference_cooccurrence)
    score, words = score_of_sums(sums.sum(axis=0)[None])
    assert score[0] == pytest.approx(whole.mean, abs=1e-12)
    assert words[0] == 3 - whole.undefined
    half = 2 * 12
    shards = [
        cooccurrence_sums(t, clusters[: len(t)], *lists, window=3) for t in (texts[:half], texts[half:])
    ]
    np.testing.assert_array_equal(np.vstack(shards), sums)


def test_the_exchange_test_holds_its_level_and_finds_a_shift() -> None:
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(20), 3).astype(np.int32)
    found = []
    for draw in range(200):
        base = rng.normal(size=20)[clusters]
        sides = [np.round(base + rng.normal(size=60), 1) for _ in range(2)]
        test = exchange_test(*sides, clusters, 20, 199, draw)
        assert test is not None
        found.append(test.p_value)
    rejected = float(np.mean(np.array(found) <= 0.05))
    assert rejected <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    shifted = exchange_test(sides[0], sides[0] + 1.0, clusters, 20, 199, 1)
    assert shifted is not None
    assert shifted.p_value == 1 / 200
    assert exchange_test(sides[0], sides[0], clusters, 20, 199, 1) is None


def test_the_exchange_test_is_exact_for_few_clusters() -> None:
    from itertools import product

    rng = np.random.default_rng(2)
    clusters = np.array([0, 0, 1, 1, 2, 3], dtype=np.int32)
    a, b = rng.normal(size=6), rng.normal(size=6) + 0.5
    distances = []
    for flips in product([False, True], repeat=4):
        swap = np.array(flips)[clusters]
        one, other = np.where(swap, b, a), np.where(swap, a, b)
        distances.append(np.abs(np.sort(one) - np.sort(other)).mean())
    test = exchange_test(a, b, clusters, 4, 199, 1)
    assert test is not None
    assert test.p_value == np.mean(np.array(distances) >= distances[0] - 1e-12)
    assert "all exchanges" in test.method


def test_strata_of_the_contract_s_table_have_their_texts() -> None:
    rows = as_rows(table(48))
    sizes = [len(part.texts) for part in parts(rows) if part.texts is not None]
    assert sizes == [48, 24, 24]
