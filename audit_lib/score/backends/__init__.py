"""Backends: who answers the requests. One file each, registered with ``@backend(name)``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import SpecError
from audit_lib.options import Options, parse
from audit_lib.registry import Registry
from audit_lib.score.credentials import looks_secret
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Kind, Response, elicitation
from audit_lib.spec import AuditSpec, Model


class Backend(Protocol):
    """Answers requests.

    Attributes
    ----------
    Options : type
        The options that `model.options` of the spec may hold.
    gives : tuple of {"labels", "text"}
        What can be asked for.
    pack_size : int
        Most requests that are handed over at a time.

    Notes
    -----
    Two class attributes are optional. ``answers_alone = True``: an answer does not depend on the pack that its
    request is in, so the ledger may ask for a part of a pack. ``kept = False``: nothing is won by
    keeping the answers in the ledger. A backend that has a method ``allot`` is told its part of the run's
    limits (`audit_lib.score.limiter.Limited`). A method ``account(packs, responses)`` returns what goes into
    ``plan.json``: how the answers were computed. A class method ``decides(model)`` tells whether answers hold the
    model's own decision, as the decision rule `recorded` needs.
    """

    Options: ClassVar[type[Options]]
    gives: ClassVar[tuple[Kind, ...]]

    def __init__(self, model: Model) -> None: ...

    @property
    def pack_size(self) -> int:
        """Most requests that are handed over at a time."""
        ...

    @classmethod
    def check(cls, model: Model) -> None:
        """Raise SpecError or BackendError for what is wrong and can be seen without asking the model."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what answers, for ``model.json``: no times, no secrets."""
        ...

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield exactly one response for each request, in any order."""
        ...

    def close(self) -> None:
        """Let go of processes and connections."""
        ...


backend: Registry[type[Backend]] = Registry("backends", "audit_lib.score.backends")

Some = TypeVar("Some", bound=Options)


def parse_options(kind: type[Some], model: Model) -> Some:
    """Return `model.options` as the backend's own type.

    Raises
    ------
    SpecError
        If one is unknown (the nearest known one is named) or of another type.
    """
    return parse(kind, model.options, "model.options", model.backend)


def check_model(model: Model, task: str | None = None, asks: Iterable[Kind] = ()) -> None:
    """Check the model section of a spec: backend, its options, and that it can do the task.

    `asks` is what is asked for, where that is not what the task asks for by itself.
    Nothing is loaded, fetched or asked; the plan stage calls this before anything else is done.

    Raises
    ------
    SpecError
        If the backend or an option is unknown or wrong, the backend cannot do `task`, or the model's name or
        revision looks like a secret.
    ModelNotFoundError
        If the model's folder is not one.

    Examples
    --------
    >>> check_model(Model(backend="transformers", name="smollm2-135m-instruct", options={"thread": 2}))
    Traceback (most recent call last):
    audit_lib.errors.SpecError: model.options.thread: unknown option of transformers; did you mean 'threads'?
    """
    kind = backend.get(model.backend)
    for key in ("name", "revision"):
        if looks_secret(getattr(model, key) or ""):
            raise SpecError(
                f"model.{key}: looks like a secret, which is never written in a spec; write the model's"
            )
    parse_options(kind.Options, model)
    for wanted in tuple(asks) or ((elicitation.get(task).asks,) if task is not None else ()):
        if wanted not in kind.gives:
            able = [name for name, other in backend if wanted in other.gives]
            raise SpecError(
                f"model.backend: {model.backend} gives {' and '.join(kind.gives)}, the task {task} asks for "
                f"{wanted}; backends that give it: {', '.join(able)}"
            )
    kind.check(model)


def check_decision(spec: AuditSpec) -> None:
    """Refuse the decision rule `recorded` for a model that decides nothing itself.

    A decision in the source is another one's: beside a live model's answers it would be counted as the model's, and
    for every version of a prompt.

    Raises
    ------
    SpecError
        If it is so; says what to do.
    """
    decides: Callable[[Model], bool] = getattr(
        backend.get(spec.model.backend), "decides", lambda model: False
    )
    if spec.decision.rule == "recorded" and not decides(spec.model):
        raise SpecError(
            f"decision.rule: recorded takes decisions that were made already, and backend {spec.model.backend} gives "
            "none of its own: those in the source are not this model's. Say what its scores select (threshold, "
            "above_median, top_k), read an endpoint's decision (backend http, decision_path), or choose backend "
            "recorded"
        )


def fingerprint(description: dict[str, Any]) -> str:
    """Return the SHA-256 of what identifies a model: its description less what changes no answer.

    Left out are `versions` (of libraries), `device_name` and `client` (how the model is reached).
    """
    identity = {
        key: value for key, value in description.items() if key not in ("versions", "device_name", "client")
    }
    return sha256(canonical_json(identity))
