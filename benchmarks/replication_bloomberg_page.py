"""The section on rankings: first places, impact ratios, and gaps to White men."""

from __future__ import annotations

from pathlib import Path

from benchmarks import replication_bloomberg as bloomberg
from benchmarks.replication_page import estimate, excludes, limits, number, percent, table


def section(data: Path) -> tuple[bloomberg.Rankings, list[bloomberg.Stratum], str]:
    """Section on first places, ratios and gaps."""
    found = bloomberg.load(data)
    strata, whole = bloomberg.measure(found), bloomberg.pooled(found)
    ways = (("ranking",), ("ranking", "first"), ("ranking", "first", "mention"))
    whole_only, with_first, equal = (bloomberg.equal_counts(found, *way) for way in ways)
    total = sum(map(len, bloomberg.PUBLISHED_FIRST_PLACES.values()))
    unread = {way: int((found.read == way).sum()) for way in ("first", "mention")}
    parts = [
        f"""## 1. Rankings of resumes by GPT-3.5 and GPT-4

Data: `bloomberg/`, from BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination (Apache-2.0). Command: as
above.

Each of {len(found.rank):,} prompts showed 8 equally qualified candidates for one of 4 openings, one of each sex
and race; the answer ranks them. {len(strata)} combinations of model and job, {strata[0].rounds:,} rankings each.
Answers are read by `audit_lib.score.reading.ranking`; its docstring states the rule.

**Agreement with what was published.** Bloomberg's `data/output/performance_ranking.csv` lists first places by
model, job and group. The strict reader that an audit uses reads {int((found.read == "ranking").sum()):,} answers
in full and gives {whole_only} of {total} counts. From {unread["first"]} more it reads the first place alone (a list
with one number twice; a sentence that names the best candidate and nobody else), which counts where only the first
place is asked for: {with_first} of {total}. {unread["mention"]} answer says that the candidates are difficult to rank,
and is not read. The tables here take all three in the order in which they mention the candidates, as the published
counts do: {equal} of {total}.

### First places

Each ranking has one. At parity each group would have {strata[0].rounds // 8} of {strata[0].rounds:,}.""",
        *(_first_places(model, strata, whole) for model in bloomberg.MODELS),
        f"""### Impact ratios at k = 1

Rate of first places over the highest rate. *Simultaneous*: allows for the highest and the lowest having been found
in the same data. *Conditional*: takes both groups as chosen beforehand, and so is too short. Both use the
covariance of the eight rates, since a round has one first place. n is {strata[0].rounds:,} rankings a row
({whole[0].rounds:,} for all four jobs).""",
        _ratios([*strata, *whole]),
        _below(strata),
        _gap_table(strata),
        _unnamed(found),
        _where_shown(found),
        """Equal opportunity is not computed: all resumes of a prompt are equally qualified, so it would repeat the
parity gap.""",
    ]
    return found, strata, "\n\n".join(parts)


def _first_places(model: str, strata: list[bloomberg.Stratum], whole: list[bloomberg.Stratum]) -> str:
    shown = [s for s in [*strata, *whole] if s.model == model]
    rows = [(group, *(f"{s.first[i]:,}" for s in shown)) for i, group in enumerate(bloomberg.GROUPS)]
    return table([model, *(s.job for s in shown)], rows)


def _ratios(strata: list[bloomberg.Stratum]) -> str:
    rows = []
    for s in strata:
        low, high, wide, fixed = bloomberg.smallest_ratio(s)
        rates = s.ratios.rates
        rows.append(
            (
                s.model,
                s.job,
                f"{high} ({number(100 * rates[high], 1)}%)",
                f"{low} ({number(100 * rates[low], 1)}%)",
                number(s.ratios.ratios[low]),
                limits(wide),
                limits(fixed),
                sum(row.is_below("0.8") for row in s.ratios.rows),
            )
        )
    intervals = ("simultaneous", "conditional")
    columns = ["model", "job", "highest rate", "lowest rate", "ratio", *intervals, "below 4/5"]
    return table(columns, rows, 4)


