"""Which metrics apply to a use of a model, which do not, and why: rules as data, and what evaluates them.

The rules are `framework.yaml`: task x fairness through unawareness x what stakeholders want (Bouchard, 2024,
arXiv:2407.10853, section 4). Nothing of them is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from audit_lib.errors import SpecError
from audit_lib.ftu import ftu_conflict, measured_ftu
from audit_lib.registry import did_you_mean
from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.documents.design import Design
    from audit_lib.spec import AuditSpec

FrameworkAnswer = str | bool
FamilyVerdict = Literal["applies", "does not apply", "unanswered"]

_TASKS: Final = {"generation": "generation", "recommendation": "recommendation"}
_WORDS: Final = {"yes": True, "true": True, "no": False, "false": False}


class _FrameworkPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FrameworkQuestion(_FrameworkPart):
    """What a stakeholder is asked, and the answers there are."""

    key: str
    text: str
    options: tuple[FrameworkAnswer, ...]


class Rule(_FrameworkPart):
    """Whether a family applies when all of `when` holds."""

    when: dict[str, FrameworkAnswer]
    applies: bool
    why: str
    cite: str


class MetricFamily(_FrameworkPart):
    """Metrics that answer one question about a task; those of `ranked` the same of candidates who compete."""

    name: str
    title: str
    task: str
    metrics: tuple[str, ...]
    ranked: tuple[str, ...] = ()
    asks: tuple[str, ...]
    rules: tuple[Rule, ...]


class Note(_FrameworkPart):
    """Something to say when all of `when` holds."""

    when: dict[str, FrameworkAnswer]
    text: str
    cite: str


class FrameworkRules(_FrameworkPart):
    """The rules as they stand in ``framework.yaml``."""

    schema_id: Literal["audit-framework/1"] = Field(alias="schema")
    version: str
    as_of: date
    cite: str
    questions: tuple[FrameworkQuestion, ...]
    families: tuple[MetricFamily, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFamily:
    """One family of metrics, and whether it applies.

    Parameters
    ----------
    family, title : str
        Name in the rules, and in words.
    metrics : tuple of str
        Names in `measure.metrics` of a spec.
    verdict : {"applies", "does not apply", "unanswered"}
        Unanswered: `needs` names the questions that decide.
    why, cite : str
        The reason, and where it is from.
    ranked : tuple of str
        What answers the same of candidates who compete for places; a spec that has one lacks nothing.
    """

    family: str
    title: str
    metrics: tuple[str, ...]
    verdict: FamilyVerdict
    why: str
    cite: str
    needs: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecommendation:
    """What to measure, what not, and what to know.

    Parameters
    ----------
    answers : mapping
        As given.
    families : tuple of JudgedFamily
        Every family, in the order of the rules.
    notes : tuple of str
        What to know; that an audit may be unnecessary among them.
    warnings : tuple of str
        Where a spec measures what does not apply, or lacks what does.
    cite : str
        Source of the rules.
    """

    answers: Mapping[str, FrameworkAnswer]
    families: tuple[JudgedFamily, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    cite: str

    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that apply."""
        return tuple(name for one in self.families if one.verdict == "applies" for name in one.metrics)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "schema": "audit-recommendation/1",
            "answers": dict(self.answers),
            "metrics": list(self.metrics()),
            "families": [
                asdict(one)
                | {"metrics": list(one.metrics), "needs": list(one.needs), "ranked": list(one.ranked)}
                for one in self.families
            ],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "cite": self.cite,
        }


@cache
def load_framework() -> FrameworkRules:
    """Return the rules."""
    return FrameworkRules.model_validate(
        yaml.safe_load(files("audit_lib").joinpath("framework.yaml").read_bytes())
    )


def recommend(
    answers: Mapping[str, FrameworkAnswer], measured: Sequence[str] | None = None
) -> MetricRecommendation:
    """Say which metrics apply.

    Parameters
    ----------
    answers : mapping of str to bool or str
        Question -> answer; what is not answered is left out. ``task`` is needed.
    measured : sequence of str, optional
        Metrics of a spec, to be compared with what applies.

    Raises
    ------
    SpecError
        If a question or an answer does not exist, or the task is not given.

    Examples
    --------
    >>> found = recommend({"task": "classification", "ftu": False, "equal_prevalence": False,
    ...                    "intervention": "assistive"})
    >>> found.metrics()
    ('false_negative_rate_gap', 'false_omission_rate_gap')
    >>> [one.needs for one in recommend({"task": "generation"}).families if one.family == "stereotypes"]
    [('ftu',)]
    """
    rules = load_framework()
    _check(rules, answers)
    families = tuple(_judge(family, answers) for family in rules.families)
    notes = tuple(
        f"{t(note.text)} ({t(note.cite)})"
        for note in rules.notes
        if all(key in answers and answers[key] == wanted for key, wanted in note.when.items())
    )
    return MetricRecommendation(
        answers=dict(answers),
        families=families,
        notes=notes,
        warnings=() if measured is None else tuple(_warnings(families, measured)),
        cite=rules.cite,
    )


def needs_mentions(metrics: Sequence[str]) -> tuple[str, ...]:
    """Return those of some metrics that do not apply where no prompt mentions a protected word.

    Examples
    --------
    >>> needs_mentions(["impact_ratio", "counterfactual_rouge_l"])
    ('counterfactual_rouge_l',)
    """
    needing = {
        name
        for family in load_framework().families
        if any(rule.when == {"ftu": True} and not rule.applies for rule in family.rules)
        for name in family.metrics
    }
    return tuple(name for name in metrics if name in needing)


