"""Ask the model again what a sealed run asked it, in a folder of its own: the run is read, and never written.

::

    OUT/order.json                         what is asked, of which model: who goes on later must ask the same
    OUT/again/{plan,sample,variants}/      copied from the run, byte for byte
    OUT/again/{scores/<shard>,validation,metrics}/   made here
    OUT/ledger/                            answers that came before it was stopped; the run's own ledger is not read
    OUT/environment.json                   what is installed here
    OUT/reproduction.json                  what came of it; .dsse.json and .pub next to it if there is a signer
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from audit_lib.canonical import pretty_json
from audit_lib.errors import ConflictError, PreflightError, SpecError, WithheldError
from audit_lib.large_file import stream_of
from audit_lib.preflight import model_obstacles
from audit_lib.records import from_parquet
from audit_lib.reproduce.drawn_part import DrawnPart
from audit_lib.reproduce.sealed_bundle import SealedBundle
from audit_lib.run import Run
from audit_lib.score import score_shard
from audit_lib.score.backends import backend, check_model, fingerprint
from audit_lib.score.estimate import estimate_cuts
from audit_lib.score.packs import Pack
from audit_lib.score.remote.cost import CostEstimate
from audit_lib.score.remote.limits import CLIENT_ONLY
from audit_lib.score.request_rows import records
from audit_lib.score.requests import Pooled, kinds_asked
from audit_lib.score.shard_plan import read_shard
from audit_lib.spec import AuditSpec
from audit_lib.spec.scoring import Model
from audit_lib.spec.text import faults
from audit_lib.store import Store

FOLDER: Final = "again"
ORDER: Final = "order.json"
RECORD: Final = "reproduction.json"
_COPIED: Final = ("plan", "sample", "variants")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHere:
    """The model that is asked in place of the run's: by default the same, as the spec names it.

    Attributes
    ----------
    name : str or None
        Its name or folder here; None: the spec's.
    options : mapping of str to object
        Options in place of the spec's, such as ``device``.
    """

    name: str | None = None
    options: Mapping[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options that may change an answer, of the same endpoint."""
        client = {*CLIENT_ONLY, "api_key_env", "base_url", "url"}
        return {key: value for key, value in self.options.items() if key not in client}

    @property
    def overrides(self) -> dict[str, Any]:
        """Return what was set, as the record has it."""
        name = {} if self.name is None else {"name": self.name}
        return {**name, **{f"options.{key}": value for key, value in self.options.items()}}

    def of(self, spec: AuditSpec) -> AuditSpec:
        """Return a run's spec with this model.

        Raises
        ------
        SpecError
            If an option is unknown or wrong.
        """
        options = {**spec.model.options, **self.options}
        options.pop("run_deadline", None)  # counted from the plan of the sealed run, which is long over
        content = spec.model.model_dump(mode="json") | {"options": options}
        if self.name is not None:
            content["name"] = self.name
        try:
            model = Model.model_validate(content)
        except ValidationError as error:
            raise SpecError("\n".join(f"model.{one}" for one in faults(error, Model))) from None
        model._base = spec.model._base
        check_model(model, spec.task, kinds_asked(spec))
        return spec.model_copy(update={"model": model})


def require_whole(run: Run) -> None:
    """Raise WithheldError for a copy that lacks what is asked, or the answers: nothing can be asked again then."""
    lacking = sorted(path for path in run.withheld if path.split("/")[0] in (*_COPIED, "scores"))
    if lacking:
        raise WithheldError(
            f"{run.uri}: this copy was handed on without {len(lacking)} of the files that are asked or compared (such "
            f"as {lacking[0]}); reproduce from the run itself, or from a copy of level full"
        )


def require_model(spec: AuditSpec) -> None:
    """Raise PreflightError with all that stands in the way of asking a model here: package, folder, key, endpoint."""
    if found := model_obstacles(spec):
        lines = "\n".join(f"  {number}. {one.what}" for number, one in enumerate(found, start=1))
        raise PreflightError(f"{spec.audit}: not ready, and nothing was asked:\n{lines}")


