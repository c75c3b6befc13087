"""What the checks of signatures need of a run: which one it is, and its files; also where it has no plan to open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from audit_lib.privacy.withheld_files import WithheldFile
from audit_lib.run import RunKey, StageFolder
from audit_lib.store import Store


class CheckedRun(Protocol):
    """A run whose signatures are checked."""

    @property
    def key(self) -> RunKey:
        """Which run it is."""

    @property
    def store(self) -> Store:
        """Where it lies."""

    @property
    def prefix(self) -> str:
        """Its folder in the store; empty where the run is the store's root."""

    @property
    def uri(self) -> str:
        """Where it is."""

    @property
    def withheld(self) -> Mapping[str, WithheldFile]:
        """What this copy was handed on without."""

    def stage(self, name: str) -> StageFolder:
        """Return the folder of a stage."""

    def list(self, folder: str = "") -> list[str]:
        """Return the paths of everything in it, or in a folder of it."""


@dataclass(frozen=True, slots=True)
class UnplannedRun:
    """A run whose last attempt failed before its plan was written.

    Parameters
    ----------
    key : RunKey
        Which run it is, by the record of the attempt.
    store : Store
        Its own folder.
    """

    key: RunKey
    store: Store

    @property
    def prefix(self) -> str:
        """Its folder in the store, which is the store's root."""
        return ""

    @property
    def uri(self) -> str:
        """Where it is."""
        return self.store.uri("").rstrip("/")

    @property
    def withheld(self) -> Mapping[str, WithheldFile]:
        """Nothing: no level withholds records of attempts."""
        return {}

    def stage(self, name: str) -> StageFolder:
        """Return the folder of a stage."""
        return StageFolder(self.store, name)

    def list(self, folder: str = "") -> list[str]:
        """Return the paths of everything in it, or in a folder of it."""
        return list(self.store.list(folder))
