"""A model's weights in float32, all of them from its files: nothing drawn, dropped or filled in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoModelForCausalLM

from audit_lib.errors import BackendError

_NAMED: Final = 6
"""Tensors that are named, layers taken together; the rest are counted."""
_NUMBER: Final = re.compile(r"(?<=\.)\d+(?=\.)")


def load_model(folder: Path) -> Any:
    """Load a causal language model in float32, with the attention that transformers takes by default.

    Raises
    ------
    BackendError
        If a tensor is missing, left over or of another shape, the weights are not floats of single precision,
        or the folder brings an adapter, which is not applied.
    """
    if (folder / "adapter_config.json").is_file():
        raise BackendError(
            f"{folder.name}: holds an adapter (adapter_config.json), which is not applied here; merge it into the "
            "weights (peft: merge_and_unload) and save them"
        )
    read: Any = AutoModelForCausalLM.from_pretrained
    # Shapes that do not fit are let through here so that all faults are named together.
    model, found = read(
        folder,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    faults = [
        _fault(found["missing_keys"], "missing, and would be drawn at random"),
        _fault(found["unexpected_keys"], f"not part of a {type(model).__name__}, and would be dropped"),
        _fault({key[0] for key in found["mismatched_keys"]}, "of another shape than config.json says"),
    ]
    if told := "; ".join(filter(None, faults)):
        declared = getattr(model.config, "architectures", None) or []
        saved_as = f" It was saved as {', '.join(map(str, declared))}." if declared else ""
        raise BackendError(
            f"{folder.name}: its tensors are not those of a {type(model).__name__}: {told}.{saved_as} Give the folder "
            "of a whole causal language model"
        )
    _check_floats(folder, model)
    return model


def _check_floats(folder: Path, model: Any) -> None:
    other = sorted({str(p.dtype).removeprefix("torch.") for p in model.parameters()} - {"float32"})
    if other:
        raise BackendError(
            f"{folder.name}: has weights in {', '.join(other)}, and scores are computed in float32; give the folder of "
            "the model before it was quantised"
        )


def _fault(names: Collection[str], what: str) -> str:
    return f"{_told(names)} {'is' if len(names) == 1 else 'are'} {what}" if names else ""


def _told(names: Iterable[str]) -> str:
    """Return tensors' names, those of several layers once.

    Examples
    --------
    >>> _told(["h.0.mlp.weight", "h.1.mlp.weight", "lm_head.weight"])
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
