"""How far scores are from the model's own: what a shard's ``plan.json`` says, and how much of it is too much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from audit_lib.errors import SpecError
from audit_lib.spec import AuditSpec

REFERENCE: Final = "the model's own attention"
MOST: Final = {"float32": 1e-5}
"""Most that a probability may differ, by the type of the weights, unless ``checks.maximum_noise_floor`` says.

Float32 moves a probability by some millionths. An attention that is not the model's own moves it by a thousandth and
more. Half precision rounds by thousandths itself and makes ties of different scores: how much of that an audit bears is
its own to say, so a type that is not listed has no bound of ours (`check_tolerance`)."""
_OF_A_SHARE: Final = 10
"""A label's share among the labels is a quotient of two probabilities, and moves so many times as far where the labels
have little of the probability."""


def noise_floor(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> dict[str, Any]:
    """Return the largest differences between probabilities of labels and those of the model's own passes.

    Examples
    --------
    >>> floor = noise_floor([((0.2, 0.2), (0.25, 0.25)), ((0.1, 0.3), (0.1, 0.3))])
    >>> round(floor["largest_difference"], 3), floor["largest_share_difference"]
    (0.05, 0.0)
    """
    gaps, shares = [], []
    for given, own in pairs:
        if len(given) != len(own):  # the model's own pass gave nothing
            gaps.append(1.0)
            continue
        gaps += [abs(p - q) for p, q in zip(given, own, strict=True)]
        if sum(given) > 0 and sum(own) > 0:
            shares += [abs(p / sum(given) - q / sum(own)) for p, q in zip(given, own, strict=True)]
    return {
        "against": REFERENCE,
        "largest_difference": max(gaps, default=None),
        "largest_share_difference": max(shares, default=None),
    }


def bounds(model: Mapping[str, Any], most: float | None = None) -> tuple[float, float]:
    """Return the most that a probability and a share may differ for a shard's ``model.json``; `most` is the spec's.

    Examples
    --------
    >>> bounds({"dtype": "float32"}), bounds({"dtype": "bfloat16"}), bounds({"dtype": "float32"}, 1e-6)[0]
    ((1e-05, 0.0001), (0.0, 0.0), 1e-06)
    """
    found = MOST.get(str(model.get("dtype")), 0.0) if most is None else most
    return found, _OF_A_SHARE * found


def check_tolerance(spec: AuditSpec) -> None:
    """Refuse a model in half precision of which the spec does not say how far its scores may be from float32.

    Raises
    ------
    SpecError
        With what to do.
    """
    dtype = spec.model.options.get("dtype")
    if dtype in (None, "auto", *MOST) or spec.checks.maximum_noise_floor is not None:
        return
    raise SpecError(
        f"model.options.dtype: {dtype} moves probabilities away from those of float32, by thousandths or more; say in "
        "checks.maximum_noise_floor how far is allowed (such as 0.01; a label's share may move ten times as far), or "
        "leave dtype out"
    )
