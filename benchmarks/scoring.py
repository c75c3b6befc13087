"""Local scoring against what people do instead: speed, cost at three sizes, agreement and memory, in one run.

    python -m benchmarks.scoring [--runs 5] [--resumes 3] [--quick] [--before FOLDER] [--into README.md]

SmolLM2-135M in float32 on one thread. Seconds are CPU seconds of the process that computes. In each run every way takes
its turn over the same prompts; ratios are taken run by run, and what is printed is their range. A peer that computes
each prompt (or sequence) by itself is timed on some of the prompts, and its seconds multiplied; the table says so.
`--before` names a checkout of this project at another commit, whose engine is asked the demo's own prompts in turn with
this one. `--into` replaces what a file has between the marks of this program. vLLM runs in an environment of its own
and is not among the peers: `AUDIT_VLLM_PYTHON=.venv-vllm/bin/python make test-slow` holds it against transformers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import scoring_peers as peers
from benchmarks.cpu_arithmetic import cpu_seconds
from benchmarks.scoring_prompts import MEN, ROOT, WOMEN, pairwise_pack, pointwise_packs, several_tokens_pack

MODEL = "smollm2-135m-instruct"
MARKS = ("<!-- made by benchmarks.scoring -->", "<!-- end of benchmarks.scoring -->")
DEMO = ROOT / "include/audits/resume_screening_demo.yaml"
WINDOW = ("2026-01-05", "2026-01-12")


@dataclass(slots=True)
class Timed:
    """A way of scoring, on some of the prompts.

    Attributes
    ----------
    work : callable
        Scores the prompts.
    times : float
        What its seconds are multiplied by, where it scores a part of what the others do.
    begin : callable or None
        Starts the process that computes, before each run, and returns its number; None for this process.
    seconds : list of float
        Of each run, multiplied.
    found : Any
        What the last run gave.
    """

    work: Callable[[], Any]
    times: float = 1.0
    begin: Callable[[], int] | None = None
    seconds: list[float] = field(default_factory=list)
    found: Any = None


def in_turn(ways: dict[str, Timed], runs: int) -> None:
    """Run each way in turn."""
    for _ in range(runs):
        for way in ways.values():
            pid = None if way.begin is None else way.begin()
            begun = cpu_seconds(pid)
            way.found = way.work()
            way.seconds.append(way.times * (cpu_seconds(pid) - begun))


def spread(values: Sequence[float], form: str = "{:.1f}") -> str:
    """Return the range of some numbers.

    Examples
    --------
    >>> spread([2.31, 2.52]), spread([2.31, 2.32])
    ('2.3 to 2.5', '2.3')
    """
    least, most = form.format(min(values)), form.format(max(values))
    return least if least == most else f"{least} to {most}"


def ratios(peer: Timed, ours: Timed) -> list[float]:
    """Return how many times as fast ours is, run by run."""
    return [slow / fast for slow, fast in zip(peer.seconds, ours.seconds, strict=True)]


class Report:
    """What is printed, and may go into a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str = "") -> None:
        """Print a line."""
        self.lines.append(line)
        print(line, flush=True)

    def head(self, *cells: str) -> None:
        """Begin a table."""
        self.say(f"| {' | '.join(cells)} |")
        self.say("|" + "---|" * len(cells))

    def row(self, *cells: object) -> None:
        """Print a row."""
        self.say(f"| {' | '.join(map(str, cells))} |")

    def against(self, what: str, peer: str, theirs: Timed, ours: Timed, wanted: str, agreement: str) -> None:
        """Print a row of the table of peers."""
        part = "" if theirs.times == 1 else f" (a {round(theirs.times)}th timed)"
        found = ratios(theirs, ours)
        met = (
            f"{wanted}x" if not wanted or statistics.median(found) >= float(wanted) else f"{wanted}x, missed"
        )
        self.row(what, peer + part, spread(found, "{:.2f}") + "x", met if wanted else "", spread(theirs.seconds),
                 spread(ours.seconds), agreement)  # fmt: skip

    def put_into(self, file: Path) -> None:
        """Replace what a file has between the marks."""
        text = file.read_text(encoding="utf-8")
        before, rest = text.split(MARKS[0])
        _, after = rest.split(MARKS[1])
        block = "\n".join([MARKS[0], *self.lines, MARKS[1]])
        file.write_text(before + block + after, encoding="utf-8")


