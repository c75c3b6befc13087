"""What the DAG files share: the specs, the store, its credentials, and how an error ends a task.

Parsed at every scheduler loop, so it imports the standard library, Airflow's SDK and the light parts
of audit_lib only; stages and their libraries are imported inside the tasks.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import json
import math
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from airflow.sdk import Asset, Connection, get_current_context
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from audit_lib.errors import (
    AuditError,
    BackendError,
    ConflictError,
    ModelNotFoundError,
    NotFoundError,
    PreflightError,
    SpecError,
    StoreError,
)
from audit_lib.registry import did_you_mean
from audit_lib.spec import AuditSpec, Panel
from audit_lib.spec.panel import spec_of
from audit_lib.spec.parsed_specs import ParsedSpecs, parsed_specs_file
from audit_lib.spec.text import read_yaml
from audit_lib.spec.texts_of_files import read_spec_texts
from audit_lib.store.s3_environment import s3_environment

HOME = Path(__file__).resolve().parents[1]
MAX_MAPPED = 64
XCOM_LIMIT_BYTES = 4096
LONG = 100_000
"""Characters of a spec that is loaded after all others, so that what it costs is its own loss."""
FAULT = "fault"
"""XCom key under which a task leaves what went wrong."""


def specs_folder() -> Path:
    """Return the folder whose YAML files are the audits (``AUDIT_SPECS``)."""
    return Path(os.environ.get("AUDIT_SPECS") or HOME / "include" / "audits")


def store_root() -> str:
    """Return the root of the object storage (``AUDIT_STORE``): a folder or ``s3://bucket/prefix``."""
    return os.environ.get("AUDIT_STORE") or str(HOME / ".audit" / "store")


class Specs(NamedTuple):
    """The audits by name, in name order; the faults of files that cannot be loaded; files there was no time for."""

    audits: dict[str, tuple[Path, AuditSpec | Panel]]
    faults: dict[Path, str]
    left_out: list[Path]
    names: dict[Path, str]
    """What the audit of each file is called, as far as can be seen without loading it."""


def spec_files() -> list[Path]:
    """Return the files of the audits, in order."""
    return sorted([*specs_folder().glob("*.yaml"), *specs_folder().glob("*.yml")])


def load_specs(wanted: str | None = None, until: float = math.inf, *, to_parse: bool = False) -> Specs:
    """Load the specs: all of them, or those alone whose name is `wanted`; none after the instant `until`.

    A task's process needs its own audit alone. Where no file is seen to have that name, all are loaded. A file whose
    file system does not answer is a fault of its own. Only `to_parse` DAG files is what YAML says taken from where it
    was kept: a task reads the specs themselves.
    """
    texts = read_spec_texts(
        spec_files(), enough=None if wanted is None else lambda path, text: named_in(path, text) == wanted
    )
    specs = Specs({}, {}, [], {path: named_in(path, text) for path, text in texts.items()})
    kept = ParsedSpecs(parsed_specs_file(), tell) if to_parse else None
    chosen = [one for one in texts if wanted is not None and specs.names[one] == wanted] or list(texts)
    for path in sorted(chosen, key=lambda one: (len(str(texts[one])) > LONG, one)):
        if not time_is_left(until):
            specs.left_out.append(path)
            continue
        try:
            if isinstance(text := texts[path], SpecError):
                raise text
            spec = spec_of(read_yaml(text, path) if kept is None else kept.read(text, path), path)
            if spec.audit in specs.audits:
                raise SpecError(
                    f"{path}: audit: {spec.audit!r} is the name in {specs.audits[spec.audit][0].name} too"
                )
        except SpecError as error:
            specs.faults[path] = str(error)
        except Exception as error:  # noqa: BLE001 - one bad spec must never take down the others
            specs.faults[path] = f"{path}: {type(error).__name__}: {error}"
        else:
            specs.audits[spec.audit] = (path, spec)
    if kept is not None and wanted is None and not specs.left_out:
        kept.save()
    return specs._replace(audits=dict(sorted(specs.audits.items())))


