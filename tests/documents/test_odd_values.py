"""Drift, comparison, feed and statement: each key is needed, no other is taken, and no value is a traceback."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from audit_lib.documents.comparison import (
    Asked,
    ComparedEstimate,
    ComparedFamily,
    ComparedFindings,
    ComparedMetric,
    ComparedRate,
    ComparedRun,
    Comparison,
    ModelExclusion,
    OutputStatistics,
    PairedContrast,
    PairedDifference,
    PairedFamily,
    UsedTokens,
)
from audit_lib.documents.drift import (
    BeforeAndNow,
    CanaryChanges,
    ChangedMetricNumber,
    ChangedTableNumber,
    Drift,
    DriftSummary,
    FirstRun,
    MetricNumber,
    NotAudited,
    RunIdentity,
    ServedModels,
    TableNumber,
    WindowState,
)
from audit_lib.documents.feed import Feed, FeedItem, FeedSignature, FeedWindow, RunFacts
from audit_lib.documents.metrics import RowCounts
from audit_lib.documents.plan import PolicyVersion
from audit_lib.documents.sign_off import (
    Attestation,
    Predicate,
    SignedPolicy,
    SignedStatement,
    Subject,
    SubjectDigest,
    Superseded,
)
from audit_lib.errors import EvidenceError
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import Typed, decode

DIGEST = "0" * 64
IDENTITY = RunIdentity(window="w", spec_digest=DIGEST, manifest_sha256=DIGEST)
ROWS = RowCounts(total=2, answered=2, unknown_group=0, by_status={"ok": 2}, decided_without_score=0)
INTERVAL = Interval(low=0.1, high=0.9, method="m")
NOBODY = Undefined("nobody")
NOT_AUDITED = NotAudited(states={"missed": 1}, windows=(WindowState(window="v", state="missed"),))
PLACE = {"table": "selection", "family": "sex", "stratum": {"position": "retail"}, "category": "Female"}
CHANGE: dict[str, Any] = {
    "previous": 0.5, "current": NOBODY, "change": NOBODY, "interval": INTERVAL, "exceeds": None,
    "n_previous": 1, "n_current": 2,
}  # fmt: skip
METRIC: dict[str, Any] = {
    "metric": "rabbi", "group": {"sex": "female"}, "reference": {"sex": "male"}, "stratum": {"position": "retail"},
    "parameters": {"k": 2},
}  # fmt: skip

DOCUMENTS: list[Typed] = [
    FirstRun(audit="a", current=IDENTITY, not_audited=NOT_AUDITED, reason="first run"),
    Drift(
        audit="a",
        current=IDENTITY,
        not_audited=NOT_AUDITED,
        previous=IDENTITY,
        design_changed=False,
        changed_sections=("measure",),
        model_changed=False,
        answering=ServedModels(previous=("m",), current=("n",), changed=True),
        canaries=CanaryChanges(
            compared=1,
            text_changed=0,
            status_changed=0,
            served_changed=0,
            largest_probability_change=0.5,
            largest_score_change=NOBODY,
        ),
        software_changed={"numpy": BeforeAndNow(previous="1", current="2")},
        rows=BeforeAndNow(previous=ROWS, current=ROWS),
        method="MOVER",
        summary=DriftSummary(
            compared=2,
            undefined=0,
            with_interval=2,
            exceeding=0,
            expected_by_chance=0.1,
            newly_flagged=0,
            no_longer_flagged=0,
        ),
        comparisons=(
            ChangedTableNumber(
                **PLACE,
                number="impact_ratio",
                **CHANGE,
                four_fifths_flag=BeforeAndNow(previous=True, current=None),
                comparator=BeforeAndNow(previous="Male", current=NOBODY),
            ),
            ChangedMetricNumber(**METRIC, **CHANGE),
        ),
        only_previous=(TableNumber(**PLACE, number="rate"),),
        only_current=(MetricNumber(**METRIC),),
    ),
    Comparison(
        design=DIGEST,
        experiment=True,
        level=0.95,
        headline=("position",),
        runs=(
            ComparedRun(
                label="l", audit="a", title="t", window="w", run="r", spec_digest=DIGEST, manifest_sha256=DIGEST,
                model="m", revision=None, answered_by=("m",), valid_judge=True, task="pointwise", prompt_sha256=None,
                prompts=("p",), tasks=("t",), rows=2, answered=2, repeats=1, software={"numpy": "2"},
                asked=Asked(requests=2, calls=2, prompt_tokens=8, completion_tokens=1, money=0.5),
                used=UsedTokens(answers=2, prompt_tokens=7, completion_tokens=1, money=None),
                statistics=OutputStatistics(
                    by_status={"ok": 2}, label_mass=None, scores=2, mean=0.5, sd=0.1, skewness=NOBODY,
                    excess_kurtosis=0.5, pairs=NOBODY,
                ),
            ),
        ),
        multiplicity=ComparedFamily(
            family_size=1,
            rule="r",
            methods={"p_holm": "Holm"},
            alpha=0.05,
            findings=ComparedFindings(p_value=0, p_holm=0),
        ),
        estimates=(
            ComparedEstimate(
                run=0, metric="rabbi", stratum={"position": "retail"}, group={"sex": "female"},
                reference={"sex": "male"}, value=0.5, interval=INTERVAL, intervals=(INTERVAL,), n=2, n_group=1,
                n_reference=1, clusters=None, flags=("ties",), method="m", parameters={"threshold": 3.0}, p_value=0.5,
                p_holm=0.5,
            ),
        ),
        metrics=(
            ComparedMetric(
                name="rabbi", title="RABBI", parity=0.0, signed=True, unit="index", runs=(0,), shared=True,
                tested=NOBODY,
            ),
        ),
        rates=(
            ComparedRate(
                run=0, kind="selection", family="sex", stratum={}, label="Female", n=None, selected=None, rate=NOBODY,
                ratio=0.5, below=None, comparator=False,
            ),
        ),
        paired=PairedFamily(
            family_size=1,
            method="m",
            rule="r",
            alpha=0.05,
            findings=ComparedFindings(p_value=0, p_holm=0),
            contrasts=(
                PairedContrast(
                    metric="rabbi", stratum={}, group={"sex": "female"}, reference={"sex": "male"},
                    parameters={"k": 1}, scale="difference", unit="round",
                    pairs=(
                        PairedDifference(
                            first=0, second=1, value=NOBODY, interval=NOBODY, units=0, p_value=None,
                            p_holm_models=None, p_holm=None,
                        ),
                    ),
                ),
            ),
        ),
        exclusions=(ModelExclusion(limit=0.5, of="model selection", cite="c", excluded=NOBODY),),
        not_studied="candidates do not compete",
    ),
    Feed(
        title="t",
        items=(
            FeedItem(
                id="i", url="u", title="t", content_text="c", date_published="d", date_modified="d",
                facts=RunFacts(
                    audit="a", window=FeedWindow(start="s", end="e"), spec_digest=DIGEST, outcome="complete",
                    experiment=False, policy=PolicyVersion(name="generic", version="1"), status="not signed",
                    audited=None, no_use_after=None, superseded_by=None, manifest_sha256=DIGEST,
                    signatures=(
                        FeedSignature(
                            auditor="A", organisation="O", signed_at="d", statement_sha256=DIGEST, key_id="k",
                            key_checked=False,
                        ),
                    ),
                ),
            ),
        ),
        home_page_url="h",
        feed_url="f",
    ),
    SignedStatement(
        subject=(Subject(name="evidence/manifest.json", digest=SubjectDigest(sha256=DIGEST)),),
        predicate=Predicate(
            audit="a", window="w", spec_digest=DIGEST, number=1, policy=SignedPolicy(name="generic", version="1"),
            auditor="Ada", organisation="LLP", attestations=(Attestation(id="i", text="t", cite="c"),), remarks="",
            signer="auditor", account=None, signed_at="2026-01-05T00:00:00+00:00",
            supersedes=Superseded(statement_sha256=DIGEST, run=f"a/w/{'0' * 16}/signoff/1", reason="r"),
        ),
    ),
]  # fmt: skip
EACH = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: type(one).__name__)

# Keys of mappings from names to values: any name may be there, and each may be missing.
OPEN = {
    "software",
    "states",
    "stratum",
    "group",
    "reference",
    "parameters",
    "by_status",
    "software_changed",
    "methods",
}
LEFT_OUT = {"four_fifths_flag", "comparator", "home_page_url", "feed_url"}


def objects(value: Any, name: str = "") -> Iterator[dict[str, Any]]:
    """Every object in a document that is not a mapping from names."""
    if isinstance(value, dict):
        if name not in OPEN:
            yield value
        for key, inner in value.items():
            yield from objects(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner, name)


def places(document: Typed) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A fresh copy of the document, with one of its objects."""
    number = len(list(objects(document.as_dict())))
    for place in range(number):
        copy = json.loads(json.dumps(document.as_dict()))
        yield copy, list(objects(copy))[place]


