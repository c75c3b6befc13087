"""What an audit needs is looked for before the first request is paid for, and every fault is told at once.

Packages, the model, the endpoint and its key, the inputs, and a store that can be written: each lack of one would
otherwise stop the run at the stage that meets it first, after the scoring was paid.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from audit_lib import pipeline
from audit_lib.archive.store_record import look_at_store, why_not_kept
from audit_lib.backends import Probe
from audit_lib.errors import AuditError, BackendError, PreflightError, StoreError, StoreUnreachableError
from audit_lib.perturb.template import read_template
from audit_lib.sample.sources import source_of
from audit_lib.sample.tables import unreadable
from audit_lib.score.backends import backend
from audit_lib.score.find_out import common_labels, find_out
from audit_lib.score.remote.credentials import read_variable, without_secrets
from audit_lib.spec import AuditSpec
from audit_lib.store import open_store
from audit_lib.validate.named_suites import KEY, PACKAGE
from audit_lib.window import Window

PROBE: Final = "preflight"
_ANSWER_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What is missing and what to do about it; whether it may pass by itself."""

    what: str
    may_pass: bool = False


def preflight(
    spec: AuditSpec,
    root: str | None = None,
    *,
    window: Window | None = None,
    offline: bool = False,
    load: bool = True,
) -> list[Obstacle]:
    """Return what stands in the way of an audit on this machine; empty if it can begin.

    Parameters
    ----------
    spec : AuditSpec
        As loaded.
    root : str, optional
        The store of the run; without it none is looked at, no local model is loaded, and no model asked.
    window : Window, optional
        That is to be audited. Where nothing else is missing, a model behind an API is asked some small questions then,
        once for each window, whether it can be asked as the spec says.
    offline : bool
        Whether to ask no model's endpoint and no model hub, and to load no model.
    load : bool
        Whether to load a local model, where there is a store: it takes longest by far.
    """
    checks: list[Callable[[], Iterator[Obstacle]]] = [
        lambda: _spec(spec),
        lambda: _packages(spec, root),
        lambda: _key(spec),
        lambda: _model(spec, offline, loading=root is not None and load and not offline),
        lambda: _pdf(spec),
        lambda: _inputs(spec),
    ]
    if root is not None:
        checks.append(lambda: _store(spec, root))
    found: dict[str, Obstacle] = {}
    for check in checks:
        try:
            for fault in check():
                if not any(_subject(what) == _subject(fault.what) for what in found):
                    found[fault.what] = fault
        except AuditError as error:
            found.setdefault(str(error), Obstacle(str(error), isinstance(error, StoreUnreachableError)))
    if root is not None and window is not None and load and not offline and not found:
        try:
            find_out(spec, root, window)
        except AuditError as error:
            found[str(error)] = Obstacle(str(error), isinstance(error, StoreUnreachableError))
    return list(found.values())


def require_ready(
    spec: AuditSpec,
    root: str | None = None,
    *,
    window: Window | None = None,
    offline: bool = False,
    load: bool = True,
) -> None:
    """Raise PreflightError with all faults that `preflight` finds."""
    if faults := preflight(spec, root, window=window, offline=offline, load=load):
        lines = "\n".join(f"  {number}. {fault.what}" for number, fault in enumerate(faults, start=1))
        raise PreflightError(
            f"{spec.audit}: not ready, and none of its questions was asked of the model yet:\n{lines}",
            may_pass=all(fault.may_pass for fault in faults),
        )


def model_obstacles(spec: AuditSpec) -> list[Obstacle]:
    """Return what stands in the way of asking the spec's model alone, where its inputs are there already."""
    found: list[Obstacle] = []
    checks: list[Callable[[], Iterator[Obstacle]]] = [
        lambda: _packages(spec, None),
        lambda: _key(spec),
        lambda: _model(spec, False, loading=False),
    ]
    for check in checks:
        try:
            found.extend(check())
        except AuditError as error:
            found.append(Obstacle(str(error)))
    return list({one.what: one for one in found}.values())


def _subject(what: str) -> str:
    """Return the key and file that a fault is about, so that nothing is told twice; else all of it."""
    key, _, rest = what.partition(": ")
    return f"{key}: {rest.split(' ')[0]}" if key in ("source.paths", "demographics.path") else what


def _spec(spec: AuditSpec) -> Iterator[Obstacle]:
    pipeline.check(spec)
    yield from ()


def _packages(spec: AuditSpec, root: str | None) -> Iterator[Obstacle]:
    """Import what later stages import in this process; each backend looks for its own, torch is for another one."""
    uris = [*spec.source.paths, root or ""] + ([spec.demographics.path] if spec.demographics else [])
    needed: dict[str, tuple[str, str]] = {}
    if spec.checks.suites:
        needed[PACKAGE] = (KEY, "gx")
    if any(uri.startswith("s3://") for uri in uris):
        needed["boto3"] = ("s3://", "s3")
    kind = backend.get(spec.model.backend)
    for package in () if kind.local or kind.extra is None else kind.packages:
        if importlib.util.find_spec(package) is not None:
            needed[package] = (f"model.backend {spec.model.backend}", str(kind.extra))
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    for module, (what, extra) in needed.items():
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            yield Obstacle(f"{what} needs the package {module}: pip install 'audit-lib[{extra}]'")
        except Exception as error:  # noqa: BLE001 - a broken package may raise anything
            yield Obstacle(
                f"{what} needs the package {module}, and it cannot be imported ({type(error).__name__}): "
                f"install it again: pip install --force-reinstall 'audit-lib[{extra}]'"
            )


