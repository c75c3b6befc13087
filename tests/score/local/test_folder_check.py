"""A folder whose own files speak against scoring it is refused before any weight is read, with what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.errors import BackendError
from audit_lib.score.backends.transformers import Transformers
from audit_lib.score.local.folder_check import check_scorable
from audit_lib.spec import Model
from tests.installed import needs_torch
from tests.score.conftest import save_tiny_model


def folder_of(folder: Path, **config: object) -> Path:
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", **config}))
    return folder


REFUSED = {
    "GPTQ": ({"quantization_config": {"quant_method": "gptq"}}, r"\(gptq\).*pip install gptqmodel"),
    "AWQ": ({"quantization_config": {"quant_method": "awq"}}, r"quantised \(awq\).*pip install gptqmodel"),
    "bitsandbytes": ({"quantization_config": {"quant_method": "bitsandbytes"}}, "pip install bitsandbytes"),
    "bitsandbytes without a name": ({"quantization_config": {"load_in_4bit": True}}, "pip install bitsandbytes"),
    "a way of its own": ({"quantization_config": {}}, r"\(an unnamed way\).*not among.*before it was"),
    "a classifier": ({"architectures": ["LlamaForSequenceClassification"]}, "saved as LlamaForSequenceClassification"),
    "a reward model": ({"architectures": ["QwenRewardModel"]}, "no head that continues a text; give the folder"),
    "an encoder": ({"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "^model type bert: .*BertForMaskedLM"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_is_refused_by_its_config(tmp_path, case):
    config, said = REFUSED[case]
    with pytest.raises(BackendError, match=said):
        check_scorable(folder_of(tmp_path, **config))


def test_an_adapter_without_a_model_says_so(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(BackendError, match=r"an adapter .*; merge it into the weights"):
        check_scorable(tmp_path)


def test_a_model_is_let_through(tmp_path):
    check_scorable(folder_of(tmp_path, architectures=["LlamaForCausalLM"]))


@needs_torch
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("t5", r"^model '.*': model type t5: cannot be loaded as a causal .*: it is an encoder and a decoder;"),
        ("vit", "model type vit: .* no class that loads this type to continue a text; name a causal"),
        ("nobody_s_own", r"model type nobody_s_own: transformers \S+ cannot be asked for it: it knows no such type;"),
    ],
)  # fmt: skip
def test_a_type_that_is_no_causal_language_model_is_refused(tmp_path, kind, said):
    save_tiny_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": kind, "architectures": None}))
    backend = Transformers(Model(backend="transformers", name=str(tmp_path), options={"threads": 1}))
    with pytest.raises(BackendError, match=said):
        backend.describe()


@needs_torch
def test_the_audit_is_stopped_before_the_model_is_loaded(tmp_path):
    save_tiny_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps({**config, "quantization_config": {"quant_method": "gptq"}})
    )
    with pytest.raises(BackendError, match="gptqmodel"):
        Transformers.check(Model(backend="transformers", name=str(tmp_path)))
