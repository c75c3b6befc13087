"""The local engine: label probabilities of a pack of prompts, and texts.

A pack is planned (`audit_lib.score.local.plan`) and computed by the strategy with the fewest operations:
``tree`` computes every shared token once, ``prefix`` and ``buckets`` compute the common beginning once, ``alone``
shares nothing: it is the model's own forward pass. Which of them are exact on a model is found at load
(`audit_lib.score.local.strategies`). Everything is float32, probabilities are taken over the full vocabulary.

Imported by the scoring process alone: torch never enters the process that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch

from audit_lib.errors import BackendError
from audit_lib.progress import ignore
from audit_lib.score.local.chat_template import ChatTemplate, PromptError
from audit_lib.score.local.folder_check import model_type
from audit_lib.score.local.generate import Draft, generate
from audit_lib.score.local.label_passes import LabelPasses
from audit_lib.score.local.label_tokens import label_probabilities, label_sequences, last_line
from audit_lib.score.local.loading import decoder_of, load_model, load_tokenizer
from audit_lib.score.local.packed import as_loaded, pack
from audit_lib.score.local.plan import LabelPrompt, PackPlan, Strategy, plan_pack
from audit_lib.score.local.refusal import told
from audit_lib.score.local.shape import shape_of
from audit_lib.score.local.strategies import WAYS, ExactWays, find_exact_ways
from audit_lib.score.local.thinking import Wish
from audit_lib.score.local.trial_record import TrialRecord, ask_itself
from audit_lib.score.local.trie import Tokens


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
class LocalAnswer:
    """The probability of each label or a text, the lengths of prompt and text in tokens, or why there is no answer."""

    probabilities: tuple[float, ...] | None = None
    text: str | None = None
    tokens: tuple[int, int] = (0, 0)
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateOptions:
    """What a spec says of how conversations are written (`audit_lib.score.local.chat_template`)."""

    kwargs: Mapping[str, Any] = field(default_factory=dict)
    thinking: Wish | None = None
    day: date | None = None


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
    asking : TemplateOptions
        How conversations are written.
    weights_digest : str or None
        Identifies the folder's content. With it, what the trial at load found is kept and not tried again.
    notify : callable
        Told what takes long.

    Attributes
    ----------
    passes : LabelPasses
        The model's passes, and how often one was halved for want of memory since it was loaded.
    packed : int
        Parts whose weights were laid out for this processor (`audit_lib.score.local.packed`).
    ways : ExactWays
        Which ways of computing are exact on this model.
    template : ChatTemplate

    Raises
    ------
    BackendError
        If the tokenizer has no chat template, the weights are not whole, the model is not causal, or its own passes
        do not come out the same again. The message says the type of the model, the reason and what to do.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str,
        threads: int,
        asking: TemplateOptions | None = None,
        weights_digest: str | None = None,
        notify: Callable[[str], None] = ignore,
    ) -> None:
        torch.set_num_threads(threads)
        self.device = torch.device(device)
        self.tokenizer = load_tokenizer(folder)
        how = asking or TemplateOptions()
        self.template = ChatTemplate(
            self.tokenizer, model_type(folder), kwargs=how.kwargs, wish=how.thinking, day=how.day
        )
        self.packed = 0
        self._label_tokens = lru_cache(maxsize=1024)(partial(label_sequences, self.tokenise))
        record = TrialRecord(weights_digest, device, threads)
        kept, probes = record.read(), None
        if kept is None:
            notify("it is held against its own attention, once for these weights")
            lengths, probes = ask_itself(lambda: self._load(folder))
            kept = ExactWays(lengths=lengths, faults=dict.fromkeys(WAYS))
        self.ways = kept
        self.model = self._load(folder)
        self.passes = LabelPasses(self.model, kept.lengths.shared)
        self.shape = shape_of(self.model)
        # Where nothing is shared each pass is the model's own, to the last digit: some choose experts or keys by it.
        if self.device.type == "cpu" and self.ways.lengths.shared > 0:
            self.packed = pack(decoder_of(self.model))
        if probes is not None:
            self.ways = find_exact_ways(self.passes, probes, kept.lengths)
            self.passes.whole_up_to = self.ways.lengths.shared
            record.write(self.ways)
        self.longest = self.ways.lengths.longest

    def _load(self, folder: Path) -> Any:
        return load_model(folder).to(self.device).eval()

    @torch.inference_mode()
    def score(self, prompts: Sequence[Prompt], strategy: Strategy | None = None) -> list[LocalAnswer]:
        """Return an answer for each prompt of one pack; equal questions are computed once.

        `strategy` overrules the plan's.
        """
        answers = {}
        questions: dict[LabelPrompt, list[int]] = {}
        labels: dict[int, list[list[Tokens]]] = {}
        for i, prompt in enumerate(prompts):
            found = self._question(prompt)
            if isinstance(found, str):
                answers[i] = LocalAnswer(error=found)
            elif prompt.sampling is None:
                question, labels[i] = found
                questions.setdefault(question, []).append(i)
        if questions:
            asked = list(questions)
            plan = plan_pack(asked, self.shape, self._allowed(asked))
            results = self.passes.compute(
                self.ways, asked, strategy or plan.strategy, plan.buckets, self._allowed(asked)
            )
            for question, result, numbers in zip(asked, results, questions.values(), strict=True):
                for i in numbers:
                    answers[i] = replace(_answer(result, labels[i]), tokens=(len(question.prompt), 0))
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

    def score_alone(self, prompt: Prompt) -> LocalAnswer:
        """Return the answer by the model's own passes, as it was loaded: one for each sequence of each label."""
        found = self._question(prompt)
        if isinstance(found, str):
            return LocalAnswer(error=found)
        question, labels = found
        with as_loaded():
            (result,) = self.passes.by_themselves([question])
        return _answer(result, labels)

    def render(self, messages: Sequence[Mapping[str, str]], *, for_labels: bool = True) -> str:
        """Return the conversation as the model reads it; a last assistant turn is left open."""
        return self.template.render(messages, for_labels=for_labels)

    def tokenise(self, text: str) -> Tokens:
        """Return the tokens of rendered text, whose special tokens the template wrote."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def _question(self, prompt: Prompt) -> tuple[LabelPrompt, list[list[Tokens]]] | str:
        """Return a prompt in tokens with the sequences of each label, or why it cannot be computed."""
        try:
            text = self.render(prompt.messages, for_labels=prompt.sampling is None)
        except PromptError as error:
            return str(error)
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
        return LabelPrompt(prompt=tokens, labels=every), labels

    def _allowed(self, questions: Sequence[LabelPrompt]) -> tuple[Strategy, ...]:
        return self.ways.for_labels(max(len(s) for q in questions for s in q.sequences()) + 1)

    def _write(self, prompts: Sequence[Prompt]) -> list[LocalAnswer]:
        drafts = [
            Draft(
                prompt=self.tokenise(self.render(p.messages, for_labels=False)),
                max_tokens=p.sampling.max_tokens,
                temperature=p.sampling.temperature,
                seed=p.sampling.seed,
            )
            for p in prompts
            if p.sampling is not None
        ]
        texts, halved = self._generate(drafts)
        self.passes.halved += halved
        return [
            LocalAnswer(
                text=self.tokenizer.decode(text, skip_special_tokens=True),
                tokens=(len(draft.prompt), len(text)),
            )
            for text, draft in zip(texts, drafts, strict=True)
        ]

    def _generate(self, drafts: Sequence[Draft]) -> tuple[list[Tokens], int]:
        """Return texts; where a cache ends with an error, by a pass for each token."""
        while True:
            try:
                return generate(
                    self.model, drafts, self._ends(), self.ways.padded_up_to, self.ways.cached_up_to
                )
            except BackendError:
                raise
            except Exception as error:
                if self.ways.cached_up_to == 0:
                    raise BackendError(
                        f"the model's own passes end with {type(error).__name__}: {told(error)}"
                    ) from error
                self.ways.drop("prefix" if self.ways.padded_up_to else "cache", error)

    def _ends(self) -> frozenset[int]:
        """Return the tokens that end a text: the tokenizer's, and those that the model's files name."""
        named = getattr(self.model.generation_config, "eos_token_id", None)
        several = named if isinstance(named, list) else [named]
        return frozenset(t for t in [*several, self.tokenizer.eos_token_id] if t is not None)


def _answer(found: dict[Tokens, float] | str, labels: list[list[Tokens]]) -> LocalAnswer:
    if isinstance(found, str):
        return LocalAnswer(error=found)
    probabilities = label_probabilities(found, labels)
    if min(probabilities) < 0:
        return LocalAnswer(error="a label has less probability than the longer ones that begin with it")
    if not all(p < float("inf") for p in probabilities):
        return LocalAnswer(error="the model's logits are not finite")
    return LocalAnswer(probabilities=probabilities)
