"""Depth-first tree packing: one forward pass over a token trie, every shared token computed once.

The nodes of the trie (`audit_lib.score.local.trie`) stand in one row, depth first. A node's position is its
depth, and it sees key k exactly if ``(k <= q) & (q < subtree_end[k])``: itself and its ancestors, and in a layer
with a window those of them alone that are less than a window above it. The
mask goes to the model through transformers' attention registry. On CUDA it is a block mask of
flex_attention; elsewhere runs of nodes attend to the gathered keys of their common path, so that nothing is
computed for pairs that do not see each other.

A trie is computed in passes of a fixed number of nodes. Between two passes only the keys and values of the
path that is still open are kept, so memory follows the length of a pass and of one prompt, not the pack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from audit_lib.errors import BackendError
from audit_lib.score.local.memory import is_out_of_memory
from audit_lib.score.local.packed import PackedLinear
from audit_lib.score.local.trie import Integers, Trie

NAME: Final = "audit_tree"
PASS_NODES: Final = {"cpu": 1024, "cuda": 16384}
"""Nodes of one pass: fixed, so that a score depends on its pack alone."""

LEAST_NODES: Final = 32
_SHORT: Final = 24  # a branch of so few nodes joins the run it stands on: fewer calls, hardly more pairs
_PIECE: Final = 256  # nodes of a run under a shorter window
_FLEX_BLOCK: Final = 128

KeysValues = dict[int, tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRun:
    """Neighbouring queries that share a path: `start`, `stop` count from the pass's first node."""

    start: int
    stop: int
    keys: torch.Tensor | slice
    mask: torch.Tensor | None


@dataclass(slots=True, kw_only=True)
class Pass:
    """What the attention function needs of one pass: given to the model, changed by no layer but in `kept`.

    Layers with the same window see the same, so it is laid out once for each.
    """

    runs: Callable[[int | None], Sequence[QueryRun]]
    block_mask: Callable[[int | None], Any] | None
    before: KeysValues
    keep: torch.Tensor
    kept: KeysValues = field(default_factory=dict)


@torch.inference_mode()
def read_trie(
    model: Any,
    trie: Trie,
    rows: Sequence[int],
    read: Callable[[torch.Tensor, Sequence[int]], None],
    *,
    pass_nodes: int,
) -> int:
    """Compute a trie and hand over the logits of `rows`.

    Parameters
    ----------
    model : PreTrainedModel
        Its attention is exchanged for the trie's meanwhile.
    trie : Trie
    rows : sequence of int
        Nodes whose logits are wanted, ascending.
    read : callable
        Called with logits of shape (m, vocabulary) and the m nodes that they belong to.
    pass_nodes : int
        Nodes of a pass. If memory runs out, the pass is halved, and so are the rest of this trie's.

    Returns
    -------
    int
        How often a pass was halved.

    Raises
    ------
    BackendError
        If even the shortest pass does not fit, or the model's attention cannot be exchanged.
    """
    with _attending(model):
        return _read_trie(model, trie, rows, read, pass_nodes)


def _read_trie(
    model: Any,
    trie: Trie,
    rows: Sequence[int],
    read: Callable[[torch.Tensor, Sequence[int]], None],
    pass_nodes: int,
) -> int:
    wanted, halved, start = np.asarray(rows, dtype=np.int64), 0, 0
    open_nodes = np.empty(0, dtype=np.int64)
    before: KeysValues = {}
    while start < len(trie):
        stop = min(start + pass_nodes, len(trie))
        inside = wanted[(wanted >= start) & (wanted < stop)]
        try:
            going_on = trie.open_path(stop)
            one = _layout(trie, start, stop, open_nodes, going_on, before, model.device)
            logits = _forward(model, trie, start, stop, inside, one)
        except RuntimeError as error:  # torch.OutOfMemoryError is one
            if not is_out_of_memory(error):
                raise
            if pass_nodes // 2 < LEAST_NODES:
                raise BackendError(
                    f"no memory for a pass of {pass_nodes} tokens; use another device"
                ) from None
            pass_nodes, halved = pass_nodes // 2, halved + 1
            continue
        if len(inside):
            read(logits, inside.tolist())
        before, open_nodes, start = one.kept, going_on, stop
    return halved


def tree_mask(trie: Trie) -> torch.Tensor:
    """Return the whole mask, shape (n, n): entry [q, k] says whether q sees k."""
    node = torch.arange(len(trie))
    end = torch.from_numpy(trie.subtree_end)
    return (node[None, :] <= node[:, None]) & (node[:, None] < end[None, :])


