"""What people do instead of this library's engine, each over the same prompts, and what it is held against.

Each is written after what it does: `generate` for one token, prompt by prompt; padding on the left in batches of 24
with ten new tokens; one sequence for each context and label with the logits of every position, as
lm-evaluation-harness does without its cache of one-token continuations; transformers' continuous batching; llama.cpp's
server with the same weights in float32, several prompts at a time, with the prompt cache that it comes with, empty
when a run begins.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.cpu_arithmetic import rewrite

Found = list[dict[Any, float]]
"""Of each prompt: the probability of each token sequence of its labels."""


def by_generate(engine: Any, pack: Sequence[Any]) -> Found:
    """Score by `generate` for one token, one prompt after the other."""
    import torch

    found = []
    for prompt in pack:
        question, _ = engine._question(prompt)
        tokens = torch.tensor([question.prompt])
        out = engine.plain.generate(
            tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=1, do_sample=False,
            output_logits=True, return_dict_in_generate=True, pad_token_id=0,
        )  # fmt: skip
        chances = torch.softmax(out.logits[0][0].double(), -1)
        found.append({s: float(chances[s[0]]) for s in question.labels if len(s) == 1})
    return found


def by_left_padding(engine: Any, pack: Sequence[Any]) -> Found:
    """Score by batches of 24, padded on the left, ten new tokens each; the first one's logits are used."""
    import torch

    found = []
    for some in _batched(pack, 24):
        asked = [engine._question(prompt)[0] for prompt in some]
        width = max(len(q.prompt) for q in asked)
        tokens = torch.tensor([(0,) * (width - len(q.prompt)) + q.prompt for q in asked])
        mask = torch.tensor([[0] * (width - len(q.prompt)) + [1] * len(q.prompt) for q in asked])
        out = engine.plain.generate(
            tokens, attention_mask=mask, max_new_tokens=10, min_new_tokens=10, do_sample=False,
            output_logits=True, return_dict_in_generate=True, pad_token_id=0,
        )  # fmt: skip
        chances = torch.softmax(out.logits[0].double(), -1)
        found += [
            {s: float(row[s[0]]) for s in q.labels if len(s) == 1}
            for row, q in zip(chances, asked, strict=True)
        ]
    return found


def by_log_likelihood(engine: Any, pack: Sequence[Any], batch: int = 8) -> Found:
    """Score each (context, label) as a sequence of its own: padded batches, logits of every position.

    One spelling a label; ours has two (with and without a space before it).
    """
    import torch

    asked = [engine._question(prompt) for prompt in pack]
    jobs = [(n, q.prompt, label[0]) for n, (q, labels) in enumerate(asked) for label in labels]
    jobs.sort(key=lambda job: -len(job[1] + job[2]))
    found: Found = [{} for _ in pack]
    for some in _batched(jobs, batch):
        inputs = [context + label[:-1] for _, context, label in some]
        width = max(map(len, inputs))
        tokens = torch.tensor([s + (0,) * (width - len(s)) for s in inputs])
        with torch.inference_mode():
            every = torch.log_softmax(engine.plain(tokens, use_cache=False).logits, dim=-1)
        for row, (n, context, label) in zip(every, some, strict=True):
            steps = row[len(context) - 1 : len(context) + len(label) - 1]
            found[n][label] = float(steps[range(len(label)), list(label)].double().sum().exp())
    return found


def by_plain_passes(engine: Any, pack: Sequence[Any]) -> Found:
    """Score one prompt after the other, one pass a label sequence: what agreement is measured against."""
    import torch

    found: Found = []
    for prompt in pack:
        question, _ = engine._question(prompt)
        found.append({})
        for label in question.labels:
            with torch.inference_mode():
                logits = engine.plain(torch.tensor([question.prompt + label[:-1]]), use_cache=False).logits[0]
            steps = torch.log_softmax(logits[-len(label) :].double(), -1)[range(len(label)), list(label)]
            found[-1][label] = float(steps.sum().exp())
    return found


def ours(engine: Any, pack: Sequence[Any]) -> Found:
    """Score as the product does: `Engine.score`, but for the sums over a label's spellings."""
    from audit_lib.score.local.plan import plan_pack

    asked = [engine._question(prompt)[0] for prompt in pack]
    plan = plan_pack(asked, engine.shape, engine._allowed(asked))
    return engine.passes.compute(engine.ways, asked, plan.strategy, plan.buckets, engine._allowed(asked))


