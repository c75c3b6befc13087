"""What earlier verifications found, kept in 64 files; with a key of the verifier's, believed only where it says so.

::

    <place>/runs/00.json ... 63.json      how each run verified when it was verified in full last
    <place>/parts/NN.json                 what a task has to look at; derived

A document says "these bytes verified in full at this time", which stays true: put back, an old one makes work, and no
run look verified. Without a key whoever can write to the place can make a changed run look verified until it is
verified in full again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from audit_lib.canonical import canonical_json
from audit_lib.documents.verified_runs import (
    ListedPart,
    VerifiedJournal,
    VerifiedRun,
    VerifiedRuns,
    maced_bytes,
)
from audit_lib.errors import EvidenceError, InputError, NotFoundError, StoreError, StoreUnreachableError
from audit_lib.store import Store, open_store
from audit_lib.typed_json import decode

FOLDER: Final = "_verified"
"""In the store itself, where no other place is named; no audit has such a name."""
PLACE: Final = "AUDIT_VERIFIED"
KEY: Final = "AUDIT_VERIFIED_KEY"
NUMBERS: Final = 64
_SHORTEST: Final = 16


def number_of(name: str) -> int:
    """Return the number of the file that a run's or an audit's name belongs to.

    Examples
    --------
    >>> number_of("screening/20260105T000000Z_20260112T000000Z/0f4c7458dafaa9b4")
    9
    """
    return int(hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest(), 16) % NUMBERS


@dataclass(slots=True)
class KeptVerifications:
    """What is kept of the runs of a store.

    Parameters
    ----------
    place : Store
        Where.
    inside : bool
        Whether that is in the store whose runs are verified.
    key : bytes
        The verifier's own; empty without one.
    numbers : tuple of int
        Of the files that were read, which are those that are written.
    runs, journals : dict
        By name, of these files.
    not_believed : list of str
        A line for each file that was not used, and why.
    not_written : str
        Why nothing can be kept; empty where it can.
    """

    place: Store
    inside: bool
    key: bytes = field(default=b"", repr=False)
    numbers: tuple[int, ...] = ()
    runs: dict[str, VerifiedRun] = field(default_factory=dict)
    journals: dict[str, VerifiedJournal] = field(default_factory=dict)
    not_believed: list[str] = field(default_factory=list)
    not_written: str = ""

    @classmethod
    def of_environment(cls, root: str, place: str = "") -> KeptVerifications:
        """Return what is kept of the store at `root`: at `place`, else at ``AUDIT_VERIFIED``, else in the store.

        Raises
        ------
        InputError
            If the key in ``AUDIT_VERIFIED_KEY`` is too short to be one.
        """
        named = place or os.environ.get(PLACE, "")
        key = os.environ.get(KEY, "").encode()
        if key and len(key) < _SHORTEST:
            raise InputError(
                f"{KEY}: a key of {len(key)} characters can be guessed; make one of {_SHORTEST} or more"
            )
        return cls(open_store(named or f"{root.rstrip('/')}/{FOLDER}"), inside=not named, key=key)

    def read(self, numbers: Iterable[int] = range(NUMBERS)) -> None:
        """Read the files of these numbers; one that is not believed is left out, and named."""
        self.numbers = tuple(numbers)
        for number in self.numbers:
            name = _name(number)
            try:
                found = decode(VerifiedRuns, self.place.get(name), self.place.uri(name))
            except NotFoundError:
                continue
            except EvidenceError as error:
                self.not_believed.append(f"{error}")
                continue
            if found.number != number or not self._is_ours(found):
                self.not_believed.append(f"{self.place.uri(name)}: its MAC is not one of the key in {KEY}")
                continue
            self.runs |= {one.run: one for one in found.runs}
            self.journals |= {one.audit: one for one in found.journals}

    def write(self) -> None:
        """Write the files that were read as they are now; where the place takes none, say so in `not_written`."""
        runs: dict[int, list[VerifiedRun]] = {}
        journals: dict[int, list[VerifiedJournal]] = {}
        for _, run in sorted(self.runs.items()):
            runs.setdefault(number_of(run.run), []).append(run)
        for _, journal in sorted(self.journals.items()):
            journals.setdefault(number_of(journal.audit), []).append(journal)
        try:
            for number in self.numbers:
                own, read = tuple(runs.get(number, ())), tuple(journals.get(number, ()))
                if own or read or self.place.exists(_name(number)):
                    made = self._signed(VerifiedRuns(number=number, runs=own, journals=read))
                    self.place.replace(_name(number), canonical_json(made.as_dict()))
        except StoreUnreachableError:
            raise
        except StoreError as error:
            self.not_written = str(error)

    def write_parts(self, parts: Sequence[ListedPart]) -> None:
        """Write what each of several tasks has to look at."""
        for number, part in enumerate(parts):
            self.place.replace(_part(number), canonical_json(part.as_dict()))

    def read_part(self, number: int) -> ListedPart:
        """Return what one of several tasks has to look at."""
        return decode(ListedPart, self.place.get(_part(number)), self.place.uri(_part(number)))

    def _is_ours(self, found: VerifiedRuns) -> bool:
        if not self.key:
            return True
        return found.mac is not None and hmac.compare_digest(found.mac, self._mac(found))

    def _signed(self, made: VerifiedRuns) -> VerifiedRuns:
        return replace(made, mac=self._mac(made)) if self.key else made

    def _mac(self, document: VerifiedRuns) -> str:
        return hmac.new(self.key, maced_bytes(document), hashlib.sha256).hexdigest()


def _name(number: int) -> str:
    return f"runs/{number:02d}.json"


def _part(number: int) -> str:
    return f"parts/{number:02d}.json"
