"""Every key of ``metrics.json`` has a reader, no two documents share a schema name, and schemas say what types say."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import sys
from collections import defaultdict
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit_lib.canonical import canonical_json, pretty_json
from audit_lib.documents.metrics import Metrics
from audit_lib.documents.reproduction import ReproducedRun, Reproduction
from audit_lib.documents.schema import DOCUMENTS, schema_of
from audit_lib.errors import EvidenceError
from audit_lib.results import Undefined
from audit_lib.score.ledger import Ledger
from audit_lib.score.requests import Response
from audit_lib.site.catalogue import Catalogue
from audit_lib.site.withdrawn import withdrawn_files
from audit_lib.store import open_store
from audit_lib.typed_json import Typed, decode
from audit_lib.validity import study_of, validity_files
from audit_lib.window import Window
from audit_lib.windows.missed_windows import note_missed
from audit_lib.windows.window_states import OwedWindow
from tests.report.runs import made
from tests.validity.panels import panel as scored_panel

PACKAGE = Path(__file__).parent.parent.parent / "audit_lib"
DOCUMENTED = PACKAGE / "documents"
NOT_READ = {"schema", "rule"}
"""Keys for people: the name of the schema is checked where it is read, and sentences are copied whole."""


def parsed(*places: Path) -> list[ast.Module]:
    files = [
        path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in files]


def attributes(trees: list[ast.Module]) -> set[str]:
    """Names that are read as an attribute of something."""
    return {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def keys(schema: Any) -> set[str]:
    """Keys of all objects of a schema."""
    if isinstance(schema, list):
        return {key for one in schema for key in keys(one)}
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own | {key for one in schema.values() for key in keys(one)}


def test_every_key_of_the_metrics_has_a_reader() -> None:
    readers = attributes(parsed(*(PACKAGE / part for part in ("report", "compare", "monitor", "site"))))
    assert keys(schema_of("metrics.json")) - readers - NOT_READ == UNREAD
    assert "no_such_key" not in readers, "the test can fail"


UNREAD = {
    "adjusted", "adjusted_gap", "alternative", "below_threshold", "clustered_by",
    "cochran_q", "counts", "decided_without_score", "error", "flipped_share", "inconsistent_share", "methods",
    "mixed", "p_value_after", "pooled_gap", "rate_bounds", "ratio_after", "regular_share",
    "significant", "tie_share", "undefined", "unparsed_share",
}  # fmt: skip
"""Read by people alone, in the evidence and in report.json: numbers behind those that are printed.

`undefined` is read as `Undefined.reason`, `error` as one of `Missingness.statuses`. A new key needs a reader.
"""


def schema_names() -> dict[str, list[str]]:
    """Schema name -> the classes of documents that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(DOCUMENTED.glob("[a-z]*.py")):
        module = importlib.import_module(
            f"audit_lib.documents.{path.stem}" if path.stem != "__init__" else "audit_lib.documents"
        )
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, Typed) and kind.__module__ == module.__name__:
                own = (
                    {one.name: one.default for one in fields(kind)}
                    if hasattr(kind, "__dataclass_fields__")
                    else {}
                )
                if isinstance(own.get("schema"), str):
                    found[str(own["schema"])].append(name)
    return found


def test_no_two_documents_share_a_schema_name() -> None:
    shared = {name: kinds for name, kinds in schema_names().items() if len(kinds) > 1}
    # One document in two forms: with or without what a policy hides, or an earlier run to compare with.
    assert shared == {
        "audit-metrics/1": ["Metrics", "SuppressedMetrics"],
        "audit-drift/1": ["FirstRun", "Drift"],
    }
    written: dict[str, set[str]] = defaultdict(set)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
                value = node.value.value
                if isinstance(value, str) and re.fullmatch(r"audit-[a-z-]+/\d+", value):
                    written[value.split("/")[0]].add(str(path.relative_to(PACKAGE)))
    assert len(written) > 3
    assert not {name: places for name, places in written.items() if len(places) > 1}


