"""Clean bundles of different kinds of audits, and how many of them either verifier has something against.

Every bundle is made by the library's own stages, and handed on by its own commands; nothing in it was touched.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from audit_lib import pipeline
from audit_lib.archive.findings import Verification
from audit_lib.bag import export_run, open_bag, unpack
from audit_lib.errors import AuditError
from audit_lib.panel import open_panel, run_panel
from audit_lib.panel.verify_panel import verify_panel
from audit_lib.privacy.applicant_keys import KEY, KEYS, make_key_of_keys
from audit_lib.run import Run
from audit_lib.signoff import (
    AuditorAnswers,
    attestations,
    generate_key,
    load_private_key,
    sign_off,
    verify_signed,
)
from audit_lib.spec import Panel, read_spec
from audit_lib.store import open_store
from benchmarks.evidence_runs import environment, failing, signing
from tests.archive.cases import WEEK, applicants
from tests.combinations.axes import ANSWERING, ASKED, DECIDED, VARIED, design_files
from tests.combinations.biased_judge import Judge
from tests.combinations.covering import covering
from tests.combinations.planted import Combination, content, rows
from tests.combinations.who_answers import KEY as JUDGE_KEY
from tests.combinations.who_answers import KEY_NAME, Answering, judging
from tests.inputs import recorded_audit, recorded_rows, write_jsonl
from tests.panel.cases import recorded_panel
from tests.servers import S3Server, seaweedfs
from tests.signing.authority import serving
from tests.specs import REPOSITORY, write
from tests.texts import text_audit
from tests.verifier.conftest import found_here

GOLDEN: Final = REPOSITORY / "tests/golden/bundles"
PANEL: Final = "panel of models"


@dataclass(frozen=True)
class Bundle:
    """A folder to verify, and what kind of run and copy it is."""

    kind: str
    copy: str
    path: Path | str


@dataclass(frozen=True)
class Checked:
    """What both verifiers say of a bundle; the second reads files alone, so neither buckets nor panels."""

    bundle: Bundle
    here: str
    there: str
    findings: list[str]


def _word(ok: bool, open_: bool) -> str:
    return "verified" if ok else "no verdict" if open_ else "not verified"


def check(bundle: Bundle) -> Checked:
    """Verify a bundle as both programs do, everything computed again."""
    whole = None if not bundle.kind.startswith("golden") else {}  # words of the report have changed since
    if bundle.kind == PANEL:
        found: Verification = verify_panel(str(bundle.path))
    else:
        found = verify_signed(str(bundle.path), recompute=whole)
    here = _word(found.ok, found.unchecked)
    if isinstance(bundle.path, str) or bundle.kind == PANEL:
        return Checked(bundle, here, "not read", [*map(str, found.findings)])
    there = found_here(bundle.path)
    return Checked(
        bundle, here, _word(not there, there == ["undecided"]), [*map(str, found.findings), *there]
    )


def bundles(folder: Path, start: int) -> Iterator[Bundle]:
    """Yield bundles, one of each kind before the second of any; `start`: with other draws than those before."""
    with ExitStack() as stack:
        (folder / "authority").mkdir(parents=True)
        generate_key(folder / "service.key")
        authority = stack.enter_context(serving(folder / "authority"))
        stack.enter_context(environment(**{KEY_NAME: JUDGE_KEY}))
        bucket_server = stack.enter_context(seaweedfs())

        def signed(spec: Path) -> Run:
            with signing(folder, authority):
                return _done(spec)

        kinds = [
            *([] if start else [_golden(folder)]),
            _each(folder / "recorded decisions", start, _recorded, _done),
            _each(folder / "recorded decisions, signed and stamped", start, _recorded, signed),
            _each(folder / "recorded scores, one group", start, _one_group, _done),
            _each(folder / "recorded texts", start, _texts, _done),
            _each(folder / "rows encrypted for each applicant", start, _encrypted, _with_keys),
            _each(folder / "two failed attempts before", start, _recorded, _failed_before),
            _each(folder / "validation failed", start, _unanswered, _done),
            _each(folder / "signed off by an auditor, twice", start, _recorded, _signed_off),
            _only_failed(folder, start),
            _panels(folder, start),
            _in_bucket(folder, start, bucket_server, stack),
            *_asked(folder, start, stack),
        ]
        while kinds:
            for kind in list(kinds):
                try:
                    yield next(kind)
                except StopIteration:
                    kinds.remove(kind)


def _done(spec: Path) -> Run:
    run = pipeline.open_run(spec, WEEK, str(spec.parent / "store"))
    try:
        pipeline.run_all(run)
    except AuditError:  # a validation that failed is archived
        if not run.stage("evidence").is_complete():
            raise
    return run


def _each(
    folder: Path, start: int, write_spec: Callable[[Path, int], Path], do: Callable[[Path], Run]
) -> Iterator[Bundle]:
    """Runs of a kind that differ in size, groups, rule, missing answers and shards, each with its copies."""
    for number in itertools.count(start):
        own = folder / str(number)
        own.mkdir(parents=True)
        yield from _copies(folder.name, do(write_spec(own, number)))
        shutil.rmtree(own)


def _copies(kind: str, run: Run) -> Iterator[Bundle]:
    """The run in its store, and what `audit export` and `audit import` make of it."""
    yield Bundle(kind, "in its store", Path(run.uri))
    folder = Path(run.store.root).parent / "copies"
    for level, suffix in (("redacted", "zip"), ("digests", "tar"), ("full", "tar")):
        out = folder / f"{level}.{suffix}"
        folder.mkdir(exist_ok=True)
        export_run(run.uri, out, level=level)  # type: ignore[arg-type]
        with open_bag(out) as opened:
            (name,) = unpack(opened, open_store(str(folder / level)))
        yield Bundle(kind, f"bag, level {level}", folder / level / name)


def _recorded(folder: Path, number: int) -> Path:
    draw = random.Random(f"recorded {number}")
    n = draw.choice((16, 32, 48, 96, 160))
    decision = draw.choice(
        (
            {"rule": "top_k", "k": 2, "round": "round_id"},
            {"rule": "threshold", "threshold": 0.1},
            {"rule": "above_median"},
        )
    )
    path = write(
        folder,
        seed=draw.randrange(1000),
        decision=decision,
        score={"shards": draw.choice((1, 2, 3))},
        checks={"minimum_answered_share": 0.1, "maximum_answered_gap": 1.0},
    )
    missing = draw.choice((0.0, 0.1, 0.3))
    people = recorded_rows(n, seed=number + 1)
    for row in people:
        row["recorded_score"] = None if draw.random() < missing else round(draw.gauss(0, 1), 3)
    write_jsonl(folder / "prompts.jsonl", people)
    return path


def _one_group(folder: Path, number: int) -> Path:
    draw = random.Random(f"one group {number}")
    write_jsonl(folder / "prompts.jsonl", applicants(draw.choice((12, 24, 80)), shift=draw.random() / 2))
    attribute = draw.choice(("sex", "race"))
    levels = {"sex": (["female", "male"], "male"), "race": (["White", "Black"], "White")}[attribute]
    groups = {
        "provenance": "self_reported",
        "attributes": {attribute: levels[0]},
        "reference": {attribute: levels[1]},
    }
    policy = {"report": {"policy": "generic"}, "groups": groups | {"categories": {}}}
    return write(folder, seed=number, decision={"rule": "above_median"}, score={"shards": 1}, **policy)


def _texts(folder: Path, number: int) -> Path:
    return text_audit(folder, n=(12, 20)[number % 2], repeats=1 + number % 2, seed=number)


def _unanswered(folder: Path, number: int) -> Path:
    checks = {"minimum_answered_share": 1.0}
    return recorded_audit(folder, 32, seed=number, score={"shards": 1 + number % 3}, checks=checks)


def _encrypted(folder: Path, number: int) -> Path:
    people = applicants(24 + 8 * (number % 3))
    write_jsonl(folder / "prompts.jsonl", people)
    return write(folder, seed=number, privacy={"keys": "applicant"}, groups={"provenance": "self_reported"})


def _with_keys(spec: Path) -> Run:
    """The keys are there while it runs, and not when a stranger verifies it."""
    make_key_of_keys(spec.parent / "key")
    with environment(**{KEY: f"file:{spec.parent / 'key'}", KEYS: str(spec.parent / "keys")}):
        return _done(spec)


def _failed_before(spec: Path) -> Run:
    run = pipeline.open_run(spec, WEEK, str(spec.parent / "store"))
    failing(run, "scores/0")
    failing(run, "metrics")
    pipeline.run_all(run)
    return run


def _only_failed(folder: Path, start: int) -> Iterator[Bundle]:
    """Runs that never came to an end; one bag of each is handed on."""
    for number in itertools.count(start):
        own = folder / f"only-failed-{number}"
        own.mkdir()
        run = pipeline.open_run(_recorded(own, number), WEEK, str(own / "store"))
        failing(run, ("sample", "scores/0", "validation", "metrics", "report")[number % 5])
        kind = "every attempt failed"
        yield Bundle(kind, "in its store", Path(run.uri))
        export_run(run.uri, own / "failed.zip", level="full")
        with open_bag(own / "failed.zip") as opened:
            (name,) = unpack(opened, open_store(str(own / "full")))
        yield Bundle(kind, "bag, level full", own / "full" / name)
        shutil.rmtree(own)


def _golden(folder: Path) -> Iterator[Bundle]:
    """Bundles that earlier versions sealed: folders of format 1, bags of format 2."""
    for archive in sorted(GOLDEN.glob("*.zip")):
        own = folder / archive.stem
        with zipfile.ZipFile(archive) as file:
            file.extractall(own)
        for kind in ("sealed", "failed"):
            if (own / kind).is_dir():
                yield Bundle(f"golden, {archive.stem}", kind, own / kind)
        for bag in sorted(own.glob("*.zip")):
            with open_bag(bag) as opened:
                (name,) = unpack(opened, open_store(str(own / f"{bag.stem}-unpacked")))
            yield Bundle(
                f"golden, {archive.stem}", f"bag, level {bag.stem}", own / f"{bag.stem}-unpacked" / name
            )


def _signed_off(spec: Path) -> Run:
    """An auditor signs, and signs again to correct the first."""
    run = _done(spec)
    generate_key(spec.parent / "auditor.key")
    key = load_private_key(spec.parent / "auditor.key")
    answers = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, answers, key)
    sign_off(run, answers, key, supersede="a typing error")
    return run


def _panels(folder: Path, start: int) -> Iterator[Bundle]:
    """Two or three models over the same applicants: each one's run, and the panel with its comparison."""
    for number in itertools.count(start):
        own = folder / f"panel-{number}"
        models = ["fair-1", "harsh-1", "kind-1"][: 2 + number % 2]
        panel = read_spec(recorded_panel(own, models, seed=number))
        assert isinstance(panel, Panel)
        made = open_panel(panel, WEEK, str(own / "store"))
        record = run_panel(made)
        assert record is not None and record.comparison_sha256 is not None
        (there,) = (own / "store").glob("*/*/*/compare")
        yield Bundle(PANEL, "in its store", there.parent)
        for run in sorted(one.parent.parent for one in (own / "store").glob("*/*/*/plan/_SUCCESS")):
            yield Bundle("run of a panel", "in its store", run)
        shutil.rmtree(own)


