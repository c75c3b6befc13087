"""A run as a bag: whole by other people's tools, the same bytes each time, and refused where it was tampered with."""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.archive.verify import verify
from audit_lib.bag import check_bag, export_run, open_bag, unpack
from audit_lib.cli.main import main
from audit_lib.errors import AuditError, ConflictError, EvidenceError, IncompleteRunError, InputError
from audit_lib.run import Run
from audit_lib.store import open_store
from tests.archive.cases import do, new_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return do(new_run(folder, str(folder / "store")))


@pytest.fixture(scope="module")
def bag(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_run(run.uri, tmp_path_factory.mktemp("bag") / "run.zip", level="full").path


def rewritten(
    bag: Path, out: Path, change: Callable[[dict[str, bytes]], Any], *, relist: bool = False
) -> Path:
    """Write a bag anew with its files changed; with `relist` its lists too, as somebody would who means it."""
    with zipfile.ZipFile(bag) as file:
        files = {name: file.read(name) for name in file.namelist()}
    top = next(iter(files)).split("/")[0]
    own = {name.removeprefix(f"{top}/"): content for name, content in files.items()}
    change(own)
    if relist:
        data = {name: content for name, content in own.items() if name.startswith("data/")}
        oxum = f"Payload-Oxum: {sum(map(len, data.values()))}.{len(data)}\n"
        info = [
            one for one in own["bag-info.txt"].decode().splitlines(True) if not one.startswith("Payload-Oxum")
        ]
        own["bag-info.txt"] = ("".join(info) + oxum).encode()
        for kind in ("manifest", "tagmanifest"):
            for algorithm in ("sha256", "sha512"):
                listed = data if kind == "manifest" else {
                    n: c for n, c in own.items() if not n.startswith(("data/", "tagmanifest"))
                }  # fmt: skip
                lines = [
                    f"{hashlib.new(algorithm, content).hexdigest()}  {name}\n"
                    for name, content in listed.items()
                ]
                own[f"{kind}-{algorithm}.txt"] = "".join(lines).encode()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in own.items():
            file.writestr(f"{top}/{name}", content)
    return out


def findings(path: Path) -> list[str]:
    with open_bag(path) as opened:
        return [str(one) for one in check_bag(opened)]


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_the_library_of_congress_and_coreutils_find_it_whole(run: Run, tmp_path: Path, suffix: str) -> None:
    bagit = pytest.importorskip("bagit")
    made = export_run(run.uri, tmp_path / f"run{suffix}", level="full")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(made.path) if suffix == ".zip" else tarfile.open(made.path) as file:
        file.extractall(unpacked, **({} if suffix == ".zip" else {"filter": "data"}))  # type: ignore[arg-type]
    (folder,) = unpacked.iterdir()
    found = bagit.Bag(str(folder))
    found.validate(processes=1)
    assert found.info["External-Identifier"] == f"small/{run.key.window.label}/{run.key.spec_digest[:16]}"
    for name in ("manifest-sha256.txt", "tagmanifest-sha512.txt"):
        tool = f"{name.rpartition('-')[2].removesuffix('.txt')}sum"
        assert subprocess.run([tool, "--check", "--quiet", name], cwd=folder, check=False).returncode == 0
    digest = hashlib.sha256((folder / "tagmanifest-sha256.txt").read_bytes()).hexdigest()
    assert digest == made.tag_manifest_sha256
    assert findings(made.path) == []


def test_the_same_run_gives_the_same_bytes(run: Run, bag: Path, tmp_path: Path) -> None:
    assert export_run(run.uri, tmp_path / "again.zip", level="full").path.read_bytes() == bag.read_bytes()
    first = export_run(run.uri, tmp_path / "1.tar").path.read_bytes()
    assert export_run(run.uri, tmp_path / "2.tar").path.read_bytes() == first


def test_the_crate_describes_every_file(bag: Path) -> None:
    with open_bag(bag) as opened:
        crate = json.loads(opened.content("ro-crate-metadata.json"))
        graph = {one["@id"]: one for one in crate["@graph"]}
        assert len(graph) == len(crate["@graph"])
        assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
        parts = [one["@id"] for one in graph["./"]["hasPart"]]
        assert parts == opened.payload
        for path in parts:
            assert graph[path]["@type"] == "File"
            assert graph[path]["contentSize"] == str(opened.sizes[path])
        for key in ("name", "description", "datePublished", "license"):
            assert graph["./"][key]


def test_it_comes_back_into_a_store_and_verifies(run: Run, bag: Path, tmp_path: Path, capsys: Any) -> None:
    store = str(tmp_path / "store")
    assert main(["import", str(bag), "--store", store]) == 0
    said = capsys.readouterr().out
    name = f"small/{run.key.window.label}/{run.key.spec_digest[:16]}"
    assert f"audit verify {open_store(store).uri(name)}" in said
    assert verify(open_store(store).uri(name)).ok
    before = {key: open_store(store).get(key) for key in open_store(store).list("")}
    journal = before.pop(f"{name}/journal.jsonl")
    assert [
        line + b"\n" for line in map(run.store.get, run.store.list("small/journal"))
    ] == journal.splitlines(True)
    assert {f"{name}/{path}": run.store.get(f"{name}/{path}") for path in run.list()} == before
    assert main(["import", str(bag), "--store", store]) == 0  # nothing is written twice
    path = tmp_path / "store" / name / "report" / "report.html"
    path.chmod(0o644)
    path.write_text("another")
    assert main(["import", str(bag), "--store", store]) == 2
    assert "is there already, and says something else" in capsys.readouterr().err


@pytest.mark.parametrize("first", ["full", "redacted"])
def test_two_levels_of_a_run_are_not_mixed_in_one_store(
    run: Run, bag: Path, tmp_path: Path, first: str
) -> None:
    redacted = export_run(run.uri, tmp_path / "redacted.zip", level="redacted").path
    one, other = (bag, redacted) if first == "full" else (redacted, bag)
    store = open_store(str(tmp_path / "store"))
    with open_bag(one) as opened:
        unpack(opened, store)
    before = store.list("")
    with open_bag(other) as opened, pytest.raises(ConflictError, match="another level of privacy"):
        unpack(opened, store)
    assert store.list("") == before
    assert verify(store.uri(f"{run.key.audit}/{run.key.window.label}/{run.key.spec_digest[:16]}")).ok


def test_a_bag_is_no_run_and_the_message_says_what_to_do(
    bag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(bag)]) == 2
    assert "`audit import` unpacks a bag" in capsys.readouterr().err


