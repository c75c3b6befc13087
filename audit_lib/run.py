"""One run of an audit: its key, and write-once access to the artefacts of its stages.

::

    <root>/<audit>/<window>/<spec digest>/{plan,sample,variants,scores/<shard>,validation,metrics,report,evidence}/

Each stage is a transaction: its artefacts are written first, then ``_SUCCESS``, which lists their
digests. A stage that has ``_SUCCESS`` is complete and is never done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from audit_lib.canonical import sha256, strict_json
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import StageRecord, WrittenFile, read_stage_record, record_bytes
from audit_lib.errors import (
    ConflictError,
    EvidenceError,
    IncompleteRunError,
    NotFoundError,
    WithheldError,
)
from audit_lib.large_file import LARGE, Content, LargeFile, fetched, sha256_of, size_of, stream_of
from audit_lib.policies import gates, policy_of
from audit_lib.policies.retention import kept_until
from audit_lib.privacy.withheld_files import WithheldFile, files_withheld, withheld_files
from audit_lib.spec import AuditSpec
from audit_lib.store import LocalStore, Store, open_store
from audit_lib.typed_json import decode
from audit_lib.window import Window

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from audit_lib.privacy.vault import Vault

T = TypeVar("T")

SUCCESS = "_SUCCESS"
PEOPLE: Final = "sample/prompts.parquet"
"""The table that has everybody whom a run is about."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """What identifies a run, and so where everything of it is."""

    audit: str
    window: Window
    spec_digest: str

    @property
    def prefix(self) -> str:
        """Folder of the run under the store's root."""
        return f"{self.audit}/{self.window.label}/{self.spec_digest[:16]}"


@dataclass(frozen=True, slots=True)
class StageOutput:
    """What a stage gives back: artefacts by file name, and a few counts for people and for XCom."""

    artefacts: Mapping[str, Content]
    counts: Mapping[str, int] = field(default_factory=dict)
    at: datetime | None = None
    """When, of what says so itself: its record then holds nothing that the artefacts do not determine."""


