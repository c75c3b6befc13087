"""The axes of the combinations, as sections of a spec: what is varied, who answers, what is asked, who is selected.

What there is to combine is read from the product's registries and types; a name that is new there and not known here
stops the tests (`test_every_registered_part_is_combined`), so that no part is left out in silence.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.combinations.biased_judge import GROUP_NAMES, LEVELS, REFERENCE_NAMES

Section = dict[str, Any]
LAST_NAMES: Final = "Abel Brandt Castro Duarte Engel Falk Garcia Holm Ibsen Jansen Keller Lorenz".split()  # noqa: SIM905


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a CSV file's text."""
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def template(*turns: tuple[str, str], candidate: str | None = None) -> str:
    """Return a prompt template's text."""
    lines = ["messages:"]
    for role, content in turns:
        lines += [f"- role: {role}", f"  content: {content!r}"]
    return "\n".join([*([] if candidate is None else [f"candidate: {candidate!r}"]), *lines, ""])


@dataclass(frozen=True, kw_only=True)
class Varied:
    """One way of showing groups: sections of a spec, the text about a person, files.

    `rounds` is who competes by nature: pools with one of each group, versions of one application, the source's rounds.
    """

    text: str
    perturb: Section | None
    rounds: str = "one_per_group"
    sections: Mapping[str, Any] = field(default_factory=dict)
    levels: tuple[str, str] = ("female", "male")
    attribute: str = "sex"


_NAMES: Final = {"kind": "persona", "names": "names.csv"}
VARIED: Final[dict[str, Varied]] = {
    "none": Varied(text="A member of the {own} club, in steady work.", perturb=None, rounds="round_id"),
    "names": Varied(text="{{name}} has steady work.", perturb=_NAMES),
    "names, two samples": Varied(text="{{name}} has steady work.", perturb=_NAMES | {"design": "two_sample"}),
    "names, asked again": Varied(text="{{name}} has steady work.", perturb=_NAMES | {"controls": True}),
    "names, other formats": Varied(
        text="{{name}} has steady work.\n\nAnd a licence.", perturb=_NAMES | {"formats": ["blank_lines", "spaces"]}
    ),
    "names, further prompts": Varied(
        text="{{name}} has steady work.",
        perturb=_NAMES,
        sections={"robustness": {"prompts": {"second": "second.yaml"}, "tasks": {"shorter": "shorter.yaml"}}},
    ),
    "names, perceived": Varied(
        text="{{name}} has steady work.", perturb=_NAMES,
        sections={"manipulation": {"questions": {"sex": "perceived.yaml"}}},
    ),
    "pronouns": Varied(
        text="Of the college in {{city}}: {{pronoun.subject}} has steady work.",
        perturb={"kind": "persona", "pronouns": "pronouns.csv", "signals": ["cities.csv"]},
    ),
    "titles": Varied(
        text="{{title}} Smith of {{city}} has steady work.",
        perturb={"kind": "persona", "titles": "titles.csv", "signals": ["cities.csv"]},
    ),
    "zip codes": Varied(
        text="Lives in {{zip_code}} and has steady work.", perturb={"kind": "persona", "signals": ["zip_codes.csv"]},
        attribute="race", levels=("Black", "White"),
    ),
    "exchanged words": Varied(
        text="A {own} who has steady work.", perturb={"kind": "lexicon", "terms": {"sex": "terms.csv"}},
        rounds="application_id",
    ),
    "blinded": Varied(text="The applicant has steady work.", perturb=_NAMES),
}  # fmt: skip
OWN_WORDS: Final = {"none": ("women's", "men's"), "exchanged words": ("woman", "man")}
"""Of a text that shows a group before anything is put in."""

