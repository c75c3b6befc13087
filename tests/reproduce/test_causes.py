"""Each cause planted by itself in a model on this machine that answers by a formula, and found."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from audit_lib.archive.manifest import archive
from audit_lib.bag import export_run
from audit_lib.canonical import sha256
from audit_lib.cli.main import main
from audit_lib.documents.evidence import StageRecord, WrittenFile, record_bytes
from audit_lib.documents.reproduction import Reproduction
from audit_lib.measure.stage import measure
from audit_lib.options import Options
from audit_lib.records import SCORE_SCHEMA, from_parquet, to_parquet
from audit_lib.report import report
from audit_lib.reproduce import sealed_bundle
from audit_lib.run import SUCCESS, Run
from audit_lib.score.local.weights import files_digest
from audit_lib.score.packs import Pack
from audit_lib.score.request_rows import records
from audit_lib.score.requests import Request, Response
from audit_lib.signoff import generate_key
from audit_lib.typed_json import decode
from audit_lib.validate import validate
from tests.reproduce.conftest import ROWS, content, run_audit
from tests.score.fakes import Fake, fake

ROUNDING = 1e-7


@dataclass
class Machine:
    """What of the machine and its model a test may change after the run was sealed."""

    weights: str = "w1"
    template: str = "t1"
    torch: str = "2.13.0"
    processor: str = "AVX2"
    moved: float = 0.0
    engine: float = 0.0
    unsteady: bool = False
    calls: int = 0
    silent: set[str] = field(default_factory=set)


MACHINE = Machine()


class FormulaOptions(Options):
    """One option that moves every answer."""

    half: bool = False


def share(request: Request, half: bool) -> float:
    word = request.messages[-1].content.split()[0]
    digest = hashlib.sha256(f"{MACHINE.weights} {MACHINE.template} {word}".encode()).digest()
    return (20 + digest[0] % 200) / 256 * (0.99 if half else 1.0) + MACHINE.moved


def noise(request: Request) -> float:
    """Another one at each call."""
    return 1e-5 * (hashlib.sha256(f"{MACHINE.calls} {request.request_id}".encode()).digest()[0] - 128)


class Formula(Fake):
    """A local model that has weights, a template and passes of its own."""

    Options: ClassVar[type[Options]] = FormulaOptions
    local: ClassVar[bool] = True

    def describe(self) -> dict[str, Any]:
        files = {
            name: hashlib.sha256(text.encode()).hexdigest()
            for name, text in (
                ("model.safetensors", MACHINE.weights),
                ("chat_template.jinja", MACHINE.template),
            )
        }
        return {
            **super().describe(),
            "options": {"half": self._half},
            "weights_sha256": files_digest(files),
            "files": files,
            "template": {"sha256": files["chat_template.jinja"]},
            "dtype": "float32",
            "device_name": MACHINE.processor,
            "versions": {"torch": MACHINE.torch},
        }

    @property
    def _half(self) -> bool:
        return bool(self.model.options.get("half", False))

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        MACHINE.calls += 1
        for request in (request for pack in packs for request in pack):
            silent = request.messages[-1].content.split()[0] in MACHINE.silent
            yes = share(request, self._half) + MACHINE.engine
            yes += noise(request) if MACHINE.unsteady else 0.0
            yield Response(
                request_id=request.request_id,
                repeat=request.repeat,
                status="error" if silent else "ok",
                label_probabilities=None if silent else (0.98 - yes, yes),
                model=self.model.name,
                method="logits",
                detail="no answer" if silent else None,
            )

    def account(self, packs: Sequence[Pack], responses: Sequence[Response]) -> dict[str, Any]:
        floor = {
            "against": "the model's own attention",
            "requests": 1,
            "largest_difference": ROUNDING,
            "largest_share_difference": 2 * ROUNDING,
        }
        return {"unique_tokens": 1, "tokens": 1, "bound": 1.0, "noise_floor": floor}

    def alone(self, requests: Sequence[Request]) -> list[tuple[float, ...] | None]:
        return [(0.98 - (yes := share(request, self._half)), yes) for request in requests]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sealed run of the model as it is at first."""
    registered = fake("formula", lambda request: None)
    from audit_lib.score.backends import backend

    backend._parts["formula"] = type("Registered", (Formula,), {})
    assert registered is not backend.get("formula")
    return run_audit(tmp_path_factory.mktemp("formula"), model={"backend": "formula", "name": "formula"}).uri


