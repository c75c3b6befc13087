"""A run whose plan and result are signed and stamped, made once, and the trust file of its verifier."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit_lib import pipeline
from audit_lib.documents.trust import TrustedAuthority, TrustedKey, TrustFile
from audit_lib.signing.trust import trust_bytes
from audit_lib.signoff import generate_key
from tests.archive.cases import WEEK
from tests.inputs import recorded_audit
from tests.signing.authority import Authority, serving


def instant(days: float) -> str:
    """An instant so many days from now."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Signed:
    """Where everything is."""

    folder: Path
    authority: Authority

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def key(self, name: str) -> str:
        return (self.folder / f"{name}.key.pub").read_text()

    def trusted(self, name: str, *roles: Any, **changes: Any) -> TrustedKey:
        said: dict[str, Any] = {
            "name": name,
            "public": self.key(name),
            "roles": roles,
            "valid_from": instant(-1),
            "valid_until": instant(30),
        }
        return TrustedKey(**said | changes)

    def trust(self, *keys: TrustedKey, **changes: Any) -> TrustFile:
        said: dict[str, Any] = {
            "version": 1,
            "expires": instant(30),
            "required": ("plan", "result", "time stamps"),
            "keys": keys or (self.trusted("service", "plan", "result"), self.trusted("root", "root")),
            "authorities": (
                TrustedAuthority(
                    name="local OpenSSL", certificates=(self.authority.root_pem,), independent=False
                ),
            ),
            "heads": (),
        }
        return TrustFile(**said | changes)

    def write(self, file: TrustFile, name: str = "trust.json") -> Path:
        (self.folder / name).write_bytes(trust_bytes(file))
        return self.folder / name


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signed]:
    """One signed run."""
    pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")
    folder = tmp_path_factory.mktemp("signed")
    (folder / "authority").mkdir()
    for name in ("service", "other", "root", "root2", "auditor"):
        generate_key(folder / f"{name}.key")
    with serving(folder / "authority") as authority:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUDIT_SIGNER", f"file:{folder / 'service.key'}")
            patch.setenv("AUDIT_TIMESTAMP_URL", authority.url)
            patch.setenv("AUDIT_PLAN_SIGNATURE", "required")
            spec = recorded_audit(folder, n=64, score={"shards": 2})
            run = pipeline.open_run(spec, WEEK, str(folder / "store"))
            pipeline.run_all(run)
        shutil.copytree(run.uri, folder / "run")
        yield Signed(folder, authority)


@pytest.fixture
def signed(made: Signed, tmp_path: Path) -> Signed:
    """A copy of it in the test's own folder."""
    shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True)
    return Signed(tmp_path, made.authority)
