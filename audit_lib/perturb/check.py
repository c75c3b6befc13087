"""What is wrong with the section ``perturb`` and its lexicons, found before anything is run."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.perturb.design import check_block
from audit_lib.perturb.lexicon import SwapLexicon
from audit_lib.perturb.persona import Persona
from audit_lib.perturb.variants_stage import PERTURBATIONS
from audit_lib.spec import AuditSpec


def check_perturb(spec: AuditSpec, files: Mapping[str, bytes]) -> None:
    """Check the section `perturb`; `files` are the spec's design files.

    Raises
    ------
    SpecError
        If the kind is not registered, or a block does not fit the number of groups.
    LexiconError
        If a lexicon cannot be used: it is empty, or lacks a group or a column.
    """
    settings = spec.perturb
    if settings is None:
        return
    PERTURBATIONS.get(settings.kind)
    if settings.design == "balanced_incomplete":
        check_block(settings.block_size, len(spec.groups.cells()))
    if settings.kind == "persona":
        Persona.read(spec, files.__getitem__)
    if settings.terms:
        terms = {attribute: files[f"perturb.terms.{attribute}"] for attribute in settings.terms}
        SwapLexicon.read(terms, spec.groups.attributes)
