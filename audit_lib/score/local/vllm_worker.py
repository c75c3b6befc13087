"""The scoring process of vLLM: ``python -m audit_lib.score.local.vllm_worker``.

It reads and writes as `audit_lib.score.local.worker` does. Without an engine in the first line it holds a model's
tokenizer alone, for the backend that asks a server: prompts are answered by their tokens.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from audit_lib.score.local.worker import prompts_of, serve, write

_SAMPLE = "Is Zoë O'Brien-Nuñez (1987) fit for the job?\n\tAnswer: Yes, No or 10 of 10."
"""A text that tokenizers cut in different ways."""


def main() -> int:
    """Serve one model, or its tokenizer, until the input ends."""
    return serve(_load, _answered)


def _load(order: dict[str, Any], answers: TextIO) -> Any:
    from audit_lib.score.local.folder_check import model_type
    from audit_lib.score.local.loading import load_tokenizer
    from audit_lib.score.local.questions import PromptReader, TemplateOptions, ends_of
    from audit_lib.score.local.weights import resolve, resolve_tokenizer

    find, digest = (resolve_tokenizer, "tokenizer") if order["engine"] is None else (resolve, "weights")
    weights = find(order["name"], order["revision"])
    folder = Path(weights.folder)
    asking = TemplateOptions(
        kwargs=order["chat_template_kwargs"],
        thinking=order["thinking"],
        day=None if order["template_date"] is None else date.fromisoformat(order["template_date"]),
    )
    reader = PromptReader(load_tokenizer(folder), model_type(folder), asking)
    versions = {name: version(name) for name in ("tokenizers", "transformers")}
    loaded: dict[str, Any] = {
        "revision": weights.revision,
        f"{digest}_sha256": weights.digest,
        "template": reader.template.record,
    }
    engine: Any = reader
    if order["engine"] is None:
        loaded |= {"ends": sorted(ends_of(folder, reader)), "sample": _sample(reader)}
    else:
        from audit_lib.score.local.vllm_engine import VllmEngine

        engine = VllmEngine(folder, reader, order["engine"], batch_invariant=order["batch_invariant"])
        versions |= engine.record["versions"]
        loaded |= engine.record
    write(answers, {"loaded": {**loaded, "versions": versions}})
    return engine


def _answered(engine: Any, order: dict[str, Any]) -> dict[str, Any]:
    if "roles" in order:
        engine.template.check(order["roles"], for_labels=order["labels"])
        return {"checked": True}
    if "told_apart" in order:
        getattr(engine, "reader", engine).check_labels(tuple(order["told_apart"]))
        return {"checked": True}
    if "plan" in order:
        return {"plan": engine.plan([prompts_of(pack) for pack in order["plan"]])}
    if "pack" in order:
        return {"answers": [asdict(answer) for answer in engine.score(prompts_of(order["pack"]))]}
    return {"questions": [_tokens(engine, p, order["longest"]) for p in prompts_of(order["tokens"])]}


def _sample(reader: Any) -> tuple[str, Any]:
    """Return a text and its tokens: with the template's own special tokens, where it writes such a conversation."""
    from audit_lib.score.local.chat_template import PromptError

    try:
        text = reader.render([{"role": "user", "content": _SAMPLE}], for_labels=False)
    except PromptError:
        text = _SAMPLE
    return text, reader.tokenise(text)


def _tokens(reader: Any, prompt: Any, longest: int) -> dict[str, Any]:
    found = reader.question(prompt, longest if prompt.sampling is not None else longest - 1)
    if isinstance(found, str):
        return {"error": found}
    return {"prompt": found[0].prompt, "labels": found[1]}


if __name__ == "__main__":
    sys.exit(main())
