"""Raw mutations: whoever changes a byte of any file of a sealed run, or of one that failed, is found."""

from __future__ import annotations

import json
import random
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import canonical_json, pretty_json
from tests.specs import REPOSITORY
from tests.verifier.conftest import found_here

GOLDEN = REPOSITORY / "tests/golden/bundles"
TIME = re.compile(rb"T\d\d:\d\d:\d\d")


def unpacked(name: str, folder: Path) -> Path:
    """Unpack an archived bundle."""
    with zipfile.ZipFile(GOLDEN / name) as bundle:
        bundle.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def bundles(failed_and_sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sealed run whose first attempt failed, and what was there after that attempt."""
    folder = tmp_path_factory.mktemp("mutations")
    kinds = ("sealed", "failed")
    return {kind: Path(shutil.copytree(failed_and_sealed / kind, folder / kind)) for kind in kinds}


def by_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return `content` with one random change: a bit, a byte more or less, a span gone, twice, or swapped."""
    place = rng.randrange(len(content))
    end = min(len(content), place + rng.randrange(1, 64))
    changes = {
        "flip": content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :],
        "insert": content[:place] + bytes([rng.randrange(256)]) + content[place:],
        "delete": content[:place] + content[place + 1 :],
        "cut": content[:place],
        "drop": content[:place] + content[end:],
        "repeat": content[:end] + content[place:],
        "digit": re.sub(rb"\d", lambda d: str((int(d[0]) + 1) % 10).encode(), content, count=1),
        "time": TIME.sub(b"T00:00:00", content, count=1),
    }
    return changes[rng.choice(sorted(changes))]


def values(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value that is none of others."""
    parts = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in parts:
        if isinstance(value, (dict, list)) and value:
            yield from values(value, (*path, key))
        else:
            yield (*path, key)


def other(value: Any) -> Any:
    """Return another value of the same kind that could stand there."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        at = TIME.search(value.encode())
        later = "T23:59:59" if at and at[0] != b"T23:59:59" else "T23:59:58"
        return (
            re.sub(r"T\d\d:\d\d:\d\d", later, value)
            if at
            else value[:-1] + ("0" if value[-1:] != "0" else "1")
        )
    return "x" if value is None else [1]


def check(folder: Path, path: Path, content: bytes) -> None:
    """Write `content` and look whether it is found; put back what was there."""
    kept = path.read_bytes()
    if content == kept:
        return
    path.write_bytes(content)
    try:
        verification = verify(str(folder), recompute={})
        assert not verification.ok, f"{path.relative_to(folder)}: {content[:300]!r} verifies"
        assert "Traceback" not in verification.summary()
        assert found_here(folder), f"{path.relative_to(folder)}: {content[:300]!r} verifies with verify.pyz"
    finally:
        path.write_bytes(kept)


def of_stages(folder: Path) -> list[Path]:
    """Files below the manifest, or the record of the failed attempt; sign-offs have their own signature."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and "signoff" not in p.parts)


@pytest.mark.parametrize("kind", ["sealed", "failed"])
def test_a_value_of_any_record_is_found(bundles: dict[str, Path], kind: str) -> None:
    """Every value of ``_SUCCESS``, ``_STARTED`` and the manifests, changed as the library would have written it."""
    folder, tried = bundles[kind], 0
    assert verify(str(folder), recompute={}).ok
    for path in of_stages(folder):
        if not path.name.startswith("_"):
            continue
        content = path.read_bytes()
        for place in values(json.loads(content)):
            if place[0] == "artefacts":
                continue  # digests: the next test has some of them
            document = json.loads(content)
            at = document
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = other(at[place[-1]])
            check(folder, path, pretty_json(document))
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("kind", ["sealed", "failed"])
def test_an_extra_in_any_record_is_found(bundles: dict[str, Path], kind: str) -> None:
    folder = bundles[kind]
    for path in of_stages(folder):
        if path.suffix == ".json" or path.name.startswith("_"):
            content = path.read_bytes()
            document = json.loads(content)
            if not isinstance(document, dict):
                continue
            write = pretty_json if content.startswith(b"{\n") else canonical_json
            check(folder, path, write({**document, "approved_by_regulator": True}))
            if "counts" in document:
                check(folder, path, write(document | {"counts": {**document["counts"], "approved": 1}}))


@pytest.mark.parametrize("kind", ["sealed", "failed"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_random_mutations_are_found(bundles: dict[str, Path], kind: str, seed: int) -> None:
    """Fifty by seed and kind: a thousand in all, of which the slow ones are 900 verifications."""
    rng, folder = random.Random(f"{kind} {seed}"), bundles[kind]
    files = of_stages(folder)
    for _ in range(50):
        path = rng.choice(files)
        check(folder, path, by_bytes(path.read_bytes(), rng))


def test_bundles_of_format_1_keep_verifying(tmp_path: Path) -> None:
    """Made by the last version that wrote format 1, with a failed attempt and a sign-off."""
    folder = unpacked("format-1.zip", tmp_path)
    for kind in ("sealed", "failed"):
        verification = verify(str(folder / kind), recompute={})
        assert verification.findings == ()
        assert any(note.startswith("format 1") for note in verification.notes) == (kind == "sealed")


def test_a_mixture_of_formats_is_none(bundles: dict[str, Path]) -> None:
    path = bundles["sealed"] / "evidence/manifest.json"
    manifest = json.loads(path.read_bytes())
    check(bundles["sealed"], path, canonical_json(manifest | {"schema": "audit-manifest/1"}))
    del manifest["sealed_at"]
    check(bundles["sealed"], path, canonical_json(manifest))
    path = bundles["failed"] / "attempts/1/manifest.json"
    record = json.loads(path.read_bytes())
    check(bundles["failed"], path, canonical_json(record | {"schema": "audit-attempt/1"}))
