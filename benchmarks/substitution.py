"""Lexicon substitution against LangFair's counterfactual generator, on the same texts in one run.

    python benchmarks/substitution.py --peer-python /path/to/langfair-env/bin/python

Ours replaces 2,500 terms in 100,000 documents of 750 bytes, for two groups; the peer does the same to fewer of
these documents, and its time is scaled by their number (it grows in proportion: it looks at one text after the
other). LangFair needs numpy < 2, so it runs in its own environment (``substitution_peer.py``). All texts and terms
are made here by a seed, without full stops inside, where the peer's splitter needs a model to find words. The peer
gives lower case and its own spacing, so texts are compared as lists of words in lower case. Then: one text rendered
for 100 groups, one template filled for 100 personas, and the memory of the stage ``variants``.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from audit_lib.perturb.lexicon import SwapLexicon
from audit_lib.perturb.parsed import ParsedTemplate, Values
from audit_lib.perturb.tables import read_lexicon
from audit_lib.words import tokenise

PAIRS, DOCUMENTS, SIZE, SEED = 1250, 100_000, 750, 7
GROUPS = 100
_NAMES = Path(__file__).resolve().parents[1] / "include" / "lexicons" / "names.csv"
NEEDED_RATIO, NEEDED_MICROSECONDS = 70, 3.0
_KNOWN = (
    ("she", "he"), ("woman", "man"), ("mother", "father"), ("girl", "boy"), ("daughter", "son"), ("sister", "brother"),
    ("herself", "himself"), ("queen", "king"), ("aunt", "uncle"), ("actress", "actor"),
)  # fmt: skip
_AROUND = tokenise(
    "the manager here said that many others would help with health and theory while heading there to other shells "
    "managing chemical history in manual work and reported the results of the team to their wider audience every month"
)


def made_words(count: int, draw: random.Random, taken: set[str]) -> list[str]:
    """Return words that are in no text but where they were put."""
    syllables = tokenise("ba ko ri tu ne lo mi sa de fu vo ka")
    words: set[str] = set()
    while len(words) < count:
        word = "".join(draw.choice(syllables) for _ in range(draw.randint(2, 5)))
        if word not in taken:
            words.add(word)
    listed = sorted(words)
    draw.shuffle(listed)
    return listed


def inputs(documents: int) -> tuple[list[dict[str, str]], list[str]]:
    """Return the lexicon's rows and the documents; about one word in fourteen is a term."""
    draw = random.Random(SEED)
    words = made_words(2 * (PAIRS - len(_KNOWN)), draw, set(_AROUND))
    pairs = [*_KNOWN, *zip(words[::2], words[1::2], strict=True)]
    texts = []
    for _ in range(documents):
        parts: list[str] = []
        length = 0
        while length < SIZE:
            chance = draw.random()
            if chance < 0.05:
                word = draw.choice(_KNOWN)[draw.randrange(2)]
            elif chance < 0.07:
                word = draw.choice(words)
            else:
                word = draw.choice(_AROUND)
            chance = draw.random()
            if chance < 0.1:
                word = word.title()
            elif chance > 0.95:
                word += draw.choice(",;")
            parts.append(word)
            length += len(word) + 1
        texts.append(" ".join(parts)[:SIZE].rstrip())
    return [{"female": a, "male": b} for a, b in pairs], texts


def substitute(swap: SwapLexicon, texts: list[str]) -> dict[str, list[str]]:
    """Return every text for both groups."""
    made: dict[str, list[str]] = {"female": [], "male": []}
    female, male = {"sex": "female"}, {"sex": "male"}
    for text in texts:
        parsed = swap.parse(text)
        made["female"].append(parsed.render(female))
        made["male"].append(parsed.render(male))
    return made


