"""A whole audit of prompts without slots: a bias planted on words is found, and unknown groups are counted."""

from __future__ import annotations

import hashlib
from pathlib import Path

from audit_lib import pipeline
from audit_lib.score.requests import Request
from tests.inputs import write_jsonl
from tests.perturb.cases import WEEK
from tests.score.audits import up_to
from tests.score.fakes import fake
from tests.specs import INCLUDE, write

TERMS = INCLUDE / "lexicons" / "terms"
TEXTS = (
    "She cooked for ten years and led her team.",
    "A man who drives; he knows the roads.",
    "The White applicant bakes.",
    "Somebody who writes.",
)


def answer(request: Request) -> tuple[float, float]:
    text = request.messages[-1].content
    woman = any(word in text.lower().split() for word in ("she", "woman"))
    noise = int(hashlib.sha256(text[-4:].encode()).hexdigest()[:4], 16) / 16**4 / 10
    yes = (0.3 if woman else 0.6) + noise
    return 1 - yes, yes


def test_a_bias_on_words_is_found(tmp_path: Path) -> None:
    fake("by_words", answer)
    rows = [
        {
            "prompt_id": f"p{i:02d}", "application_id": f"a{i:02d}", "position": "any",
            "resume": f"{TEXTS[i % 4]} No. {i:02d}",
        }
        for i in range(40)
    ]  # fmt: skip
    write_jsonl(tmp_path / "prompts.jsonl", rows)
    (tmp_path / "t.yaml").write_text("messages:\n- {role: user, content: '{{resume}}'}\n")
    spec = write(
        tmp_path,
        perturb={
            "kind": "lexicon",
            "terms": {axis: str(TERMS / f"{axis}.csv") for axis in ("sex", "race")},
            "controls": True,
        },
        groups={
            "attributes": {"sex": ["female", "male"], "race": ["White", "Black", "Asian", "Hispanic"]},
            "categories": {
                "sex": {"female": "Female", "male": "Male"},
                "race": {"Black": "Black or African American", "Hispanic": "Hispanic or Latino"},
            },
        },
        prompt={"template": "t.yaml"},
        model={"backend": "by_words", "name": "by words"},
        measure={"metrics": ["score_gap"], "strata": [[]]},
    )
    run = up_to(pipeline.open_run(spec, WEEK, str(tmp_path / "store")), "metrics")
    design = run.stage("variants").read_json("design.json")
    assert design["substitution"]["prompts_varied"] == 30 and design["variations"]["control"] == 80
    document = run.stage("metrics").read_json("metrics.json")
    assert (
        document["rows"]["total"] == 80
    )  # 20 prompts for two sexes, 10 for four races; no control is counted
    gaps = {
        tuple(e["group"].items()): e["value"]
        for e in document["estimates"]
        if e["metric"] == "score_gap" and len(e["group"]) == 1
    }
    assert abs(gaps[("sex", "female"),] + 0.3) < 0.05
    assert all(abs(gap) < 0.05 for group, gap in gaps.items() if group[0][0] == "race")
    validation = run.stage("validation").read_json("validation.json")
    assert validation["success"] and sum(entry["n"] for entry in validation["completeness"]) == 80
