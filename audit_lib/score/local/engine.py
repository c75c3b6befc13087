"""The local engine: label probabilities of a pack of prompts, and texts.

A pack is planned (`audit_lib.score.local.plan`) and computed by the strategy with the fewest operations:
``tree`` computes every shared token once, ``prefix`` and ``buckets`` compute the common beginning once, ``branches``
reads on from the model's own memory where prompts branch, ``once`` reads each prompt in one pass and its labels from
memory, ``alone`` shares nothing: it is the model's own forward pass. Which of them are exact on a model is found at
load (`audit_lib.score.local.strategies`). The head computes in float32, the layers too unless the spec says otherwise;
probabilities are taken over the full vocabulary.

Imported by the scoring process alone: torch never enters the process that asks.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch

from audit_lib.errors import BackendError
from audit_lib.progress import ignore
from audit_lib.score.local.folder_check import model_type
from audit_lib.score.local.generate import Draft, generate
from audit_lib.score.local.label_passes import LabelPasses
from audit_lib.score.local.lengths import Lengths
from audit_lib.score.local.loading import decoder_of, load_model, load_tokenizer
from audit_lib.score.local.packed import as_loaded, pack
from audit_lib.score.local.placement import ROUNDING, Dtype, Placement
from audit_lib.score.local.plan import LabelPrompt, PackPlan, Strategy, plan_pack
from audit_lib.score.local.questions import LocalAnswer, Prompt, PromptReader, TemplateOptions, answer_of
from audit_lib.score.local.refusal import told
from audit_lib.score.local.shape import shape_of
from audit_lib.score.local.strategies import ExactWays, find_exact_ways, measure_floors
from audit_lib.score.local.trial_record import TrialRecord, ask_itself
from audit_lib.score.local.trie import Tokens


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
    dtype : str
        Type of number of the layers; the head computes in float32 in any case.
    device_map : mapping or str or None
        Part of the model -> device, or ``auto``, for several GPUs; then `device` is not used.

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
        dtype: Dtype = "float32",
        device_map: Mapping[str, str | int] | Literal["auto"] | None = None,
    ) -> None:
        torch.set_num_threads(threads)
        self.place = Placement(device=device, dtype=dtype, device_map=device_map)
        self.place.check()
        self._folder = folder
        self._in_float32: LabelPasses | None = None
        self.tokenizer = load_tokenizer(folder)
        self.reader = PromptReader(self.tokenizer, model_type(folder), asking)
        self.template = self.reader.template
        record = TrialRecord(weights_digest, self.place, threads)
        self.packed = 0
        kept = record.read()
        if kept is None:
            notify("it is held against its own attention, once for these weights")
            kept = self._try_ways()
            record.write(kept)
        else:
            self._hold(self.place, kept.lengths)
        self.ways = kept
        self.passes.whole_up_to = kept.lengths.shared
        self.longest = self.ways.lengths.longest

    def _try_ways(self) -> ExactWays:
        """Hold each way of computing against what a separate load says; the model is held from here on.

        In less than float32 the ways are tried in float32 first, and then how far rounding moves them is measured.
        """
        lengths, probes = ask_itself(lambda: load_model(self._folder, self.place.exact))
        self._hold(self.place.exact, lengths)
        ways = find_exact_ways(self.passes, probes, lengths)
        if self.place != self.place.exact:
            del self.model, self.passes
            gc.collect()
            self._hold(self.place, ways.lengths)
            measure_floors(self.passes, probes, ways, ROUNDING[self.place.dtype])
        return ways

    def _hold(self, place: Placement, lengths: Lengths) -> None:
        self.model = load_model(self._folder, place)
        self.device = self.model.device
        self.shape = shape_of(self.model)  # before weights are laid out anew: what is packed is no parameter
        self.passes = LabelPasses(self.model, lengths.shared)
        # Where nothing is shared each pass is the model's own, to the last digit: some choose experts or keys by it.
        packs = self.device.type == "cpu" and place.device_map is None and lengths.shared > 0
        self.packed = pack(decoder_of(self.model)) if packs else 0

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
                    answers[i] = replace(answer_of(result, labels[i]), tokens=(len(question.prompt), 0))
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
        """Return the answer by the model's own passes in float32, as it was loaded: one for each of a label's."""
        found = self._question(prompt)
        if isinstance(found, str):
            return LocalAnswer(error=found)
        question, labels = found
        with as_loaded():
            (result,) = self._exact_passes().by_themselves([question])
        return answer_of(result, labels)

    def _exact_passes(self) -> LabelPasses:
        if self.place == self.place.exact:
            return self.passes
        if self._in_float32 is None:  # kept: each shard asks for a few
            self._in_float32 = LabelPasses(
                load_model(self._folder, self.place.exact), self.ways.lengths.shared
            )
        return self._in_float32

    def render(self, messages: Sequence[Mapping[str, str]], *, for_labels: bool = True) -> str:
        """Return the conversation as the model reads it; a last assistant turn is left open."""
        return self.reader.render(messages, for_labels=for_labels)

    def tokenise(self, text: str) -> Tokens:
        """Return the tokens of rendered text, whose special tokens the template wrote."""
        return self.reader.tokenise(text)

    def _question(self, prompt: Prompt) -> tuple[LabelPrompt, list[list[Tokens]]] | str:
        return self.reader.question(prompt, self.longest)

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
                text=self.reader.text_of(text),
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
