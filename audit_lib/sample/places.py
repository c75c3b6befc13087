"""Whether a round has fewer places than candidates: else everybody is selected, and every ratio is 1 by design."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from audit_lib.errors import InputError, SpecError
from audit_lib.spec import AuditSpec


def check_places(spec: AuditSpec) -> None:
    """Refuse more places than candidates, where the spec alone fixes how many compete.

    Raises
    ------
    SpecError
        If ``decision.k`` takes everybody of a pool with one candidate of each group.
    """
    k = _places(spec)
    if k is None or spec.decision.round != "one_per_group":
        return
    size = len(spec.groups.cells())
    if k >= size:
        raise SpecError(
            f"decision.k: {k} places for pools of {size} (one candidate of each group): everybody would be selected, "
            f"and every ratio be 1 whatever the model says; choose k below {size}"
        )


def check_sampled_places(spec: AuditSpec, rows: Callable[[], Iterable[int]]) -> str | None:
    """Refuse the same where the sample shows it, before anything is asked.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    rows : callable
        Returns how many prompts were sampled of each round or application, whichever competes.

    Returns
    -------
    str or None
        What to tell where it is so in some rounds only.

    Raises
    ------
    InputError
        If no round has more candidates than places.
    """
    k = _places(spec)
    if k is None or spec.decision.round == "one_per_group":
        return None
    sizes = [count * _versions(spec) for count in rows()]
    full = sum(size <= k for size in sizes)
    if not full:
        return None
    told = f"decision.k: {k} places, and {full} of {len(sizes)} rounds have no more candidates (at most {max(sizes)})"
    if full == len(sizes):
        raise InputError(
            f"{told}: everybody would be selected, and every ratio be 1 whatever the model says; choose a smaller k"
        )
    return f"WARNING: {told}: in those everybody is selected"


def _places(spec: AuditSpec) -> int | None:
    return spec.decision.k if spec.decision.rule == "top_k" else None


def _versions(spec: AuditSpec) -> int:
    """How many versions of a prompt compete; of words that are exchanged at most one a group."""
    if spec.perturb is None:
        return 1
    groups = {"full": len(spec.groups.cells()), "two_sample": 1}.get(
        spec.perturb.design, spec.perturb.block_size
    )
    return (groups or 1) * spec.perturb.names_per_cell
