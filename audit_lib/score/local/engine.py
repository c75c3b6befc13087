"""The local engine: label probabilities of a pack of prompts, and texts.

A pack is planned (`audit_lib.score.local.plan`) and computed by the strategy with the fewest operations:
``tree`` computes every shared token once, ``prefix`` and ``buckets`` compute the common beginning once, ``alone``
shares nothing and is what the others are held against. Everything is float32, probabilities are taken
over the full vocabulary.

Imported by the scoring process alone: torch never enters the process that asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from audit_lib.errors import BackendError
from audit_lib.score.local import tree
from audit_lib.score.local.generate import Draft, generate
from audit_lib.score.local.label_tokens import label_sequences, last_line
from audit_lib.score.local.memory import in_halves
from audit_lib.score.local.packed import pack
from audit_lib.score.local.plan import PackPlan, Question, Shape, Strategy, plan_pack, shared_beginning
from audit_lib.score.local.prefix import Begun, beginning, follow, read_rests, step_back
from audit_lib.score.local.trie import Tokens, Trie, build

TOLERANCE: Final = 1e-5
"""Most that a strategy's probabilities may differ from plain passes when it is tried at load."""

_ROWS_AT_ONCE: Final = 16  # of logits turned into float64


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """How a text is generated: see `audit_lib.score.local.generate.Draft`."""

    max_tokens: int
    temperature: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A conversation, and the labels whose probability is asked for, or how a text is generated."""

    messages: tuple[dict[str, str], ...]
    labels: tuple[str, ...] = ()
    sampling: Sampled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The probability of each label or a text with its lengths in tokens, or why there is none."""

    probabilities: tuple[float, ...] | None = None
    text: str | None = None
    tokens: tuple[int, int] = (0, 0)
    error: str | None = None


