"""Zips, tars, folders and bags: clean ones verify, and what is made to harm whoever opens it is refused."""

from __future__ import annotations

import io
import os
import tarfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from audit_lib.bag import check_bag, export_run, open_bag
from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.errors import AuditError
from tests.archive.cases import do, new_run
from tests.bag.test_bag import nameless, odd_tar
from tests.verifier.conftest import Told, found_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sources")
    return Path(do(new_run(place, str(place / "store"))).uri)


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
@pytest.mark.parametrize("level", ["full", "redacted", "digests"])
def test_bags_of_every_level_verify(
    folder: Path, suffix: str, level: PrivacyLevel, tmp_path: Path, told: Told
) -> None:
    export_run(str(folder), tmp_path / f"evidence{suffix}", level=level)
    code, said = told(tmp_path / f"evidence{suffix}")
    assert (code, said["findings"], said["undecided"]) == (0, [], [])
    assert (said["level"], bool(said["computed_again"])) == (level, level != "digests")
    assert said["withheld"] == 0 if level == "full" else said["withheld"] > 0


def test_who_was_promised_more_says_so(folder: Path, tmp_path: Path) -> None:
    bag = export_run(str(folder), tmp_path / "evidence.zip", level="digests").path
    assert found_here(bag, "--level", "digests") == []
    (found,) = found_here(bag, "--level", "redacted")
    assert found == "privacy.json: is a copy of level digests, and redacted was asked for [level]"


def test_an_unpacked_bag_verifies_and_a_stray_file_in_it_is_found(folder: Path, tmp_path: Path) -> None:
    export_run(str(folder), tmp_path / "evidence.zip")
    zipfile.ZipFile(tmp_path / "evidence.zip").extractall(tmp_path / "bag")
    (bag,) = (tmp_path / "bag").iterdir()
    assert found_here(bag) == []
    (bag / "data/stray.txt").write_text("x")
    assert any(
        "data/stray.txt: is in the bag and not in manifest-sha256.txt" in one for one in found_here(bag)
    )
    (bag / "data/stray.txt").unlink()
    path = bag / "bag-info.txt"
    path.write_text(path.read_text().replace("Bagging-Date: 2", "Bagging-Date: 3"))
    assert any("bag-info.txt: is not the file that tagmanifest-" in one for one in found_here(bag))
    path.unlink()
    (bag / "fetch.txt").write_text("http://x 1 data/x\n")
    assert any(one.startswith("fetch.txt: names files that are elsewhere") for one in found_here(bag))


def test_a_withheld_file_that_is_there_and_a_shown_one_that_is_not_are_found(
    folder: Path, tmp_path: Path
) -> None:
    export_run(str(folder), tmp_path / "evidence.zip")
    zipfile.ZipFile(tmp_path / "evidence.zip").extractall(tmp_path / "bag")
    (run,) = (path.parent for path in (tmp_path / "bag").glob("*/data/*/*/*/privacy.json"))
    assert found_here(run) == []
    (run / "sample/prompts.parquet").write_bytes((folder / "sample/prompts.parquet").read_bytes())
    assert any("is in a copy of level redacted" in one for one in found_here(run))
    (run / "sample/prompts.parquet").unlink()
    (run / "evidence/redacted/metrics/scores.csv").unlink()
    assert any("scores.csv: the manifest lists it, and it is not there" in one for one in found_here(run))


