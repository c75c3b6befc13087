"""What every section of a spec is made of: immutable, without unknown keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Provenance = Literal["self_reported", "observer_coded", "assigned", "inferred"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Share = Annotated[float, Field(ge=0, le=1)]


def no_repeats(values: Sequence[Any]) -> None:
    """Refuse a value that is listed twice."""
    repeated = next((value for place, value in enumerate(values) if value in values[:place]), None)
    if repeated is not None:
        raise ValueError(f"{repeated!r} is listed twice")


class SpecSection(BaseModel):
    """A part of the spec: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    later: ClassVar[frozenset[str]] = frozenset()
    """Keys that are left out where they are null: a spec without them has the digest that it had before them."""

    @model_serializer(mode="wrap")
    def _without_later(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = written(self)
        return {
            name: value for name, value in document.items() if value is not None or name not in self.later
        }
