"""Questions about several candidates: every order once, names that can be told apart, slots that are filled."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from audit_lib.errors import InputError, SpecError, UnknownSlotError
from audit_lib.perturb.pools import ask_lists, pair_rows, read_block, slots_asked_for
from audit_lib.perturb.template import read_template
from tests.specs import load

PAIR = b"""messages:
- {role: system, content: 'For {{job}}.'}
- {role: user, content: '{{first.name}}: {{first.resume}} / {{second.name}}: {{second.resume}}'}
- {role: assistant, content: 'Answer:'}
"""


def spec(task="pairwise", **prompt):
    return load(
        task=task,
        model={"backend": "openai", "name": "m"},
        decision={"rule": "above_median", "round": "round_id"},
        prompt={"template": "t.yaml", **prompt},
    )


def candidate(number, name, pool="p", **shown):
    values = {"job": "cook", "resume": f"text {number}", "name": name} | shown
    return {
        "variant_id": f"v{number}",
        "round_id": pool,
        "position": "cook",
        "candidate": name,
        "_shown": {key: text for key, text in values.items() if text is not None},
    }


def pairs(rows, **prompt):
    return list(pair_rows(rows, read_template(PAIR), spec(**prompt)))


def test_every_pair_is_asked_once_in_each_order():
    rows = [
        candidate(i, f"{name} Lee", pool)
        for pool in "qp"
        for i, name in enumerate(["Ann", "Bo", "Cy"], 3 * (pool == "q"))
    ]
    found = pairs(rows)
    shown = Counter((row["first"], row["second"]) for row in found)
    assert len(found) == 12 and set(shown.values()) == {1}
    assert [row["request_id"] for row in found] == sorted(row["request_id"] for row in found)
    first = found[0]
    assert first["request_id"] == "p/001-002" and first["labels"] == ["Ann", "Bo"]
    assert [turn["content"] for turn in json.loads(first["messages"])] == [
        "For cook.",
        "Ann Lee: text 0 / Bo Lee: text 1",
        "Answer:",
    ]


def test_letters_follow_the_order_shown_and_a_tie_is_the_last_label():
    found = pairs([candidate(1, "Ann Lee"), candidate(2, "Ann Poe")], answer="letter", tie="Both")
    assert [row["labels"] for row in found] == [["A", "B", "Both"]] * 2
    assert found[0]["first"] == found[1]["second"] == "v1"


@pytest.mark.parametrize(
    "names", [("Ann Lee", "ann Poe"), ("Jo Lee", "Joan Poe"), ("Ann Lee", None), ("Both Lee", "Al Poe")]
)
def test_names_that_no_answer_could_tell_apart(names):
    rows = [candidate(i, name, "cook/7") for i, name in enumerate(names)]
    with pytest.raises(InputError, match=r"pool cook/7: .*prompt.answer: letter") as caught:
        pairs(rows, tie="Both")
    assert "Lee" not in str(caught.value)


def test_a_pool_of_one_and_candidates_without_a_pool():
    with pytest.raises(InputError, match="pool p: one candidate"):
        pairs([candidate(1, "Ann Lee")])
    with pytest.raises(InputError, match="1 of 2 candidates have no round_id"):
        pairs([candidate(1, "Ann Lee"), candidate(2, "Bo Lee", None)])


def test_what_is_said_once_must_be_true_of_both():
    rows = [candidate(1, "Ann Lee"), candidate(2, "Bo Lee", job="driver")]
    with pytest.raises(
        UnknownSlotError, match=r"pool p: .*\{\{job\}\}.*only what all candidates of the pool share"
    ):
        pairs(rows)


def test_a_value_that_looks_like_a_slot_stays_as_it_is():
    rows = [candidate(1, "Ann Lee", resume="{{second.resume}}"), candidate(2, "Bo Lee", resume="secret")]
    assert "Ann Lee: {{second.resume}} / " in pairs(rows)[0]["messages"]


def test_a_list_shows_everybody_once_with_the_number_shown():
    rows = [candidate(i, f"N{i} Lee") for i in range(5)]
    template = read_template(b"messages:\n- {role: user, content: 'For {{job}}: {{candidates}}'}\n")
    ask_lists(rows, template, "{{number}}. {{name}}: {{resume}}", spec("listwise"))
    text = json.loads(rows[0]["messages"])[0]["content"]
    for row in rows:
        assert f"{row['order_shown']}. {row['candidate']}: {row['_shown']['resume']}" in text
        assert row["request_id"] == "p" and row["messages"] == rows[0]["messages"]
    assert sorted(row["order_shown"] for row in rows) == [1, 2, 3, 4, 5]


def test_a_list_of_two_with_one_name_is_refused():
    template = read_template(b"messages:\n- {role: user, content: '{{candidates}}'}\n")
    rows = [candidate(1, "Ann  Lee"), candidate(2, "ANN LEE")]
    with pytest.raises(InputError, match="pool p: two candidates share a name"):
        ask_lists(rows, template, "{{name}}", spec("listwise"))


def test_slots_are_named_without_their_places():
    assert slots_asked_for(PAIR, spec()) == ["job", "name", "resume", "name", "resume"]
    with pytest.raises(SpecError, match="shows the second one"):
        slots_asked_for(b"messages:\n- {role: user, content: '{{first.resume}}'}\n", spec())
    with pytest.raises(SpecError, match="`candidate` beside `messages`"):
        read_block(b"messages:\n- {role: user, content: '{{candidates}}'}\n")
