"""Texts: the model's own next tokens, whoever else is in the batch."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local import generate as module  # noqa: E402
from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.generate import Draft, generate  # noqa: E402
from audit_lib.score.local.questions import Prompt, Sampled  # noqa: E402
from tests.score.conftest import save_tiny_model  # noqa: E402
from tests.score.local.test_engine import prompts  # noqa: E402


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    # A draw that falls within rounding of the border of two tokens may go either way: small weights round less.
    folder = tmp_path_factory.mktemp("calm_model")
    save_tiny_model(folder, initializer_range=0.15)
    return Engine(folder, device="cpu", threads=1)


def drafts(engine, count: int = 5, **how) -> list[Draft]:
    settings = {"max_tokens": 8, "temperature": 0.0, **how}
    return [
        Draft(prompt=engine.tokenise(engine.render(p.messages)), seed=n, **settings)
        for n, p in enumerate(prompts(count))
    ]


def by_hand(engine, draft: Draft, stop: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Return the text by plain passes without a cache, and the same draws."""
    draw, text = np.random.default_rng(np.random.PCG64(draft.seed)), []
    while len(text) < draft.max_tokens:
        with torch.inference_mode():
            logits = engine.model(torch.tensor([[*draft.prompt, *text]]), use_cache=False).logits[0, -1]
        if draft.temperature == 0:
            token = int(logits.argmax())
        else:
            chances = torch.softmax(logits.double() / draft.temperature, -1).numpy()
            token = int(np.searchsorted(np.cumsum(chances), draw.random(), side="right"))
        if token in stop:
            break
        text.append(token)
    return tuple(text)


@pytest.mark.parametrize("temperature", [0.0, 0.7, 2.0])
def test_a_batch_gives_what_each_alone_gives(engine, temperature):
    asked = drafts(engine, temperature=temperature)
    texts, halved = generate(engine.model, asked, frozenset(), 2**31, 2**31)
    assert texts == [by_hand(engine, draft) for draft in asked] and halved == 0
    assert len(set(texts)) > 1  # else the comparison would show nothing


def test_neighbours_and_batches_change_no_text(engine, monkeypatch):
    asked = drafts(engine, 6, temperature=1.0)
    texts, _ = generate(engine.model, asked, frozenset(), 2**31, 2**31)
    assert generate(engine.model, asked[3:4], frozenset(), 2**31, 2**31)[0] == texts[3:4]
    assert generate(engine.model, asked[::-1], frozenset(), 2**31, 2**31)[0] == texts[::-1]
    assert generate(engine.model, asked, frozenset(), 0, 2**31)[0] == texts
    monkeypatch.setattr(module, "BATCH_TOKENS", 200)
    assert generate(engine.model, asked, frozenset(), 2**31, 2**31)[0] == texts


def test_seeds_draw_differently(engine):
    one = drafts(engine, 1, temperature=2.0)[0]
    several = [Draft(prompt=one.prompt, max_tokens=8, temperature=2.0, seed=s) for s in range(6)]
    texts, _ = generate(engine.model, several, frozenset(), 2**31, 2**31)
    assert len(set(texts)) == 6
    assert generate(engine.model, several, frozenset(), 2**31, 2**31)[0] == texts


def test_a_text_ends_where_it_ends_and_the_others_go_on(engine):
    asked = drafts(engine, temperature=1.0)
    free = [by_hand(engine, draft) for draft in asked]
    stop = frozenset({free[0][3]})
    texts, _ = generate(engine.model, asked, stop, 2**31, 2**31)
    assert texts == [by_hand(engine, draft, stop) for draft in asked]
    assert len(texts[0]) <= 3 and max(map(len, texts)) == 8


def test_no_memory_halves_the_batch(engine, monkeypatch):
    asked = drafts(engine)
    expected, _ = generate(engine.model, asked, frozenset(), 2**31, 2**31)
    real = module._go_on

    def short(model, some, stop):
        if len(some) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, some, stop)

    monkeypatch.setattr(module, "_go_on", short)
    assert generate(engine.model, asked, frozenset(), 2**31, 2**31) == (expected, 2)


def test_the_engine_mixes_labels_and_texts(engine):
    how = Sampled(max_tokens=6, temperature=0.0, seed=1)
    turns = [p.messages for p in prompts(3)]
    asked = [Prompt(messages=turns[0], labels=("No", "Yes")), Prompt(messages=turns[1], sampling=how)]
    label, text = engine.score(asked)
    assert label.text is None and len(label.probabilities) == 2
    assert text.probabilities is None and text.tokens[1] <= 6
    prompt = engine.tokenise(engine.render(turns[1]))
    by = by_hand(engine, Draft(prompt=prompt, max_tokens=6, temperature=0.0, seed=1), engine._ends())
    assert text.text == engine.tokenizer.decode(by, skip_special_tokens=True)


def test_an_answer_that_has_no_room_is_an_error(engine):
    how = Sampled(max_tokens=500, temperature=0.0, seed=1)
    (answer,) = engine.score([Prompt(messages=prompts(1)[0].messages, sampling=how)])
    assert answer.text is None and "the model takes 512" in answer.error
