"""A document is read strictly: what is not known, missing or of another type is refused by its key."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.documents.rate_tables import HiddenEstimate, HiddenRow, PrintedRow, RateRow, RateTable
from audit_lib.errors import EvidenceError
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.typed_json import decode

ESTIMATE = Estimate(
    metric="rabbi",
    value=0.25,
    interval=Interval(low=-math.inf, high=0.5, method="profile"),
    n=40,
    method="counts",
    group={"sex": "female"},
    tests=(TestResult(name="t_test", p_value=Undefined("no variance"), n=40, method="t"),),
)


def changed(**keys: Any) -> dict[str, Any]:
    """JSON of the estimate with other keys; None as a value takes the key away."""
    document = ESTIMATE.as_dict() | keys
    return {key: value for key, value in document.items() if value is not ...}


def test_what_is_written_is_read_back() -> None:
    written = pretty_json(ESTIMATE.as_dict())
    assert json.loads(written)["interval"]["low"] is None
    found = decode(Estimate, written, "metrics.json")
    assert found == ESTIMATE
    assert pretty_json(found.as_dict()) == written


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (changed(sign=1), "sign: is not a key of this version"),
        (changed(group=...), "group: is missing"),
        (changed(n="40"), "n: input should be a valid integer"),
        (changed(n=None), "n: input should be a valid integer"),
        (
            changed(interval={"low": 0.0, "high": 1.0, "level": 0.95, "method": "m"}),
            "interval.kind: is missing",
        ),
        (
            changed(interval=Interval(low=0, high=1, method="m").as_dict() | {"low": 2}),
            "interval: not an interval",
        ),
        (changed(scale=None), "scale: input should be 'identity' or 'logit'"),
        (changed(value={"undefined": 3}), "value.undefined: input should be a valid string"),
        (changed(tests=[{"name": "t"}]), "tests.0.p_value: is missing; tests.0.n: is missing"),
    ],
)
def test_a_fault_is_named_with_its_key(document: dict[str, Any], words: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        decode(Estimate, json.dumps(document), "STORE/metrics.json")
    assert str(caught.value).startswith("STORE/metrics.json: ")
    assert words in str(caught.value)


def test_a_number_that_is_none_is_refused() -> None:
    for content in (b'{"a": NaN', b"[1,", json.dumps(changed(value=math.nan)).encode()):
        with pytest.raises(EvidenceError, match="metrics.json"):
            decode(Estimate, content, "metrics.json")


def test_a_row_is_whole_or_hidden() -> None:
    hidden = Undefined("hidden")
    nothing = HiddenEstimate(value=hidden, interval=hidden)
    row: PrintedRow = HiddenRow(category={"sex": "Male"}, label="Male", rate=nothing, impact_ratio=nothing)
    table: RateTable[PrintedRow] = RateTable(
        kind="selection", family="sex", stratum={}, total=3, unknown=0, comparator=hidden, rows=(row,)
    )
    written = json.dumps(table.as_dict())
    assert decode(RateTable[PrintedRow], written, "report.json") == table
    with pytest.raises(EvidenceError, match="rows.0.n"):
        decode(RateTable[RateRow], written, "metrics.json")
    peeped = json.dumps(table.as_dict() | {"rows": [row.as_dict() | {"n": 3}]})
    with pytest.raises(EvidenceError, match="rows.0"):
        decode(RateTable[PrintedRow], peeped, "report.json")
