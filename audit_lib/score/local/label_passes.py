"""The ways of computing labels' probabilities of a pack of prompts: each gives the same, at another price.

Which of them are exact on a model is found at load (`audit_lib.score.local.strategies`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from audit_lib.score.local import tree
from audit_lib.score.local.branches import label_probabilities_after, read_segments
from audit_lib.score.local.memory import in_halves, is_out_of_memory, no_memory
from audit_lib.score.local.plain import log_softmax, plain_probabilities
from audit_lib.score.local.plan import PASS_TOKENS, LabelPrompt, Strategy, shared_beginning
from audit_lib.score.local.prefix import Begun, beginning, follow, read_rests, step_back
from audit_lib.score.local.refusal import told
from audit_lib.score.local.segments import cut_where_prompts_branch, read_whole
from audit_lib.score.local.strategies import ExactWays, first_that_works
from audit_lib.score.local.trie import Tokens, build, label_steps

_ROWS_AT_ONCE: Final = 16  # of logits turned into float64


class LabelPasses:
    """A model's forward passes over prompts and labels.

    Parameters
    ----------
    model : PreTrainedModel
    whole_up_to : int
        Tokens up to which a label of several takes one plain pass. A longer pass may depend on its own length, so
        there each token takes one.

    Attributes
    ----------
    pass_nodes : int
        Nodes of a pass over a tree.
    halved : int
        How often a pass was halved for want of memory.
    """

    def __init__(self, model: Any, whole_up_to: int) -> None:
        self.model = model
        self.whole_up_to = whole_up_to
        self.pass_nodes = tree.PASS_NODES["cuda" if model.device.type == "cuda" else "cpu"]
        self.halved = 0

    def compute(
        self,
        ways: ExactWays,
        questions: Sequence[LabelPrompt],
        strategy: Strategy,
        buckets: Sequence[int],
        allowed: Sequence[Strategy],
    ) -> Sequence[dict[Tokens, float] | str]:
        """Return, for each question, the probability of each of its sequences, or why there is none."""
        if strategy == "alone":
            return self.by_themselves(questions)
        passes: dict[Strategy, Callable[[], Sequence[dict[Tokens, float] | str]]] = {
            "tree": lambda: self.by_tree(questions, self.pass_nodes),
            "prefix": lambda: self.by_prefix(questions, buckets),
            "buckets": lambda: self.by_prefix(questions, buckets),
            "branches": lambda: self.by_branches(questions),
            "once": lambda: self.by_branches(questions, whole=True),
            "alone": lambda: self.by_themselves(questions),
        }
        like = "prefix" if strategy == "buckets" else strategy
        rest = allowed[allowed.index(like) + 1 :] if like in allowed else ("alone",)
        return first_that_works(ways, (strategy, *rest), passes)

    def by_themselves(self, questions: Sequence[LabelPrompt]) -> list[dict[Tokens, float] | str]:
        """Return each question's probabilities from the model's own passes, or why they end with an error."""
        found: list[dict[Tokens, float] | str] = []
        for question in questions:
            try:
                found.append(self.alone(question.prompt, question.labels))
            except Exception as error:  # noqa: BLE001 - a strange model may raise anything
                if is_out_of_memory(error):
                    raise no_memory() from None
                found.append(
                    f"the model's own pass over {len(question.prompt)} tokens ends with {type(error).__name__}: "
                    f"{told(error)}"
                )
        return found

    def alone(self, prompt: Tokens, sequences: Sequence[Tokens]) -> dict[Tokens, float]:
        """Return each sequence's probability by plain forward passes: slow, shares and pads nothing."""
        # Beyond what may be shared a pass may depend on its own length, so each token takes one.
        longest = len(prompt) + max(map(len, sequences)) - 1
        return plain_probabilities(self.model, prompt, sequences, token_by_token=longest > self.whole_up_to)

    def by_tree(self, questions: Sequence[LabelPrompt], pass_nodes: int) -> list[dict[Tokens, float]]:
        """Return each question's probabilities from a trie of all tokens, each computed once."""
        trie = build(s for q in questions for s in q.sequences())
        steps = {
            (q.prompt, label): label_steps(trie, q.prompt, label) for q in questions for label in q.labels
        }
        columns: dict[int, set[int]] = {}
        for path in steps.values():
            for node, token in path:
                columns.setdefault(node, set()).add(token)
        logs: dict[tuple[int, int], float] = {}

        def read(logits: torch.Tensor, nodes: Sequence[int]) -> None:
            for at in range(0, len(nodes), _ROWS_AT_ONCE):
                some = log_softmax(logits[at : at + _ROWS_AT_ONCE])
                for row, node in zip(some, nodes[at : at + _ROWS_AT_ONCE], strict=True):
                    tokens = sorted(columns[node])
                    logs.update(zip([(node, t) for t in tokens], row[tokens].tolist(), strict=True))

        self.halved += tree.read_trie(self.model, trie, sorted(columns), read, pass_nodes=pass_nodes)
        return [
            {s: math.exp(sum(logs[step] for step in steps[q.prompt, s])) for s in q.labels} for q in questions
        ]

    def by_branches(
        self, questions: Sequence[LabelPrompt], *, whole: bool = False
    ) -> list[dict[Tokens, float]]:
        """Return each question's probabilities from the model's own memory of what was read.

        What prompts begin with is read once, or each prompt in one `whole` pass.
        """
        labels: dict[Tokens, set[Tokens]] = {}
        for question in questions:
            labels.setdefault(question.prompt, set()).update(question.labels)
        found: dict[Tokens, dict[Tokens, float]] = {}

        def at_end(prompt: Tokens, logits: torch.Tensor, memory: Any) -> None:
            some = sorted(labels[prompt])
            found[prompt] = label_probabilities_after(self.model, prompt, logits, memory, some)

        prompts = list(labels)
        segments = read_whole(prompts) if whole else cut_where_prompts_branch(prompts, PASS_TOKENS)
        try:
            read_segments(self.model, segments, at_end)
        except RuntimeError as error:  # torch.OutOfMemoryError is one
            if not is_out_of_memory(error):
                raise
            raise no_memory() from None
        return [{label: found[q.prompt][label] for label in q.labels} for q in questions]

    def by_prefix(
        self, questions: Sequence[LabelPrompt], buckets: Sequence[int]
    ) -> list[dict[Tokens, float]]:
        """Return each question's probabilities from what all prompts begin with, computed once."""
        prompts = sorted({q.prompt for q in questions}, key=lambda p: (len(p), p))
        labels = sorted({label for q in questions for label in q.labels})
        shared = shared_beginning(prompts)
        cache = beginning(self.model, shared)
        found: dict[Tokens, dict[Tokens, float]] = {}
        start = 0
        for rows in buckets or (len(prompts),):

            def work(some: Sequence[Tokens]) -> list[dict[Tokens, float]]:
                begun = read_rests(self.model, some, shared, cache)
                return self._rows(begun, labels)

            bucket = prompts[start : start + rows]
            results, halved = in_halves(bucket, work)
            self.halved += halved
            found |= dict(zip(bucket, results, strict=True))
            start += rows
        return [{s: found[q.prompt][s] for s in q.labels} for q in questions]

    def _rows(self, begun: Begun, labels: Sequence[Tokens]) -> list[dict[Tokens, float]]:
        first = log_softmax(begun.logits)
        rows: list[dict[Tokens, float]] = [{} for _ in begun.logits]
        for label in labels:
            total = first[:, label[0]]
            if len(label) > 1:
                forced = torch.tensor([label[:-1]]).expand(len(first), -1)
                logits = follow(self.model, begun, forced)
                step_back(begun, len(label) - 1)
                wanted = torch.tensor(label[1:]).expand(len(first), -1)
                total = total + log_softmax(logits).gather(2, wanted[:, :, None]).sum(dim=(1, 2))
            for row, value in zip(rows, total.exp().tolist(), strict=True):
                row[label] = value
        return rows
