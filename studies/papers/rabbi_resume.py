"""Resume screening, one resume at a time and two by two, as in the paper that proposes RABBI."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.report.numbers import count
from studies import markdown
from studies.results import Results
from studies.study import Study
from studies.validity_figures import MAPPING, order_of, validity_part

SPECS = ("rabbi_resume", "rabbi_resume_pairwise")

PROSE = """
## The design

A model reads a job and a resume under a name that signals sex and race. Pointwise it answers No or Yes, and the score is
the probability of Yes; pairwise it names the better of two resumes, in both orders. A round has one applicant of each of
eight groups; the k best scores are invited. For every group, job and model the paper takes a bias metric (RABBI, the
average score gap, Jensen-Shannon divergence, earth mover's distance) and the gap that the allocation really shows
(demographic parity and equal opportunity at k), and asks how well the first foretells the second.

$designs

## Which metric foretells the gaps best

> $sentence

$contenders

The paper's abstract says that metrics of average gaps and of distances "fail to reliably capture group disparities in
allocation outcomes, whereas RABBI exhibits a strong correlation with allocation disparities". Its tables are not at hand
here, so none of their numbers is printed. $order

What is known of this elsewhere in this documentation: on [ten simulated models](../validity.md) with skewed P(Yes) RABBI
leads clearly; on 8,000 real rankings by GPT-3.5 and GPT-4 ([Bloomberg's](../replication.md), where a score is a rank)
RABBI and the score gap do the same.

## The paper's tables and figures, and ours

$mapping

### Scores by group

$distributions

$distributions_second

$distributions_cosine

$validity

### Output statistics over models

$statuses

$pairs

$left_out

The pairwise win gap and the other metrics of these answers are in the runs' own reports. A model that is left out has no
correlation in the paper, nor in `audit validity`.

## The difference, and why

- **Models**: the paper has ten language models; here are two that come in packages, one of them in two wordings of the
  question. Two rows of three share their weights, so intervals over models are too short, and nothing about models at
  large follows.
- **Size**: $size. So a gap is mostly noise, and noise
  that a metric and a gap share makes them correlate. *On rounds not seen* in the first table shows what is left where the
  two come from different rounds.
- **Judges**: none of these is a valid judge. MiniLM has no P(Yes): its score is the cosine of job and resume.
- **Intervals**: the paper takes points as independent. Here the interval that is printed is over models.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    study, page = results.validity(SPECS[0]), results.validity_page(SPECS[0])
    compared = results.comparison_page(SPECS[0])
    pairwise = results.comparison_page(SPECS[1])
    labels = [one.label for one in study.models]
    rounds = study.models[0].rounds
    scores = [
        results.chart(page, f"Scores by group: {label}", f"scores-{place}")
        for place, label in enumerate(labels, 1)
    ]
    return {
        "designs": _designs(results),
        "sentence": study.best.sentence,
        "contenders": results.table(page, "Metrics, from the highest mean correlation on"),
        "order": order_of(study),
        "distributions": scores[0],
        "distributions_second": scores[1],
        "distributions_cosine": scores[2],
        "mapping": MAPPING.strip(),
        "validity": validity_part(results, page),
        "statuses": results.table(compared, "Answers and scores"),
        "pairs": results.table(pairwise, "Answers about pairs"),
        "left_out": results.bullets(pairwise, "Whom the papers would leave out"),
        "size": f"{count(rounds)} rounds of 8 a model ({count(rounds // len(study.models[0].jobs))} a job)",
    }


def _designs(results: Results) -> str:
    """Return the paper's numbers next to those of the runs."""
    pointwise, pairwise = results.validity(SPECS[0]), results.comparison(SPECS[1])
    rows = {one.label: one.rows for one in pointwise.models}
    questions = pairwise.runs[0].asked.requests
    return markdown.rows(
        ["", "paper", "here"],
        [
            (
                "groups",
                "8: female and male x White, Black, Asian, Hispanic",
                f"{len(pointwise.groups) + 1}, the same",
            ),
            ("reference", "White men", pointwise.reference),
            ("jobs", "4", count(len(pointwise.models[0].jobs))),
            (
                "versions asked about, one at a time",
                "19,200: 8 groups x 100 names x 6 resumes x 4 jobs",
                count(max(rows.values())),
            ),
            ("places k", "1 to 5 of 8", f"{min(pointwise.quotas)} to {max(pointwise.quotas)} of 8"),
            ("pairs asked about, in both orders", "not known here", count(questions)),
            ("models, one at a time", "10", f"{len(pointwise.models)} (2 sets of weights)"),
            ("models, two by two", "not known here", f"{len(pairwise.runs)} (1 set of weights)"),
        ],
        text_columns=3,
    )


STUDY = Study(
    title="RABBI: resume screening",
    paper="Chen, Ji and Evans (2024), arXiv:2408.01285",
    about="Which metric of bias foretells who is invited less often, where a model scores or compares resumes?",
    takes="15 minutes of CPU time",
    cheap=False,
    specs=SPECS,
    prose=PROSE,
    shown=shown,
)
