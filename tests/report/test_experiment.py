"""The report's section on experiments: effects with their doubts, and adverse impact with both intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.score.requests import Request
from tests.measure.test_experiments import CHECKED, METRICS, RATING, rater, uniform
from tests.report.browser import CHROMIUM, dump
from tests.report.runs import made
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake


def page_of(folder: Path, seen: bool, **sections: object) -> str:
    fake("rater", rater(0.5, seen=seen))
    run = up_to(
        open_audit(
            folder,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb={"controls": True},
            manipulation=CHECKED,
            measure={"metrics": METRICS},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 12},
            **sections,
        ),
        "report",
    )
    return run.stage("report").read("report.html").decode()


def test_effects_noise_and_perception_are_printed_with_their_figure(tmp_path: Path) -> None:
    page = page_of(tmp_path, True)
    section = page[page.index('id="experiment"') :]
    section = section[: section.index("</section>")]
    for words in (
        "Standardised effects",
        "Noise floor",
        "Manipulation check: sex",
        "said: female",
        "as asked",
    ):
        assert words in section
    assert '<svg class="chart"' in section and "uninterpretable" not in section.replace(
        "as uninterpretable", ""
    )
    differences = page[page.index('id="differences"') :]
    assert "Score gap" in differences and "Noise floor" not in differences


def test_an_effect_that_cannot_be_read_says_so_and_why(tmp_path: Path) -> None:
    page = page_of(tmp_path, False)
    assert "uninterpretable: the model does not tell the groups apart when asked" in page
    assert "it named the sex that was meant in 50.0% of the versions" in page
    assert "of the versions in which it named one (96 of 96), and checks.minimum_agreement" in page
    assert "below the floor" in page


def test_adverse_impact_by_threshold_of_real_people(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        groups={"provenance": "self_reported"},
        measure={"metrics": ["impact_ratio", "adverse_impact_ratio"], "thresholds": [-0.5, 0.5]},
    )
    page = run.stage("report").read("report.html").decode()
    assert "Adverse impact by threshold" in page and "rated 0.5 or more" in page and "70% interval" in page
    assert "Ratings at thresholds" in page and "Correspondence experiment" not in page
    assert "weighted by the probability" not in page  # recorded scores are what they are
    assert page.count('class="bar inner"') >= 10
    document = json.loads(run.stage("metrics").read("metrics.json"))
    found = [e for e in document["estimates"] if e["metric"] == "adverse_impact_ratio" and not e["stratum"]]
    assert len(found) == 10 and all(e["intervals"][0]["level"] == pytest.approx(0.7) for e in found)


def test_gaps_of_groups_that_are_not_perceived_are_marked_and_explained(tmp_path: Path) -> None:
    said = "Numbers marked as not perceived"
    seen = page_of(tmp_path / "seen", True)
    assert said not in seen and "not perceived</" not in seen
    page = page_of(tmp_path / "unseen", False)
    differences = page[page.index('id="differences"') :]
    differences = differences[: differences.index("</section>")]
    assert differences.index(said) < differences.index("Score gap")
    row = differences[differences.rindex("<tr", 0, differences.index("not perceived<")) :]
    marked = row[: row.index("</tr>")]
    assert "Black against White" in marked and "\N{MINUS SIGN}" in marked, (
        "a gap that may be none, of a race not seen"
    )
    women = differences[
        differences.index('<tr role="row"><th scope="row" role="rowheader">female against male') :
    ]
    assert "not perceived" not in women[: women.index("</tr>")], (
        "a difference is there, whatever the model says"
    )
    effects = page[page.index('id="experiment"') :]
    women = effects[effects.index('<tr role="row"><th scope="row" role="rowheader">female against male') :]
    women = women[: women.index("</tr>")]
    assert "not named as meant" in women and "uninterpretable" not in women and "to +" in women


def test_answers_that_failed_stand_apart_from_those_that_could_not_be_read(tmp_path: Path) -> None:
    truth = rater(0.5)

    def answer(request: Request) -> object:
        return None if "Woman" in request.labels else truth(request)

    fake("rater", answer)
    run = up_to(
        open_audit(
            tmp_path,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            manipulation=CHECKED,
            measure={"metrics": ["manipulation_agreement"]},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 4},
        ),
        "report",
    )
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    (sexes,) = [
        e for e in found if e["parameters"].get("attribute") == "sex" and not e["group"] and not e["stratum"]
    ]
    assert sexes["parameters"]["error"] == sexes["parameters"]["asked"] == 32
    assert sexes["parameters"]["unread"] == 0
    page = run.stage("report").read("report.html").decode()
    table = page[page.index("Manipulation check: sex") :]
    assert "unread" in table and ">error<" in table[: table.index("</table>")]


def test_thresholds_of_ratings_read_from_labels_say_what_they_are_met_by(tmp_path: Path) -> None:
    import yaml

    from audit_lib import pipeline
    from tests.score.audits import WINDOW, write_audit

    def answer(request: Request) -> tuple[float, ...]:
        up = uniform(request.request_id) / 2
        return (0.0, 0.1, 0.5 - up, 0.4, up)

    fake("hashing", answer)
    path = write_audit(tmp_path, "pointwise", prompt=RATING, sample={"size": 40})
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    people = [
        {
            "prompt_id": f"p{i:02d}", "application_id": f"a{i:02d}", "position": "cook", "job_title": "Cook",
            "job_description": "Cooks.", "resume": f"Cooked for {i} years.", "sex": ("female", "male")[i % 2],
            "race": ("White", "Black", "Asian", "Hispanic")[i // 2 % 4],
        }
        for i in range(40)
    ]  # fmt: skip
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people))
    del spec["perturb"]
    spec["source"]["paths"] = [str(tmp_path / "people.jsonl")]
    spec["groups"]["provenance"] = "self_reported"
    spec["decision"] = {"rule": "above_median"}
    spec["measure"] = {"metrics": ["adverse_impact_ratio"], "thresholds": [3]}
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    page = up_to(pipeline.open_run(path, WINDOW, str(tmp_path / "store")), "report").stage("report")
    assert "weighted by the probability" in page.read("report.html").decode()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_on_a_desk_no_column_of_the_effects_is_cut_off(tmp_path: Path) -> None:
    probe = (
        "<script>document.body.insertAdjacentHTML('beforeend', '<p id=out>' + [...document.querySelectorAll("
        "'#experiment > .table[aria-label^=Standardised]')].map(t => t.scrollWidth + '/' + t.clientWidth).join(' ') "
        "+ '</p>')</script></body>"
    )
    page = tmp_path / "page.html"
    page.write_text(page_of(tmp_path, True).replace("</body>", probe), encoding="utf-8")
    sizes = dump(page, width=1100).split('<p id="out">')[1].split("</p>")[0].split()
    assert len(sizes) == 2
    assert all(int(inside) <= int(shown) for inside, shown in (size.split("/") for size in sizes))