def test_a_run_that_failed_is_exported_too_and_one_that_is_open_is_not(tmp_path: Path) -> None:
    from audit_lib.archive.attempts import fault_of, seal, start

    run = new_run(tmp_path, str(tmp_path / "store"))
    number = start(run, "a test")
    with pytest.raises(IncompleteRunError, match="only a sealed run is exported"):
        export_run(run.uri, tmp_path / "open.zip")
    seal(run, number, [fault_of("sample", InputError("no rows"))])
    made = export_run(run.uri, tmp_path / "failed.zip")
    assert findings(made.path) == []
    with open_bag(made.path) as opened:
        assert "attempts/1/manifest.json" in opened.content("VERIFY.txt").decode()


def test_a_name_that_says_no_format_or_is_taken_is_refused(run: Run, bag: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"use \.zip or \.tar"):
        export_run(run.uri, tmp_path / "run.rar")
    with pytest.raises(ConflictError, match="is there already"):
        export_run(run.uri, bag)
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.pop(next(n for n in files if n.endswith("metrics.json"))), "and not in the bag"),
        (lambda files: files.update({"data/extra": b""}), "data/extra: is in no sha256 list"),
        (lambda files: files.update({"extra.txt": b""}), "extra.txt: is in no sha512 list"),
        (lambda files: files.update({"fetch.txt": b"http://x 1 data/y\n"}), "names files that are elsewhere"),
        (lambda files: files.pop("manifest-sha512.txt"), "manifest-sha512.txt: is missing"),
        (lambda files: files.pop("tagmanifest-sha256.txt"), "tagmanifest-sha256.txt: is missing"),
        (lambda files: files.pop("bagit.txt"), "bagit.txt: is missing"),
        (lambda files: files.update({"bagit.txt": b"BagIt-Version: 9"}), "declares neither"),
        (lambda files: files.update({"manifest-md5.txt": b""}), "an algorithm that is not looked at"),
        (lambda files: files.update({"manifest-sha256.txt": b"\xff"}), "is not UTF-8"),
        (
            lambda files: files.update({"manifest-sha256.txt": b"nonsense\n"}),
            "line 1 is not a digest and a path",
        ),
    ],
)
def test_each_thing_that_is_not_as_the_lists_say_is_named(
    bag: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], Any], said: str
) -> None:
    found = findings(rewritten(bag, tmp_path / "changed.zip", change))
    assert any(said in one for one in found), found


