"""Which ways of computing are used: each is tried once for its weights, and one that fails gives way."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from audit_lib.score.local import engine as part
from audit_lib.score.local import label_passes, trial_record
from audit_lib.score.local.engine import Engine
from audit_lib.score.local.lengths import Lengths
from audit_lib.score.local.questions import Prompt
from audit_lib.score.local.strategies import WAYS, ExactWays

LABELS = ("No", "Yes")


def asked() -> list[Prompt]:
    return [Prompt(messages=({"role": "user", "content": f"good {n}"},), labels=LABELS) for n in range(3)]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "trials"


def loads(monkeypatch) -> list[object]:
    """Return what grows by one with each load of a model."""
    real, counted = part.load_model, []

    def counting(folder, *how):
        counted.append(folder)
        return real(folder, *how)

    monkeypatch.setattr(part, "load_model", counting)
    return counted


def test_a_trial_is_made_once_for_the_same_weights(tiny_model, cache, monkeypatch):
    counted, said = loads(monkeypatch), []
    how = {"device": "cpu", "threads": 1, "notify": said.append}
    first = Engine(tiny_model, weights_digest="a", **how)
    assert len(counted) == 2, "one to be asked itself, one to be used"
    assert said == ["it is held against its own attention, once for these weights"]
    second = Engine(tiny_model, weights_digest="a", **how)
    assert len(counted) == 3 and len(said) == 1
    assert second.ways == first.ways and second.score(asked()) == first.score(asked())
    Engine(tiny_model, weights_digest="b", **how)
    assert len(counted) == 5 and len(list(cache.iterdir())) == 2
    Engine(tiny_model, **how)
    assert len(counted) == 7 and len(list(cache.iterdir())) == 2, "without a digest nothing is kept"


def test_another_code_tries_again(tiny_model, cache, monkeypatch):
    how = {"device": "cpu", "threads": 1, "weights_digest": "a"}
    Engine(tiny_model, **how)
    monkeypatch.setattr(trial_record, "_code_digest", lambda: "another")
    counted = loads(monkeypatch)
    Engine(tiny_model, **how)
    assert len(counted) == 2


@pytest.mark.parametrize("content", ["", "{}", '{"lengths": {}, "faults": {"tree": 3}}'])
def test_a_damaged_record_is_made_anew(tiny_model, cache, content, monkeypatch):
    how = {"device": "cpu", "threads": 1, "weights_digest": "a"}
    whole = Engine(tiny_model, **how).ways
    (file,) = cache.iterdir()
    before = json.loads(file.read_text())
    file.write_text(content)
    assert Engine(tiny_model, **how).ways == whole
    assert json.loads(file.read_text()) == before


def test_a_way_that_fails_on_a_pack_gives_way(tiny_model, monkeypatch):
    engine = Engine(tiny_model, device="cpu", threads=1)
    right = engine.score(asked())
    assert engine.plan(asked()).strategy == "tree"

    def fails(*_given, **_how):
        raise IndexError("no such layer")

    monkeypatch.setattr(label_passes.tree, "read_trie", fails)
    again = engine.score(asked())
    assert engine.ways.faults["tree"] == "it ends with IndexError"
    assert engine.plan(asked()).strategy != "tree"
    monkeypatch.setattr(label_passes, "beginning", fails)
    monkeypatch.setattr(label_passes, "read_rests", fails)
    branches = engine.score(asked())
    assert engine.ways.names() == ["branches", "once", "cache", "alone"]
    monkeypatch.setattr(label_passes, "cut_where_prompts_branch", fails)
    once = engine.score(asked())
    assert engine.ways.names() == ["once", "cache", "alone"]
    monkeypatch.setattr(label_passes, "read_segments", fails)
    alone = engine.score(asked())
    assert engine.ways.names() == ["cache", "alone"]
    for answers in (again, branches, once, alone):
        for one, other in zip(answers, right, strict=True):
            assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)
    monkeypatch.setattr(label_passes, "plain_probabilities", fails)
    assert {answer.error for answer in engine.score(asked())} == {
        f"the model's own pass over {len(engine.tokenise(engine.render(asked()[0].messages)))} tokens ends with "
        "IndexError: no such layer"
    }


def test_beyond_what_was_tried_nothing_is_shared():
    lengths = Lengths(longest=4096, shared=4096, cached=4096, suspects=(64, 1000)).after_trial(380, 380)
    reach = {
        "tree": lengths.across(380),
        "prefix": lengths.shared,
        "branches": 2000,
        "once": 3000,
        "cache": 1000,
    }
    ways = ExactWays(lengths=lengths, faults=dict.fromkeys(WAYS), reach=reach)
    assert ways.for_labels(1000) == ("tree", "prefix", "branches", "once", "alone")
    assert ways.for_labels(1001) == ("branches", "once", "alone") and ways.for_labels(3001) == ("alone",)
    assert (ways.padded_up_to, ways.cached_up_to) == (1000, 1000)


def test_a_model_that_says_otherwise_after_it_is_loaded_again_is_refused(tiny_model, monkeypatch):
    import torch

    from audit_lib.errors import BackendError

    real, loaded = part.load_model, []

    def drawn(folder, *how):
        model = real(folder, *how)
        loaded.append(folder)
        if len(loaded) == 2:  # what is missing from a folder is drawn at random, at each load anew
            torch.nn.init.normal_(model.lm_head.weight, generator=torch.Generator().manual_seed(9))
        return model

    monkeypatch.setattr(part, "load_model", drawn)
    with pytest.raises(
        BackendError, match="do not come out the same after it was loaded again.*; its scores are not"
    ):
        Engine(tiny_model, device="cpu", threads=1)
