"""Where a model's weights lie, and in which type of number they multiply."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import torch

from audit_lib.errors import BackendError

Dtype = Literal["float32", "bfloat16", "float16"]
ROUNDING: Final[dict[str, float]] = {"float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
"""Type of number -> how far a number may be from the one that it is rounded to, as a part of it, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a model's weights lie, and in which type of number they multiply.

    Attributes
    ----------
    device : str
        Such as ``cpu`` or ``cuda:0``; where the prompts go, if there is no map.
    dtype : str
        Of the layers; the head is in float32 in any case.
    device_map : mapping or str or None
        Part of the model -> device, or ``auto``, for several GPUs (accelerate).
    """

    device: str = "cpu"
    dtype: Dtype = "float32"
    device_map: Mapping[str, str | int] | Literal["auto"] | None = None

    @property
    def exact(self) -> Placement:
        """The same in float32."""
        return replace(self, dtype="float32")

    @property
    def map_for_loading(self) -> Any:
        """What transformers is given as ``device_map``."""
        return dict(self.device_map) if isinstance(self.device_map, Mapping) else self.device_map

    def check(self) -> None:
        """Check that the devices are there, and the library that spreads a model over them.

        Raises
        ------
        BackendError
            If not.
        """
        if self.device_map is None:
            _check_device(self.device, "device")
            return
        if importlib.util.find_spec("accelerate") is None:
            raise BackendError(
                "model.options.device_map: accelerate spreads models over devices, and is not installed; pip install "
                "accelerate"
            )
        if isinstance(self.device_map, Mapping):
            for device in sorted({str(one) for one in self.device_map.values()}):
                _check_device(f"cuda:{device}" if device.isdecimal() else device, "device_map")
        elif not torch.cuda.is_available():
            raise BackendError(
                "model.options.device_map: auto spreads a model over GPUs, and torch sees none here; leave it out, or "
                "say where each part goes, such as {'': cpu}"
            )


def _check_device(device: str, option: str) -> None:
    kind, _, number = device.partition(":")
    if kind in ("cpu", "disk"):
        return
    if kind == "mps" and torch.backends.mps.is_available():
        return
    count = torch.cuda.device_count() if kind == "cuda" else 0
    if count <= int(number or 0):
        raise BackendError(
            f"model.options.{option}: {device} is not here; torch {torch.__version__} sees {count or 'no'} GPUs"
        )


@torch.no_grad()
def use_float32_head(model: Any) -> None:
    """Let a model's head, which may be its embeddings, compute logits in float32 from what its layers give.

    Raises
    ------
    BackendError
        If the head's weights are not at hand: they are read from a disk at each pass.
    """
    head = model.get_output_embeddings()
    if head is None or getattr(head, "weight", None) is None:
        raise BackendError(
            "its head is not a linear map, so it cannot compute in float32; use dtype: float32"
        )
    if head.weight.device.type == "meta":
        raise BackendError(
            "model.options.device_map: the head (lm_head) must lie on a device, not on a disk, to compute in float32"
        )
    # A parameter of its own: embeddings that are the head as well stay as they are.
    head.weight = torch.nn.Parameter(head.weight.float(), requires_grad=False)
    if getattr(head, "bias", None) is not None:
        head.bias = torch.nn.Parameter(head.bias.float(), requires_grad=False)
    head.register_forward_pre_hook(lambda _, given: (given[0].float(), *given[1:]))
