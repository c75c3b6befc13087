"""Where tasks run is the operator's: queues, pools and pods by a file of the deployment, shards in parts for tasks."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import SpecError
from tests.dags.conftest import airflow_environment, in_process
from tests.dags.test_parse import HEAVY, PARSE
from tests.inputs import recorded_audit

RULES: dict[str, Any] = {
    "scoring_tasks": 8,
    "rules": [
        {"queue": "audits"},
        {"tasks": ["score"], "pool": "wide", "pool_slots": 2},
        {"tasks": ["score", "measure"], "audits": ["small"], "queue": "memory"},
        {"tasks": ["score"], "backends": ["transformers"], "queue": "gpu"},
        {"tasks": ["measure"], "pod_template_file": "/templates/large.yaml"},
    ],
}
PLACES = """
print(json.dumps({
    "errors": bag.import_errors,
    "docs": {name: dag.doc_md for name, dag in bag.dags.items()},
    "tasks": {
        name: {t.task_id: [t.queue, t.pool, t.pool_slots, str(t.executor_config)] for t in dag.tasks}
        for name, dag in bag.dags.items() if name in ("small", "other")
    },
    "modules": sorted({module.partition(".")[0] for module in sys.modules}),
}))
"""


def parsed(folder: Path, rules: Any) -> dict[str, Any]:
    (specs := folder / "specs").mkdir()
    text = recorded_audit(specs).read_text(encoding="utf-8")
    (specs / "other.yaml").write_text(text.replace("audit: small", "audit: other"), encoding="utf-8")
    path = folder / "placement.yaml"
    path.write_text(yaml.safe_dump(rules), encoding="utf-8")
    environment = airflow_environment(folder / "home", AUDIT_SPECS=str(specs), AUDIT_PLACEMENT=str(path))
    found: dict[str, Any] = json.loads(in_process(PARSE + PLACES, environment))
    return found


def test_the_operator_says_where_tasks_run_and_the_later_rule_holds(tmp_path: Path) -> None:
    found = parsed(tmp_path, RULES)
    assert found["errors"] == {}
    small, other = found["tasks"]["small"], found["tasks"]["other"]
    assert small["plan"] == other["plan"] == ["audits", "default_pool", 1, "{}"]
    assert small["score"][:3] == ["memory", "wide", 2] and other["score"][:3] == ["audits", "wide", 2]
    template = "{'pod_template_file': '/templates/large.yaml'}"
    assert small["measure"] == ["memory", "default_pool", 1, template]
    assert other["measure"] == ["audits", "default_pool", 1, template]
    assert (HEAVY | {"kubernetes"}) & set(found["modules"]) == set()


def test_a_file_with_a_fault_breaks_each_audit_and_says_why(tmp_path: Path) -> None:
    found = parsed(tmp_path, {"rules": [{"task": ["score"], "queue": "gpu"}]})
    assert found["errors"] == {}
    for name in ("small", "other"):
        assert list(found["tasks"][name]) == ["load_spec"]
        assert "AUDIT_PLACEMENT" in found["docs"][name] and "rules.0.task: unknown key" in found["docs"][name]


@pytest.fixture(scope="session")
def placement(audit_tasks: ModuleType) -> ModuleType:
    import placement

    return placement


def test_a_file_that_is_not_there_is_refused(
    placement: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_PLACEMENT", str(tmp_path / "nowhere.yaml"))
    with pytest.raises(SpecError, match=r"nowhere\.yaml is not there"):
        placement.placement.__wrapped__()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"scoring_tasks": 0}, "scoring_tasks: Input should be greater than or equal to 1"),
        ({"scoring_tasks": 257}, "scoring_tasks: Input should be less than or equal to 256"),
        ({"rules": [{"tasks": ["scores"]}]}, "rules.0.tasks.0: Input should be 'preflight'"),
        ({"rules": [{"tasks": []}]}, "rules.0.tasks: List should have at least 1 item"),
        ({"rules": [{"queue": ""}]}, "rules.0.queue: String should have at least 1 character"),
    ],
)
def test_faults_are_named(
    placement: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, fault: str
) -> None:
    path = tmp_path / "placement.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setenv("AUDIT_PLACEMENT", str(path))
    with pytest.raises(SpecError) as refused:
        placement.placement.__wrapped__()
    assert fault in str(refused.value)


def test_many_shards_are_not_as_many_starts_unless_the_operator_says_so(
    audit_tasks: ModuleType, placement: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    import audit_stages

    monkeypatch.delenv("AUDIT_PLACEMENT", raising=False)
    most = placement.placement.__wrapped__().scoring_tasks
    parts = audit_stages.parts_of(list(range(64)), most)
    assert [last - first for first, last in parts] == [3] * 16


@given(numbers=st.sets(st.integers(0, 100_000), min_size=1, max_size=600), most=st.integers(1, 256))
def test_each_shard_is_in_one_part_and_parts_are_about_equal(
    audit_tasks: ModuleType, numbers: set[int], most: int
) -> None:
    import audit_stages

    ordered = sorted(numbers)
    parts = audit_stages.parts_of(ordered, most)
    assert len(parts) == min(len(ordered), most)
    held = [[number for number in ordered if first <= number <= last] for first, last in parts]
    assert [number for part in held for number in part] == ordered
    assert max(map(len, held)) - min(map(len, held)) <= 1
    assert len(json.dumps(parts)) <= audit_tasks.XCOM_LIMIT_BYTES