def recommend_for(
    spec: AuditSpec, further: Mapping[str, FrameworkAnswer] | None = None, design: Design | None = None
) -> MetricRecommendation:
    """Say which metrics apply to a spec, from its ``framework`` section, and compare them with what it measures.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    further : mapping of str to bool or str, optional
        Answers that come before the spec's.
    design : Design, optional
        ``design.json`` of a run of it: whether prompts mention a protected word is then what was measured, and a
        different answer of the spec is a warning.

    Raises
    ------
    SpecError
        If neither the spec nor `further` has an answer.
    """
    if spec.framework is None and not further and design is None:
        raise SpecError(
            f"{spec.audit}: no framework section; write its answers there, or give them as options"
        )
    answers = {} if spec.framework is None else spec.framework.model_dump(mode="json", exclude_none=True)
    if design is not None and (measured := _measured_by(design)) is not None:
        answers["ftu"] = measured
    answers |= further or {}
    answers.setdefault("task", _TASKS.get(spec.task, "classification"))
    found = recommend(answers, spec.measure.metrics)
    conflict = (
        None
        if design is None
        else ftu_conflict(spec, design.perturbation, design.ftu, design.protected_words)
    )
    return found if conflict is None else replace(found, warnings=(conflict, *found.warnings))


def _measured_by(design: Design) -> bool | None:
    return measured_ftu(design.perturbation, design.ftu, design.protected_words)


def read_answers(pairs: Sequence[str]) -> dict[str, FrameworkAnswer]:
    """Read ``key=value`` pairs; yes and no are truth values.

    Raises
    ------
    SpecError
        If a pair has no ``=``, or a key is given twice.

    Examples
    --------
    >>> read_answers(["task=classification", "ftu=no"])
    {'task': 'classification', 'ftu': False}
    """
    found: dict[str, FrameworkAnswer] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key in found:
            raise SpecError(f"answer {pair!r}: write each question once, as key=value")
        found[key] = _WORDS.get(value.lower(), value)
    return found


def recommendation_text(found: MetricRecommendation) -> str:
    """Print a recommendation as a table for a terminal."""
    answers = ", ".join(f"{key} {_say(value)}" for key, value in found.answers.items())
    lines = [f"Answers: {answers}", ""]
    width = max(len(one.title) for one in found.families)
    lines += [f"{one.title:<{width}}  {one.verdict:<15} {one.why} ({one.cite})" for one in found.families]
    applying = ", ".join(found.metrics()) or "none"
    lines += ["", f"measure.metrics: {applying}"]
    lines += [f"note: {note}" for note in found.notes]
    lines += [f"warning: {warning}" for warning in found.warnings]
    return "\n".join([*lines, f"rules: {found.cite}"]) + "\n"


def _say(answer: FrameworkAnswer) -> str:
    return answer if isinstance(answer, str) else ("yes" if answer else "no")


def _check(rules: FrameworkRules, answers: Mapping[str, FrameworkAnswer]) -> None:
    questions = {question.key: question for question in rules.questions}
    for key, answer in answers.items():
        if key not in questions:
            raise SpecError(f"answer {key!r}: no such question{did_you_mean(key, list(questions))}")
        options = questions[key].options
        if not any(type(answer) is type(option) and answer == option for option in options):
            known = ", ".join(_say(option) for option in options)
            raise SpecError(f"answer {key}={_say(answer)}: {questions[key].text} One of {known}")
    if "task" not in answers:
        raise SpecError(f"answer task is missing: {questions['task'].text}")


def _judge(family: MetricFamily, answers: Mapping[str, FrameworkAnswer]) -> JudgedFamily:
    def judged(verdict: FamilyVerdict, why: str, cite: str, needs: tuple[str, ...] = ()) -> JudgedFamily:
        return JudgedFamily(
            family=family.name,
            title=family.title,
            metrics=family.metrics,
            verdict=verdict,
            why=why,
            cite=cite,
            needs=needs,
            ranked=family.ranked,
        )

    if answers["task"] != family.task:
        other = t("for {task}, not {given}", task=t(family.task), given=t(str(answers["task"])))
        return judged("does not apply", other, family.rules[0].cite)
    for rule in family.rules:
        if any(key in answers and answers[key] != wanted for key, wanted in rule.when.items()):
            continue
        if needs := tuple(key for key in rule.when if key not in answers):
            listed = needs[0]
            for key in needs[1:]:
                listed = t("{most} and {last}", most=listed, last=key)
            return judged("unanswered", t("answer {needs} first", needs=listed), rule.cite, needs)
        return judged("applies" if rule.applies else "does not apply", t(rule.why), rule.cite)
    raise SpecError(f"framework.yaml: no rule of {family.name} fits the answers {dict(answers)}")


def _warnings(families: Sequence[JudgedFamily], measured: Sequence[str]) -> list[str]:
    applying = {name for one in families if one.verdict == "applies" for name in one.metrics}
    found = []
    for one in families:
        if one.verdict == "does not apply":
            found += [
                t("measure.metrics has {name}, which does not apply: {why}", name=name, why=one.why)
                for name in (*one.metrics, *one.ranked)
                if name in measured and name not in applying
            ]
        elif one.verdict == "applies" and not set(one.ranked) & set(measured):
            found += [
                t("measure.metrics lacks {name}, which applies: {why}", name=name, why=one.why)
                for name in one.metrics
                if name not in measured
            ]
    return found