def ours(engine: Any, pack: Sequence[Any], *, one_spelling: bool = False) -> peers.Found:
    """Score as the product does: `Engine.score`, but for the sums over a label's spellings."""
    from audit_lib.score.local.plan import LabelPrompt, plan_pack

    asked = []
    for prompt in pack:
        question, labels = engine._question(prompt)
        if one_spelling:  # the one that the peer computes: the same work
            question = LabelPrompt(prompt=question.prompt, labels=tuple(sorted(label[0] for label in labels)))
        asked.append(question)
    plan = plan_pack(asked, engine.shape, engine._allowed(asked))
    found: peers.Found = engine.passes.compute(
        engine.ways, asked, plan.strategy, plan.buckets, engine._allowed(asked)
    )
    return found


def compare_peers(
    report: Report, engine: Any, runs: int, pack: Sequence[Any], branches: Sequence[Any]
) -> None:
    """Print the table of peers."""
    few = pack[::8]
    with peers.llama(MODEL, 8) as eight:
        ways = {
            "ours": Timed(lambda: ours(engine, pack)),
            "generate": Timed(lambda: peers.by_generate(engine, few), len(pack) / len(few)),
            "left": Timed(lambda: peers.by_left_padding(engine, pack)),
            "log-likelihood": Timed(lambda: peers.by_log_likelihood(engine, few), len(pack) / len(few)),
            "continuous": Timed(lambda: peers.by_continuous_batching(engine, pack)),
            "llama.cpp": Timed(lambda: eight.score(engine, pack), begin=eight.restart),
        }
        in_turn(ways, runs)
    mine, what = ways["ours"], f"pointwise, {len(pack)} prompts"

    def gap(name: str, each: int = 1) -> str:
        return f"{peers.apart(mine.found[::each], ways[name].found):.1e}"

    report.head("what", "peer", "times as fast", "wanted", "peer, CPU s", "ours, CPU s", "largest difference")
    report.against(
        what, "`generate` for one token, one by one", ways["generate"], mine, "2.2", gap("generate", 8)
    )
    report.against(what, "left padding, batches of 24, 10 new tokens", ways["left"], mine, "3.5", gap("left"))
    report.against(what, "log-likelihood of each label as a sequence", ways["log-likelihood"], mine, "6",
                   gap("log-likelihood", 8))  # fmt: skip
    best = [int(t) for t in ways["continuous"].found]
    surest = sum(_surest(engine, prompt) == token for prompt, token in zip(few, best[::8], strict=True))
    report.against(what, "transformers' continuous batching, one token", ways["continuous"], mine, "",
                   f"{surest} of {len(few)} tokens the same")  # fmt: skip
    report.against(what, "llama.cpp's server, float32, eight slots with prompt cache (continuous batching)",
                   ways["llama.cpp"], mine, "", gap("llama.cpp"))  # fmt: skip
    part = branches[:1]
    ways = {
        "one": Timed(lambda: ours(engine, branches, one_spelling=True)),
        "both": Timed(lambda: ours(engine, branches)),
        "log-likelihood": Timed(lambda: peers.by_log_likelihood(engine, part), len(branches) / len(part)),
    }
    in_turn(ways, runs)
    for name, said in (("one", "the same sequences"), ("both", "each label also after a space")):
        report.against(
            f"8 labels of several tokens, {len(branches)} prompts, {said}", "log-likelihood of each label",
            ways["log-likelihood"], ways[name], "20",
            f"{peers.apart(ways[name].found[: len(part)], ways['log-likelihood'].found):.1e}",
        )  # fmt: skip
    report.say()
    pairs = pairwise_pack(WOMEN)[:2]
    plain = [*peers.by_plain_passes(engine, few), *peers.by_plain_passes(engine, pairs)]
    found = [*mine.found[::8], *ours(engine, pairs)]
    report.say(f"Largest difference from plain passes, one by one: {peers.apart(found, plain):.1e}.")


