"""What a perturbation is: it says which prompts it can change, and gives each in every group asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from audit_lib.documents.design import Names, Personas, Substitution, Unawareness


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One variant of one prompt.

    Parameters
    ----------
    cell : mapping of str to str
        Its group: level of each attribute that was varied; empty for a prompt passed on as it was.
    replicate : int
        Which variant of the group.
    values : mapping of str to str
        What was put in: slot -> value.
    fields : mapping of str to str
        The prompt's texts, changed.
    candidate : str or None
        The name shown.
    """

    cell: Mapping[str, str]
    replicate: int
    values: Mapping[str, str]
    fields: Mapping[str, str]
    candidate: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What ``design.json`` says of the texts, looked at before any is changed.

    Parameters
    ----------
    names, personas, ftu, substitution
        As the fields of `audit_lib.documents.design.Design`; None where nobody looked.
    """

    names: Names | None = None
    personas: Personas | None = None
    ftu: Unawareness | None = None
    substitution: Substitution | None = None


class Perturbation(Protocol):
    """Registered with ``@PERTURBATIONS(name)`` as a function of the run; the spec's `perturb.kind` names it."""

    @property
    def each(self) -> int:
        """Variants of a prompt in each group."""
        ...

    def survey(self, prompts: Iterable[Mapping[str, str]]) -> Survey:
        """Look at the texts of all prompts before any is changed.

        Raises
        ------
        LexiconError
            If there is nothing to vary.
        """
        ...

    def changes(self, index: int, fields: Mapping[str, str], groups: Sequence[int]) -> Iterator[Change]:
        """Yield the variants of the prompt with this index in the sorted sample, in the spec's groups of these numbers.

        Raises
        ------
        UnknownSlotError
            If a text has a slot that nothing fills.
        """
        ...
