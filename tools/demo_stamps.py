"""`make audit`: run a command with a signing key and a time stamping authority of this machine, made with OpenSSL.

    python tools/demo_stamps.py FOLDER COMMAND ...

The authority answers while the command runs. Whoever runs the audit runs it too, so what it says convinces nobody else:
it is not independent, and the statements, the page and `audit verify` say so. FOLDER keeps the keys, and `trust.json`,
by which the runs can be verified. Where openssl or the extra `sign` is not here, or a signer is configured already, the
command runs as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

NAME = "demo authority of this machine (not independent)"
DAYS = 3650
CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[stamping]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = own
[own]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
ordering = yes
ess_cert_id_alg = sha256
"""


def main(arguments: list[str]) -> int:
    """Run the command, with stamps if they can be had; return its exit code."""
    folder, command = Path(arguments[0]).resolve(), arguments[1:]
    if why := why_not():
        print(f"The demo's plan and result get no time stamps: {why}.")
        return subprocess.run(command).returncode
    try:
        made(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        print(
            f"The demo's plan and result get no time stamps: openssl made no authority ({type(error).__name__})."
        )
        return subprocess.run(command).returncode
    with authority(folder) as url:
        print(
            f"Plan and result are signed and stamped by keys in {folder}: of this machine, not independent."
        )
        environment = {
            "AUDIT_SIGNER": f"file:{folder / 'service.key'}",
            "AUDIT_TIMESTAMP_URL": url,
            "AUDIT_TIMESTAMP_OWN": "yes",
        }
        code = subprocess.run(command, env=os.environ | environment).returncode
    print(f"To verify it under trust:  audit verify RUN --trust {folder / 'trust.json'}")
    return code


def why_not() -> str:
    """Say why there are no stamps of the demo's own; empty where there are."""
    if os.environ.get("AUDIT_SIGNER") or os.environ.get("AUDIT_TIMESTAMP_URL"):
        return "a signer or an authority is configured already, which are used as they are"
    if lacking := [
        name for name in ("cryptography", "rfc3161_client", "securesystemslib") if not find_spec(name)
    ]:
        return f"the extra sign is not installed ({', '.join(lacking)})"
    if which("openssl") is None:
        return "openssl is not installed here"
    return ""


def made(folder: Path) -> None:
    """Make the keys and the trust file, the first time."""
    if (folder / "trust.json").is_file():
        return
    from audit_lib.canonical import canonical_json
    from audit_lib.documents.trust import TrustedAuthority, TrustedKey, TrustFile
    from audit_lib.signing.keys import generate_key

    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / "openssl.cnf").write_text(CONFIG.format(name=NAME, folder=folder))
    (folder / "serial").write_text("01\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "openssl.cnf"]
    days = ["-days", str(DAYS)]
    openssl(
        folder, "req", "-x509", *key, "-keyout", "root.key", "-out", "root.pem", *days, "-extensions", "root"
    )
    openssl(folder, "req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=demo stamps")
    openssl(
        folder, "x509", "-req", "-in", "tsa.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
        "-out", "tsa.pem", *days, "-extfile", "openssl.cnf", "-extensions", "stamping",
    )  # fmt: skip
    for name in ("service", "roots"):
        if not (folder / f"{name}.key").exists():
            generate_key(folder / f"{name}.key")
    now = datetime.now(UTC)
    since, until = ((now + timedelta(days=n)).isoformat(timespec="seconds") for n in (-1, DAYS))

    def trusted(name: str, file: str, *roles: str) -> TrustedKey:
        public = (folder / f"{file}.key.pub").read_text()
        return TrustedKey(name=name, public=public, roles=roles, valid_from=since, valid_until=until)  # type: ignore[arg-type]

    trust = TrustFile(
        version=1,
        expires=until,
        required=("plan", "result", "time stamps"),
        keys=(trusted("the demo", "service", "plan", "result"), trusted("the demo's root", "roots", "root")),
        authorities=(
            TrustedAuthority(name=NAME, certificates=((folder / "root.pem").read_text(),), independent=False),
        ),
        heads=(),
    )
    (folder / "trust.json").write_bytes(canonical_json(trust.as_dict()))


@contextmanager
def authority(folder: Path) -> Iterator[str]:
    """Answer requests for stamps on loopback until the block ends; gives the address."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(min(int(self.headers["Content-Length"]), 1 << 16))
            with lock, TemporaryDirectory() as place:
                asked, answer = Path(place) / "question.tsq", Path(place) / "answer.tsr"
                asked.write_bytes(question)
                openssl(
                    folder, "ts", "-reply", "-config", "openssl.cnf", "-section", "own", "-queryfile", str(asked),
                    "-out", str(answer),
                )  # fmt: skip
                content = answer.read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def openssl(folder: Path, *arguments: str) -> None:
    """Run openssl in the folder.

    Raises
    ------
    subprocess.CalledProcessError
        If it does not do what is asked.
    """
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