@pytest.fixture
def machine(sealed: str) -> Machine:
    """The machine as it was then."""
    for one in fields(Machine):
        setattr(MACHINE, one.name, set() if one.name == "silent" else one.default)
    return MACHINE


def again(run: str, out: Path, *more: str) -> tuple[int, Reproduction]:
    """Reproduce; return the exit code and the record."""
    code = main(["reproduce", run, "--out", str(out), *more])
    return code, decode(Reproduction, (out / "reproduction.json").read_bytes(), "reproduction.json")


def causes(record: Reproduction) -> list[tuple[str, str]]:
    return [(one.kind, one.certainty) for one in record.causes]


CAUSES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "weights": ({"weights": "w2"}, [("model", "sure")]),
    "template": ({"template": "t2"}, [("template", "sure")]),
    "both": ({"weights": "w2", "template": "t2"}, [("model", "sure"), ("template", "sure")]),
    "weights and software": (
        {"weights": "w2", "torch": "2.14.0"},
        [("model", "sure"), ("software", "cannot_tell")],
    ),
    "software": ({"torch": "2.14.0", "moved": 1e-4}, [("software", "only_difference")]),
    "processor": ({"processor": "AVX512", "moved": 3e-7}, [("processor", "only_difference")]),
    "software or processor": (
        {"processor": "AVX512", "torch": "2.14.0", "moved": 1e-4},
        [("software", "cannot_tell"), ("processor", "cannot_tell")],
    ),
    "engine": ({"engine": 1e-3}, [("software", "by_experiment")]),
    "own noise": ({"unsteady": True}, [("own_noise", "by_experiment")]),
    "nothing recorded": ({"moved": 1e-3}, [("unknown", "cannot_tell")]),
    "missing": ({"silent": {"n3"}}, [("missing_answers", "sure")]),
    "missing and weights": (
        {"silent": {"n3"}, "weights": "w2"},
        [("missing_answers", "sure"), ("model", "sure")],
    ),
}


