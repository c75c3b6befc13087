"""AuditSpec: the declarative audit, loaded from YAML and checked.

A spec is all that a user writes. Every key is typed and described here; unknown keys are refused
with the nearest known one. Its digest covers the spec and the design files that it names (lexicons,
prompt template), so that a changed design is another run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from audit_lib.canonical import canonical_json, pretty_json, sha256, strict_json
from audit_lib.errors import EvidenceError, SpecError
from audit_lib.registry import did_you_mean
from audit_lib.spec.data import Demographics, Groups, Sample, Schedule, Source
from audit_lib.spec.experiment import Leakage, Manipulation, Robustness
from audit_lib.spec.installed_packs import ARCHIVED, installed_pack, packs_under
from audit_lib.spec.monitor import Monitor
from audit_lib.spec.outcome import UNDECIDED, Checks, Decision, Measure, Report
from audit_lib.spec.perturb import Perturb
from audit_lib.spec.privacy import Privacy
from audit_lib.spec.protected_lists import KEPT, shipped_files
from audit_lib.spec.retention import Retention
from audit_lib.spec.scoring import Generation, Model, PromptTemplate, Scoring, TextClassifier, Texts
from audit_lib.spec.section import Name, SpecSection
from audit_lib.spec.text import faults, read_file, read_spec_text, read_yaml
from audit_lib.spec.use import Framework, Use

RESERVED: Final = (
    "ask_for_sign_off", "drift_monitor", "extend_retention", "gate", "left_out_audits", "publish_site", "sign_off",
    "site", "tell_events", "verify_evidence", "watch_published",
)  # fmt: skip
"""Names of the DAGs that no audit makes, and of the site's folder."""

_TASKS: Final = ("pointwise", "pairwise", "listwise", *UNDECIDED)


