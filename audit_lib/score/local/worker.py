"""The scoring process: ``python -m audit_lib.score.local.worker``.

Reads one JSON object a line from standard input and writes one for each to standard output: first
the model to load, answered by what was loaded, then packs, answered by probabilities. It ends when its
input does, so it never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from audit_lib.errors import AuditError


def main() -> int:
    """Serve one model until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not get between the answers
    try:
        engine = _load(json.loads(sys.stdin.readline()), answers)
        for line in sys.stdin:
            _score(engine, json.loads(line)["pack"], answers)
    except AuditError as error:
        _write(answers, {"error": {"type": type(error).__name__, "message": str(error)}})
        return 1
    return 0


def _load(order: dict[str, Any], answers: TextIO) -> Any:
    from audit_lib.score.local.weights import resolve

    weights = resolve(order["name"], order["revision"])
    import tokenizers
    import torch
    import transformers

    from audit_lib.score.local.engine import Engine

    engine = Engine(Path(weights.folder), device=order["device"], threads=order["threads"])
    loaded = {
        "revision": weights.revision,
        "weights_sha256": weights.digest,
        "architecture": type(engine.model).__name__,
        "dtype": "float32",
        "device": order["device"],
        "device_name": torch.cuda.get_device_name(order["device"])
        if order["device"].startswith("cuda")
        else torch.backends.cpu.get_cpu_capability(),
        "threads": order["threads"],
        "versions": {
            "tokenizers": tokenizers.__version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
    }
    _write(answers, {"loaded": loaded})
    return engine


def _score(engine: Any, pack: list[dict[str, Any]], answers: TextIO) -> None:
    from audit_lib.score.local.engine import Prompt

    prompts = [Prompt(messages=tuple(p["messages"]), labels=tuple(p["labels"])) for p in pack]
    found = [{"probabilities": a.probabilities, "error": a.error} for a in engine.score(prompts)]
    _write(answers, {"answers": found})


def _write(answers: TextIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
