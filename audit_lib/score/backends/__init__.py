"""Backends: who answers the requests. One file each, registered with ``@backend(name)``."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, cast

from audit_lib.backends import BACKENDS, BackendRecord
from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import SpecError
from audit_lib.options import Options, parse
from audit_lib.registry import Registry
from audit_lib.score.packs import Pack
from audit_lib.score.remote.credentials import looks_secret
from audit_lib.score.requests import AnswerKind, Request, Response, elicitation
from audit_lib.spec import RECORDED, AuditSpec, Model


class Backend(BackendRecord, ABC):
    """Answers requests; a subclass says what it can do by the attributes of `BackendRecord`, and these.

    Attributes
    ----------
    gives : tuple of {"labels", "text"}
        What can be asked for.
    pack_size : int
        Most requests that are handed over at a time.

    Notes
    -----
    A backend that has a method ``allot`` is told its part of the run's limits
    (`audit_lib.score.remote.limiter.Limited`).
    """

    gives: ClassVar[tuple[AnswerKind, ...]]
    pack_size: int

    @abstractmethod
    def __init__(self, model: Model) -> None: ...

    @classmethod
    def check(cls, model: Model) -> None:
        """Raise SpecError or BackendError for what is wrong and can be seen without asking the model."""
        require_packages(cls, model.backend)

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what answers, for ``model.json``: no times, no secrets."""

    @abstractmethod
    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield exactly one response for each request, in any order."""

    def account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any] | None:
        """Return how the answers were computed, for ``plan.json``; None if there is nothing to tell."""
        return None

    def capabilities(self) -> dict[str, Any] | None:
        """Return what the model was found to take and give, for ``capabilities.json``; None if unknown."""
        return None

    def check_roles(self, roles: Sequence[str], *, for_labels: bool) -> None:
        """Raise BackendError if the model, once loaded, takes no prompt with turns of these roles."""
        return None

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raise BackendError if the model, once loaded, cannot tell labels apart, which are the same for all."""
        return None

    def find_out(self, requests: Sequence[Request]) -> None:
        """Raise BackendError if the model, asked a few small questions, cannot be asked requests like these."""
        return None

    def load_for_estimate(self) -> None:
        """Load what calls are counted by, if anything is; nobody is asked."""
        return None

    def loading_note(self) -> str | None:
        """Return a line on what loading took, once `describe` was asked; None if there is nothing to tell."""
        return None

    def close(self) -> None:
        """Let go of processes and connections."""


backend = cast(Registry[type[Backend]], BACKENDS)

Some = TypeVar("Some", bound=Options)


def parse_options(kind: type[Some], model: Model) -> Some:
    """Return `model.options` as the backend's own type.

    Raises
    ------
    SpecError
        If one is unknown (the nearest known one is named) or of another type.
    """
    return parse(kind, model.options, "model.options", model.backend)


def require_packages(kind: type[BackendRecord], name: str) -> None:
    """Raise SpecError if a package that a backend imports is not installed; names the extra that brings it."""
    lacking = [package for package in kind.packages if importlib.util.find_spec(package) is None]
    if lacking:
        what = f"audit-lib[{kind.extra}]" if kind.extra is not None else " ".join(lacking)
        first = "install torch, then " if "torch" in lacking else "install "
        noun = "" if "torch" in lacking else "the package " if len(lacking) == 1 else "the packages "
        raise SpecError(f"model.backend: {name} needs {noun}{' and '.join(lacking)}; {first}{what}")


def check_model(model: Model, task: str | None = None, asks: Iterable[AnswerKind] = ()) -> None:
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
    """Refuse a decision rule that the model's answers cannot serve.

    `recorded` is for a model that decides itself, `above_median` for scores that can be told apart. A
    decision in the source is another one's: next to a live model's answers it would be counted as the model's, and for
    every version of a prompt.

    Raises
    ------
    SpecError
        If it is so; says what to do.
    """
    if spec.decision.rule == RECORDED and not spec.model.decides:
        raise SpecError(
            f"decision.rule: recorded takes decisions that were made already, and backend {spec.model.backend} gives "
            "none of its own: those in the source are not this model's. Say what its scores select (threshold, "
            "above_median, top_k), read an endpoint's decision (backend http, decision_path), or choose backend "
            "recorded"
        )
    if spec.task == "pointwise" and spec.decision.rule == "above_median" and _says_one_or_zero(spec):
        raise SpecError(
            "decision.rule: above_median needs scores that differ, and what model.options reads of an answer is 1 or "
            "0: where half of them are 1, nobody is above the median. Choose rule threshold (such as 0.5), or recorded "
            "for an endpoint's own decision (decision_path)"
        )
    threshold = spec.decision.threshold
    if (
        threshold is not None
        and not 0 < threshold <= 1
        and spec.task == "pointwise"
        and _says_one_or_zero(spec)
    ):
        raise SpecError(
            f"decision.threshold: {threshold:g}, and what model.options reads of an answer is 1 or 0, so that nobody "
            "or everybody would be selected; write 0.5, or read a score (score_path)"
        )


def _says_one_or_zero(spec: AuditSpec) -> bool:
    if not backend.get(spec.model.backend).says_yes_or_no(spec.model):
        return False
    two_labels = spec.prompt is None or (spec.prompt.read == "labels" and len(spec.prompt.labels) == 2)
    return spec.model.decides or two_labels


def check_texts(spec: AuditSpec) -> None:
    """Refuse a model whose answers are scores or decisions, where the audit asks for texts or answers in words.

    Raises
    ------
    SpecError
        If it is so; names what asks, and what to change.
    """
    if (why := backend.get(spec.model.backend).no_text(spec.model)) is None:
        return
    asking = (
        ("task", spec.task != "pointwise", f"{spec.task} reads answers in words"),
        ("manipulation", spec.manipulation is not None, "reads in words which attribute is perceived"),
    )
    for key, given, what in asking:
        if given:
            raise SpecError(
                f"{key}: {what}, and {why}; choose another task or backend, or let backend http read the endpoint's "
                "text alone (text_path)"
            )


def check_replies(spec: AuditSpec) -> None:
    """Refuse a template with steps for a model whose answers hold no text.

    Raises
    ------
    SpecError
        If it is so; says what to change.
    """
    if (why := backend.get(spec.model.backend).no_text(spec.model)) is not None:
        raise SpecError(
            f"prompt.template: {{{{reply}}}} stands for a text of the model, and {why}; take the step out of the "
            "template, or let backend http read the endpoint's text alone (text_path)"
        )


def fingerprint(description: dict[str, Any]) -> str:
    """Return the SHA-256 of what identifies a model: its description less what changes no answer.

    Left out are `versions` (of libraries), `device_name`, `client` (how the model is reached) and `files`, of which
    `weights_sha256` is the digest.
    """
    identity = {
        key: value
        for key, value in description.items()
        if key not in ("versions", "device_name", "client", "files")
    }
    return sha256(canonical_json(identity))
