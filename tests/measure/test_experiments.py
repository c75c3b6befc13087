"""Correspondence experiments end to end: what is planted is found, what is not is not, and doubts are printed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib import pipeline
from audit_lib.errors import SpecError
from audit_lib.score.requests import Request
from tests.score.audits import WINDOW, open_audit, up_to, write_audit
from tests.score.fakes import fake
from tests.specs import INCLUDE

PROMPTS = INCLUDE / "prompts"
RATING = {
    "template": str(PROMPTS / "resume_screening.yaml"),
    "labels": ["1", "2", "3", "4", "5"],
    "relevance": [1, 2, 3, 4, 5],
    "read": "labels",
}
CHECKED = {
    "questions": {axis: str(PROMPTS / f"perceived_{axis}.yaml") for axis in ("sex", "race")},
    "answers": {"sex": {"female": "Woman", "male": "Man"}},
    "unsure": "Unsure",
}
METRICS = ["standardised_effect", "noise_floor", "manipulation_agreement", "score_gap"]
GROUP_OF = {
    f"{row['first_name']} {row['last_name']}": row
    for row in __import__("csv").DictReader((INCLUDE / "lexicons" / "names.csv").open(encoding="utf-8"))
}


def uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def who(request: Request) -> dict[str, str]:
    text = "\n".join(m.content for m in request.messages)
    return next(row for name, row in GROUP_OF.items() if name in text)


def rater(effect: float, noise: float = 1.0, seen: bool = True) -> Any:
    """Rate by chance around 3, `effect` more for women; say who somebody is, or always the first answer."""

    def answer(request: Request) -> tuple[float, ...]:
        person = who(request)
        if "Unsure" in request.labels:
            right = {"female": "Woman", "male": "Man"}[person["sex"]]
            right = right if right in request.labels else person["race"]
            meant = right if seen else request.labels[0]
            return tuple(0.9 if label == meant else 0.01 for label in request.labels)
        draw = uniform(request.request_id) + uniform(request.request_id + "b") - 1  # SD 0.408
        rating = 3 + noise * draw + effect * (person["sex"] == "female")
        low = int(np.clip(np.floor(rating), 1, 4))
        shares = [0.0] * 5
        shares[low - 1], shares[low] = low + 1 - rating, rating - low
        return tuple(max(0.0, share) * 0.8 for share in shares)

    return answer


def audit(folder: Path, answer: Any, **sections: Any) -> dict[str, Any]:
    fake("rater", answer)
    sections = {
        "prompt": RATING,
        "model": {"backend": "rater", "name": "rater", "valid_judge": False},
        "perturb": {"controls": True},
        "manipulation": CHECKED,
        "measure": {"metrics": METRICS},
        "decision": {"rule": "threshold", "threshold": 3, "k": None, "round": None},
        "sample": {"size": 24},
    } | sections
    run = up_to(open_audit(folder, "pointwise", **sections), "metrics")
    return dict(run.stage("metrics").read_json("metrics.json"))


def found(document: dict[str, Any], metric: str, **wanted: Any) -> list[dict[str, Any]]:
    return [
        e
        for e in document["estimates"]
        if e["metric"] == metric
        and not e["stratum"]
        and all(e["parameters"].get(k, e["group"].get(k)) == v for k, v in wanted.items())
    ]


def test_a_planted_effect_is_found_and_the_rest_is_not(tmp_path: Path) -> None:
    document = audit(tmp_path, rater(0.5))
    (women,) = found(document, "standardised_effect", variation="none", sex="female")
    scale = women["parameters"]["outcome_sd"]
    assert women["value"] * scale == pytest.approx(0.5, abs=0.15)
    assert women["interval"]["low"] > 0 and women["tests"][0]["p_value"] < 1e-4
    assert women["clusters"] == 24 and women["n"] == 192
    assert "(CR1), t(23)" in women["interval"]["method"]  # all versions of each application: as in the paper
    races = [e for e in found(document, "standardised_effect", variation="none") if "race" in e["group"]]
    assert [e["group"]["race"] for e in races] == ["Black", "Asian", "Hispanic"]
    assert sum(e["interval"]["low"] <= 0 <= e["interval"]["high"] for e in races) >= 2
    (floor,) = found(document, "noise_floor", variation="control")
    assert floor["n"] == 192 and floor["interval"]["low"] < 0 < floor["interval"]["high"]
    for e in [women, *races]:
        # Scores are drawn one by one here: the error of an effect is that of noise, which the controls show.
        half = e["interval"]["high"] - e["value"]
        assert e["parameters"]["noise_limit"] == pytest.approx(half, rel=0.35)
        assert ("within_noise" in e["flags"]) == (abs(e["value"]) <= e["parameters"]["noise_limit"])
    assert "within_noise" not in women["flags"]


def test_rows_beside_the_ordinary_ones_move_no_ordinary_number(tmp_path: Path) -> None:
    alone = audit(
        tmp_path / "alone",
        rater(0.5),
        perturb={"controls": False},
        manipulation=None,
        measure={"metrics": ["standardised_effect", "score_gap"]},
    )
    beside = audit(tmp_path / "beside", rater(0.5))
    assert alone["rows"] == beside["rows"] and alone["scores"] == beside["scores"]
    for document in (alone, beside):  # adjusted p-values know how many others there are
        for e in document["estimates"]:
            e.pop("multiplicity", None)
    gaps = [[e for e in d["estimates"] if e["metric"] == "score_gap"] for d in (alone, beside)]
    assert gaps[0] == gaps[1] and gaps[0]


def test_an_attribute_that_is_not_perceived_has_no_null_to_read(tmp_path: Path) -> None:
    document = audit(tmp_path, rater(0.0, seen=False))
    (women,) = found(document, "standardised_effect", variation="none", sex="female")
    assert "no evidence of none" in women["remark"]
    assert "50.0%" in women["remark"] and "80.0%" in women["remark"]
    assert "uninterpretable" in women["flags"] and "unperceived" not in women["flags"]
    assert women["tests"][0]["p_value"] > 0.05 and "multiplicity" in women, "that it was tested counts"
    seen = audit(tmp_path / "seen", rater(0.0))
    for own in found(document, "standardised_effect"):
        (twin,) = found(seen, "standardised_effect", variation="none", **own["group"])
        for key in ("value", "interval", "standard_error", "n", "n_group", "tests", "multiplicity"):
            assert own[key] == twin[key], "a failed check changes no number"
        assert "remark" not in twin
    (all_sexes,) = [e for e in found(document, "manipulation_agreement", attribute="sex") if not e["group"]]
    assert all_sexes["value"] == 0.5 and all_sexes["parameters"]["said female"] == 192


def test_a_scorer_that_answers_unsure_is_reported_as_the_difference_that_it_makes(tmp_path: Path) -> None:
    truth = rater(1.1)

    def answer(request: Request) -> tuple[float, ...]:
        if "Unsure" in request.labels:
            return tuple(float(label == "Unsure") for label in request.labels)
        return tuple(truth(request))

    document = audit(tmp_path, answer, measure={"metrics": METRICS, "margins": {"standardised_effect": 0.5}})
    by = {
        e["group"].get("race", "women"): e for e in found(document, "standardised_effect", variation="none")
    }
    women = by["women"]
    assert women["value"] > 1.5 and women["interval"]["low"] > 1.3 and women["multiplicity"]["holm"] < 1e-6
    assert "remark" not in women and women["verdict"] == {"kind": "difference", "size": "beyond"}
    for race in ("Black", "Asian", "Hispanic"):
        null = by[race]
        assert null["interval"]["low"] <= 0 <= null["interval"]["high"]
        assert null["remark"].startswith(
            "uninterpretable: the model does not tell the groups apart when asked"
        )
        assert "named the race of 0 of 192 versions" in null["remark"]
        assert null["verdict"]["kind"] == "uninterpretable"
        assert "did not tell these groups apart" in null["verdict"]["reason"]
    seen = audit(tmp_path / "seen", truth, measure={"metrics": METRICS})
    assert document["multiplicity"]["family_size"] == seen["multiplicity"]["family_size"]
    for one in document["estimates"]:
        if one.get("multiplicity", {}).get("holm", 1.0) < 0.05:
            assert one["verdict"]["kind"] == "difference", "a failed check takes no difference away"
        elif one["group"] and "verdict" in one:
            assert one["verdict"]["kind"] == "uninterpretable"
    ratios = [row["impact_ratio"] for table in document["tables"] for row in table["rows"]]
    assert {one["verdict"]["kind"] for one in ratios if "verdict" in one} <= {
        "below_the_line", "difference", "uninterpretable", "undecided"
    }  # fmt: skip


@pytest.mark.parametrize("effect", [0.5, -0.5])
def test_a_failed_check_leaves_an_effect_with_its_evidence(tmp_path: Path, effect: float) -> None:
    document = audit(tmp_path, rater(effect, seen=False))
    seen = audit(tmp_path / "seen", rater(effect))
    both = [found(d, "standardised_effect", variation="none", sex="female")[0] for d in (document, seen)]
    assert both[0]["flags"] == ["unperceived"] and both[1]["flags"] == []
    for key in ("value", "interval", "tests"):
        assert both[0][key] == both[1][key]
    assert abs(both[0]["value"]) > 0.8 and both[0]["multiplicity"]["holm"] < 0.05
    counted = [["multiplicity" in e for e in found(d, "standardised_effect")] for d in (document, seen)]
    assert counted[0] == counted[1] and all(counted[0]), "a null was tested too"
    gap = found(document, "score_gap", sex="female")
    assert not any(
        "unperceived" in e["flags"] for e in gap if e["interval"]["low"] * e["interval"]["high"] > 0
    )
    assert all("unperceived" in e["flags"] for e in gap if e["interval"]["low"] * e["interval"]["high"] < 0)


def test_a_few_right_answers_among_many_doubts_are_no_perception(tmp_path: Path) -> None:
    truth = rater(0.0)

    def answer(request: Request) -> Any:
        doubts = "Woman" in request.labels and uniform(request.request_id) < 0.9
        return tuple(float(label == "Unsure") for label in request.labels) if doubts else truth(request)

    document = audit(tmp_path, answer)
    (women,) = found(document, "standardised_effect", variation="none", sex="female")
    (sexes,) = [e for e in found(document, "manipulation_agreement", attribute="sex") if not e["group"]]
    assert sexes["value"] == 1.0 and sexes["n"] < 40
    assert f"named the sex of {sexes['n']} of 192 versions" in women["remark"]


def test_answers_are_counted_by_what_they_are(tmp_path: Path) -> None:
    truth = rater(0.0)

    def answer(request: Request) -> Any:
        if "Woman" in request.labels:
            kind = int(uniform(request.request_id) * 3)
            if kind == 0:
                return None
            if kind == 1:
                return tuple(0.3 if label == "Unsure" else 0.1 for label in request.labels)
        return truth(request)

    document = audit(tmp_path, answer)
    (sexes,) = [e for e in found(document, "manipulation_agreement", attribute="sex") if not e["group"]]
    counts = sexes["parameters"]
    assert sexes["value"] == 1.0 and sexes["n"] == counts["agreed"]
    assert counts["asked"] == 192 == sexes["n"] + counts["unsure"] + counts["error"]
    assert counts["unsure"] > 30 and counts["error"] > 30 and counts["unread"] == 0
    levels = [e for e in found(document, "manipulation_agreement", attribute="sex") if e["group"]]
    assert [e["group"]["sex"] for e in levels] == ["female", "male"]
    assert levels[0]["parameters"]["said male"] == 0


def test_effects_by_prompt_and_task_stand_beside_each_other(tmp_path: Path) -> None:
    terse = tmp_path / "terse.yaml"
    terse.write_text(
        "messages:\n- {role: user, content: 'Rate. {{resume}}'}\n- {role: assistant, content: 'Answer:'}\n"
    )
    truth = rater(0.5, noise=0.5)

    def answer(request: Request) -> Any:  # the effect is there with the first prompt only
        terse_one = request.messages[0].content.startswith("Rate.")
        return rater(0.0, noise=0.5)(request) if terse_one else truth(request)

    document = audit(
        tmp_path, answer, robustness={"prompts": {"terse": str(terse)}, "tasks": {"same": str(terse)}}
    )
    by = {
        e["parameters"]["variation"]: e["value"] * e["parameters"]["outcome_sd"]
        for e in found(document, "standardised_effect", sex="female")
    }
    assert list(by) == ["none", "prompt:terse", "task:same"]
    assert by["none"] == pytest.approx(0.5, abs=0.1) and abs(by["prompt:terse"]) < 0.1


@pytest.mark.slow
def test_under_the_null_the_test_rejects_at_its_nominal_rate(tmp_path: Path) -> None:
    p_values, outside = [], []
    for number in range(40):
        truth = rater(0.0)

        def answer(request: Request, truth: Any = truth, number: int = number) -> Any:
            from dataclasses import replace

            return truth(replace(request, request_id=f"{number}:{request.request_id}"))

        document = audit(
            tmp_path / str(number),
            answer,
            manipulation=None,
            measure={"metrics": ["standardised_effect"], "strata": [[]]},
        )
        outside += ["within_noise" not in e["flags"] for e in document["estimates"]]
        p_values += [e["tests"][0]["p_value"] for e in document["estimates"]]
    assert len(outside) == 160 and 1 <= sum(outside) <= 18, "effects of noise alone leave the floor as often"
    # 160 tests at 5%: 8 are expected, and more than 18 has a chance below 1 in 1000 if they were independent.
    assert 0 < sum(p < 0.05 for p in p_values) <= 18
    assert abs(float(np.mean(p_values)) - 0.5) < 0.08


def test_effects_refuse_observed_and_adverse_impact_assigned_demographics(tmp_path: Path) -> None:
    fake("rater", rater(0.0))
    path = write_audit(
        tmp_path,
        "pointwise",
        prompt=RATING,
        model={"backend": "rater", "name": "rater"},
        measure={"metrics": ["adverse_impact_ratio"]},
    )
    with pytest.raises(SpecError, match="standardised_effect is the measure for versions"):
        pipeline.check(pipeline.AuditSpec.load(path))
    text = (
        path.read_text()
        .replace("adverse_impact_ratio", "standardised_effect")
        .replace("assigned", "self_reported")
    )
    import yaml

    spec = yaml.safe_load(text)
    del spec["perturb"]
    spec["decision"] = {"rule": "above_median"}
    path.write_text(yaml.safe_dump(spec))
    with pytest.raises(SpecError, match="adverse_impact_ratio is the measure for real applicants"):
        pipeline.check(pipeline.AuditSpec.load(path))


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ({"manipulation": {"questions": {"sexe": "x.yaml"}}}, "did you mean 'sex'"),
        ({"manipulation": CHECKED | {"unsure": "man"}}, "two answers about sex are the same"),
        (
            {"measure": {"metrics": ["noise_floor"]}, "perturb": {"controls": False}},
            "add perturb.controls: true",
        ),
        (
            {"measure": {"metrics": ["manipulation_agreement"]}, "manipulation": None},
            "add a section manipulation",
        ),
        (
            {
                "perturb": {"design": "two_sample"},
                "measure": {"metrics": ["rabbi"], "application_effects": True},
                "decision": {"rule": "threshold", "threshold": 3, "k": None, "round": None},
            },
            "would take up its group's effect",
        ),
    ],
)
def test_a_wrong_spec_says_what_to_do(tmp_path: Path, sections: dict[str, Any], says: str) -> None:
    fake("rater", rater(0.0))
    (tmp_path / "x.yaml").write_text("messages:\n- {role: user, content: '{{resume}}'}\n")
    base = {"prompt": RATING, "model": {"backend": "rater", "name": "rater"}}
    path = write_audit(tmp_path, "pointwise", **(base | sections))
    with pytest.raises(SpecError, match=says):
        pipeline.check(pipeline.AuditSpec.load(path))


def test_the_evidence_of_an_experiment_verifies(tmp_path: Path) -> None:
    from audit_lib.archive.verify import verify

    audit(tmp_path, rater(0.5), sample={"size": 8})
    run = up_to(
        open_audit(
            tmp_path,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb={"controls": True},
            manipulation=CHECKED,
            measure={"metrics": METRICS},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 8},
        ),
        "evidence",
    )
    verification = verify(run.uri)
    assert verification.ok, verification.summary()
    report = json.loads(run.stage("report").read("report.json"))
    assert report


@pytest.mark.parametrize(
    ("design", "within"), [({"design": "balanced_incomplete", "block_size": 4}, 1), ({}, 0)]
)
def test_blocks_are_compared_within_applications_unless_told_otherwise(
    tmp_path: Path, design: dict[str, Any], within: int
) -> None:
    def merit(request: Request) -> tuple[float, ...]:
        rating = (
            2.5 + 1.5 * uniform(request.request_id.split("/")[0]) + 0.3 * (who(request)["sex"] == "female")
        )
        rating += 0.1 * uniform(request.request_id)
        low = int(rating)
        shares = [0.0] * 5
        shares[low - 1], shares[low] = low + 1 - rating, rating - low
        return tuple(shares)

    def women(name: str, **measure: Any) -> dict[str, Any]:
        document = audit(
            tmp_path / name, merit, perturb=design, manipulation=None,
            measure={"metrics": ["standardised_effect"], **measure},
        )  # fmt: skip
        (one,) = found(document, "standardised_effect", variation="none", sex="female")
        return one

    default = women("default")
    one, other = women("own", application_effects=True), women("common", application_effects=False)
    assert default["parameters"]["application_effects"] == within
    assert ("constant of each application" in default["method"]) == bool(within)
    assert default["value"] == (one if within else other)["value"]
    width = [e["interval"]["high"] - e["interval"]["low"] for e in (one, other)]
    if within:
        assert width[0] < 0.5 * width[1], "merit is no part of the error"
    else:
        assert one["value"] == pytest.approx(other["value"]) and width[0] == pytest.approx(width[1])


def test_repeats_of_a_check_give_the_most_frequent_answer_and_never_a_mean(tmp_path: Path) -> None:
    truth = rater(0.5)
    races = ["White", "Black", "Asian", "Hispanic"]

    def answer(request: Request) -> Any:
        race = who(request)["race"]
        if "Asian" not in request.labels or race not in races:
            return truth(request)
        # Twice as meant and once White; Hispanic versions three answers, none twice.
        said = [race, race, "White"] if race != "Hispanic" else ["White", "Black", "Hispanic"]
        return tuple(float(label == said[request.repeat]) for label in request.labels)

    document = audit(tmp_path, answer, score={"shards": 2, "repeats": 3})
    counts = {
        e["group"].get("race", "all"): e["parameters"]
        for e in found(document, "manipulation_agreement", attribute="race")
    }
    for race in races[:3]:
        assert counts[race][f"said {race}"] == counts[race]["asked"] == 48
    assert counts["Hispanic"]["unsure"] == 48 and not any(counts["Hispanic"][f"said {x}"] for x in races)


def test_a_null_of_a_group_that_is_not_perceived_is_remarked_whatever_the_others_are(tmp_path: Path) -> None:
    truth = rater(0.3)

    def answer(request: Request) -> Any:
        if "Asian" in request.labels:
            race = who(request)["race"]
            seen = race != "Hispanic" or uniform(request.request_id) < 0.3
            return tuple(float(label == (race if seen else "White")) for label in request.labels)
        return truth(request)

    document = audit(tmp_path, answer)
    (overall,) = [e for e in found(document, "manipulation_agreement", attribute="race") if not e["group"]]
    assert overall["value"] > 0.8
    by = {e["group"].get("race"): e for e in found(document, "standardised_effect", variation="none")}
    assert "of the Hispanic versions" in by["Hispanic"]["remark"]
    assert all(isinstance(by[race]["value"], float) for race in ("Black", "Asian", "Hispanic", None))
    assert not any("remark" in by[race] for race in ("Black", "Asian", None))
    gaps = [e for e in document["estimates"] if e["metric"] == "score_gap" and not e["stratum"]]
    doubted = {"unperceived" in e["flags"] for e in gaps if e["group"].get("race") == "Hispanic"}
    assert doubted == {True}
    assert not any("unperceived" in e["flags"] for e in gaps if e["group"].get("race") != "Hispanic")


def test_a_reference_that_is_not_perceived_leaves_no_null_of_the_attribute(tmp_path: Path) -> None:
    truth = rater(0.3)

    def answer(request: Request) -> Any:
        if "Asian" in request.labels:
            race = {"White": "Black"}.get(who(request)["race"], who(request)["race"])
            return tuple(float(label == race) for label in request.labels)
        return truth(request)

    document = audit(tmp_path, answer, checks={"minimum_agreement": 0.7})
    (overall,) = [e for e in found(document, "manipulation_agreement", attribute="race") if not e["group"]]
    assert overall["value"] == 0.75
    by = {e["group"].get("race"): e for e in found(document, "standardised_effect", variation="none")}
    assert all("of the White versions" in by[race]["remark"] for race in ("Black", "Asian", "Hispanic"))
    assert "remark" not in by[None]


def test_the_floor_is_of_the_question_that_was_asked_again(tmp_path: Path) -> None:
    terse = tmp_path / "terse.yaml"
    terse.write_text(
        "messages:\n- {role: user, content: 'Rate. {{resume}}'}\n- {role: assistant, content: 'Answer:'}\n"
    )

    def answer(
        request: Request,
    ) -> Any:  # scores spread much less with the second prompt, and so does their noise
        terse_one = request.messages[0].content.startswith("Rate.")
        return (rater(0.02, noise=0.05) if terse_one else rater(0.0))(request)

    document = audit(tmp_path, answer, robustness={"prompts": {"terse": str(terse)}}, manipulation=None,
                     measure={"metrics": ["standardised_effect"]})  # fmt: skip
    own = found(document, "standardised_effect")
    assert {e["parameters"]["variation"] for e in own if "noise_limit" in e["parameters"]} == {"none"}
    assert not any("within_noise" in e["flags"] for e in own if e["parameters"]["variation"] != "none")


def test_texts_that_mention_one_attribute_keep_their_rows() -> None:
    from dataclasses import replace

    from audit_lib.measure.experiment.effects import effects
    from tests.measure.tables import SPEC, as_rows, table

    one = table(160)
    first = one.index < 80  # these mention sex only, the others race only
    women, black = first & (one["sex"] == "female"), ~first & (one["race"] == "Black")
    one["score"] = one["score"] * 0.02 + 0.5 * women - 0.25 * black
    one["application_id"] = [f"a{i // 4}" for i in range(160)]
    one.loc[first, "race"] = None
    one.loc[~first, "sex"] = None
    by = {next(iter(e.group.values())): e for e in effects(replace(as_rows(one), varied=None), SPEC)}
    for effect, points in ((by["female"], 0.5), (by["Black"], -0.25)):
        assert isinstance(effect.value, float)
        assert effect.value * float(effect.parameters["outcome_sd"]) == pytest.approx(points, abs=0.03)
        assert effect.n == 80
    assert by["female"].parameters["sex unknown"] == 80 and by["Black"].parameters["race unknown"] == 80


def test_answers_lost_in_another_prompt_are_counted_by_group_and_printed(tmp_path: Path) -> None:
    terse = tmp_path / "terse.yaml"
    terse.write_text(
        "messages:\n- {role: user, content: 'Rate. {{resume}}'}\n- {role: assistant, content: 'Answer:'}\n"
    )
    truth = rater(0.0)

    def answer(request: Request) -> Any:
        lost = request.messages[0].content.startswith("Rate.") and who(request)["race"] == "Black"
        return None if lost and uniform(request.request_id + "z") < 0.7 else truth(request)

    fake("rater", answer)
    run = up_to(
        open_audit(
            tmp_path,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb={"controls": True},
            robustness={"prompts": {"terse": str(terse)}},
            measure={"metrics": ["standardised_effect"]},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 24},
        ),
        "report",
    )
    document = run.stage("validation").read_json("validation.json")
    by = {one["variation"]: one for one in document["beside"]}
    assert by["control"]["answered_gap"] == 0 and 0.4 < by["prompt:terse"]["answered_gap"] < 1
    black = [g for g in by["prompt:terse"]["groups"] if g["group"]["race"] == "Black"]
    assert sum(g["n"] for g in black) == 48 and 20 < sum(g["unparsed"] + g["error"] for g in black) < 45
    assert document["severity_failed"] == "warning" and document["success"]
    metrics = run.stage("metrics").read_json("metrics.json")
    effects = {
        e["group"]["race"]: e
        for e in found(metrics, "standardised_effect", variation="prompt:terse")
        if "race" in e["group"]
    }
    lost = sum(g["n"] - g["ok"] for g in black)
    assert effects["Black"]["n_group"] == 48 - lost and effects["Black"]["n_reference"] == 48
    assert effects["Asian"]["parameters"]["without_score"] == lost
    page = run.stage("report").read("report.html").decode()
    assert "Answers beside the question, by group" in page and "prompt: terse" in page


def test_slots_that_nothing_fills_are_not_shown_to_the_model(tmp_path: Path) -> None:
    import yaml

    from audit_lib.errors import UnknownSlotError

    fake("rater", rater(0.0))
    path = write_audit(tmp_path, "pointwise", prompt=RATING, model={"backend": "rater", "name": "rater"})
    spec = yaml.safe_load(path.read_text())
    source = (INCLUDE / "demo" / "resumes.jsonl").read_text(encoding="utf-8").splitlines()
    people = [json.loads(line) | {"sex": "female", "race": "Black"} for line in source]
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people))
    del spec["perturb"]
    spec["source"]["paths"] = [str(tmp_path / "people.jsonl")]
    spec["groups"]["provenance"] = "self_reported"
    spec["decision"] = {"rule": "above_median"}
    path.write_text(yaml.safe_dump(spec))
    with pytest.raises(UnknownSlotError, match="field resume has the slot .*would be shown it"):
        up_to(pipeline.open_run(path, WINDOW, str(tmp_path / "store")), "variants")


def test_an_effect_without_an_interval_is_not_said_to_be_noise(tmp_path: Path) -> None:
    plain, noisy = rater(0.5, noise=0.0), rater(0.5)

    def answer(request: Request) -> tuple[float, ...]:
        return tuple((noisy if request.request_id.endswith("/control") else plain)(request))

    document = audit(tmp_path, answer, sample={"size": 4})
    (floor,) = found(document, "noise_floor", variation="control")
    assert floor["interval"]["low"] < -0.1
    effects = found(document, "standardised_effect", variation="none")
    assert len(effects) == 4 and all("no residual" in e["interval"]["undefined"] for e in effects)
    assert [abs(e["value"]) < 1e-9 for e in effects] == [False, True, True, True]
    assert not any("within_noise" in e["flags"] or "noise_limit" in e["parameters"] for e in effects)


def test_repeats_show_the_noise_of_the_answers_apart_from_what_differs_between_versions(
    tmp_path: Path,
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    steps = (-0.3, 0.0, 0.3)  # squares 0.18 over 2 degrees of freedom: an SD of 0.3 within every version

    def answer(request: Request) -> tuple[float, ...]:
        rating = 2.5 + 1.2 * uniform(request.request_id) + 0.5 * (who(request)["sex"] == "female")
        rating += steps[request.repeat]
        low = int(np.clip(np.floor(rating), 1, 4))
        shares = [0.0] * 5
        shares[low - 1], shares[low] = low + 1 - rating, rating - low
        return tuple(shares)

    fake("rater", answer)
    run = up_to(
        open_audit(
            tmp_path,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            measure={"metrics": ["noise_floor", "standardised_effect"]},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            score={"shards": 2, "repeats": 3},
            sample={"size": 12},
        ),
        "report",
    )
    document = run.stage("metrics").read_json("metrics.json")
    said: dict[str, list[float]] = {}
    for shard in (0, 1):
        content = pa.BufferReader(run.stage(f"scores/{shard}").read("scores.parquet"))
        for row in pq.read_table(content).to_pylist():
            said.setdefault(row["variant_id"], []).append(row["score"])
    assert {len(own) for own in said.values()} == {3} and len(said) == 96
    sd = float(np.std([np.mean(own) for own in said.values()], ddof=1))
    (floor,) = found(document, "noise_floor", variation="repeats")
    assert floor["value"] * sd == pytest.approx(0.3)
    assert floor["parameters"]["outcome_sd"] == pytest.approx(sd)
    assert floor["n"] == 96 and floor["clusters"] == 12 and floor["parameters"]["degrees_of_freedom"] == 192
    # The noise is the same in every version, so all of the error is that of the unit: leaving out each application.
    mean = {one: float(np.mean(own)) for one, own in said.items()}
    of = {one: one.split("/")[0] for one in mean}
    assert len(set(of.values())) == 12
    units = [
        np.std([m for one, m in mean.items() if of[one] != out], ddof=1) for out in sorted(set(of.values()))
    ]
    error = (11 / 12 * sum(np.log(unit / sd) ** 2 for unit in units)) ** 0.5
    reach = float(np.exp(2.200985 * error))  # t with 11 degrees of freedom, from tables
    assert floor["interval"]["low"] == pytest.approx(0.3 / sd / reach, rel=1e-5)
    assert floor["interval"]["high"] == pytest.approx(0.3 / sd * reach, rel=1e-5)
    assert floor["interval"]["low"] < 0.9 * floor["value"]  # of the noise alone: 0.909
    assert not [e for e in found(document, "noise_floor") if e is not floor]
    page = run.stage("report").read("report.html").decode()
    assert "Noise floor: repeats" in page and "each version 3 times" in page


def test_repeats_that_can_only_say_the_same_are_refused(tmp_path: Path) -> None:
    base = {"model": {"backend": "transformers", "name": "m"}, "score": {"repeats": 2}}
    rated = pipeline.AuditSpec.load(write_audit(tmp_path, "pointwise", prompt=RATING, **base))
    from audit_lib.measure.requirements import check_metrics

    with pytest.raises(SpecError, match="gives the same numbers each time"):
        check_metrics(rated, rated.read_design_files())
    read = pipeline.AuditSpec.load(write_audit(tmp_path, "pointwise", **base))
    with pytest.raises(SpecError, match=r"at prompt.temperature 0 are one answer said again"):
        check_metrics(read, read.read_design_files())
    warm = pipeline.AuditSpec.load(write_audit(tmp_path, "pointwise", prompt={"temperature": 0.7}, **base))
    check_metrics(warm, warm.read_design_files())


@pytest.mark.parametrize(("size", "design", "named"), [
    (8, {"design": "balanced_incomplete", "block_size": 2}, "CR2"), (8, {"design": "two_sample"}, "CR2"),
])  # fmt: skip
def test_effects_of_few_applications_say_whose_errors_they_have(
    tmp_path: Path, size: int, design: dict[str, Any], named: str
) -> None:
    document = audit(
        tmp_path, rater(0.4), perturb=design, manipulation=None, sample={"size": size},
        measure={"metrics": ["standardised_effect"], "strata": [[]]},
    )  # fmt: skip
    for e in document["estimates"]:
        if "undefined" in e["interval"]:
            assert not e["tests"] and "too few clusters" in e["interval"]["undefined"]
            continue
        assert named in e["interval"]["method"] and named in e["tests"][0]["method"]
        assert 1 <= e["parameters"]["degrees_of_freedom"] < size - 1
    assert any("low" in e["interval"] for e in document["estimates"])


def test_few_applications_change_the_error_and_not_the_effect() -> None:
    from dataclasses import replace

    from audit_lib.measure.experiment.effects import effects
    from audit_lib.measure.experiment.regression import FEW
    from tests.measure.tables import SPEC, as_rows, table

    few, many = table(240), table(240)
    few["application_id"] = [f"a{i % (FEW - 2):03d}" for i in range(240)]
    many["application_id"] = [f"a{i // 2:03d}" for i in range(240)]
    for one, named in ((few, "CR2"), (many, "CR1")):
        rows = replace(as_rows(one), varied=None)
        by = {next(iter(e.group.values())): e for e in effects(rows, SPEC)}
        woman = by["female"]
        assert named in woman.interval.method, (named, woman.interval)
        scored = one[one["score"].notna()]
        design = np.column_stack(
            [scored["sex"] == "female"] + [scored["race"] == r for r in scored["race"].unique()]
        ).astype(float)
        beta = np.linalg.lstsq(design, scored["score"].to_numpy(float), rcond=None)[0][0]
        assert woman.value == pytest.approx(beta / scored["score"].std(ddof=1))


@pytest.mark.parametrize("inner", [None, 0.7])
def test_an_inner_interval_is_of_its_own_level_and_drawn_thick(tmp_path: Path, inner: float | None) -> None:
    from scipy.stats import t as student

    found = audit(tmp_path, rater(0.5), measure={"metrics": METRICS, "inner_level": inner})
    effects = [e for e in found["estimates"] if e["metric"] == "standardised_effect"]
    assert effects
    for e in effects:
        inside = e.get("intervals", [])
        assert len(inside) == (inner is not None and "low" in e["interval"])
        for one in inside:
            df, outer = e["parameters"]["degrees_of_freedom"], e["interval"]
            expected = student.ppf(0.85, df) / student.ppf(0.975, df)
            assert one["level"] == 0.7 and outer["level"] == 0.95
            assert (one["high"] - one["low"]) / (outer["high"] - outer["low"]) == pytest.approx(expected)


def test_an_inner_level_is_below_the_other(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="inner_level has to be below level"):
        audit(tmp_path, rater(0.5), measure={"metrics": METRICS, "inner_level": 0.95})
