"""One sentence that says which metric foretells the gaps best here, whichever it is, and how sure that is."""

from __future__ import annotations

from audit_lib.documents.validity import BestMetric
from audit_lib.measure.metric import record_of
from audit_lib.report.numbers import decimal, signed
from audit_lib.results import Undefined
from audit_lib.translation import t


def title_of(metric: str) -> str:
    """Return what a metric or a gap is called, in the language spoken now."""
    return t(record_of(metric).title)


def sentence_of(best: BestMetric) -> str:
    """Return the sentence, in the language spoken now."""
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
        "level": f"{best.interval.level:.0%}",
        "difference": signed(best.difference),
        "limits": f"{signed(best.interval.low)}, {signed(best.interval.high)}",
    }
    if best.decided:
        return t(
            "{metric} foretells the gaps of the allocation best here: its mean correlation with them is {r} over "
            "{settings} settings of task, gap and quota and {models} models, that of the next metric, {rival}, is "
            "{rival_r}; on Fisher's z the difference is {difference} ({level} interval over models [{limits}]), and "
            "{metric} leads in {share} of {draws} draws of the models.",
            **words,
        )
    return t(
        "{metric} has the highest mean correlation with the gaps of the allocation here ({r} over {settings} settings "
        "of task, gap and quota and {models} models), but the choice is not sure: {rival} has {rival_r}, on Fisher's z "
        "the difference is {difference} ({level} interval over models [{limits}]), and {metric} leads in {share} of "
        "{draws} draws of the models.",
        **words,
    )
