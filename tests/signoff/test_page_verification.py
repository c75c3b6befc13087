"""A page of the public site, checked with its statement and an auditor's key alone."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from audit_lib.canonical import sha256
from audit_lib.cli.main import main
from audit_lib.documents.trust import Revocation, TrustedKey, TrustFile
from audit_lib.plain_text import _LATIN_SHAPES, _NEARLY_LATIN
from audit_lib.run import Run
from audit_lib.signing.keys import key_id
from audit_lib.signing.signers import open_signer
from audit_lib.signing.trust import sign_trust, trust_bytes
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.signoff.envelope import seal
from audit_lib.site import publish
from audit_lib.typed_json import decode
from tests.archive.cases import do, new_run

Say = Callable[..., dict[str, Any]]


def answers(run: Run, **changes: Any) -> AuditorAnswers:
    given: dict[str, Any] = {"auditor": "Ada Auditor", "organisation": "Independent LLP"}
    return AuditorAnswers(attested=tuple(attestations(run)), **given | changes)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one run that was signed twice, and keys."""
    folder = tmp_path_factory.mktemp("pages")
    run = do(new_run(folder, str(folder / "store")))
    for name in ("auditor", "other", "root"):
        generate_key(folder / f"{name}.key")
    key = load_private_key(folder / "auditor.key")
    sign_off(run, answers(run), key)
    sign_off(run, answers(run), key, supersede="a typing error")
    publish(str(folder / "store"))
    return folder


@pytest.fixture
def downloaded(made: Path, tmp_path: Path) -> Path:
    """The page of the run and what lies next to it, as somebody downloads them."""
    (page,) = (made / "store/site").glob("small/2*/*/report.html")
    return Path(shutil.copytree(page.parent, tmp_path / "downloaded"))


@pytest.fixture
def say(made: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run the command for its JSON, with the auditor's key as trusted; the exit code must be that of the verdict."""

    def run(page: object, *more: object, trust: object = None) -> dict[str, Any]:
        given = made / "auditor.key.pub" if trust is None else trust
        trusted = map(str, given if isinstance(given, list) else [given])
        code = main(["verify-page", str(page), *map(str, more), "--trust", *trusted, "--format", "json"])
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert code == {"verified": 0, "not verified": 1, "not decided": 2}[said["verdict"]]
        return said

    return run


def instant(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")


def trust_file(made: Path, tmp_path: Path, *roles: Any, **changes: Any) -> Path:
    """Write a trust file with the auditor's key."""

    def key(name: str, *roles: Any, **changes: Any) -> TrustedKey:
        said: dict[str, Any] = {"valid_from": instant(-1), "valid_until": instant(30)}
        return TrustedKey(
            name=name, public=(made / f"{name}.key.pub").read_text(), roles=roles, **said | changes
        )

    file = TrustFile(
        version=1,
        expires=instant(30),
        required=(),
        keys=(key("auditor", *(roles or ("auditor",)), **changes), key("root", "root")),
        authorities=(),
        heads=(),
    )
    (tmp_path / "trust.json").write_bytes(trust_bytes(file))
    return tmp_path / "trust.json"


@pytest.mark.parametrize("name", ["report.html", "report.json", "tables.csv", "signoff/1/report.html"])
def test_a_page_as_it_was_published_is_verified(name: str, downloaded: Path, say: Say) -> None:
    said = say(downloaded / name)
    assert (said["verdict"], said["auditor"]) == ("verified", "Ada Auditor")
    number = 1 if name.startswith("signoff/1") else 2
    assert said["signed_as"] == f"signoff/{number}/{name.rsplit('/')[-1]}"
    assert any("takes the place" in note for note in said["notes"]) == (number == 2)


def test_a_trust_file_knows_the_key_by_its_name(
    downloaded: Path, made: Path, tmp_path: Path, say: Say
) -> None:
    said = say(downloaded / "report.html", trust=trust_file(made, tmp_path))
    assert said["verdict"] == "verified"
    assert any('is "auditor" in the trust file' in note for note in said["notes"])


@pytest.mark.parametrize("name", ["report.html", "report.json", "tables.csv"])
def test_any_change_of_a_page_is_found(name: str, downloaded: Path, say: Say) -> None:
    path = downloaded / name
    content = path.read_bytes()
    for changed in (content + b"\n", content[:-1], content.replace(b"0", b"1", 1)):
        path.write_bytes(changed)
        (finding,) = say(path)["findings"]
        assert f"not the bytes that were signed as signoff/2/{name}" in finding


def test_a_page_under_another_name_is_known_by_its_bytes(downloaded: Path, say: Say) -> None:
    page = (downloaded / "report.html").rename(downloaded / "bias audit (1).htm")
    assert say(page, downloaded / "statement.dsse.json")["signed_as"] == "signoff/2/report.html"


def test_the_page_of_an_earlier_statement_is_not_that_of_the_later(downloaded: Path, say: Say) -> None:
    said = say(downloaded / "signoff/1/report.html", downloaded / "statement.dsse.json")
    assert "is of another statement" in said["findings"][0]


def test_the_unsigned_page_is_told_apart(downloaded: Path, made: Path, say: Say) -> None:
    (sealed,) = (made / "store").glob("small/2*/*/report/report.html")
    said = say(sealed, downloaded / "statement.dsse.json")
    assert (said["verdict"], said["signed_as"]) == ("verified", "report/report.html")
    assert any("without the auditor's signature" in note for note in said["notes"])


def test_without_a_statement_there_is_no_verdict(downloaded: Path, say: Say) -> None:
    (downloaded / "statement.dsse.json").unlink()
    said = say(downloaded / "report.html")
    assert said["verdict"] == "not decided" and "no statement" in said["undecided"][0]


def test_another_key_is_not_believed(downloaded: Path, made: Path, say: Say) -> None:
    said = say(downloaded / "report.html", trust=made / "other.key.pub")
    (finding,) = said["findings"]
    assert "none of the keys that you gave signed it" in finding and said["key"] == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"valid_until": instant(-0.5)}, "expired on"),
        ({"valid_from": instant(1)}, "is valid from"),
        ({"revoked": Revocation(at=instant(-0.5), reason="stolen")}, "was revoked"),
        ({"revoked": Revocation(at=instant(0.5), reason="stolen")}, "when it signed, it only claims"),
        ({"roles": ("plan", "result")}, "no auditor"),
    ],
)
def test_a_key_that_is_not_believed_for_that_time_is_found(
    changes: dict[str, Any], words: str, downloaded: Path, made: Path, tmp_path: Path, say: Say
) -> None:
    roles = changes.pop("roles", ())
    said = say(downloaded / "report.html", trust=trust_file(made, tmp_path, *roles, **changes))
    assert words in said["findings"][0]


