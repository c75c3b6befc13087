"""The token trie of a pack: every beginning that prompts share stands in it once.

Nodes are numbered depth first, so a subtree is a range of numbers: node k is an ancestor of node q, or q
itself, exactly if ``(k <= q) & (q < subtree_end[k])``. That is the whole attention mask of a trie.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Tokens = tuple[int, ...]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trie:
    """A trie of token sequences, depth first.

    Attributes
    ----------
    tokens, depth, parent : ndarray of shape (n,)
        Of each node: its token, its place in its sequences counted from 0, and the node before it (-1 for a
        first one).
    subtree_end : ndarray of shape (n,)
        One past the last node below it.
    ends : dict
        Sequence -> the node of its last token.
    """

    tokens: Integers
    depth: Integers
    parent: Integers
    subtree_end: Integers
    ends: dict[Tokens, int]

    def __len__(self) -> int:
        return len(self.tokens)

    def open_path(self, before: int) -> Integers:
        """Return the nodes below `before` whose subtrees go on at or after it, in order."""
        return np.flatnonzero(self.subtree_end[:before] > before)


def build(sequences: Iterable[Tokens]) -> Trie:
    """Return the trie of `sequences`. Their order does not matter.

    Raises
    ------
    ValueError
        If a sequence is empty.

    Examples
    --------
    >>> trie = build([(1, 2, 3), (1, 2, 4), (1, 2)])
    >>> trie.tokens.tolist(), trie.depth.tolist(), trie.parent.tolist(), trie.subtree_end.tolist()
    ([1, 2, 3, 4], [0, 1, 2, 2], [-1, 0, 1, 1], [4, 4, 3, 4])
    >>> trie.ends[1, 2]
    1
    """
    tokens: list[int] = []
    depth: list[int] = []
    parent: list[int] = []
    end: list[int] = []
    ends: dict[Tokens, int] = {}
    path: list[int] = []  # nodes of the sequence before
    last: Tokens = ()
    for sequence in sorted(set(sequences)):
        if not sequence:
            raise ValueError("an empty sequence has no place in a trie")
        same = shared_length(last, sequence)
        for node in path[same:]:
            end[node] = len(tokens)
        del path[same:]
        for place in range(same, len(sequence)):
            parent.append(path[-1] if path else -1)
            path.append(len(tokens))
            tokens.append(sequence[place])
            depth.append(place)
            end.append(0)
        ends[sequence] = path[-1]
        last = sequence
    for node in path:
        end[node] = len(tokens)
    arrays = (np.array(values, dtype=np.int64) for values in (tokens, depth, parent, end))
    return Trie(**dict(zip(("tokens", "depth", "parent", "subtree_end"), arrays, strict=True)), ends=ends)


def label_steps(trie: Trie, prompt: Tokens, label: Tokens) -> list[tuple[int, int]]:
    """Return (node, token that follows it) of each step of a label after a prompt.

    Examples
    --------
    >>> label_steps(build([(1, 2), (1, 2, 8)]), (1, 2), (8, 7))
    [(1, 8), (2, 7)]
    """
    node = trie.ends[prompt + label[:-1]]
    nodes = [node]
    for _ in label[1:]:
        node = int(trie.parent[node])
        nodes.append(node)
    return list(zip(reversed(nodes), label, strict=True))


def size(sequences: Iterable[Tokens]) -> int:
    """Return the number of nodes of the trie of `sequences`, without building it.

    Examples
    --------
    >>> size([(1, 2, 3), (1, 2, 4), (1, 2)])
    4
    """
    total = 0
    last: Tokens = ()
    for sequence in sorted(set(sequences)):
        total += len(sequence) - shared_length(last, sequence)
        last = sequence
    return total


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with alike.

    Examples
    --------
    >>> shared_length((1, 2, 3), (1, 2, 4, 5))
    2
    """
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return same


def common_beginning(sequences: Sequence[Tokens]) -> Tokens:
    """Return what all sequences begin with.

    Examples
    --------
    >>> common_beginning([(1, 2, 3), (1, 2, 4), (1, 2)])
    (1, 2)
    """
    # Whatever stands between the smallest and the largest begins as both of them do.
    first, last = min(sequences), max(sequences)
    return first[: shared_length(first, last)]
