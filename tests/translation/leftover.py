"""What of a page was not written through the catalogue.

    python -m tests.translation.leftover [LANGUAGE] [RUN]

renders the report of each run (or of the one named) in the made-up language, in which every letter of the catalogue's
texts has a mark; letters without one come from elsewhere: names and words of the spec and the data, or a text that
no other language will ever hold.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import yaml

from audit_lib.measure.metric import METRICS
from audit_lib.policies import POLICY_FILE
from audit_lib.report.content import gather
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.html import render_html
from audit_lib.report.page import make_page
from audit_lib.run import Run
from audit_lib.translation import PSEUDO, speaking
from tests.translation.page_runs import RUNS
from tools.catalogue import of_yaml

NAMES: Final = (
    "audit_lib", "AUC", "ROUGE-L", "BLEU", "HTTP", "UTC", "SHA-256", "JSON", "CSV", "PDF", "P(Yes)", "Holm", "Koopman",
    "Benjamini-Hochberg", "CR1", "Breslow-Day", "Simpson", "Fisher", "Newcombe", "Wilson", "Welch", "BCa", "RABBI",
    "NYC",
)  # fmt: skip
"""Proper names and abbreviations that are the same in every language."""
_WORD: Final = re.compile(r"[A-Za-z]{2,}(?:['-][A-Za-z]+)*")
_SHOWN: Final = ("aria-label", "alt", "title", "placeholder")
_NOT_WORDS: Final = re.compile(
    r"\b[0-9a-f]{12,64}\b|https?://\S+|\d[\d.]*[eE][+-]?\d+"
    r"|\b[a-z0-9]+(?:_[a-z0-9]+)+\b(?!\.[a-z])|\b[a-z_][a-z0-9_-]*(?:/[a-z0-9_-]+)*(?:\.[a-z_]+)+\b"
)
"""Digests, addresses, numbers; names with underscores, such as a metric's; keys of the spec, and names of files."""


class _Shown(HTMLParser):
    """Texts that a reader sees or hears; not style sheets, code, and what is said to be in another language."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._closed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if self._closed or tag in ("style", "code", "pre") or (tag != "html" and said.get("lang")):
            if tag not in ("img", "meta", "br", "link", "input"):
                self._closed.append(tag)
            return
        self.texts += [value for key, value in attrs if key in _SHOWN and value]

    def handle_endtag(self, tag: str) -> None:
        if self._closed and self._closed[-1] == tag:
            self._closed.pop()

    def handle_data(self, data: str) -> None:
        if not self._closed and (words := " ".join(data.split())):
            self.texts.append(words)


def shown(html: bytes, own: Iterable[str]) -> dict[str, str]:
    """Return the texts of a page, each once, and what is left of each without the strings `own`, names and digests."""
    parser = _Shown()
    parser.feed(html.decode())
    strings = sorted({*own, *NAMES}, key=len, reverse=True)
    mine = re.compile(
        "|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in strings if len(one) > 1), re.IGNORECASE
    )
    return {
        words: "" if _is_cut(words, strings) else mine.sub(" ", _NOT_WORDS.sub(" ", words))
        for words in parser.texts
    }


def _is_cut(words: str, strings: Iterable[str]) -> bool:
    """Whether words are one of the strings with an ellipsis in the middle, as figures cut long names."""
    head, ellipsis, tail = words.partition("\N{HORIZONTAL ELLIPSIS}")
    return bool(ellipsis and head and tail) and any(
        one.startswith(head) and one.endswith(tail) for one in strings
    )


def leftover(html: bytes, own: Iterable[str]) -> list[str]:
    """Return the texts of a page with letters that are neither marked nor of the strings `own`, each once."""
    return [words for words, left in shown(html, own).items() if _WORD.search(left)]


def own_strings(run: Run) -> Iterator[str]:
    """Strings of a run that are other people's: of the spec, of the data's labels, of the model."""
    spec = run.spec
    yield from _strings(json.loads(spec.model_dump_json(exclude={"report": {"policy"}})))
    yield from (run.uri, run.key.prefix)
    for name in ("sample", "metrics"):
        document = json.loads(run.stage(name).read(f"{name}.json"))
        for key in ("demographics", "strata"):
            yield from _strings(document.get(key) or {})
        for table in document.get("tables", []):
            yield from (row["label"] for row in table["rows"])
            yield from _strings(table["stratum"])
        for one in document.get("estimates", []):
            yield from _strings([one["group"], one["reference"], one["stratum"]])
            yield from _strings(one["parameters"].get("word"))  # a target word of the user's list
    if spec.report.policy_file is not None:  # a pack of the user's own, in the user's own words
        yield from of_yaml(yaml.safe_load(run.design_file(POLICY_FILE)))
    content = gather(run)
    yield from (content.policy.name, *content.served, *METRICS.names())
    if (found := content.design.protected_words) is not None:
        for one in found.words:
            yield from (one.word, one.example)
    for changes in (content.design.tasks or {}).values():  # words of the user's templates
        yield from (words for one in changes for words in (one.taken, one.put) if words)
    for suite in json.loads(run.stage("validation").read("validation.json"))["suites"]:
        yield from (one["column"] for one in suite["expectations"] if one["column"])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value
        yield " ".join(value.split())
        yield value.replace("_", " ")


def page_in(language: str, run: Run) -> bytes:
    """Return the report's page in a language."""
    with speaking(language):
        return render_html(make_page(gather(run, earlier_audits(run))))


def main(arguments: list[str]) -> int:
    """Print what is left over in each run's page."""
    language, *names = arguments or [PSEUDO]
    for name in names or RUNS:
        with tempfile.TemporaryDirectory() as folder:
            run = RUNS[name](Path(folder))
            left = leftover(page_in(language, run), own_strings(run))
        print(f"{name}: {len(left)}", *left, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
