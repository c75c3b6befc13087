"""The local engine: label probabilities of a pack of prompts that begin alike.

A pack's common beginning (system message, job description) is computed once; its key-value cache is
expanded over the pack, and only the rest of each prompt is computed. The rests are padded on the
left, between the shared beginning and themselves, so that every prompt ends in the last column;
padding is masked and positions count real tokens only. Everything is float32, probabilities are
taken over the full vocabulary.

Imported by the scoring process alone: torch never enters the process that asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from audit_lib.errors import BackendError

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A conversation, and the labels whose probability is asked for."""

    messages: tuple[dict[str, str], ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The probability of each label, or why there is none."""

    probabilities: tuple[float, ...] | None = None
    error: str | None = None


class Engine:
    """A causal language model that gives label probabilities.

    Parameters
    ----------
    folder : Path
        Model folder, as transformers saves it. Code in it is never run, pickles are never read.
    device : str
        Such as ``cpu`` or ``cuda:0``.
    threads : int
        Threads of torch on the CPU.

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
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, use_safetensors=True)
        self.model = model.to(device).eval()
        self.device = torch.device(device)
        config = self.model.config.get_text_config()
        self.longest = int(getattr(config, "max_position_embeddings", None) or 2**31)
        self._share_up_to = _shareable_length(self.model, config)
        self._label_tokens = lru_cache(maxsize=1024)(self._tokenise_labels)

    @torch.inference_mode()
    def score(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Return an answer for each prompt of one pack; equal prompts are computed once."""
        answers: list[Answer | None] = [None] * len(prompts)
        waiting: dict[Tokens, list[int]] = {}
        labels: list[list[list[Tokens]]] = []
        for i, prompt in enumerate(prompts):
            text = self.render(prompt.messages)
            tokens = self.tokenise(text)
            labels.append(self._label_tokens(_last_line(text), prompt.labels))
            need = len(tokens) + max(len(s) for label in labels[i] for s in label) - 1
            if need > self.longest:
                answers[i] = Answer(
                    error=f"the prompt and its label have {need} tokens, the model takes {self.longest}"
                )
            else:
                waiting.setdefault(tokens, []).append(i)
        if waiting:
            sequences = sorted(
                {s for group in waiting.values() for i in group for label in labels[i] for s in label}
            )
            for found, group in zip(
                self._probabilities(list(waiting), sequences), waiting.values(), strict=True
            ):
                for i in group:
                    answers[i] = _answer(found, labels[i])
        return [answer for answer in answers if answer is not None]

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

    def _tokenise_labels(self, context: str, labels: tuple[str, ...]) -> list[list[Tokens]]:
        """Return the token sequences of each label, written at once and after a space, following `context`.

        Raises
        ------
        BackendError
            If one label begins another: the probability of the shorter would hold the longer's.
        """
        before = self.tokenise(context)
        found: list[list[Tokens]] = []
        for label in labels:
            sequences = []
            for written in (label.strip(), " " + label.strip()):
                tokens = self.tokenise(context + written)
                if tokens[: len(before)] == before and len(tokens) > len(before):
                    sequences.append(tokens[len(before) :])
                else:  # the label melts into the context's last token: take it alone
                    sequences.append(self.tokenise(written))
            found.append(sorted(set(sequences)))
        for i, label in enumerate(labels):
            for j, other in enumerate(labels):
                if i != j and any(t[: len(s)] == s for s in found[i] for t in found[j]):
                    raise BackendError(
                        f"labels {label!r} and {other!r}: the tokens of one begin with the other's; "
                        "choose labels of which none begins another"
                    )
        return found

    def _probabilities(self, prompts: list[Tokens], sequences: list[Tokens]) -> list[dict[Tokens, float]]:
        """Return the probability of each sequence after each prompt."""
        if max(map(len, prompts)) + max(map(len, sequences)) > self._share_up_to:
            return [self.alone(prompt, sequences) for prompt in prompts]
        shared = _common_beginning(prompts)
        shared = shared[: min(map(len, prompts)) - 1]
        cache = None
        if shared:
            cache = self._forward(torch.tensor([shared]), None, None, None, 1).past_key_values
            cache.batch_repeat_interleave(len(prompts))
        width = max(map(len, prompts)) - len(shared)
        rows, mask = [], []
        for prompt in prompts:
            rest = prompt[len(shared) :]
            padding = width - len(rest)
            # What stands in the padding is never seen; a token of the prompt is always a valid one.
            rows.append((prompt[-1],) * padding + rest)
            mask.append([1] * len(shared) + [0] * padding + [1] * len(rest))
        seen = torch.tensor(mask)
        positions = (seen.cumsum(1) - 1).clamp(min=0)[:, len(shared) :]
        out = self._forward(torch.tensor(rows), cache, seen, positions, 1)
        first = _log_softmax(out.logits[:, -1])
        found: list[dict[Tokens, float]] = [{} for _ in prompts]
        for sequence in sequences:
            total = first[:, sequence[0]]
            if len(sequence) > 1:
                total = total + self._follow(sequence, out.past_key_values, seen)
            for row, value in zip(found, total.exp().tolist(), strict=True):
                row[sequence] = value
        return found

    def _follow(self, sequence: Tokens, cache: Any, seen: torch.Tensor) -> torch.Tensor:
        """Return the log-probability of a label's tokens after its first, teacher-forced. The cache is put back."""
        length = cache.get_seq_length()
        forced = torch.tensor([sequence[:-1]]).expand(len(seen), -1)
        longer = torch.cat([seen, torch.ones_like(forced)], dim=1)
        positions = (longer.cumsum(1) - 1)[:, -forced.shape[1] :]
        logits = self._forward(forced, cache, longer, positions, forced.shape[1]).logits
        cache.crop(length - cache.get_seq_length())
        wanted = torch.tensor(sequence[1:], device=logits.device).expand(len(seen), -1)
        return _log_softmax(logits).gather(2, wanted[:, :, None]).sum(dim=(1, 2))

    @torch.inference_mode()
    def alone(self, prompt: Tokens, sequences: Sequence[Tokens]) -> dict[Tokens, float]:
        """Return the same by one plain forward pass a sequence: slow, shares and pads nothing."""
        found = {}
        for sequence in sequences:
            tokens = torch.tensor([prompt + sequence[:-1]], device=self.device)
            logits = self.model(input_ids=tokens, use_cache=False, logits_to_keep=len(sequence)).logits[0]
            steps = _log_softmax(logits)[range(len(sequence)), list(sequence)]
            found[sequence] = float(steps.sum().exp())
        return found

    def _forward(
        self,
        tokens: torch.Tensor,
        cache: Any,
        mask: torch.Tensor | None,
        positions: torch.Tensor | None,
        keep: int,
    ) -> Any:
        return self.model(
            input_ids=tokens.to(self.device),
            past_key_values=cache,
            attention_mask=None if mask is None else mask.to(self.device),
            position_ids=None if positions is None else positions.to(self.device),
            use_cache=True,
            logits_to_keep=keep,
        )


def _common_beginning(prompts: Sequence[Tokens]) -> Tokens:
    # Whatever stands between the smallest and the largest begins as both of them do.
    first, last = min(prompts), max(prompts)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


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


def _log_softmax(logits: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(logits.double().cpu(), dim=-1)


def _last_line(text: str) -> str:
    """Return the end of a prompt that decides how a label after it is cut into tokens."""
    return text[text.rstrip("\n").rfind("\n") + 1 :]


def _answer(found: dict[Tokens, float], labels: list[list[Tokens]]) -> Answer:
    probabilities = tuple(sum(found[s] for s in sequences) for sequences in labels)
    if not all(0 <= p < float("inf") for p in probabilities):
        return Answer(error="the model's logits are not finite")
    return Answer(probabilities=probabilities)
