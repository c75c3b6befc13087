"""How many names, applications and prompts an experiment needs, and the rule by which its errors allow for names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from scipy.special import stdtrit

from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

FEW_NAMES: Final = 20
"""What names of a group, or of its reference, are worth, below which one variance is estimated for those of all groups.

Names of which one is shown a hundred times as often as the others are worth little more than that one.
"""

LEAST_NAMES: Final = 1.9
"""What they have to be worth for anything to be said of other names; two names that are shown nearly as often are."""

RULE: Final = mark(
    "Findings are of other names like those that are shown: errors allow for applications and names. Names are counted "
    "by what they are worth: 1 over the sum of the squares of their shares of a group's rows, which is their number "
    "where all are shown as often. Where those of a group or its reference are worth fewer than {few}, one variance is "
    "estimated for the names of all groups (crossed effects); else each name counts by its own rows (two-way "
    "clustering by application and name). Where they are worth fewer than {least}, nothing is said of other names."
)
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NameComparison:
    """How a group and its reference are shown.

    Parameters
    ----------
    names_group, names_reference : int
        Names a side.
    names, cells : int
        All names of the audit, and the groups that they are of.
    applications : int
        How many there are.
    versions : float
        Versions of an application that show the group, and as many that show the reference; below 1 where only some
        applications show it.
    prompts : float
        Prompts of an application.
    within : bool
        Whether an application shows both sides, so that its merit is no part of the comparison.
    """

    names_group: int
    names_reference: int
    names: int
    cells: int
    applications: int
    versions: float
    prompts: float
    within: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """Standard deviations that the plan assumes, that of merit being 1."""

    name_sd: float
    version_sd: float
    prompt_sd: float
    alpha: float
    power: float


def detectable(shown: NameComparison, assumed: Assumed) -> float:
    r"""Return the smallest effect that is found with the planned power, in standard deviations of merit.

    .. math:: \delta = (t_{1 - \alpha/2, \nu} + t_{\text{power}, \nu}) \sqrt{V_a + V_n}, \qquad
              V_n = \sigma^2_u (1/N_1 + 1/N_0),

    with :math:`V_a` from the versions of the applications and :math:`\nu` Satterthwaite's degrees of freedom.

    Examples
    --------
    >>> assumed = Assumed(name_sd=0.25, version_sd=0.5, prompt_sd=0.3, alpha=0.05, power=0.8)
    >>> few = NameComparison(
    ...     names_group=5, names_reference=5, names=10, cells=2, applications=300, versions=1, prompts=1, within=True)
    >>> round(detectable(few, assumed), 2)
    0.61
    """
    by_application, by_name = _variances(shown, assumed)
    total = by_application + by_name
    each = shown.applications * shown.versions * shown.cells / max(shown.names, 1)
    own = max(shown.applications - 1, 1)
    df = float(own)
    if each > 1:
        # Names that are dealt together share what an application's constant takes up.
        lost = (shown.cells - 1) / shown.cells if shown.within and shown.cells > 1 else 1.0
        of_names = max((shown.names - shown.cells) * lost, 1.0)
        df = total**2 / (by_application**2 / own + total**2 / of_names)
    return float(stdtrit(df, 1 - assumed.alpha / 2) + stdtrit(df, assumed.power)) * math.sqrt(total)


def _variances(shown: NameComparison, assumed: Assumed) -> tuple[float, float]:
    rows = max(shown.applications * shown.versions, 1.0)
    spread = assumed.version_sd**2 + assumed.prompt_sd**2 / max(shown.prompts, 1.0)
    spread += 0.0 if shown.within else 1.0
    sides = (min(names, rows) for names in (shown.names_group, shown.names_reference))
    return 2 * spread / rows, assumed.name_sd**2 * sum(1 / max(side, 1) for side in sides)


def needed_names(shown: NameComparison, assumed: Assumed, effect: float) -> int | None:
    """Return the names a side that find an effect with these applications; None where no number does."""

    def found(names: int) -> float:
        scale = names / min(shown.names_group, shown.names_reference)
        return detectable(
            replace(shown, names_group=names, names_reference=names, names=round(shown.names * scale)),
            assumed,
        )

    most = max(int(shown.applications * shown.versions), 1)
    return _smallest(found, effect, most)


def needed_applications(shown: NameComparison, assumed: Assumed, effect: float) -> int | None:
    """Return the applications that find an effect with these names; None where no number does."""
    return _smallest(lambda n: detectable(replace(shown, applications=n), assumed), effect, _MOST)


def needed_prompts(shown: NameComparison, assumed: Assumed, effect: float) -> int | None:
    """Return the prompts an application that find an effect with these names and applications; None: no number."""
    return _smallest(lambda n: detectable(replace(shown, prompts=n), assumed), effect, 100)


def _smallest(found: Callable[[int], float], effect: float, most: int) -> int | None:
    if found(most) > effect:
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) <= effect else (middle + 1, high)
    return low


def assumed_of(spec: AuditSpec) -> Assumed:
    """Return what a spec assumes."""
    own = spec.measure.names
    return Assumed(
        name_sd=own.name_sd,
        version_sd=own.version_sd,
        prompt_sd=own.prompt_sd,
        alpha=spec.measure.alpha,
        power=spec.measure.power,
    )
