"""The model that answered is the one that the spec names, or the audit says which it is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.records_check import check_counts, sampled_counts, sampled_too
from audit_lib.errors import EmptyWindowError, InputError, SpecError
from audit_lib.records import from_parquet
from audit_lib.report.content import gather
from audit_lib.run import SUCCESS, Run
from audit_lib.spec import AuditSpec
from audit_lib.spec.served import is_named, may_serve, without_version
from tests.inputs import recorded_rows, write_jsonl
from tests.report.runs import made
from tests.specs import load

NAME, OTHER = "gpt-3.5-turbo", "gpt-4-0613"


@pytest.mark.parametrize(
    ("served", "name"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("gpt-4-0613", "gpt-4"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet-latest"),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "anthropic.claude-3-5-sonnet"),
        ("mistral-large-2411", "mistral-large-latest"),
        ("gemini-2.5-flash-preview-05-20", "gemini-2.5-flash-preview"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview"),
        ("openai/gpt-4o-2024-08-06", "openai/gpt-4o"),
        ("models/gemini-1.5-pro-002", "gemini-1.5-pro"),
        ("gemini-1.5-pro", "models/gemini-1.5-pro"),
        ("v3.1", "our-tool"),
        ("v3.1", "v3.1"),
    ],
)
def test_a_dated_version_is_the_model(served: str, name: str) -> None:
    assert is_named(served, name)


@pytest.mark.parametrize(
    ("served", "name"),
    [
        ("gpt-4o-mini", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("gpt-4-turbo", "gpt-4"),
        ("gpt-4-turbo-2024-04-09", "gpt-4"),
        ("gpt-4-1106-preview", "gpt-4"),
        ("gpt-4-32k-0613", "gpt-4"),
        ("gpt-4o", "gpt-4"),
        ("gpt-40613", "gpt-4"),
        ("gpt-4", "gpt-4-0613"),
        ("gpt-4o-2024-11-20", "gpt-4o-2024-08-06"),
        ("gpt-3.5-turbo-16k", "gpt-3.5-turbo"),
        ("gpt-4o-2024-13-06", "gpt-4o"),
        ("gpt-4o-1332", "gpt-4o"),
        ("gpt-4o-٠٦١٣", "gpt-4o"),
        ("llama-3-8b", "llama-3"),
        ("v3.2", "v3.1"),
        ("3", "v3.1"),
        ("models/gemini-1.5-flash-002", "gemini-1.5-pro"),
        ("llama-3.1-70b", "llama-3.1"),
        ("", "gpt-4o"),
        ("gpt-4o-2024-08-06\n", "gpt-4o-mini"),
    ],
)
def test_another_is_not(served: str, name: str) -> None:
    assert not is_named(served, name)


def test_a_list_is_the_whole_list() -> None:
    assert may_serve("gpt-4-0613", NAME, ["gpt-4"]) and not may_serve(NAME, NAME, ["gpt-4"])
    assert may_serve("x", NAME, "any") and may_serve("x", "our screening tool", None)
    assert not may_serve("x", "our screening tool", ["gpt-4"])


@pytest.mark.parametrize("served", [[], ["  "], ["gpt-4", "gpt-4"], "all"])
def test_a_list_that_says_nothing_is_refused(served: Any) -> None:
    with pytest.raises(SpecError, match=r"model\.served"):
        load(model={"served": served})


@pytest.mark.parametrize("served", ["all", "Any", "gpt-4o-mini"])
def test_a_text_that_is_no_list_is_told_what_to_write(served: str) -> None:
    with pytest.raises(SpecError, match=r"model\.served: .*write any, or a list") as refused:
        load(model={"served": served})
    assert "literal" not in str(refused.value)


def half(folder: Path, n: int = 64, other: str | None = OTHER, **model: Any) -> dict[str, Any]:
    """A log of whole rounds, every second round answered by another model."""
    rows = [
        row | {"recorded_model": f"{NAME}-0125" if i // 16 % 2 else other}
        for i, row in enumerate(recorded_rows(n))
    ]
    write_jsonl(folder / "log.jsonl", rows)
    return {"source": {"paths": ["log.jsonl"]}, "model": {"name": NAME, **model}}


def test_a_log_of_another_model_is_refused_with_its_counts(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=rf"32 of 64 rows .* '{OTHER}' \(32; first at .*log\.jsonl, line 1\)"
    ):
        made(tmp_path, n=64, **half(tmp_path))


def test_a_log_of_several_models_is_refused_under_a_name_that_names_none(tmp_path: Path) -> None:
    sections = half(tmp_path, name="our screening tool")
    with pytest.raises(InputError) as refused:
        made(tmp_path, n=64, **sections)
    said = str(refused.value)
    assert "the 64 rows were answered by several models" in said and "model.served: any" in said
    assert f"'{NAME}-0125' (32; first at " in said and f"'{OTHER}' (32; first at " in said
    assert not list((tmp_path / "store").rglob("sample/*")), "before anything is computed"


@pytest.mark.parametrize("other", [None, NAME, f"{NAME}-1106", "v7"])
def test_a_name_that_names_none_takes_the_versions_of_one_model(tmp_path: Path, other: str | None) -> None:
    run = made(tmp_path, n=64, **half(tmp_path, other=other, name="our screening tool"))
    assert sum(gather(run).served.values()) == (32 if other is None else 64)


@pytest.mark.parametrize(
    ("served", "model"),
    [
        ("GPT-4o-2024-08-06", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4", "gpt-4"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "anthropic.claude-3-5-sonnet"),
        ("models/gemini-1.5-pro-002", "gemini-1.5-pro"),
        ("gpt-4-1106-preview", "gpt-4-1106-preview"),
        ("3.1.0", None),
    ],
)
def test_a_version_is_taken_off_a_name(served: str, model: str | None) -> None:
    assert without_version(served) == model


def test_a_log_all_of_another_model_is_refused_too(tmp_path: Path) -> None:
    sections = half(tmp_path)
    with pytest.raises(InputError, match="64 of 64 rows"):
        made(tmp_path, n=64, **sections | {"model": {"name": "gpt-4-turbo"}})


def test_what_looks_like_no_model_is_not_printed(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        made(tmp_path, n=64, **half(tmp_path, other="Ana Ruiz"))
    assert "Ruiz" not in str(refused.value) and "not the look of a model's name" in str(refused.value)


def test_a_dated_version_needs_nothing_and_is_printed(tmp_path: Path) -> None:
    run = made(tmp_path, n=64, **half(tmp_path, other=NAME))
    content = gather(run)
    assert content.served == {NAME: 32, f"{NAME}-0125": 32}
    page = run.stage("report").read("report.html").decode()
    assert f"decisions of {NAME} (answered by {NAME}: 32, {NAME}-0125: 32) were examined" in page
    strata = [table["stratum"] for table in run.stage("metrics").read_json("metrics.json")["tables"]]
    assert not any("model" in stratum for stratum in strata), "one model under two dates is no split"


def test_a_list_leaves_the_others_out_and_says_how_many(tmp_path: Path) -> None:
    run = made(tmp_path, n=64, **half(tmp_path, served=[NAME]))
    document = run.stage("sample").read_json("sample.json")
    assert document["rows"] == 32
    assert document["models"] == [
        {"model": f"{NAME}-0125", "rows": 32, "sampled": 32, "audited": True},
        {"model": OTHER, "rows": 32, "sampled": 0, "audited": False},
    ]
    prompts = from_parquet(run.stage("sample").read("prompts.parquet"))
    assert set(prompts["recorded_model"]) == {f"{NAME}-0125"}
    page = run.stage("report").read("report.html").decode()
    assert f"Left out, as model.served does not list them: {OTHER} (32)" in page
    assert run.stage("sample").counts()["rows_of_other_models"] == 32
    assert sample_findings(run) == [], "what is left out is a count of the sample's own artefacts"
    record = Path(run.uri) / "sample" / SUCCESS
    record.write_text(record.read_text().replace('"rows_of_other_models": 32', '"rows_of_other_models": 31'))
    assert sample_findings(run) == ["its counts are not those of its artefacts: rows_of_other_models"]


def sample_findings(run: Run) -> list[str]:
    """What the verification finds wrong with the counts of the sample."""
    found: list[str] = []
    check_counts(run, "sample", sampled_counts(run), lambda _, detail: found.append(detail), sampled_too)
    return found


def test_a_list_that_nothing_is_of_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmptyWindowError, match=r"all 64 decisions .* model\.served does not list"):
        made(tmp_path, n=64, **half(tmp_path, served=["gpt-5"]))


def test_rows_without_a_name_are_not_taken_for_a_listed_model_that_never_answered(tmp_path: Path) -> None:
    sections = half(tmp_path, other=None, served=["gpt-5"])
    with pytest.raises(InputError, match=r"all 32 rows that name a model .*0125.* 32 others name none"):
        made(tmp_path, n=64, **sections)


def test_a_round_is_never_cut_by_the_list(tmp_path: Path) -> None:
    sections = half(tmp_path, served=[NAME])
    rows = [row | {"recorded_model": NAME if i % 3 else OTHER} for i, row in enumerate(recorded_rows(64))]
    write_jsonl(tmp_path / "log.jsonl", rows)
    with pytest.raises(InputError, match="another model decided on others of this candidate's round"):
        made(tmp_path, n=64, **sections)


@pytest.mark.parametrize(
    "model",
    [{"served": "any"}, {"name": "gpt and gpt, as recorded", "served": "any"}, {"served": [NAME, "gpt-4"]}],
)
def test_several_models_split_the_tables(tmp_path: Path, model: dict[str, Any]) -> None:
    run = made(tmp_path, n=128, **half(tmp_path, n=128, **model))
    metrics = run.stage("metrics").read_json("metrics.json")
    by_model = Counter(table["stratum"].get("model") for table in metrics["tables"])
    assert {None, OTHER, f"{NAME}-0125"} <= by_model.keys()
    page = run.stage("report").read("report.html").decode()
    assert f"(answered by {NAME}-0125: 64, {OTHER}: 64) were examined" in page
    document = json.loads(run.stage("report").read("report.json"))
    assert document["served"] == {OTHER: 64, f"{NAME}-0125": 64}


def test_rows_that_name_no_model_stay_and_are_told(tmp_path: Path) -> None:
    run = made(tmp_path, n=64, **half(tmp_path, other=None))
    assert gather(run).served == {f"{NAME}-0125": 32}
    assert (
        f"32 rows of the data name no model, and count as {NAME}"
        in run.stage("report").read("report.html").decode()
    )


def test_an_archived_spec_without_the_key_loads() -> None:
    content = json.loads(load().canonical())
    del content["model"]["served"]
    assert AuditSpec.load_json(json.dumps(content).encode(), Path("spec.json")).model.served is None