WEEK = Window.parse("2026-01-05", "2026-01-12")


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every document of a small audit, and of a study of several models."""
    run = made(tmp_path_factory.mktemp("documents"))
    stages = {"plan.json": "plan", "sample.json": "sample", "design.json": "variants",
              "validation.json": "validation", "metrics.json": "metrics", "report.json": "report"}  # fmt: skip
    store = open_store(str(tmp_path_factory.mktemp("store")))
    ledger = Ledger(store, "ledger/x", "0-of-1", {("r", 0): "address"})
    ledger.add(Response(request_id="r", text='said ,"sha256":', model="m", method="generated", score=1.5))
    ledger.flush()
    note_missed(store, "a", [OwedWindow(WEEK, "missed")], datetime(2026, 2, 1, tzinfo=UTC))
    again = Ledger(store, "ledger/x", "0-of-1", {("r", 0): "address"})
    assert again.damaged == 0 and again.get(("r", 0)) is not None
    assert note_missed(store, "a", [OwedWindow(WEEK, "missed")], datetime(2026, 3, 1, tzinfo=UTC)) == []
    gone = withdrawn_files(["a/latest/report.json"], Catalogue(audits={}, left_out=()))
    panel = scored_panel()
    return {
        **{file: run.stage(stage).read(file) for file, stage in stages.items()},
        "a line of the ledger": store.get("ledger/x/0-of-1/000000.jsonl"),
        "missed windows": store.get("a/missed/20260201T000000Z.json"),
        "withdrawn report.json": gone["a/latest/report.json"],
        "validity.json": validity_files(study_of(panel), panel)["validity.json"],
        "reproduction.json": reproduction(),
    }


def reproduction() -> bytes:
    """A record of a run that has no model to ask; `tests/reproduce` has the others."""
    run = ReproducedRun(
        audit="a", window=WEEK.label, spec_digest="0" * 64, outcome="complete", manifest_sha256="1" * 64
    )
    record = Reproduction(
        run=run, made_at="2026-02-01T00:00:00.000+00:00", outcome="nothing_to_ask", reason="recorded",
        model={"backend": "recorded", "options": {}}, environment_sha256="2" * 64, overrides={}, conditions=(),
        asked=None, floor=None, scores=None, sampling=None, subset=None, largest=(), experiments=(), causes=(),
        metrics=Undefined("no model was asked"),
    )  # fmt: skip
    return pretty_json(record.as_dict())


@pytest.mark.parametrize("file", list(DOCUMENTS))
def test_a_schema_and_its_type_accept_what_is_written(documents: dict[str, bytes], file: str) -> None:
    Draft202012Validator.check_schema(schema_of(file))
    assert list(Draft202012Validator(schema_of(file)).iter_errors(json.loads(documents[file]))) == []
    read = decode(DOCUMENTS[file], documents[file], file)
    written = canonical_json(read.as_dict()) + b"\n" if "ledger" in file else pretty_json(read.as_dict())
    assert json.loads(written) == json.loads(documents[file])
    assert written == documents[file], "what is read and written again has the same bytes"


def faults(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Whole documents with one fault each: a key too much, a key too little, in the first of each list."""
    if isinstance(value, list):
        return faults(value[0], (*path, 0)) if value else []
    if not isinstance(value, dict):
        return []
    own = [(path, {**value, "no_such_key": 1})]
    return own + [fault for key, one in value.items() for fault in faults(one, (*path, key))]


@pytest.mark.parametrize("file", ["metrics.json", "report.json", "plan.json", "validation.json"])
def test_a_schema_and_its_type_refuse_the_same_faults(documents: dict[str, bytes], file: str) -> None:
    document = json.loads(documents[file])
    validator, agreed = Draft202012Validator(schema_of(file)), 0
    for path, broken in faults(document)[:40]:
        copy = json.loads(documents[file])
        place: Any = copy
        for key in path[:-1]:
            place = place[key]
        if path:
            place[path[-1]] = broken
        else:
            copy = broken
        refused = not validator.is_valid(copy)
        if not refused:
            decode(DOCUMENTS[file], json.dumps(copy), file)
            continue
        with pytest.raises(EvidenceError, match="no_such_key|valid"):
            decode(DOCUMENTS[file], json.dumps(copy), file)
        agreed += 1
    assert agreed > 3


@pytest.mark.parametrize("key", [one.name for one in fields(Metrics) if not one.metadata])
def test_a_document_without_a_key_is_refused_by_both(documents: dict[str, bytes], key: str) -> None:
    document = {name: value for name, value in json.loads(documents["metrics.json"]).items() if name != key}
    assert not Draft202012Validator(schema_of("metrics.json")).is_valid(document)
    with pytest.raises(EvidenceError, match=f"{key}: is missing"):
        decode(Metrics, json.dumps(document), "metrics.json")


def counter() -> Any:
    path = PACKAGE.parent / "tools" / "count_string_keys.py"
    spec = importlib.util.spec_from_file_location("count_string_keys", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["count_string_keys"] = module
    spec.loader.exec_module(module)
    return module


def test_keys_in_quotes_are_counted() -> None:
    source = 'def f(x: Literal["a"]) -> None:\n    x["k"]; x.get("k", 1); x["w"] = 1; x[k]; x.get(k)\n'
    assert [key for _, key in counter().string_keys(source)] == ["k", "k"]


def test_what_reads_documents_has_few_keys_in_quotes() -> None:
    found = counter().counts()
    assert set(found) == {"report", "compare", "monitor", "site", "oscal.py"}
    assert sum(found.values()) < 100
