"""Every architecture gives what the model's own forward pass gives, or is refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.errors import BackendError

torch = pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.questions import Prompt, Sampled  # noqa: E402
from tests.score.local.architectures import CONFIGS, save_architecture  # noqa: E402
from tests.score.local.families import expected, own_pass, shares  # noqa: E402

QUICK = (
    "llama_flat", "mistral_window", "gemma2_softcap", "gpt_neo", "bloom", "codegen", "phi3_longrope", "gpt_oss", "mpt",
    "mamba",
)  # fmt: skip
REFUSED = {"bert_that_sees_both_ways": "no causal language model"}
LABELS = ("No", "Yes", "Applicant of the system")  # the last has several tokens


def prompts(**how: object) -> list[Prompt]:
    """Return prompts on both sides of a window of 40 tokens and of positions that are other from 48 on."""
    words = ["", "x", "very good", "very good " * 4, "very good " * 5 + "x", "apple " * 9]
    return [
        Prompt(messages=({"role": "user", "content": text},), **{"labels": LABELS, **how}) for text in words
    ]


def some(every):
    names = list(every)
    quick = [pytest.param(name) for name in names if name in QUICK]
    # Each takes a second or two, all of them a minute: the others differ in details.
    return quick + [pytest.param(name, marks=pytest.mark.slow) for name in names if name not in QUICK]


@pytest.mark.parametrize("name", some(name for name in CONFIGS if name not in REFUSED))
def test_labels_and_texts_are_those_of_the_model_s_own_pass(tmp_path, name):
    save_architecture(tmp_path, name)
    engine, after = Engine(tmp_path, device="cpu", threads=1), own_pass(tmp_path)
    asked = prompts()
    lengths = [len(engine.tokenise(engine.render(p.messages))) for p in asked]
    assert min(lengths) < 40 and max(lengths) > 48 and 40 in range(min(lengths), max(lengths))
    wanted = [expected(engine, after, prompt) for prompt in asked]
    # in one pack, in packs of two and alone: no neighbour may move a score
    packs = [asked, *(asked[i : i + 2] for i in range(0, len(asked), 2)), *([prompt] for prompt in asked)]
    answers = [answer for pack in packs for answer in engine.score(pack)]
    for answer, probabilities in zip(answers, wanted * 3, strict=True):
        assert answer.error is None
        assert answer.probabilities == pytest.approx(probabilities, abs=1e-5)
        assert shares(answer.probabilities) == pytest.approx(shares(probabilities), abs=1e-5)
    for prompt in asked[::2]:
        assert engine.score_alone(prompt).probabilities == pytest.approx(
            expected(engine, after, prompt), abs=1e-6, rel=1e-4
        )
    written = engine.score(prompts(labels=(), sampling=Sampled(max_tokens=6, temperature=0.0, seed=0))[1:5])
    for prompt, answer in zip(asked[1:5], written, strict=True):
        so_far = list(engine.tokenise(engine.render(prompt.messages)))
        begun = len(so_far)
        while len(so_far) - begun < 6 and (token := int(after(so_far).argmax())) not in engine._ends():
            so_far.append(token)
        assert answer.text == engine.tokenizer.decode(so_far[begun:], skip_special_tokens=True)


@pytest.mark.parametrize("name", some(REFUSED))
def test_what_is_no_causal_language_model_is_refused_with_the_reason(tmp_path, name):
    save_architecture(tmp_path, name)
    with pytest.raises(BackendError, match=REFUSED[name]):
        Engine(tmp_path, device="cpu", threads=1)


def test_a_way_that_is_not_exact_is_named(tmp_path):
    save_architecture(tmp_path, "bloom")
    engine = Engine(tmp_path, device="cpu", threads=1)
    assert engine.ways.faults["tree"] == "the model's attention is its own and cannot be exchanged"
    assert engine.plan(prompts()[:2]).strategy != "tree"


@pytest.mark.parametrize("name", ["mistral_window", "gemma2_softcap", "gpt_oss"])
def test_windows_soft_caps_and_sinks_are_packed_into_trees(tmp_path, name):
    save_architecture(tmp_path, name)
    engine = Engine(tmp_path, device="cpu", threads=1)
    longest = max(len(engine.tokenise(engine.render(p.messages))) for p in prompts())
    assert 40 in engine.ways.lengths.windows and longest > 50
    assert engine.plan(prompts()).strategy == "tree"


def test_positions_that_follow_the_length_are_never_shared_across_their_limit(tmp_path):
    save_architecture(tmp_path, "phi3_longrope")
    engine = Engine(tmp_path, device="cpu", threads=1)
    assert (engine.ways.lengths.shared, engine.ways.lengths.cached) == (48, 48)
    assert engine.plan(prompts()).strategy == "alone" and engine.plan(prompts()[:2]).strategy != "alone"


def edit_config(folder: Path, **changes: object) -> None:
    """Change a saved config, and leave the weights as they are."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
