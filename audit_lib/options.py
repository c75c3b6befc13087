"""Options of parts that a spec names (sources, backends, classifiers): each part has a type of its own for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean


class Options(BaseModel):
    """Base of a part's own options in the spec: immutable, unknown ones refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Some = TypeVar("Some", bound=Options)


def parse(kind: type[Some], given: Mapping[str, Any], where: str, part: str) -> Some:
    """Return options as the part's own type.

    Parameters
    ----------
    kind : type
        The part's options.
    given : mapping
        As the spec has them.
    where : str
        Their key in the spec, such as ``model.options``.
    part : str
        The part's name.

    Raises
    ------
    SpecError
        If some are unknown (the nearest known one is named), missing or of another type; names all of them.

    Examples
    --------
    >>> class Lamp(Options):
    ...     watts: int = 40
    >>> parse(Lamp, {"watts": 60}, "lamp.options", "desk").watts
    60
    >>> parse(Lamp, {"wats": 60}, "lamp.options", "desk")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: lamp.options.wats: unknown option of desk; did you mean 'watts'?
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        faults = []
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            key = ".".join([where, *map(str, fault["loc"])])
            message = fault["msg"].removeprefix("Value error, ")
            if fault["type"] == "extra_forbidden":
                near = did_you_mean(str(fault["loc"][0]), sorted(kind.model_fields))
                message = f"unknown option of {part}{near}"
            faults.append(f"{key}: {message}")
        raise SpecError("\n".join(faults)) from None