def signed_anew(made: Path, statement: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Sign another statement with the auditor's own key."""
    payload = json.loads(base64.b64decode(json.loads(statement.read_bytes())["payload"]))
    change(payload)
    statement.write_bytes(seal(payload, load_private_key(made / "auditor.key")))


LOOKING_LIKE = {
    "one letter of Cyrillic": ("Independent L\u041bP", "has letters of CYRILLIC and LATIN"),
    "full width": ("\uff29ndependent LLP", "in other letters"),
    "all of it in Cyrillic": ("\u0410\u0421\u041c\u0415", "that look like LATIN ones"),
    "a word in Cyrillic, a word in Latin": ("\u0410\u0421\u041c\u0415 LLP", "that look like LATIN ones"),
    "a word in Cyrillic, a word in Greek": (
        "\u0410\u0421\u041c\u0415 \u039f\u039d\u0395",
        "that look like LATIN ones",
    ),
}


@pytest.mark.parametrize("name", LOOKING_LIKE)
def test_names_that_are_written_to_look_like_others_are_found(
    name: str, downloaded: Path, made: Path, say: Say
) -> None:
    written, words = LOOKING_LIKE[name]
    change = lambda payload: payload["predicate"].update(organisation=written)  # noqa: E731
    signed_anew(made, downloaded / "statement.dsse.json", change)
    (finding,) = say(downloaded / "report.html")["findings"]
    assert finding.startswith("organisation:") and words in finding


@pytest.mark.parametrize(
    "written",
    [
        "Zoë & Søn ApS",
        "厨师事务所",
        "Новый Аудит",
        "Новый Аудит LLP",
        "Ελεγκτική ΑΕ",
        "日本語カタカナ株式会社",
    ],
)
def test_names_of_any_people_are_no_finding(written: str, downloaded: Path, made: Path, say: Say) -> None:
    change = lambda payload: payload["predicate"].update(organisation=written)  # noqa: E731
    signed_anew(made, downloaded / "statement.dsse.json", change)
    assert say(downloaded / "report.html")["verdict"] == "verified"


def test_a_time_in_the_future_is_found(downloaded: Path, made: Path, say: Say) -> None:
    change = lambda payload: payload["predicate"].update(signed_at="2126-02-02T09:30:00+00:00")  # noqa: E731
    signed_anew(made, downloaded / "statement.dsse.json", change)
    assert "in the future" in say(downloaded / "report.html")["findings"][0]


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 200_000, b'{"payload": "e30="}', b"\xff\xfe"])
def test_what_is_no_statement_is_a_finding(content: bytes, downloaded: Path, say: Say) -> None:
    (downloaded / "statement.dsse.json").write_bytes(content)
    assert "not a signed statement" in say(downloaded / "report.html")["findings"][0]


CHANGED_ENVELOPES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "another type": lambda envelope: envelope | {"payloadType": "text/plain"},
    "its signature twice": lambda envelope: envelope | {"signatures": envelope["signatures"] * 2},
    "another signature": lambda envelope: envelope | {
        "signatures": [envelope["signatures"][0] | {"sig": base64.b64encode(bytes(64)).decode()}]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED_ENVELOPES)