def test_a_flipped_byte_anywhere_is_found(bag: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bag) as file:
        names = [name.split("/", 1)[1] for name in file.namelist()]
    for number, name in enumerate(names):

        def flip(files: dict[str, bytes], name: str = name, number: int = number) -> None:
            content = bytearray(files[name] or b"\0")
            content[number % len(content)] ^= 1 << (number % 8)
            files[name] = bytes(content)

        assert findings(rewritten(bag, tmp_path / "flipped.zip", flip)), name


def test_lists_written_anew_hide_a_change_from_the_bag_and_not_from_verification(
    bag: Path, tmp_path: Path
) -> None:
    def forge(files: dict[str, bytes]) -> None:
        name = next(n for n in files if n.endswith("metrics/metrics.json"))
        files[name] = files[name].replace(b"0", b"1", 1)

    forged = rewritten(bag, tmp_path / "forged.zip", forge, relist=True)
    assert findings(forged) == []
    with open_bag(forged) as opened:
        (name,) = unpack(opened, open_store(str(tmp_path / "store")))
    assert not verify(open_store(str(tmp_path / "store")).uri(name)).ok


def packed(path: Path, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["bag/data/../../etc/passwd"], "no path within"),
        (["/etc/passwd"], "no path within"),
        (["bag//data"], "no path within"),
        (["bag/data/a\\b"], "no path within"),
        (["C:/x"], "no path within"),
        (["bag/data/a\u202etxt"], "no path within"),
        (["bag/data/a\x07"], "no path within"),
        (["bag/data/A", "bag/data/a"], "are one file on some machines"),
        (["bag/data/\u00e9", "bag/data/e\u0301"], "are one file on some machines"),
        (["bag/data/\uff41", "bag/data/a"], "are one file on some machines"),
        (["bag/data/a.json.", "bag/data/a.json"], "are one file on some machines"),
        (["bag/data/a .", "bag/data/a"], "are one file on some machines"),
        (["bag/data/b /a", "bag/data/b/a"], "are one file on some machines"),
        (["bag/data/a:b", "bag/data/a"], "no path"),
        (["bag/a", "other/a"], "a bag is one folder"),
        (["lonely"], "no path within"),
    ],
)
def test_names_that_reach_out_or_hide_each_other_are_refused(
    names: list[str], said: str, tmp_path: Path
) -> None:
    path = packed(tmp_path / "bad.zip", [(name, b"x") for name in names])
    with pytest.raises(EvidenceError, match=said), open_bag(path):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(EvidenceError, match="is in it twice"),
        open_bag(packed(tmp_path / "bad.zip", [("bag/a", b"x"), ("bag/a", b"y")])),
    ):
        pass


def test_links_and_bombs_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("bag/data/link")
    link.external_attr, link.create_system = (stat.S_IFLNK | 0o777) << 16, 3
    with (
        pytest.raises(EvidenceError, match="a link or a device"),
        open_bag(packed(tmp_path / "link.zip", [(link, b"/etc/passwd")])),
    ):
        pass
    with (
        pytest.raises(EvidenceError, match="it is not unpacked"),
        open_bag(packed(tmp_path / "bomb.zip", [("bag/data/zeros", bytes(80 << 20))])),
    ):
        pass
    path = tmp_path / "link.tar"
    with tarfile.open(path, "w") as file:
        entry = tarfile.TarInfo("bag/data/link")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(entry)
    with pytest.raises(EvidenceError, match="a link or a device"), open_bag(path):
        pass


