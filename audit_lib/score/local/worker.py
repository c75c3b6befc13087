"""The scoring process: ``python -m audit_lib.score.local.worker``.

Reads one JSON object a line from standard input and writes one for each to standard output: first the model
to load, answered by what takes long (any number of lines) and by what was loaded; then packs, answered by
probabilities and texts, a whole shard to plan, answered by its plan, or the roles or labels of a prompt to check. It
ends when its input does, so it never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any, TextIO

from audit_lib.errors import AuditError

_LONGEST_REASON = 600


def main() -> int:
    """Serve one model until the input ends."""
    return serve(_load, _answered)


def serve(
    load: Callable[[dict[str, Any], TextIO], Any], answered: Callable[[Any, dict[str, Any]], dict[str, Any]]
) -> int:
    """Load what the first line orders, and answer each that follows, until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not get between the answers
    order = json.loads(sys.stdin.readline())
    try:
        engine = load(order, answers)
    except AuditError as error:
        write(answers, {"error": {"type": type(error).__name__, "message": str(error)}})
        return 1
    except Exception as error:  # noqa: BLE001 - transformers raises anything; nobody's text is known yet
        said = " ".join(str(error).split())[:_LONGEST_REASON]
        message = f"cannot be loaded as a causal language model: {type(error).__name__}: {said}"
        write(answers, {"error": {"type": "BackendError", "message": message}})
        return 1
    try:
        for line in sys.stdin:
            order = json.loads(line)
            write(answers, answered(engine, order))
    except AuditError as error:
        write(answers, {"error": {"type": type(error).__name__, "message": str(error)}})
        return 1
    return 0


def _load(order: dict[str, Any], answers: TextIO) -> Any:
    from audit_lib.score.local.weights import resolve

    weights = resolve(order["name"], order["revision"])
    import tokenizers
    import torch
    import transformers

    from audit_lib.score.local.engine import Engine
    from audit_lib.score.local.folder_check import read_config, way_of_quantising
    from audit_lib.score.local.questions import TemplateOptions

    engine = Engine(
        Path(weights.folder),
        device=order["device"],
        threads=order["threads"],
        asking=TemplateOptions(
            kwargs=order["chat_template_kwargs"],
            thinking=order["thinking"],
            day=None if order["template_date"] is None else date.fromisoformat(order["template_date"]),
        ),
        weights_digest=weights.digest,
        notify=lambda said: write(answers, {"progress": said}),
        dtype=order["dtype"],
        device_map=order["device_map"],
    )
    loaded = {
        "revision": weights.revision,
        "weights_sha256": weights.digest,
        "files": dict(weights.files),
        "architecture": type(engine.model).__name__,
        "dtype": order["dtype"],
        "device": str(engine.device),
        "device_name": torch.cuda.get_device_name(engine.device)
        if engine.device.type == "cuda"
        else torch.backends.cpu.get_cpu_capability(),
        "threads": order["threads"],
        "linear": "onednn" if engine.packed else "torch",
        "ways": engine.ways.names(),
        "template": engine.template.record,
        "versions": {
            "tokenizers": tokenizers.__version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
    }
    if engine.ways.floors:
        loaded["floor_against_float32"] = engine.ways.floors
    if (devices := getattr(engine.model, "hf_device_map", None)) is not None and order[
        "device_map"
    ] is not None:
        loaded["device_map"] = {name: str(device) for name, device in devices.items()}
    if (quantised := way_of_quantising(read_config(weights.folder))) is not None:
        loaded["quantised"] = quantised
    write(answers, {"loaded": loaded})
    return engine


def _answered(engine: Any, order: dict[str, Any]) -> dict[str, Any]:
    if "roles" in order:
        engine.template.check(order["roles"], for_labels=order["labels"])
        return {"checked": True}
    if "told_apart" in order:
        engine.reader.check_labels(tuple(order["told_apart"]))
        return {"checked": True}
    if "alone" in order and "plan" not in order:
        return {"alone": _alone(engine, order)}
    return _plan(engine, order) if "plan" in order else _score(engine, order["pack"])


def _score(engine: Any, pack: list[dict[str, Any]]) -> dict[str, Any]:
    return {"answers": [asdict(answer) for answer in engine.score(prompts_of(pack))]}


def _plan(engine: Any, order: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of a shard's packs, and the probabilities of some prompts by plain passes."""
    from audit_lib.score.local.plan import summarise
    from audit_lib.score.local.trie import size

    packs = [prompts_of(pack) for pack in order["plan"]]
    plans = [plan for pack in packs if (plan := engine.plan(pack)) is not None]
    if not plans:
        return {"plan": None, "alone": []}
    every = set().union(*(engine.sequences(pack) for pack in packs))
    more = {
        "model": asdict(engine.shape),
        "tree": "works" if engine.ways.faults["tree"] is None else "not on this model",
        "not_exact": {way: fault for way, fault in engine.ways.faults.items() if fault is not None},
        "pass_tokens": engine.passes.pass_nodes,
        "halved": engine.passes.halved,
    }
    return {"plan": summarise(plans, size(every), **more), "alone": _alone(engine, order)}


def _alone(engine: Any, order: dict[str, Any]) -> list[dict[str, Any]]:
    return [asdict(engine.score_alone(prompt)) for prompt in prompts_of(order["alone"])]


def prompts_of(pack: list[dict[str, Any]]) -> list[Any]:
    """Return the prompts of a pack that was ordered."""
    from audit_lib.score.local.questions import Prompt, Sampled

    return [
        Prompt(
            messages=tuple(p["messages"]),
            labels=tuple(p["labels"]),
            sampling=None if p["sampling"] is None else Sampled(**p["sampling"]),
        )
        for p in pack
    ]


def write(answers: TextIO, content: dict[str, Any]) -> None:
    """Write one line."""
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
