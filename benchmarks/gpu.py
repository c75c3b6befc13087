"""Local scoring on a GPU against the matrix peak that the same GPU reaches: ``make bench-gpu``.

    python benchmarks/gpu.py [--shape 1.7B | --shape 8B] [--dtype bfloat16] [--smoke] [--json FILE]

Llamas of the shapes of 1.7 and 8 billion weights, random ones, are saved to a folder, and scored as the backend
`transformers` scores them with ``dtype: bfloat16``: loaded, held against themselves in float32, each pack planned and
computed by the way with the fewest operations (a tree, by flex_attention), the head and its probabilities in float32.
A pointwise and a pairwise pack of random tokens are timed. The peak is a square matrix product in the same type,
measured here. Reached = the operations of the trie's unique tokens (layers, attention and head) a second, over that
peak; at least 60% is asked for. Also: the largest difference in probability from plain passes in the same type, one by
one, and how far each way is from float32 (the floors of the trial). Needs one GPU with 80 GB and 20 GB of disk.
``--smoke`` runs the same steps on the CPU with a tiny model: it shows that the script works, and measures no GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NEEDED = 0.60
SHAPES = {
    "1.7B": {
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24, "num_attention_heads": 32,
        "num_key_value_heads": 32, "vocab_size": 49152, "max_position_embeddings": 8192,
    },
    "8B": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
    },
}  # fmt: skip
TINY = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 500, "max_position_embeddings": 2048,
}  # fmt: skip


def save_model(folder: Path, shape: dict[str, int], device: str, dtype: Any) -> None:
    """Save a Llama with random weights, a tokenizer of numbers and a chat template."""
    import torch
    from tokenizers import Tokenizer, models
    from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = LlamaConfig(**shape, tie_word_embeddings=False)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            AutoModelForCausalLM.from_config(config, dtype=dtype).save_pretrained(folder)
    finally:
        torch.set_default_dtype(before)
    words = {str(n): n for n in range(shape["vocab_size"])}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="0")))
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    tokenizer.save_pretrained(folder)


def matrix_peak(size: int, device: str, dtype: Any, times: int) -> float:
    """Return the operations a second of a square matrix product, the best of several."""
    import torch

    one, other = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    seconds = best_of(lambda: one @ other, device, times)
    return 2 * size**3 / seconds


def best_of(work: Callable[[], Any], device: str, times: int) -> float:
    """Return the least wall-clock seconds of several calls, after one that is not counted."""
    import torch

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    work()
    best = float("inf")
    for _ in range(times):
        wait()
        start = time.perf_counter()
        work()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def workloads(vocabulary: int, tokens: tuple[int, int], sizes: tuple[int, int]) -> dict[str, list[Any]]:
    """Return a pointwise and a pairwise pack of random tokens: `tokens` of instructions and of a resume."""
    import numpy as np

    from audit_lib.score.local.plan import LabelPrompt

    draw = np.random.default_rng(0)

    def words(count: int) -> tuple[int, ...]:
        return tuple(int(t) for t in draw.integers(10, vocabulary, count))

    instructions, resume = tokens
    start = words(instructions)
    pool = [words(resume) for _ in range(sizes[1])]
    names = [words(3) for _ in pool]
    return {
        "pointwise": [
            LabelPrompt(prompt=start + words(resume), labels=((5,), (6,))) for _ in range(sizes[0])
        ],
        "pairwise": [
            LabelPrompt(prompt=start + pool[i] + pool[j], labels=tuple(sorted({names[i], names[j]})))
            for i, j in permutations(range(len(pool)), 2)
        ],
    }


def measure(engine: Any, name: str, questions: list[Any], peak: float, times: int) -> dict[str, Any]:
    """Return what scoring one pack reaches, and how far it is from plain passes."""
    from audit_lib.score.local.plan import plan_pack

    allowed = engine.ways.for_labels(max(len(s) for q in questions for s in q.sequences()) + 1)
    plan = plan_pack(questions, engine.shape, allowed)
    found: Any = None

    def work() -> None:
        nonlocal found
        found = engine.passes.compute(engine.ways, questions, plan.strategy, plan.buckets, allowed)

    seconds = best_of(work, engine.device.type, times)
    gap = 0.0
    for number in range(0, len(questions), max(1, len(questions) // 4)):
        own = engine.passes.alone(questions[number].prompt, questions[number].labels)
        gap = max([gap, *(abs(found[number][label] - own[label]) for label in own)])
    rate = plan.flops["tree"] / seconds
    return {
        "workload": name, "requests": plan.requests, "tokens": plan.tokens, "unique_tokens": plan.unique_tokens,
        "bound": round(plan.bound, 3), "way": plan.strategy, "seconds": seconds,
        "unique_tokens_per_second": plan.unique_tokens / seconds, "tflops": rate / 1e12,
        "share_of_peak": rate / peak, "largest_difference": gap,
    }  # fmt: skip


def measure_shape(name: str, device: str, dtype: str, smoke: bool) -> dict[str, Any]:
    """Save, load and score a model of one shape, and print a table."""
    import torch

    from audit_lib.score.local.engine import Engine

    shape = TINY if smoke else SHAPES[name]
    size, times = (256, 2) if smoke else (8192, 5)
    tokens, sizes = ((20, 15), (4, 3)) if smoke else ((400, 350), (128, 12))
    number = getattr(torch, dtype)
    peak = matrix_peak(size, device, number, times)
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), shape, device, number)
        engine = Engine(Path(folder), device=device, threads=torch.get_num_threads(), dtype=dtype)
    print(f"\n{name}: matrix peak {peak / 1e12:.3f} TFLOP/s (product of two {size} x {size} matrices)")
    print(f"ways: {', '.join(engine.ways.names())}; from float32 at most: {engine.ways.floors}\n")
    print(
        "| workload | requests | way | unique tokens | bound | unique tokens/s | TFLOP/s | of peak | difference |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for workload, questions in workloads(shape["vocab_size"], tokens, sizes).items():
        one = measure(engine, workload, questions, peak, times)
        rows.append(one)
        print(
            f"| {workload} | {one['requests']} | {one['way']} | {one['unique_tokens']:,} | {one['bound']:.2f}x | "
            f"{one['unique_tokens_per_second']:,.0f} | {one['tflops']:.3f} | {one['share_of_peak']:.0%} | "
            f"{one['largest_difference']:.1e} |",
            flush=True,
        )
    return {"shape": name, "peak_tflops": peak / 1e12, "floors": engine.ways.floors, "workloads": rows}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=list(SHAPES), help="one of the shapes; without it both")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--smoke", action="store_true", help="a tiny model on the CPU: does the script run?")
    parser.add_argument("--json", type=Path, help="write the results here too")
    arguments = parser.parse_args()
    import torch

    if not arguments.smoke and not torch.cuda.is_available():
        print("no CUDA device here: not measured on a GPU (--smoke runs the steps on the CPU)")
        return 2
    device = "cpu" if arguments.smoke else "cuda"
    print(f"{'CPU, smoke run: not measured on a GPU' if arguments.smoke else torch.cuda.get_device_name()}")
    print(f"torch {torch.__version__}, {arguments.dtype}, head in float32", flush=True)
    names = ["tiny"] if arguments.smoke else [arguments.shape] if arguments.shape else list(SHAPES)
    shapes = [measure_shape(name, device, arguments.dtype, arguments.smoke) for name in names]
    result = {
        "measured_on_gpu": not arguments.smoke, "device": "cpu" if arguments.smoke else torch.cuda.get_device_name(),
        "torch": torch.__version__, "dtype": arguments.dtype, "needed_share": NEEDED, "shapes": shapes,
    }  # fmt: skip
    print("\n" + json.dumps(result, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    reached = min(one["share_of_peak"] for shape in shapes for one in shape["workloads"])
    return 0 if arguments.smoke or reached >= NEEDED else 1


if __name__ == "__main__":
    raise SystemExit(main())