def many_groups() -> float:
    """Return the microseconds of CPU time that one of 100 variants of a text takes once it is parsed."""
    levels = [f"level{i}" for i in range(GROUPS)]
    rows = [{level: f"word{n}x{i}" for i, level in enumerate(levels)} for n in range(12)]
    swap = SwapLexicon.of({"group": rows}, {"group": levels})
    text = " ".join(f"{' '.join(_AROUND[:12])} Word{n}x0." for n in range(8))[:SIZE]
    parsed = swap.parse(text)
    cells = [{"group": level} for level in levels]
    best = float("inf")
    for _ in range(20):
        start = time.process_time()
        for _ in range(50):
            made = [parsed.render(cell) for cell in cells]
        best = min(best, (time.process_time() - start) / (50 * GROUPS))
    assert len(set(made)) == GROUPS
    return best * 1e6


def many_personas() -> tuple[float, float]:
    """Return the microseconds that a template's rendering takes for a persona met first, and for one met before."""
    names = read_lexicon(_NAMES.read_bytes(), "names", ())[:GROUPS]
    personas = [
        {
            "first_name": row["first_name"], "last_name": row["last_name"], "title": "Ms.",
            "name": f"{row['first_name']} {row['last_name']}", "pronoun.subject": "she",
            "pronoun.possessive": "her", "pronoun.object": "her",
        }
        for row in names
    ]  # fmt: skip
    parsed = ParsedTemplate.of(
        f"{{{{NAME}}}}\n{{{{email}}}}\n{' '.join(_AROUND)}. {{{{Pronoun.subject}}}} showed {{{{pronoun.possessive}}}} "
        "work; {{title}} {{last_name}} met {{pronoun.object}}. {{name}} ({{first_name.initial}}.)"
    )
    known = [Values(one) for one in personas]
    first, again = float("inf"), float("inf")
    for _ in range(40):
        for _ in range(5):  # interleaved
            start = time.process_time()
            fresh = [parsed.render(one) for one in personas]
            between = time.process_time()
            made = [parsed.render(one) for one in known]
            first = min(first, (between - start) / GROUPS)
            again = min(again, (time.process_time() - between) / GROUPS)
    assert fresh == made and len(set(made)) == GROUPS
    return first * 1e6, again * 1e6


