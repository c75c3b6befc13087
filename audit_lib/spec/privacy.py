"""The section ``privacy``: at which level a run is handed on, and whether its rows are encrypted person by person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.spec.data import Source
from audit_lib.spec.scoring import Scoring
from audit_lib.spec.section import SpecSection


class Privacy(SpecSection):
    """What may be seen of the people whom an audit is about. Nothing here changes a number of a run."""

    level: PrivacyLevel = Field(
        "redacted",
        description="The fullest level at which a run is handed on by `audit export`: `full`, `redacted` (rows without "
        "texts, with numbers for ids) or `digests` (what was published, and digests of the rest).",
    )
    keys: Literal["none", "applicant"] = Field(
        "none",
        description="`applicant`: rows of people are encrypted in the store with a key for each, which lies in "
        "AUDIT_PRIVACY_KEYS; erasing the key (`audit erase`) erases the person, and every digest still verifies.",
    )

    def check(self, source: Source, score: Scoring, recorded: Callable[[], bool]) -> None:
        """Refuse keys for applicants where something else would keep their data in the clear.

        Whether answers are `recorded` is asked only where it matters: it imports the backends.
        """
        if self.keys == "none":
            return
        if score.ledger != "off" and not recorded():
            raise ValueError("privacy.keys: the ledger keeps answers in the clear; set score.ledger: off")
        if source.once is not None:
            raise ValueError("privacy.keys: source.once keeps ids of people in the clear")