def describe_model(spec: AuditSpec) -> dict[str, Any]:
    """Return what the model here is, as its backend describes it; a local model is loaded for it."""
    with closing(backend.get(spec.model.backend)(spec.model)) as answering:
        return answering.describe()


def prepare(bundle: SealedBundle, spec: AuditSpec, store: Store, notify: Callable[[str], None]) -> Run:
    """Copy what was planned, drawn and varied; return the run that asks again."""
    run = Run(spec, bundle.run.key, store, notify, FOLDER)
    for stage in _COPIED:
        listed = sorted(bundle.run.stage(stage).success().artefacts)
        for name in listed:
            with stream_of(bundle.run.stage(stage).content(name)) as stream:
                store.put_stream(f"{FOLDER}/{stage}/{name}", stream)
        if not run.stage(stage).is_complete():
            path = f"{stage}/_SUCCESS"
            store.put(f"{FOLDER}/{path}", bundle.run.store.get(f"{bundle.run.prefix}/{path}".lstrip("/")))
        for name in listed:
            run.stage(stage).check(name)  # of another run, it says so
    return run


def refuse_finished(store: Store) -> None:
    """Raise ConflictError where a folder holds a finished reproduction."""
    if store.exists(RECORD):
        raise ConflictError(
            f"{store.uri(RECORD)}: a reproduction is there already; name another folder with --out"
        )


def claim(store: Store, order: Mapping[str, Any]) -> None:
    """Write down what is asked; go on with what was begun only if it is the same.

    Raises
    ------
    ConflictError
        If the folder holds one that was begun of something else.
    """
    content = pretty_json(dict(order))
    if not store.put(ORDER, content) and store.get(ORDER) != content:
        raise ConflictError(
            f"{store.uri(ORDER)}: another reproduction was begun here (other run, model, software, part or options); "
            "name another folder with --out"
        )


def order_of_reproduction(
    bundle: SealedBundle, part: DrawnPart, described: Mapping[str, Any], environment: str
) -> dict[str, Any]:
    """Return what identifies a reproduction, so that one that was stopped goes on as what it was."""
    return {
        "run": bundle.manifest_sha256,
        "asked": part.asked.as_dict(),
        "model": fingerprint(dict(described)),
        "versions": described.get("versions"),
        "device_name": described.get("device_name"),
        "environment": environment,
    }


def estimate_part(run: Run, part: DrawnPart) -> CostEstimate:
    """Return what asking takes; nobody is asked."""
    with closing(backend.get(run.spec.model.backend)(run.spec.model)) as answering:
        return estimate_cuts(run, part.task, dict(part.packs), answering)


def ask_again(run: Run, part: DrawnPart) -> list[int]:
    """Ask what was drawn, shard by shard; shards that are there already are kept. Return their numbers.

    Raises
    ------
    BackendError
        If the model cannot be loaded or reached, or its budget is used up; what was answered is kept.
    """
    for number, packs in part.packs.items():
        folder = run.stage(f"scores/{number}")
        if folder.is_complete():
            run.notify(f"reproduce: scores/{number}: complete, skipped")
            continue
        started = datetime.now(UTC)
        what = replace(read_shard(run, number), packs=packs)
        folder.commit(score_shard(run, number, what), started, keep_existing=True)
    return list(part.packs)


def answers_once_more(run: Run, shard: int, packs: Sequence[Pack], table: str) -> list[dict[str, Any]]:
    """Ask some packs without the ledger and without canaries, and return the answers; nothing is written."""
    score = run.spec.score.model_copy(update={"ledger": "off", "canaries": []})
    once_more = replace(run, spec=run.spec.model_copy(update={"score": score}))
    what = replace(read_shard(once_more, shard), packs=list(packs))
    return records(from_parquet(score_shard(once_more, shard, what).artefacts[table]))


def table_of(part: DrawnPart) -> str:
    """Return the artefact that holds the answers one by one."""
    return part.task.table if isinstance(part.task, Pooled) else "scores.parquet"
