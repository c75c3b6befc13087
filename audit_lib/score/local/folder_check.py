"""What a model folder's own files say against scoring it, read without torch and before any weight."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, Final

from audit_lib.errors import BackendError
from audit_lib.score.local.refusal import refusal

_LIBRARIES: Final = {
    "gptq": "gptqmodel",
    "awq": "gptqmodel",
    "bitsandbytes": "bitsandbytes",
    "compressed-tensors": "compressed_tensors",
    "hqq": "hqq",
    "aqlm": "aqlm",
    "quanto": "optimum.quanto",
    "torchao": "torchao",
    "mxfp4": "kernels",
}
"""Way of quantising -> the module that reads such weights."""
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
        If it holds an adapter, or quantised weights, or was saved with another head than one for words.
    """
    config, kind = read_config(folder), model_type(folder)
    if (folder / "adapter_config.json").is_file():
        raise refusal(
            kind,
            "the folder holds an adapter (adapter_config.json), which is not applied here",
            "merge it into the weights (peft: merge_and_unload) and save them",
        )
    if isinstance(quantised := config.get("quantization_config"), dict):
        raise _quantised(kind, str(quantised.get("quant_method") or "an unnamed way").lower())
    heads = [str(name) for name in config.get("architectures") or []]
    if heads and all(name.endswith(_OTHER_HEADS) for name in heads):
        raise refusal(
            kind,
            f"the folder was saved as {', '.join(heads)}, which has no head that continues a text",
            "give the folder of a whole causal language model (a classifier is a tool of its own: backend http)",
        )


def _quantised(kind: str, method: str) -> BackendError:
    module = _LIBRARIES.get(method)
    lacking = module is not None and importlib.util.find_spec(module.split(".")[0]) is None
    return refusal(
        kind,
        f"its weights are quantised ({method}), and scores are computed in float32"
        + (f"; the package {module}, which reads such weights, is not installed either" if lacking else ""),
        "give the folder of the model before it was quantised, or serve this one (vLLM, llama.cpp) and use the "
        "backend openai",
    )