@pytest.mark.parametrize(
    "names",
    [
        ["run/../../etc/passwd"],
        ["/etc/passwd"],
        ["C:/x"],
        ["a\\..\\b"],
        ["run/./x"],
        ["run//x"],
        ["run/x", "run/x"],
        ["run/caf\u00e9", "run/cafe\u0301"],
        ["run/File", "run/file"],
        ["run/file.", "run/file"],
        ["run/a /x", "run/a/x"],
        ["run/file:stream"],
        ["run/x\u202ey"],
        ["run/x\ny"],
    ],
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_lead_elsewhere_or_are_one_are_refused(
    names: list[str], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"evil.{kind}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile says that a name is there twice
        _pack(path, [(name, b"x") for name in names])
    assert any("[attack]" in one for one in found_here(path)) and not (tmp_path / "etc").exists()


def _pack(path: Path, files: list[tuple[str, bytes]]) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files:
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return
    with tarfile.open(path, "w") as tar:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("run/x", "w") as stream:
        for _ in range(65):
            stream.write(bytes(1 << 20))
    assert any("bytes that unpack to" in one for one in found_here(path))


def test_a_zip_that_lies_about_a_size_is_no_verdict_and_not_read_further(tmp_path: Path) -> None:
    path = tmp_path / "lie.zip"
    _pack(path, [("run/evidence/manifest.json", bytes(100_000))])
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    assert found_here(path) == ["undecided"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as tar:
        entry = tarfile.TarInfo("run/evidence/manifest.json")
        entry.type, entry.linkname = kind, "/etc/passwd"
        tar.addfile(entry)
    assert any("link or a device" in one for one in found_here(tmp_path / "evil.tar"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"x" * 2000])
def test_what_is_no_archive_is_no_verdict(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "evidence.zip").write_bytes(content)
    assert found_here(tmp_path / "evidence.zip") == ["undecided"]


def test_a_tar_whose_headers_no_program_wrote_is_no_verdict(tmp_path: Path) -> None:
    assert found_here(odd_tar(tmp_path / "bag.tar")) == ["undecided"]


def test_a_file_without_a_name_is_refused(tmp_path: Path) -> None:
    assert any("a file without a name" in one for one in found_here(nameless(tmp_path / "bag.zip")))


def test_links_in_a_folder_are_found_and_not_followed(tmp_path: Path) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store")))
    os.symlink("/etc/hostname", Path(run.uri) / "plan/more.json")
    os.symlink("/etc", Path(run.uri) / "monitor")
    found = found_here(Path(run.uri))
    assert sorted(one.split(":")[0] for one in found) == ["monitor", "plan/more.json"]


def test_a_file_next_to_the_run_is_found(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "evidence.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in folder.rglob("*"):
            if one.is_file():
                archive.write(one, f"run/{one.relative_to(folder)}")
        archive.writestr("read me first.txt", "all is well")
    assert found_here(path) == ["read me first.txt: lies outside the run and in no bag [extra]"]


def _streamed(bag: Path, out: Path) -> Path:
    """Write a bag as programs do that cannot go back: what a member's sizes are follows it."""

    class Pipe(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, content: Any) -> int:
            with out.open("ab") as stream:
                return stream.write(content)

    with zipfile.ZipFile(bag) as old, zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, old.read(entry))
    return out


def test_a_file_that_is_another_archive_for_another_program_is_refused(folder: Path, tmp_path: Path) -> None:
    """Who verifies the zip at the end of a tar, and unpacks the tar, was shown something else."""
    bags = {
        kind: export_run(str(folder), tmp_path / f"bag.{kind}", level="full").path for kind in ("zip", "tar")
    }
    honest = {kind: path.read_bytes() for kind, path in bags.items()}
    tar_ends = len(honest["tar"].rstrip(b"\0"))
    forged = {
        "tar, then zip": honest["tar"] + honest["zip"],
        "zip, then zip": honest["zip"] + honest["zip"],
        "tar, then tar": honest["tar"] + honest["tar"],
        "tar, then rubbish": honest["tar"][: -(-tar_ends // 512) * 512] + b"x" * 1024,
        "a comment": honest["zip"][:-2] + b"\x05\x00hello",
    }
    for name, content in forged.items():
        path = tmp_path / f"{name}.bin"
        path.write_bytes(content)
        found = found_here(path)
        assert any("has more in it than its list of files says" in one for one in found), (name, found)
        with pytest.raises(AuditError, match="has more in it"), open_bag(path):
            pass
    for path in (*bags.values(), _streamed(bags["zip"], tmp_path / "streamed.zip")):
        assert found_here(path) == []
        with open_bag(path) as opened:
            assert check_bag(opened) == []
