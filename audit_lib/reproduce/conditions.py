"""What is not here as it was where a run was made: model, template, options, software, processor."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from audit_lib.archive.environment import ENVIRONMENT
from audit_lib.archive.software import software
from audit_lib.documents.environment import Distribution, Environment
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.reproduction import ConditionDifference
from audit_lib.reproduce.sealed_bundle import SealedBundle
from audit_lib.run import Run

ConditionKind = Literal["model", "template", "settings", "backend", "software", "processor"]

_OF_TEMPLATE: Final = ("chat_template.jinja", "chat_template.json", "tokenizer_config.json")
_KIND: Final[Mapping[str, ConditionKind]] = {
    "weights_sha256": "model",
    "files": "model",
    "revision": "model",
    "architecture": "model",
    "quantised": "model",
    "tokenizer_sha256": "model",
    "template": "template",
    "backend": "backend",
    "base_url": "backend",
    "url": "backend",
    "device_name": "processor",
    "linear": "processor",
    "device": "settings",
}
"""Key of ``model.json`` -> what it is about; all others are settings."""
_UNMARKED: Final = ("fingerprint", "versions", "client", "options", "ways", "floor_against_float32")
"""Of ``model.json``: looked at by themselves, consequences of others, or what changes no answer."""
_SCORES: Final = frozenset(
    {"accelerate", "audit-lib", "httpx2", "numpy", "openai", "pydantic-ai", "pydantic-ai-slim", "safetensors"}
    | {"tokenizers", "torch", "transformers", "vllm"}
)
"""Distributions that take part in asking a model."""


def described_models(run: Run) -> dict[str, dict[str, Any]]:
    """Return ``model.json`` of each shard: what answered there."""
    shards = sorted(path.rsplit("/", 1)[0] for path in run.list("scores") if path.endswith("/model.json"))
    return {shard: run.stage(shard).read_json("model.json") for shard in shards}


def condition_differences(
    bundle: SealedBundle, described: Mapping[str, Any], here: Environment
) -> list[ConditionDifference]:
    """Compare what a run recorded with what is here, before anything is asked.

    Parameters
    ----------
    bundle : SealedBundle
    described : mapping of str to object
        The model here, as its backend describes it.
    here : Environment
        What is installed here.

    Returns
    -------
    list of ConditionDifference
        Shards of several machines are each compared; the same difference is told once.
    """
    found: dict[str, ConditionDifference] = {}
    for archived in described_models(bundle.run).values():
        for one in (*_of_model(archived, described), *_of_options(archived, described)):
            found.setdefault(f"{one.kind} {one.what} {one.archived}", one)
        for one in _of_versions(archived.get("versions") or {}, described.get("versions") or {}):
            found.setdefault(f"{one.kind} {one.what} {one.archived}", one)
    told = {one.what for one in found.values()}
    rest = [*_of_environment(bundle, here), *_of_machine(bundle.manifest)]
    return [*found.values(), *(one for one in rest if one.what not in told)]


def _of_model(archived: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[ConditionDifference]:
    by_digest = "weights_sha256" in archived and "weights_sha256" in described
    before, now = archived.get("files"), described.get("files")
    by_file = by_digest and isinstance(before, dict) and isinstance(now, dict)
    for key in sorted({*archived, *described} - set(_UNMARKED)):
        one, other = archived.get(key), described.get(key)
        # A folder may lie elsewhere; where the files are known one by one, they tell more than the digest of all.
        skipped = (key == "name" and by_digest) or (key == "weights_sha256" and by_file)
        if one == other or skipped or (key == "files" and not by_file):
            continue
        if key == "files":
            yield from _of_files(before or {}, now or {}, archived, described)
        elif key == "template":
            yield from _of_template(one, other)
        else:
            yield _difference(
                "model" if key == "name" else _KIND.get(key, "settings"), f"model: {key}", one, other
            )


def _of_files(
    before: Mapping[str, str],
    now: Mapping[str, str],
    archived: Mapping[str, Any],
    described: Mapping[str, Any],
) -> Iterator[ConditionDifference]:
    """Name the files of a model's folder that differ; those that write prompts are the template's, if that differs."""
    other_template = archived.get("template") != described.get("template")
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            kind: ConditionKind = "template" if other_template and name in _OF_TEMPLATE else "model"
            yield _difference(kind, f"model: file {name}", before.get(name), now.get(name))


def _of_template(one: Any, other: Any) -> Iterator[ConditionDifference]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if one.get(key) != other.get(key):
                yield _difference("template", f"chat template: {key}", one.get(key), other.get(key))
    else:
        yield _difference("template", "chat template", one, other)


def _of_options(archived: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[ConditionDifference]:
    one, other = (dict(each.get("options") or {}) for each in (archived, described))
    for key in sorted({*one, *other}):
        # What the model says of itself (dtype, device) is told above.
        if one.get(key) != other.get(key) and archived.get(key) == described.get(key):
            yield _difference(
                _KIND.get(key, "settings"), f"model.options.{key}", one.get(key), other.get(key)
            )


def _of_versions(archived: Mapping[str, str], here: Mapping[str, str]) -> Iterator[ConditionDifference]:
    for name in sorted({*archived, *here}):
        if archived.get(name) != here.get(name):
            yield _difference("software", name, archived.get(name), here.get(name))


def _of_environment(bundle: SealedBundle, here: Environment) -> Iterator[ConditionDifference]:
    if bundle.manifest.environment is None:
        archived = bundle.manifest.software
        yield from _of_versions(
            {name: text for name, text in archived.items() if name in ("python", "numpy", "audit-lib")},
            {name: text for name, text in software().items() if name in ("python", "numpy", "audit-lib")},
        )
        return
    there = bundle.run.stage("evidence").read_document(Environment, ENVIRONMENT)
    for name, one, other in (
        ("python", there.python, here.python),
        ("audit_lib, its files", there.code_sha256, here.code_sha256),
    ):
        if one != other:
            yield _difference("software", name, one, other)
    before, now = ({each.name: each for each in side.distributions} for side in (there, here))
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            yield ConditionDifference(
                kind="software",
                what=name,
                archived=_words(before.get(name)),
                here=_words(now.get(name)),
                matters=name in _SCORES,
            )


def _words(installed: Distribution | None) -> str | None:
    """Say which version; of the same version of which other files are installed, the digest tells."""
    if installed is None:
        return None
    return f"{installed.version} (RECORD {(installed.record_sha256 or 'none')[:16]})"


def _of_machine(manifest: Manifest) -> Iterator[ConditionDifference]:
    for name, here in (("machine", platform.machine()), ("system", platform.system())):
        if (there := manifest.software.get(name)) is not None and there != here:
            yield _difference("processor", name, there, here)


def _difference(kind: ConditionKind, what: str, archived: Any, here: Any) -> ConditionDifference:
    return ConditionDifference(kind=kind, what=what, archived=archived, here=here, matters=True)
