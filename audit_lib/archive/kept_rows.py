"""Runs from which people were erased, read without their rows."""

from __future__ import annotations

from dataclasses import replace

from audit_lib.errors import WithheldError
from audit_lib.privacy.applicant_keys import KEYS, ApplicantKeys, configured_keys
from audit_lib.privacy.vault import Vault
from audit_lib.privacy.withheld_files import level_of
from audit_lib.run import Run


def without_erased(run: Run, keys: ApplicantKeys) -> Run:
    """Return an encrypted run whose tables are read without the rows of people whose keys are gone."""
    vault = Vault(keys, lambda stage, name: kept.stage(stage).read(name), skips_erased=True)
    kept = replace(run, withheld={}, vault=vault)
    return kept


def as_far_as_readable(run: Run) -> Run:
    """Return a run with all rows that can be read here.

    Raises
    ------
    WithheldError
        If none can: it is a copy that was handed on without them, or there are no keys here.
    """
    if not run.withheld:
        return run
    level = level_of(run.store, run.prefix)
    if level != "full":
        raise WithheldError(
            f"{run.uri}: is a copy of level {level}, without the rows of people; ask whoever has the run"
        )
    keys = configured_keys(run.key.audit)
    if keys is None:
        raise WithheldError(f"{run.uri}: the rows of people are encrypted, and {KEYS} is not set here")
    return without_erased(run, keys)
