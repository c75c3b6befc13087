"""What the backends that ask a scoring process share: its model, its conversations and its answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from audit_lib.options import Options
from audit_lib.score.backends import Backend
from audit_lib.score.local.orders import order_of, response_to
from audit_lib.score.local.process import ScoringProcess
from audit_lib.score.packs import Pack
from audit_lib.score.requests import Response
from audit_lib.spec import Model


class ProcessBackend(Backend):
    """A backend whose model, or whose tokenizer, is in a process of its own.

    Attributes
    ----------
    model : Model
        The section of the spec.
    options : Options
        Its options, as the backend's own type.
    """

    model: Model
    options: Options
    _process: ScoringProcess
    _loaded: dict[str, Any]
    _note: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the model and what it runs on; loads it if need be."""
        self._start()
        return {
            "backend": self.model.backend,
            "name": self.model.name,
            "options": self.options.model_dump(mode="json"),
            **self._loaded,
        }

    def check_roles(self, roles: Sequence[str], *, for_labels: bool) -> None:
        """Let the model's chat template write a conversation of these roles."""
        self._start()
        self._process.ask({"roles": list(roles), "labels": for_labels})

    def check_labels(self, labels: Sequence[str]) -> None:
        """Let the model's tokenizer tell the labels apart."""
        self._start()
        self._process.ask({"told_apart": list(labels)})

    def loading_note(self) -> str | None:
        """Return how long loading took, and what it found."""
        return self._note

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, pack by pack."""
        self._start()
        for pack in packs:
            found = self._process.ask({"pack": [order_of(request) for request in pack]})["answers"]
            for request, answer in zip(pack, found, strict=True):
                yield response_to(request, answer, self.model.name)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    @abstractmethod
    def _start(self) -> None:
        """Start the process, unless it runs."""
