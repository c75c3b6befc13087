"""How a local model is refused: which type of model, why, and what to do."""

from __future__ import annotations

from typing import Any, Final

from audit_lib.errors import BackendError

_LONGEST: Final = 300


def refusal(model: Any, reason: str, advice: str) -> BackendError:
    """Return the error that refuses a model, or a type of model by its name.

    Examples
    --------
    >>> str(refusal("gpt2", "the folder lacks lm_head.weight", "download it again"))
    'model type gpt2: the folder lacks lm_head.weight; download it again'
    """
    kind = model if isinstance(model, str) else getattr(model.config, "model_type", "unknown")
    return BackendError(f"model type {kind}: {reason}; {advice}")


def told(error: BaseException) -> str:
    r"""Return an error's message in one line, cut if it is long.

    Examples
    --------
    >>> told(ValueError("a\n  b"))
    'a b'
    """
    said = " ".join(str(error).split())
    return said if len(said) <= _LONGEST else said[:_LONGEST] + "..."
