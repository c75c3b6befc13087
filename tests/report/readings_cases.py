"""Audits of one position under Local Law 144, with all that its summary and the page for applicants can say."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Final

import yaml

from audit_lib import pipeline
from audit_lib.report.content import Content, gather
from audit_lib.run import Run
from audit_lib.starter import SPEC_NAME, write_starter
from tests.report.runs import WINDOW, signature

MANIFEST: Final = "5e" * 32
STATED: Final[dict[str, Any]] = {
    "employer": "Empresa Ejemplo SA",
    "vendor": "Fabrica Modelo SL",
    "data": "historical",
    "months": 13,
    "earlier_audits": ["2025-10-20"],
    "test_data": None,
    "contact": "people@example.org, +1 212 555 0100",
    "assesses": "Years of experience and licences.",
    "human_review": "A recruiter reads every form before a decision.",
    "notice": {
        "given": "2025-10-01",
        "used_from": "2025-11-03",
        "where": "On the job posting.",
        "alternative": "Write to the people team; a person will then read your form.",
    },
    "website": {
        "summary": "https://jobs.example.org/audit",
        "retention_policy": "https://jobs.example.org/data",
        "requests": "https://jobs.example.org/ask",
    },
}
SPANISH: Final = {
    "title": "Decisiones de nuestra herramienta, enero de 2026",
    "report.tool": "Lee solicitudes y adelanta las que luego mira una persona.",
    "source.reason": "Todas las decisiones de la semana.",
    "use.assesses": "Años de experiencia y licencias.",
    "use.human_review": "Una persona lee cada solicitud antes de decidir.",
    "use.notice.where": "En el anuncio del puesto.",
    "use.notice.alternative": "Escriba al equipo; una persona leerá entonces su solicitud.",
}


def one_position(folder: Path, **changes: Any) -> Path:
    """Write the spec and the decisions of one position; sections of `changes` are merged. Returns the spec's path."""
    write_starter(folder, "recorded")
    spec: dict[str, Any] = yaml.safe_load((folder / SPEC_NAME).read_text(encoding="utf-8"))
    (source,) = (folder / name for name in spec["source"]["paths"])
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    job = rows[0]["Job title"]
    with source.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["Job title"] == job)
    spec["model"]["name"] = "Modelo Uno"
    spec["measure"]["strata"] = [[]]
    spec["report"] |= {
        "distribution_date": "2025-11-03",
        "languages": ["es"],
        "translations": {"es": SPANISH},
    }
    spec["use"] = STATED
    for section, keys in changes.items():
        spec[section] = {**spec[section], **keys} if isinstance(keys, dict) else keys
    path = folder / SPEC_NAME
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def reported(path: Path) -> Run:
    """Run a spec up to its report."""
    run = pipeline.open_run(path, WINDOW, str(path.parent / "store"))
    for name in ("plan", "sample", "variants"):
        pipeline.run_stage(run, name)
    for shard in pipeline.shards(run):
        pipeline.run_stage(run, "scores", shard=shard)
    for name in ("validation", "metrics", "report"):
        pipeline.run_stage(run, name)
    return run


def signed(run: Run) -> Content:
    """Return what the report of a run says once an independent auditor has signed."""
    return gather(run, (), signature(run.spec.report.policy))
