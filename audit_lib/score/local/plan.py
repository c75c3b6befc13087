"""The scoring plan: how each pack is computed, and what its shared tokens save at most.

Knows tokens and the model's shape only, not torch: a plan is a function of the pack and the model,
whatever has been scored before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from audit_lib.canonical import canonical_json, sha256
from audit_lib.score.local.segments import Segment, cut_where_prompts_branch, read_whole
from audit_lib.score.local.trie import Tokens, common_beginning, shared_length, size

Strategy = Literal["tree", "prefix", "buckets", "branches", "once", "alone"]

PASS_TOKENS: Final = 48
"""What one more forward pass costs beside its arithmetic, in tokens: small matrices fill no processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a model's arithmetic depends on.

    Attributes
    ----------
    linear : int
        Weights that multiply each token: of the layers, without embeddings and head.
    attention : int
        Query width of all layers together: a query and a key cost ``4 * attention`` operations.
    head : int
        Weights of the head, which multiply each row whose probabilities are asked for.
    """

    linear: int
    attention: int
    head: int

    def flops(self, tokens: int, pairs: int, rows: int) -> int:
        """Return the operations of `tokens`, of `pairs` of query and key, and of `rows` of the head."""
        return 2 * self.linear * tokens + 4 * self.attention * pairs + 2 * self.head * rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPrompt:
    """A prompt and its labels, in tokens: `labels` holds each sequence in which a label may be written."""

    prompt: Tokens
    labels: tuple[Tokens, ...]

    def sequences(self) -> list[Tokens]:
        """Return what must be computed: the prompt, then the prompt with all of a label but its last token."""
        return sorted({self.prompt + label[:-1] for label in self.labels} | {self.prompt})


@dataclass(frozen=True, slots=True, kw_only=True)
class PackPlan:
    """How one pack is computed.

    Attributes
    ----------
    requests, distinct : int
        Requests, and different ones among them.
    tokens : int
        Tokens if each request were computed alone: its prompt and the branches of its labels.
    unique_tokens : int
        Nodes of the pack's trie: the fewest that any exact way computes.
    strategy : str
        The cheapest by `flops`.
    flops : dict
        Estimated operations of each strategy that the model allows.
    buckets : tuple of int
        Rows of each pass after the shared beginning (strategies prefix and buckets).
    digest : str
        SHA-256 of the pack's tokens.
    """

    requests: int
    distinct: int
    tokens: int
    unique_tokens: int
    strategy: Strategy
    flops: dict[str, int]
    buckets: tuple[int, ...]
    digest: str

    @property
    def bound(self) -> float:
        """Most that sharing can save: ``1 / (1 - shared)``, shared = 1 - unique_tokens / tokens."""
        return self.tokens / self.unique_tokens if self.unique_tokens else 1.0


def plan_pack(
    questions: Sequence[LabelPrompt], shape: Shape, allowed: Collection[Strategy], among: int | None = None
) -> PackPlan:
    """Return the plan of one pack: the allowed strategy with the fewest estimated operations.

    Parameters
    ----------
    questions : sequence of LabelPrompt
        Not empty.
    shape : Shape
        Of the model.
    allowed : collection of str
        What the model's attention permits; ``alone`` always is.
    among : int or None
        Requests of the pack, those that cannot be computed included.

    Examples
    --------
    >>> pack = [LabelPrompt(prompt=(1, 2, 3, n), labels=((9,), (8, 7))) for n in (4, 5, 6)]
    >>> plan = plan_pack(pack, Shape(linear=100, attention=8, head=50), {"tree", "prefix"})
    >>> plan.tokens, plan.unique_tokens, plan.strategy
    (15, 9, 'tree')
    """
    distinct = {(q.prompt, q.labels): q for q in questions}
    tokens = sum(size(q.sequences()) for q in questions)
    every = sorted({s for q in distinct.values() for s in q.sequences()})
    rows = len(every)
    unique = size(every)
    prompts = sorted({q.prompt for q in distinct.values()})
    flops: dict[str, int] = {
        "alone": sum(
            shape.flops(len(q.prompt) + len(s) - 1, _causal(len(q.prompt) + len(s) - 1), 1)
            for q in distinct.values()
            for s in q.labels
        )
    }
    buckets: tuple[int, ...] = ()
    if "tree" in allowed:
        flops["tree"] = shape.flops(unique, _tree_pairs(every), rows)
    if "prefix" in allowed:
        shared = len(shared_beginning(prompts))
        rests = sorted(len(p) - shared for p in prompts)
        whole, cut = (len(rests),), cut_by_length(rests)
        tails = _tail_flops(distinct.values(), shape)
        flops["prefix"] = _expanded(shared, rests, whole, shape) + tails
        flops["buckets"] = _expanded(shared, rests, cut, shape) + tails
        buckets = whole if flops["prefix"] <= flops["buckets"] else cut
    if not {"tree", "prefix"} & set(allowed):  # nothing is padded or packed, but for a price of many passes
        if "branches" in allowed:
            cut_up = cut_where_prompts_branch(prompts, PASS_TOKENS)
            flops["branches"] = _piecewise(distinct.values(), cut_up, shape)
        if "once" in allowed:
            flops["once"] = _piecewise(distinct.values(), read_whole(prompts), shape)
    order: tuple[Strategy, ...] = ("tree", "prefix", "buckets", "branches", "once", "alone")
    # Never a pass for each token of a label where one for each prompt will do.
    found = [s for s in order if s in flops and not (s == "alone" and {"branches", "once"} & set(flops))]
    strategy = min(found, key=lambda s: flops[s])
    return PackPlan(
        requests=len(questions) if among is None else among,
        distinct=len(distinct),
        tokens=tokens,
        unique_tokens=unique,
        strategy=strategy,
        flops=dict(sorted(flops.items())),
        buckets=buckets if strategy in ("prefix", "buckets") else (),
        digest=sha256(canonical_json([[q.prompt, q.labels] for q in questions])),
    )


def shared_beginning(prompts: Sequence[Tokens]) -> Tokens:
    """Return what all prompts begin with, less so much that each has a last token of its own."""
    return common_beginning(prompts)[: min(map(len, prompts)) - 1]


def cut_by_length(lengths: Sequence[int]) -> tuple[int, ...]:
    """Cut sorted lengths into buckets, each padded to its longest, at the least cost.

    A bucket of m rows up to length w costs ``m * w + PASS_TOKENS`` tokens.

    Examples
    --------
    >>> cut_by_length([10, 11, 12, 300, 301])
    (3, 2)
    >>> cut_by_length([10, 11, 12])
    (3,)
    """
    best: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for n in range(1, len(lengths) + 1):
        best.append(
            min((best[m][0] + (n - m) * lengths[n - 1] + PASS_TOKENS, (*best[m][1], n - m)) for m in range(n))
        )
    return best[-1][1]


def summarise(packs: Sequence[PackPlan], run_unique_tokens: int, **more: Any) -> dict[str, Any]:
    """Return the artefact ``plan.json``: totals, the bound, each pack, and the digest of it all.

    `run_unique_tokens` are those of one trie over all packs: what cutting into packs gives away shows.
    """
    tokens, unique = sum(p.tokens for p in packs), sum(p.unique_tokens for p in packs)
    content = {
        "tokens": tokens,
        "unique_tokens": unique,
        "unique_tokens_over_packs": run_unique_tokens,
        "shared": round(1 - unique / tokens, 6) if tokens else 0.0,
        "bound": round(tokens / unique, 4) if unique else 1.0,
        "bound_over_packs": round(tokens / run_unique_tokens, 4) if run_unique_tokens else 1.0,
        "packs": [{**asdict(p), "bound": round(p.bound, 4)} for p in packs],
        **more,
    }
    return {**content, "plan_sha256": sha256(canonical_json(content))}


def _causal(tokens: int) -> int:
    return tokens * (tokens + 1) // 2


def _tree_pairs(sequences: Sequence[Tokens]) -> int:
    """Return the pairs of query and key: each node once, with all that stands before it."""
    total = 0
    last: Tokens = ()
    for sequence in sequences:  # sorted
        total += _causal(len(sequence)) - _causal(shared_length(last, sequence))
        last = sequence
    return total


def _expanded(shared: int, rests: Sequence[int], buckets: Sequence[int], shape: Shape) -> int:
    total = shape.flops(shared, _causal(shared), 0) if shared else 0
    start = 0
    for rows in buckets:
        width = rests[start + rows - 1]
        total += shape.flops(rows * width + PASS_TOKENS, rows * width * (shared + width), rows)
        start += rows
    return total


def _tail_flops(questions: Collection[LabelPrompt], shape: Shape) -> int:
    # Every label of the pack follows every prompt of it, one pass a label.
    tails = {label for q in questions for label in q.labels if len(label) > 1}
    rows, longest = len(questions), max((len(q.prompt) for q in questions), default=0)
    return sum(
        shape.flops(rows * (len(t) - 1) + PASS_TOKENS, rows * (len(t) - 1) * longest, rows * (len(t) - 1))
        for t in tails
    )


def _piecewise(questions: Collection[LabelPrompt], segments: Sequence[Segment], shape: Shape) -> int:
    # A pass a piece, then one for each token of a prompt's labels but the last, all of its labels together.
    total = sum(
        shape.flops(s.stop - s.start + PASS_TOKENS, _causal(s.stop) - _causal(s.start), s.ends)
        for s in segments
    )
    for question in questions:
        rows = size(label[:-1] for label in question.labels if len(label) > 1)
        passes = max(map(len, question.labels)) - 1
        total += shape.flops(rows + passes * PASS_TOKENS, rows * len(question.prompt), rows)
    return total
