"""Plans count what is computed, and choose what costs least."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.local.plan import (
    PASS_TOKENS,
    LabelPrompt,
    Shape,
    cut_by_length,
    plan_pack,
    summarise,
)

SHAPE = Shape(linear=10_000, attention=64, head=5_000)
lengths = st.lists(st.integers(1, 400), min_size=1, max_size=9).map(sorted)


def ask(*prompt: int, labels: tuple[tuple[int, ...], ...] = ((1,), (2,))) -> LabelPrompt:
    return LabelPrompt(prompt=prompt, labels=labels)


def pool(size: int = 5, length: int = 60) -> list[LabelPrompt]:
    resumes = [tuple(range(1000 * n, 1000 * n + length)) for n in range(1, size + 1)]
    return [ask(*range(30), *one, *other) for one, other in permutations(resumes, 2)]


def test_the_bound_of_a_pool_counted_by_hand():
    plan = plan_pack(pool(), SHAPE, ("tree", "prefix"))
    assert plan.tokens == 20 * 150
    assert plan.unique_tokens == 30 + 5 * 60 + 20 * 60
    assert plan.bound == 3000 / 1530
    assert plan.strategy == "tree" and plan.flops["tree"] < plan.flops["prefix"] < plan.flops["alone"]


def test_labels_of_several_tokens_are_branches():
    several = ((1, 2, 3), (1, 2, 4), (5, 6))
    plan = plan_pack([ask(9, 8, 7, labels=several)], SHAPE, ("tree",))
    assert plan.unique_tokens == plan.tokens == 3 + 2 + 1  # the last token of a label is only read


def test_the_trie_flops_counted_by_hand():
    plan = plan_pack([ask(9, 8, 7), ask(9, 8, 6)], SHAPE, ("tree",))
    pairs = 1 + 2 + 3 + 3
    assert plan.flops["tree"] == 2 * 10_000 * 4 + 4 * 64 * pairs + 2 * 5_000 * 2


def test_without_tree_attention_lengths_decide():
    even = [ask(0, *range(10 * n, 10 * n + 9)) for n in range(1, 9)]
    assert plan_pack(even, SHAPE, ("prefix",)).strategy == "prefix"
    uneven = [*even, ask(0, *range(5000, 6000)), ask(0, *range(7000, 8000))]
    plan = plan_pack(uneven, SHAPE, ("prefix",))
    assert plan.strategy == "buckets" and plan.buckets == (8, 2)
    assert plan_pack(uneven, SHAPE, ()).strategy == "alone"


def test_equal_questions_are_computed_once():
    plan = plan_pack([ask(1, 2, 3)] * 4, SHAPE, ("tree",))
    assert (plan.requests, plan.distinct, plan.tokens, plan.unique_tokens) == (4, 1, 12, 3)


def test_the_digest_follows_the_tokens():
    marks = {plan_pack([ask(1, 2, n)], SHAPE, ("tree",)).digest for n in (3, 4, 3)}
    assert len(marks) == 2


@given(lengths)
def test_buckets_are_the_cheapest_cut(rests):
    def cost(cut):
        total, start = 0, 0
        for rows in cut:
            start += rows
            total += rows * rests[start - 1] + PASS_TOKENS
        return total

    cuts = [()]
    for _ in rests:  # all ways to cut: one by one, open or close a bucket
        cuts = [c for cut in cuts for c in ((*cut, 1), *([(*cut[:-1], cut[-1] + 1)] if cut else []))]
    found = cut_by_length(rests)
    assert sum(found) == len(rests) and cost(found) == min(map(cost, cuts))


def test_the_summary_adds_up_and_is_sealed():
    plans = [plan_pack(pool(3), SHAPE, ("tree",)), plan_pack(pool(4), SHAPE, ("tree",))]
    one, other = summarise(plans, 900), summarise(plans[:1], 900)
    assert one["tokens"] == sum(p.tokens for p in plans)
    assert one["bound"] == round(one["tokens"] / one["unique_tokens"], 4)
    assert round(1 / (1 - one["shared"]), 2) == round(one["bound"], 2)
    assert len(one["plan_sha256"]) == 64 and one["plan_sha256"] != other["plan_sha256"]
