"""The DAG files: they load, cheaply, always the same, and one broken spec stops no other audit."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

from audit_lib.backends import BACKENDS
from tests.dags.conftest import airflow_environment, in_process
from tests.inputs import recorded_audit
from tests.specs import INCLUDE

HEAVY = {
    "boto3",
    "great_expectations",
    "matplotlib",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "statsmodels",
    "torch",
    "transformers",
    "weasyprint",
}
PARSE = """
import json, sys
from pathlib import Path
from airflow.dag_processing.dagbag import BundleDagBag
from airflow import settings
folder = Path(settings.DAGS_FOLDER)
bag = BundleDagBag(str(folder), bundle_path=folder, bundle_name="dags-folder")
"""
SUMMARY = """
print(json.dumps({
    "errors": bag.import_errors,
    "dags": {name: sorted(dag.task_ids) for name, dag in bag.dags.items()},
    "pools": {name: dag.task_dict["score"].pool for name, dag in bag.dags.items() if "score" in dag.task_dict},
    "docs": {name: dag.doc_md for name, dag in bag.dags.items()},
    "params": {name: sorted(dag.params) for name, dag in bag.dags.items()},
    "modules": sorted({module.partition(".")[0] for module in sys.modules}),
}))
"""
SERIALISE = """
from airflow.serialization.serialized_objects import DagSerialization
# Airflow sorts the keys too before it decides whether a DAG has a new version.
print(json.dumps({name: DagSerialization.to_dict(dag) for name, dag in bag.dags.items()}, sort_keys=True))
"""


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> dict:
    home = tmp_path_factory.mktemp("airflow")
    return json.loads(in_process(PARSE + SUMMARY, airflow_environment(home)))


def test_every_spec_that_ships_has_its_dag(parsed: dict) -> None:
    audits = {path.stem for path in (INCLUDE / "audits").glob("*.yaml")}
    assert audits
    assert parsed["errors"] == {}
    assert set(parsed["dags"]) == audits | {
        "ask_for_sign_off",
        "drift_monitor",
        "extend_retention",
        "gate",
        "publish_site",
        "sign_off",
        "tell_events",
        "verify_evidence",
        "watch_published",
    }


def test_a_dag_has_the_stages(parsed: dict) -> None:
    assert set(parsed["dags"]["resume_screening_demo"]) == {
        "preflight",
        "plan",
        "sample",
        "perturb",
        "shards",
        "score",
        "validate",
        "measure",
        "report",
        "archive",
        "completed",
        "catch_up",
    }


def test_a_local_model_is_scored_in_the_gpu_pool(parsed: dict) -> None:
    assert parsed["pools"]["resume_screening_demo"] == "gpu"
    pools = json.loads((INCLUDE.parent / "dags" / "pools.json").read_text(encoding="utf-8"))
    assert pools["gpu"]["slots"] == 1
    assert "llm_api" in pools
    # Not those of packages, nor those that other tests made.
    shipped = {name: one.pool for name, one in BACKENDS if one.__module__.startswith("audit_lib.")}
    source = (INCLUDE.parent / "dags" / "audit_stages.py").read_text(encoding="utf-8")
    (named,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "POOLS"
    )
    assert named == shipped and {*shipped.values()} == {*pools, "default_pool"}


def test_the_page_says_what_is_audited(parsed: dict) -> None:
    page = parsed["docs"]["resume_screening_demo"]
    assert "smollm2-135m-instruct" in page
    assert "reference: White" in page


def test_the_form_of_a_manual_run(parsed: dict) -> None:
    assert parsed["params"]["resume_screening_demo"] == [
        "dry_run",
        "names_per_cell",
        "sample_size",
        "window_end",
        "window_start",
    ]


def test_dag_files_import_nothing_heavy(parsed: dict) -> None:
    assert HEAVY & set(parsed["modules"]) == set()


@pytest.mark.slow
def test_a_dag_is_serialised_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    texts = {
        in_process(PARSE + SERIALISE, airflow_environment(tmp_path / "home", PYTHONHASHSEED=seed))
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1
    assert "resume_screening_demo" in json.loads(texts.pop())


def test_a_broken_spec_fails_alone(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    recorded_audit(specs)
    good = (specs / "small.yaml").read_text(encoding="utf-8")
    (specs / "other.yaml").write_text(
        good.replace("audit: small", "audit: other\ndecison: 1"), encoding="utf-8"
    )
    (specs / "twin.yaml").write_text(good, encoding="utf-8")
    os.mkfifo(specs / "pipe.yaml")
    (specs / "asleep.yaml").write_text(good.replace("audit: small", "audit: asleep"), encoding="utf-8")
    environment = airflow_environment(
        tmp_path / "home", AUDIT_SPECS=str(specs), AUDIT_CACHE=str(tmp_path / "cache")
    )
    unanswered = """
