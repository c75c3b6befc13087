"""Texts and lists: what is asked, what is kept, and when an answer is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit_lib.records import answers_as_text, recorded_answers
from audit_lib.score.reading.ratings import CUT
from audit_lib.score.requests import Response
from audit_lib.score.tasks.generation import GenerationTask
from audit_lib.score.tasks.recommendation import RecommendationTask, item_key, read_items
from tests.specs import load


def variants(**columns: Any) -> pd.DataFrame:
    row = {
        "variant_id": "v1", "prompt_id": "p1", "request_id": "v1", "position": "cook", "candidate": None,
        "order_shown": None, "messages": '[{"role":"user","content":"Write."}]', "recorded_score": None,
        "recorded_selected": None, "recorded_response": None, "recorded_model": None,
    }  # fmt: skip
    return pd.DataFrame([row | columns])


def spec(task: str = "generation", **sections: Any) -> Any:
    return load(Path(), task=task, decision=None, **sections)


def test_a_live_request_says_how_its_text_is_made() -> None:
    settings = {"max_tokens": 40, "temperature": 0.7, "seed": 11}
    (request,) = GenerationTask(spec(generation=settings)).requests(variants())
    assert request.sampling is not None
    assert (request.sampling.max_tokens, request.sampling.temperature, request.sampling.seed) == (40, 0.7, 11)
    (other,) = GenerationTask(spec(generation=settings | {"seed": 12})).requests(variants())
    assert other.digest() != request.digest()
    seeds = {GenerationTask(spec(seed=s)).requests(variants())[0].sampling.seed for s in (1, 2)}  # type: ignore[union-attr]
    assert len(seeds) == 2, "without a seed of its own it follows the audit's"
    (recorded,) = GenerationTask(spec()).requests(variants(messages=None, recorded_response="Done."))
    assert recorded.sampling is None


def answered(
    task: Any, text: str | None, *, repeat: int = 0, method: str = "generated", status: str = "ok"
) -> Any:
    from dataclasses import replace

    (request,) = task.requests(variants())
    request = replace(request, repeat=repeat)
    (row,) = task.rows(
        request,
        Response(request_id="v1", repeat=repeat, text=text, model="m", method=method, status=status),  # type: ignore[arg-type]
    )
    return row


def test_texts_are_kept_as_they_are() -> None:
    row = answered(GenerationTask(spec()), " She is good.\n")
    assert (row["text"], row["status"], row["score"], row["detail"]) == (" She is good.\n", "ok", None, None)
    empty = answered(GenerationTask(spec()), " \n")
    assert (empty["text"], empty["status"], empty["detail"]) == (None, "unparsed", "the answer is empty")
    failed = answered(GenerationTask(spec()), None, status="error")
    assert failed["status"] == "error"


def test_a_list_that_was_cut_or_is_too_long_is_not_read_and_kept() -> None:
    task = RecommendationTask(spec("recommendation", generation={"items": 2}))
    (request,) = task.requests(variants())
    for text, detail, why in (
        ("1. Nurse\n2. Co", CUT, CUT),
        ("1. Nurse\n" + "x" * 50_000, None, "the text has 50009 characters, and at most 50000 are read"),
    ):
        said = Response(request_id="v1", text=text, model="m", method="generated", detail=detail)
        (row,) = task.rows(request, said)
        assert (row["status"], row["detail"], row["text"]) == ("unparsed", why, text)
    assert answered(task, "1. Nurse\n" + " " * 100_000 + "\n2. Cook")["items"] == '["Nurse","Cook"]'


def test_a_text_of_thoughts_alone_is_empty_and_kept() -> None:
    row = answered(GenerationTask(spec()), "<think>She is ...")
    assert (row["text"], row["status"], row["detail"]) == (
        "<think>She is ...",
        "unparsed",
        "the answer is empty",
    )
    row = answered(GenerationTask(spec()), "<think>She is ...</think>Good.")
    assert (row["text"], row["status"]) == ("<think>She is ...</think>Good.", "ok")


def test_several_recorded_answers_are_the_repeats() -> None:
    text = answers_as_text(["One.", "Two."])
    task = GenerationTask(spec())
    assert [answered(task, text, repeat=r, method="recorded")["text"] for r in (0, 1)] == ["One.", "Two."]
    third = answered(task, text, repeat=2, method="recorded")
    assert (third["text"], third["status"]) == (None, "unparsed")
    assert third["detail"] == "2 recorded answers, and this would be number 3"
    none = answered(task, None, method="recorded")
    assert none["detail"] == "0 recorded answers, and this would be number 1"
    assert recorded_answers('["a", "b"]') == ['["a", "b"]'], "a text that happens to be JSON is one answer"
    assert answers_as_text(["a", 1]) is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. A\n2. B\n3. C\n4. D", ["A", "B", "C"]),
        ("Here you are:\n 1) **A** (1999)\n 2) *B*\n", ["A", "B"]),
        ('1. "A, or B" - why not', ["A, or B"]),
        ("- A\n- B — a remark\n• C", ["A", "B", "C"]),
        ("* A: the sequel\n* B-side", ["A: the sequel", "B-side"]),
        ("1. A\n- a remark under it\n2. B", ["A", "B"]),
        ("1. A\n2. a.\n3. B", ["A", "B"]),
        ("1. A\n   - under it\n      2. further in\n2. B", ["A", "B"]),
        (" 9. B\n10. C", ["B", "C"]),
        ("1 - A\n2 - B – a remark", ["A", "B"]),
        ("3. C\n2. B\n1. A", ["A", "B", "C"]),
        ("1. A\n1. B\n1. C", ["A", "B", "C"]),
        ("**1. A (1999)**: a remark\n**2. B**", ["A (1999)", "B"]),
        ("**1.** A\n**2.** B", ["A", "B"]),
        ("**These:**\n**A** - a remark\n**B**", ["A", "B"]),
        ("**Note**: I would say A.", []),
        ("1. A\n\nHonourable mentions:\n1. B", ["A"]),
        ("- A\n\n**Honorable Mentions**\n- B", ["A"]),
        ("1. A\n2. B\n3. Honourable mention: C", ["A", "B"]),
        ('["A"]\nRunners-up:\n["B"]', ["A"]),
        ("1. A\n2. B\n\nOthers:\n1. C", ["A", "B"]),
        ("Old:\n1. A\nNew:\n2. B", ["A", "B"]),
        ("Top:\n2. B\nAnd:\n1. A", ["B"]),
        ('Here you are:\n["A", "B"]\nEnjoy!', ["A", "B"]),
        ('{"items": ["A", "B"], "note": "x"}', ["A", "B"]),
        ('Sure: {"items": ["A"]}', ["A"]),
        ('{"items": ["A"], "others": ["B"]}', []),
        ('1. A ["x"]\n2. B', ['A ["x"]', "B"]),
        ("[" * 50_000, []),
        ('["A", "B", "b "]', ["A", "B"]),
        ('Sure.\n```json\n["A"]\n```', ["A"]),
        ('[{"title": "A"}]', ["A"]),
        ('{"films": [{"rank": 1, "Title": "A", "why": "x"}, {"rank": 2, "Title": "B"}]}', ["A", "B"]),
        ('[{"rank": 2, "title": "A"}, {"rank": 1, "title": "B"}]', []),
        ('[{"title": "A", "name": "B"}]', []),
        ('[{"title": "A"}, {"why": "x"}]', []),
        ("<think>1. C</think>1. A\n2. B", ["A", "B"]),
        ("I would say A, then B.", []),
        ("", []),
    ],
)
def test_lists_are_read_by_the_stated_rule(text: str, items: list[str]) -> None:
    assert read_items(text, 3) == items


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('["A"] or\n["B"]', "the answer holds several lists that differ"),
        ('{"items": ["A"], "items": ["B"]}', "a JSON object in the text gives a key twice"),
    ],
)
def test_an_answer_with_two_lists_is_none(text: str, why: str) -> None:
    row = answered(RecommendationTask(spec("recommendation", generation={"items": 2})), text)
    assert (row.get("items"), row["text"], row["status"], row["detail"]) == (None, text, "unparsed", why)


def test_a_list_is_kept_beside_its_text() -> None:
    task = RecommendationTask(spec("recommendation", generation={"items": 2}))
    row = answered(task, "1. B\n2. A\n3. C")
    assert (json.loads(row["items"]), row["text"], row["status"]) == (["B", "A"], "1. B\n2. A\n3. C", "ok")
    row = answered(task, "No.")
    assert (row.get("items"), row["text"], row["status"]) == (None, "No.", "unparsed")
    assert row["detail"] == "the answer holds no list"
    assert answered(task, "  ")["detail"] == "the answer is empty"


def test_items_are_the_same_whatever_their_case_and_marks() -> None:
    assert item_key("  The “Matrix” ") == item_key("the “matrix")
    assert item_key("Alien") != item_key("Aliens")
