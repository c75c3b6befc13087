"""The local backend, in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from audit_lib.errors import BackendError
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score import score_shard, shards
from audit_lib.score.backends.transformers import Transformers
from audit_lib.score.local.weights import PACKAGED, files_digest
from audit_lib.score.packs import pack
from audit_lib.score.requests import Candidate, Message, Request, Response, Sampling
from audit_lib.score.tasks.pointwise import Pointwise
from audit_lib.spec import Model
from tests.score.cases import messages, personas, run_with, variant
from tests.score.conftest import save_tiny_model

pytest.importorskip("torch", reason="torch is not installed")


def local(name: object, **options: object) -> dict[str, object]:
    return {
        "backend": "transformers",
        "name": str(name),
        "options": {"threads": 1, "pack_size": 8, **options},
    }


def scored(run: Run) -> pd.DataFrame:
    outputs = [score_shard(run, shard) for shard in shards(run)]
    tables = [from_parquet(output.artefacts["scores.parquet"]) for output in outputs]
    return pd.concat(tables).sort_values("variant_id", ignore_index=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_model):
    folder = tmp_path_factory.mktemp("transformers")
    return run_with(folder, personas(4), model=local(tiny_model), score={"shards": 1})


@pytest.fixture(scope="module")
def first(run):
    """The shard as the model scores it: a process loads torch for seconds, so it is asked once."""
    return score_shard(run, 0)


def test_rows_model_and_equal_bytes_on_a_second_call(run, first):
    second = score_shard(run, 0)
    assert dict(first.artefacts) == dict(second.artefacts)
    scores = from_parquet(first.artefacts["scores.parquet"])
    assert scores.status.eq("ok").all() and len(scores) == 16
    assert scores.label_probabilities.map(sum).tolist() == pytest.approx([1.0] * 16)
    assert scores.score.tolist() == [p[1] for p in scores.label_probabilities]  # relevance 0, 1
    assert scores.score.nunique() == 16 and scores.label_mass.between(0, 1, inclusive="neither").all()
    assert set(scores.method) == {"logits"}
    model = json.loads(first.artefacts["model.json"])
    assert model["fingerprint"] == scores.model_fingerprint.unique().item()
    assert (model["dtype"], model["device"], model["threads"]) == ("float32", "cpu", 1)
    assert len(model["weights_sha256"]) == 64 and set(model["versions"]) == {
        "tokenizers",
        "torch",
        "transformers",
    }
    assert files_digest(model["files"]) == model["weights_sha256"], (
        "which file differs is told by its own digest"
    )
    assert {"model.safetensors", "tokenizer.json"} <= model["files"].keys()


def test_torch_never_enters_the_process_that_asks(tmp_path, tiny_model):
    run = run_with(tmp_path, personas(1), model=local(tiny_model), score={"shards": 1})
    # A script without a main guard: the scoring process must not run it again.
    script = tmp_path / "asks.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom audit_lib.run import Run\nfrom audit_lib.score import score_shard\n"
        "from audit_lib.spec import AuditSpec\nfrom audit_lib.window import Window\n"
        f"spec = AuditSpec.load_text({run.spec.canonical().decode()!r}, Path({str(tmp_path / 'x')!r}))\n"
        f"run = Run.open(spec, Window.parse('2026-01-05', '2026-01-12'), {str(tmp_path / 'store')!r})\n"
        "print(score_shard(run, 0).counts['ok'], 'torch' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.stdout.split() == ["4", "False"], done.stderr


@pytest.mark.slow
def test_one_shard_and_many_give_the_same_bytes(tmp_path, tiny_model):
    tables = []
    for count in (1, 3):
        (folder := tmp_path / str(count)).mkdir()
        run = run_with(folder, personas(6), model=local(tiny_model), score={"shards": count})
        assert len(shards(run)) == count
        tables.append(scored(run))
    pd.testing.assert_frame_equal(tables[0], tables[1], check_exact=True)


def test_a_prompt_too_long_is_a_row(tmp_path, tiny_model):
    rows = [*personas(1), variant("long", position="finance", messages=messages("applicant " * 900))]
    scores = scored(run_with(tmp_path, rows, model=local(tiny_model))).set_index("variant_id")
    assert scores.status["long"] == "error" and "the model takes 512" in scores.detail["long"]
    assert scores.status.drop("long").eq("ok").all()


@pytest.mark.slow
def test_other_weights_are_another_model(tmp_path, tiny_model):
    save_tiny_model(tmp_path / "other", rms_norm_eps=1e-4)
    marks = set()
    for i, folder in enumerate((tiny_model, tmp_path / "other")):
        (at := tmp_path / str(i)).mkdir()
        run = run_with(at, personas(1), model=local("model"), score={"shards": 1})
        object.__setattr__(run.spec.model, "name", str(folder))
        output = score_shard(run, 0)
        marks.add(json.loads(output.artefacts["model.json"])["weights_sha256"])
    assert len(marks) == 2


def test_a_process_that_dies_is_an_error_that_says_so(tmp_path, tiny_model):
    run = run_with(tmp_path, personas(4), model=local(tiny_model, pack_size=4))
    asked = Pointwise(run.spec).requests(run.stage("variants").read_table("variants.parquet"))
    backend = Transformers(run.spec.model)
    try:
        responses = backend.score(pack(asked, backend.pack_size))
        assert next(responses).status == "ok"
        backend._process._process.kill()
        with pytest.raises(BackendError, match="ended with code -9 .*memory"):
            list(responses)
    finally:
        backend.close()
    assert not backend._process.is_running


def test_weights_that_do_not_load_are_an_error_without_a_traceback(tmp_path):
    save_tiny_model(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"not safetensors")
    run = run_with(tmp_path, personas(1), model=local(tmp_path / "model"))
    with pytest.raises(BackendError, match="cannot be loaded as a causal language model: SafetensorError"):
        score_shard(run, 0)


@pytest.mark.slow
def test_the_demo_model_scores_a_resume(tmp_path):
    assert "smollm2-135m-instruct" in PACKAGED
    run = run_with(
        tmp_path, personas(2), model=local("smollm2-135m-instruct", threads=2), score={"shards": 1}
    )
    scores = scored(run)
    assert scores.status.eq("ok").all()
    assert scores.label_mass.gt(0.05).all() and scores.score.nunique() == 8


def test_a_model_folder_is_looked_for_from_the_spec_s_folder(tmp_path, tiny_model, monkeypatch):
    from tests.specs import load

    (tmp_path / "specs" / "models").mkdir(parents=True)
    (tmp_path / "specs" / "models" / "tiny").symlink_to(tiny_model)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "specs" / "prompt.yaml").write_text("- {role: user, content: x}\n")
    section = {"prompt": {"template": "prompt.yaml"}, "model": local("models/tiny")}
    spec = load(tmp_path / "specs", **section)
    Transformers.check(spec.model)
    assert spec.model.location == str(tmp_path / "specs" / "models" / "tiny")
    assert spec.model.name == "models/tiny", "evidence names it as the spec does"
    from_working_folder = load(tmp_path / "elsewhere", **section)
    assert from_working_folder.model.location == "models/tiny"
    backend = Transformers(spec.model)
    try:
        assert backend.describe()["name"] == "models/tiny"
    finally:
        backend.close()


def test_the_plan_is_an_artefact_with_bound_and_noise_floor(first):
    plan = json.loads(first.artefacts["plan.json"])
    assert plan["bound"] == pytest.approx(plan["tokens"] / plan["unique_tokens"], abs=1e-4)
    assert plan["bound"] == pytest.approx(1 / (1 - plan["shared"]), abs=1e-3) and plan["bound"] > 1.5
    assert plan["unique_tokens_over_packs"] <= plan["unique_tokens"] < plan["tokens"]
    assert sum(p["requests"] for p in plan["packs"]) == first.counts["requests"] == 16
    assert {p["strategy"] for p in plan["packs"]} == {"tree"} and len(plan["plan_sha256"]) == 64
    assert plan["halved"] == 0
    floor = plan["noise_floor"]
    assert floor["requests"] == 5, "four, and the longest"
    assert floor["against"] == "the model's own attention"
    assert 0 <= floor["largest_difference"] < 1e-5 and 0 <= floor["largest_share_difference"] < 1e-5


@pytest.mark.slow
def test_a_warm_shard_has_the_plan_of_the_cold_one(tmp_path, tiny_model):
    run = run_with(tmp_path, personas(2), model=local(tiny_model), score={"shards": 1, "ledger": "window"})
    cold, warm = score_shard(run, 0), score_shard(run, 0)
    assert warm.counts["from_ledger"] == 8 and "from_ledger" not in cold.counts
    assert cold.artefacts["plan.json"] == warm.artefacts["plan.json"]
    assert cold.artefacts["scores.parquet"] == warm.artefacts["scores.parquet"]


def written(name: object, requests: list[Request]) -> dict[tuple[str, int], Response]:
    backend = Transformers(Model(backend="transformers", name=str(name), options={"threads": 1}))
    try:
        return {r.key: r for r in backend.score(pack(requests, backend.pack_size))}
    finally:
        backend.close()


@pytest.mark.slow
def test_texts_follow_from_the_request_alone(tiny_model):
    def ask(name: str, repeat: int, temperature: float) -> Request:
        return Request(
            request_id=name,
            repeat=repeat,
            section="s",
            family=name,
            messages=(Message(role="user", content="applicant"),),
            sampling=Sampling(max_tokens=12, temperature=temperature, seed=3),
            candidates=(Candidate(variant_id=name),),
        )

    hot = [ask(name, repeat, 1.5) for name in "ab" for repeat in (0, 1)]
    together = written(tiny_model, hot)
    assert {r.status for r in together.values()} == {"ok"} and {r.method for r in together.values()} == {
        "generated"
    }
    assert len({r.text for r in together.values()}) == 4
    assert all(0 < r.completion_tokens <= 12 and r.prompt_tokens > 0 for r in together.values())
    assert written(tiny_model, hot[2:3])[hot[2].key].text == together[hot[2].key].text
    cold = written(tiny_model, [ask(name, repeat, 0.0) for name in "ab" for repeat in (0, 1)])
    assert len({r.text for r in cold.values()}) == 1


def test_an_empty_text_is_unparsed(tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    save_tiny_model(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        model.lm_head.weight.zero_()  # all tokens alike: the first one is taken, and it ends the text
    model.generation_config.eos_token_id = 0
    model.save_pretrained(tmp_path)
    request = Request(
        request_id="a",
        section="s",
        family="f",
        messages=(Message(role="user", content="applicant"),),
        sampling=Sampling(max_tokens=5),
        candidates=(Candidate(variant_id="a"),),
    )
    (response,) = written(tmp_path, [request]).values()
    assert (response.status, response.text, response.detail) == ("unparsed", None, "the answer is empty")
