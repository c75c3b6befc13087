"""Linear maps in the layout that oneDNN multiplies fastest with: on the processor, in float32.

A packed map is a linear map of the same numbers, summed in another order. Each is tried on a few rows when it is
made, and stays as it was where torch has no such layout or the result is not the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import nn

_TOLERANCE: Final = 1e-5  # of the largest output
_ROWS: Final = 8

_as_loaded = False


@contextmanager
def as_loaded() -> Iterator[None]:
    """Compute packed maps as the model's own ones do, from the same numbers: slower, and what they are held against."""
    global _as_loaded
    before, _as_loaded = _as_loaded, True
    try:
        yield
    finally:
        _as_loaded = before


class PackedLinear(nn.Module):
    """What `linear` computes, from a packed copy of its weights.

    Parameters
    ----------
    linear : torch.nn.Linear
        In float32 on the processor. It is not kept.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.bias = linear.bias
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)

    @property
    def weight(self) -> torch.Tensor:
        """The weights as they were, for code that reads them; made anew at each call."""
        dense: torch.Tensor = self.packed.to_dense()
        return dense

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``x @ weight.T + bias``."""
        if _as_loaded:
            return nn.functional.linear(x, self.weight, self.bias)
        return self.then(x, "none")

    def then(self, x: torch.Tensor, activation: str) -> torch.Tensor:
        """Return the map's output under an activation of oneDNN's, in one pass over it."""
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, activation, [], "")
        return out

    def times(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Return the map's output times `other`, in one pass over it."""
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(x, other, self.packed, self.bias, "mul")
        return out


class PackedGate(nn.Module):
    """The gated feed-forward part of Llama and its relatives: ``down(silu(gate(x)) * up(x))``."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (
            PackedLinear(getattr(part, name)) for name in ("gate_proj", "up_proj", "down_proj")
        )
        self.act_fn = part.act_fn

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the part's output."""
        if _as_loaded:
            act: Any = self.act_fn
            plain: torch.Tensor = self.down_proj(act(self.gate_proj(x)) * self.up_proj(x))
            return plain
        out: torch.Tensor = self.down_proj(self.up_proj.times(x, self.gate_proj.then(x, "swish")))
        return out


@torch.inference_mode()
def pack(model: Any) -> int:
    """Pack the linear maps of a decoder's layers, in place, and return how many parts were packed.

    Examples
    --------
    >>> class Decoder(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layers = nn.ModuleList([nn.ModuleDict({"mlp": nn.Sequential(nn.Linear(4, 6))})])
    >>> pack(Decoder()) in (0, 1)  # 0: this build of torch has no oneDNN
    True
    """
    if not hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):
        return 0
    return sum(_pack_children(layer) for layer in getattr(model, "layers", ()))


def _pack_children(parent: nn.Module) -> int:
    count = 0
    for name, part in list(parent.named_children()):
        packed = _packed(part)
        if packed is None:
            count += _pack_children(part)
        else:
            setattr(parent, name, packed)
            count += 1
    return count


def _packed(part: nn.Module) -> nn.Module | None:
    """Return the packed form of a part, or None if it has none that computes the same."""
    kind: Any
    linear: Any
    if type(part) is nn.Linear:
        kind, linear = PackedLinear, part
    elif {name for name, _ in part.named_children()} == {"gate_proj", "up_proj", "down_proj", "act_fn"}:
        kind, linear = PackedGate, part.gate_proj
    else:
        return None
    if (
        type(linear) is not nn.Linear
        or linear.weight.dtype != torch.float32
        or linear.weight.device.type != "cpu"
    ):
        return None
    draw = torch.Generator().manual_seed(0)
    x = torch.randn((1, _ROWS, linear.in_features), generator=draw)
    try:
        packed: nn.Module = kind(part)
        expected, found = part(x), packed(x)
    except (RuntimeError, NotImplementedError, AttributeError, TypeError):
        return None  # not on this processor, or another kind of part
    same = (found - expected).abs().max() <= _TOLERANCE * expected.abs().max()
    return packed if bool(same) else None
