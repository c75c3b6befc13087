"""The declarative audit: what a user writes, key by key, and what each key refuses."""

from audit_lib.spec.audit import RESERVED, AuditSpec, json_schema
from audit_lib.spec.data import Demographics, Groups, Sample, Schedule, Source
from audit_lib.spec.experiment import Leakage, Manipulation, Material, Robustness
from audit_lib.spec.monitor import Monitor
from audit_lib.spec.outcome import UNDECIDED, Checks, Decision, Measure, RandomRounds, Report
from audit_lib.spec.panel import Panel, PanelModel, load_spec, panel_digest, read_spec
from audit_lib.spec.perturb import Perturb
from audit_lib.spec.recorded import RECORDED, unasked
from audit_lib.spec.scoring import (
    Generation,
    Model,
    PromptTemplate,
    Scoring,
    TextClassifier,
    TextMeasure,
    Texts,
)
from audit_lib.spec.section import Name, Provenance, Share, SpecSection
from audit_lib.spec.true_outcome import Outcome
from audit_lib.spec.use import Framework, Use

__all__ = [
    "RECORDED",
    "RESERVED",
    "UNDECIDED",
    "AuditSpec",
    "Checks",
    "Decision",
    "Demographics",
    "Framework",
    "Generation",
    "Groups",
    "Leakage",
    "Manipulation",
    "Material",
    "Measure",
    "Model",
    "Monitor",
    "Name",
    "Outcome",
    "Panel",
    "PanelModel",
    "Perturb",
    "PromptTemplate",
    "Provenance",
    "RandomRounds",
    "Report",
    "Robustness",
    "Sample",
    "Schedule",
    "Scoring",
    "Share",
    "Source",
    "SpecSection",
    "TextClassifier",
    "TextMeasure",
    "Texts",
    "Use",
    "json_schema",
    "load_spec",
    "panel_digest",
    "read_spec",
    "unasked",
]
