"""A folder that does not hold the whole of a model is refused by the names of its tensors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.errors import BackendError
from tests.score.conftest import save_tiny_model
from tests.test_preflight import TEMPLATE, WINDOW, recorded_audit

torch = pytest.importorskip("torch", reason="torch is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from audit_lib.score.local.loading import load_model  # noqa: E402


def change(folder: Path, edit) -> None:
    """Change the tensors of a saved model."""
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def without(*parts: str):
    def edit(tensors):
        for name in [name for name in tensors if any(part in name for part in parts)]:
            del tensors[name]

    return edit


CASES = {
    "a classifier": (
        lambda t: (t.pop("lm_head.weight"), t.update({"score.weight": torch.zeros(2, 48)})),
        r"lm_head\.weight is missing, .*score\.weight is not part of a LlamaForCausalLM",
    ),
    "no head": (without("lm_head"), r"lm_head\.weight is missing, and would be drawn at random"),
    "a layer's feed-forward part": (without("layers.1.mlp"), r"model\.layers\.1\.mlp\.down_proj\.weight, .*missing"),
    "a part of every layer": (without("q_proj"), r"model\.layers\.\*\.self_attn\.q_proj\.weight \(2\) are missing"),
    "the embeddings": (without("embed_tokens"), r"model\.embed_tokens\.weight is missing"),
    "a norm": (without("model.norm"), r"model\.norm\.weight is missing"),
    "one more layer": (
        lambda t: t.update({k.replace("layers.1", "layers.2"): v.clone() for k, v in t.items() if "layers.1" in k}),
        r"model\.layers\.2\..* and would be dropped",
    ),
    "an adapter's tensors": (
        lambda t: t.update({"model.layers.0.self_attn.q_proj.lora_A.weight": torch.zeros(4, 48)}),
        r"lora_A\.weight is not part of",
    ),
    "another shape": (
        lambda t: t.update({"lm_head.weight": t["lm_head.weight"][:100].clone()}),
        r"lm_head\.weight is of another shape than config\.json says",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_tensors_that_do_not_fit_are_named(tmp_path, case):
    edit, said = CASES[case]
    save_tiny_model(tmp_path)
    load_model(tmp_path)
    change(tmp_path, edit)
    with pytest.raises(BackendError, match=said):
        load_model(tmp_path)


def test_a_head_that_is_the_embedding_is_not_missing(tmp_path):
    save_tiny_model(tmp_path, tie_word_embeddings=True)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    model = load_model(tmp_path)
    assert model.lm_head.weight is model.model.embed_tokens.weight


def test_buffers_of_earlier_versions_do_no_harm(tmp_path):
    save_tiny_model(tmp_path)
    change(tmp_path, lambda t: t.update({"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(6)}))
    load_model(tmp_path)


def test_an_adapter_beside_the_weights_is_refused(tmp_path):
    save_tiny_model(tmp_path)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    with pytest.raises(BackendError, match="adapter .* merge it into the weights"):
        load_model(tmp_path)


def test_the_class_that_the_folder_was_saved_as_is_named(tmp_path):
    from transformers import LlamaConfig, LlamaForSequenceClassification

    save_tiny_model(tmp_path)
    config = LlamaConfig.from_pretrained(tmp_path)
    config.pad_token_id = 0
    LlamaForSequenceClassification(config).save_pretrained(tmp_path)
    with pytest.raises(BackendError, match="saved as LlamaForSequenceClassification"):
        load_model(tmp_path)


def test_a_run_with_such_a_folder_ends_before_anything_is_sampled(tmp_path, capsys):
    save_tiny_model(tmp_path / "model")
    change(tmp_path / "model", without("lm_head"))
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    path = recorded_audit(
        tmp_path,
        model={"backend": "transformers", "name": str(tmp_path / "model"), "options": {"threads": 1}},
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
        decision={"rule": "above_median"},
    )
    store = tmp_path / "store"
    assert main(["run", str(path), *WINDOW, "--store", str(store)]) == 2
    assert "lm_head.weight is missing, and would be drawn at random" in capsys.readouterr().err
    assert not list(store.rglob("prompts.parquet"))


def test_a_model_that_would_think_ends_the_run_before_anything_is_sampled(tmp_path, capsys):
    save_tiny_model(tmp_path / "model")
    file = tmp_path / "model" / "chat_template.jinja"
    file.write_text(
        file.read_text().replace("<|im_start|>assistant\n{% endif", "<|im_start|>assistant\n<think>{% endif")
    )
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    path = recorded_audit(
        tmp_path,
        model={"backend": "transformers", "name": str(tmp_path / "model"), "options": {"threads": 1}},
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
        decision={"rule": "above_median"},
    )
    assert main(["run", str(path), *WINDOW, "--store", str(tmp_path / "store")]) == 2
    assert "labels would be scored where the model may think; say in model.options" in capsys.readouterr().err
    assert not list((tmp_path / "store").rglob("prompts.parquet"))


@pytest.mark.slow  # a whole audit with a scoring process: 10 s
def test_an_audit_whose_scores_are_too_far_from_the_model_s_own_fails_and_is_archived_so(tmp_path, capsys):
    from audit_lib import pipeline
    from audit_lib.window import Window

    save_tiny_model(tmp_path / "model")
    (tmp_path / "t.yaml").write_text(TEMPLATE, encoding="utf-8")
    path = recorded_audit(
        tmp_path,
        model={"backend": "transformers", "name": str(tmp_path / "model"), "options": {"threads": 1}},
        prompt={"template": "t.yaml", "labels": ["No", "Yes"]},
        decision={"rule": "above_median"},
        checks={"maximum_noise_floor": 1e-30},
    )
    store = tmp_path / "store"
    assert main(["run", str(path), *WINDOW, "--store", str(store)]) != 0
    said = capsys.readouterr().err
    assert "checks.maximum_noise_floor" in said and "cannot be scored exactly here" in said
    run = pipeline.open_run(path, Window.parse(WINDOW[1], WINDOW[2]), str(store))
    assert run.stage("evidence").read_json("manifest.json")["outcome"] == "validation_failed"
