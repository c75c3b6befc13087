"""Up to how many tokens a model's results stay as they are when prompts share passes, padding or a cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

NO_LIMIT: Final = 2**31
_WINDOW: Final = re.compile(r"(?:.*_)?(?:window|chunk|window_size|chunk_size|local_attention)")
_LONGEST: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_sequence_length",
    "seq_length",
)
_FIXED_ROPE: Final = frozenset({"default", "linear", "llama3", "yarn", "proportional", "mrope"})
"""Rotary embeddings whose frequencies are the same for a short and a long sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Most tokens of a sequence.

    Attributes
    ----------
    longest : int
        That the model takes.
    shared : int
        That may be computed with other sequences: a window counts columns of the cache, padding among them, and a
        recurrent state takes padding in.
    cached : int
        That may be read piece by piece. Beyond it the positions of all tokens depend on the length of the whole
        sequence (``longrope``, ``dynamic``), so that what was read before it is no longer right.
    """

    longest: int
    shared: int
    cached: int


def lengths_of(model: Any, config: Any) -> Lengths:
    """Return a model's lengths, from its (text) config.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> config = SimpleNamespace(to_dict=lambda: {"max_position_embeddings": 512, "sliding_window": 40})
    >>> lengths_of(object(), config)
    Lengths(longest=512, shared=40, cached=2147483648)
    """
    said: dict[str, Any] = config.to_dict()
    longest = next(
        (_whole(found) for key in _LONGEST if (found := getattr(config, key, said.get(key)))), NO_LIMIT
    )
    kinds = set(said.get("layer_types") or ())
    whole = kinds == {"full_attention"}
    windows = [
        size for key, size in _sizes(said) if _WINDOW.fullmatch(key) and not (whole and "sliding" in key)
    ]
    cached = min(_length_dependent(said, longest), default=NO_LIMIT)
    shared = min([*windows, cached])
    if getattr(model, "_is_stateful", False) or kinds - {"full_attention", "sliding_attention"}:
        shared = 0
    return Lengths(longest=longest, shared=shared, cached=cached)


def _sizes(said: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield every positive whole number of a config with its key, also from lists."""
    for key, value in said.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, int) and not isinstance(one, bool) and one > 0:
                yield key, one


def _length_dependent(said: Mapping[str, Any], longest: int) -> Iterator[int]:
    """Yield up to how many tokens rotary frequencies that follow the length are those of short sequences."""
    for name in ("rope_parameters", "rope_scaling"):
        given = said.get(name)
        if not isinstance(given, Mapping):
            continue
        # One for all layers, or one for each type of layer.
        for rope in (given, *(part for part in given.values() if isinstance(part, Mapping))):
            kind = rope.get("rope_type", rope.get("type"))
            if kind is not None and kind not in _FIXED_ROPE:
                yield _whole(
                    rope.get("original_max_position_embeddings")
                    or said.get("original_max_position_embeddings")
                    or longest
                )


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else NO_LIMIT
