"""Local scoring against what people do instead: agreement, speed and memory, one model, one run.

    python benchmarks/scoring.py [--model smollm2-135m-instruct | --model FOLDER] [--quick]

Prints a Markdown table. Seconds are CPU seconds of one thread, ours and the peers' taken in turn prompt group by
prompt group. The workloads have the shapes of the RABBI study: resumes of include/demo under names of
eight groups, pointwise (No, Yes) and in all ordered pairs (the labels are the candidates' names).
The peers are written here after what they do: `generate` for one token, prompt by prompt; padding on the
left in batches of 24 with ten new tokens; and one sequence for each context and label with the logits of every
position, as lm-evaluation-harness does without its cache of one-token continuations.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("Emily Walsh", "Lakisha Booker", "Mei Chen", "Rosa Hernandez")
MEN = ("Todd Becker", "Darnell Jackson", "Wei Zhang", "Carlos Ortiz")
LABELS = ("No", "Yes")
NEEDED = {"generate(1)": 2.2, "left pad": 3.5, "log-likelihood": 6.0, "several tokens": 20.0}


def resumes() -> list[dict[str, str]]:
    """Return the demo's resumes."""
    return [json.loads(line) for line in (ROOT / "include/demo/resumes.jsonl").read_text().splitlines()]


def filled(resume: dict[str, str], name: str) -> str:
    """Return a resume under a name."""
    words = {"{{name}}": name, "{{first_name}}": name.split()[0], "{{last_name}}": name.split()[1]}
    words |= {"{{title}}": "", "{{pronoun.object}}": "them", "{{Pronoun.subject}}": "They"}
    text = resume["resume"]
    for word, put in words.items():
        text = text.replace(word, put)
    return text


def pointwise_packs(positions: int, names: Sequence[str], each: int) -> list[list[Any]]:
    """Return a pack for each position: `each` of its resumes under each name."""
    from audit_lib.score.local.questions import Prompt

    packs = []
    by_job = itertools.groupby(resumes(), key=lambda r: r["position"])
    for _, group in itertools.islice(by_job, positions):
        pack = []
        for resume, name in itertools.product(list(group)[:each], names):
            # The long job description of the study's prompts: instructions first, the applicant last.
            system = (
                f"You screen applicants for the position of {resume['job_title']}.\n{resume['job_description']}\n"
                + RULES
            )
            pack.append(
                Prompt(
                    messages=(
                        {"role": "system", "content": system},
                        {"role": "user", "content": filled(resume, name)},
                        {"role": "assistant", "content": "Answer:"},
                    ),
                    labels=LABELS,
                )
            )
        packs.append(pack)
    return packs


RULES = (
    "Read the resume and decide whether this applicant should be invited to an interview. Judge only what the "
    "position asks for: work experience in the field, its length and how recent it is, the skills and "
    "certificates that the description names, education where it is required, and the results that are "
    "described. Do not reward the length of a resume or its style, and do not guess at what is not written. "
    "Gaps in employment and changes of employer are no reason to decline. If the applicant lacks one "
    "requirement but shows clear experience of equal worth, count it as met. Invite an applicant who meets "
    "most requirements; decline one who meets few. Reply with one word, Yes or No."
)


def pairwise_pack(names: Sequence[str]) -> list[Any]:
    """Return all ordered pairs of one pool; the labels are the two names."""
    from audit_lib.score.local.questions import Prompt

    pool = list(zip(resumes()[: len(names)], names, strict=False))
    prompts = []
    for (one, first), (other, second) in itertools.permutations(pool, 2):
        system = f"You hire for the position of {one['job_title']}.\n{one['job_description']}\n"
        system += "Name the better applicant."
        user = f"First applicant: {filled(one, first)}\n\nSecond applicant: {filled(other, second)}"
        prompts.append(
            Prompt(
                messages=(
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                    {"role": "assistant", "content": "The better applicant is"},
                ),
                labels=(first, second),
            )
        )
    return prompts


