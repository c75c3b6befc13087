"""The levels at which a run is handed on, and which of its files each withholds.

============  ======================================================================================================
``full``      everything
``redacted``  no table of rows; in place of those that numbers are computed from, the same rows without texts, with
              numbers for ids (`audit_lib.privacy.redacted_tables`)
``digests``   what was planned and published, and the digests of all else
============  ======================================================================================================

What a level withholds follows from a file's path alone, and is all of it: whoever takes other files out of a copy has
made files missing, and whoever leaves one of these in has handed on more than the copy says.
"""

from __future__ import annotations

from typing import Final

from audit_lib.documents.privacy import PrivacyLevel

LABEL: Final = "privacy.json"
"""The file of a copy that says its level; a full copy has none."""
LEVELS: Final[tuple[PrivacyLevel, ...]] = ("digests", "redacted", "full")
"""From the least to the most."""
DEFAULT: Final[PrivacyLevel] = "redacted"
REDACTED: Final = "evidence/redacted/"
"""Where the redacted tables are, each under the path of what it is in place of."""
_RECORD: Final = "_SUCCESS"
_OF_ROWS: Final = (".parquet", ".csv")
_STAGES: Final = ("sample/", "variants/", "scores/", "metrics/")
"""Stages that keep rows of single people."""


def is_withheld(path: str, level: PrivacyLevel) -> bool:
    """Return whether a level withholds a file of a run.

    Examples
    --------
    >>> is_withheld("scores/0/scores.parquet", "redacted"), is_withheld("scores/0/_SUCCESS", "digests")
    (True, False)
    >>> is_withheld("metrics/metrics.json", "redacted"), is_withheld("metrics/metrics.json", "digests")
    (False, True)
    """
    if level == "full" or path.rsplit("/", 1)[-1] == _RECORD:
        return False
    if level == "redacted":
        return path.startswith(_STAGES) and path.endswith(_OF_ROWS)
    return path.startswith((*_STAGES, "validation/", REDACTED))


def is_fuller(one: PrivacyLevel, other: PrivacyLevel) -> bool:
    """Return whether one level shows more than another.

    Examples
    --------
    >>> is_fuller("full", "redacted"), is_fuller("digests", "digests")
    (True, False)
    """
    return LEVELS.index(one) > LEVELS.index(other)