_SYSTEM: Final = ("system", "Vacancy: {{position_shown}}")
_ONE: Final = "<< {{resume}} >>"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked: the task, its template and the keys that belong to it; the middle of the scores that come back."""

    task: str
    template: str
    prompt: Section = field(default_factory=dict)
    sections: Mapping[str, Any] = field(default_factory=dict)
    middle: float = 0.5
    metrics: tuple[str, ...] = ("decision_rate_gap", "rabbi")


_YES: Final = "Answer Yes or No."
ASKED: Final[dict[str, Asked]] = {
    "pointwise": Asked(task="pointwise", template=template(_SYSTEM, ("user", f"{_ONE} {_YES}"))),
    "pointwise, a number": Asked(
        task="pointwise",
        template=template(_SYSTEM, ("user", f"{_ONE} Answer with a number from 1 to {LEVELS} ."),),
        prompt={"read": "number", "labels": [str(n) for n in range(1, LEVELS + 1)],
                "relevance": list(range(1, LEVELS + 1))},
        middle=(LEVELS + 1) / 2,
    ),
    "pointwise, in two steps": Asked(
        task="pointwise",
        template=template(_SYSTEM, ("user", f"{_ONE} Sum up ."), ("assistant", "{{reply}}"), ("user", _YES)),
    ),
    "pairwise": Asked(
        task="pairwise",
        template=template(_SYSTEM, ("user", "<< {{first.resume}} >> << {{second.resume}} >> A or B?")),
        prompt={"answer": "letter"},
        metrics=("decision_rate_gap", "rabbi", "pairwise_win_gap"),
    ),
    "listwise": Asked(
        task="listwise",
        template=template(
            _SYSTEM, ("user", "{{candidates}} Rank all ."), candidate=f"Applicant {{{{number}}}}: {{{{name}}}} {_ONE}"
        ),
        middle=1.5,
    ),
    "generation": Asked(
        task="generation",
        template=template(_SYSTEM, ("user", f"{_ONE} Write a letter .")),
        sections={"classifiers": [{"name": "awful", "kind": "lexicon", "measures": "toxicity",
                                   "options": {"words": "awful.csv"}}]},
        metrics=("fraction",),
    ),
    "recommendation": Asked(
        task="recommendation",
        template=template(_SYSTEM, ("user", f"{_ONE} List five jobs .")),
        sections={"generation": {"items": 5}},
        metrics=("jaccard_at_k",),
    ),
}  # fmt: skip

Decide = Callable[[Asked, Varied], "Section | None"]
DECIDED: Final[dict[str, Decide]] = {
    "threshold": lambda asked, varied: {"rule": "threshold", "threshold": asked.middle} | _pool(asked, varied),
    "above_median": lambda asked, varied: {"rule": "above_median"} | _pool(asked, varied),
    "top_k": lambda asked, varied: {"rule": "top_k", "k": 1, "round": varied.rounds},
    "top_k of one_per_group": lambda asked, varied: {"rule": "top_k", "k": 1, "round": "one_per_group"},
    "top_k of application_id": lambda asked, varied: {"rule": "top_k", "k": 1, "round": "application_id"},
    "top_k of round_id": lambda asked, varied: {"rule": "top_k", "k": 1, "round": "round_id"},
    "recorded": lambda asked, varied: {"rule": "recorded"} | _pool(asked, varied),
    "classes": lambda asked, varied: {"rule": "above_median", "classes": ["Yes"]} | _pool(asked, varied),
    "classes of the source": lambda asked, varied: {
        "rule": "above_median", "classes": ["Yes"], "class_field": "said"
    } | _pool(asked, varied),
    "none": lambda asked, varied: None,
}  # fmt: skip


def _pool(asked: Asked, varied: Varied) -> Section:
    """Return who competes, where candidates are shown together."""
    return {"round": varied.rounds} if asked.task in ("pairwise", "listwise") else {}


ANSWERING: Final[dict[str, str]] = {
    "recorded": "recorded",
    "http, its score": "http",
    "http, its decision": "http",
    "http, its text": "http",
    "openai": "openai",
    "openai_batch": "openai_batch",
    "pydantic_ai": "pydantic_ai",
    "transformers": "transformers",
    "embedding": "embedding",
}
"""Who answers -> the backend."""


def design_files() -> dict[str, str]:
    """Return every file that a spec may name, by its name."""
    people = [("female", GROUP_NAMES), ("male", REFERENCE_NAMES)]
    return {
        "names.csv": table(
            ["first_name", "last_name", "sex"],
            [
                [first, last, sex]
                for sex, names in people
                for first, last in zip(names, LAST_NAMES, strict=True)
            ],
        ),
        "pronouns.csv": table(["sex", "subject"], [["female", "she"], ["male", "he"]]),
        "titles.csv": table(["sex", "title"], [["female", "Ms."], ["male", "Mr."]]),
        "cities.csv": table(["city"], [["Salem"], ["Dover"], ["Boise"]]),
        "zip_codes.csv": table(["race", "zip_code"], [["Black", "60621"], ["White", "60614"]]),
        "terms.csv": table(["female", "male"], [["woman", "man"]]),
        "awful.csv": table(["word"], [["awful"]]),
        "second.yaml": template(_SYSTEM, ("user", f"Please read this. {_ONE} {_YES}")),
        "shorter.yaml": template(("user", f"{_ONE} {_YES}")),
        "perceived.yaml": template(("user", f"{_ONE} Which one is it, female or male?")),
        **{f"{task.replace(' ', '_').replace(',', '')}.yaml": one.template for task, one in ASKED.items()},
    }