def parse_until() -> float:
    """Return until when a DAG file may go on: two thirds of what Airflow allows, which then drops the whole file."""
    allowed = conf.getfloat("core", "dagbag_import_timeout", fallback=30.0)
    return time.monotonic() + allowed * 2 / 3 if allowed > 0 else math.inf


def time_is_left(until: float) -> bool:
    """Return whether a DAG file may go on."""
    return time.monotonic() < until


@contextlib.contextmanager
def nothing_collected() -> Iterator[None]:
    """Run without the garbage collector: DAGs are kept, and looking for garbage in them took an eighth of a parse."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def keep_signature(function: Callable[..., object]) -> None:
    """Read a function's signature once; Airflow asks for it five times for each task made of it."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]


def archived_assets() -> list[Asset]:
    """Return the assets of all audits, by their names alone: a spec that is broken for a while keeps its own."""
    texts = read_spec_texts(spec_files())
    return [
        archived_asset(name)
        for name in sorted({name for path, text in texts.items() for name in audits_in(path, text)})
    ]


def compared_assets() -> list[Asset]:
    """Return the assets of all panels."""
    texts = read_spec_texts(spec_files())
    return [compared_asset(named_in(path, text)) for path, text in texts.items() if is_panel(text)]


def compared_asset(panel: str) -> Asset:
    """Return the asset that the comparison of a panel's models updates."""
    root = store_root().rstrip("/")
    folder = root if "://" in root else Path(root).absolute().as_uri()
    return Asset(f"panel_compared_{panel}", uri=f"{folder}/{panel}/compare", group="audit")


def archived_asset(audit: str) -> Asset:
    """Return the asset that an archived run of `audit` updates; its events carry the manifest's URI."""
    root = store_root().rstrip("/")
    folder = root if "://" in root else Path(root).absolute().as_uri()
    return Asset(f"audit_archived_{audit}", uri=f"{folder}/{audit}", group="audit")


def signed_asset() -> Asset:
    """Return the asset that a sign-off updates."""
    root = store_root().rstrip("/")
    folder = root if "://" in root else Path(root).absolute().as_uri()
    return Asset("audit_signed", uri=f"{folder}/signed", group="audit")


def tell(message: str) -> None:
    """Report progress. Airflow makes a task's output its log; ``make audit`` shows it on the terminal."""
    print(message, flush=True)


def window_of(context: Mapping[str, Any]) -> tuple[str, str]:
    """Return start and end of the audited window, ISO 8601.

    The params come first, then the data interval, then the window of the asset event that triggered
    the run: a run that an asset or a person started may have no logical date and so no interval.

    Raises
    ------
    AirflowFailException
        If there is none of them.
    """
    params = context["params"]
    start, end = params.get("window_start"), params.get("window_end")
    if (start is None) != (end is None):
        raise AirflowFailException("window_start and window_end go together: give both, or neither")
    if start is not None:
        return start, end
    if context.get("data_interval_start") and context.get("data_interval_end"):
        return context["data_interval_start"].isoformat(), context["data_interval_end"].isoformat()
    windows = {
        (extra["window_start"], extra["window_end"])
        for extra in event_extras(context)
        if "window_start" in extra and "window_end" in extra
    }
    if len(windows) != 1:
        raise AirflowFailException(
            "no window: this run has no data interval and no single triggering window; "
            "trigger it again with window_start and window_end"
        )
    return windows.pop()