def _surest(engine: Any, prompt: Any) -> int:
    import torch

    with torch.inference_mode():
        logits = engine.plain(torch.tensor([engine._question(prompt)[0].prompt]), use_cache=False).logits[
            0, -1
        ]
    return int(logits.argmax())


def cost_by_size(report: Report, engine: Any, runs: int, packs: Sequence[Sequence[Any]]) -> None:
    """Print what a prompt costs in packs of several sizes, and how much of what sharing can save is reached."""
    from audit_lib.score.local.plan import plan_pack

    report.say()
    report.head("prompts", "tokens each", "CPU s a prompt", "one by one", "times as fast", "sharing could save",
                "reached")  # fmt: skip
    for pack in packs:
        some = pack[:: max(1, len(pack) // 3)]
        ways = {
            "ours": Timed(lambda pack=pack: ours(engine, pack), 1 / len(pack)),
            "alone": Timed(lambda some=some: [ours(engine, [prompt]) for prompt in some], 1 / len(some)),
        }
        in_turn(ways, runs)
        asked = [engine._question(prompt)[0] for prompt in pack]
        least = plan_pack(asked, engine.shape, ("tree",)).flops["tree"]
        alone = sum(plan_pack([q], engine.shape, ("tree",)).flops["tree"] for q in asked)
        found = ratios(ways["alone"], ways["ours"])
        report.row(
            len(pack), sum(len(q.prompt) for q in asked) // len(asked), spread(ways["ours"].seconds, "{:.2f}"),
            spread(ways["alone"].seconds, "{:.2f}"), spread(found, "{:.2f}") + "x", f"{alone / least:.2f}x",
            spread([100 * one * least / alone for one in found], "{:.0f}") + "%",
        )  # fmt: skip


class Worker:
    """A scoring process of a checkout of this project."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit_lib.score.local.worker"], cwd=folder, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": str(folder)},
        )  # fmt: skip
        order = {"name": MODEL, "revision": None, "device": "cpu", "threads": 1, "dtype": "float32",
                 "device_map": None, "chat_template_kwargs": {}, "thinking": None, "template_date": None}  # fmt: skip
        self.pid = self._process.pid
        while "loaded" not in self.ask(order):
            order = None

    def ask(self, order: Any) -> Any:
        """Send a line, unless there is none, and read one."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if order is not None:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


def compare_before(report: Report, runs: int, folder: Path, prompts: int) -> None:
    """Print this engine's CPU seconds over those of another checkout, on prompts of the demo."""
    asked = [demo_packs()[0][:prompts]]
    now, before = Worker(ROOT), Worker(folder)
    try:
        ways = {
            name: Timed(
                lambda one=one: [one.ask({"pack": pack})["answers"] for pack in asked],
                begin=lambda one=one: one.pid,
            )
            for name, one in (("now", now), ("before", before))
        }
        in_turn(ways, runs)
    finally:
        now.close()
        before.close()
    shown = [[a["probabilities"] for pack in way.found for a in pack] for way in ways.values()]
    gap = max(abs(a - b) for one, other in zip(*shown, strict=True) for a, b in zip(one, other, strict=True))
    commit = subprocess.run(["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()  # fmt: skip
    found = ratios(ways["before"], ways["now"])
    report.say()
    report.say(
        f"On {len(shown[0])} prompts of the demo this engine is {spread(found, '{:.2f}')} times as fast as at commit "
        f"{commit} ({spread(ways['now'].seconds)} and {spread(ways['before'].seconds)} s of CPU); probabilities "
        f"differ by {gap:.1e} at most."
    )


def demo_packs() -> list[list[Any]]:
    """Return the demo's packs as a scoring process reads them."""
    import tempfile

    from audit_lib import pipeline
    from audit_lib.score.local.orders import order_of
    from audit_lib.score.shard_plan import all_shards
    from audit_lib.window import Window

    with tempfile.TemporaryDirectory() as place:
        run = pipeline.open_run(DEMO, Window.parse(*WINDOW), place)
        for stage in ("plan", "sample", "variants"):
            pipeline.run_stage(run, stage)
        _, cuts = all_shards(run)
        return [[order_of(request) for request in pack] for packs in cuts.values() for pack in packs]


def peak_memory() -> float:
    """Return the gigabytes beyond the loaded model for 24 different prompts of 700 tokens, in a process of its own."""
    import numpy as np

    from audit_lib.score.local.plan import LabelPrompt

    engine, draw = load(), np.random.default_rng(1)

    def status(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

    engine.passes.by_tree([LabelPrompt(prompt=(5, 6), labels=((7,), (8,)))], engine.passes.pass_nodes)
    # Loading holds some weights twice: the high-water mark starts again from what is held now (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    drawn = [tuple(int(t) for t in draw.integers(5, engine.tokenizer.vocab_size, 700)) for _ in range(24)]
    engine.passes.by_tree(
        [LabelPrompt(prompt=p, labels=((7,), (8,))) for p in drawn], engine.passes.pass_nodes
    )
    return (status("VmHWM") - before) / 2**20


def load() -> Any:
    """Return the engine, with the model as transformers loads it: what the peers run."""
    import torch
    from transformers import AutoModelForCausalLM

    from audit_lib.score.local.engine import Engine
    from audit_lib.score.local.weights import resolve

    folder = resolve(MODEL, None).folder
    engine: Any = Engine(folder, device="cpu", threads=1)
    engine.plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return engine


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--resumes", type=int, default=3, help="prompts: each under eight names")
    parser.add_argument("--quick", action="store_true", help="a few prompts, one run: does it run?")
    parser.add_argument("--before", type=Path, help="a checkout of this project at another commit")
    parser.add_argument("--into", type=Path, help="file to put the tables into, between the marks")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    if chosen.memory:
        print(peak_memory())
        return 0
    import torch
    import transformers

    begun, runs = time.time(), 1 if chosen.quick else chosen.runs
    report, engine = Report(), load()
    names, each = (*WOMEN, *MEN), 1 if chosen.quick else chosen.resumes
    (pack,) = pointwise_packs(1, names, each)
    report.say(
        f"`python -m benchmarks.scoring`: SmolLM2-135M in float32 on one thread, {platform.machine()}, torch "
        f"{torch.__version__}, transformers {transformers.__version__}; the range of {runs} runs, in each of which all "
        f"ways take turns, {os.getloadavg()[2]:.0f} processes at work on {os.cpu_count()} cores when it began."
    )
    report.say()
    compare_peers(report, engine, runs, pack, several_tokens_pack(min(16, len(pack))))
    cost_by_size(
        report, engine, runs, [pack] if chosen.quick else [pack[: len(pack) // n] for n in (4, 2, 1)]
    )
    if chosen.before is not None:
        compare_before(report, runs, chosen.before.resolve(), 4 if chosen.quick else min(24, len(pack)))
    command = [sys.executable, "-m", "benchmarks.scoring", "--memory"]
    grown = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
    report.say()
    report.say(f"Peak memory beyond the model, 24 prompts of 700 tokens: {grown:.2f} GB. vLLM was not run.")
    if chosen.into is not None:
        report.put_into(chosen.into)
    print(f"\n{time.time() - begun:.0f} s in all")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