def ours_in_one_spelling(engine: Any, pack: Sequence[Any]) -> Found:
    """As `ours`, but of each label only the spelling that `by_log_likelihood` computes: the same work."""
    from audit_lib.score.local.plan import LabelPrompt, plan_pack

    asked = []
    for prompt in pack:
        question, labels = engine._question(prompt)
        asked.append(LabelPrompt(prompt=question.prompt, labels=tuple(sorted(label[0] for label in labels))))
    plan = plan_pack(asked, engine.shape, engine._allowed(asked))
    return engine.passes.compute(engine.ways, asked, plan.strategy, plan.buckets, engine._allowed(asked))


def by_continuous_batching(engine: Any, pack: Sequence[Any]) -> list[int]:
    """Return the token after each prompt by transformers' continuous batching: its log-probabilities are not given."""
    from transformers import GenerationConfig
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    asked = [list(engine._question(prompt)[0].prompt) for prompt in pack]
    how = GenerationConfig(max_new_tokens=1, do_sample=False, eos_token_id=-1, pad_token_id=0)
    room = ContinuousBatchingConfig(
        max_memory_percent=0.05
    )  # as it comes it takes most of the memory, and fills it
    out = engine.plain.generate_batch(
        inputs=asked, generation_config=how, continuous_batching_config=room, warmup=False
    )
    return [out[f"req_{place}"].generated_tokens[0] for place in range(len(asked))]


_SERVER = """
import sys, xllamacpp
p = xllamacpp.CommonParams()
slots = int(sys.argv[2])
p.model.path, p.hostnames, p.port = sys.argv[1], ["127.0.0.1"], 0
p.n_ctx, p.n_parallel, p.cpuparams.n_threads, p.cpuparams_batch.n_threads, p.n_gpu_layers = 2048 * slots, slots, 1, 1, 0
p.cache_prompt, p.verbosity = True, -1
p.cache_type_k = p.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


class Llama:
    """A server of llama.cpp with so many slots."""

    def __init__(self, file: Path, slots: int) -> None:
        self.slots, self._file = slots, file
        self._process: Any = None

    def restart(self) -> int:
        """Start it, with nothing kept from before, and return the number of its process, whose CPU seconds count."""
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(self._file), str(self.slots)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        lines = self._process.stdout or ()
        self._address = next(line.strip() for line in lines if line.startswith("http"))
        return int(self._process.pid)

    def score(self, engine: Any, pack: Sequence[Any]) -> Found:
        """Ask for the probabilities of labels of one token, as many prompts at a time as there are slots."""
        asked = [engine._question(prompt)[0] for prompt in pack]
        with ThreadPoolExecutor(self.slots) as some:
            return list(some.map(self._ask, asked))

    def _ask(self, question: Any) -> dict[Any, float]:
        body = {"prompt": list(question.prompt), "n_predict": 1, "n_probs": 2000, "temperature": 0}
        call = urllib.request.Request(f"{self._address}/completion", json.dumps(body).encode())
        with urllib.request.urlopen(call) as answer:
            top = json.load(answer)["completion_probabilities"][0]["top_logprobs"]
        seen = {one["id"]: math.exp(one["logprob"]) for one in top}
        return {s: seen[s[0]] for s in question.labels if len(s) == 1 and s[0] in seen}

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def llama(name: str, slots: int) -> Iterator[Llama]:
    """Serve a packaged model's weights in float32 by llama.cpp."""
    from audit_lib.score.local.weights import packaged_gguf

    with tempfile.TemporaryDirectory() as place:
        rewrite(packaged_gguf(name), file := Path(place) / "float32.gguf", None)
        server = Llama(file, slots)
        try:
            yield server
        finally:
            server.close()


def apart(one: Found, other: Found) -> float:
    """Return the largest absolute difference of a probability that both have."""
    return max(abs(a[s] - b[s]) for a, b in zip(one, other, strict=True) for s in a.keys() & b.keys())


def _batched(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[i : i + size] for i in range(0, len(items), size)]
