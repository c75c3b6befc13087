"""Ed25519 against RFC 8032's vectors, against OpenSSL, and against what malleable verifiers accept."""

from __future__ import annotations

import random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from verifier import ed25519

ORDER = 2**252 + 27742317777372353535851937790883648493
PRIME = 2**255 - 19
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
        "454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
        "3dca179c138ac17ad9bef1177331a704",
    ),
]
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


def openssl(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_vectors_of_the_rfc(public: str, message: str, signature: str) -> None:
    key, text, sig = (bytes.fromhex(one) for one in (public, message, signature))
    assert ed25519.verify(key, text, sig)
    assert not ed25519.verify(key, text + b"x", sig)
    for place in range(0, 64, 7):
        assert not ed25519.verify(key, text, sig[:place] + bytes([sig[place] ^ 1]) + sig[place + 1 :])


@pytest.mark.parametrize("seed", range(12))
def test_it_says_what_openssl_says(seed: int) -> None:
    rng = random.Random(seed)
    private = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
    public, message = private.public_key().public_bytes_raw(), rng.randbytes(rng.randrange(200))
    signature = private.sign(message)
    assert ed25519.verify(public, message, signature)
    for changed in (
        (public, message + b"\0", signature),
        (public, message, signature[32:] + signature[:32]),
        (rng.randbytes(32), message, signature),
        (public, message, rng.randbytes(64)),
        (public, message, signature[:-1]),
    ):
        assert not ed25519.verify(*changed)
        assert len(changed[2]) != 64 or not openssl(*changed)


def test_the_second_form_of_a_signature_is_refused() -> None:
    """S plus the order of the group makes the same equation hold."""
    private = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
    public, signature = private.public_key().public_bytes_raw(), private.sign(b"plan")
    second = int.from_bytes(signature[32:], "little") + ORDER
    assert not ed25519.verify(public, b"plan", signature[:32] + second.to_bytes(32, "little"))


@pytest.mark.parametrize("public", SMALL_ORDER)
def test_a_key_that_signs_everything_is_refused(public: str) -> None:
    """With S = 0 and R the neutral point, or a point of small order, such a key has signed any message, or one in 8."""
    key = bytes.fromhex(public)
    for first in SMALL_ORDER:
        for message in (b"", b"a", b"b", b"plan"):
            assert not ed25519.verify(key, message, bytes.fromhex(first) + bytes(32))


def test_other_encodings_of_a_point_are_refused() -> None:
    """y of p and more, and a sign where x is 0."""
    for y in (PRIME, PRIME + 1):
        for sign in (0, 1 << 255):
            key = (y | sign).to_bytes(32, "little")
            assert not ed25519.verify(key, b"", bytes.fromhex(SMALL_ORDER[0]) + bytes(32))
    private = Ed25519PrivateKey.from_private_bytes(b"\x09" * 32)
    public = private.public_key().public_bytes_raw()
    for first in (PRIME + 1, 1 | 1 << 255):
        assert not ed25519.verify(public, b"", first.to_bytes(32, "little") + bytes(32))


def test_what_is_no_point_is_refused() -> None:
    refused = 0
    for y in range(2, 30):
        key = y.to_bytes(32, "little")
        refused += ed25519._decode(key) is None
        assert not ed25519.verify(key, b"", bytes(64))
    assert 5 < refused < 25, "about half of all numbers are no y of a point"
