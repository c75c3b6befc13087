"""A model's layers in another type of number, and over several devices: as near as was measured, or refused."""

from __future__ import annotations

import importlib.util

import pytest

from audit_lib.cli.main import main
from audit_lib.errors import BackendError

torch = pytest.importorskip("torch", reason="torch is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from audit_lib.score.local import strategies  # noqa: E402
from audit_lib.score.local.engine import Engine  # noqa: E402
from audit_lib.score.local.loading import load_model  # noqa: E402
from audit_lib.score.local.placement import Placement  # noqa: E402
from audit_lib.score.local.questions import Prompt, Sampled  # noqa: E402
from tests.score.conftest import save_tiny_model  # noqa: E402
from tests.test_preflight import TEMPLATE, WINDOW, recorded_audit  # noqa: E402

LABELS = ("No", "Yes", "the system")


def asked(**how: object) -> list[Prompt]:
    return [
        Prompt(messages=({"role": "user", "content": f"very good {n}"},), **{"labels": LABELS, **how})
        for n in range(4)
    ]


def apart(some, others) -> float:
    return max(
        abs(p - q)
        for one, other in zip(some, others, strict=True)
        for p, q in zip(one.probabilities, other.probabilities, strict=True)
    )


@pytest.fixture(scope="module")
def exact(tiny_model):
    return Engine(tiny_model, device="cpu", threads=1)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_as_near_as_was_measured(tiny_model, exact, dtype):
    engine = Engine(tiny_model, device="cpu", threads=1, dtype=dtype)
    assert {str(p.dtype) for n, p in engine.model.named_parameters() if n != "lm_head.weight"} == {
        f"torch.{dtype}"
    }
    assert engine.model.lm_head.weight.dtype == torch.float32
    assert engine.model(torch.tensor([[5, 6]])).logits.dtype == torch.float32
    floors = engine.ways.floors
    assert set(floors) == {"tree", "prefix", "branches", "once", "alone"}
    answers = engine.score(asked())
    own = exact.score(asked())
    assert 1e-7 < apart(answers, own) < 4 * max(floors.values()) < 0.4
    ratios = [
        p / q
        for one, other in zip(answers, own, strict=True)
        for p, q in zip(one.probabilities, other.probabilities, strict=True)
    ]
    assert max(ratios) - min(ratios) > 1e-3
    assert engine.score(asked()) == answers, "the same again"
    # What the noise floor of an audit is measured against is in float32.
    alone = [engine.score_alone(prompt) for prompt in asked()]
    assert apart(alone, [exact.score_alone(prompt) for prompt in asked()]) == 0
    (text,) = engine.score(asked(labels=(), sampling=Sampled(max_tokens=4, temperature=0.0, seed=0))[:1])
    assert text.error is None


def test_a_head_that_is_the_embeddings_leaves_them_as_they_are(tmp_path):
    save_tiny_model(tmp_path, tie_word_embeddings=True)
    model = load_model(tmp_path, Placement(dtype="bfloat16"))
    assert model.model.embed_tokens.weight.dtype == torch.bfloat16
    assert torch.equal(model.lm_head.weight, model.model.embed_tokens.weight.float())


def test_the_floors_are_kept_with_the_trial(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    how = {"device": "cpu", "threads": 1, "weights_digest": "a"}
    exact, first, again = (Engine(tiny_model, **how, dtype=d) for d in ("float32", "bfloat16", "bfloat16"))
    assert exact.ways.floors == {} and first.ways.floors == again.ways.floors != {}
    assert len(list((tmp_path / "trials").iterdir())) == 2
    assert first.score(asked()) == again.score(asked())


def test_a_way_that_rounds_more_than_the_model_itself_gives_way(tiny_model, monkeypatch):
    real = strategies._farthest
    calls = []

    def worse(probes, found):
        calls.append(found)
        return real(probes, found) + (0.5 if len(calls) == 2 else 0.0)  # of the tree, after the model's own

    monkeypatch.setattr(strategies, "_farthest", worse)
    engine = Engine(tiny_model, device="cpu", threads=1, dtype="bfloat16")
    assert engine.ways.faults["tree"].startswith("a probability is off by 0.5")
    assert engine.plan(asked()).strategy in ("prefix", "buckets") and "tree" not in engine.ways.floors


def test_numbers_too_large_for_the_type_are_refused(tmp_path):
    save_tiny_model(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    tensors["model.embed_tokens.weight"] *= 1e6
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(BackendError, match="too large for this type.* bfloat16"):
        Engine(tmp_path, device="cpu", threads=1, dtype="float16")


def spec_in(tmp_path, **how: object):
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    save_tiny_model(tmp_path / "model")
    options = {"threads": 1, "dtype": "bfloat16"}
    return recorded_audit(
        tmp_path,
        model={"backend": "transformers", "name": str(tmp_path / "model"), "options": options},
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
        decision={"rule": "above_median"},
        **how,
    )


def test_half_precision_without_a_tolerance_is_refused(tmp_path, capsys):
    assert main(["validate", str(spec_in(tmp_path))]) == 2
    said = capsys.readouterr().err
    assert "dtype: bfloat16 moves probabilities" in said and "say in checks.maximum_noise_floor" in said
    assert main(["validate", str(spec_in(tmp_path, checks={"maximum_noise_floor": 0.1}))]) == 0


@pytest.mark.slow  # a whole audit with a scoring process: 15 s
@pytest.mark.parametrize(("most", "code"), [(0.2, 0), (1e-7, 1)])
def test_an_audit_in_half_precision_says_how_far_it_is_from_float32(tmp_path, capsys, most, code):
    from audit_lib import pipeline
    from audit_lib.window import Window

    path = spec_in(tmp_path, checks={"maximum_noise_floor": most})
    store = str(tmp_path / "store")
    assert bool(main(["run", str(path), *WINDOW, "--store", store])) == bool(code)
    scores = pipeline.open_run(path, Window.parse(*WINDOW[1:]), store).stage("scores/0")
    model, floor = scores.read_json("model.json"), scores.read_json("plan.json")["noise_floor"]
    assert model["dtype"] == "bfloat16" and model["floor_against_float32"]["alone"] > 0
    assert floor["largest_difference"] > 1e-7
    assert bool(code) == ("checks.maximum_noise_floor" in capsys.readouterr().err)


PLACES = {
    "all on the processor": {"": "cpu"},
    "a layer on a disk": {
        "model.embed_tokens": "cpu", "model.rotary_emb": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk",
        "model.norm": "cpu", "lm_head": "cpu",
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
@pytest.mark.skipif(importlib.util.find_spec("accelerate") is None, reason="accelerate is not installed")
def test_a_model_in_several_places_scores_the_same(tiny_model, exact, case):
    engine = Engine(tiny_model, device="cpu", threads=1, device_map=PLACES[case])
    assert engine.ways.names() == exact.ways.names()
    assert apart(engine.score(asked()), exact.score(asked())) < 1e-6
    assert engine.packed == 0


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            {"device_map": {"model": 0, "lm_head": "cuda:7"}},
            "device_map: cuda:0 is not here; .* sees no GPUs",
        ),
        ({"device_map": "auto"}, "auto spreads a model over GPUs, and torch sees none here"),
        ({"device": "cuda:1"}, "device: cuda:1 is not here"),
    ],
)
def test_devices_that_are_not_here_are_refused(tiny_model, monkeypatch, place, said):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(BackendError, match=said):
        Engine(tiny_model, **{"device": "cpu", "threads": 1, **place})


def test_without_accelerate_a_map_is_refused(tiny_model, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match="accelerate spreads models.*pip install accelerate"):
        Placement(device_map={"": "cpu"}).check()


def test_a_head_on_a_disk_cannot_compute_in_float32(tiny_model):
    place = Placement(dtype="bfloat16", device_map={**PLACES["a layer on a disk"], "lm_head": "disk"})
    with pytest.raises(BackendError, match="the head .* must lie on a device"):
        load_model(tiny_model, place)
