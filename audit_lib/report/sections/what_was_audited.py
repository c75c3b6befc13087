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
from audit_lib.report.numbers import count, day
from audit_lib.report.sections.local_model import how_it_was_asked
from audit_lib.report.sections.what_was_varied import assigned, what_was_varied
from audit_lib.report.table_names import family_name
from audit_lib.translation import Filled, known, mark, stated, t, tn, tp

_FACTS: Final = {
    "name": mark("Name"),
    "revision": mark("Revision"),
    "backend": mark("Backend"),
    "weights_sha256": mark("Weights, SHA-256"),
    "dtype": mark("Number format"),
    "device": mark("Device"),
    "fingerprint": mark("Fingerprint"),
}
_READ: Final = {
    "logits": mark("probabilities of the allowed answers, from the model's own logits"),
    "logprobs": mark(
        "probabilities of the allowed answers, from the log probabilities that the service returned"
    ),
    "sampled": mark("shares of the allowed answers among sampled ones, for lack of probabilities"),
    "generated": mark("texts that the model wrote, measured afterwards"),
    "ranking": mark("places in the rankings that the model wrote"),
    "recorded": mark("as recorded when the tool was used; the model was not asked again"),
    "endpoint": mark("scores or decisions of the tool itself, as its endpoint gave them"),
    "similarity": mark("cosine of the embeddings of the two texts"),
}
_BY_STRATUM: Final = {
    "prompt": mark("Prompts by stratum"),
    "round": mark("Rounds by stratum"),
    "application": mark("Applications by stratum"),
}
_ALL_TAKEN: Final = {
    "prompt": mark("all {rows:,} prompts were taken"),
    "round": mark("all {rows:,} prompts in {drawn:,} rounds were taken"),
    "application": mark("all {rows:,} prompts in {drawn:,} applications were taken"),
}
_DRAWN: Final = {
    "prompt": mark(
        "{rows:,} prompts: of {available:,} prompts, {drawn:,} drawn by seed {seed}, in proportion to their strata"
    ),
    "round": mark(
        "{rows:,} prompts in {drawn:,} rounds: of {available:,} rounds, {drawn:,} drawn by seed {seed}, in proportion "
        "to their strata"
    ),
    "application": mark(
        "{rows:,} prompts in {drawn:,} applications: of {available:,} applications, {drawn:,} drawn by seed {seed}, in "
        "proportion to their strata"
    ),
}
_KNOWN: Final = {
    "self_reported": mark("reported by the people themselves"),
    "observer_coded": mark("coded by an observer"),
    "inferred": mark("inferred from other data"),
}
_TOP_OF_ROUND: Final = {
    "one_per_group": mark(
        "the {k} highest scores of each round; rounds are pools drawn by seed, with one candidate of each group"
    ),
    "round_id": mark("the {k} highest scores of each round; rounds are the rounds of the data"),
    "application_id": mark(
        "the {k} highest scores of each round; rounds are the versions of one application"
    ),
}
_DECISIONS: Final = {
    "threshold": mark("scores of {threshold} or more"),
    "above_median": mark("scores strictly above the median of all scores"),
    "recorded": mark("as recorded in the data"),
    "none": mark("nothing is decided: texts are measured"),
}


def what_was_audited(content: Content) -> Section:
    """Make the section."""
    spec, sample = content.spec, content.sample
    not_stated = t("Not stated in the spec.")
    sources = Filled("; ").join(
        t("{file} ({kept:,} of {rows:,} rows)", file=s.path, kept=s.rows_in_window, rows=s.rows_read)
        for s in sample.sources
    )
    facts: list[tuple[str, Text]] = [
        (t("What the tool decides"), text(stated(spec.report.tool) or not_stated)),
        (t("Source of the data"), text(sources)),
        (t("Why these data"), text(stated(spec.source.reason) or not_stated)),
        *_substitute(content),
        (t("Window"), text(_window(content))),
        (t("Planned"), text(f"{content.planned_at:%Y-%m-%d %H:%M} UTC")),
        (t("Last run"), text(f"{content.scored_at:%Y-%m-%d %H:%M} UTC")),
        (t("Demographics"), text(_provenance(content))),
        (t("Sample"), text(_drawn(content))),
        *what_was_varied(content),
        (tp("decision", "Selected"), text(_decision(content))),
        (t("How scores were read"), text(_read(content))),
        (t("Category unknown"), text(_unknown(content))),
    ]
    strata = sample.drawn()
    table = Table(
        t(_BY_STRATUM[sample.unit]),
        (Column(t("Stratum"), numeric=False), Column(t("Available")), Column(tp("of a sample", "Drawn"))),
        tuple(
            Row(
                in_words({name: str(level) for name, level in s.levels.items()}) or tp("of strata", "all"),
                (Cell(count(s.available)), Cell(count(s.drawn))),
            )
            for s in strata
        ),
    )
    blocks: list[Block] = [
        *([Paragraph(text(stated(spec.description)))] if spec.description else []),
        Facts(tuple(facts)),
        *([table] if strata else []),
    ]
    if content.models:
        blocks += [Heading(t("The model, exactly")), _models(content)]
    return Section("data", t("What was audited"), tuple(blocks))


