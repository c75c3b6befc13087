"""Make ``bundles/format-2.zip`` anew, as `python -m tests.golden.make_bundle OUT`: only where the format changes.

A signed run whose first attempt failed, with a sign-off; the same as a redacted copy; and a trust file. It has no
time stamps: certificates of an authority end.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from pathlib import Path

from audit_lib import pipeline
from audit_lib.bag import export_run
from audit_lib.documents.trust import TrustedKey, TrustFile
from audit_lib.errors import BackendError
from audit_lib.run import Run
from audit_lib.signing.trust import trust_bytes
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit

ALWAYS = {"valid_from": "2020-01-01T00:00:00+00:00", "valid_until": "2999-01-01T00:00:00+00:00"}


def make(folder: Path, out: Path) -> None:
    """Make it in an empty folder."""
    for name in ("service", "auditor"):
        generate_key(folder / f"{name}.key")
    os.environ["AUDIT_SIGNER"] = f"file:{folder / 'service.key'}"
    os.environ.pop("AUDIT_TIMESTAMP_URL", None)
    run = pipeline.open_run(recorded_audit(folder, n=64, score={"shards": 2}), WEEK, str(folder / "store"))
    _fail_once(run)
    pipeline.run_all(run)
    answers = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, answers, load_private_key(folder / "auditor.key"))
    keys = tuple(
        TrustedKey(name=name, public=(folder / f"{name}.key.pub").read_text(), roles=roles, **ALWAYS)  # type: ignore[arg-type]
        for name, roles in (("service", ("plan", "result")), ("auditor", ("auditor",)))
    )
    trust = TrustFile(
        version=1,
        expires=ALWAYS["valid_until"],
        required=("plan", "result"),
        keys=keys,
        authorities=(),
        heads=(),
    )
    for level in ("full", "redacted"):
        export_run(run.uri, folder / f"{level}.zip", level=level)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for level in ("full", "redacted"):
            archive.write(folder / f"{level}.zip", f"{level}.zip")
        archive.writestr("trust.json", trust_bytes(trust))


def _fail_once(run: Run) -> None:
    real = pipeline.run_stage

    def fails(run: Run, name: str, *, shard: int | None = None) -> dict[str, int]:
        if name == "validation":
            raise BackendError("no answer")
        return real(run, name, shard=shard)

    pipeline.run_stage = fails
    try:
        pipeline.run_all(run)
    except BackendError:
        pass
    finally:
        pipeline.run_stage = real


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), Path(sys.argv[1]))
