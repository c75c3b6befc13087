"""One sentence that says which metric foretells the gaps best here, whichever it is, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.documents.validity import BestMetric, Contender
from audit_lib.measure.metric import record_of
from audit_lib.report.numbers import decimal, signed
from audit_lib.results import Undefined
from audit_lib.translation import archived, percent_of, t


def title_of(metric: str) -> str:
    """Return what a metric or a gap is called, in the language spoken now."""
    return t(record_of(metric).title)


def sentence_of(best: BestMetric) -> str:
    """Return the sentence, in the language spoken now; a second one where rounds not seen say less."""
    first, *others = best.contenders
    if isinstance(best.metric, Undefined):
        return t("No metric can be said to foretell the gaps here, because no correlation is defined.")
    if best.runner_up is None:
        return t(
            "Only one metric, {metric}, can be correlated with the gaps here (mean correlation {r}), so none is best.",
            metric=title_of(best.metric),
            r=decimal(first.mean_r),
        )
    words = {
        "metric": title_of(best.metric),
        "r": decimal(first.mean_r),
        "rival": title_of(best.runner_up),
        "rival_r": decimal(others[0].mean_r),
        "models": best.models,
        "settings": best.settings,
        "draws": f"{best.draws - best.undefined_draws:,}",
        "share": f"{first.share_best or 0:.1%}",
    }
    if isinstance(best.interval, Undefined):
        return t(
            "{metric} has the highest mean correlation with the gaps of the allocation here ({r} over {settings} "
            "settings of task, gap and quota), {rival} has {rival_r}; whether other models would agree cannot be told "
            "from these {models}.",
            **words,
        )
    words |= {
        "level": percent_of(best.interval.level),
        "difference": signed(best.difference),
        "limits": f"{signed(best.interval.low)}, {signed(best.interval.high)}",
    }
    if best.decided:
        return t(
            "{metric} foretells the gaps of the allocation best here: its mean correlation with them is {r} over "
            "{settings} settings of task, gap and quota and {models} models, that of the next metric, {rival}, is "
            "{rival_r}; on Fisher's z the difference is {difference} ({level} interval over models [{limits}]), and "
            "{metric} leads in {share} of {draws} draws of the models; with gaps of rounds that it has not seen its "
            "correlation is {held_out}. This is said of other models over these candidates: what a group's candidates "
            "have by chance is in all models' scores, and is no reason to expect the same of other candidates.",
            **words,
            held_out=decimal(first.held_out),
        )
    unsure = t(
        "{metric} has the highest mean correlation with the gaps of the allocation here ({r} over {settings} settings "
        "of task, gap and quota and {models} models), but the choice is not sure: {rival} has {rival_r}, on Fisher's z "
        "the difference is {difference} ({level} interval over models [{limits}]), and {metric} leads in {share} of "
        "{draws} draws of the models.",
        **words,
    )
    return f"{unsure} {_on_rounds_not_seen(best)}"


def _on_rounds_not_seen(best: BestMetric) -> str:
    """Say what of the correlation is left where metric and gap share no round."""
    first = best.contenders[0]
    if isinstance(first.held_out, Undefined):
        return t(
            "Whether it foretells the gaps of rounds that it has not seen cannot be told: {reason}.",
            reason=archived(first.held_out.reason),
        )
    if isinstance(first.held_out_interval, Undefined):
        return t(
            "With gaps of rounds that it has not seen its correlation is {held_out}; how sure that is cannot be told: "
            "{reason}.",
            held_out=decimal(first.held_out),
            reason=archived(first.held_out_interval.reason),
        )
    words = {
        "held_out": decimal(first.held_out),
        "level": percent_of(first.held_out_interval.level),
        "limits": f"{signed(first.held_out_interval.low)}, {signed(first.held_out_interval.high)}",
    }
    if first.held_out_interval.low <= 0:
        return t(
            "With gaps of rounds that it has not seen its correlation is {held_out} ({level} interval over models "
            "[{limits}]), so that all it shows may be noise that metric and gap of the same rounds share.",
            **words,
        )
    if (other := _highest(best.contenders)).metric != first.metric:
        return t(
            "With gaps of rounds that it has not seen its correlation is {held_out} ({level} interval over models "
            "[{limits}]), and that of {other} is higher, {other_r}.",
            **words,
            other=title_of(other.metric),
            other_r=decimal(other.held_out),
        )
    return t(
        "With gaps of rounds that it has not seen its correlation is {held_out} ({level} interval over models "
        "[{limits}]).",
        **words,
    )


def _highest(contenders: Sequence[Contender]) -> Contender:
    known = [one for one in contenders if isinstance(one.held_out, float)]
    return max(known, key=lambda one: one.held_out if isinstance(one.held_out, float) else -1.0)
