"""Local scoring of models with windows and states against `generate` for one token.

    python -m benchmarks.scoring_states [--runs 5] [--names 2 4 8] [--resumes 3]

Three models of random weights (256 wide, 6 layers) with SmolLM2's tokenizer: layers of which every second has a window
of 128 tokens (as Gemma 3), Qwen3-Next's linear attention with full attention in every third layer, and Mamba. Each
scores resumes of include/demo under 2, 4 and 8 names. Seconds are CPU seconds of one thread; ours, `generate` and the
requests one by one are run in turn, and what is printed is the range over the runs. *Of the bound* is the share of what
sharing could save at most: the operations of the fewest tokens that the state allows, at the rate at which the requests
run one by one.
Also: the largest difference in probability from plain passes, one by one.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import scoring, scoring_peers
from benchmarks.scoring_prompts import MEN, WOMEN, pointwise_packs

WIDTH, LAYERS, WINDOW = 256, 6, 128


def configs(vocabulary: int) -> dict[str, Any]:
    """Return the configs of the models."""
    import transformers

    common = {
        "vocab_size": vocabulary, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "bos_token_id": 0,
        "eos_token_id": 1, "pad_token_id": 0, "initializer_range": 0.1,
    }  # fmt: skip
    heads = {
        "intermediate_size": 4 * WIDTH, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 32,
        "max_position_embeddings": 4096,
    }  # fmt: skip
    every = ["linear_attention", "linear_attention", "full_attention"] * (LAYERS // 3)
    return {
        f"window of {WINDOW} in every second layer": transformers.Gemma3TextConfig(
            **common, **heads, sliding_window=WINDOW, query_pre_attn_scalar=32,
            layer_types=["sliding_attention", "full_attention"] * (LAYERS // 2),
        ),
        "linear attention, full in every third layer": transformers.Qwen3NextConfig(
            **common, **heads, num_experts=0, layer_types=every, linear_num_value_heads=8,
            linear_num_key_heads=4, linear_key_head_dim=32, linear_value_head_dim=32,
        ),
        "Mamba": transformers.MambaConfig(**common, state_size=16),
    }  # fmt: skip


def engine_of(config: Any, folder: Path, tokenizer: Any) -> Any:
    """Save a model of random weights, and return the engine that scores it, with the model as transformers has it."""
    import torch
    from transformers import AutoModelForCausalLM

    from audit_lib.score.local.engine import Engine

    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    engine: Any = Engine(folder, device="cpu", threads=1)
    engine.plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return engine


def one_by_one(engine: Any, pack: list[Any]) -> Any:
    """Score each request in a pack of its own."""
    return [found for prompt in pack for found in scoring.ours(engine, [prompt])]


def seconds_of(work: Callable[[Any, list[Any]], Any], engine: Any, pack: list[Any]) -> tuple[float, Any]:
    """Return CPU seconds, and what the work gives."""
    start = time.process_time()
    found = work(engine, pack)
    return time.process_time() - start, found


def measure(what: str, engine: Any, pack: list[Any], runs: int) -> bool:
    """Print a line of the table, and return whether it is fast enough."""
    from audit_lib.score.local.plan import plan_pack

    asked = [engine._question(prompt)[0] for prompt in pack]
    least = plan_pack(asked, engine.shape, ("tree",)).flops["tree"]
    alone = sum(plan_pack([q], engine.shape, ("tree",)).flops["tree"] for q in asked)
    plan = engine.plan(pack)
    shares_beginnings = {"tree", "branches"} & set(engine.ways.names())
    if (
        not shares_beginnings
    ):  # transformers' Mamba forgets its state before a second piece: a pass for each prompt
        least = alone
    ratios, shares = [], []
    for _ in range(runs):
        ours, found = seconds_of(scoring.ours, engine, pack)
        peer, theirs = seconds_of(scoring_peers.by_generate, engine, pack)
        each, _ = seconds_of(one_by_one, engine, pack)
        ratios.append(peer / ours)
        shares.append((least / ours) / (alone / each))
    checked = range(0, len(pack), max(1, len(pack) // 4))
    own = scoring_peers.by_plain_passes(engine, [pack[n] for n in checked])
    gaps = (scoring_peers.apart([found[n] for n in checked], own), scoring_peers.apart(found, theirs))
    cells = (
        what, plan.strategy, len(pack), f"{plan.tokens // len(pack)}", f"{plan.bound if shares_beginnings else 1:.2f}x",
        f"{min(ratios):.1f} to {max(ratios):.1f}x", f"{min(shares):.0%} to {max(shares):.0%}",
        f"{gaps[0]:.1e}", f"{gaps[1]:.1e}",
    )  # fmt: skip
    print("|", " | ".join(map(str, cells)), "|", flush=True)
    return min(ratios) >= 1 and min(shares) >= 0.75


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--names", type=int, nargs="+", default=[2, 4, 8], help="sizes: names for each resume"
    )
    parser.add_argument("--resumes", type=int, default=3)
    arguments = parser.parse_args()
    import torch
    import transformers

    from audit_lib.score.local.loading import load_tokenizer
    from audit_lib.score.local.weights import resolve

    tokenizer = load_tokenizer(resolve("smollm2-135m-instruct", None).folder)
    print(f"float32, one thread, {platform.machine()}, torch {torch.__version__}, transformers ", end="")
    print(f"{transformers.__version__}; range of {arguments.runs} runs\n")
    print(
        "| model | way | prompts | tokens each | bound | than generate(1) | of the bound | from plain | from peer |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    fast = True
    for what, config in configs(len(tokenizer)).items():
        with tempfile.TemporaryDirectory() as folder:
            engine = engine_of(config, Path(folder), tokenizer)
            for names in arguments.names:
                several = (*WOMEN, *MEN)[:names]
                (pack,) = pointwise_packs(1, several, arguments.resumes)
                fast &= measure(what, engine, pack, arguments.runs)
    print(f"\nat least as fast as generate(1), and 75% of the bound: {'yes' if fast else 'NO'}")
    return 0 if fast else 1


if __name__ == "__main__":
    raise SystemExit(main())
