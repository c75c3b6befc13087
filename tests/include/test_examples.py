"""The example audits: valid, their inputs synthetic and marked so, their templates free of the attributes."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import yaml

from audit_lib import pipeline
from audit_lib.compare.output_statistics import asked_of
from audit_lib.perturb.template import read_template, slots
from audit_lib.perturb.template_changes import template_changes
from audit_lib.spec import AuditSpec
from tests.installed import needs_torch
from tests.specs import INCLUDE

EXAMPLES = sorted((INCLUDE / "examples").glob("*.yaml"))
TASKS = {"resume_pairwise", "resume_rating", "resume_experiment",
         "resume_errors_and_places", "teacher_rating", "teacher_experiment",
         "essay_grading", "essay_pairwise", "recorded_decisions",
         "recorded_classes", "recorded_letters", "recorded_lists", "imputed_groups"}  # fmt: skip

WITHOUT_TORCH = {"recorded_decisions", "recorded_classes", "recorded_lists", "imputed_groups"}


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (INCLUDE / "demo" / name).read_text(encoding="utf-8").splitlines()]


def test_every_task_has_its_example() -> None:
    assert {path.stem for path in EXAMPLES} == TASKS


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in WITHOUT_TORCH else needs_torch) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_it_validates_and_makes_its_variants(path: Path, tmp_path: Path) -> None:
    spec = AuditSpec.load(path)
    pipeline.check(spec)
    live = spec.model.backend != "recorded"
    assert spec.audit == path.stem and spec.model.valid_judge != live
    run = pipeline.open_run(path, pipeline.Window.parse("2026-01-05", "2026-01-12"), str(tmp_path))
    pipeline.run_all(run, dry_run=True)
    variants = run.stage("variants").read_table("variants.parquet")
    assert len(variants) and "{{" not in "".join(variants["messages"].dropna()).replace("{{reply}}", "")


@pytest.mark.parametrize("name", ["teacher_dossiers.jsonl", "letters.jsonl", "job_lists.jsonl"])
def test_what_we_wrote_ourselves_says_so(name: str) -> None:
    assert all(row["synthetic"] is True for row in rows(name))
    assert len({row["prompt_id"] for row in rows(name)}) == len(rows(name))


def test_dossiers_show_the_person_only_through_slots() -> None:
    for row in rows("teacher_dossiers.jsonl"):
        shown = f"{row['resume']} {row['transcript']}"
        found = slots(shown)
        assert "name" in found and "title" in found and any(slot.startswith("pronoun.") for slot in found)
        words = set(shown.lower().replace(".", " ").replace(",", " ").split())
        assert not words & {"he", "she", "him", "her", "his", "mr", "ms", "mrs"}


def test_essays_of_eleven_groups_are_what_their_script_makes() -> None:
    path = INCLUDE / "demo" / "build_essays.py"
    found = importlib.util.spec_from_file_location("build_essays", path)
    assert found is not None and found.loader is not None
    build = importlib.util.module_from_spec(found)
    found.loader.exec_module(build)
    content = gzip.decompress((path.parent / "essays_11.jsonl.gz").read_bytes())
    assert content == gzip.decompress(build.content())
    essays = [json.loads(line) for line in content.splitlines()]
    cells = [(row["position"], row["background"], row["mastery"]) for row in essays]
    spec = AuditSpec.load(INCLUDE / "examples" / "essay_grading.yaml")
    expected = product(("part_time_job", "smoking_ban"), spec.groups.attributes["background"], (2, 3, 4, 5))
    assert Counter(cells) == dict.fromkeys(expected, 2), "else a gap of groups would be one of mastery"
    assert all(row["synthetic"] is True and row["qualified"] == (row["mastery"] >= 3.5) for row in essays)
    assert len({row["prompt_id"] for row in essays}) == len({row["essay"] for row in essays}) == len(essays)
    # Longer with more mastery, and of the same length in all groups but for the words that a mark takes out.
    words = {key: [] for key in ("native", "other")}
    for row in essays:
        words["native" if row["background"] == "native" else "other"].append(len(row["essay"].split()))
    assert 0.9 < np.mean(words["other"]) / np.mean(words["native"]) <= 1.02


@pytest.mark.slow  # a whole audit: six metrics of eleven groups in five strata, 17 s
def test_the_essay_task_measures_what_the_paper_does(tmp_path: Path) -> None:
    """Grades by mastery less a point for marks: the gap is found at every quota, in rounds of ten."""
    rows = [
        json.loads(line)
        for line in gzip.decompress((INCLUDE / "demo" / "essays_11.jsonl.gz").read_bytes()).splitlines()
    ]
    rng = np.random.Generator(np.random.PCG64(1))
    for row in rows:
        row["recorded_score"] = row["mastery"] - (row["background"] != "native") + float(rng.normal(0, 0.5))
    (tmp_path / "essays.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    document = yaml.safe_load((INCLUDE / "examples" / "essay_grading.yaml").read_text(encoding="utf-8"))
    document["source"]["paths"] = ["essays.jsonl"]
    document["model"], document["prompt"] = {"backend": "recorded", "name": "made-up grades"}, None
    (tmp_path / "essay.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    run = pipeline.open_run(
        tmp_path / "essay.yaml", pipeline.Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store")
    )
    pipeline.run_all(run)
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    assert {e["metric"] for e in found} == {*document["measure"]["metrics"]}
    of_all = [e for e in found if e["stratum"] == {}]
    assert not [e for e in of_all if isinstance(e["value"], dict) or "undefined" in e["interval"]]
    for name in ("demographic_parity_gap", "equal_opportunity_gap"):
        gaps = [e for e in of_all if e["metric"] == name]
        assert {(e["parameters"]["k"], e["parameters"]["rounds"]) for e in gaps} == {
            (k, 2000) for k in range(1, 6)
        }
        assert len(gaps) == 50
        assert all(e["value"] < 0 and e["clusters"] == e["n"] <= 32 for e in gaps)
    assert all(e["interval"]["high"] < 0 for e in of_all if e["metric"] == "score_gap")
    qualified = [e for e in found if e["stratum"] == {"qualified": "yes"} and e["metric"] == "rabbi"]
    assert len(qualified) == 10 and all(e["n"] == 16 and e["value"] < 0 for e in qualified)


@needs_torch
def test_essays_are_compared_in_pools_of_one_essay_of_each_group(tmp_path: Path) -> None:
    path = INCLUDE / "examples" / "essay_pairwise.yaml"
    run = pipeline.open_run(path, pipeline.Window.parse("2026-01-05", "2026-01-12"), str(tmp_path))
    pipeline.run_all(run, dry_run=True)
    pools: dict[tuple[str, str], list[str]] = {}
    for row in run.stage("sample").read_table("prompts.parquet").to_dict("records"):
        pools.setdefault((row["position"], row["round_id"]), []).append(row["background"])
    assert Counter(position for position, _ in pools) == {"part_time_job": 8, "smoking_ban": 8}
    groups = sorted(run.spec.groups.attributes["background"])
    assert len(groups) == 11 and all(sorted(pool) == groups for pool in pools.values())
    assert asked_of(run).requests == 1760, "16 pools, 55 pairs in each, both orders: as the spec says"


# What each variant takes out of its base and what it puts there: one thing, next to nothing else.
LAW = "Follow the guidance of the U.S. Equal Employment Opportunity Commission:"
VARIANTS = {
    **{
        f"{base}_{name}": (base, took, put)
        for base in ("teacher_screening", "teacher_rating")
        for name, took, put in (
            ("other_place", "{{district}}.", "{{other_district}}."),
            ("resume_only", "The transcript of the interview: {{transcript}}", ""),
        )
    },
    **{f"{base}_eeoc": (base, "", LAW) for base in ("teacher_screening", "resume_screening")},
    "teacher_screening_summary": ("teacher_screening", "", "First sum up in one paragraph"),
    "teacher_rating_no_summary": ("teacher_rating", "Sum up in one paragraph", "Rate"),
}


def shown(name: str) -> list[str]:
    """The words of a template, each turn after its role."""
    template = read_template((INCLUDE / "prompts" / f"{name}.yaml").read_bytes())
    return " ".join(f"{part['role']}: {part['content']}" for part in template).split()


def changed(base: str, variant: str) -> tuple[str, str]:
    """What stands in the base, and what in the variant, between the words that both begin and both end with."""
    old, new = shown(base), shown(variant)
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " ".join(old), " ".join(new)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_task_variant_differs_from_its_base_in_one_thing(variant: str) -> None:
    base, took, put = VARIANTS[variant]
    taken, added = changed(base, variant)
    if variant.endswith("no_summary"):
        # A step goes: its question, the reply, and the word that joins the next question to it.
        assert took in taken and "{{reply}}" in taken and "{{transcript}}" not in taken
        assert (taken.count("{{"), added) == (1, put)
    elif variant.endswith("_summary"):
        # A step comes: its question, the reply, and what asks for the rating after it.
        assert taken == took and added.startswith(put) and added.count("{{") == added.count("{{reply}}") == 1
    elif variant.endswith("eeoc"):
        assert (
            taken == took and added.startswith(put) and added.count(". ") == 1
        )  # "U.S." alone: one sentence
    else:
        assert (taken, added) == (took, put)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_audit_itself_finds_one_change_in_a_task_variant(variant: str) -> None:
    base, taken, put = VARIANTS[variant]
    (one,) = template_changes(
        *(read_template((INCLUDE / "prompts" / f"{x}.yaml").read_bytes()) for x in (base, variant))
    )
    assert bool(one.taken) == bool(taken) and one.taken[:20] == taken[:20] and one.put[:20] == put[:20]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_names_the_variants_of_its_own_template(path: Path) -> None:
    spec = AuditSpec.load(path)
    base = Path(spec.prompt.template).stem if spec.prompt is not None else ""
    tasks = spec.robustness.tasks.values() if spec.robustness is not None else ()
    assert {VARIANTS[Path(task).stem][0] for task in tasks} <= {base}


def test_every_template_of_a_variant_is_compared() -> None:
    endings = ("other_place", "resume_only", "eeoc", "_summary")
    names = {path.stem for path in (INCLUDE / "prompts").glob("*.yaml")}
    assert {name for name in names if name.endswith(endings)} == set(VARIANTS)


def test_the_other_district_differs_in_who_lives_there_alone() -> None:
    pairs = {(str(row["district"]), str(row["other_district"])) for row in rows("teacher_dossiers.jsonl")}
    (pair,) = pairs
    one, other = (words.split() for words in pair)
    gone, come = set(one) - set(other), set(other) - set(one)
    assert (gone, come) == ({"diverse"}, {"mostly", "White"})
    # Nothing else of a dossier names the district, so a task variant changes it everywhere.
    assert not [row for row in rows("teacher_dossiers.jsonl") if "district" in str(row["requirements"])]
