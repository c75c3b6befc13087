"""A time stamping authority on loopback, made of OpenSSL: not an independent one, and never called one."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

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


@dataclass(frozen=True)
class Authority:
    """Where it is asked, and the certificate that its stamps are checked against."""

    url: str
    root_pem: str


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make(folder: Path, name: str = "local OpenSSL authority") -> str:
    """Make keys and certificates; return the root's."""
    (folder / "openssl.cnf").write_text(CONFIG.format(name=name, folder=folder))
    (folder / "serial").write_text("01\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "openssl.cnf"]
    _openssl(
        folder,
        "req",
        "-x509",
        *key,
        "-keyout",
        "root.key",
        "-out",
        "root.pem",
        "-days",
        "30",
        "-extensions",
        "root",
    )
    _openssl(folder, "req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", f"/CN={name} 1")
    _openssl(
        folder, "x509", "-req", "-in", "tsa.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
        "-out", "tsa.pem", "-days", "30", "-extfile", "openssl.cnf", "-extensions", "stamping",
    )  # fmt: skip
    return (folder / "root.pem").read_text()


@contextmanager
def serving(folder: Path) -> Iterator[Authority]:
    """Answer requests for stamps until the block ends."""
    root = make(folder)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                (folder / "question.tsq").write_bytes(question)
                _openssl(
                    folder, "ts", "-reply", "-config", "openssl.cnf", "-section", "own", "-queryfile",
                    "question.tsq", "-out", "answer.tsr",
                )  # fmt: skip
                answer = (folder / "answer.tsr").read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Authority(f"http://127.0.0.1:{server.server_address[1]}/", root)
        finally:
            server.shutdown()
            thread.join()
