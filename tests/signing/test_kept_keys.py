"""Keys that a device or a service keeps: SoftHSM as the device, and on loopback a double of the service's API."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from audit_lib.archive.verify import verify
from audit_lib.documents.trust import TrustedKey, TrustFile
from audit_lib.errors import BackendError, InputError
from audit_lib.signing.signers import PAYLOAD_TYPE, open_signer, sign_payload
from audit_lib.signing.trust import read_trust, trust_bytes
from audit_lib.signoff import verify_signed
from tests.archive.cases import do, new_run
from tests.signing.conftest import instant

LIBRARIES = ("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so")

GENERATE = """
import sys, pkcs11
from pkcs11.util.ec import encode_ec_public_key, encode_named_curve_parameters
token = pkcs11.lib(sys.argv[1]).get_token(token_label="audit")
with token.open(rw=True, user_pin="1234") as session:
    curve = {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")}
    domain = session.create_domain_parameters(pkcs11.KeyType.EC, curve, local=True)
    public, _ = domain.generate_keypair(store=True, id=bytes([2]), label="runs")
    sys.stdout.buffer.write(encode_ec_public_key(public))
"""


def public_pem(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with SoftHSM's tokens, of which a process opens one only, and a P-256 key that never leaves them."""
    pytest.importorskip("pkcs11", reason="python-pkcs11, of securesystemslib[hsm]")
    library = next((one for one in LIBRARIES if Path(one).exists()), None)
    if library is None or shutil.which("softhsm2-util") is None:
        pytest.skip("SoftHSM is not installed (Debian: softhsm2)")
    folder = tmp_path_factory.mktemp("device")
    (folder / "tokens").mkdir()
    settings = f"directories.tokendir = {folder}/tokens\nobjectstore.backend = file\n"
    (folder / "softhsm2.conf").write_text(settings)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SOFTHSM2_CONF", str(folder / "softhsm2.conf"))
        environment.setenv("PYKCS11LIB", library)
        made = "softhsm2-util --init-token --free --label audit --so-pin 0000 --pin 1234"
        subprocess.run(made.split(), check=True, capture_output=True)
        der = subprocess.run(
            [sys.executable, "-c", GENERATE, library], check=True, capture_output=True
        ).stdout
        key: Any = form.load_der_public_key(der)
        (folder / "device.pub").write_bytes(public_pem(key))
        yield folder


@pytest.fixture
def device(token: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of that key."""
    monkeypatch.setenv("AUDIT_SIGNER_PUBLIC", str(token / "device.pub"))
    monkeypatch.setenv("AUDIT_SIGNING_PASSPHRASE", "1234")
    return "pkcs11:2?label=audit"


class Service:
    """Signs digests as AWS KMS answers `Sign`: JSON, with the target in a header; other keys are not found."""

    def __init__(self, name: str, key: ec.EllipticCurvePrivateKey) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known = asked["KeyId"] == name
                assert self.headers["X-Amz-Target"] == "TrentService.Sign"
                assert (asked["MessageType"], asked["SigningAlgorithm"]) == ("DIGEST", "ECDSA_SHA_256")
                signature = key.sign(base64.b64decode(asked["Message"]), ec.ECDSA(Prehashed(hashes.SHA256())))
                answer: dict[str, str] = (
                    {"KeyId": name, "Signature": base64.b64encode(signature).decode()}
                    if known
                    else {"__type": "NotFoundException", "message": f"Invalid keyId {asked['KeyId']}"}
                )
                body = json.dumps(answer).encode()
                self.send_response(200 if known else 400)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URI of a key in a service that speaks as AWS KMS does."""
    key = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "service.pub").write_bytes(public_pem(key.public_key()))
    one = Service("runs", key)
    for name, value in {
        "AUDIT_SIGNER_PUBLIC": str(tmp_path / "service.pub"),
        "AWS_ENDPOINT_URL_KMS": f"http://127.0.0.1:{one.server.server_port}",
        "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    yield "awskms:runs"
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture(params=["device", "service"])
def uri(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def test_a_run_that_it_signs_verifies_under_trust(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_SIGNER", uri)
    run = do(new_run(tmp_path, str(tmp_path / "store")))
    assert verify(run.uri).findings == ()
    pem = Path(os.environ["AUDIT_SIGNER_PUBLIC"]).read_text()
    key = TrustedKey(
        name="runs", public=pem, roles=("plan", "result"), valid_from=instant(-1), valid_until=instant(30)
    )
    file = TrustFile(
        version=1, expires=instant(30), required=("plan", "result"), keys=(key,), authorities=(), heads=()
    )
    (tmp_path / "trust.json").write_bytes(trust_bytes(file))
    trust = read_trust([tmp_path / "trust.json"], datetime.now(UTC))
    checked = verify_signed(run.uri, trust=trust)
    assert checked.ok, checked.summary()
    assert sum("key" in line for line in checked.run_signatures) == 2
    path = Path(run.uri) / "signatures/result.dsse.json"
    envelope = json.loads(path.read_bytes())
    signature = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    signature[-1] ^= 1
    content = path.read_text().replace(envelope["signatures"][0]["sig"], base64.b64encode(signature).decode())
    path.chmod(0o644)
    path.write_text(content)
    assert "signatures/result.dsse.json" in {one.path for one in verify_signed(run.uri, trust=trust).findings}


def test_a_key_that_signs_other_than_the_public_one_says_is_refused(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    (tmp_path / "other.pub").write_bytes(public_pem(other))
    monkeypatch.setenv("AUDIT_SIGNER_PUBLIC", str(tmp_path / "other.pub"))
    with pytest.raises(InputError, match="does not verify with the key that AUDIT_SIGNER_PUBLIC names"):
        sign_payload(b"{}", PAYLOAD_TYPE, [open_signer(uri)])


def test_no_plan_is_written_that_the_device_does_not_sign(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_SIGNER", device)
    monkeypatch.setenv("AUDIT_SIGNING_PASSPHRASE", "4321")
    run = new_run(tmp_path, str(tmp_path / "store"))
    with pytest.raises(
        BackendError, match=r"AUDIT_SIGNER=pkcs11:2\?label=audit: cannot be used \(PinIncorrect"
    ):
        do(run)
    assert not run.stage("scores/0").is_complete()


def test_a_device_without_a_pin_and_a_key_that_is_not_there_are_named(
    device: str, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        BackendError, match=r"awskms:nobody: cannot be used \(NotFoundException.*Invalid keyId nobody"
    ):
        sign_payload(b"{}", PAYLOAD_TYPE, [open_signer("awskms:nobody")])
    monkeypatch.delenv("AUDIT_SIGNING_PASSPHRASE")
    with pytest.raises(InputError, match="AUDIT_SIGNING_PASSPHRASE must be the PIN of the device"):
        open_signer(device)
