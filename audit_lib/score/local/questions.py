"""What a local model is asked, in its own tokens, and what it answered: the same for every engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from audit_lib.score.local.chat_template import ChatTemplate, PromptError
from audit_lib.score.local.label_tokens import label_probabilities, label_sequences, last_line
from audit_lib.score.local.plan import LabelPrompt
from audit_lib.score.local.thinking import Wish
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


class PromptReader:
    """Conversations in tokens, as the model's chat template writes them.

    Parameters
    ----------
    tokenizer : PreTrainedTokenizerBase
    model_type : str
        For messages.
    asking : TemplateOptions or None
        How conversations are written.
    """

    def __init__(self, tokenizer: Any, model_type: str, asking: TemplateOptions | None = None) -> None:
        how = asking or TemplateOptions()
        self.tokenizer = tokenizer
        self.template = ChatTemplate(tokenizer, model_type, kwargs=how.kwargs, wish=how.thinking, day=how.day)
        self._label_tokens = lru_cache(maxsize=1024)(partial(label_sequences, self.tokenise))

    def render(self, messages: Sequence[Mapping[str, str]], *, for_labels: bool = True) -> str:
        """Return the conversation as the model reads it; a last assistant turn is left open."""
        return self.template.render(messages, for_labels=for_labels)

    def tokenise(self, text: str) -> Tokens:
        """Return the tokens of rendered text, whose special tokens the template wrote."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def check_labels(self, labels: tuple[str, ...]) -> None:
        """Raise BackendError if a label is nothing to the tokenizer, or two are the same tokens to it."""
        for before in ("", "\n"):
            self._label_tokens(before, labels)

    def text_of(self, tokens: Sequence[int]) -> str:
        """Return the text that generated tokens are."""
        text: str = self.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def question(self, prompt: Prompt, longest: int) -> tuple[LabelPrompt, list[list[Tokens]]] | str:
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
        if need > longest:
            return f"the prompt {what} {need} tokens, the model takes {longest}"
        every = tuple(sorted({s for label in labels for s in label}))
        return LabelPrompt(prompt=tokens, labels=every), labels


def answer_of(found: Mapping[Tokens, float] | str, labels: Sequence[Sequence[Tokens]]) -> LocalAnswer:
    """Return the labels' probabilities from those of their sequences, or why there are none."""
    if isinstance(found, str):
        return LocalAnswer(error=found)
    probabilities = label_probabilities(found, labels)
    if min(probabilities) < 0:
        return LocalAnswer(error="a label has less probability than the longer ones that begin with it")
    if not all(p < float("inf") for p in probabilities):
        return LocalAnswer(error="the model's logits are not finite")
    return LocalAnswer(probabilities=probabilities)


def ends_of(folder: Path, reader: PromptReader) -> frozenset[int]:
    """Return the tokens that end a text: the tokenizer's, and those that the model's files name."""
    try:
        named = json.loads((folder / "generation_config.json").read_bytes()).get("eos_token_id")
    except (OSError, ValueError, AttributeError):
        named = None
    several = named if isinstance(named, list) else [named]
    return frozenset(t for t in [*several, reader.tokenizer.eos_token_id] if isinstance(t, int))
