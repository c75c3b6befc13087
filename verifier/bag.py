"""A BagIt bag (RFC 8493) around a run: every file is in both lists, and no list names another one."""

from __future__ import annotations

import hashlib
import re

from verifier.findings import Verdict
from verifier.source import Source

_ALGORITHMS = ("sha256", "sha512")
_MOST = 256 << 20
_LINE = re.compile(r"([0-9a-fA-F]+)[ \t]+\*?(.+)")


def check_bag(bag: Source, verdict: Verdict) -> None:
    """Find what in a bag is not as its lists say."""
    if not re.fullmatch(
        rb"BagIt-Version: (0\.97|1\.0)\r?\nTag-File-Character-Encoding: UTF-8\r?\n?",
        bag.read("bagit.txt", 1024),
    ):
        verdict.find("bag", "bagit.txt", "declares neither BagIt 1.0 nor 0.97 in UTF-8")
    if "fetch.txt" in bag.sizes:
        verdict.find("bag", "fetch.txt", "names files that are elsewhere; evidence holds all of its own")
    payload = {path for path in bag.sizes if path.startswith("data/")}
    tags = {path for path in bag.sizes if path not in payload and not path.startswith("tagmanifest-")}
    _check_oxum(bag, verdict, payload)
    for algorithm in _ALGORITHMS:
        for name, own in ((f"manifest-{algorithm}.txt", payload), (f"tagmanifest-{algorithm}.txt", tags)):
            _check_list(bag, verdict, name, algorithm, own)
    for path in sorted(bag.sizes):
        found = re.fullmatch(r"(?:tag)?manifest-(.+)\.txt", path)
        if found and found[1] not in _ALGORITHMS:
            verdict.find("bag", path, "is a list by an algorithm that is not looked at")


def _check_oxum(bag: Source, verdict: Verdict, payload: set[str]) -> None:
    info = bag.read("bag-info.txt", _MOST).decode(errors="replace") if "bag-info.txt" in bag.sizes else ""
    said = re.findall(r"^Payload-Oxum: *([0-9]+)\.([0-9]+)\r?$", info, re.M)
    there = (str(sum(bag.sizes[path] for path in payload)), str(len(payload)))
    if said != [there]:
        verdict.find(
            "bag", "bag-info.txt", f"its Payload-Oxum is not {there[0]}.{there[1]}, as the files are"
        )


def _check_list(bag: Source, verdict: Verdict, name: str, algorithm: str, own: set[str]) -> None:
    if name not in bag.sizes:
        verdict.find("bag", name, "is missing")
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(bag.read(name, _MOST).decode(errors="replace").splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            verdict.find("bag", name, f"line {number} is not a digest and a path")
            continue
        path = _unescaped(found[2][2:] if found[2].startswith("./") else found[2])
        if listed.setdefault(path, found[1].lower()) != found[1].lower():
            verdict.find("bag", name, f"line {number}: has another digest of a file that is listed before")
    for path in sorted(set(listed) - own):
        verdict.find("bag", path, f"is in {name} and not in the bag")
    for path in sorted(own):
        if path not in listed:
            verdict.find("bag", path, f"is in the bag and not in {name}")
            continue
        digest = hashlib.new(algorithm)
        for piece in bag.pieces(path):
            digest.update(piece)
        if digest.hexdigest() != listed[path]:
            verdict.find("bag", path, f"is not the file that {name} lists")


def _unescaped(path: str) -> str:
    return re.sub(
        "%0[Aa]|%0[Dd]|%25", lambda code: {"%0A": "\n", "%0D": "\r", "%25": "%"}[code[0].upper()], path
    )