@pytest.mark.parametrize("planted", CAUSES)
def test_a_planted_cause_is_found(
    planted: str, sealed: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, expected = CAUSES[planted]
    for name, value in changed.items():
        setattr(machine, name, value)
    code, record = again(sealed, tmp_path / "out")
    assert (code, record.outcome) == (1, "differs")
    assert causes(record) == expected
    said = capsys.readouterr().out
    assert all(f"cause: {kind} (" in said for kind, _ in expected)
    if planted == "processor":
        assert record.scores.within_allowed == record.scores.beyond_floor == ROWS
        assert "within what the audit's validation allowed (1e-05 in probability)" in said
        assert record.metrics.printed == 0 and "no verdict would change" in said


def test_within_the_floor_is_reproduced_whatever_else_differs(
    sealed: str, machine: Machine, tmp_path: Path
) -> None:
    machine.processor, machine.torch, machine.moved = "AVX512", "2.14.0", 0.9 * ROUNDING
    code, record = again(sealed, tmp_path / "out")
    assert (code, record.outcome, record.causes) == (0, "reproduced", ())
    assert record.scores.within_floor == ROWS
    assert {one.kind for one in record.conditions} == {"software", "processor"}


def test_an_option_is_put_back(sealed: str, machine: Machine, tmp_path: Path) -> None:
    code, record = again(sealed, tmp_path / "out", "--set", "half=true")
    assert code == 1 and causes(record) == [("settings", "by_experiment")]
    assert record.causes[0].detail.startswith("as recorded: model.options.half")


def test_scores_that_were_changed_before_they_were_sealed_again_are_not_reproduced(
    sealed: str, machine: Machine, tmp_path: Path
) -> None:
    """The consistent rewrite: it verifies without trust, and the model itself says otherwise."""
    shutil.copytree(sealed, tmp_path / "run")
    run = Run.from_bundle(str(tmp_path / "run"))
    rewrite(run)
    with sealed_bundle(run.uri) as bundle:
        assert bundle.manifest.outcome == "complete"
    code, record = again(run.uri, tmp_path / "out")
    assert code == 1 and record.scores.beyond_floor == 1 and causes(record) == [("unknown", "cannot_tell")]
    assert "the archived scores are not what this model gives" in record.causes[0].detail


def rewrite(run: Run) -> None:
    """Raise one score, and make all that follows from it again."""
    folder = Path(run.uri)
    table = folder / "scores" / "0" / "scores.parquet"
    rows = records(from_parquet(table.read_bytes()))
    rows[0] |= {"label_probabilities": [0.05, 0.95], "score": 0.95}
    table.write_bytes(to_parquet(rows, SCORE_SCHEMA, ["variant_id", "repeat"]))
    shard = run.stage("scores/0")
    record = StageRecord(
        **{one.name: getattr(shard.success(), one.name) for one in fields(StageRecord)}
        | {
            "artefacts": dict(shard.success().artefacts)
            | {"scores.parquet": WrittenFile(sha256=sha256(table.read_bytes()), bytes=table.stat().st_size)}
        }
    )
    (folder / "scores" / "0" / SUCCESS).write_bytes(record_bytes(record))
    for stage, function in (
        ("validation", validate),
        ("metrics", measure),
        ("report", report),
        ("evidence", archive),
    ):
        started = run.stage(stage).success()
        shutil.rmtree(folder / stage)
        run.stage(stage).commit(function(run), datetime.fromisoformat(started.started_at))


def test_it_goes_on_where_it_was_and_never_mixes_two(
    sealed: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    before = content(sealed)
    again(sealed, out)
    (out / "reproduction.json").unlink()
    shutil.rmtree(out / "again" / "scores" / "1")
    machine.calls = 0
    assert main(["reproduce", sealed, "--out", str(out)]) == 0 and machine.calls <= 1
    assert main(["reproduce", sealed, "--out", str(out)]) == 2
    assert "a reproduction is there already" in capsys.readouterr().err
    (out / "reproduction.json").unlink()
    machine.weights = "w2"
    assert main(["reproduce", sealed, "--out", str(out)]) == 2
    assert "another reproduction was begun here" in capsys.readouterr().err
    assert content(sealed) == before


def test_a_bag_is_asked_again_and_one_without_the_prompts_is_refused(
    sealed: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = export_run(sealed, tmp_path / "full.zip", level="full").path
    code, record = again(str(whole), tmp_path / "out")
    assert (code, record.outcome) == (0, "reproduced") and record.scores.equal == ROWS
    redacted = export_run(sealed, tmp_path / "redacted.tar", level="redacted").path
    machine.calls = 0
    assert main(["reproduce", str(redacted), "--out", str(tmp_path / "other")]) == 2
    said = capsys.readouterr().err
    assert machine.calls == 0 and "handed on without" in said and "a copy of level full" in said


def test_the_record_is_signed_by_the_configured_key(
    sealed: str, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("securesystemslib", reason="of the extra sign")
    from audit_lib.signing.signers import PAYLOAD_TYPE, public_key, signed_payload, signers_among

    generate_key(tmp_path / "auditor.key")
    monkeypatch.setenv("AUDIT_SIGNER", f"file:{tmp_path / 'auditor.key'}")
    out = tmp_path / "out"
    again(sealed, out)
    envelope = (out / "reproduction.dsse.json").read_bytes()
    key = public_key((tmp_path / "auditor.key.pub").read_bytes(), "key")
    assert signers_among(envelope, PAYLOAD_TYPE, [key], "envelope") == {key.keyid}
    said = json.loads(signed_payload(envelope, PAYLOAD_TYPE, "envelope"))
    digests = {one["name"]: one["digest"]["sha256"] for one in said["subject"]}
    assert (
        digests["reproduction.json"] == hashlib.sha256((out / "reproduction.json").read_bytes()).hexdigest()
    )
    manifest = Path(sealed) / "evidence" / "manifest.json"
    assert digests["evidence/manifest.json"] == hashlib.sha256(manifest.read_bytes()).hexdigest()


def test_a_fault_of_the_library_is_no_difference(
    sealed: str,
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("audit_lib.reproduce.plan_reproduction", lambda *_, **__: 1 / 0)
    assert main(["reproduce", sealed, "--out", str(tmp_path / "out")]) == 2
    assert "a fault of audit_lib" in capsys.readouterr().err
    assert main(["reproduce", sealed, "--out", str(tmp_path / "out"), "--set", "half"]) == 2


def test_recorded_answers_are_not_called_reproduced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from audit_lib import pipeline
    from tests.inputs import recorded_audit
    from tests.reproduce.conftest import WINDOW

    run = pipeline.open_run(recorded_audit(tmp_path, n=64), WINDOW, str(tmp_path / "store"))
    pipeline.run_all(run)
    code, record = again(run.uri, tmp_path / "out")
    assert (code, record.outcome, record.scores) == (2, "nothing_to_ask", None)
    said = capsys.readouterr().out
    assert said.startswith("NOTHING TO ASK AGAIN: the scores are") and "REPRODUCED" not in said
