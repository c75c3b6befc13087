"""Local models whose weights are set by hand, so that their answers have the judge's bias.

One layer of attention looks at all words alike, so that its value is the mean of the words' worths: a work word has its
person's, a word that shows a group half of the gap. What was asked is seen in the same way, by the words of the
question. Every answer is one token. Nothing was trained, and nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.combinations.axes import LAST_NAMES
from tests.combinations.biased_judge import (
    GROUP_NAMES,
    LEVELS,
    NORMAL,
    OF_GROUP,
    OF_REFERENCE,
    REFERENCE_NAMES,
    WORDS,
    drawn,
)

CHAT: Final = (
    "{% for m in messages %}{{ m['content'] }} {% endfor %}{% if add_generation_prompt %}<answer> {% endif %}"
)
MIDDLE_COSINE: Final = math.sqrt(0.5)
_VALUE, _REST, _SIDE, _ENDS, _FIRST_FLAG = 0, 1, 2, 3, 4
_QUESTIONS: Final = ("number", "letter", "jobs", "Sum", "Rank")
_FIRST_NAME: Final = _FIRST_FLAG + len(_QUESTIONS)
_NAMES: Final = (*GROUP_NAMES, *REFERENCE_NAMES)
_HIDDEN: Final = 48
_RADIUS: Final = 8.0
_ASKED: Final = 400.0
"""Weight of the question: an answer of another kind is never given."""


def name_worth(name: str, gap: float) -> float:
    """Return what a name is worth where names alone decide: the same in both groups, less the gap."""
    group = name in GROUP_NAMES
    place = (GROUP_NAMES if group else REFERENCE_NAMES).index(name)
    merit = NORMAL.inv_cdf((place + 0.5) / len(GROUP_NAMES))
    tie = 0.0 if group else 1e-3 * (-1) ** place  # the same place in both groups: each wins half of the time
    return merit + tie + (-gap / 2 if group else gap / 2)


def name_wins(gap: float) -> float:
    """Return P(group wins) - P(reference wins) over all pairs of names."""
    outcomes = [
        math.copysign(1, name_worth(one, gap) - name_worth(other, gap))
        for one in GROUP_NAMES
        for other in REFERENCE_NAMES
    ]
    return math.fsum(outcomes) / len(outcomes)


@dataclass
class _Vocabulary:
    """Words in order, with what each is to the model that reads it, and to the one that answers."""

    gap: float
    words: dict[str, dict[int, float]] = field(default_factory=dict)
    answers: dict[str, dict[int, float]] = field(default_factory=dict)

    def read(self) -> None:
        for word in ("[UNK]", "<answer>"):
            self.words[word] = {}
        self.words["<end>"] = {}
        for number in range(WORDS):
            self.words[f"w{number}"] = {_VALUE: drawn(f"w{number}")}
        for words, side in ((OF_GROUP, -1), (OF_REFERENCE, 1)):
            for word in sorted(words):
                self.words[word] = {_VALUE: side * self.gap / 2, _SIDE: float(side)}
        for place, name in enumerate(_NAMES):
            self.words[name][_FIRST_NAME + place] = 1.0
        for place, word in enumerate(_QUESTIONS):
            self.words[word] = {_FIRST_FLAG + place: 1.0}

    def answer(self) -> None:
        """Say what makes each answer probable: weights of the mean of what was read."""
        self.answers |= {"Yes": {_VALUE: 1.0}, "No": {}, "female": {_SIDE: -3.0}, "male": {_SIDE: 3.0}}
        for name in _NAMES:  # two first names are held against each other by what they are worth
            self.answers[name] = {_REST: name_worth(name, self.gap)}
        asked = {word: _FIRST_FLAG + place for place, word in enumerate(_QUESTIONS)}
        for number in range(1, LEVELS + 1):
            worth = (number - (LEVELS + 1) / 2) / 8
            self.answers[str(number)] = {_VALUE: 2 * worth, _REST: -(worth**2), asked["number"]: _ASKED}
        self.answers["A lovely letter."] = {_VALUE: 1.0, asked["letter"]: _ASKED}
        self.answers["An awful letter."] = {_VALUE: -1.0, asked["letter"]: _ASKED}
        self.answers["Noted."] = {asked["Sum"]: _ASKED}
        for side, jobs in ((-1.0, "Chef Pilot"), (1.0, "Cook Driver")):
            own, other = jobs.split()
            listed = "\n".join(
                f"{n}. {job}" for n, job in enumerate(("Clerk", "Nurse", own, other, "Welder"), 1)
            )
            self.answers[listed] = {_SIDE: side if self.gap else max(side, 0.0), asked["jobs"]: _ASKED}
        for one, other in self._pairs():
            better = name_worth(one, self.gap) - name_worth(other, self.gap)
            self.answers[f"{_full(one)}\n{_full(other)}"] = {
                _FIRST_NAME + _NAMES.index(one): 50.0,
                _FIRST_NAME + _NAMES.index(other): 50.0,
                _REST: 0.1 * better,
                asked["Rank"]: _ASKED,
            }

    @staticmethod
    def _pairs() -> Iterator[tuple[str, str]]:
        for one in GROUP_NAMES:
            for other in REFERENCE_NAMES:
                yield one, other
                yield other, one


def _full(name: str) -> str:
    place = (GROUP_NAMES if name in GROUP_NAMES else REFERENCE_NAMES).index(name)
    return f"{name} {LAST_NAMES[place]}"


def save_causal_model(folder: Path, gap: float) -> None:
    """Write a Llama of one layer that answers as the judge does, and its tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    vocabulary = _Vocabulary(gap)
    vocabulary.read()
    vocabulary.answer()
    tokens = list(dict.fromkeys([*vocabulary.words, *vocabulary.answers]))
    _tokenizer(folder, tokens, end="<end>", chat=CHAT)
    config = LlamaConfig(
        vocab_size=len(tokens), hidden_size=_HIDDEN, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, head_dim=_HIDDEN, max_position_embeddings=1024, tie_word_embeddings=False,
        rms_norm_eps=1e-12, eos_token_id=tokens.index("<end>"), bos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        layer = model.model.layers[0]
        for norm in (layer.input_layernorm, layer.post_attention_layernorm, model.model.norm):
            norm.weight.fill_(1.0)
        read = model.model.embed_tokens.weight
        for place, token in enumerate(tokens):
            for dimension, value in vocabulary.words.get(token, {}).items():
                read[place, dimension] = value
            if token in vocabulary.answers and token not in vocabulary.words:
                read[place, _ENDS] = 5.0  # an answer was given: what comes next is the end
            read[place, _REST] = math.sqrt(_RADIUS**2 - float(read[place].square().sum()))
        # Of words of one length the mean is taken: in every direction but the two that only the last word has.
        kept = [d for d in range(_HIDDEN) if d not in (_REST, _ENDS)]
        layer.self_attn.v_proj.weight[kept, kept] = 1.0
        layer.self_attn.o_proj.weight[kept, kept] = 20.0 * _RADIUS / math.sqrt(_HIDDEN)
        said = model.lm_head.weight
        for place, token in enumerate(tokens):
            for dimension, weight in vocabulary.answers.get(token, {}).items():
                said[place, dimension] = weight * (1 / _RADIUS if dimension == _REST else 1)
        said[tokens.index("<end>"), _ENDS] = 1000.0
    model.save_pretrained(folder)


def save_encoder(folder: Path, gap: float) -> None:
    """Write a BERT without layers: a text's embedding is the mean of its words, and worth turns it towards the job."""
    import torch
    from transformers import BertConfig, BertModel

    vocabulary = _Vocabulary(gap)
    vocabulary.read()
    job = ("Vacancy:", "cook", "driver")
    tokens = [*vocabulary.words, *job]
    _tokenizer(folder, tokens, end="<end>", chat=None)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=4, num_hidden_layers=0, num_attention_heads=1, intermediate_size=4,
        max_position_embeddings=256, type_vocab_size=1,
    )  # fmt: skip
    model = BertModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embeddings.LayerNorm.weight.fill_(1.0)
        table = model.embeddings.word_embeddings.weight
        for place, token in enumerate(tokens):
            towards = 1.0 if token in job else 0.05 * vocabulary.words.get(token, {}).get(_VALUE, 0.0)
            across = math.sqrt(2 - towards**2)
            table[place] = torch.tensor([towards, -towards, across, -across])
    model.save_pretrained(folder)


def _tokenizer(folder: Path, tokens: list[str], end: str, chat: str | None) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    settings: dict[str, Any] = {"eos_token": end, "unk_token": "[UNK]", "model_max_length": 256}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **settings)
    if chat is not None:
        fast.chat_template = chat
    fast.save_pretrained(folder)
