"""Shared beginnings give what one plain pass a prompt gives."""

from __future__ import annotations

import pytest

from audit_lib.errors import BackendError, ModelNotFoundError
from tests.score.cases import JOB
from tests.score.conftest import save_tiny_model

torch = pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.questions import Prompt  # noqa: E402
from audit_lib.score.local.weights import check_folder, folder_digest, resolve  # noqa: E402

LABELS = ("No", "Yes", "Applicant of the system")  # the last has several tokens


def prompts(count: int = 6, labels: tuple[str, ...] = LABELS) -> list[Prompt]:
    turns = [
        ({"role": "system", "content": JOB}, {"role": "user", "content": f"{'very ' * (7 * i % 5)}good {i}"})
        for i in range(count)
    ]
    return [Prompt(messages=(*t, {"role": "assistant", "content": "Answer:"}), labels=labels) for t in turns]


@pytest.fixture(scope="module")
def engine(tiny_model):
    return Engine(tiny_model, device="cpu", threads=1)


def by_hand(engine, prompt: Prompt) -> list[float]:
    """Return each label's probability by the chain rule, one plain pass for each token."""
    tokens = list(engine.tokenise(engine.render(prompt.messages)))
    found = []
    for label in prompt.labels:
        total = 0.0
        for written in (label, f" {label}"):
            probability, so_far = 1.0, list(tokens)
            for token in engine.tokenise(written):
                with torch.inference_mode():
                    logits = engine.model(torch.tensor([so_far]), use_cache=False).logits[0, -1]
                probability *= float(torch.softmax(logits.double(), -1)[token])
                so_far.append(token)
            total += probability
        found.append(total)
    return found


def test_the_tiny_tokenizer_cuts_one_label_into_several_tokens(engine):
    assert len(engine.tokenise(" Applicant of the system")) > 3


def test_a_pack_gives_what_prompts_alone_give(engine):
    asked = prompts()
    answers = engine.score(asked)
    for prompt, answer in zip(asked, answers, strict=True):
        assert answer.probabilities == pytest.approx(by_hand(engine, prompt), abs=1e-6, rel=1e-4)
        assert answer.tokens == (len(engine.tokenise(engine.render(prompt.messages))), 0)
    # the prompts must tell the answers apart, or the comparison would show nothing
    assert max(a.probabilities[0] for a in answers) > 2 * min(a.probabilities[0] for a in answers)


def test_the_plan_counts_weights_that_were_laid_out_anew(engine):
    config, width = engine.model.config, engine.model.config.hidden_size
    keys = config.num_key_value_heads * config.head_dim
    layer = 2 * width * (width + keys) + 3 * width * config.intermediate_size
    assert engine.packed > 0 and engine.shape.linear == config.num_hidden_layers * layer
    assert engine.shape.head == config.vocab_size * width


def test_prompts_without_a_common_beginning(engine):
    asked = [
        Prompt(messages=({"role": role, "content": "x" * n},), labels=("No", "Yes"))
        for role, n in (("user", 1), ("system", 30), ("assistant", 12))
    ]
    for prompt, answer in zip(asked, engine.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(engine, prompt), abs=1e-6, rel=1e-4)


def test_equal_prompts_get_the_same_answer(engine):
    one = prompts(1)[0]
    answers = engine.score([one, *prompts(3), one])
    assert answers[0] == answers[-1] == answers[1]


def test_a_pack_is_the_same_each_time(engine):
    assert engine.score(prompts()) == engine.score(prompts())


def test_the_prefilled_turn_is_left_open_and_the_other_begun(engine):
    begun = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Answer:"})
    assert engine.render(begun).endswith("<|im_start|>assistant\nAnswer:")
    assert engine.render(begun[:1]).endswith("<|im_end|>\n<|im_start|>assistant\n")


def test_a_prompt_too_long_is_an_error_and_the_rest_is_answered(engine):
    long = Prompt(messages=({"role": "user", "content": "apple " * 400},), labels=("No", "Yes"))
    before, failed, after = engine.score([prompts(1)[0], long, prompts(2)[1]])
    assert failed.probabilities is None
    assert "the model takes 512" in failed.error and "apple" not in failed.error
    assert before.probabilities and after.probabilities


def test_half_of_a_surrogate_pair_is_an_error_and_the_rest_is_answered(engine):
    half = Prompt(messages=({"role": "user", "content": "good \ud83d"},), labels=LABELS)
    other, failed = engine.score([prompts(1)[0], half])
    assert failed.error == "the prompt holds half of a surrogate pair, which no text can"
    assert other.error is None and other.probabilities


def test_a_sliding_window_is_not_padded(tmp_path):
    from transformers import MistralConfig, MistralForCausalLM

    save_tiny_model(tmp_path)
    torch.manual_seed(6)
    config = MistralConfig(
        vocab_size=320,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=40,
        initializer_range=0.5,
        max_position_embeddings=512,
    )
    MistralForCausalLM(config).save_pretrained(tmp_path)
    sliding = Engine(tmp_path, device="cpu", threads=1)
    asked = prompts(4)
    assert min(len(sliding.tokenise(sliding.render(p.messages))) for p in asked) > 40
    for prompt, answer in zip(asked, sliding.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(sliding, prompt), abs=1e-6, rel=1e-4)


def test_logits_that_are_not_finite_are_an_error(tiny_model):
    broken = Engine(tiny_model, device="cpu", threads=1)
    with torch.no_grad():
        broken.model.model.norm.weight.fill_(float("nan"))
    assert {a.error for a in broken.score(prompts(2))} == {"the model's logits are not finite"}


def test_a_tokenizer_without_a_template_is_refused(tmp_path):
    save_tiny_model(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    with pytest.raises(BackendError, match="no chat template"):
        Engine(tmp_path, device="cpu", threads=1)


def test_the_digest_follows_the_weights(tmp_path, tiny_model):
    save_tiny_model(tmp_path)
    check_folder(tmp_path)
    assert folder_digest(tmp_path) == folder_digest(tiny_model)
    save_tiny_model(tmp_path, rms_norm_eps=1e-4)
    assert folder_digest(tmp_path) != folder_digest(tiny_model)


def test_a_model_that_is_nowhere_is_named(monkeypatch, tmp_path):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFoundError, match=r"'nobody/no-such-model' \(revision main\)"):
        resolve("nobody/no-such-model", None)


@pytest.mark.slow
def test_the_demo_model_within_1e_5_of_one_by_one():
    weights = resolve("smollm2-135m-instruct", None)
    assert len(weights.digest) == 64
    real = Engine(weights.folder, device="cpu", threads=1)
    asked = prompts(8, labels=("No", "Yes", "Not at all sure"))[1:]
    for prompt, answer in zip(asked, real.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(real, prompt), abs=1e-5)
        assert sum(answer.probabilities) > 0.05