class AuditSpec(SpecSection):
    r"""A whole audit.

    Examples
    --------
    >>> AuditSpec.load_text("audit: x\ndecison: {}\n", Path("x.yaml"))
    Traceback (most recent call last):
    audit_lib.errors.SpecError: x.yaml: decison: unknown key; did you mean 'decision'?
    ...
    """

    later = frozenset({"privacy"})
    audit: Name = Field(
        description="Id of the audit: lower case, digits, underscores. Names the DAG and the folder."
    )
    title: str = Field(description="Title of the report.")
    description: str = Field("", description="A paragraph for the DAG page and the report.")
    task: Name = Field(
        "pointwise",
        description="How the model is asked: `pointwise`, `pairwise`, `listwise`, `generation` or `recommendation`.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(description="Seed of every draw in the audit.")
    schedule: Schedule = Schedule()
    source: Source
    demographics: Demographics | None = None
    groups: Groups
    sample: Sample = Sample()
    perturb: Perturb | None = None
    prompt: PromptTemplate | None = Field(None, description="Needed unless decisions are recorded.")
    model: Model
    score: Scoring = Scoring()
    generation: Generation = Generation()
    classifiers: list[TextClassifier] = Field(
        default_factory=list, description="Run over every text in the stage `scores`, in this order."
    )
    texts: Texts = Texts()
    decision: Decision = Field(
        Decision(rule="none"), description="Needed by every task but `generation` and `recommendation`."
    )
    robustness: Robustness | None = Field(
        None, description="Further prompts and tasks that each version is asked with; null: none."
    )
    manipulation: Manipulation | None = Field(
        None, description="Questions that ask the model which attributes it perceives; null: it is not asked."
    )
    leakage: Leakage | None = Field(
        None, description="Predict the attributes from the material, redacted or not; null: nobody tries."
    )
    checks: Checks = Checks()
    measure: Measure = Measure()
    report: Report = Report()
    monitor: Monitor = Monitor()
    retention: Retention = Retention()
    use: Use = Use()
    privacy: Privacy | None = Field(None, description="null: level `redacted`, and no keys.")
    framework: Framework | None = Field(None, description="Answers for `audit recommend SPEC`; null: none.")

    _base: Path = PrivateAttr(default=Path())
    _archived: bytes | None = PrivateAttr(default=None)
    _plan: Callable[[str], bytes | None] | None = PrivateAttr(default=None)
    _files: dict[str, bytes] = PrivateAttr(default_factory=dict)

    @field_validator("audit")
    @classmethod
    def _free(cls, value: str) -> str:
        if value in RESERVED:
            raise ValueError(f"{value!r} is the name of a DAG of ours; choose another")
        return value

    @model_validator(mode="after")
    def _check(self) -> AuditSpec:
        (self.privacy or Privacy()).check(self.source, self.score, lambda: self.model.answers_are_recorded)
        self._check_task()
        if self.perturb is not None and self.groups.provenance != "assigned":
            raise ValueError("perturb assigns demographics, so groups.provenance must be `assigned`")
        if self.perturb is not None and self.demographics is not None:
            raise ValueError("an audit either joins real demographics or perturbs prompts, not both")
        if self.decision.round == "one_per_group" and self.perturb is None:
            raise ValueError(
                "decision.round one_per_group needs a perturb section; use round_id for recorded pools"
            )
        if self.perturb is not None:
            self._check_perturb(self.perturb)
        return self

    def _check_perturb(self, perturb: Perturb) -> None:
        uneven = "lexicon" if perturb.kind == "lexicon" else perturb.design
        if self.decision.round == "one_per_group" and uneven != "full":
            key = "kind" if perturb.kind == "lexicon" else "design"
            raise ValueError(
                f"decision.round one_per_group needs every prompt in every group; perturb.{key} {uneven} gives a pool "
                "of some groups only"
            )
        if (perturb.controls or perturb.formats) and self.task != "pointwise":
            key = "controls" if perturb.controls else "formats"
            raise ValueError(
                f"perturb.{key} asks the model again about each candidate: it is for task pointwise"
            )
        for attribute in perturb.terms:
            if attribute not in self.groups.attributes:
                raise ValueError(
                    f"perturb.terms: {attribute!r} is not an attribute"
                    f"{did_you_mean(attribute, list(self.groups.attributes))}"
                )

    def _check_task(self) -> None:
        undecided = self.task in UNDECIDED
        truth = self.source.outcome
        if truth is not None and truth.classes and sorted(truth.classes) != sorted(self.decision.classes):
            raise ValueError(
                "source.outcome.classes and decision.classes list the same classes: what a tool could say, and what "
                "could be true"
            )
        if not undecided and self.decision.rule == "none":
            raise ValueError(
                f"task {self.task} needs a decision section: what *selected* means, such as "
                "{rule: above_median}; only generation and recommendation decide nothing"
            )
        if undecided and self.decision.rule != "none":
            raise ValueError(
                f"task {self.task} gives texts, not scores, so decision would be ignored; leave it out"
            )
        if self.task == "pairwise" and self.decision.round is None:
            raise ValueError(
                "task pairwise compares the candidates of a pool with each other; say who they are in "
                "decision.round (round_id, application_id or one_per_group)"
            )
        if self.measure.random_rounds is not None and self.task != "pointwise":
            raise ValueError(
                f"measure.random_rounds: task {self.task} asks about candidates together, or gives no score; rounds "
                "are drawn of candidates who were scored one by one (task pointwise)"
            )
        if self.groups.pairs == "all" and not undecided:
            raise ValueError(
                f"groups.pairs all is for texts and lists, and would be ignored by task {self.task}; leave it out"
            )
        if self.prompt is not None:
            self._check_prompt(self.prompt)
        if self.task == "recommendation" and self.generation.items is None:
            raise ValueError("task recommendation needs generation.items: K, how many items a list has")
        names = [one.name for one in self.classifiers]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two classifiers are named {repeated[0]!r}; tables tell them by name")

    def _check_prompt(self, prompt: PromptTemplate) -> None:
        default = PromptTemplate(template=prompt.template)
        for key, tasks in (
            ("read", ("pointwise",)),
            ("answer", ("pairwise",)),
            ("tie", ("pairwise",)),
            ("labels", ("pointwise",)),
        ):
            if (
                getattr(prompt, key) != getattr(default, key)
                and self.task in _TASKS
                and self.task not in tasks
            ):
                raise ValueError(
                    f"prompt.{key} is for task {tasks[0]} and would be ignored by {self.task}; leave it out"
                )

    @classmethod
    def load(cls, path: str | Path) -> AuditSpec:
        """Read a spec from a YAML file.

        Raises
        ------
        SpecError
            If the file is not there, is not YAML, or breaks a rule; every fault is named with its key.
        """
        return cls.load_text(read_spec_text(Path(path)), Path(path))

    @classmethod
    def load_text(cls, text: str, path: Path) -> AuditSpec:
        """Read a spec from YAML text; `path` is where its relative paths start and what errors name."""
        return cls.checked(read_yaml(text, path), path)

    @classmethod
    def load_json(
        cls, content: bytes, path: Path, plan: Callable[[str], bytes | None] | None = None
    ) -> AuditSpec:
        """Read a spec back from `canonical`: JSON, since YAML reads 1e-05 as text and refuses some characters.

        It keeps these bytes as its canonical ones: a spec archived before a key was added has its old digest. `plan`
        gives a design file as it was archived, and None for one that was not.

        Raises
        ------
        SpecError
            If it is not JSON, or breaks a rule.
        """
        try:
            document = strict_json(content)
        except ValueError as error:
            raise SpecError(f"{path}: not JSON that is read: {error}") from None
        spec = cls.checked(document, path)
        if spec.canonical() != content:
            spec._archived = content
        spec._plan = plan
        return spec

    @classmethod
    def checked(cls, content: Any, path: Path) -> AuditSpec:
        """Make a spec of what was read from a file.

        Raises
        ------
        SpecError
            If it breaks a rule; every fault is named with its key.
        """
        if isinstance(content, dict) and "models" in content:
            raise SpecError(
                f"{path}: models: this is a panel; name one of its models, as {path.name}#NAME, or give the file to "
                "`audit validate`, `audit plan` or `audit run`"
            )
        try:
            spec = cls.model_validate(content)
        except ValidationError as error:
            raise SpecError("\n".join(f"{path}: {fault}" for fault in faults(error, cls))) from None
        spec._base = spec.model._base = path.parent
        return spec

    def override(self, section: str, **values: Any) -> AuditSpec:
        """Return a copy with values of one section replaced, checked again.

        Raises
        ------
        SpecError
            If the spec has no such section, or a value breaks a rule.
        """
        content = self.model_dump(mode="json")
        if content.get(section) is None:
            raise SpecError(f"{section}: the spec {self.audit!r} has no such section to override")
        content[section].update(values)
        return AuditSpec.checked(content, self._base / f"{self.audit}.yaml")

    @property
    def splits(self) -> list[list[str]]:
        """Columns by which tables are split: `measure.strata`, and by model where several may have answered."""
        asked = self.measure.strata
        split = not self.model.may_be_several or any("model" in columns for columns in asked)
        return asked if split else [*asked, ["model"]]

    def path(self, reference: str) -> str:
        """Return where a file that the spec names is: a URI as it is, a path from the spec's folder."""
        return reference if re.match(r"^[a-z0-9]+://", reference) else str(self._base / reference)

    def design_files(self) -> dict[str, str]:
        """Return the files that are part of the design: key in the spec -> path as written there."""
        files: dict[str, str] = {}
        if self.perturb is not None:
            for key in ("names", "pronouns", "titles"):
                if (reference := getattr(self.perturb, key)) is not None:
                    files[f"perturb.{key}"] = reference
            files |= {f"perturb.signals.{n}": reference for n, reference in enumerate(self.perturb.signals)}
            files |= {f"perturb.terms.{a}": reference for a, reference in sorted(self.perturb.terms.items())}
        if self.prompt is not None:
            files["prompt.template"] = self.prompt.template
        for section, named in (
            ("robustness.prompts", self.robustness.prompts if self.robustness is not None else {}),
            ("robustness.tasks", self.robustness.tasks if self.robustness is not None else {}),
            ("manipulation.questions", self.manipulation.questions if self.manipulation is not None else {}),
        ):
            files |= {f"{section}.{name}": reference for name, reference in named.items()}
        single = {f"texts.{key}": getattr(self.texts, key) for key in ("protected", "targets")}
        single["report.policy"] = self.report.policy_file
        single["use.website.seen"] = self.use.website.seen if self.use.website else None
        files |= {key: reference for key, reference in single.items() if reference is not None}
        files |= {f"checks.suites.{table}": reference for table, reference in self.checks.suites.items()}
        for one in self.classifiers:
            if isinstance(reference := one.options.get("words"), str):
                files[f"classifiers.{one.name}"] = reference
        return files

    def read_design_files(self) -> dict[str, bytes]:
        """Read the design files, key in the spec -> bytes.

        Packs of installed packages are ``packs.NAME``, and the library's lists of protected words, by which prompts
        are counted where there is a section `framework`, ``protected_words.KIND``.

        Raises
        ------
        SpecError
            If one cannot be read.
        """
        read = self._read if self._plan is None else lambda key, _: self.design_file(key)
        named = {key: read(key, reference) for key, reference in self.design_files().items()}
        named |= {f"{ARCHIVED}{name}": content for name, content in self.installed_packs().items()}
        return named | {f"{KEPT}{kind}": content for kind, content in self.protected_lists().items()}

    def protected_lists(self) -> dict[str, bytes]:
        """Return the lists of protected words that are counted in the prompts, kind -> CSV; none without `framework`.

        Of a spec that was read back: those that its plan archived.
        """
        if self.framework is None:
            return {}
        shipped, plan = shipped_files(), self._plan
        if plan is None:
            return shipped
        return {kind: content for kind in shipped if (content := plan(f"{KEPT}{kind}")) is not None}

    def installed_packs(self) -> dict[str, bytes]:
        """Return the packs of installed packages that the report's policy is or extends: name -> bytes.

        Of a spec that was read back: those that its plan archived.
        """
        plan, first = self._plan, self.report.policy
        return packs_under(
            first if self.report.policy_file is None else self.design_file("report.policy"),
            installed_pack if plan is None else lambda name: plan(f"{ARCHIVED}{name}"),
        )

    def design_file(self, key: str) -> bytes:
        """Return one design file, read once; of a spec that was read back from a run, as its plan archived it.

        Raises
        ------
        SpecError
            If it cannot be read.
        """
        if key not in self._files:
            content = self._read(key, self.design_files()[key]) if self._plan is None else self._plan(key)
            if content is None:
                raise EvidenceError(f"{key}: the plan archived no such design file")
            self._files[key] = content
        return self._files[key]

    def _read(self, key: str, reference: str) -> bytes:
        return read_file(key, reference, Path(self.path(reference)), self._base)

    def canonical(self) -> bytes:
        """Return the spec as JSON, defaults filled in; the order of attributes and levels is part of it.

        Of a spec that was read back: the bytes that it was read from.
        """
        return pretty_json(self.model_dump(mode="json")) if self._archived is None else self._archived

    def digest(self, design_files: Mapping[str, bytes] | None = None) -> str:
        """Return the SHA-256 (hex) of the spec and the design files that it names."""
        files = self.read_design_files() if design_files is None else design_files
        hashes = {key: sha256(content) for key, content in files.items()}
        return sha256(self.canonical() + canonical_json(hashes))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors and the documentation."""
    schema = AuditSpec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Audit spec"
    return schema
