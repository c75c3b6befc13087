"""Runs LangFair's counterfactual generator in its own environment: texts and CPU seconds, for `substitution.py`.

Called as ``python substitution_peer.py REQUEST.json ANSWER.json``; needs langfair, nltk and sacremoses, and none of
the libraries that call models.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import types
from pathlib import Path
from typing import Any


class _Absent(types.ModuleType):
    """Stands for libraries that LangFair imports and that its substitution never calls."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


_ABSENT = (
    "torch", "transformers", "sentence_transformers", "detoxify", "evaluate", "langchain", "langchain_core",
    "langchain_core.messages", "langchain_core.messages.human", "langchain_core.messages.system",
    "langchain_core.language_models", "langchain_core.language_models.chat_models", "tiktoken",
)  # fmt: skip
for _name in _ABSENT:
    sys.modules.setdefault(_name, _Absent(_name))


def main(request_path: str, answer_path: str) -> None:
    """Read the request, substitute, write the answer."""
    request = json.loads(Path(request_path).read_text())
    import nltk
    from langfair.generator import counterfactual

    try:
        nltk.word_tokenize("One. Two.")
        splitter = "nltk.word_tokenize"
    except LookupError:
        # Without the sentence model: the same word rules on the whole text. It saves the peer time.
        counterfactual.word_tokenize = lambda text: nltk.word_tokenize(text, preserve_line=True)
        splitter = "nltk.word_tokenize, sentences not split (its model is not installed)"
        nltk.download = lambda *_: None
    peer = counterfactual.CounterfactualGenerator.__new__(counterfactual.CounterfactualGenerator)
    peer.progress_bar = None
    peer.detokenizer = counterfactual.sacremoses.MosesDetokenizer("en")
    with contextlib.redirect_stdout(io.StringIO()):
        peer.create_prompts(request["texts"][:20], custom_dict=request["words"])
        start = time.process_time()
        made = peer.create_prompts(request["texts"], custom_dict=request["words"])
        seconds = time.process_time() - start
    from importlib.metadata import version

    Path(answer_path).write_text(
        json.dumps(
            {
                "version": version("langfair"),
                "splitter": splitter,
                "seconds": seconds,
                "texts": {group: made[f"{group}_prompt"] for group in request["words"]},
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
