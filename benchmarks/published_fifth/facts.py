"""Draw the dates, the firms and where the data came from."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from benchmarks.published_fifth.model import Facts, Options
from benchmarks.published_fifth.names import AUDITORS, EMPLOYERS, PURPOSES, TOOLS, VENDORS

REASONS = [
    "These twelve months were chosen because the present version of the model was released at their start.",
    "The period was limited to twelve months so that it covers one full yearly hiring cycle and the "
    "model version now in use.",
    "Earlier months were not used because the job-related questions of the tool were different then.",
    "The audit was limited to this period because it is the latest full year for which results were complete.",
]
TEST_REASONS = [
    "Historical data was not used because {employer} had not yet used the tool and no other user of it had collected "
    "enough demographic answers for a statistically significant audit. The test data was obtained from {people} paid "
    "volunteers, recruited by the auditor through an online research panel between {start} and {end}, who took the "
    "same assessment as applicants do, were scored by the production version of the tool and stated their sex and "
    "race/ethnicity themselves.",
    "There was not enough historical data to conduct a statistically significant bias audit, since the tool is new "
    "and fewer than 200 people had been assessed. Test data was used instead: the auditor collected {people} real "
    "resumes from consenting job seekers between {start} and {end}, with the sex and race/ethnicity that these people "
    "reported, and ran each of them through the production version of the tool.",
]


def _month_start(day: date, back: int) -> date:
    """The first day of the month so many months earlier."""
    number = day.year * 12 + day.month - 1 - back
    return date(number // 12, number % 12 + 1, 1)


def _earlier(rng: Random, audit: date, use: date) -> list[date]:
    """Earlier audits, each less than a year before the next one, back to before first use."""
    days: list[date] = []
    last = audit
    while last >= use - timedelta(days=12):
        last = last - timedelta(days=rng.randint(338, 362))
        days.append(last)
    return days[::-1]


def purpose_of(rng: Random, tool: str) -> str:
    """What the tool is used for."""
    if "Video" in tool:
        return PURPOSES[3]
    return PURPOSES[4] if "Game" in tool or "Insight" in tool else rng.choice(PURPOSES[:3])


def draw_facts(rng: Random, options: Options) -> Facts:
    """Facts of a lawful page."""
    data = rng.choice(options.data)
    first = date(2025, 12, 5)
    audit = first + timedelta(days=rng.randint(0, 255))
    while audit.weekday() > 4:
        audit += timedelta(days=1)
    end = _month_start(audit, rng.choice([0, 1, 2])) - timedelta(days=1)
    start = _month_start(end, 11)
    earlier: list[date] = []
    if data in ("own", "pooled_own"):
        use = audit - timedelta(days=rng.randint(520, 900))
        use = max(use, date(2023, 8, 1))
        while use.weekday() > 4:
            use += timedelta(days=1)
        earlier = _earlier(rng, audit, use)
    else:
        use = audit + timedelta(days=rng.randint(16, 75))
        while use.weekday() > 4:
            use += timedelta(days=1)
    vendor = rng.choice(VENDORS)
    tool = f"{vendor} {rng.choice(TOOLS)}"
    return Facts(
        employer=rng.choice(EMPLOYERS),
        vendor=vendor,
        tool=tool,
        auditor=rng.choice(AUDITORS),
        purpose=purpose_of(rng, tool),
        audit=audit,
        audit_again=audit,
        start=start,
        end=end,
        use=use,
        use_again=use,
        earlier=earlier,
        data=data,
        employers=rng.randint(6, 48),
        reason=rng.choice(REASONS),
    )


def shift(facts: Facts, days: int) -> None:
    """Move every date of the page back by so many days."""
    gap = timedelta(days=days)
    facts.audit -= gap
    facts.audit_again -= gap
    facts.use -= gap
    facts.use_again -= gap
    facts.end = _month_start(facts.end - gap, 0) - timedelta(days=1)
    facts.start = _month_start(facts.end, 11)
    facts.earlier = [day - gap for day in facts.earlier]
