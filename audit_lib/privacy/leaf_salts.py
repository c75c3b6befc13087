"""Salts of the leaves that stand for people in a run's tree of records: made of their own keys, and gone with them."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final

from audit_lib.privacy.applicant_keys import ApplicantKeys

_OF_ID: Final = b"audit_lib salt of an id in a tree of records\0"
_OF_RECORDS: Final = b"audit_lib salt of the records in a tree of records\0"


@dataclass(frozen=True)
class LeafSalts:
    """The salts of one run: who learns one in a proof learns nothing of another run's leaves.

    Parameters
    ----------
    keys : ApplicantKeys
    run : str
        Which run: audit, window and digest of the design.
    without : frozenset of str
        Names of the keys of people who get no salts, since not all of their records can be read.
    """

    keys: ApplicantKeys
    run: str
    without: frozenset[str] = frozenset()

    def of(self, application_id: str, records_digest: bytes) -> bytes | None:
        """Return the salts of an id and of its records, 32 bytes each; None for somebody whose key is gone."""
        name = self.keys.name_of(application_id)
        key = None if name in self.without else self.keys.key(name)
        if key is None:
            return None
        run = self.run.encode()
        return hmac.digest(key, _OF_ID + run, "sha256") + hmac.digest(
            key, _OF_RECORDS + run + b"\0" + records_digest, "sha256"
        )