def _in_bucket(
    folder: Path, start: int, server: Callable[[], S3Server], stack: ExitStack
) -> Iterator[Bundle]:
    """Runs in a bucket of SeaweedFS whose objects are locked, and bags of them."""
    ready = server()
    stack.enter_context(environment(**ready.environment))
    kind = "in a bucket with Object Lock"
    for number in itertools.count(start):
        own = folder / f"bucket-{number}"
        own.mkdir()
        spec = yaml.safe_load(_recorded(own, number).read_text(encoding="utf-8"))
        (own / "small.yaml").write_text(yaml.safe_dump(spec | {"retention": {"days": 30}}, sort_keys=False))
        run = pipeline.open_run(own / "small.yaml", WEEK, f"s3://{ready.new_bucket(locked=True)}")
        pipeline.run_all(run)
        yield Bundle(kind, "in its store", run.uri)
        export_run(run.uri, own / "full.zip", level="full")
        with open_bag(own / "full.zip") as opened:
            (name,) = unpack(opened, open_store(str(own / "full")))
        yield Bundle(kind, "bag, level full", own / "full" / name)
        shutil.rmtree(own)


def _asked(folder: Path, start: int, stack: ExitStack) -> list[Iterator[Bundle]]:
    """Models behind loopback servers, for each task there is: what is varied, who answers, who is selected."""
    judge = Judge(0.8)
    who = stack.enter_context(judging(judge))
    return [
        _asked_so(folder / f"asked {number}", asked, start, judge, who) for number, asked in enumerate(ASKED)
    ]