import threading
from audit_lib.spec import texts_of_files
read = texts_of_files._read
texts_of_files._read = lambda path: threading.Event().wait() if path.name == "asleep.yaml" else read(path)
"""
    summary = json.loads(in_process(unanswered + PARSE + SUMMARY, environment))
    ((where, said),) = summary["errors"].items()
    assert where.endswith("spec_faults.py")  # no audit is in that file, so none is stopped by the error
    assert "4 specs are not loaded" in said
    assert f"{specs}/asleep.yaml: cannot be read: its file system did not answer" in said
    assert f"{specs}/other.yaml: decison: unknown key" in said
    assert f"{specs}/pipe.yaml: is not a file" in said
    assert "is the name in small.yaml too" in said
    assert summary["dags"]["asleep"] == summary["dags"]["pipe"] == ["load_spec"]
    assert "plan" in summary["dags"]["small"]
    assert summary["dags"]["other"] == ["load_spec"]
    assert "did you mean 'decision'?" in summary["docs"]["other"]
    assert summary["dags"]["small.twin"] == ["load_spec"]
    assert "is the name in small.yaml too" in summary["docs"]["small.twin"]
    assert "names_per_cell" not in summary["params"]["small"]


def test_a_spec_whose_dag_cannot_be_built_fails_alone(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    recorded_audit(specs)
    good = (specs / "small.yaml").read_text(encoding="utf-8")
    (specs / "other.yml").write_text(good.replace("audit: small", "audit: other"), encoding="utf-8")
    (specs / "third.yml").write_text(good.replace("audit: small", "audit: drift_monitor"), encoding="utf-8")
    (specs / "fourth.yaml").write_bytes(b"audit: fourth\ntitle: \xff\n")
    # Airflow refuses the last operator of one DAG, when the DAG is already half built.
    refusing = """
import airflow.providers.standard.operators.empty as module
from airflow.sdk.definitions._internal.contextmanager import DagContext
class Refusing(module.EmptyOperator):
    def __init__(self, **kwargs):
        if DagContext.get_current().dag_id == "other":
            raise RuntimeError("refused by Airflow")
        super().__init__(**kwargs)
module.EmptyOperator = Refusing
"""
    environment = airflow_environment(tmp_path / "home", AUDIT_SPECS=str(specs))
    summary = json.loads(in_process(refusing + PARSE + SUMMARY, environment))
    assert [Path(where).name for where in summary["errors"]] == ["spec_faults.py"]
    assert "plan" in summary["dags"]["small"]
    assert summary["dags"]["other"] == ["load_spec"]
    assert "refused by Airflow" in summary["docs"]["other"]
    assert summary["dags"]["drift_monitor"] == ["monitor"]
    assert summary["dags"]["drift_monitor.third"] == ["load_spec"]
    assert "not UTF-8" in summary["docs"]["fourth"]


def test_specs_that_there_is_no_time_for_are_named_and_the_others_stay(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    recorded_audit(specs)
    good = (specs / "small.yaml").read_text(encoding="utf-8")
    for name in ("second", "third", "fourth"):
        (specs / f"{name}.yaml").write_text(good.replace("audit: small", f"audit: {name}"), encoding="utf-8")
    # Time for loading three files, in their order, and for one of their DAGs.
    hurried = """
import sys
from airflow import settings
sys.path.insert(0, settings.DAGS_FOLDER)
import audit_tasks
import itertools
answers = itertools.chain([True, True, True, False, True, False, False], itertools.repeat(True))
audit_tasks.time_is_left = lambda until: next(answers)
"""
    environment = airflow_environment(tmp_path / "home", AUDIT_SPECS=str(specs))
    summary = json.loads(in_process(hurried + PARSE + SUMMARY, environment))
    assert summary["errors"] == {}
    assert "plan" in summary["dags"]["fourth"]
    assert summary["dags"]["left_out_audits"] == ["name_left_out"]
    assert not {"second", "small", "third"} & set(summary["dags"])
    for name in ("second", "small", "third"):
        assert f"`{name}.yaml`" in summary["docs"]["left_out_audits"]
