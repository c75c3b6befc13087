"""Seeds for every draw, derived from the spec's one seed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive_seed(seed: int, *purpose: str | int) -> int:
    """Return the 64-bit seed of one draw: SHA-256 of the spec's seed and what is drawn.

    Draws for different purposes are independent, and adding one changes no other.

    Examples
    --------
    >>> derive_seed(7, "sample", "retail") == derive_seed(7, "sample", "retail")
    True
    >>> derive_seed(7, "sample", "retail") == derive_seed(7, "sample", "finance")
    False
    """
    text = "\x1f".join([str(seed), *map(str, purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return numpy's PCG64 generator for one draw."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(derive_seed(seed, *purpose)))