def stage_memory(groups_of_names: int, prompts: int) -> dict[str, Any]:
    """Run the stage ``variants`` in a process of its own: its rows, bytes and peak memory."""
    answer = subprocess.run(
        [sys.executable, __file__, "--stage", str(groups_of_names), str(prompts)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return result


def peak_mib() -> float:
    """Return the most memory that this process had (Linux); getrusage would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def run_stage_once(names_per_cell: int, prompts: int) -> None:
    """Plan and sample an audit, then measure what its variants take."""
    from audit_lib.perturb import perturb
    from audit_lib.pipeline import run_stage
    from audit_lib.run import Run
    from audit_lib.spec import AuditSpec
    from audit_lib.window import Window

    _, texts = inputs(prompts)
    include = Path(__file__).resolve().parents[1] / "include"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "prompts.jsonl").open("w") as stream:
            for number, text in enumerate(texts):
                row = {
                    "prompt_id": f"p{number:06d}", "application_id": f"p{number:06d}", "position": "cook",
                    "resume": "{{name}} " + text,
                }  # fmt: skip
                stream.write(json.dumps(row) + "\n")
        spec = {
            "audit": "memory", "title": "Memory", "seed": SEED,
            "source": {"kind": "files", "paths": ["prompts.jsonl"], "fields": ["resume"], "windowed": False},
            "groups": {
                "provenance": "assigned", "reference": {"sex": "male", "race": "White"},
                "attributes": {"sex": ["female", "male"], "race": ["White", "Black", "Asian", "Hispanic"]},
            },
            "sample": {"strata": ["position"]},
            "perturb": {"names": str(include / "lexicons" / "names.csv"), "names_per_cell": names_per_cell},
            "prompt": {"template": str(folder / "template.yaml")},
            "model": {"backend": "transformers", "name": "none"},
            "decision": {"rule": "above_median"},
        }  # fmt: skip
        (folder / "template.yaml").write_text("messages:\n- {role: user, content: '{{resume}}'}\n")
        (folder / "spec.yaml").write_text(json.dumps(spec))
        run = Run.open(AuditSpec.load(folder / "spec.yaml"), Window.parse("2026-01-05", "2026-01-12"), name)
        for stage in ("plan", "sample"):
            run_stage(run, stage)
        before = peak_mib()
        start = time.process_time()
        output = perturb(run)
        seconds = time.process_time() - start
        print(
            json.dumps(
                {
                    "rows": output.counts["variants"],
                    "seconds": seconds,
                    "bytes": len(output.artefacts["variants.parquet"]),
                    "peak_before_mib": before,
                    "peak_mib": peak_mib(),
                }
            )
        )


def main() -> int:
    """Print the figures; fail where one misses what is promised."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--peer-python", help="python of an environment that has langfair; without it, ours only"
    )
    parser.add_argument("--peer-documents", type=int, default=1000)
    parser.add_argument("--stage", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument(
        "--no-memory", action="store_true", help="leave out the stage's memory, which takes minutes"
    )
    options = parser.parse_args()
    if options.stage:
        run_stage_once(*options.stage)
        return 0
    rows, texts = inputs(DOCUMENTS)
    start = time.process_time()
    swap = SwapLexicon.of({"sex": rows}, {"sex": ["female", "male"]})
    building = time.process_time() - start
    start = time.process_time()
    made = substitute(swap, texts)
    ours = time.process_time() - start
    print(
        f"terms {2 * len(rows)}, documents {len(texts)} of {sum(map(len, texts)) / len(texts):.0f} bytes, 2 groups"
    )
    print(f"ours: {ours:.2f} s CPU (lexicon built in {building:.2f} s besides)")
    good = True
    if options.peer_python:
        few = texts[: options.peer_documents]
        words = {level: [row[level] for row in rows] for level in ("female", "male")}
        with tempfile.TemporaryDirectory() as folder:
            into, out = Path(folder, "request.json"), Path(folder, "answer.json")
            into.write_text(json.dumps({"texts": few, "words": words}))
            peer_script = str(Path(__file__).with_name("substitution_peer.py"))
            subprocess.run([options.peer_python, peer_script, str(into), str(out)], check=True)
            peer = json.loads(out.read_text())
        scaled = peer["seconds"] * len(texts) / len(few)
        ratio = scaled / (ours + building)
        same = sum(
            tokenise(a) == tokenise(b)
            for group in words
            for a, b in zip(made[group], peer["texts"][group], strict=False)
        )
        print(
            f"langfair {peer['version']} ({peer['splitter']}): {peer['seconds']:.2f} s CPU for {len(few)} documents,"
        )
        print(
            f"scaled to {len(texts)}: {scaled:.0f} s; "
            f"ratio {ratio:.0f}x; {same} of {2 * len(few)} texts have the same words"
        )
        good = ratio >= NEEDED_RATIO
    microseconds = many_groups()
    print(f"one text rendered for {GROUPS} groups: {microseconds:.2f} microseconds each")
    good = good and microseconds < NEEDED_MICROSECONDS
    first, again = many_personas()
    print(
        f"one template with 9 slots rendered for {GROUPS} personas: {again:.2f} microseconds each, "
        f"{first:.2f} where the persona is met first"
    )
    good = good and again < NEEDED_MICROSECONDS
    if not options.no_memory:
        for names, prompts in ((5, 2500), (20, 2500)):
            found = stage_memory(names, prompts)
            print(
                f"stage variants, {found['rows']} rows: peak {found['peak_mib']:.0f} MiB "
                f"({found['peak_before_mib']:.0f} before), {found['bytes'] / 2**20:.1f} MiB of Parquet, "
                f"{found['seconds']:.1f} s CPU"
            )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
