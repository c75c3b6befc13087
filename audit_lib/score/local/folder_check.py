"""What a model folder's own files say against scoring it, read without torch and before any weight."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from audit_lib.score.local.refusal import refusal

_LIBRARIES: Final = {
    "aqlm": {"aqlm": "aqlm"},
    "auto-round": {"auto_round": "auto-round"},
    "awq": {"gptqmodel": "gptqmodel"},
    "bitsandbytes": {"bitsandbytes": "bitsandbytes"},
    "compressed-tensors": {"compressed_tensors": "compressed-tensors"},
    "gptq": {"gptqmodel": "gptqmodel", "optimum": "optimum"},
    "hqq": {"hqq": "hqq"},
    "quanto": {"optimum.quanto": "optimum-quanto"},
    "torchao": {"torchao": "torchao"},
}
"""Way of quantising -> the modules that read such weights, and their packages."""
_ON_GPUS: Final = frozenset(
    {"eetq", "fbgemm_fp8", "fp8", "fp_quant", "fouroversix", "mxfp4", "mxfp8", "nvfp4"}
)
"""Ways whose kernels are for GPUs. Elsewhere transformers turns some of them into other numbers with a warning."""
_KEYS: Final = ("quantization_config", "compression_config")
_UNNAMED: Final = "an unnamed way"
_OTHER_HEADS: Final = (
    "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice",
    "ForRewardModel", "RewardModel", "ForMaskedLM", "ForImageClassification",
)  # fmt: skip


def read_config(folder: Path) -> dict[str, Any]:
    """Return a folder's ``config.json``; empty if it cannot be read."""
    try:
        found = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def model_type(folder: Path) -> str:
    """Return the type of model that a folder says it holds."""
    return str(read_config(folder).get("model_type") or "unknown")


def check_scorable(folder: Path) -> None:
    """Refuse a folder of which its own files say that its scores would not be those of a language model.

    Raises
    ------
    BackendError
        If it holds an adapter, or quantised weights whose library is not installed, or was saved with another head
        than one for words.
    """
    config, kind = read_config(folder), model_type(folder)
    if (folder / "adapter_config.json").is_file():
        raise refusal(
            kind,
            "the folder holds an adapter (adapter_config.json), which is not applied here",
            "merge it into the weights (peft: merge_and_unload) and save them",
        )
    if (method := way_of_quantising(config)) is not None:
        _check_quantised(kind, method)
    heads = [str(name) for name in config.get("architectures") or []]
    if heads and all(name.endswith(_OTHER_HEADS) for name in heads):
        raise refusal(
            kind,
            f"the folder was saved as {', '.join(heads)}, which has no head that continues a text",
            "give the folder of a whole causal language model (a classifier is a tool of its own: backend http)",
        )


def way_of_quantising(config: Mapping[str, Any]) -> str | None:
    """Return in which way a config says that the weights are quantised, or None if they are not.

    Examples
    --------
    >>> way_of_quantising({"quantization_config": {"quant_method": "GPTQ"}}), way_of_quantising({})
    ('gptq', None)
    >>> way_of_quantising({"text_config": {"quantization_config": {"quant_method": "fp8"}}})
    'fp8'
    """
    # A model that reads images too says it of its part for texts.
    parts = [config, *(value for value in config.values() if isinstance(value, Mapping))]
    said = next((part[key] for part in parts for key in _KEYS if part.get(key) is not None), None)
    if said is None:
        return None
    if not isinstance(said, Mapping):
        return _UNNAMED
    # bitsandbytes wrote none in its first versions.
    bits = "bitsandbytes" if said.get("load_in_4bit") or said.get("load_in_8bit") else _UNNAMED
    return str(said.get("quant_method") or bits).lower()


def _check_quantised(kind: str, method: str) -> None:
    served = "or serve this one (vLLM, llama.cpp) and use the backend openai"
    if method in _ON_GPUS:
        raise refusal(
            kind,
            f"its weights are quantised ({method}), which is computed on GPUs alone and not read here",
            "use the backend vllm (pip install vllm, in an environment of its own), or give the folder of the model "
            "before it was quantised",
        )
    if method not in _LIBRARIES:
        raise refusal(
            kind,
            f"its weights are quantised ({method}), which is not among the ways that are read here "
            f"({', '.join(_LIBRARIES)})",
            f"give the folder of the model before it was quantised, {served}",
        )
    missing = [package for module, package in _LIBRARIES[method].items() if not _is_installed(module)]
    if missing:
        raise refusal(
            kind,
            f"its weights are quantised ({method}), and what reads them is not installed ({', '.join(missing)})",
            f"pip install {' '.join(missing)}, {served}",
        )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be a part of is not there
        return False
