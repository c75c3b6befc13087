"""Text and recommendation metrics against LangFair: agreement, then speed, on the same data in one run.

    python benchmarks/text.py --peer-python /path/to/langfair-env/bin/python [--data gpt_responses.json]

LangFair needs numpy < 2, so it runs in its own environment (``text_peer.py``). Where LangFair departs from the
paper's definition, the agreement is checked after accounting for the departure, on the peer's own words:
its stems (ROUGE-L), no smoothing (BLEU), the size of the logarithm to base 10 (COBS), equal lists and target
words once a text (SA), both directions and the divisors (SERP, PRAG).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from audit_lib.errors import LexiconError
from audit_lib.metrics import recommendation as rec
from audit_lib.metrics import text
from audit_lib.metrics.pair_scores import PairScores
from audit_lib.metrics.text.tokens import single_words
from audit_lib.results import Undefined
from audit_lib.words import tokenise

SHARED = Path(os.environ.get("AUDIT_SHARED_DATA") or Path(__file__).parents[2] / "shared")
LISTS, PLACES = 5000, 10  # pairs of recommendation lists, items in each
NEEDED = {"rouge_l": 40, "bleu": 3, "cobs": 3, "sa": 30, "recommendation": 16}


def measure(work: Callable[[], Any], times: int = 7) -> tuple[Any, float]:
    """Return the work's result and its least CPU seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return result, best


def ask(peer_python: str, request: dict[str, Any]) -> dict[str, Any]:
    """Run the peer and return its answer."""
    with tempfile.TemporaryDirectory() as folder:
        # Both sides use the same stop words; the peer reads them as NLTK's list.
        stop = Path(folder, "nltk_data", "corpora", "stopwords")
        stop.mkdir(parents=True)
        (stop / "english").write_text("\n".join(sorted(text.ENGLISH_STOP_WORDS)))
        paths = [os.path.join(folder, "nltk_data"), os.environ.get("NLTK_DATA", "")]
        into, out = Path(folder, "request.json"), Path(folder, "answer.json")
        into.write_text(json.dumps(request))
        subprocess.run(
            [peer_python, str(Path(__file__).with_name("text_peer.py")), str(into), str(out)],
            check=True,
            env={**os.environ, "NLTK_DATA": os.pathsep.join(filter(None, paths)), "PYTHONPATH": ""},
        )
        answer: dict[str, Any] = json.loads(out.read_text())
        return answer


def word_lists(peer_python: str) -> tuple[dict[str, list[str]], list[str]]:
    """Return the peer's default word lists, less what is not one word or stands in two lists."""
    lists = ask(peer_python, {"do": "lists"})
    groups = {name: single_words(words, name) for name, words in lists["groups"].items()}
    taken = set(text.ENGLISH_STOP_WORDS).union(*groups.values())
    targets = []
    for word in lists["targets"]:
        try:
            found = single_words([word], "targets")[0]
        except LexiconError:
            continue
        if found not in taken:
            targets.append(found)
            taken.add(found)
    return groups, targets