@dataclass(frozen=True, slots=True)
class StageFolder:
    """Write-once artefacts of one stage (or one shard of it)."""

    store: Store
    prefix: str
    withheld: Mapping[str, WithheldFile] = field(default_factory=dict)
    """Key in the store -> what is known of it."""
    vault: Vault | None = None
    """What encrypts and decrypts rows of people, where the spec has keys for them."""
    run_prefix: str = ""

    def is_complete(self) -> bool:
        """Whether the stage was done."""
        return self.store.exists(f"{self.prefix}/{SUCCESS}")

    def success(self) -> StageRecord:
        """Return the stage's record: digests, counts and times.

        Raises
        ------
        IncompleteRunError
            If the stage was not done.
        EvidenceError
            If what is there is no record.
        """
        if not self.is_complete():
            raise IncompleteRunError(
                f"{self.store.uri(self.prefix)}: this stage is not complete; run it first"
            )
        key = f"{self.prefix}/{SUCCESS}"
        return read_stage_record(self.store.get(key), self.store.uri(key))

    def counts(self) -> dict[str, int]:
        """Return the counts of a complete stage."""
        return dict(self.success().counts)

    def read(self, name: str) -> bytes:
        """Read an artefact and check its digest.

        Raises
        ------
        IncompleteRunError
            If the stage was not done.
        EvidenceError
            If the stage has no such artefact, or its bytes are not those that were written.
        WithheldError
            If this is a copy without it, and nothing lies there in its place.
        """
        listed = self.success().artefacts
        where = self.store.uri(f"{self.prefix}/{name}")
        if name not in listed:
            raise EvidenceError(f"{where}: not an artefact of this stage; it has {', '.join(sorted(listed))}")
        key, digest = f"{self.prefix}/{name}", listed[name].sha256
        if (held := self.withheld.get(key)) is not None:
            if held.instead is None:
                raise WithheldError(f"{where}: this copy was handed on without it")
            key, digest = held.instead
        content = self.store.get(key)
        if sha256(content) != digest:
            raise EvidenceError(f"{where}: its bytes are not those that the stage wrote (SHA-256 differs)")
        return content if self.vault is None else self.vault.open(self._in_run(name), content)

    def _in_run(self, name: str) -> str:
        return f"{self.prefix}/{name}".removeprefix(f"{self.run_prefix}/" if self.run_prefix else "")

    def content(self, name: str, large: int = LARGE) -> Content:
        """Return an artefact, checked as `read` does; one of `large` bytes is left in its file, or copied to one."""
        listed = self.success().artefacts
        as_it_is = self.vault is None and f"{self.prefix}/{name}" not in self.withheld
        if name not in listed or listed[name].bytes < large or not as_it_is:
            return self.read(name)
        key = f"{self.prefix}/{name}"
        if isinstance(self.store, LocalStore):
            digest, size = digest_of(self.store, key)
            found = LargeFile(self.store.path(key), digest, size, own=False)
        else:
            found = fetched(self.store, key)
        if found.sha256 != listed[name].sha256:
            raise EvidenceError(
                f"{self.store.uri(key)}: its bytes are not those that the stage wrote (SHA-256 differs)"
            )
        return found

    def check(self, name: str) -> None:
        """Check an artefact's digest, as `read` does, without holding it.

        Raises
        ------
        EvidenceError
            If its bytes are not those that were written.
        """
        key = f"{self.prefix}/{name}"
        if digest_of(self.store, key)[0] != self.success().artefacts[name].sha256:
            raise EvidenceError(
                f"{self.store.uri(key)}: its bytes are not those that the stage wrote (SHA-256 differs)"
            )

    def parquet(self, name: str, large: int = LARGE) -> pa.NativeFile:
        """Return a Parquet artefact, checked, as a source to read some of; one of `large` bytes is not held."""
        from audit_lib.records import (
            parquet_source,  # here, since who reads names and records needs no Parquet
        )

        return parquet_source(self.content(name, large))

    def design_file(self, key: str) -> bytes | None:
        """Read a design file that a plan archived; None where it archived none of this key."""
        name = f"inputs/{key}"
        return self.read(name) if name in self.success().artefacts else None

    def read_json(self, name: str) -> Any:
        """Read a JSON artefact."""
        return _json(self.read(name), self.store.uri(f"{self.prefix}/{name}"))

    def read_document(self, kind: type[T], name: str) -> T:
        """Read an artefact as a type of `audit_lib.documents`.

        Raises
        ------
        IncompleteRunError
            If the stage was not done.
        EvidenceError
            If it has no such artefact, or one that is not as its stage writes it; the message names the keys.
        """
        content, where = self.read(name), self.store.uri(f"{self.prefix}/{name}")
        _json(content, where)  # refuses a key that comes twice, of which the next line would take the last
        return decode(kind, content, where)

    def read_table(
        self, name: str, columns: Sequence[str] | None = None, *, emptied: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Read a Parquet artefact, or some of its columns (`audit_lib.records.from_parquet`)."""
        from audit_lib.records import from_parquet  # here, since who reads names and records needs no Parquet

        return from_parquet(self.content(name), columns, emptied=emptied)

    def commit(self, output: StageOutput, started: datetime, *, keep_existing: bool = False) -> StageRecord:
        """Write the artefacts, then ``_SUCCESS``.

        An attempt that was killed may have left artefacts behind. Equal bytes are kept. Different bytes
        mean that the stage is not a function of its inputs: with `keep_existing` (answers of a remote
        model) the first ones written stand, otherwise it is an error.

        Raises
        ------
        ConflictError
            If another attempt wrote different bytes.
        """
        artefacts = {}
        for name, content in sorted(output.artefacts.items()):
            key = f"{self.prefix}/{name}"
            if self.vault is not None:
                content = self.vault.seal(self._in_run(name), content, output.artefacts)
            with stream_of(content) as stream:
                written = self.store.put_stream(key, stream)
            digest, size = (sha256_of(content), size_of(content)) if written else digest_of(self.store, key)
            if digest != sha256_of(content) and not keep_existing:
                raise ConflictError(
                    f"{self.store.uri(key)}: an earlier attempt left other bytes "
                    f"({digest[:12]}, now {sha256_of(content)[:12]}). Artefacts are write-once: inputs, "
                    "libraries or the model changed under the same spec. Change the spec, or start from a new root."
                )
            artefacts[name] = WrittenFile(sha256=digest, bytes=size)
        began, ended = (started, datetime.now(UTC)) if output.at is None else (output.at, output.at)
        record = StageRecord(
            artefacts=artefacts,
            counts=output.counts,
            started_at=began.isoformat(timespec="milliseconds"),
            finished_at=ended.isoformat(timespec="milliseconds"),
        )
        # Two attempts at once: the first record is kept, and both hold the same digests.
        self.store.put(f"{self.prefix}/{SUCCESS}", record_bytes(record))
        return self.success()


def locking(store: Store, spec: AuditSpec) -> Store:
    """Return a store such that what a run of `spec` puts into it is locked for as long as it has to be kept."""
    if spec.retention.lock == "none":
        return store
    return store.locking(lambda at: kept_until(policy_of(spec), spec, at))


def _json(content: bytes, where: str) -> Any:
    try:
        return strict_json(content)
    except ValueError as error:
        raise EvidenceError(f"{where}: {error}") from None


def _silent(message: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Run:
    """One run: spec, key, store, and how to tell people about progress.

    `folder` is where it lies under the store's root if that is not where its key says: a copied bundle.
    """

    spec: AuditSpec
    key: RunKey
    store: Store
    notify: Callable[[str], None] = _silent
    folder: str | None = None
    withheld: Mapping[str, WithheldFile] = field(default_factory=dict)
    """Path in the run -> what is known of a file that this copy was handed on without, or that cannot be read here."""
    vault: Vault | None = None

    @classmethod
    def open(cls, spec: AuditSpec, window: Window, root: str, notify: Callable[[str], None] = _silent) -> Run:
        """Return the run of `spec` over `window` under the store's `root`. Nothing is written.

        Raises
        ------
        GateError
            If the law of the spec's policy does not let such an audit pass.
        SpecError
            If the policy does not exist.
        """
        gates.check_spec(policy_of(spec), spec)
        return cls(
            spec, RunKey(spec.audit, window, spec.digest()), locking(open_store(root), spec), notify
        )._with_vault()

    @classmethod
    def load(cls, uri: str, notify: Callable[[str], None] = _silent, base: Path | None = None) -> Run:
        """Return a planned run from its URI alone, with the spec that its plan archived.

        `base` is the folder that the spec's relative source paths start from; only `sample` reads those.

        Raises
        ------
        IncompleteRunError
            If there is no plan at `uri`.
        NotFoundError
            If `uri` does not end in audit, window and digest, as runs in a store do.
        """
        try:
            root, audit, window, digest = uri.rstrip("/").rsplit("/", 3)
            span = Window.from_label(window)
        except ValueError:
            raise NotFoundError(f"{uri}: no run; a run's URI is STORE/AUDIT/WINDOW/DIGEST") from None
        store = open_store(root)
        folder = StageFolder(store, f"{audit}/{window}/{digest}/plan")
        spec = AuditSpec.load_json(
            folder.read("spec.json"), (base or Path()) / "spec.json", folder.design_file
        )
        key = RunKey(audit, span, folder.read_json("plan.json")["spec_digest"])
        return cls(
            spec, key, locking(store, spec), notify, withheld=withheld_files(store, key.prefix)
        )._with_vault()

    @classmethod
    def from_bundle(
        cls, uri: str, notify: Callable[[str], None] = _silent, *, store: Store | None = None
    ) -> Run:
        """Return a planned run from its folder, wherever it was copied to; its plan says which run it is.

        `store` is the folder where it is open already, such as one that reads first versions.

        Raises
        ------
        IncompleteRunError
            If there is no plan at `uri`.
        EvidenceError
            If its plan does not say which run it is.
        """
        store = store or open_store(uri)
        plan = StageFolder(store, "plan")
        spec = AuditSpec.load_json(plan.read("spec.json"), Path("spec.json"), plan.design_file)
        try:
            document = plan.read_json("plan.json")
            key = RunKey(document["audit"], Window.from_label(document["window"]), document["spec_digest"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceError(
                f"{store.uri('plan/plan.json')}: does not say audit, window and spec_digest ({type(error).__name__})"
            ) from None
        return cls(spec, key, locking(store, spec), notify, "", withheld_files(store, ""))._with_vault()

    def _with_vault(self) -> Run:
        """Return the run with what encrypts its rows, where the spec says so."""
        if self.spec.privacy is None or self.spec.privacy.keys == "none":
            return self
        from audit_lib.privacy.applicant_keys import configured_keys
        from audit_lib.privacy.vault import Vault

        vault = Vault(configured_keys(self.key.audit), lambda stage, name: opened.stage(stage).read(name))
        opened = replace(self, vault=vault)
        if self.withheld or not opened.stage("evidence").is_complete():
            return opened
        try:
            everybody = vault.opens(self.store.get(f"{self.prefix}/{PEOPLE}".lstrip("/")))
        except (NotFoundError, EvidenceError):
            everybody = True  # verification says what is wrong with it
        if everybody:
            return opened
        # What cannot be read any more is read as a redacted copy is; its digests hold as they did.
        return replace(self, withheld=files_withheld(self.store, self.prefix, "redacted"))

    @property
    def prefix(self) -> str:
        """Folder of the run under the store's root; empty where the run is the store's root."""
        return self.key.prefix if self.folder is None else self.folder

    @property
    def uri(self) -> str:
        """Where the run is."""
        return self.store.uri(self.prefix).rstrip("/")

    def stage(self, name: str) -> StageFolder:
        """Return the folder of a stage, or of a shard (``scores/3``)."""
        held = {f"{self.prefix}/{path}".lstrip("/"): one for path, one in self.withheld.items()}
        return StageFolder(self.store, f"{self.prefix}/{name}".lstrip("/"), held, self.vault, self.prefix)

    def list(self, folder: str = "") -> list[str]:
        """Return the paths of everything in the run, or in a folder of it, from the run's own folder."""
        keys = self.store.list(f"{self.prefix}/{folder}".strip("/"))
        return [key.removeprefix(f"{self.prefix}/" if self.prefix else "") for key in keys]

    def design_file(self, key: str) -> bytes:
        """Return a design file (such as ``perturb.names``) as the plan archived it."""
        return self.stage("plan").read(f"inputs/{key}")