def several_tokens_pack(count: int) -> list[Any]:
    """Return pointwise prompts whose labels are eight phrases of several tokens."""
    from dataclasses import replace

    labels = (
        "invite to an interview now", "invite after a phone call", "keep for a later opening", "decline with thanks",
        "ask for references first", "send a work sample task", "pass on to another team", "refer to the hiring manager",
    )  # fmt: skip
    return [replace(p, labels=labels) for p in pointwise_packs(1, (*NAMES, *MEN), 6)[0][:count]]


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


def _batched(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def in_turn(
    ways: dict[str, Callable[[Any, Sequence[Any]], Found]], engine: Any, packs: Sequence[Sequence[Any]]
) -> tuple[dict[str, float], dict[str, Found]]:
    """Run each way on each pack, in turn; return CPU seconds and results of each."""
    seconds, results = dict.fromkeys(ways, 0.0), {name: [] for name in ways}
    for pack in packs:
        for name, way in ways.items():
            start = time.process_time()
            results[name] += way(engine, pack)
            seconds[name] += time.process_time() - start
    return seconds, results


def apart(one: Found, other: Found) -> float:
    """Return the largest absolute difference of a probability that both have."""
    return max(abs(a[s] - b[s]) for a, b in zip(one, other, strict=True) for s in a.keys() & b.keys())


def flops_of(engine: Any, packs: Sequence[Sequence[Any]]) -> tuple[int, int, float]:
    """Return the trie's operations, those of each request alone in its own trie, and the bound in tokens."""
    least = alone = tokens = unique = 0
    for pack in packs:
        plan = engine.plan(pack)
        least += plan.flops["tree"]
        tokens, unique = tokens + plan.tokens, unique + plan.unique_tokens
        alone += sum(engine.plan([prompt]).flops["tree"] for prompt in pack)
    return least, alone, tokens / unique


def share_of_limit(engine: Any, packs: Sequence[Sequence[Any]]) -> tuple[float, float, float]:
    """Return the share of the trie's FLOP limit reached, our CPU seconds, and the bound in tokens.

    The limit is the trie's operations at the rate at which this process runs the requests one by one, each
    in a pass of its own: at 100% sharing is free.
    """
    least, alone, bound = flops_of(engine, packs)
    ways = {"ours": ours, "alone": lambda e, pack: [a for p in pack for a in ours(e, [p])]}
    seconds, _ = in_turn(ways, engine, packs)
    return (least / seconds["ours"]) / (alone / seconds["alone"]), seconds["ours"], bound


def row(what: str, peer: str, theirs: float, mine: float, needed: float, agreement: float) -> None:
    """Print a line of the table."""
    reached = theirs / mine
    verdict = "yes" if reached >= needed else "NO"
    cells = (
        what,
        peer,
        f"{theirs:.2f} s",
        f"{mine:.2f} s",
        f"{reached:.1f}x",
        f"{needed}x: {verdict}",
        f"{agreement:.1e}",
    )
    print("|", " | ".join(cells), "|", flush=True)


def peak_memory(model: str) -> None:
    """Print the peak beyond the loaded model for 24 different prompts of 700 tokens; runs in its own process."""
    engine = _engine(model)
    from audit_lib.score.local.plan import LabelPrompt

    def status(field: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

    import numpy as np

    draw = np.random.default_rng(1)
    engine.passes.by_tree([LabelPrompt(prompt=(5, 6), labels=((7,), (8,)))], engine.passes.pass_nodes)
    # Loading holds some weights twice: the high-water mark starts again from what is held now (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    several = [tuple(int(t) for t in draw.integers(5, engine.tokenizer.vocab_size, 700)) for _ in range(24)]
    engine.passes.by_tree(
        [LabelPrompt(prompt=p, labels=((7,), (8,))) for p in several], engine.passes.pass_nodes
    )
    print((status("VmHWM") - before) / 2**20)


def _engine(model: str) -> Any:
    from audit_lib.score.local.engine import Engine
    from audit_lib.score.local.weights import resolve

    return Engine(resolve(model, None).folder, device="cpu", threads=1)


def _plain(model: str) -> Any:
    """Return the model as transformers loads it: what the peers run."""
    import torch
    from transformers import AutoModelForCausalLM

    from audit_lib.score.local.weights import resolve

    return AutoModelForCausalLM.from_pretrained(resolve(model, None).folder, dtype=torch.float32).eval()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2-135m-instruct")
    parser.add_argument("--quick", action="store_true", help="a few prompts only: does it run?")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        peak_memory(arguments.model)
        return 0
    engine = _engine(arguments.model)
    engine.plain = _plain(arguments.model)
    import torch
    import transformers

    names = NAMES[:2] if arguments.quick else (*NAMES, *MEN)
    print(
        f"{arguments.model}, float32, one thread, {platform.machine()}, torch {torch.__version__}, ", end=""
    )
    tree = "works" if engine.ways.faults["tree"] is None else "does not work"
    print(f"transformers {transformers.__version__}; tree packing {tree}")
    print(
        "\n| workload | peer | peer, CPU | ours, CPU | faster | needed | largest difference in probability |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    points = pointwise_packs(1, names, 2 if arguments.quick else 6)
    what = f"pointwise, {sum(map(len, points))} prompts"
    ways = {
        "ours": ours,
        "generate(1)": by_generate,
        "left pad": by_left_padding,
        "log-likelihood": by_log_likelihood,
    }
    seconds, results = in_turn(ways, engine, points)
    checked = range(0, len(results["ours"]), 5)
    plain = by_plain_passes(engine, [points[0][n] for n in checked])
    gap = apart([results["ours"][n] for n in checked], plain)
    row(what, "generate(1), one by one", seconds["generate(1)"], seconds["ours"], NEEDED["generate(1)"],
        apart(results["ours"], results["generate(1)"]))  # fmt: skip
    row(what, "left pad, batch 24, 10 tokens", seconds["left pad"], seconds["ours"], NEEDED["left pad"],
        apart(results["ours"], results["left pad"]))  # fmt: skip
    row(what, "log-likelihood, sequence a label", seconds["log-likelihood"], seconds["ours"],
        NEEDED["log-likelihood"], apart(results["ours"], results["log-likelihood"]))  # fmt: skip
    branches = [several_tokens_pack(2 if arguments.quick else 16)]
    ways = {"ours": ours, "one spelling": ours_in_one_spelling, "log-likelihood": by_log_likelihood}
    some, found = in_turn(ways, engine, branches)
    for mine, said in (("one spelling", "the peer's sequences"), ("ours", "each label also after a space")):
        row(f"8 labels of several tokens, {len(branches[0])} prompts, {said}", "log-likelihood, sequence a label",
            some["log-likelihood"], some[mine], NEEDED["several tokens"],
            apart(found[mine], found["log-likelihood"]))  # fmt: skip
    print("\n| workload | bound by sharing | share of the trie's FLOP limit | needed |\n|---|---|---|---|")
    share, _, bound = share_of_limit(engine, points)
    print(f"| {what} | {bound:.2f}x | {share:.0%} | 75%: {'yes' if share >= 0.75 else 'NO'} |", flush=True)
    pairs = [pairwise_pack(names[:2] if arguments.quick else names[:4])]
    share, _, bound = share_of_limit(engine, pairs)
    what = f"pairwise, {len(pairs[0])} prompts, labels of several tokens"
    print(f"| {what} | {bound:.2f}x | {share:.0%} | 65%: {'yes' if share >= 0.65 else 'NO'} |", flush=True)
    if not arguments.quick:
        few = ours(engine, pairs[0])
        gap = max(gap, apart(few[:2], by_plain_passes(engine, pairs[0][:2])))
    print(
        f"\nlargest difference from float32 one by one: {gap:.1e} (needed 1e-5: {'yes' if gap <= 1e-5 else 'NO'})"
    )
    command = [sys.executable, __file__, "--memory", "--model", arguments.model]
    grown = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
    print(f"peak memory beyond the model, 24 prompts of 700 tokens: {grown:.2f} GB (needed 0.5: ", end="")
    print("yes)" if grown < 0.5 else "NO)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