def ranked_lists(pairs: int, places: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return seeded pairs of lists that share most items in a shuffled order."""
    draw = random.Random(7)
    catalogue = [f"Title number {i}" for i in range(400)]
    ours, theirs = [], []
    for _ in range(pairs):
        items = draw.sample(catalogue, places + places // 2)
        ours.append(items[:places])
        theirs.append(
            sorted(draw.sample(items, places), key=lambda x: items.index(x) + draw.uniform(0, places))
        )
    return ours, theirs


def main() -> None:
    """Print one row a metric."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", required=True, help="python of an environment that has langfair")
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "langfair" / "gpt_responses.json")
    options = parser.parse_args()
    data = json.loads(options.data.read_text())
    group, reference = data["female_responses"], data["male_responses"]
    texts = [*data["responses"], *group, *reference]
    lexicons, targets = word_lists(options.peer_python)
    size = min(map(len, lexicons.values()))
    even = {name: words[:size] for name, words in lexicons.items()}
    once = [_targets_once(tokenise(item), set(targets)) for item in texts]
    lists = ranked_lists(LISTS, PLACES)
    peer = ask(
        options.peer_python,
        {
            "do": "run", "group": group, "reference": reference, "texts": texts, "lexicons": lexicons,
            "targets": targets, "even_lexicons": even, "once": once, "lists": lists,
        },
    )  # fmt: skip
    values, tokens = peer["values"], peer["tokens"]
    female, male = lexicons["female"], lexicons["male"]

    seconds: dict[str, float] = {}
    agreement: dict[str, str] = {}
    _, seconds["rouge_l"] = measure(lambda: text.counterfactual_rouge_l(group, reference))
    difference = np.abs(text.counterfactual_rouge_l(*tokens["rouge_l"]).values - values["rouge_l"]).max()
    agreement["rouge_l"] = f"{len(group)} pairs, largest difference {difference:.1e}"

    _, seconds["bleu"] = measure(lambda: text.counterfactual_bleu(group, reference))
    bleu = text.counterfactual_bleu(*tokens["bleu"]).values
    plain = bleu > 0  # the peer smooths the others
    difference = np.abs(bleu - values["bleu"])[plain].max()
    agreement["bleu"] = f"{plain.sum()} unsmoothed pairs of {bleu.size}, largest difference {difference:.1e}"

    _, seconds["cobs"] = measure(
        lambda: text.cooccurrence_bias_score(texts, female, male, targets, beta=0.95)
    )
    table = text.cooccurrence_bias_score(tokens["cobs"], female, male, targets, beta=0.95)
    ours = {
        word: abs(value) / math.log(10)
        for word, value in zip(table.words, table.values, strict=True)
        if not isinstance(value, Undefined)
    }
    theirs = values["cobs"]
    same = "the same" if ours.keys() == theirs.keys() else "OTHER"
    difference = max(abs(ours[word] - theirs[word]) for word in theirs)
    agreement["cobs"] = f"{same} {len(theirs)} words, largest difference {difference:.1e}"

    _, seconds["sa"] = measure(lambda: text.stereotypical_associations(texts, lexicons, targets))
    difference = abs(text.stereotypical_associations(once, even, targets).mean - values["sa"])
    agreement["sa"] = f"both {values['sa']:.6f}, difference {difference:.1e}"

    found, seconds["recommendation"] = measure(
        lambda: [kernel(*lists, k=PLACES) for kernel in (rec.jaccard_at_k, rec.serp_at_k, rec.prag_at_k)]
    )
    agreement["recommendation"] = f"{LISTS} pairs, " + _recommendation_agreement(found, values)

    print(f"LangFair {peer['version']}; its words by {peer['splitter']}")
    print(f"{len(group)} pairs, {len(texts)} texts, {len(targets)} target words; K = {PLACES}\n")
    print(f"{'metric':15} {'LangFair s':>11} {'ours s':>10} {'ratio':>8} {'needed':>7}  agreement")
    for name, needed in NEEDED.items():
        theirs_s, ours_s = peer["seconds"][name], seconds[name]
        speed = f"{theirs_s:11.4f} {ours_s:10.5f} {theirs_s / ours_s:7.1f}x {needed:6}x"
        print(f"{name:15} {speed}  {agreement[name]}")


def _targets_once(words: list[str], targets: set[str]) -> list[str]:
    seen: set[str] = set()
    kept = []
    for word in words:
        if word not in seen:
            kept.append(word)
        if word in targets:
            seen.add(word)
    return kept


def _recommendation_agreement(found: list[PairScores], values: dict[str, Any]) -> str:
    there, back = (
        {name: np.array(column) for name, column in values[key].items()}
        for key in ("recommendation", "recommendation_back")
    )
    k = PLACES
    shared = 2 * k * there["jaccard"] / (1 + there["jaccard"])
    serp = (np.minimum(there["serp"], back["serp"]) * 2 * k * (k + 1) - shared) / (k * (k + 1) / 2)
    prag = np.minimum(there["prag"], back["prag"]) * k * (k + 1) / (k * (k - 1) / 2)
    largest = max(
        np.abs(ours.values - peer).max()
        for ours, peer in zip(found, (there["jaccard"], serp, prag), strict=True)
    )
    return f"largest difference {largest:.1e}"


if __name__ == "__main__":
    main()
