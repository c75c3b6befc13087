"""One combination as a spec with its inputs, what was planted into it, and what the audit made of it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import yaml

from audit_lib import pipeline
from audit_lib.errors import AuditError, ValidationFailedError
from audit_lib.spec import AuditSpec
from audit_lib.window import Window
from tests.combinations.axes import ANSWERING, ASKED, DECIDED, OWN_WORDS, VARIED, Asked, Varied, design_files
from tests.combinations.biased_judge import NOISE_SD, WORDS, Judge, best_of_four, same_jobs, share_above, wins
from tests.combinations.local_models import name_wins
from tests.combinations.who_answers import Answering

APPLICATIONS: Final = 64
WEEK: Final = Window.parse("2026-01-05", "2026-01-12")
GAP: Final = 0.8
"""The planted bias, in standard deviations of merit; 0 is the control."""


@dataclass(frozen=True, order=True)
class Combination:
    """One of each axis, by name."""

    varied: str
    answering: str
    asked: str
    decided: str

    def __str__(self) -> str:
        return " x ".join((self.varied, self.answering, self.asked, self.decided))


@dataclass(frozen=True, kw_only=True)
class Found:
    """An estimate of what was planted."""

    metric: str
    planted: float
    value: float
    low: float
    high: float

    @property
    def measured(self) -> bool:
        """Whether there is an interval; where every round went the same way there is none."""
        return not math.isnan(self.low)

    @property
    def covers(self) -> bool:
        """Whether the interval holds what was planted; a number on its edge, such as 1 of [1, 1], is held."""
        return self.low - 1e-9 <= self.planted <= self.high + 1e-9


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a combination: estimates, or the reason of a refusal.

    `late` tells that the model was asked before the audit was refused or stopped; `fault` names anything that must
    never be: an estimate that is missing, a traceback, a version of a text that shows no group.
    """

    found: tuple[Found, ...] = ()
    refused: str | None = None
    late: bool = False
    fault: str | None = None


def combinations() -> Iterator[Combination]:
    """Yield every combination."""
    for one in product(VARIED, ANSWERING, ASKED, DECIDED):
        yield Combination(*one)


def content(case: Combination, answering: Answering, seed: int) -> dict[str, Any]:
    """Return the spec of a combination."""
    varied, asked = VARIED[case.varied], ASKED[case.asked]
    group, reference = varied.levels
    again = ("noise_floor",) if varied.perturb and {"controls", "formats"} & set(varied.perturb) else ()
    perceived = ("manipulation_agreement",) if "manipulation" in varied.sections else ()
    fields = ["resume", "position_shown"] + ["said"] * (case.decided == "classes of the source")
    spec: dict[str, Any] = {
        "audit": "planted",
        "title": str(case),
        "task": asked.task,
        "seed": seed,
        "source": {"kind": "files", "paths": ["prompts.jsonl"], "fields": fields, "windowed": False},
        "groups": {
            "provenance": "assigned",
            "attributes": {varied.attribute: [group, reference]},
            "reference": {varied.attribute: reference},
        },
        "model": answering.model(asked, case),
        "measure": {"metrics": [*asked.metrics, *again, *perceived], "strata": [[]]},
        "report": {"policy": "generic"},
        "score": {"shards": 1},
        **varied.sections,
        **asked.sections,
    }
    if varied.perturb is not None:
        spec["perturb"] = varied.perturb
    name = f"{case.asked.replace(' ', '_').replace(',', '')}.yaml"
    if not (case.answering == "recorded" and asked.task in ("pairwise", "listwise")):  # a log has no template
        spec["prompt"] = {"template": name} | asked.prompt | answering.prompt(asked)
    if (decision := DECIDED[case.decided](asked, varied)) is not None:
        if "threshold" in decision:
            decision["threshold"] = answering.middle(asked)
        spec["decision"] = decision
    return spec