class Engine:
    """A causal language model that gives label probabilities and texts.

    Parameters
    ----------
    folder : Path
        Model folder, as transformers saves it. Code in it is never run, pickles are never read.
    device : str
        Such as ``cpu`` or ``cuda:0``.
    threads : int
        Threads of torch on the CPU.

    Attributes
    ----------
    halved : int
        How often a pass was halved for want of memory since the model was loaded.
    packed : int
        Parts whose weights were laid out for this processor (`audit_lib.score.local.packed`).

    Raises
    ------
    BackendError
        If the tokenizer has no chat template.
    """

    def __init__(self, folder: Path, *, device: str, threads: int) -> None:
        torch.set_num_threads(threads)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        if not self.tokenizer.chat_template:
            raise BackendError(f"{folder.name}: the tokenizer has no chat template; add chat_template.jinja")
        self.model = _load(folder).to(device).eval()
        self.device = torch.device(device)
        self.pass_nodes = tree.PASS_NODES["cuda" if self.device.type == "cuda" else "cpu"]
        self.halved = 0
        config = self.model.config.get_text_config()
        self.longest = int(getattr(config, "max_position_embeddings", None) or 2**31)
        self.shape = _shape(self.model, config)
        self.packed = pack(self.model.get_decoder()) if self.device.type == "cpu" else 0
        self._share_up_to = _shareable_length(self.model, config)
        self._label_tokens = lru_cache(maxsize=1024)(partial(label_sequences, self.tokenise))
        self.tree_works = self._share_up_to > 0 and self._try_tree()

    @torch.inference_mode()
    def score(self, prompts: Sequence[Prompt], strategy: Strategy | None = None) -> list[Answer]:
        """Return an answer for each prompt of one pack; equal questions are computed once.

        `strategy` overrules the plan's.
        """
        answers = {}
        questions: dict[Question, list[int]] = {}
        labels: dict[int, list[list[Tokens]]] = {}
        for i, prompt in enumerate(prompts):
            found = self._question(prompt)
            if isinstance(found, str):
                answers[i] = Answer(error=found)
            elif prompt.sampling is None:
                question, labels[i] = found
                questions.setdefault(question, []).append(i)
        if questions:
            asked = list(questions)
            plan = plan_pack(asked, self.shape, self._allowed(asked))
            probabilities = self._compute(asked, strategy or plan.strategy, plan.buckets)
            for result, numbers in zip(probabilities, questions.values(), strict=True):
                for i in numbers:
                    answers[i] = _answer(result, labels[i])
        written = [i for i, p in enumerate(prompts) if p.sampling is not None and i not in answers]
        answers |= dict(zip(written, self._write([prompts[i] for i in written]), strict=True))
        return [answers[i] for i in range(len(prompts))]

    def plan(self, prompts: Sequence[Prompt]) -> PackPlan | None:
        """Return the plan of one pack, or None if nothing in it asks for labels."""
        found = [self._question(prompt) for prompt in prompts if prompt.sampling is None]
        questions = [q[0] for q in found if not isinstance(q, str)]
        if not questions:
            return None
        return plan_pack(questions, self.shape, self._allowed(questions), among=len(prompts))

    def sequences(self, prompts: Sequence[Prompt]) -> set[Tokens]:
        """Return all token sequences that a pack's labels need."""
        found = [self._question(prompt) for prompt in prompts if prompt.sampling is None]
        return {s for q in found if not isinstance(q, str) for s in q[0].sequences()}

    def score_alone(self, prompt: Prompt) -> Answer:
        """Return the answer by plain float32 passes, one for each sequence of each label."""
        found = self._question(prompt)
        if isinstance(found, str):
            return Answer(error=found)
        question, labels = found
        return _answer(self.alone(question.prompt, question.labels), labels)

    def render(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the conversation as the model reads it; a last assistant turn is left open."""
        goes_on = messages[-1]["role"] == "assistant"
        text: str = self.tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=not goes_on, continue_final_message=goes_on
        )
        return text

    def tokenise(self, text: str) -> Tokens:
        """Return the tokens of rendered text, whose special tokens the template wrote."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    @torch.inference_mode()
    def alone(self, prompt: Tokens, sequences: Sequence[Tokens]) -> dict[Tokens, float]:
        """Return each sequence's probability by a plain forward pass: slow, shares and pads nothing."""
        found = {}
        for sequence in sequences:
            tokens = torch.tensor([prompt + sequence[:-1]], device=self.device)
            logits = self.model(input_ids=tokens, use_cache=False, logits_to_keep=len(sequence)).logits[0]
            steps = _log_softmax(logits)[range(len(sequence)), list(sequence)]
            found[sequence] = float(steps.sum().exp())
        return found

    def _question(self, prompt: Prompt) -> tuple[Question, list[list[Tokens]]] | str:
        """Return a prompt in tokens with the sequences of each label, or why it cannot be computed."""
        text = self.render(prompt.messages)
        if not text.isascii() and text != text.encode(errors="replace").decode():
            return "the prompt holds half of a surrogate pair, which no text can"
        tokens = self.tokenise(text)
        if prompt.sampling is not None:
            need, what = len(tokens) + prompt.sampling.max_tokens, "and its answer may have"
            labels: list[list[Tokens]] = []
        else:
            labels = self._label_tokens(last_line(text), prompt.labels)
            need, what = (
                len(tokens) + max(len(s) for label in labels for s in label) - 1,
                "and its label have",
            )
        if need > self.longest:
            return f"the prompt {what} {need} tokens, the model takes {self.longest}"
        every = tuple(sorted({s for label in labels for s in label}))
        return Question(prompt=tokens, labels=every), labels

    def _allowed(self, questions: Sequence[Question]) -> tuple[Strategy, ...]:
        longest = max(len(s) for q in questions for s in q.sequences()) + 1
        if longest > self._share_up_to:
            return ("alone",)
        return ("tree", "prefix") if self.tree_works else ("prefix",)

    def _compute(
        self, questions: Sequence[Question], strategy: Strategy, buckets: Sequence[int]
    ) -> list[dict[Tokens, float]]:
        """Return, for each question, the probability of each of its sequences."""
        if strategy == "tree":
            return self._by_tree(questions)
        if strategy in ("prefix", "buckets"):
            return self._by_prefix(questions, buckets)
        return [self.alone(q.prompt, q.labels) for q in questions]

    def _by_tree(self, questions: Sequence[Question]) -> list[dict[Tokens, float]]:
        trie = build(s for q in questions for s in q.sequences())
        steps = {(q.prompt, label): _steps(trie, q.prompt, label) for q in questions for label in q.labels}
        columns: dict[int, set[int]] = {}
        for path in steps.values():
            for node, token in path:
                columns.setdefault(node, set()).add(token)
        logs: dict[tuple[int, int], float] = {}

        def read(logits: torch.Tensor, nodes: Sequence[int]) -> None:
            for at in range(0, len(nodes), _ROWS_AT_ONCE):
                some = _log_softmax(logits[at : at + _ROWS_AT_ONCE])
                for row, node in zip(some, nodes[at : at + _ROWS_AT_ONCE], strict=True):
                    tokens = sorted(columns[node])
                    logs.update(zip([(node, t) for t in tokens], row[tokens].tolist(), strict=True))

        self.halved += tree.read_trie(self.model, trie, sorted(columns), read, pass_nodes=self.pass_nodes)
        return [
            {s: math.exp(sum(logs[step] for step in steps[q.prompt, s])) for s in q.labels} for q in questions
        ]

    def _by_prefix(self, questions: Sequence[Question], buckets: Sequence[int]) -> list[dict[Tokens, float]]:
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
        first = _log_softmax(begun.logits)
        rows: list[dict[Tokens, float]] = [{} for _ in begun.logits]
        for label in labels:
            total = first[:, label[0]]
            if len(label) > 1:
                forced = torch.tensor([label[:-1]]).expand(len(first), -1)
                logits = follow(self.model, begun, forced)
                step_back(begun, len(label) - 1)
                wanted = torch.tensor(label[1:]).expand(len(first), -1)
                total = total + _log_softmax(logits).gather(2, wanted[:, :, None]).sum(dim=(1, 2))
            for row, value in zip(rows, total.exp().tolist(), strict=True):
                row[label] = value
        return rows

    def _write(self, prompts: Sequence[Prompt]) -> list[Answer]:
        drafts = [
            Draft(
                prompt=self.tokenise(self.render(p.messages)),
                max_tokens=p.sampling.max_tokens,
                temperature=p.sampling.temperature,
                seed=p.sampling.seed,
            )
            for p in prompts
            if p.sampling is not None
        ]
        texts, halved = generate(self.model, drafts, self._ends(), self._share_up_to)
        self.halved += halved
        return [
            Answer(
                text=self.tokenizer.decode(text, skip_special_tokens=True),
                tokens=(len(draft.prompt), len(text)),
            )
            for text, draft in zip(texts, drafts, strict=True)
        ]

    def _ends(self) -> frozenset[int]:
        """Return the tokens that end a text: the tokenizer's, and those that the model's files name."""
        named = getattr(self.model.generation_config, "eos_token_id", None)
        several = named if isinstance(named, list) else [named]
        return frozenset(t for t in [*several, self.tokenizer.eos_token_id] if t is not None)

    @torch.inference_mode()
    def _try_tree(self) -> bool:
        """Return whether this model computes a small trie, in several passes, as it computes plain sequences."""
        if getattr(self.model.config, "_attn_implementation", None) != tree.NAME:
            return False
        size = self.model.get_input_embeddings().weight.shape[0]
        words = [(7919 * n + 13) % size for n in range(24)]
        asked = [(*words[:9], *words[n : n + 6]) for n in (10, 11, 17)]
        trie = build(asked)
        worst = 0.0

        def read(logits: torch.Tensor, nodes: Sequence[int]) -> None:
            nonlocal worst
            for row, node in zip(logits, nodes, strict=True):
                sequence = next(s for s, end in trie.ends.items() if end == node)
                plain = self.model(torch.tensor([sequence], device=self.device), use_cache=False)
                gap = _log_softmax(row).exp() - _log_softmax(plain.logits[0, -1]).exp()
                worst = max(worst, float(gap.abs().max()), key=lambda x: float("inf") if x != x else x)

        try:
            tree.read_trie(self.model, trie, sorted(trie.ends.values()), read, pass_nodes=8)
        except Exception:  # noqa: BLE001  # whatever a strange model says: it cannot be asked this way
            return False
        return worst <= TOLERANCE


def _load(folder: Path) -> Any:
    tree.register()
    read: Any = AutoModelForCausalLM.from_pretrained
    try:
        return read(folder, dtype=torch.float32, use_safetensors=True, attn_implementation=tree.NAME)
    except (ValueError, KeyError):  # its attention is its own
        return read(folder, dtype=torch.float32, use_safetensors=True)


def _shape(model: Any, config: Any) -> Shape:
    embeddings = model.get_input_embeddings().weight
    head = model.get_output_embeddings().weight
    outside = {id(embeddings), id(head)}
    heads = int(config.num_attention_heads)
    width = int(getattr(config, "head_dim", None) or config.hidden_size // heads)
    return Shape(
        linear=sum(p.numel() for p in model.parameters() if p.ndim > 1 and id(p) not in outside),
        attention=int(config.num_hidden_layers) * heads * width,
        head=head.numel(),
    )


def _shareable_length(model: Any, config: Any) -> int:
    """Return up to how many tokens padding and a shared cache leave the result as it is.

    A sliding window counts columns of the cache, padding among them, and a recurrent state takes padding
    in: such prompts are computed one by one.
    """
    kinds = set(getattr(config, "layer_types", None) or ())
    if getattr(model, "_is_stateful", False) or kinds - {"full_attention", "sliding_attention"}:
        return 0
    window = getattr(config, "sliding_window", None)
    return int(window) if window and kinds != {"full_attention"} else 2**31


def _steps(trie: Trie, prompt: Tokens, label: Tokens) -> list[tuple[int, int]]:
    """Return (node, token that follows it) of each step of a label."""
    node = trie.ends[prompt + label[:-1]]
    nodes = [node]
    for _ in label[1:]:
        node = int(trie.parent[node])
        nodes.append(node)
    return list(zip(reversed(nodes), label, strict=True))


def _log_softmax(logits: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(logits.double().cpu(), dim=-1)


def _answer(found: dict[Tokens, float], labels: list[list[Tokens]]) -> Answer:
    probabilities = tuple(sum(found[s] for s in sequences) for sequences in labels)
    if not all(0 <= p < float("inf") for p in probabilities):
        return Answer(error="the model's logits are not finite")
    return Answer(probabilities=probabilities)
