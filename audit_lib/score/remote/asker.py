"""What a backend knows about its endpoint, and how a call to it may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from audit_lib.documents.statuses import AnswerStatus
from audit_lib.errors import BackendError
from audit_lib.score.remote.cost import Usage
from audit_lib.score.requests import Request, Response


class TryAgainError(Exception):
    """An attempt failed in a way that another one may heal.

    Parameters
    ----------
    detail : str
        Why, without personal data or secrets.
    wait : float or None
        Seconds that the server asked to wait.
    paid : bool
        Whether the server worked it off, so that it counts for the budget.
    """

    def __init__(self, detail: str, wait: float | None = None, *, paid: bool = False) -> None:
        super().__init__(detail)
        self.detail, self.wait, self.paid = detail, wait, paid


class FailedError(Exception):
    """A call failed for good, and its request with it.

    Parameters
    ----------
    detail : str
        Why, without personal data or secrets.
    status : str
        The response's.
    said : str
        All that the provider said, which may hold what was asked: never to be told.
    """

    def __init__(self, detail: str, status: AnswerStatus = "error", *, said: str = "") -> None:
        super().__init__(detail)
        self.detail, self.status, self.said = detail, status, said


class AdaptedError(Exception):
    """What is asked of the model has changed since the call was written: the request is asked anew."""


class TurnedAwayError(Exception):
    """The endpoint says what would most likely fail for every request; its text says what, for people."""


def another_answered(name: str, served: str) -> BackendError:
    """Return the error of an endpoint that serves another model than the named one."""
    return BackendError(
        f"model.name is {name!r}, and {served!r} answered. Name that model, or list in model.served the models that "
        "may answer (any: all of them)"
    )


class Asker(Protocol):
    """What a backend knows about its endpoint."""

    def orders(self, request: Request) -> Sequence[Any]:
        """Return what is sent for a request: one thing for each call."""
        ...

    async def call(self, request: Request, order: Any) -> Any:
        """Make one attempt at one call. Raises TryAgainError, FailedError or TurnedAwayError."""
        ...

    def read(self, request: Request, answers: Sequence[Any]) -> Response:
        """Return what the answers to all calls say."""
        ...

    def failed(self, request: Request, detail: str, status: AnswerStatus = "error") -> Response:
        """Return the response of a request that was not answered."""
        ...

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes at most."""
        ...