def rows(case: Combination, judge: Judge) -> list[dict[str, Any]]:
    """Return the source: people of one group each, or applications that show none, or both versions of each.

    Each combination has people of its own, so that one that misses says nothing about the next.
    """
    drawn = random.Random(f"{case} {judge.gap}")
    words = drawn.sample(range(WORDS), 2 * APPLICATIONS)
    varied, asked = VARIED[case.varied], ASKED[case.asked]
    own = OWN_WORDS.get(case.varied)
    people = varied.perturb is None
    made = []
    for number in range(APPLICATIONS * (2 if people else 1)):
        # Texts and lists are compared between versions of one application; people apply on their own.
        paired = people and asked.task in ("generation", "recommendation")
        application = number // 2 if paired else number
        side = number % 2
        level = varied.levels[side]
        text = varied.text.replace("{own}", own[side]) if own else varied.text
        resume = f"{text} Known as w{words[application]} ."
        row = {
            "prompt_id": f"p{number:03d}",
            "application_id": f"a{application:03d}",
            "round_id": f"r{number // 2:03d}",
            "position": ("cook", "driver")[number // 2 % 2],
            "position_shown": ("cook", "driver")[number // 2 % 2],
            "name": f"Person {number:03d}",
            "resume": resume,
        }
        if people:
            row[varied.attribute] = level
        made.append(row | (recorded(resume, asked, judge)))
    if asked.task == "listwise":
        of_round: dict[str, list[dict[str, Any]]] = {}
        for row in made:
            of_round.setdefault(row["round_id"], []).append(row)
        for members in of_round.values():
            ranking = sorted(members, key=lambda row: -row["recorded_score"])
            for place, row in enumerate(members, start=1):
                row["order_shown"] = place
                row["recorded_response"] = "\n".join(one["name"] for one in ranking)
    return made


def recorded(resume: str, asked: Asked, judge: Judge) -> dict[str, Any]:
    """Return what a log would hold of a person: score, decision, text and class."""
    if "{{" in resume:
        return {"recorded_score": 0.5, "recorded_selected": True, "recorded_response": "Yes", "said": "Yes"}
    turns = [
        turn["content"].replace("{{resume}}", resume) for turn in yaml.safe_load(asked.template)["messages"]
    ]
    if asked.task in ("pairwise", "listwise"):
        turns = [f"<< {resume} >> Answer Yes or No."]
    said = judge.answer([{"role": "user", "content": "\n".join(turns)}])
    worth = judge.answer([{"role": "user", "content": f"<< {resume} >> Answer Yes or No."}])
    return {
        "recorded_score": said.get("score", worth["score"]),
        "recorded_selected": worth["hired"],
        "recorded_response": said["text"],
        "said": worth["text"],
    }


def planted(case: Combination, answering: Answering, gap: float) -> dict[str, float]:
    """Return what each metric ought to find, by the formulas of the normal distribution."""
    varied, asked = VARIED[case.varied], ASKED[case.asked]
    noise = answering.noise_sd
    whole = math.hypot(1, noise)
    if asked.task == "generation":
        return {"fraction": -share_above(gap, whole)}
    if asked.task == "recommendation":
        same = (3 / 7 if gap else 1.0) if case.answering == "transformers" else same_jobs(gap)
        return {"jaccard_at_k": same}
    rule = DECIDED[case.decided](asked, varied) or {}
    # Versions of one application differ by the wording and the group alone.
    meet = wins(gap, noise) if rule.get("round") == "application_id" else wins(gap, whole)
    if case.answering == "transformers" and asked.task in ("pairwise", "listwise"):
        meet = name_wins(gap)
    ranked = {"decision_rate_gap": share_above(gap, whole), "rabbi": wins(gap, whole)}
    if asked.task in ("pairwise", "listwise"):  # a score is a place among two
        ranked = {"decision_rate_gap": meet, "rabbi": meet, "pairwise_win_gap": meet}
    elif binary(case):
        # Scores are 1 and 0; who ties for a place gets it by lot.
        ranked = dict.fromkeys(("decision_rate_gap", "rabbi"), share_above(gap, whole))
        if rule.get("rule") == "top_k" and rule["round"] == "round_id" and varied.perturb is not None:
            ranked["decision_rate_gap"] = best_of_four(gap, noise, binary=True)
        if case.decided == "recorded":
            del ranked["rabbi"]  # made of scores, and decisions are all there is
    elif rule.get("rule") == "top_k":
        four = (
            rule["round"] == "round_id" and varied.perturb is not None
        )  # both versions of both applications
        ranked["decision_rate_gap"] = best_of_four(gap, noise) if four else meet
    if rule.get("round") == "round_id" and "two_sample" in (varied.perturb or {}).values():
        ranked.pop("decision_rate_gap", None)  # who meets whom is dealt: a round may hold one group alone
    return {name: value for name, value in ranked.items() if name in asked.metrics}


def binary(case: Combination) -> bool:
    """Tell whether an endpoint answers about one person by yes or no, without a probability."""
    if ASKED[case.asked].task != "pointwise":
        return False
    said = (
        case.answering in ("http, its text", "pydantic_ai")
        and ASKED[case.asked].prompt.get("read") != "number"
    )
    return said or case.answering == "http, its decision"


def run_combination(
    case: Combination, folder: Path, answering: Answering, judge: Judge, seed: int = 7
) -> Outcome:
    """Check, run and read one combination."""
    folder.mkdir(parents=True)
    for name, text in {**design_files(), **answering.files()}.items():
        (folder / name).write_text(text)
    lines = [json.dumps(row) for row in rows(case, judge)]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    judge.asked.clear()
    judge.blind = 0
    path = folder / "planted.yaml"
    path.write_text(yaml.safe_dump(content(case, answering, seed), sort_keys=False))
    try:
        spec = AuditSpec.load(path)
        pipeline.check(spec)
        run = pipeline.open_run(path, WEEK, str(folder / "store"))
        for stage in ("plan", "sample", "variants"):
            pipeline.run_stage(run, stage)
        for shard in pipeline.shards(run):
            pipeline.run_stage(run, "scores", shard=shard)
        for stage in ("validation", "metrics"):
            pipeline.run_stage(run, stage)
    except ValidationFailedError as error:
        return Outcome(refused=str(error), late=True)
    except AuditError as error:
        return Outcome(refused=str(error), late=bool(judge.asked["all"]))
    except Exception as error:  # noqa: BLE001 - whatever it is, a user would see a traceback
        return Outcome(fault=f"{type(error).__name__}: {error}", late=bool(judge.asked["all"]))
    document = json.loads(run.stage("metrics").read("metrics.json"))
    expected = planted(case, answering, judge.gap)
    fault = None
    if judge.blind:
        fault = f"{judge.blind} texts showed neither group, and were counted"
    found = []
    for name, value in expected.items():
        one = _estimate(document, name, VARIED[case.varied], case)
        if isinstance(one, str):
            fault = f"{name}: {one}"
        else:
            found.append(Found(metric=name, planted=value, **one))
    return Outcome(found=tuple(found), fault=fault)


def _estimate(document: Any, name: str, varied: Varied, case: Combination) -> dict[str, float] | str:
    """Return the estimate of the group against its reference, or why there is none."""
    group, _ = varied.levels
    of_class = "Yes" if case.decided.startswith("classes") and name == "decision_rate_gap" else None
    for one in document["estimates"]:
        if (
            one["metric"] == (f"{name}_gap" if name == "fraction" else name)
            and one["group"] == {varied.attribute: group}
            and one.get("reference")
            and not one["stratum"]
            and (one.get("parameters") or {}).get("class") == of_class
        ):
            value, interval = one["value"], one["interval"]
            if not isinstance(value, int | float):
                return f"undefined: {value}"
            if "low" not in interval:
                if value and "no spread to estimate" in interval["undefined"]:
                    # Every round went the same way: the number is told without a spread, and is no parity.
                    return {"value": value, "low": math.nan, "high": math.nan}
                return f"no interval: {interval}"
            return {"value": value, "low": interval["low"], "high": interval["high"]}
    return "there is no such estimate"


__all__ = ["NOISE_SD", "Combination", "Found", "Outcome", "combinations", "run_combination"]
