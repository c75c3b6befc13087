"""Tree passes give what one plain pass a sequence gives, however they are cut."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.errors import BackendError
from audit_lib.score.local.trie import build

torch = pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local import tree  # noqa: E402
from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.questions import Prompt  # noqa: E402
from tests.score.local.test_engine import by_hand, prompts  # noqa: E402


@pytest.fixture(scope="module")
def engine(tiny_model):
    return Engine(tiny_model, device="cpu", threads=1)


def sequences() -> list[tuple[int, ...]]:
    draw = np.random.default_rng(3)

    def words(count):
        return tuple(int(t) for t in draw.integers(5, 300, count))

    start, middle = words(20), [words(30) for _ in range(3)]
    several = [start + one + other for one in middle for other in middle if one != other]
    branches = [several[0] + words(n) for n in (1, 2, 2, 3)]
    return [*several, *branches, start[:4] + words(7), words(5)]


def read_all(model, some, pass_nodes):
    trie, logits = build(some), {}

    def read(rows, nodes):
        logits.update({node: row.clone() for row, node in zip(rows, nodes, strict=True)})

    halved = tree.read_trie(model, trie, sorted(trie.ends.values()), read, pass_nodes=pass_nodes)
    return {s: torch.softmax(logits[end].double(), -1) for s, end in trie.ends.items()}, halved


@pytest.mark.parametrize("pass_nodes", [4096, 64, 37, 1])
def test_each_sequence_as_if_alone(engine, pass_nodes):
    found, _ = read_all(engine.model, sequences(), pass_nodes)
    for sequence, chances in found.items():
        with torch.inference_mode():
            plain = engine.model(torch.tensor([sequence]), use_cache=False).logits[0, -1]
        assert float((torch.softmax(plain.double(), -1) - chances).abs().max()) < 5e-6


def test_the_last_feed_forward_part_is_computed_for_wanted_nodes_alone(engine):
    rows = []
    part = engine.model.get_decoder().layers[-1].mlp
    hook = part.down_proj.register_forward_hook(lambda _, inputs, out: rows.append(out.shape[1]))
    try:
        read_all(engine.model, sequences(), 64)
    finally:
        hook.remove()
    trie = build(sequences())
    starts = range(0, len(trie), 64)
    wanted = [sum(start <= end < start + 64 for end in trie.ends.values()) for start in starts]
    assert rows == [max(n, 1) for n in wanted] and sum(rows) < len(trie) / 4
    assert not part._forward_hooks and not part._forward_pre_hooks


def test_runs_see_what_the_mask_says():
    trie = build(sequences())
    mask = tree.tree_mask(trie)
    nodes = np.arange(len(trie))
    for run in tree._runs(trie, 0, len(trie), nodes, torch.device("cpu")):
        keys = nodes[run.keys] if isinstance(run.keys, slice) else run.keys.numpy()
        seen = torch.zeros(run.stop - run.start, len(trie), dtype=torch.bool)
        own = run.mask if run.mask is not None else torch.ones(len(keys), len(keys)).tril().bool()
        seen[:, keys] = own
        assert torch.equal(seen, mask[run.start : run.stop])


def test_flex_attention_gives_the_same(engine, monkeypatch):
    from torch.nn.attention.flex_attention import flex_attention

    expected, _ = read_all(engine.model, sequences(), 64)
    used = []

    def layout(trie, start, stop, open_nodes, going_on, before, device):
        nodes = np.concatenate([open_nodes, np.arange(start, stop)])
        mask = tree._block_mask(trie, start, stop, nodes, device)
        used.append(mask)
        keep = torch.from_numpy(np.searchsorted(nodes, going_on))
        return tree.Pass(runs=lambda window: (), block_mask=lambda window: mask, before=before, keep=keep)

    monkeypatch.setattr(tree, "_layout", layout)
    monkeypatch.setattr(tree, "_compiled", flex_attention)  # as CUDA uses it, but not compiled
    with pytest.warns(UserWarning, match="flex_attention called without torch.compile"):
        found, _ = read_all(engine.model, sequences(), 64)
    assert len(used) > 2
    for sequence, chances in found.items():
        assert float((chances - expected[sequence]).abs().max()) < 2e-6


def _short_of_memory(monkeypatch, above: int) -> list[int]:
    real, tried = tree._forward, []

    def forward(model, trie, start, stop, inside, one):
        tried.append(stop - start)
        if stop - start > above:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, trie, start, stop, inside, one)

    monkeypatch.setattr(tree, "_forward", forward)
    return tried


def test_no_memory_halves_the_pass_and_goes_on(engine, monkeypatch):
    expected, _ = read_all(engine.model, sequences(), 4096)
    tried = _short_of_memory(monkeypatch, 70)
    found, halved = read_all(engine.model, sequences(), 256)
    assert halved == 2 and max(tried[2:]) == 64
    for sequence, chances in found.items():
        assert float((chances - expected[sequence]).abs().max()) < 2e-6


def test_no_memory_at_all_is_an_error(engine, monkeypatch):
    _short_of_memory(monkeypatch, 0)
    with pytest.raises(BackendError, match="no memory for a pass of 32 tokens"):
        read_all(engine.model, sequences(), 256)


def test_other_errors_of_torch_are_not_taken_for_want_of_memory(engine, monkeypatch):
    def broken(*_):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(tree, "_forward", broken)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        read_all(engine.model, sequences(), 256)


@pytest.mark.parametrize("strategy", ["tree", "prefix", "buckets", "alone"])
def test_every_strategy_gives_the_chain_rule(engine, strategy):
    asked = prompts()
    for prompt, answer in zip(asked, engine.score(asked, strategy), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(engine, prompt), abs=1e-6, rel=1e-4)


def test_labels_of_their_own_for_each_prompt(engine):
    names = [("Yes", "the system"), ("applicant", "No"), ("user", "Answer")]
    asked = [Prompt(messages=p.messages, labels=n) for p, n in zip(prompts(3), names, strict=True)]
    for prompt, answer in zip(asked, engine.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(engine, prompt), abs=1e-6, rel=1e-4)


def test_a_model_whose_attention_is_not_plain_is_not_asked_this_way(tiny_model, monkeypatch):
    real = tree._layout

    def blind(*given):  # keys of other branches are seen
        one = real(*given)
        for run in one.runs(None):
            if run.mask is not None:
                run.mask.fill_(True)
        return one

    monkeypatch.setattr(tree, "_layout", blind)
    strange = Engine(tiny_model, device="cpu", threads=1)
    assert strange.ways.faults["tree"] is not None
    asked = prompts(4)
    assert strange.plan(asked).strategy == "prefix"
    for prompt, answer in zip(asked, strange.score(asked), strict=True):
        assert answer.probabilities == pytest.approx(by_hand(strange, prompt), abs=1e-6, rel=1e-4)


def test_experts_are_computed_for_all_nodes(engine, monkeypatch):
    """A part that is not plainly linear may let nodes see each other."""
    expected, _ = read_all(engine.model, sequences(), 64)
    part = engine.model.get_decoder().layers[-1].mlp
    monkeypatch.setattr(part, "experts", torch.nn.LayerNorm(4), raising=False)
    lengths = []
    hook = part.down_proj.register_forward_hook(lambda _, inputs, out: lengths.append(out.shape[1]))
    try:
        found, _ = read_all(engine.model, sequences(), 64)
    finally:
        hook.remove()
    assert sum(lengths) == len(build(sequences()))
    assert all(float((found[s] - expected[s]).abs().max()) < 2e-6 for s in expected)
