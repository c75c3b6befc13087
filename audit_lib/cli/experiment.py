"""Commands of those who run experiments: ``audit paraphrase | leakage``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit_lib.cli.shared import AddCommand

if TYPE_CHECKING:
    from audit_lib.spec import AuditSpec


def add_commands(command: AddCommand) -> None:
    """Add the commands to the parser's."""
    paraphrase = command(
        "paraphrase",
        _paraphrase,
        "Write a prompt template in other words, by back-translation",
        "Asks the spec's model to translate the template into another language and back. Read the file that it "
        "writes, then name it in robustness.prompts.",
    )
    paraphrase.add_argument("spec", help="YAML file")
    paraphrase.add_argument(
        "--through", required=True, metavar="LANGUAGE", help="the language between, such as German"
    )
    paraphrase.add_argument("--out", required=True, help="template file to write; an existing one is kept")

    leak = command(
        "leakage",
        _leakage,
        "Say how well each attribute can be told from the material, redacted or not",
        "10-fold cross-validated AUC of a penalised logistic regression on sentence embeddings; 0.5 is chance. "
        "Versions of a perturb section are read as they are shown.",
    )
    leak.add_argument("spec", help="YAML file")
    leak.add_argument("--window", nargs=2, metavar=("START", "END"), required=True, help="as for `audit run`")
    leak.add_argument("--fields", nargs="+", required=True, help="texts to predict from, each by itself")
    leak.add_argument("--figure", help="SVG file to write")


def _paraphrase(options: argparse.Namespace) -> int:
    from audit_lib import pipeline
    from audit_lib.errors import ConflictError, SpecError
    from audit_lib.perturb.paraphrase import back_translate
    from audit_lib.score import check_model
    from audit_lib.spec import load_spec

    spec, out = load_spec(options.spec), Path(options.out)
    pipeline.check(spec)
    if spec.prompt is None:
        raise SpecError("prompt: the spec has no template to put into other words")
    check_model(spec.model, spec.task, ["text"])
    if out.exists():
        raise ConflictError(f"{out}: is there already; name another file, or remove it")
    content = back_translate(
        spec.read_design_files()["prompt.template"],
        options.through,
        lambda texts: _ask(spec, texts),
        name=out.stem,
        made_by=spec.model.name + (f" @ {spec.model.revision}" if spec.model.revision else ""),
    )
    out.write_bytes(content)
    print(f"wrote {out}; read it, then name it in robustness.prompts")
    return 0


def _ask(spec: AuditSpec, texts: Sequence[str]) -> list[str]:
    from contextlib import closing

    from audit_lib.errors import BackendError
    from audit_lib.score.backends import backend
    from audit_lib.score.requests import Message, Request, Sampling

    requests = [
        Request(
            request_id=f"{number:04d}",
            section="paraphrase",
            family="paraphrase",
            messages=(Message(role="user", content=text),),
            sampling=Sampling(max_tokens=2048),
            candidates=(),
        )
        for number, text in enumerate(texts)
    ]
    with closing(backend.get(spec.model.backend)(spec.model)) as model:
        answers = {response.key: response for response in model.score([(request,) for request in requests])}
    found = []
    for request in requests:
        response = answers[request.key]
        if response.status != "ok" or not (response.text or "").strip():
            raise BackendError(
                f"text {request.request_id}: no translation ({response.detail or response.status})"
            )
        found.append(response.text or "")
    return found


def _leakage(options: argparse.Namespace) -> int:
    import json
    import tempfile

    from audit_lib import pipeline
    from audit_lib.errors import SpecError
    from audit_lib.figures import Dot, forest, standalone
    from audit_lib.perturb.template import fill
    from audit_lib.registry import did_you_mean
    from audit_lib.results import Undefined
    from audit_lib.score.classifiers.minilm import MiniLM
    from audit_lib.score.materials import check_shown, embedded
    from audit_lib.spec import TextClassifier
    from audit_lib.stats.leakage import check_applications, leakage
    from audit_lib.window import Window

    with tempfile.TemporaryDirectory(prefix="audit-leakage-") as folder:
        run = pipeline.open_run(options.spec, Window.parse(*options.window), folder)
        spec = run.spec
        for field in options.fields:
            if field not in spec.source.fields:
                raise SpecError(
                    f"--fields: {field!r} is not in source.fields{did_you_mean(field, spec.source.fields)}"
                )
        check_shown(spec)
        section = TextClassifier(name="minilm", kind="minilm")
        MiniLM.check(section)
        for name in ("plan", "sample", "variants"):
            pipeline.run_stage(run, name)
        texts_of = {
            row["prompt_id"]: json.loads(row["fields"])
            for row in run.stage("sample").read_table("prompts.parquet").to_dict("records")
        }
        table = run.stage("variants").read_table("variants.parquet")
    rows = [row for row in table.to_dict("records") if not isinstance(row.get("variation"), str)]
    check_applications(len({row["application_id"] for row in rows}))
    judge = MiniLM(section, None)
    groups: dict[str, list[Dot]] = {}
    lines = [f"{'attribute':<12}{'level':<16}{'material':<22}{'AUC':>7}  95% interval       n   applications"]
    for field in options.fields:
        texts = []
        for row in rows:
            text = texts_of[row["prompt_id"]][field]
            texts.append(fill(text, json.loads(row["edits"])) if row["perturbation"] == "persona" else text)
        vectors = [embedded(judge, text)[0] for text in texts]
        for axis in spec.groups.axes:
            labels = [value if isinstance(value, str) else None for value in (row[axis] for row in rows)]
            for leak in leakage(vectors, labels, [row["application_id"] for row in rows], seed=spec.seed):
                value, limits = leak.value, leak.interval
                words = "undefined" if isinstance(value, Undefined) else f"{value:.3f}"
                between = "" if isinstance(limits, Undefined) else f"[{limits.low:.3f}, {limits.high:.3f}]"
                lines.append(
                    f"{axis:<12}{leak.level:<16}{field:<22}{words:>7}  {between:<16}{leak.n:>5}{leak.clusters:>10}"
                )
                drawn = None if isinstance(value, Undefined) else value
                low, high = (None, None) if isinstance(limits, Undefined) else (limits.low, limits.high)
                groups.setdefault(field, []).append(
                    Dot(label=f"{axis}: {leak.level}", value=drawn, low=low, high=high, printed=words)
                )
    print("\n".join(lines))
    if options.figure:
        figure = forest(groups, title="How well attributes can be told (AUC)", parity=0.5, span=(0.0, 1.0))
        Path(options.figure).write_text(standalone(figure), encoding="utf-8")
        print(f"wrote {options.figure}")
    return 0