def test_what_is_no_archive_is_said(tmp_path: Path, bag: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="neither a zip nor a tar"), open_bag(tmp_path / "x.zip"):
        pass
    with pytest.raises(InputError, match="there is no such file"), open_bag(tmp_path / "y.zip"):
        pass
    (tmp_path / "cut.zip").write_bytes(bag.read_bytes()[:-200])
    with pytest.raises(InputError), open_bag(tmp_path / "cut.zip"):
        pass


def test_damage_in_what_others_compressed_is_a_finding(bag: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bag) as file:
        path = packed(tmp_path / "x.zip", [(name, file.read(name)) for name in file.namelist()])
    assert findings(path) == []
    with zipfile.ZipFile(path) as file:
        entry = next(one for one in file.infolist() if one.filename.endswith("metrics/metrics.json"))
    content = bytearray(path.read_bytes())
    start = entry.header_offset + 30 + len(entry.filename)
    content[start : start + 40] = bytes([0xFF]) * 40
    path.write_bytes(bytes(content))
    (found,) = findings(path)
    assert "metrics/metrics.json: cannot be read" in found


def odd_tar(path: Path) -> Path:
    """A tar whose extended header says a length that no processor counts to."""
    header = b"99999999999999999999999 path=x\n"
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, len(header)
    content = info.tobuf(tarfile.USTAR_FORMAT) + header.ljust(512, b"\0")
    path.write_bytes(content + tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))
    return path


def test_a_tar_whose_headers_no_program_wrote_is_damaged(tmp_path: Path) -> None:
    path = odd_tar(tmp_path / "bag.tar")
    with pytest.raises(InputError, match=r"bag\.tar: is damaged \("), open_bag(path):
        pass
    assert main(["verify", str(path)]) == 2


def nameless(path: Path) -> Path:
    """A zip with a file whose name ends before it begins."""
    packed(path, [("xyzzy", b"")])
    path.write_bytes(path.read_bytes().replace(b"xyzzy", b"\0yzzy"))
    return path


def test_a_file_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"bag\.zip: holds a file without a name"):
        open_bag(nameless(tmp_path / "bag.zip")).__enter__()


def test_a_bag_of_anything_but_runs_is_not_imported(bag: Path, tmp_path: Path) -> None:
    changed = rewritten(
        bag, tmp_path / "x.zip", lambda files: files.update({"data/notes.txt": b"x"}), relist=True
    )
    with open_bag(changed) as opened, pytest.raises(EvidenceError, match="only runs are imported"):
        unpack(opened, open_store(str(tmp_path / "store")))
    assert open_store(str(tmp_path / "store")).list("") == []


@given(data=st.data())
def test_damaged_archives_are_findings_or_errors_and_never_a_traceback(
    bag: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(bag.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 3))
    path = tmp_path_factory.mktemp("damaged") / "x.zip"
    path.write_bytes(bytes(content[: len(content) - cut * 50]))
    try:
        found = findings(path)
    except AuditError:
        return
    if not found:  # then what is in it is what was in it
        with zipfile.ZipFile(path) as file, zipfile.ZipFile(bag) as whole:
            assert {n: file.read(n) for n in file.namelist()} == {n: whole.read(n) for n in whole.namelist()}


def test_it_tells_a_stranger_what_to_do_and_drafts_a_certificate(run: Run, tmp_path: Path) -> None:
    """The verifier itself is not in the bag: one that came with the evidence proves nothing."""
    export_run(run.uri, tmp_path / "evidence.zip")
    with open_bag(tmp_path / "evidence.zip") as opened:
        said, draft = (opened.content(name).decode() for name in ("VERIFY.txt", "CERTIFICATE-DRAFT.txt"))
        manifest = next(path for path in opened.sizes if path.endswith("evidence/manifest.json"))
        digest = hashlib.sha256(opened.content(manifest)).hexdigest()
        assert not any(path.endswith(".pyz") for path in opened.sizes)
    assert "python3 verify.pyz THIS-FOLDER --trust trust.json" in said and digest in said
    assert next(path for path in opened.sizes if path.endswith("journal.jsonl")) in said
    assert draft.startswith("DRAFT - NOT A CERTIFICATE") and digest in draft
    assert "902(13)" in draft and "902(14)" in draft and "[signature and printed name]" in draft
    assert max(map(len, f"{said}{draft}".splitlines())) <= 110, "but for a run's name, lines fit on a page"
