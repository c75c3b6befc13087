"""The signed and stamped run that attacks and fuzzing begin with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from audit_lib import pipeline
from audit_lib.archive.personal_data import personal_data
from audit_lib.archive.record_proof import prove
from audit_lib.bag import export_run
from audit_lib.canonical import sha256
from audit_lib.documents.journal import entry_digest
from audit_lib.documents.run_statement import JournalHead
from audit_lib.documents.trust import KnownHead
from audit_lib.errors import BackendError
from audit_lib.journal import read_journal
from audit_lib.journal_lines import journal_lines
from audit_lib.run import Run
from audit_lib.signing.signers import open_signer
from audit_lib.signing.trust import sign_trust
from audit_lib.signoff import generate_key
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit
from tests.signing.authority import Authority, serving
from tests.signing.conftest import Signed

KEYS = ("service", "other", "root", "root2", "auditor")


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables until the block ends."""
    with patch.dict(os.environ, variables):
        yield


def failing(run: Run, stage: str) -> None:
    """Let an attempt fail in a stage."""
    real, score = pipeline.run_stage, pipeline.ShardScorer.score

    def fails_to_score(scorer: pipeline.ShardScorer, shard: int) -> dict[str, int]:
        if stage in ("scores", f"scores/{shard}"):
            raise BackendError("no answer")
        return score(scorer, shard)

    def fails(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
        if stage in (name, f"{name}/{shard}"):
            raise BackendError("no answer")
        return real(run, name, shard=shard)

    with (
        patch.object(pipeline, "run_stage", fails),
        patch.object(pipeline.ShardScorer, "score", fails_to_score),
    ):
        try:
            pipeline.run_all(run)
        except BackendError:
            return
    raise AssertionError(f"{stage} did not fail")


@contextmanager
def signed_run(folder: Path, *, failed: bool = True, seed: int = 7, n: int = 64) -> Iterator[Signed]:
    """Give a signed run in its store, a copy of it, and all keys; the authority answers until the block ends."""
    (folder / "authority").mkdir(parents=True)
    for name in KEYS:
        generate_key(folder / f"{name}.key")
    with serving(folder / "authority") as authority:
        spec = recorded_audit(folder, n=n, score={"shards": 2}, seed=seed)
        run = pipeline.open_run(spec, WEEK, str(folder / "store"))
        with signing(folder, authority):
            if failed:
                failing(run, "validation")
            pipeline.run_all(run)
        shutil.copytree(run.uri, folder / "run")
        yield Signed(folder, authority)


@contextmanager
def signing(folder: Path, authority: Authority) -> Iterator[None]:
    """Have runs signed with the service's key and stamped."""
    with environment(
        AUDIT_SIGNER=f"file:{folder / 'service.key'}",
        AUDIT_TIMESTAMP_URL=authority.url,
        AUDIT_PLAN_SIGNATURE="required",
    ):
        yield


def in_store(signed: Signed) -> Path:
    """Return the run where it was made."""
    (folder,) = (one for one in signed.store.glob("small/2*/*") if one.is_dir())
    return folder


def known_head(signed: Signed) -> KnownHead:
    """Return the journal's head, as somebody who was told it keeps it."""
    entries = read_journal(Run.load(str(in_store(signed))).store, "small")
    return KnownHead(audit="small", head=JournalHead(number=len(entries), sha256=entry_digest(entries[-1])))


def write_seeds(folder: Path) -> None:
    """Write what `evidence_targets.target` begins with."""
    with signed_run(folder) as signed:
        run = in_store(signed)
        for suffix in ("zip", "tar"):
            for level in ("full", "redacted"):
                export_run(str(run), folder / f"{level}.{suffix}", level=level)
        opened = Run.from_bundle(str(run))
        for name, who in (("in", "a00001"), ("out", "nobody")):
            (folder / f"record-{name}.json").write_bytes(prove(opened, who))
        (folder / "record-access.json").write_bytes(personal_data(opened, "a00001"))
        entries = read_journal(Run.load(str(run)).store, "small")
        (folder / "journal.jsonl").write_bytes(journal_lines(entries))
        first = signed.write(signed.trust())
        second = signed.trust(version=2, previous_sha256=sha256(first.read_bytes()))
        key = open_signer(f"file:{folder / 'root.key'}")
        (folder / "trust-2.json").write_bytes(sign_trust(second, [key]))
        _write_attestations(folder, (folder / "run/signatures/plan.dsse.json").read_bytes())


def _write_attestations(folder: Path, envelope: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    from tests.signing.transparency_service import receipt

    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "attestation-receipt.bin").write_bytes(receipt([b"x", envelope, b"y"], 1, key))
    (folder / "attestation-bundle.json").write_bytes(
        b'{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"certificate":'
        b'{"rawBytes":"MIIB"},"tlogEntries":[]},"dsseEnvelope":' + envelope + b"}"
    )


def failed_and_sealed(folder: Path) -> Path:
    """Make a run whose first attempt failed; return a folder with it as it was then, ``failed``, and ``sealed``."""
    folder.mkdir(parents=True)
    spec = recorded_audit(folder, n=64, score={"shards": 2})
    run = pipeline.open_run(spec, WEEK, str(folder / "store"))
    failing(run, "validation")
    shutil.copytree(run.uri, folder / "failed")
    pipeline.run_all(run)
    shutil.copytree(run.uri, folder / "sealed")
    return folder