def event_extras(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the extras of the asset events that triggered this run, in a fixed order."""
    by_asset = context.get("triggering_asset_events") or {}
    extras = [dict(event.extra or {}) for events in by_asset.values() for event in events]
    # What a trigger tells is one level down.
    return sorted(
        (dict(one["payload"]) if one.get("from_trigger") else one for one in extras), key=_in_key_order
    )


def _in_key_order(extra: dict[str, Any]) -> str:
    return json.dumps(extra, sort_keys=True, default=str)


def small(value: Any) -> Any:
    """Return `value`, which goes to XCom, or raise if it is more than a URI or a few counts."""
    size = len(json.dumps(value).encode())
    if size > XCOM_LIMIT_BYTES:
        raise AirflowFailException(
            f"{size} bytes for XCom, the limit is {XCOM_LIMIT_BYTES}: data goes to the store"
        )
    return value


def refuse_unknown_conf() -> None:
    """Fail where whoever triggered the run gave a key that this DAG does not have: Airflow itself takes any.

    Raises
    ------
    AirflowFailException
        With the nearest key that there is.
    """
    context = get_current_context()
    known = sorted(context["dag"].params)
    for key in sorted((context["dag_run"].conf or {}).keys() - known):
        raise AirflowFailException(
            f"{key!a} is not a parameter of {context['dag'].dag_id}{did_you_mean(key, known)}; "
            f"it has {', '.join(known) or 'none'}"
        )


def keep_fault(stage: str, error: BaseException) -> None:
    """Leave what went wrong where `archive` finds it: it seals the attempt when all tasks are through."""
    from audit_lib.archive.attempts import fault_of

    with contextlib.suppress(Exception):  # outside of a task there is nobody to tell
        task = get_current_context()["ti"]
        task.xcom_push(FAULT, fault_of(stage or task.task_id, error).as_dict())


@contextlib.contextmanager
def in_task(stage: str = "") -> Iterator[None]:
    """Run a task's body: with the credentials of store, model and databases, telling what went wrong, retried only
    where that can help.

    `stage` is what a fault is sealed under; the task's id if it is left out.
    """
    with credentials():
        try:
            yield
        except AirflowSkipException as skip:
            tell(f"skipped: {skip}")
            raise
        except AirflowFailException as error:
            tell(f"error: {error}")
            keep_fault(stage, AuditError(str(error)))
            raise
        except AuditError as error:
            tell(f"error: {error}")
            keep_fault(stage, error)
            if may_pass(error):
                raise
            # The message says all that helps; the traceback would hide it.
            raise AirflowFailException(str(error)) from None
        except Exception as error:
            tell(traceback.format_exc())  # a terminal that hides Airflow's own log shows it too
            keep_fault(stage, error)
            raise


@contextlib.contextmanager
def credentials() -> Iterator[None]:
    """Run something with the credentials of the store, the model and the sources."""
    with contextlib.ExitStack() as stack:
        store: dict[str, str] = {}
        if connection_id := os.environ.get("AUDIT_STORE_CONN_ID"):
            found = Connection.get(connection_id)
            store = s3_environment(found.login, found.password, found.extra_dejson)
            stack.enter_context(_environment(store))
        if connection_id := os.environ.get("AUDIT_MODEL_CONN_ID"):
            from model_credentials import model_credentials

            variables = stack.enter_context(model_credentials(Connection.get(connection_id), store))
            stack.enter_context(_environment(variables))
        if named := os.environ.get("AUDIT_SOURCE_CONN_IDS"):
            from source_databases import database_urls

            stack.enter_context(_environment(database_urls(named)))
        yield


def may_pass(error: AuditError) -> bool:
    """Return whether the same task may succeed later: a server that did not answer, and no other fault."""
    if isinstance(error, PreflightError):
        return error.may_pass
    if isinstance(error, (ConflictError, NotFoundError, ModelNotFoundError)):
        return False
    return isinstance(error, (StoreError, BackendError))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def is_panel(text: str | SpecError) -> bool:
    """Whether a spec names several models, as far as its text says so without being loaded."""
    return isinstance(text, str) and re.search(r"^models:", text, re.M) is not None


def audits_in(path: Path, text: str | SpecError) -> list[str]:
    """Return the names of the audits of a spec: its own, or those of a panel's models."""
    if isinstance(text, str) and is_panel(text):
        with contextlib.suppress(SpecError):
            found = spec_of(read_yaml(text, path), path)
            if isinstance(found, Panel):
                return [one.audit for one in found.members]
    return [named_in(path, text)]


def named_in(path: Path, text: str | SpecError) -> str:
    """Return the name of the audit in a spec without loading it; of one that cannot be read, from the file's name."""
    if isinstance(text, str):
        if match := re.search(r"""^audit:\s*(["']?)([a-z][a-z0-9_]{0,63})\1\s*(?:#.*)?$""", text, re.M):
            return match[2]
        with contextlib.suppress(SpecError):  # written in some other way
            return spec_of(read_yaml(text, path), path).audit
    return re.sub(r"[^A-Za-z0-9_.-]", "_", path.stem)
