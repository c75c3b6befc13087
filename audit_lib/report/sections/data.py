"""What was audited: the tool, the data, their window, source and limits."""

from __future__ import annotations

from typing import Final

from audit_lib.report.answerers import answered_by
from audit_lib.report.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import count
from audit_lib.report.sections.what_was_varied import assigned, what_was_varied

_LABELS: Final = {"weights_sha256": "Weights, SHA-256", "dtype": "Number format"}


def data(content: Content) -> Section:
    """Make the section."""
    spec, sample = content.spec, content.sample
    window = content.key.window
    sources = "; ".join(
        f"{s.path} ({count(s.rows_in_window)} of {count(s.rows_read)} rows)" for s in sample.sources
    )
    facts: list[tuple[str, Text]] = [
        ("What the tool decides", text(spec.report.tool or "Not stated in the spec.")),
        ("Source of the data", text(sources)),
        ("Why these data", text(spec.source.reason or "Not stated in the spec.")),
        *_substitute(content),
        (
            "Window",
            text(
                f"{window.start:%-d %B %Y %H:%M} to {window.end:%-d %B %Y %H:%M} UTC, end excluded"
                + ("" if spec.source.windowed else "; the data are a fixed set and do not depend on it")
            ),
        ),
        ("Demographics", text(_provenance(content))),
        (
            "Sample",
            text(_drawn(content)),
        ),
        *what_was_varied(content),
        ("Selected", text(_decision(content))),
        ("How scores were read", text(_read(content))),
        ("Category unknown", text(_unknown(content))),
    ]
    strata = sample.drawn()
    table = Table(
        f"{sample.unit.capitalize()}s by stratum",
        (Column("Stratum", numeric=False), Column("Available"), Column("Drawn")),
        tuple(
            Row(
                in_words({name: str(level) for name, level in s.levels.items()}) or "all",
                (Cell(count(s.available)), Cell(count(s.drawn))),
            )
            for s in strata
        ),
    )
    blocks: list[Block] = [
        *([Paragraph(text(spec.description))] if spec.description else []),
        Facts(tuple(facts)),
        *([table] if strata else []),
    ]
    if content.models:
        blocks += [Heading("The model, exactly"), _models(content)]
    return Section("data", "What was audited", tuple(blocks))


def _substitute(content: Content) -> list[tuple[str, Text]]:
    """Why test data stand in for historical ones, and how they came about."""
    use = content.spec.use
    if use.data != "test" or use.test_data is None:
        return []
    told = [
        ("Why no historical data were used", use.test_data.why),
        ("How the test data were generated and obtained", use.test_data.how),
        ("How the tool was called on the test data", use.test_data.invoked),
    ]
    return [(label, text(words.strip())) for label, words in told if words.strip()]


def _read(content: Content) -> str:
    words = {
        "logits": "probabilities of the allowed answers, from the model's own logits",
        "logprobs": "probabilities of the allowed answers, from the log probabilities that the service returned",
        "sampled": "shares of the allowed answers among sampled ones, for lack of probabilities",
        "generated": "texts that the model wrote, measured afterwards",
        "ranking": "places in the rankings that the model wrote",
        "recorded": "as recorded when the tool was used; the model was not asked again",
        "endpoint": "scores or decisions of the tool itself, as its endpoint gave them",
        "similarity": "cosine of the embeddings of the two texts",
    }
    methods = content.score_methods
    if not methods:
        return "no row was scored"
    if len(methods) == 1:
        (method,) = methods
        return words.get(method, method)
    return "; ".join(f"{count(n)} rows: {words.get(method, method)}" for method, n in methods.items())


def _unknown(content: Content) -> str:
    found = {
        content.policy.family(table.family).title.lower(): table.unknown
        for table in content.headline
        if not table.stratum
    }
    if not found:
        return f"{count(content.metrics.rows.unknown_group)} rows"
    return "; ".join(f"{title}: {count(n)}" for title, n in found.items())


def _drawn(content: Content) -> str:
    sample, strata = content.sample, content.sample.drawn()
    drawn, available = sum(s.drawn for s in strata), sum(s.available for s in strata)
    unit = sample.unit
    units = "" if unit == "prompt" else f" in {count(drawn)} {unit}s"
    if drawn == available:
        return f"all {count(sample.rows)} prompts{units} were taken"
    return (
        f"{count(sample.rows)} prompts{units}: of {count(available)} {unit}s, {count(drawn)} drawn by seed "
        f"{content.spec.seed}, in proportion to their strata"
    )


def _provenance(content: Content) -> str:
    words = {
        "self_reported": "reported by the people themselves",
        "observer_coded": "coded by an observer",
        "assigned": assigned(content),
        "inferred": "inferred from other data",
    }
    joined, counted = content.sample.demographics, content.metrics.demographics
    known = words[content.provenance]
    if joined is not None and content.spec.demographics is not None:
        known += (
            f". {count(joined.matched)} people were found in the demographics file, "
            f"{count(joined.unmatched)} were not"
        )
    elif counted is not None and counted.unmatched:
        known += f". {count(counted.unmatched)} of {count(counted.people)} people have none"
    values_of = {} if counted is None else counted.unknown_values or {}
    for attribute, values in values_of.items():
        if values:
            said = "; ".join(f"{value} ({count(n)})" for value, n in values.items())
            known += f". Counted as unknown {attribute.replace('_', ' ')}: {said}"
    return known


def _decision(content: Content) -> str:
    rule = content.spec.decision
    if rule.rule == "top_k":
        pools = {
            "one_per_group": "pools drawn by seed, with one candidate of each group",
            "round_id": "the rounds of the data",
            "application_id": "the versions of one application",
        }
        return f"the {rule.k} highest scores of each round; rounds are {pools[rule.round or 'round_id']}"
    return {
        "threshold": f"scores of {rule.threshold} or more",
        "above_median": "scores strictly above the median of all scores",
        "recorded": "as recorded in the data",
        "none": "nothing is decided: texts are measured",
    }[rule.rule]


def _models(content: Content) -> Facts:
    keys = ("name", "revision", "backend", "weights_sha256", "dtype", "device", "fingerprint")
    facts = [
        (_LABELS.get(key, key.capitalize()), text(str(model[key])))
        for model in content.models
        for key in keys
        if model.get(key) is not None
    ]
    facts.append(("Answered by", text(answered_by(content))))
    if content.prompt_digest is not None:
        facts.append(("Prompt template, SHA-256", text(content.prompt_digest)))
    return Facts(tuple(facts))
