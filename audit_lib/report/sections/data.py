"""What was audited: the tool, the data, their window, source and limits."""

from __future__ import annotations

from typing import Final

from audit_lib.report.blocks import Block, Cell, Column, Facts, Heading, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content
from audit_lib.report.numbers import count

_LABELS: Final = {"weights_sha256": "Weights, SHA-256", "dtype": "Number format"}


def data(content: Content) -> Section:
    """Make the section."""
    spec, sample = content.spec, content.sample
    window = content.key.window
    sources = "; ".join(
        f"{s['path']} ({count(s['rows_in_window'])} of {count(s['rows_read'])} rows)"
        for s in sample["sources"]
    )
    facts = [
        ("What the tool decides", text(spec.report.tool or "Not stated in the spec.")),
        ("Source of the data", text(sources)),
        ("Why these data", text(spec.source.reason or "Not stated in the spec.")),
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
        ("Selected", text(_decision(content))),
    ]
    strata = sample["strata"]
    names = [name for name in strata[0] if name not in ("available", "drawn")] if strata else []
    table = Table(
        f"{sample.get('unit', 'prompt').capitalize()}s by stratum",
        (Column("Stratum", numeric=False), Column("Available"), Column("Drawn")),
        tuple(
            Row(
                ", ".join(str(s[name]).replace("_", " ") for name in names) or "all",
                (Cell(count(s["available"])), Cell(count(s["drawn"]))),
            )
            for s in strata
        ),
    )
    blocks: list[Block] = [
        Paragraph(text(spec.description)),
        Facts(tuple(facts)),
        *([table] if strata else []),
    ]
    if content.models:
        blocks += [Heading("The model, exactly"), _models(content)]
    return Section("data", "What was audited", tuple(blocks))


def _drawn(content: Content) -> str:
    sample, strata = content.sample, content.sample["strata"]
    drawn, available = (sum(s[key] for s in strata) for key in ("drawn", "available"))
    unit = sample.get("unit", "prompt")
    units = "" if unit == "prompt" else f" in {count(drawn)} {unit}s"
    if drawn == available:
        return f"all {count(sample['rows'])} prompts{units} were taken"
    return (
        f"{count(sample['rows'])} prompts{units}: of {count(available)} {unit}s, {count(drawn)} drawn by seed "
        f"{content.spec.seed}, in proportion to their strata"
    )


def _provenance(content: Content) -> str:
    words = {
        "self_reported": "reported by the people themselves",
        "observer_coded": "coded by an observer",
        "assigned": "assigned: the group is the one a name, title or pronoun was chosen to signal",
        "inferred": "inferred from other data",
    }
    joined = content.sample["demographics"]
    known = words[content.provenance]
    if joined:
        known += (
            f". {count(joined['matched'])} people were found in the demographics file, "
            f"{count(joined['unmatched'])} were not"
        )
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
    }[rule.rule]


def _models(content: Content) -> Facts:
    keys = ("name", "revision", "backend", "weights_sha256", "dtype", "device", "fingerprint")
    facts = [
        (_LABELS.get(key, key.capitalize()), text(str(model[key])))
        for model in content.models
        for key in keys
        if model.get(key) is not None
    ]
    if content.prompt_digest is not None:
        facts.append(("Prompt template, SHA-256", text(content.prompt_digest)))
    return Facts(tuple(facts))
