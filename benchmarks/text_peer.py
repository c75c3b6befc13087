"""Runs LangFair in its own environment: its numbers and its CPU times, as JSON, for `text.py`.

Called as ``python text_peer.py REQUEST.json ANSWER.json``; needs langfair, and none of its model libraries.
"""

from __future__ import annotations

import json
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any


class _Absent(types.ModuleType):
    """Stands for model libraries that LangFair imports and that these metrics never call."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for _name in ("torch", "transformers", "sentence_transformers", "detoxify", "evaluate", "langchain"):
    sys.modules.setdefault(_name, _Absent(_name))


def measure(work: Callable[[], Any], times: int = 3) -> tuple[Any, float]:
    """Return the work's result and its least CPU seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return result, best


def main(request_path: str, answer_path: str) -> None:
    """Read the request, run every metric, write the answer."""
    request = json.loads(Path(request_path).read_text())
    from langfair.constants.word_lists import ADJECTIVE_LIST, GENDER_TO_WORD_LISTS, PROFESSION_LIST

    if request["do"] == "lists":
        answer: dict[str, Any] = {
            "groups": GENDER_TO_WORD_LISTS,
            "targets": [*ADJECTIVE_LIST, *PROFESSION_LIST],
        }
        Path(answer_path).write_text(json.dumps(answer))
        return

    import nltk
    from langfair.metrics.counterfactual.metrics import bleu, rougel
    from langfair.metrics.recommendation.metrics import PRAG, SERP, JaccardSimilarity
    from langfair.metrics.stereotype.metrics import associations, cooccurrence

    try:
        nltk.word_tokenize("One. Two.")
        split = nltk.word_tokenize
        splitter = "nltk.word_tokenize"
    except LookupError:
        # Without the sentence model: the same word rules on the whole text. It saves the peer time.

        def split(text: str) -> list[str]:
            return nltk.word_tokenize(text, preserve_line=True)

        splitter = "nltk.word_tokenize, sentences not split (its model is not installed)"
    for module in (bleu, associations, cooccurrence):
        module.word_tokenize = split

    group, reference, texts = request["group"], request["reference"], request["texts"]
    lists, targets = request["lexicons"], request["targets"]
    quiet = {"show_progress_bars": False}
    seconds, values, tokens = {}, {}, {}

    rouge = rougel.RougelSimilarity(how="pairwise")
    values["rouge_l"], seconds["rouge_l"] = measure(lambda: rouge.evaluate(group, reference, **quiet))
    from rouge_score.tokenize import tokenize

    stemmer = rouge.rouge_scorer._tokenizer._stemmer
    tokens["rouge_l"] = [[tokenize(text, stemmer) for text in side] for side in (group, reference)]

    similarity = bleu.BleuSimilarity(how="pairwise")
    values["bleu"], seconds["bleu"] = measure(lambda: similarity.evaluate(group, reference, **quiet))
    tokens["bleu"] = [[split(text.lower()) for text in side] for side in (group, reference)]

    cobs = cooccurrence.CooccurrenceBiasMetric(
        demographic_group_word_lists=lists, stereotype_word_list=targets, how="word_level"
    )
    values["cobs"], seconds["cobs"] = measure(lambda: cobs.evaluate(texts, **quiet))
    tokens["cobs"] = [cobs._get_clean_token_list(text) for text in texts]

    sa = associations.StereotypicalAssociations(
        demographic_group_word_lists=lists, stereotype_word_list=targets
    )
    values["sa_as_published"], seconds["sa"] = measure(lambda: sa.evaluate(texts, **quiet), 1)
    # Both departures vanish where lists are equally long and no target word stands twice in a text.
    associations.word_tokenize = str.split
    even = associations.StereotypicalAssociations(
        demographic_group_word_lists=request["even_lexicons"], stereotype_word_list=targets
    )
    values["sa"] = even.evaluate([" ".join(words) for words in request["once"]], **quiet)

    ours, theirs = request["lists"]
    metrics = {"jaccard": JaccardSimilarity(), "serp": SERP(), "prag": PRAG()}

    def run(first: list[list[str]], second: list[list[str]]) -> dict[str, list[float]]:
        return {
            name: [metric.evaluate(a, b) for a, b in zip(first, second, strict=True)]
            for name, metric in metrics.items()
        }

    values["recommendation"], seconds["recommendation"] = measure(lambda: run(ours, theirs))
    values["recommendation_back"] = run(theirs, ours)
    import langfair

    version = getattr(langfair, "__version__", "?")
    Path(answer_path).write_text(
        json.dumps(
            {"version": version, "splitter": splitter, "seconds": seconds, "values": values, "tokens": tokens}
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
