"""A model's weights, all of them from its files: nothing drawn, dropped or filled in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from audit_lib.errors import AuditError
from audit_lib.score.local.folder_check import check_scorable, model_type, read_config, way_of_quantising
from audit_lib.score.local.placement import Placement, use_float32_head
from audit_lib.score.local.refusal import refusal, told

_HERE: Final = Placement()
_NAMED: Final = 6
"""Tensors that are named, layers taken together; the rest are counted."""
_NUMBER: Final = re.compile(r"(?<=\.)\d+(?=\.)")


def load_tokenizer(folder: Path) -> Any:
    """Load a folder's tokenizer, after a look at what else its files say.

    Raises
    ------
    BackendError
        If the folder cannot be scored, or its tokenizer cannot be loaded.
    """
    check_scorable(folder)
    _check_type(folder)
    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:
        raise refusal(
            model_type(folder),
            f"its tokenizer cannot be loaded: {type(error).__name__}: {told(error)}",
            "add the tokenizer.json that the model was trained with",
        ) from error


def load_model(folder: Path, place: Placement = _HERE) -> Any:
    """Load a causal language model, with the attention that transformers takes by default and a head in float32.

    Raises
    ------
    BackendError
        If a tensor is missing, left over or of another shape, the weights are in another type of number, the folder
        brings an adapter, which is not applied, or is quantised and the library that reads it is not here.
    """
    place.check()
    check_scorable(folder)
    _check_type(folder)
    kind = model_type(folder)
    quantised = way_of_quantising(read_config(folder)) is not None  # its own library puts it on the device
    read: Any = AutoModelForCausalLM.from_pretrained
    try:
        # Shapes that do not fit are let through here so that all faults are named together.
        model, found = read(
            folder,
            dtype=getattr(torch, place.dtype),
            device_map=place.device if quantised and place.device_map is None else place.map_for_loading,
            use_safetensors=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    except AuditError:
        raise
    except Exception as error:
        raise refusal(
            kind,
            f"cannot be loaded as a causal language model: {type(error).__name__}: {told(error)}",
            "install what the message names, or download the folder again",
        ) from error
    faults = [
        _fault(found["missing_keys"], "missing, and would be drawn at random"),
        _fault(found["unexpected_keys"], f"not part of a {type(model).__name__}, and would be dropped"),
        _fault({key[0] for key in found["mismatched_keys"]}, "of another shape than config.json says"),
    ]
    if named := "; ".join(filter(None, faults)):
        declared = getattr(model.config, "architectures", None) or []
        saved_as = f" (saved as {', '.join(map(str, declared))})" if declared else ""
        raise refusal(
            kind,
            f"its tensors are not those of a {type(model).__name__}: {named}{saved_as}",
            "give the folder of a whole causal language model",
        )
    if not quantised:
        _check_floats(model, place.dtype)
    if place.dtype != "float32":
        use_float32_head(model)
    return (model if quantised or place.device_map is not None else model.to(place.device)).eval()


def decoder_of(model: Any) -> Any:
    """Return the part of a model that holds its layers, or None where it has no such part."""
    try:
        return model.get_decoder()
    except Exception:  # noqa: BLE001 - of many kinds
        return None


def _check_type(folder: Path) -> None:
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )

    kind = model_type(folder)
    if kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return
    if kind not in CONFIG_MAPPING:
        code = (
            " and its folder brings code of its own, which is never run"
            if "auto_map" in read_config(folder)
            else ""
        )
        raise refusal(
            kind,
            f"transformers {transformers.__version__} cannot be asked for it: it knows no such type{code}",
            "use a newer transformers, or serve the model (vLLM, llama.cpp) and use the backend openai",
        )
    what = (
        "it is an encoder and a decoder"
        if kind in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
        else "transformers has no class that loads this type to continue a text"
    )
    raise refusal(
        kind,
        f"cannot be loaded as a causal language model: {what}",
        "name a causal language model, or ask this one through a server of its own (backend http)",
    )


def _check_floats(model: Any, dtype: str) -> None:
    # Some models keep a few parts in float32 whatever is asked for.
    other = sorted({str(p.dtype).removeprefix("torch.") for p in model.parameters()} - {"float32"} - {dtype})
    if other:
        raise refusal(
            model,
            f"has weights in {', '.join(other)}, and scores are computed in {dtype}",
            "give the folder of the model before it was quantised",
        )


def _fault(names: Collection[str], what: str) -> str:
    return f"{_names_of(names)} {'is' if len(names) == 1 else 'are'} {what}" if names else ""


def _names_of(names: Iterable[str]) -> str:
    """Return tensors' names, those of several layers once.

    Examples
    --------
    >>> _names_of(["h.0.mlp.weight", "h.1.mlp.weight", "lm_head.weight"])
    'h.*.mlp.weight (2), lm_head.weight'
    """
    by_pattern: dict[str, list[str]] = {}
    for name in sorted(names):
        by_pattern.setdefault(_NUMBER.sub("*", name), []).append(name)
    told = [
        found[0] if len(found) == 1 else f"{pattern} ({len(found)})" for pattern, found in by_pattern.items()
    ]
    more = len(told) - _NAMED
    return ", ".join(told[:_NAMED]) + (f" and {more} more" if more > 0 else "")
