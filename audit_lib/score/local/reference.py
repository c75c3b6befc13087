"""How far another engine's scores are from the model's own attention, as transformers computes it in float32."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final, Literal

from audit_lib.score.local.noise_floor import noise_floor
from audit_lib.score.local.orders import checked_requests
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Response
from audit_lib.spec import Model

Floor = Literal["transformers", "none"]
FLOOR_IS: Final = (
    "What a few scores of each shard, the longest among them, are held against: `transformers`, the model's own "
    "attention in float32 on this machine's CPU (needs the extra local and room for the weights); `none`: nothing, and "
    "what the engine changes is not known."
)


def floor_of(model: Model, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any]:
    """Return the noise floor of a shard for ``plan.json``.

    Parameters
    ----------
    model : Model
        As the backend ``transformers`` takes it.
    """
    from audit_lib.score.backends.transformers import Transformers

    given = {response.key: response.label_probabilities for response in responses}
    checked = checked_requests(packs, responses)
    own: list[tuple[float, ...] | None] = []
    if checked:
        with closing(Transformers(model)) as reference:
            own = reference.alone(checked)
    pairs = ((given[request.key] or (), found or ()) for request, found in zip(checked, own, strict=True))
    return {"requests": len(checked), **noise_floor(pairs)}


def no_floor() -> dict[str, Any]:
    """Return what ``plan.json`` says where nothing was held against another engine."""
    return {"requests": 0, **noise_floor(()), "against": "nothing: model.options.floor is none"}
