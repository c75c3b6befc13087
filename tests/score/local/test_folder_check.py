"""A folder whose own files speak against scoring it is refused before any weight is read, with what to do."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from audit_lib.errors import BackendError
from audit_lib.score.backends.transformers import Transformers
from audit_lib.score.local import folder_check
from audit_lib.score.local.folder_check import check_scorable
from audit_lib.spec import Model
from tests.installed import needs_torch
from tests.score.conftest import save_tiny_model


def folder_of(folder: Path, **config: object) -> Path:
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", **config}))
    return folder


REFUSED = {
    "a classifier": ({"architectures": ["LlamaForSequenceClassification"]}, "saved as LlamaForSequenceClassification"),
    "a reward model": ({"architectures": ["QwenRewardModel"]}, "no head that continues a text; give the folder"),
    "an encoder": ({"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "^model type bert: .*BertForMaskedLM"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_is_refused_by_its_config(tmp_path, case):
    config, said = REFUSED[case]
    with pytest.raises(BackendError, match=said):
        check_scorable(folder_of(tmp_path, **config))


QUANTISED = {
    "aqlm": "pip install aqlm,",
    "auto-round": "pip install auto-round,",
    "awq": "pip install gptqmodel,",
    "bitsandbytes": "pip install bitsandbytes,",
    "compressed-tensors": "pip install compressed-tensors,",
    "eetq": "on GPUs alone .*pip install vllm,",
    "fbgemm_fp8": "on GPUs alone .*pip install vllm,",
    "fp8": "on GPUs alone .*pip install vllm,",
    "gptq": "pip install gptqmodel optimum,",
    "hqq": "pip install hqq,",
    "mxfp4": "on GPUs alone .*pip install vllm,",
    "quanto": "pip install optimum-quanto,",
    "torchao": "pip install torchao,",
    "nobody_s": r"not among the ways that are read here .*; give the folder of the model before it was quantised",
}


@pytest.fixture
def without_libraries(monkeypatch):
    """Hide the libraries that read quantised weights, where they are installed."""
    hidden = {module.split(".")[0] for modules in folder_check._LIBRARIES.values() for module in modules}
    found = importlib.util.find_spec

    def find_spec(name, package=None):
        return None if name.split(".")[0] in hidden else found(name, package)

    monkeypatch.setattr(folder_check.importlib.util, "find_spec", find_spec)


@pytest.mark.parametrize("where", ["at the top", "of the part for texts", "in capitals"])
@pytest.mark.parametrize("method", QUANTISED)
def test_a_quantised_folder_without_its_library_is_one_line(tmp_path, without_libraries, method, where):
    said = {"quantization_config": {"quant_method": method.upper() if where == "in capitals" else method}}
    config = {"text_config": said} if where == "of the part for texts" else said
    with pytest.raises(BackendError, match=QUANTISED[method]) as refused:
        check_scorable(folder_of(tmp_path, **config))
    assert f"quantised ({method})" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"quantization_config": {"load_in_4bit": True}}, "pip install bitsandbytes"),
        ({"compression_config": {"quant_method": "compressed-tensors"}}, "pip install compressed-tensors"),
        ({"quantization_config": {}}, r"\(an unnamed way\).*not among.*before it was"),
        ({"quantization_config": "int4"}, r"\(an unnamed way\).*not among.*before it was"),
        ({"quantization_config": {"quant_method": ["fp8"]}}, "not among"),
    ],
)
def test_what_does_not_say_how_it_was_quantised_is_refused(tmp_path, without_libraries, config, said):
    with pytest.raises(BackendError, match=said):
        check_scorable(folder_of(tmp_path, **config))


def test_a_part_of_a_library_is_looked_for_not_the_whole(tmp_path, monkeypatch):
    """optimum is there for GPTQ, and optimum.quanto is another package."""
    monkeypatch.setattr(folder_check, "_is_installed", lambda module: module == "optimum")
    config = {"quantization_config": {"quant_method": "quanto"}}
    with pytest.raises(BackendError, match="pip install optimum-quanto"):
        check_scorable(folder_of(tmp_path, **config))


def test_a_folder_that_says_that_it_is_not_quantised_is_let_through(tmp_path):
    check_scorable(folder_of(tmp_path, quantization_config=None, text_config={"quantization_config": None}))


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
