"""What a shard says about the model that answered, against the answers that it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from audit_lib.archive.records_check import Find
from audit_lib.documents.canaries import read_canaries
from audit_lib.documents.evidence import ServedModel, WrittenFile
from audit_lib.run import Run
from audit_lib.score.backends import fingerprint
from audit_lib.typed_json import decode

if TYPE_CHECKING:
    import pandas as pd

ATTESTED: Final = (
    "scores: attested by whoever asked the model, and not computed again: the answers themselves, the system "
    "fingerprints in served.json, canaries.json, and the noise floor in plan.json"
)


def check_model(run: Run, stage: str, scores: pd.DataFrame, answers: pd.DataFrame | None, find: Find) -> None:
    """``model.json`` and ``served.json`` must be about the answers of this shard; the noise floor must be one."""
    folder = run.stage(stage)
    there = folder.success().artefacts
    model = folder.read_json("model.json")
    mark = fingerprint({key: value for key, value in model.items() if key != "fingerprint"})
    if model.get("fingerprint") != mark or not set(scores["model_fingerprint"]) <= {mark}:
        find(
            f"{stage}/model.json",
            "its fingerprint is not that of what it describes, or not that of the scores",
        )
    if "served.json" in there:
        said: Counter[tuple[int | None, str]] = Counter()
        for one in decode(tuple[ServedModel, ...], folder.read("served.json"), f"{stage}/served.json"):
            said[one.step, one.model] += one.answers
        if said != _answered(run, stage, scores if answers is None else answers, there):
            find(
                f"{stage}/served.json", "its models, or how often each answered, are not those of the answers"
            )
    if "plan.json" in there and not _is_floor(folder.read_json("plan.json").get("noise_floor"), len(scores)):
        find(f"{stage}/plan.json", "its noise floor is none")


def _answered(
    run: Run, stage: str, rows: pd.DataFrame, there: Mapping[str, WrittenFile]
) -> Counter[tuple[int | None, str]]:
    """Count the answers by step and model, as the archived rows, replies and canaries have them."""
    found: Counter[tuple[int | None, str]] = Counter()
    early = rows["detail"].astype("string").str.startswith("step ").fillna(False)
    last = rows[(rows["status"] != "error") & ~early].drop_duplicates(["request_id", "repeat"])
    found.update((None, model) for model in last["model"])
    if "replies.parquet" in there:
        replies = run.stage(stage).read_table("replies.parquet")
        replies = replies[replies["status"] != "error"]
        found.update(
            (int(step), model) for step, model in zip(replies["step"], replies["model"], strict=True)
        )
    if "canaries.json" in there:
        canaries = read_canaries(run.stage(stage).read("canaries.json"), f"{stage}/canaries.json")
        found.update((None, one.model) for one in canaries if one.status != "error")
    return found


def _is_floor(floor: Any, most: int) -> bool:
    if not isinstance(floor, dict) or not isinstance(floor.get("requests"), int):
        return False
    largest = floor.get("largest_difference")
    known = isinstance(largest, (int, float)) and math.isfinite(largest) and 0 <= largest <= 1
    return 0 <= floor["requests"] <= most and (largest is None or known)
