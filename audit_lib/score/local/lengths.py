"""Up to how many tokens a model's results stay as they are when prompts share passes, padding or a cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

NO_LIMIT: Final = 2**31
_WINDOW: Final = re.compile(r"(?:.*_)?(?:window|chunk|window_size|chunk_size|local_attention)")
_SELECTING: Final = re.compile(r"keep_.*")
"""Windows that do not cut off what is far, but keep the keys that score best: which ones depends on what follows."""
_LONGEST: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_sequence_length",
    "max_target_positions",
    "seq_length",
)
_FIXED_ROPE: Final = frozenset({"default", "linear", "llama3", "yarn", "proportional", "mrope"})
"""Rotary embeddings whose frequencies are the same for a short and a long sequence."""
_NO_LENGTH: Final = re.compile(
    r"(?:.*_)?(?:vocab|hidden|intermediate|embed|embedding|emb|ffn|ff|dff|inner|mlp|feed|heads?|headdim|dim|rank|lowrank"
    r"|layers?|experts?|groups?|tokens?|ids?|channels?|kernel|conv|width|langs?|languages|types?|state|codebook|filters"
    r"|scalar|seed|rate|hash|ngram|ssm|parts|proj|model|embd|ctx|quantizers|cycles|version)(?:_.*)?"
    r"|(?:num|n|moe|image|audio|vision|video|rope|original_max_position)_.*"
)
"""Numbers of a config that count weights, not tokens. Any other may be a length at which something changes."""
_OTHER_PARTS: Final = ("rope", "vision", "audio", "image", "quantization")
_LEAST: Final = 16
"""A length below it is passed by every prompt of a trial."""


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
        sequence (``longrope``, ``dynamic``), or which keys are kept does, so that what was read before it is no longer
        right.
    suspects : tuple of int
        Other lengths that the config names. What is tried on shorter sequences only is not known beyond them.
    windows : tuple of int
        Windows and chunks.
    """

    longest: int
    shared: int
    cached: int
    suspects: tuple[int, ...] = ()
    windows: tuple[int, ...] = ()

    def after_trial(self, together: int, alone: int) -> Lengths:
        """Return how far is known what was tried on `together` tokens with others, and on `alone` with a cache.

        Examples
        --------
        >>> lengths = Lengths(longest=4096, shared=4096, cached=4096, suspects=(100, 2048))
        >>> lengths.after_trial(380, 380)
        Lengths(longest=4096, shared=2048, cached=2048, suspects=(100, 2048), windows=())
        """
        return replace(
            self,
            shared=min([self.shared, *(s for s in self.suspects if s > together)]),
            cached=min([self.cached, *(s for s in self.suspects if s > alone)]),
        )

    def across(self, tried: int) -> int:
        """Return how far is known what was tried on so many tokens without padding.

        Examples
        --------
        >>> lengths = Lengths(longest=4096, shared=100, cached=4096, suspects=(2048,), windows=(100, 1024))
        >>> lengths.across(80), lengths.across(120), lengths.across(1100), lengths.across(3000)
        (100, 1024, 2048, 4096)
        """
        return min([self.cached, *(s for s in (*self.suspects, *self.windows) if s > tried)])


def setting(config: Any, *names: str) -> Any:
    """Return the first of these settings that a config gives, or None.

    Some configs have one for each layer and refuse to say one for all.
    """
    for name in names:
        try:
            found = getattr(config, name, None)
        except Exception:  # noqa: BLE001 - of many kinds
            found = None
        if found is not None:
            return found
    return None


def lengths_of(model: Any, config: Any) -> Lengths:
    """Return a model's lengths, from its (text) config.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> said = {"max_position_embeddings": 512, "sliding_window": 40, "hidden_size": 64, "index_topk": 32}
    >>> lengths_of(object(), SimpleNamespace(to_dict=lambda: said))
    Lengths(longest=512, shared=40, cached=2147483648, suspects=(32,), windows=(40,))
    """
    said: dict[str, Any] = config.to_dict()
    longest = next(
        (_whole(found) for key in _LONGEST if (found := setting(config, key) or said.get(key))), NO_LIMIT
    )
    kinds = set(said.get("layer_types") or ())
    whole = kinds == {"full_attention"}
    sizes = list(_sizes(said))
    named = [
        (key, size) for key, size in sizes if _WINDOW.fullmatch(key) and not (whole and "sliding" in key)
    ]
    windows = [size for _, size in named]
    selecting = [size for key, size in named if _SELECTING.fullmatch(key)]
    cached = min([*_length_dependent(said, longest), *selecting], default=NO_LIMIT)
    shared = min([*windows, cached])
    if getattr(model, "_is_stateful", False) or kinds - {"full_attention", "sliding_attention"}:
        shared = 0
    suspects = {
        size
        for key, size in sizes
        if size >= _LEAST
        and key not in _LONGEST
        and not _WINDOW.fullmatch(key)
        and not _NO_LENGTH.fullmatch(key)
    }
    return Lengths(
        longest=longest,
        shared=shared,
        cached=cached,
        suspects=tuple(sorted(suspects)),
        windows=tuple(sorted(set(windows))),
    )


def _sizes(said: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield every positive whole number of a config with its key, also from lists and from parts of the config."""
    for key, value in said.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Mapping):
                if not str(key).startswith(_OTHER_PARTS):
                    yield from _sizes(one)
            elif isinstance(one, int) and not isinstance(one, bool) and one > 0:
                yield str(key), one


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
