"""Services like Sigstore's, made for a test: a certificate authority, a certificate log and a signature log.

Nothing of it comes from the package that checks: certificates by cryptography, the rest from the formats' texts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

IDENTITY, ISSUER = "audit@example.org", "https://login.example.org"
_SCTS = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_OIDC_ISSUER = ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_TYPE = "application/vnd.in-toto+json"


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def digest(content: bytes) -> dict[str, str]:
    return {"algorithm": "sha256", "value": hashlib.sha256(content).hexdigest()}


def spki(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def sign(key: ec.EllipticCurvePrivateKey, content: bytes) -> bytes:
    return key.sign(content, ec.ECDSA(hashes.SHA256()))


def name(words: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, words)])


def usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


@dataclass(frozen=True)
class Services:
    """The keys of the three, and the authority's certificate."""

    authority: ec.EllipticCurvePrivateKey
    certificates: ec.EllipticCurvePrivateKey
    signatures: ec.EllipticCurvePrivateKey
    root: x509.Certificate

    @classmethod
    def make(cls) -> Services:
        authority, certificates, signatures = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        now = datetime.now(UTC)
        root = (
            x509.CertificateBuilder()
            .subject_name(name("a test's authority"))
            .issuer_name(name("a test's authority"))
            .public_key(authority.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage(ca=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
            .sign(authority, hashes.SHA256())
        )
        return cls(authority, certificates, signatures, root)

    def trusted_root(self) -> str:
        """The text of a ``trusted_root.json`` with these services."""
        valid = {"start": "2020-01-01T00:00:00Z"}

        def log(key: ec.EllipticCurvePrivateKey, address: str) -> dict[str, Any]:
            return {
                "baseUrl": address,
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": b64(spki(key)),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": valid,
                },
                "logId": {"keyId": b64(hashlib.sha256(spki(key)).digest())},
            }

        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [log(self.signatures, "https://log.invalid")],
                "certificateAuthorities": [
                    {
                        "subject": {"organization": "a test", "commonName": "a test's authority"},
                        "uri": "https://ca.invalid",
                        "certChain": {
                            "certificates": [{"rawBytes": b64(self.root.public_bytes(Encoding.DER))}]
                        },
                        "validFor": valid,
                    }
                ],
                "ctlogs": [log(self.certificates, "https://ct.invalid")],
                "timestampAuthorities": [],
            }
        )

    def bundle(
        self, payload: bytes, *, identity: str = IDENTITY, issuer: str = ISSUER, at: datetime | None = None
    ) -> bytes:
        """A bundle over a statement, entered in the log at a time."""
        at = at or datetime.now(UTC)
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = self._leaf(key, identity, issuer, at)
        pem = leaf.public_bytes(Encoding.PEM)
        said = b"DSSEv1 %d %s %d " % (len(_TYPE), _TYPE.encode(), len(payload)) + payload
        signature = b64(sign(key, said))
        envelope = {
            "payload": b64(payload),
            "payloadType": _TYPE,
            "signatures": [{"sig": signature, "keyid": ""}],
        }
        body = json.dumps(
            {
                "apiVersion": "0.0.1",
                "kind": "dsse",
                "spec": {
                    "envelopeHash": {
                        "algorithm": "sha256",
                        "value": hashlib.sha256(json.dumps(envelope).encode()).hexdigest(),
                    },
                    "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()},
                    "signatures": [{"signature": signature, "verifier": b64(pem)}],
                },
            },
            sort_keys=True,
            separators=(",", ":"),
        ).encode()
        log_id = hashlib.sha256(spki(self.signatures)).digest()
        # The log has two entries; ours is the second.
        other = hashlib.sha256(b"\x00another entry").digest()
        own = hashlib.sha256(b"\x00" + body).digest()
        root = hashlib.sha256(b"\x01" + other + own).digest()
        note = f"log.invalid - 1\n2\n{b64(root)}\n"
        checkpoint = f"{note}\n\u2014 log.invalid {b64(log_id[:4] + sign(self.signatures, note.encode()))}\n"
        promised = json.dumps(
            {"body": b64(body), "integratedTime": int(at.timestamp()), "logID": log_id.hex(), "logIndex": 1},
            sort_keys=True,
            separators=(",", ":"),
        ).encode()
        entry = {
            "logIndex": "1",
            "logId": {"keyId": b64(log_id)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(int(at.timestamp())),
            "inclusionPromise": {"signedEntryTimestamp": b64(sign(self.signatures, promised))},
            "inclusionProof": {
                "logIndex": "1",
                "rootHash": b64(root),
                "treeSize": "2",
                "hashes": [b64(other)],
                "checkpoint": {"envelope": checkpoint},
            },
            "canonicalizedBody": b64(body),
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
                "verificationMaterial": {
                    "certificate": {"rawBytes": b64(leaf.public_bytes(Encoding.DER))},
                    "tlogEntries": [entry],
                },
                "dsseEnvelope": envelope,
            }
        ).encode()

    def _leaf(
        self, key: ec.EllipticCurvePrivateKey, identity: str, issuer: str, at: datetime
    ) -> x509.Certificate:
        """A certificate for ten minutes, with the promise of the certificate log in it (RFC 6962)."""
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.root.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(at - timedelta(minutes=1))
            .not_valid_after(at + timedelta(minutes=9))
            .add_extension(usage(ca=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key()),
                critical=False,
            )
            .add_extension(x509.SubjectAlternativeName([x509.RFC822Name(identity)]), critical=True)
            .add_extension(x509.UnrecognizedExtension(_OIDC_ISSUER, issuer.encode()), critical=False)
        )
        before = builder.sign(self.authority, hashes.SHA256()).tbs_certificate_bytes
        when = int(at.timestamp() * 1000)
        signed = struct.pack("!BBQH", 0, 0, when, 1) + hashlib.sha256(spki(self.authority)).digest()
        signed += len(before).to_bytes(3, "big") + before + b"\x00\x00"
        promise = sign(self.certificates, signed)
        sct = b"\x00" + hashlib.sha256(spki(self.certificates)).digest() + struct.pack("!QH", when, 0)
        sct += b"\x04\x03" + struct.pack("!H", len(promise)) + promise
        listed = struct.pack("!H", len(sct)) + sct
        listed = struct.pack("!H", len(listed)) + listed
        octets = (
            b"\x04" + (bytes([len(listed)]) if len(listed) < 128 else b"\x81" + bytes([len(listed)])) + listed
        )
        return builder.add_extension(x509.UnrecognizedExtension(_SCTS, octets), critical=False).sign(
            self.authority, hashes.SHA256()
        )
