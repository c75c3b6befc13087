"""What the trial of a model found, kept by its weights, so that no shard and no later audit tries again."""

from __future__ import annotations

import gc
import json
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers

from audit_lib.canonical import canonical_json, sha256
from audit_lib.score.local.lengths import Lengths, lengths_of
from audit_lib.score.local.placement import Placement
from audit_lib.score.local.shape import shape_of
from audit_lib.score.local.strategies import WAYS, ExactWays
from audit_lib.score.local.trial import Probes, make_probes
from audit_lib.score.local.weights import cache_folder


def ask_itself(load: Callable[[], Any]) -> tuple[Lengths, Probes]:
    """Load a model for this alone, and return its lengths and what it says of the sequences of a trial.

    Raises
    ------
    BackendError
        If it is no causal language model, or cannot be asked.
    """
    model = load()
    lengths = lengths_of(model, model.config.get_text_config(decoder=True))
    probes = make_probes(model, lengths, shape_of(model).linear)
    del model
    gc.collect()
    if probes.steady:
        return lengths, probes
    return replace(lengths, shared=0, cached=0), replace(probes, together=(), across=())


class TrialRecord:
    """The file of one trial.

    Parameters
    ----------
    weights_digest : str or None
        Of the model's folder; None keeps nothing.
    place : Placement
    threads : int
    """

    def __init__(self, weights_digest: str | None, place: Placement, threads: int) -> None:
        what = {
            "weights": weights_digest,
            "device": [place.device, place.dtype, place.map_for_loading, _device_name(place.device)],
            "threads": threads,
            "versions": [torch.__version__, transformers.__version__],
            "code": _code_digest(),
        }
        name = sha256(canonical_json(what))
        self._file = None if weights_digest is None else cache_folder() / "trials" / f"{name}.json"

    def read(self) -> ExactWays | None:
        """Return what was found, or None if nothing was, or the file is damaged."""
        if self._file is None:
            return None
        try:
            said = json.loads(self._file.read_bytes())
            lengths = said["lengths"]
            faults = {way: said["faults"][way] for way in WAYS}
            if not all(fault is None or isinstance(fault, str) for fault in faults.values()):
                return None
            numbers = [int(lengths[name]) for name in ("longest", "shared", "cached")]
            suspects, windows = (tuple(map(int, lengths[name])) for name in ("suspects", "windows"))
            reach = {way: int(said["reach"][way]) for way in WAYS}
            floors = {str(way): float(floor) for way, floor in said["floors"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return ExactWays(
            lengths=Lengths(
                longest=numbers[0],
                shared=numbers[1],
                cached=numbers[2],
                suspects=suspects,
                windows=windows,
            ),
            faults=faults,
            reach=reach,
            floors=floors,
        )

    def write(self, found: ExactWays) -> None:
        """Keep what was found; a cache that cannot be written is no fault."""
        if self._file is None:
            return
        part = self._file.with_name(f"{self._file.name}.{uuid.uuid4().hex}.part")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(asdict(found)), encoding="utf-8")
            os.replace(part, self._file)
        except OSError:
            part.unlink(missing_ok=True)


def _device_name(device: str) -> str:
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return str(torch.backends.cpu.get_cpu_capability())


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """Return the digest of this package's code: another way of computing is tried again."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files))
