"""AuditSpec: the declarative audit, loaded from YAML and checked.

A spec is all that a user writes. Every key is typed and described here; unknown keys are refused
with the nearest known one. Its digest covers the spec and the design files that it names (lexicons,
prompt template), so that a changed design is another run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import SpecError
from audit_lib.spec_sections import (
    Checks,
    Decision,
    Demographics,
    Groups,
    Measure,
    Model,
    Name,
    Perturb,
    PromptTemplate,
    Report,
    Sample,
    Schedule,
    Scoring,
    Section,
    Source,
)
from audit_lib.spec_text import faults, read_yaml

RESERVED: Final = ("drift_monitor", "verify_evidence")
"""Names of the DAGs that no audit makes."""


class AuditSpec(Section):
    r"""A whole audit.

    Examples
    --------
    >>> AuditSpec.load_text("audit: x\ndecison: {}\n", Path("x.yaml"))
    Traceback (most recent call last):
    audit_lib.errors.SpecError: x.yaml: decison: unknown key; did you mean 'decision'?
    ...
    """

    audit: Name = Field(
        description="Id of the audit: lower case, digits, underscores. Names the DAG and the folder."
    )
    title: str = Field(description="Title of the report.")
    description: str = Field("", description="A paragraph for the DAG page and the report.")
    task: Name = Field(
        "pointwise",
        description="How the model is asked: `pointwise`, or `listwise` (recorded rankings).",
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
    decision: Decision
    checks: Checks = Checks()
    measure: Measure = Measure()
    report: Report = Report()

    _base: Path = PrivateAttr(default=Path())

    @field_validator("audit")
    @classmethod
    def _free(cls, value: str) -> str:
        if value in RESERVED:
            raise ValueError(f"{value!r} is the name of a DAG of ours; choose another")
        return value

    @model_validator(mode="after")
    def _check(self) -> AuditSpec:
        if self.prompt is None and self.model.backend != "recorded":
            raise ValueError(f"backend {self.model.backend!r} needs a prompt section with a template")
        if self.perturb is not None and self.groups.provenance != "assigned":
            raise ValueError("perturb assigns demographics, so groups.provenance must be `assigned`")
        if self.perturb is not None and self.demographics is not None:
            raise ValueError("an audit either joins real demographics or perturbs prompts, not both")
        if self.decision.round == "one_per_group" and self.perturb is None:
            raise ValueError(
                "decision.round one_per_group needs a perturb section; use round_id for recorded pools"
            )
        return self

    @classmethod
    def load(cls, path: str | Path) -> AuditSpec:
        """Read a spec from a YAML file.

        Raises
        ------
        SpecError
            If the file is not there, is not YAML, or breaks a rule; every fault is named with its key.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SpecError(
                f"{path}: cannot be read ({error.strerror}); `audit init` writes a spec"
            ) from None
        except UnicodeDecodeError as error:
            raise SpecError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
        return cls.load_text(text, path)

    @classmethod
    def load_text(cls, text: str, path: Path) -> AuditSpec:
        """Read a spec from YAML text; `path` is where its relative paths start and what errors name."""
        return cls._checked(read_yaml(text, path), path)

    @classmethod
    def load_json(cls, content: bytes, path: Path) -> AuditSpec:
        """Read a spec back from `canonical`: JSON, since YAML reads 1e-05 as text and refuses some characters.

        Raises
        ------
        SpecError
            If it is not JSON, or breaks a rule.
        """
        try:
            document = json.loads(content)
        except ValueError as error:
            raise SpecError(f"{path}: not JSON ({type(error).__name__})") from None
        return cls._checked(document, path)

    @classmethod
    def _checked(cls, content: Any, path: Path) -> AuditSpec:
        try:
            spec = cls.model_validate(content)
        except ValidationError as error:
            raise SpecError("\n".join(f"{path}: {fault}" for fault in faults(error, cls))) from None
        spec._base = path.parent
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
        return AuditSpec._checked(content, self._base / f"{self.audit}.yaml")

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
        if self.prompt is not None:
            files["prompt.template"] = self.prompt.template
        return files

    def read_design_files(self) -> dict[str, bytes]:
        """Read the design files: key in the spec -> bytes.

        Raises
        ------
        SpecError
            If one cannot be read.
        """
        contents: dict[str, bytes] = {}
        for key, reference in self.design_files().items():
            try:
                contents[key] = Path(self.path(reference)).read_bytes()
            except OSError as error:
                raise SpecError(
                    f"{key}: {reference} cannot be read from {self._base} ({error.strerror})"
                ) from None
        return contents

    def canonical(self) -> bytes:
        """Return the spec as JSON, defaults filled in; the order of attributes and levels is part of it."""
        return pretty_json(self.model_dump(mode="json"))

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
