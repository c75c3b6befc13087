"""Labels with shared beginnings: exact against every answer that the model can begin, one by one."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import pytest

from audit_lib.errors import BackendError
from audit_lib.preflight import preflight
from audit_lib.score.local.label_tokens import label_probabilities, label_sequences
from audit_lib.spec import load_spec
from tests.score.audits import write_audit
from tests.score.conftest import CHAT, save_tiny_model

torch = pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.questions import Prompt  # noqa: E402

WAYS = ["tree", "prefix", "buckets", "alone"]
ZERO_TO_HUNDRED = tuple(str(n) for n in range(101))


def prompts(labels: tuple[str, ...], count: int = 3) -> list[Prompt]:
    turns = [{"role": "user", "content": f"{'10 ' * n}: 01"} for n in range(1, count + 1)]
    return [Prompt(messages=(turn, {"role": "assistant", "content": "0:"}), labels=labels) for turn in turns]


def save_small_vocabulary(folder: Path, characters: str) -> None:
    """Write a model that knows these characters and two special tokens; all else is one unknown token."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<|im_start|>", "<|im_end|>", "?", *characters]
    save_tiny_model(folder, vocab_size=len(words), initializer_range=0.2)
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", unk_token="?")
    fast.chat_template = CHAT
    fast.save_pretrained(folder)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("small_vocabulary")
    save_small_vocabulary(folder, "01 :")
    return Engine(folder, device="cpu", threads=1)


@pytest.fixture(scope="module")
def engine(tiny_model: Path) -> Engine:
    return Engine(tiny_model, device="cpu", threads=1)


def next_tokens(engine: Engine, contexts: list[tuple[int, ...]]) -> torch.Tensor:
    """Return the probabilities of the token that follows each context: a whole pass each, no cache."""
    with torch.inference_mode():
        return engine.model(torch.tensor(contexts), use_cache=False).logits[:, -1].double().softmax(-1)


def every_answer(engine: Engine, prompt: Prompt, length: int) -> dict[str, float]:
    """Return each text of so many tokens, and the probability that the answer begins with it."""
    begun = engine.tokenise(engine.render(prompt.messages))
    found: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(length):
        rows = next_tokens(engine, [begun + answer for answer in found]).tolist()
        found = {
            (*answer, token): so_far * p
            for (answer, so_far), row in zip(found.items(), rows, strict=True)
            for token, p in enumerate(row)
        }
    return {"".join(engine.tokenizer.convert_ids_to_tokens(a)): p for a, p in found.items()}


@pytest.mark.parametrize(
    "labels", [("1", "10", "100"), ("100", "1"), ("0", "1", "01", "00"), ("1", "1 0", "1 1", "0")]
)
def test_each_answer_counts_for_the_longest_label_that_it_begins_with(small, labels):
    """By text, and by every answer there is: 7 tokens, four of them at a time."""
    asked = prompts(labels)
    expected = []
    for prompt in asked:
        of_label = dict.fromkeys(labels, 0.0)
        answers = every_answer(small, prompt, 4)
        assert len(answers) == 7**4 and sum(answers.values()) == pytest.approx(1)
        for text, p in answers.items():
            fits = [label for label in labels if text.startswith((label, f" {label}"))]
            if fits:
                of_label[max(fits, key=len)] += p
        expected.append(list(of_label.values()))
        assert min(expected[-1]) > 1e-5, "each must be seen"
    for way in WAYS:
        answered = small.score(asked, way)
        assert [list(one.probabilities) for one in answered] == [
            pytest.approx(one, abs=1e-6) for one in expected
        ]
    assert [list(small.score_alone(prompt).probabilities) for prompt in asked] == [
        pytest.approx(one, abs=1e-6) for one in expected
    ]


@pytest.mark.parametrize(
    "labels", [tuple(str(n) for n in range(1, 11)), ZERO_TO_HUNDRED], ids=["1-10", "0-100"]
)
def test_numbers_are_scored_by_their_whole_sequences(engine, labels):
    """Against whole passes: the label's own tokens, and then no digit that would make another label."""
    asked = prompts(labels, 2)
    begun = [engine.tokenise(engine.render(prompt.messages)) for prompt in asked]
    for prompt, answer in zip(begun, engine.score(asked), strict=True):
        after = cache(lambda tokens, prompt=prompt: next_tokens(engine, [prompt + tokens])[0].tolist())
        expected = dict.fromkeys(labels, 0.0)
        for label, space in product(labels, ("", " ")):
            tokens = engine.tokenise(space + label)
            assert engine.tokenizer.decode(tokens) == space + label
            probability = 1.0
            for at, token in enumerate(tokens):
                probability *= after(tokens[:at])[token]
            longer = [
                engine.tokenise(f"{space}{label}{digit}") for digit in "0123456789" if label + digit in labels
            ]
            assert all(one[:-1] == tokens for one in longer), "each digit is a token here"
            expected[label] += probability * (1 - sum(after(tokens)[one[-1]] for one in longer))
        assert answer.probabilities == pytest.approx(list(expected.values()), abs=1e-6)
        assert sum(answer.probabilities) <= 1


def test_labels_that_begin_no_other_are_as_before(engine):
    labels = ("No", "Yes")
    for answer, prompt in zip(engine.score(prompts(labels)), prompts(labels), strict=True):
        begun = engine.tokenise(engine.render(prompt.messages))
        sums = []
        for label in labels:
            total = 0.0
            for written in (label, f" {label}"):
                tokens, p = engine.tokenise(written), 1.0
                for at, token in enumerate(tokens):
                    p *= float(next_tokens(engine, [begun + tokens[:at]])[0, token])
                total += p
            sums.append(total)
        assert answer.probabilities == pytest.approx(sums, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("Yes", "Boo"), "'Yes' and 'Boo': are the same tokens to this model's tokenizer"),
        (("1", " 1 "), "'1' and ' 1 ': are the same tokens"),
        (("1", ""), "label '': is empty"),
        (("1", "  "), "label '  ': is empty"),
    ],
)
def test_what_nothing_tells_apart_is_refused(labels, said):
    """To a tokenizer that knows few characters, words of one length are the same unknown tokens."""
    known = {"1": 1, " ": 2}
    with pytest.raises(BackendError, match=said):
        label_sequences(lambda text: tuple(known.get(c, 0) for c in text[:4]), "", labels)


def test_rounding_is_no_negative_probability_and_a_fault_is_no_zero():
    one, ten = (1,), (1, 0)
    assert label_probabilities({one: 0.5, ten: 0.5 + 1e-7}, [[one], [ten]]) == (0.0, 0.5 + 1e-7)
    assert label_probabilities({one: 0.5, ten: 0.6}, [[one], [ten]])[0] == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["0", "1"], None),
        (["0", "01"], None),  # one begins another, and all its tokens are read
        (["Yes", "Boo"], "labels 'Yes' and 'Boo': are the same tokens to this model's tokenizer"),
    ],
)
def test_the_preflight_asks_the_tokenizer(tmp_path, labels, said):
    save_small_vocabulary(tmp_path / "model", "01 :")
    model = {"backend": "transformers", "name": str(tmp_path / "model"), "options": {"threads": 1}}
    prompt = {"template": "resume_screening.yaml", "read": "labels", "labels": labels, "relevance": [0, 1]}
    path = write_audit(tmp_path, "pointwise", model=model | {"valid_judge": False}, prompt=prompt)
    faults = [fault.what for fault in preflight(load_spec(path), str(tmp_path / "store"))]
    assert (faults == []) if said is None else (len(faults) == 1 and said in faults[0])