def _asked_so(
    folder: Path, asked: str, start: int, judge: Judge, who: Mapping[str, Answering]
) -> Iterator[Bundle]:
    axes = [list(VARIED), [one for one in ANSWERING if one in who], [asked], list(DECIDED)]
    cases = [Combination(*names) for names in covering(axes)]
    random.Random(f"{asked} {start}").shuffle(cases)  # so that the first ones differ in who answers
    for number, case in enumerate(cases):
        own, answering = folder / str(number), who[case.answering]
        if answering.cannot(case) is not None:
            continue
        own.mkdir(parents=True)
        for name, text in {**design_files(), **answering.files()}.items():
            (own / name).write_text(text)
        lines = [json.dumps(row) for row in rows(case, judge)[:48]]
        (own / "prompts.jsonl").write_text("\n".join(lines) + "\n")
        (own / "planted.yaml").write_text(json.dumps(content(case, answering, number)))
        try:
            run = _done(own / "planted.yaml")
        except AuditError:  # refused before anybody was asked: there is no bundle
            shutil.rmtree(own)
            continue
        yield from _copies(f"asked: {asked}", run)
        shutil.rmtree(own)


def measured(folder: Path, number: int, start: int = 0) -> Iterator[Checked]:
    """Check so many bundles, after `start` others."""
    for bundle in itertools.islice(bundles(folder, start), number):
        yield check(bundle)
