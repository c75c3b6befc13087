"""Whether a local model's scores are its own: the noise floor of each shard against its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit_lib.run import Run
from audit_lib.validate.expectations import Expectation, holds

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {
    "probabilities_are_the_model_s_own": ("largest_difference", 0),
    "shares_are_the_model_s_own": ("largest_share_difference", 1),
}


def noise_table(run: Run) -> pd.DataFrame | None:
    """Return a row for each shard of a local model, or None if there is none.

    Shards of earlier versions, whose noise floor was measured against the engine itself, have none.
    """
    import pandas as pd

    from audit_lib.score.local.noise_floor import bounds

    rows: list[dict[str, Any]] = []
    for shard, floor, model in _floors(run):
        most = bounds(model, run.spec.checks.maximum_noise_floor)
        rows.append(
            {"shard": shard}
            | {
                column: floor[name] is None or floor[name] <= most[place]
                for column, (name, place) in _COLUMNS.items()
            }
        )
    return pd.DataFrame(rows) if rows else None


def noise_suite(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Expectation]]:
    """Return the table, and what must hold in it."""
    return table, [holds(column) for column in _COLUMNS]


def told_noise(run: Run, column: str | None) -> str:
    """Return the largest difference behind a failed check, its shard and its bound."""
    from audit_lib.score.local.noise_floor import bounds

    if column not in _COLUMNS:
        return ""
    name, place = _COLUMNS[column]
    shard, floor, model = max(_floors(run), key=lambda one: one[1][name] or 0.0)
    what = "a probability" if place == 0 else "a label's share"
    most = run.spec.checks.maximum_noise_floor
    said = f"rounding of {model.get('dtype')}" if most is None else "checks.maximum_noise_floor"
    return (
        f": in shard {shard} {what} is {floor[name]:.2g} from what the model's own pass says, and at most "
        f"{bounds(model, most)[place]:g} is allowed ({said}); this model cannot be scored exactly here"
    )


def _floors(run: Run) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    from audit_lib.score import shards

    found = []
    for shard in shards(run):
        folder = run.stage(f"scores/{shard}")
        if "plan.json" not in folder.success().artefacts:
            continue
        floor = folder.read_json("plan.json")["noise_floor"]
        if "against" in floor:
            found.append((shard, floor, folder.read_json("model.json")))
    return found