def test_an_envelope_that_its_key_did_not_sign_so_is_said_to_be_changed(
    name: str, downloaded: Path, say: Say
) -> None:
    path = downloaded / "statement.dsse.json"
    path.write_bytes(json.dumps(CHANGED_ENVELOPES[name](json.loads(path.read_bytes()))).encode())
    assert (
        "which you gave, and is not as that key signed it" in say(downloaded / "report.html")["findings"][0]
    )


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("name", ["report.html", "statement.dsse.json"])
def test_a_file_that_was_cut_is_found(name: str, part: float, downloaded: Path, say: Say) -> None:
    path = downloaded / name
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    said = say(downloaded / "report.html")
    assert said["verdict"] == "not verified" and len(said["findings"]) == 1


def test_a_key_that_was_rotated_out_is_named(downloaded: Path, made: Path, tmp_path: Path, say: Say) -> None:
    first = trust_file(made, tmp_path).rename(tmp_path / "1.json")
    said = json.loads(first.read_bytes())
    said |= {"version": 2, "previous_sha256": sha256(first.read_bytes())}
    said["keys"] = [key for key in said["keys"] if key["name"] != "auditor"]
    later = decode(TrustFile, json.dumps(said), "2.json")
    (tmp_path / "2.json").write_bytes(sign_trust(later, [open_signer(f"file:{made / 'root.key'}")]))
    said = say(downloaded / "report.html", trust=[first, tmp_path / "2.json"])
    assert "(auditor) was rotated out of the trust file" in said["findings"][0]


def test_a_signature_from_before_its_window_ended_is_noted(downloaded: Path, made: Path, say: Say) -> None:
    change = lambda payload: payload["predicate"].update(signed_at="1999-01-01T00:00:00+00:00")  # noqa: E731
    signed_anew(made, downloaded / "statement.dsse.json", change)
    assert any("before its window was over" in note for note in say(downloaded / "report.html")["notes"])


NO_KEYS = {
    "private": (lambda made: (made / "auditor.key").read_bytes(), "is a private key"),
    "empty": (lambda made: b"", "not a public key in PEM form"),
    "no PEM": (lambda made: b"\x00\xff" * 40, "not a public key in PEM form"),
    "cut": (lambda made: (made / "auditor.key.pub").read_bytes()[:60], "not a public key in PEM form"),
    "another curve": (lambda made: ec_key(), "not an Ed25519 key"),
    "no trust file": (lambda made: b'{"keys": []}', "version: is missing"),
}  # fmt: skip


def ec_key() -> bytes:
    form = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    curves = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    public = curves.generate_private_key(curves.SECP256R1()).public_key()
    content: bytes = public.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return content


@pytest.mark.parametrize("name", NO_KEYS)
def test_what_is_no_key_is_refused_with_its_reason(
    name: str, downloaded: Path, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = NO_KEYS[name]
    (tmp_path / "given").write_bytes(content(made))
    page = str(downloaded / "report.html")
    assert main(["verify-page", page, "--trust", str(tmp_path / "given")]) == 2
    assert words in capsys.readouterr().err


def test_a_folder_is_no_page(downloaded: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify-page", str(downloaded), "--trust", str(made / "auditor.key.pub")]) == 2
    assert "is no file" in capsys.readouterr().err


def test_a_signature_of_nobody_is_none(downloaded: Path, say: Say) -> None:
    path = downloaded / "statement.dsse.json"
    document = json.loads(path.read_bytes())
    path.write_bytes(json.dumps(document | {"signatures": []}).encode())
    assert say(downloaded / "report.html")["verdict"] == "not verified"


@pytest.fixture(scope="module")
def address(made: Path) -> Iterator[str]:
    """The public site on loopback."""
    handler = partial(_Quiet, directory=str(made / "store/site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def test_from_the_public_site(address: str, made: Path, say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    site = made / "store/site"
    (page,) = site.glob("small/2*/*/report.html")
    where = f"{address}/{page.relative_to(site).as_posix()}"
    assert say(where)["verdict"] == say(f"{where}?from=a+friend#table-1")["verdict"] == "verified"
    assert say(f"{address}/small/latest/report.html")["verdict"] == "not decided"
    assert main(["verify-page", f"{address}/no.html", "--trust", str(made / "auditor.key.pub")]) == 2
    assert main(["verify-page", "http://127.0.0.1:1/x.html", "--trust", str(made / "auditor.key.pub")]) == 2
    said = capsys.readouterr().err
    assert "is not there" in said and "refused" in said


def test_it_is_told_for_people(downloaded: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["verify-page", str(downloaded / "report.html"), "--trust", str(made / "auditor.key.pub")]) == 0
    )
    said = capsys.readouterr().out
    mark = key_id(load_private_key(made / "auditor.key").public_key())[:16]
    assert said.startswith("VERIFIED ") and 'signed by "Ada Auditor", "Independent LLP", on ' in said
    assert mark in said


def test_letters_that_look_latin_are_not_and_are_taken_for_latin_ones() -> None:
    for letters in (_LATIN_SHAPES, _NEARLY_LATIN):
        assert not any(char.isascii() for char in letters)
        assert all(len(latin) == 1 and latin.isascii() and latin.isalpha() for latin in letters.values())