def _below(strata: list[bloomberg.Stratum]) -> str:
    ratios = [(row, i) for s in strata for row, i in zip(s.ratios.rows, s.intervals.to_highest, strict=True)]
    below = [interval for row, interval in ratios if row.is_below("0.8")]
    return f"""By job, {len(below)} of {len(ratios)} ratios are below four fifths; of {sum(i.high < 0.8 for i in below)}
the whole simultaneous interval is. The others cannot be told from four fifths with {strata[0].rounds:,} rankings."""


def _gap_table(strata: list[bloomberg.Stratum]) -> str:
    adjusted = bloomberg.adjusted_p_values(strata)
    gaps = [gap for s in strata for c in s.comparisons for gap in c.parity]
    rows = []
    for i, s in enumerate(strata):
        for j, c in enumerate(s.comparisons):
            cells = []
            for k, gap in enumerate(c.parity):
                half = 100 * (gap.interval.high - gap.value)
                star = "*" if adjusted[i, j, k] < 0.05 else ""
                cells.append(f"{number(100 * gap.value, 1, signed=True)} ± {half:.1f}{star}")
            mean = c.score_gap
            rows.append(
                (
                    s.model,
                    s.job,
                    c.group,
                    estimate(c.rabbi, c.rabbi_interval, signed=True),
                    estimate(mean.value, mean.interval, 2, signed=True),
                    *cells,
                )
            )
    columns = ["model", "job", "group", "RABBI", "score gap", *(f"gap, k = {k}" for k in bloomberg.QUOTAS)]
    return f"""### Gaps to White men

The score of rank r is 9 - r. RABBI compares all pairs of a group's and White men's scores, in [-1, 1]. The score
gap is in ranks. The demographic parity gap at k is the difference of the shares that are among the first k, in
percentage points. n = {strata[0].rounds:,} rankings a row, each holding one candidate of both groups; intervals are
clustered on the ranking. Positive: the group is ranked above White men.

{sum(excludes(gap.interval, 0.0) for gap in gaps)} of the {len(gaps)} parity gaps have an interval without 0; one in
twenty would by chance. `*`: {int((adjusted < 0.05).sum())} gaps stay below 5% after Holm over all {len(gaps)}.

{table(columns, rows, 3)}"""


def _unnamed(found: bloomberg.Rankings) -> str:
    counts = bloomberg.unnamed(found)
    rows = [
        (
            what if what in bloomberg.GROUPS else "answers with at least one",
            *(counts[model, what, reason] for model in bloomberg.MODELS for reason in ("absent", "misspelt")),
        )
        for what in (*bloomberg.GROUPS, "answers")
    ]
    either = {model: counts[model, "answers", "either"] for model in bloomberg.MODELS}
    tied, dropped = bloomberg.largest_change_without_rule(found)
    columns = ["", *(f"{m}, {reason}" for m in bloomberg.MODELS for reason in ("absent", "misspelt"))]
    return f"""### Names that answers leave out or misspell

{sum(either.values())} of {len(found.rank):,} answers do so: {either["gpt-3.5-turbo"]} of GPT-3.5's 4,000 and
{either["gpt-4"]} of GPT-4's. Such candidates are kept and rank last, in the order shown. The groups are not hit
alike:

{table(columns, rows)}

The rule costs a group whose names are misspelt more often: whoever is misspelt ranks last, wherever the answer
put them. If the unnamed tie for the last places instead, no
parity gap (k = 1 to 5) moves by more than {number(100 * tied, 1)} percentage points; if their rankings are dropped,
by up to {number(100 * dropped, 1)} points."""


def _where_shown(found: bloomberg.Rankings) -> str:
    shown = bloomberg.first_by_position(found)
    first = {model: f"{counts[0]:,} ({percent(counts[0], sum(counts))})" for model, counts in shown.items()}
    return f"""### Place in the prompt

The candidate shown first is ranked first in {first["gpt-3.5-turbo"]} of 4,000 answers of GPT-3.5 and
{first["gpt-4"]} of GPT-4. Each group was shown first equally often, so this does not favour a group; but it is a
far larger effect than any between groups, and a tool that does not balance the order passes it on."""