def _window(content: Content) -> str:
    window = content.key.window
    words = (
        mark("{start} {start_time:%H:%M} to {end} {end_time:%H:%M} UTC, end excluded")
        if content.spec.source.windowed
        else mark(
            "{start} {start_time:%H:%M} to {end} {end_time:%H:%M} UTC, end excluded; the data are a fixed set and do "
            "not depend on it"
        )
    )
    return t(
        words, start=day(window.start), start_time=window.start, end=day(window.end), end_time=window.end
    )


def _substitute(content: Content) -> list[tuple[str, Text]]:
    """Why test data stand in for historical ones, and how they came about."""
    use = content.spec.use
    if use.data != "test" or use.test_data is None:
        return []
    told = [
        (t("Why no historical data were used"), use.test_data.why),
        (t("How the test data were generated and obtained"), use.test_data.how),
        (t("How the tool was called on the test data"), use.test_data.invoked),
    ]
    return [(label, text(words.strip())) for label, words in told if words.strip()]


def _read(content: Content) -> str:
    methods = content.score_methods
    if not methods:
        return t("no row was scored")
    if len(methods) == 1:
        (method,) = methods
        return t(_READ.get(method, method))
    return Filled("; ").join(
        tn("{n:,} row: {how}", "{n:,} rows: {how}", n, how=t(_READ.get(method, method)))
        for method, n in methods.items()
    )


def _unknown(content: Content) -> str:
    found = {
        family_name(content.policy, table.family).lower(): table.unknown
        for table in content.headline
        if not table.stratum
    }
    if not found:
        if axes := content.spec.groups.axes_of_probabilities:
            return t(
                "{attributes}: nobody's is known; each person has probabilities",
                attributes=Filled(", ").join(map(known, axes)),
            )
        n = content.metrics.rows.unknown_group
        return tn("{n:,} row", "{n:,} rows", n)
    return "; ".join(f"{title}: {count(n)}" for title, n in found.items())


def _drawn(content: Content) -> str:
    sample, strata = content.sample, content.sample.drawn()
    drawn, available = sum(s.drawn for s in strata), sum(s.available for s in strata)
    words = (_ALL_TAKEN if drawn == available else _DRAWN)[sample.unit]
    said = [t(words, rows=sample.rows, drawn=drawn, available=available, seed=content.spec.seed)]
    if (before := sample.read_before) is not None and before.rows_read_before:
        said.append(
            t(
                "{rows:,} rows are left out, because an earlier audit of another window has read them",
                rows=before.rows_read_before,
            )
        )
    if before is not None and before.rows_late:
        said.append(
            t(
                "{rows:,} rows came late, after their own window was audited, and are audited with this one",
                rows=before.rows_late,
            )
        )
    return Filled("; ").join(said)


def _provenance(content: Content) -> str:
    joined, counted = content.sample.demographics, content.metrics.demographics
    said = [assigned(content) if content.provenance == "assigned" else t(_KNOWN[content.provenance])]
    if joined is not None and content.spec.demographics is not None:
        said.append(
            t(
                "{matched:,} people were found in the demographics file, {unmatched:,} were not",
                matched=joined.matched,
                unmatched=joined.unmatched,
            )
        )
    elif counted is not None and counted.unmatched:
        said.append(
            t(
                "{unmatched:,} of {people:,} people have none",
                unmatched=counted.unmatched,
                people=counted.people,
            )
        )
    values_of = {} if counted is None else counted.unknown_values or {}
    for attribute, values in values_of.items():
        if values:
            said.append(
                t(
                    "Counted as unknown {attribute}: {values}",
                    attribute=known(attribute.replace("_", " ")),
                    values="; ".join(f"{known(value)} ({count(n)})" for value, n in values.items()),
                )
            )
    return Filled(". ").join(said)


def _decision(content: Content) -> str:
    rule = content.spec.decision
    if rule.rule == "top_k":
        return t(_TOP_OF_ROUND[rule.round or "round_id"], k=rule.k)
    return t(_DECISIONS[rule.rule], threshold=rule.threshold)


def _models(content: Content) -> Facts:
    facts = [
        (t(label), text(str(model[key])))
        for model in content.models
        for key, label in _FACTS.items()
        if model.get(key) is not None
    ]
    facts += [fact for model in content.models for fact in how_it_was_asked(model)]
    facts.append((t("Answered by"), text(answered_by(content))))
    if content.prompt_digest is not None:
        facts.append((t("Prompt template, SHA-256"), text(content.prompt_digest)))
    return Facts(tuple(facts))