@contextmanager
def _attending(model: Any) -> Iterator[None]:
    """Exchange the model's attention for the trie's, and put back what was there."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, _attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}
    before = [(config, getattr(config, "_attn_implementation", None)) for config in configs.values()]
    try:
        model.set_attn_implementation(NAME)
        if model.config.get_text_config()._attn_implementation != NAME:
            raise BackendError("the model's attention is its own and cannot be exchanged")
        yield
    finally:
        for config, name in before:
            config._attn_implementation = name


def _forward(model: Any, trie: Trie, start: int, stop: int, inside: Integers, one: Pass) -> torch.Tensor:
    device = model.device
    # A mask of four dimensions is taken as it is, so none is made; the real one is in the pass.
    unused = torch.zeros((1, 1, 1, 1), dtype=torch.bool, device=device)
    keep = torch.from_numpy(inside - start if len(inside) else np.array([stop - start - 1])).to(device)
    with _last_layer_on(model, keep):
        out = model(
            input_ids=torch.from_numpy(trie.tokens[start:stop]).to(device)[None],
            position_ids=torch.from_numpy(trie.depth[start:stop]).to(device)[None],
            attention_mask=unused,
            use_cache=False,
            logits_to_keep=keep,
            tree=one,
        )
    logits: torch.Tensor = out.logits[0]
    return logits


@contextmanager
def _last_layer_on(model: Any, keep: torch.Tensor) -> Iterator[None]:
    """Compute the last layer's feed-forward part for the nodes `keep` alone: nobody reads the others.

    Its output is 0 for them. Where that part is not plainly made of linear maps it is computed for all.
    """
    layers = getattr(model.get_decoder(), "layers", None)
    part = getattr(layers[-1], "mlp", None) if layers is not None else None
    if part is None or not all(_is_plain(child) for child in part.children()):
        yield
        return
    shape = torch.Size()

    def spread(_part: Any, inputs: tuple[torch.Tensor], found: torch.Tensor) -> torch.Tensor:
        return found.new_zeros(shape).index_copy_(1, keep, found)

    def pick(_part: Any, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        nonlocal shape
        shape = inputs[0].shape
        return (inputs[0].index_select(1, keep),)

    hooks = [part.register_forward_pre_hook(pick), part.register_forward_hook(spread)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _is_plain(part: torch.nn.Module) -> bool:
    """Whether a part is a linear map, or has no weights: then no node of it sees another."""
    return isinstance(part, torch.nn.Linear | PackedLinear) or next(part.parameters(), None) is None


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    tree: Pass | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend within a pass: query (1, heads, n, d), key and value (1, kv heads, n, d) -> (1, n, heads, d)."""
    if tree is None:
        raise BackendError("the model does not hand the pass on to its attention")
    if kwargs.get("position_bias") is not None:
        raise BackendError("the model's attention is not plain scaled dot products")
    softcap, sinks, window = (kwargs.get(name) for name in ("softcap", "s_aux", "sliding_window"))
    plain = softcap is None and sinks is None
    layer: int = module.layer_idx  # type: ignore[assignment]
    if layer in tree.before:
        old_key, old_value = tree.before[layer]
        key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
    if len(tree.keep):
        tree.kept[layer] = (key.index_select(2, tree.keep), value.index_select(2, tree.keep))
    scaling = kwargs.get("scaling")
    if tree.block_mask is not None:
        if not plain:
            raise BackendError("soft caps and attention sinks are not packed into trees on this device")
        mask = tree.block_mask(window)
        out = _flex()(query, key, value, block_mask=mask, scale=scaling, enable_gqa=True)
        return out.transpose(1, 2).contiguous(), None
    _, heads, nodes, width = query.shape
    kv_heads = key.shape[1]
    # Query heads of one key head side by side: the keys are read in place, never repeated.
    grouped = query.view(kv_heads, heads // kv_heads, nodes, width)
    out = query.new_empty((nodes, kv_heads, heads // kv_heads, value.shape[-1]))
    for run in tree.runs(window):
        keys, values = _at(key[0], run.keys)[:, None], _at(value[0], run.keys)[:, None]
        asking = grouped[:, :, run.start : run.stop]
        if plain:
            shape = (-1, heads // kv_heads, -1, -1)
            seen = scaled_dot_product_attention(
                asking,
                keys.expand(shape),
                values.expand(shape),
                attn_mask=run.mask,
                is_causal=run.mask is None,
                scale=scaling,
            )
        else:
            seen = _capped(asking, keys, values, run.mask, scaling, softcap, sinks)
        out[run.start : run.stop] = seen.permute(2, 0, 1, 3)
    return out.view(1, nodes, heads, value.shape[-1]), None


def _capped(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
    softcap: float | None,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    """Attend with a soft cap of the scores, and a sink for each head that takes a part of the attention."""
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    scores = scores.masked_fill(~mask, -torch.inf)
    if sinks is not None:
        sink = sinks.reshape(*scores.shape[:2], 1, 1).expand(*scores.shape[:3], 1)
        scores = torch.cat([scores, sink.to(scores.dtype)], dim=-1)
    chances = torch.softmax(scores, dim=-1, dtype=torch.float32).to(value.dtype)
    return chances[..., : key.shape[-2]] @ value


def _at(states: torch.Tensor, keys: torch.Tensor | slice) -> torch.Tensor:
    return states[:, keys] if isinstance(keys, slice) else states.index_select(1, keys)


def _layout(
    trie: Trie,
    start: int,
    stop: int,
    open_nodes: Integers,
    going_on: Integers,
    before: KeysValues,
    device: torch.device,
) -> Pass:
    """Lay out the nodes [start, stop): their keys are those of `open_nodes` and then their own."""
    nodes = np.concatenate([open_nodes, np.arange(start, stop)])
    flex = device.type == "cuda"
    return Pass(
        runs=cache(lambda window: _runs(trie, start, stop, nodes, device, window)),
        block_mask=cache(lambda window: _block_mask(trie, start, stop, nodes, device, window))
        if flex
        else None,
        before=before,
        keep=torch.from_numpy(np.searchsorted(nodes, going_on)).to(device),
    )


def _runs(
    trie: Trie, start: int, stop: int, nodes: Integers, device: torch.device, window: int | None = None
) -> list[QueryRun]:
    breaks = start + np.flatnonzero(trie.parent[start:stop] != np.arange(start, stop) - 1)
    starts = [start, *(int(b) for b in breaks if b > start)]
    if window is not None:  # a run longer than its window would mostly look at what it does not see
        piece = max(window, _PIECE)
        ends = [*starts[1:], stop]
        starts = [n for first, after in zip(starts, ends, strict=True) for n in range(first, after, piece)]
    merged: list[tuple[int, int]] = []
    for first, after in zip(starts, [*starts[1:], stop], strict=True):
        if merged and after - first <= _SHORT and trie.parent[first] >= merged[-1][0]:
            merged[-1] = (merged[-1][0], after)
        else:
            merged.append((first, after))
    runs = []
    for first, after in merged:
        above = (nodes < first) & (trie.subtree_end[nodes] > first)
        if window is not None:
            above &= trie.depth[nodes] > trie.depth[first] - window
        path = np.flatnonzero(above)
        own = np.searchsorted(nodes, first) + np.arange(after - first)
        keys = np.concatenate([path, own])
        chain = bool((trie.parent[first + 1 : after] == np.arange(first, after - 1)).all())
        mask = None
        if len(path) or not chain or (window is not None and after - first > window):
            k, q = nodes[keys][None, :], np.arange(first, after)[:, None]
            seen = (k <= q) & (q < trie.subtree_end[nodes[keys]][None, :])
            if window is not None:
                seen &= trie.depth[q] - trie.depth[k] < window
            mask = torch.from_numpy(seen).to(device)
        whole = keys[-1] - keys[0] + 1 == len(keys)
        runs.append(
            QueryRun(
                start=first - start,
                stop=after - start,
                keys=slice(int(keys[0]), int(keys[-1]) + 1) if whole else torch.from_numpy(keys).to(device),
                mask=mask,
            )
        )
    return runs


def _block_mask(
    trie: Trie, start: int, stop: int, nodes: Integers, device: torch.device, window: int | None = None
) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    key_node = torch.from_numpy(nodes).to(device)
    key_end = torch.from_numpy(trie.subtree_end[nodes]).to(device)
    key_depth = torch.from_numpy(trie.depth[nodes]).to(device)
    depth = torch.from_numpy(trie.depth[start:stop]).to(device)

    def sees(_batch: Any, _head: Any, q: Any, k: Any) -> Any:
        above = (key_node[k] <= q + start) & (q + start < key_end[k])
        return above if window is None else above & (depth[q] - key_depth[k] < window)

    return create_block_mask(
        sees, B=None, H=None, Q_LEN=stop - start, KV_LEN=len(nodes), device=device, BLOCK_SIZE=_FLEX_BLOCK
    )


_compiled: Any = None


def _flex() -> Any:
    """Return flex_attention, compiled once a process."""
    global _compiled
    if _compiled is None:
        from torch.nn.attention.flex_attention import flex_attention

        _compiled = torch.compile(flex_attention, dynamic=True)
    return _compiled
