"""The trie holds each beginning once, and its ranges are ancestry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.local.trie import build, common_beginning, size

sequences = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7).map(tuple), min_size=1, max_size=12)


@given(sequences)
def test_nodes_are_the_different_beginnings(some):
    trie = build(some)
    beginnings = {s[:n] for s in some for n in range(1, len(s) + 1)}
    spelt = []
    for node in range(len(trie)):
        word, at = [], node
        while at >= 0:
            word.append(int(trie.tokens[at]))
            at = int(trie.parent[at])
        spelt.append(tuple(reversed(word)))
    assert sorted(spelt) == sorted(beginnings) and len(trie) == size(some)
    assert [len(word) - 1 for word in spelt] == trie.depth.tolist()
    assert {s: spelt[end] for s, end in trie.ends.items()} == {s: s for s in some}
    for q in range(len(trie)):
        for k in range(len(trie)):
            above = spelt[q][: len(spelt[k])] == spelt[k]
            assert above == bool((k <= q) & (q < trie.subtree_end[k]))


@given(sequences, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(some, random):
    shuffled = list(some)
    random.shuffle(shuffled)
    one, other = build(some), build(shuffled)
    assert one.tokens.tolist() == other.tokens.tolist() and one.ends == other.ends


@given(sequences)
def test_the_open_path_is_what_later_nodes_still_see(some):
    trie = build(some)
    for cut in range(len(trie) + 1):
        later = range(cut, len(trie))
        seen = {k for k in range(cut) for q in later if q < trie.subtree_end[k]}
        assert trie.open_path(cut).tolist() == sorted(seen)


@given(sequences)
def test_the_common_beginning(some):
    shared = common_beginning(some)
    assert all(s[: len(shared)] == shared for s in some)
    longer = {s[: len(shared) + 1] for s in some}
    assert len(longer) > 1 or shared in some


def test_an_empty_sequence_is_refused():
    with pytest.raises(ValueError, match="empty"):
        build([(1,), ()])