def refused(document: Typed, content: bytes) -> str:
    with pytest.raises(EvidenceError) as caught:
        decode(type(document), content, "file")
    return str(caught.value)


@EACH
def test_what_is_written_is_read_back(document: Typed) -> None:
    found = decode(type(document), json.dumps(document.as_dict()), "file")
    assert found == document and found.as_dict() == document.as_dict()


@EACH
def test_each_key_is_needed_everywhere_and_no_other_is_taken(document: Typed) -> None:
    for copy, inner in places(document):
        inner["more"] = 1
        # A value that may be one of several is named as the nearest of them.
        assert refused(document, json.dumps(copy).encode()).startswith("file: ")
    for copy, inner in places(document):
        for key in [key for key in inner if key not in LEFT_OUT]:
            kept = inner.pop(key)
            assert refused(document, json.dumps(copy).encode()).startswith("file: ")
            inner[key] = kept


@EACH
@pytest.mark.parametrize(
    "value",
    [b"[" * 100_000, b"9" * 5_000, b"-" + b"9" * 400 + b".5", b"1e999", b"NaN", b'"\\ud800"', b'[{"a": 1}]'],
    ids=["deep", "huge", "too large", "infinite", "nan", "surrogate", "objects"],
)
def test_no_value_is_a_traceback(document: Typed, value: bytes) -> None:
    for copy, inner in places(document):
        for key, kept in inner.items():
            inner[key] = "HERE"
            assert refused(document, json.dumps(copy).encode().replace(b'"HERE"', value, 1))
            inner[key] = kept


@pytest.mark.parametrize("limit", [b"9" * 400, b"-" + b"9" * 400, b"1e999", b"true", b'"0.5"'])
def test_a_limit_is_a_finite_number_or_null(limit: bytes) -> None:
    content = json.dumps(INTERVAL.as_dict()).encode().replace(b"0.1", limit, 1)
    with pytest.raises(EvidenceError, match="^file: low: is not a"):
        decode(Interval, content, "file")
    assert decode(Interval, json.dumps(INTERVAL.as_dict() | {"low": None}), "file").low == -math.inf