def _pdf(spec: AuditSpec) -> Iterator[Obstacle]:
    """What sets the report as PDF is a package and libraries of the system."""
    from audit_lib.report.pdf import why_no_pdf

    if "pdf" in spec.report.formats and (reason := why_no_pdf()) is not None:
        yield Obstacle(f"report.formats: pdf: {reason}")


def _key(spec: AuditSpec) -> Iterator[Obstacle]:
    for secret in backend.get(spec.model.backend).variables(spec.model):
        try:
            read_variable(secret.variable, secret.where, spaces=secret.spaces)
        except BackendError as error:
            yield Obstacle(str(error))


def _model(spec: AuditSpec, offline: bool, *, loading: bool) -> Iterator[Obstacle]:
    """The model's folder, package or place on a hub, and that it can be scored exactly; or an endpoint that answers."""
    kind = backend.get(spec.model.backend)
    kind.check(spec.model)
    if kind.weights:
        faults = list(_weights(spec, offline))
        yield from faults
        if loading and not faults:
            _load(spec)
        return
    if not offline and (probe := kind.probe(spec.model)) is not None:
        yield from _answers(probe)


def _answers(probe: Probe) -> Iterator[Obstacle]:
    """Ask an endpoint what costs nothing: any answer will do but a refused key or a broken server.

    A tool that only takes what it is asked to judge says 501 here; that is no fault of it.
    """
    import httpx2

    where, url, headers = probe.where, probe.url, probe.headers
    try:
        status = httpx2.request(
            probe.verb, url, headers=headers, timeout=_ANSWER_S, follow_redirects=False
        ).status_code
    except Exception as error:  # noqa: BLE001 - a wrong proxy or certificate raises anything; none holds a secret's name
        said = without_secrets(str(error), headers.values())[:200]
        yield Obstacle(
            f"{where}: {url} does not answer ({type(error).__name__}: {said}); check the address",
            may_pass=True,
        )
        return
    if status in (401, 403) and headers:
        yield Obstacle(
            f"{where}: {url} refuses the key (HTTP {status}); look at the variable that api_key_env names"
        )
    elif status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED:
        yield Obstacle(f"{where}: {url} answers HTTP {status}; try again later", may_pass=True)


def _weights(spec: AuditSpec, offline: bool) -> Iterator[Obstacle]:
    from audit_lib.score.local.weights import PACKAGED

    name, folder = spec.model.name, Path(spec.model.name).expanduser()
    if folder.is_dir():
        try:
            config = json.loads((folder / "config.json").read_bytes())
            if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
                yield Obstacle(
                    f"model.name: {folder}/config.json names no model_type; it is no model's folder"
                )
        except (OSError, ValueError, RecursionError) as error:
            yield Obstacle(f"model.name: {folder}/config.json cannot be read ({type(error).__name__})")
    elif name not in PACKAGED and name.count("/") == 1 and not offline:
        yield from _on_hub(name, spec.model.revision)


def _load(spec: AuditSpec) -> None:
    """Load a local model in its scoring process, which refuses what it cannot score exactly; none is fetched."""
    from audit_lib.score.local.weights import PACKAGED

    here = spec.model.name in PACKAGED or Path(spec.model.location).expanduser().is_dir()
    kind = backend.get(spec.model.backend)
    if kind.loads and here:
        with contextlib.closing(kind(spec.model)) as answering:
            answering.describe()
            if spec.prompt is not None:
                turns = read_template(spec.design_file("prompt.template"))
                labels = spec.task == "pairwise" or (
                    spec.task == "pointwise" and spec.prompt.read == "labels"
                )
                answering.check_roles([turn["role"] for turn in turns], for_labels=labels)
                if common := common_labels(spec):
                    answering.check_labels(common)


def _on_hub(name: str, revision: str | None) -> Iterator[Obstacle]:
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    except ImportError:
        return  # transformers brings it, and its lack is told
    if isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str):
        return
    try:
        get_hf_file_metadata(hf_hub_url(name, "config.json", revision=revision), timeout=_ANSWER_S)
    except Exception as error:  # noqa: BLE001 - refused, not there, or no network
        yield Obstacle(
            f"model.name: {name} is not in the cache, and the hub does not give it ({type(error).__name__}); download "
            "it first, or name a folder",
            may_pass=True,
        )


def _inputs(spec: AuditSpec) -> Iterator[Obstacle]:
    errors = [*source_of(spec).unreadable()]
    if spec.demographics is not None:
        path = spec.demographics.path
        if (error := unreadable("demographics.path", path, spec.path(path))) is not None:
            errors.append(error)
    for error in errors:
        yield Obstacle(str(error), isinstance(error, StoreUnreachableError))


def _store(spec: AuditSpec, root: str) -> Iterator[Obstacle]:
    """Write, read and take away a probe; a bucket must also lock what is put into it, unless the spec lets it not."""
    store, content = open_store(root), secrets.token_bytes(16)
    key = f"{PROBE}/{secrets.token_hex(8)}"
    if not store.put(key, content) or store.get(key) != content:
        yield Obstacle(
            f"{root}: the store does not give back what was written; check it before anything is archived"
        )
    if store.put(key, b"another"):
        yield Obstacle(
            f"{root}: the store writes over what is there, so no evidence in it would be write-once"
        )
    with contextlib.suppress(StoreError):  # one that keeps whatever was written is what evidence wants
        store.delete(key)
    if why := why_not_kept(spec, root, look_at_store(spec, root)):
        yield Obstacle(why)
