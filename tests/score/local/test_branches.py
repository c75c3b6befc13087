"""Models with windows and states read each prompt once at most, and what prompts begin with once for all."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import transformers  # noqa: E402

from audit_lib.score.local import branches, label_passes, tree, trial  # noqa: E402
from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.plain import plain_probabilities  # noqa: E402
from audit_lib.score.local.plan import LabelPrompt  # noqa: E402
from audit_lib.score.local.questions import Prompt  # noqa: E402
from audit_lib.score.local.segments import cut_where_prompts_branch  # noqa: E402
from audit_lib.score.local.trie import size  # noqa: E402
from tests.score.conftest import save_tiny_model  # noqa: E402
from tests.score.local.architectures import save_architecture  # noqa: E402
from tests.score.local.tiny_configs import tiny_config  # noqa: E402

LABELS = ((3,), (4, 5), (4, 6), (7, 8, 9), (7, 8, 10))


def words(draw: random.Random, count: int) -> tuple[int, ...]:
    return tuple(draw.randrange(5, 250) for _ in range(count))


def prompts() -> list[tuple[int, ...]]:
    """Return prompts that branch twice, one of which begins another, all longer than a window of 40."""
    draw = random.Random(4)
    start, middle = words(draw, 50), [words(draw, 30) for _ in range(2)]
    several = [start + one + words(draw, n) for one in middle for n in (20, 21, 35)]
    return [*several, start + middle[0], several[0] + words(draw, 9)]


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory):
    """A model with recurrent layers and one of full attention."""
    folder = tmp_path_factory.mktemp("hybrid")
    save_tiny_model(folder)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    torch.manual_seed(3)
    config = transformers.Qwen3NextConfig(
        vocab_size=320, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=256, initializer_range=0.3,
        linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
        num_experts=0, layer_types=["linear_attention", "full_attention"], bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return Engine(folder, device="cpu", threads=1)


def reading(model, monkeypatch) -> list[tuple[int, int]]:
    """Return the shapes (rows, tokens) of what the model is given from here on."""
    shapes, real = [], model.forward

    def counting(*given, **how):
        shapes.append(tuple(how["input_ids"].shape))
        return real(*given, **how)

    counting.__signature__ = __import__("inspect").signature(real)
    monkeypatch.setattr(model, "forward", counting)
    return shapes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pass_tokens", [0, 1, 4, 1000])
def test_pieces_are_the_prompts(seed, pass_tokens):
    draw = random.Random(seed)
    some = {tuple(draw.randrange(2) for _ in range(draw.randrange(1, 9))) for _ in range(30)}
    pieces = cut_where_prompts_branch(sorted(some, key=lambda _: draw.random()), pass_tokens)
    whole = []
    for number, piece in enumerate(pieces):
        assert piece.start < piece.stop and piece.before < number
        before = pieces[piece.before] if piece.before >= 0 else None
        assert piece.start == (before.stop if before else 0)
        assert before is None or before.prompt[: before.stop] == piece.prompt[: piece.start]
        whole += [piece.prompt] if piece.ends else []
    assert sorted(whole) == sorted(some)
    read = sum(piece.stop - piece.start for piece in pieces)
    assert read == size(some) if pass_tokens == 0 else read >= size(some)
    assert pass_tokens < 1000 or read == sum(map(len, some))


def test_a_hybrid_reads_shared_beginnings_once_and_is_exact(hybrid, monkeypatch):
    asked = [LabelPrompt(prompt=prompt, labels=LABELS) for prompt in prompts()]
    wanted = [plain_probabilities(hybrid.model, q.prompt, q.labels, token_by_token=True) for q in asked]
    for whole in (False, True):
        with monkeypatch.context() as patch:
            shapes = reading(hybrid.model, patch)
            found = hybrid.passes.by_branches(asked, whole=whole)
        for mine, own in zip(found, wanted, strict=True):
            assert mine == pytest.approx(own, abs=1e-6, rel=1e-4)
        of_prompts = [tokens for rows, tokens in shapes if tokens > 1]
        of_labels = [rows for rows, tokens in shapes if tokens == 1]
        # Two passes for the labels of each prompt: the first tokens of two, the second token of one.
        assert of_labels == [2, 1] * len(asked)
        if whole:
            assert sorted(of_prompts) == sorted(map(len, prompts()))
        else:
            least = size(prompts())
            assert (
                least <= sum(of_prompts) < least + 2 * label_passes.PASS_TOKENS < sum(map(len, prompts())) / 2
            )


def test_the_engine_shares_what_a_hybrid_s_state_allows(hybrid):
    asked = [
        Prompt(messages=({"role": "user", "content": "very good " * 5 + x},), labels=("No", "Yes"))
        for x in "abc"
    ]
    assert hybrid.ways.names() == ["branches", "once", "cache", "alone"]
    assert hybrid.plan(asked).strategy in ("branches", "once") and "tree" not in hybrid.plan(asked).flops
    for prompt, answer in zip(asked, hybrid.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(hybrid.score_alone(prompt).probabilities, abs=1e-6)


def test_many_labels_are_read_in_groups(hybrid, monkeypatch):
    asked = [LabelPrompt(prompt=prompts()[0], labels=LABELS)]
    (wanted,) = hybrid.passes.by_branches(asked)
    monkeypatch.setattr(branches, "ROWS_TOKENS", 2 * len(prompts()[0]))
    shapes = reading(hybrid.model, monkeypatch)
    (found,) = hybrid.passes.by_branches(asked)
    assert found == pytest.approx(wanted, abs=1e-7)
    assert [rows for rows, tokens in shapes if tokens == 1] == [1, 1, 1]


def test_a_tree_that_is_not_exact_across_the_window_is_used_within_it(tmp_path, monkeypatch):
    save_architecture(tmp_path, "mistral_window")
    real = tree._runs
    monkeypatch.setattr(tree, "_runs", lambda *given: real(*given[:5]))  # as if the window were not known
    engine = Engine(tmp_path, device="cpu", threads=1)
    assert engine.ways.faults["tree"] is None and engine.ways.reach["tree"] == 40
    assert engine.ways.for_labels(40)[0] == "tree" and engine.ways.for_labels(41) == (
        "branches",
        "once",
        "alone",
    )
    asked = [LabelPrompt(prompt=prompt, labels=LABELS) for prompt in prompts()]
    for question, found in zip(asked, engine.passes.by_branches(asked), strict=True):
        own = plain_probabilities(engine.model, question.prompt, question.labels, token_by_token=True)
        assert found == pytest.approx(own, abs=1e-6, rel=1e-4)


def test_beyond_a_window_that_is_too_long_to_try_nothing_is_shared(tmp_path, monkeypatch):
    save_architecture(tmp_path, "mistral_window")
    monkeypatch.setattr(trial, "_ACROSS", (0, 0))
    monkeypatch.setattr(trial, "_MOST", 30)
    monkeypatch.setattr(trial, "_LEAST", 30)
    engine = Engine(tmp_path, device="cpu", threads=1)
    assert engine.ways.for_labels(41) == ("alone",) and engine.ways.for_labels(40)[0] == "tree"


@pytest.mark.parametrize(("kind", "goes_on"), [("mamba", False), ("falcon_mamba", False), ("mamba2", True)])
@torch.inference_mode()
def test_what_keeps_a_state_for_a_second_piece(kind, goes_on):
    """The page of types says so of this version of transformers; a later one may hand the state over."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(tiny_config(kind)).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("A_log"):
            parameter.fill_(-3.0)  # what was read long before still counts
        elif parameter.ndim > 1:
            parameter.mul_(5.0)
    tokens = torch.randint(5, 250, (1, 20), generator=torch.Generator().manual_seed(1))
    whole = model(input_ids=tokens, use_cache=False).logits[0, -1].softmax(-1)
    _, memory = branches.read_on(model, tokens[:, :12], None)
    two, _ = branches.read_on(model, tokens[:, 12:], memory)
    _, memory = branches.read_on(model, tokens[:, :12], None)
    for place in range(12, 20):
        each, memory = branches.read_on(model, tokens[:, place : place + 1], memory)
    assert float((each[0].softmax(-1) - whole).abs().max()) < 1e-5, "token by token all go on"
    assert (float((two[0].softmax(-1) - whole).abs().max()) < 1e-5) is goes_on
