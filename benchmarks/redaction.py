"""How much of the hand-marked passages redaction finds, and how fast a template is filled.

    python -m benchmarks.redaction [--checks spacy presidio]

A mark is found if redacted spans of its kind cover it whole; a span is right if it lies inside a mark of its kind.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit_lib.perturb.agreement import PARTS
from audit_lib.perturb.parsed import ParsedTemplate, Values
from audit_lib.perturb.redact import Applicant, redact
from audit_lib.perturb.template import fill
from audit_lib.resources import include_dir
from tests.perturb.marked import passages, pronoun_cases, scores

_HEADINGS = {
    "passages": "passages that the rules were made with",
    "held_out": "held out: passages written after the rules and never used to change them, by the same author",
    "held_out_hard": "held out, hard: kinds in which a review found faults, written after their mending",
}

DOSSIER = """Resume of {name}

{name} | Oakland, CA 94607 | {first}.{last}@mail.example

Education
San Francisco State University, San Francisco, CA, 2012 - 2016

Letter
It is my pleasure to recommend Ms. {last}, whom I have supervised for three years. {first} plans her lessons with
care, her pupils trust her, and the tutoring schedule of the school is hers. She volunteers every summer. When the
district asked her to train new teachers, she wrote the handbook herself. Ms. {last}'s unit on fractions is used in
nine schools, and {first} visits each of them with her notes. I hope that you hire her.

Transcript
Interviewer: Tell us about a lesson that went wrong, {first}.
{upper}: I had planned a lab with too few gloves. We stopped, counted, and made pairs. The pupils learned more about
planning than about acids, and I keep a list of supplies on the door since then. One pupil still reminds me of it.
Interviewer: Thank you. What would your principal say of you?
{upper}: That I ask for help early, and that I do not leave a meeting without a date for the next one.
"""


def table(name: str, checks: Sequence[str]) -> None:
    """Print precision and recall by kind of span."""
    read = passages(name)
    results = [passage.redacted(checks=checks) for passage in read]
    print(f"\n{_HEADINGS[name]} ({len(read)} passages)\n")
    print("| kind | marked | found | recall | redacted | right | precision |")
    print("|---|---|---|---|---|---|---|")
    for kind, s in scores(read, results).items():
        print(
            f"| {kind} | {s.marked} | {s.found} | {s.recall:.3f} | {s.redacted} | {s.right} | {s.precision:.3f} |"
        )
    right, of = pronoun_cases(read, results)
    silent = sum(
        not any(s.start < m.end and m.start < s.end for s in (*result.spans, *result.doubts))
        for passage, result in zip(read, results, strict=True)
        for m in passage.marks
    )
    back = sum(result.restored() == passage.text for passage, result in zip(read, results, strict=True))
    unsure = sum(not span.sure for result in results for span in result.spans)
    print(f"\npronouns with the right case: {right} of {of} found")
    print(f"marks with no span and no doubt on them, left in silence: {silent}")
    print(
        f"to check: {unsure} spans redacted but unsure; {sum(len(r.doubts) for r in results)} doubtful places left"
    )
    print(f"filled with the originals, the same bytes: {back} of {len(read)}")


def speed() -> None:
    """Print what a variant costs: a dossier parsed once and filled for 100 personas."""
    name = {"name": "Ana Ruiz", "first": "Ana", "last": "Ruiz", "upper": "ANA"}
    text = DOSSIER.format(**name)
    started = time.process_time()
    times = 20
    for _ in range(times):
        made = redact(text, Applicant(name="Ana Ruiz"))
    redacting = (time.process_time() - started) / times
    template = made.template_with()
    parsed = ParsedTemplate.of(template)
    with (include_dir() / "lexicons" / "names.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    people = (rows[:50] + rows[-50:])[:100]
    words = {"female": "she her her hers herself Ms.", "male": "he him his his himself Mr."}
    keys = [*(f"pronoun.{part}" for part in PARTS), "title"]
    plain = [
        {
            **{k: row[k] for k in ("first_name", "last_name")},
            **dict(zip(keys, words[row["sex"]].split(), strict=True)),
        }
        for row in people
    ]
    best = {"parsed": float("inf"), "first use of a persona": float("inf"), "template.fill": float("inf")}
    for _ in range(200):
        fresh = [Values(values) for values in plain]
        for label in ("first use of a persona", "parsed"):
            started = time.process_time()
            filled = [parsed.render(values) for values in fresh]
            best[label] = min(best[label], (time.process_time() - started) / len(fresh))
    for _ in range(5):
        started = time.process_time()
        slow = [fill(template, values) for values in plain]
        best["template.fill"] = min(best["template.fill"], (time.process_time() - started) / len(plain))
    assert filled == slow
    print(
        f"\na dossier of {len(text.encode()):,} bytes, {len(parsed.slots)} slots open: redacted in "
        f"{redacting * 1e3:.1f} ms"
    )
    for label, seconds in best.items():
        print(f"{label}: {seconds * 1e6:.2f} microseconds a variant (least CPU time of 100 variants)")
    print(f"Python {platform.python_version()}, {platform.machine()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", nargs="+", default=[], choices=("spacy", "presidio"))
    options = parser.parse_args()
    for which in _HEADINGS:
        table(which, options.checks)
    speed()
