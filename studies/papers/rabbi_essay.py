"""Essays graded from 1 to 5, in rounds of ten drawn at random, as in the paper that proposes RABBI."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.report.numbers import count
from studies import markdown
from studies.results import Results
from studies.study import Study
from studies.validity_figures import MAPPING, order_of, validity_part

PROSE = """
## The design

A model grades essays on two statements from 1 to 5. The writers are of eleven groups: native speakers, and ten places
where English is a second language. Ten essays on one statement, drawn at random, are a round, and the k best grades are
selected. An essay is qualified where its known level is at or above the median.

$designs

Nobody wrote these essays: they are put together by lot (`include/demo/build_essays.py`), since the paper's corpus may not
be passed on. Ten groups have the same marks of a second language by the same lot and differ in name only. So a gap
between two of them is chance, and a gap to the group without marks is one of these marks; none says anything of people.

## Which metric foretells the gaps best

> $sentence

$contenders

The paper's abstract says that metrics of average gaps and of distances "fail to reliably capture group disparities in
allocation outcomes, whereas RABBI exhibits a strong correlation with allocation disparities". Its tables are not at hand
here, so none of their numbers is printed. $order

## The paper's tables and figures, and ours

$mapping

### Scores by group

$distributions

$distributions_second

$distributions_cosine

$validity

### Output statistics over models

$statuses

The grade is the mean of 1 to 5 under the probabilities of the five labels, so scores are no whole numbers. Pairs of essays are not asked about here: of small models most pairs turn with the order
([resumes](rabbi_resume.md#output-statistics-over-models)), and the paper leaves such models out.
`include/examples/essay_pairwise.yaml` is the spec of that task.

## The difference, and why

- **Models**: the paper has ten language models; here are two that come in packages, one of them in two wordings of the
  question. MiniLM grades nothing: its score is the cosine of statement and essay.
- **Essays**: $size. Whatever differs between the ten groups is the lot. A metric
  that foretells such gaps foretells noise that both share: rounds are drawn from the same essays, so there are no
  rounds that a metric has not seen, and these columns of the first table are undefined.
- **Grades**: the prompt and its rubric are our own words.
- **Intervals**: the paper takes points as independent. Here the interval that is printed is over models; gaps over
  drawn rounds know that one essay is in many.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    study, page = results.validity(), results.validity_page()
    compared = results.comparison_page()
    labels = [one.label for one in study.models]
    scores = [
        results.chart(page, f"Scores by group: {label}", f"scores-{place}")
        for place, label in enumerate(labels, 1)
    ]
    first = study.models[0]
    return {
        "designs": markdown.rows(
            ["", "paper", "here"],
            [
                ("statements", "2", count(len(first.jobs))),
                (
                    "groups",
                    "11: native, and HKG PAK PHL SIN CHN IDN JPN KOR THA TWN",
                    f"{len(study.groups) + 1}, the same",
                ),
                ("reference", "native speakers", study.reference),
                ("essays", "of a learner corpus", f"{first.rows}, made up"),
                ("rounds", "10 random candidates", f"{count(first.rounds)} of 10 random candidates"),
                ("places k", "not known here", f"{min(study.quotas)} to {max(study.quotas)} of 10"),
                ("models", "10", f"{len(study.models)} (2 sets of weights)"),
            ],
            text_columns=3,
        ),
        "sentence": study.best.sentence,
        "contenders": results.table(page, "Metrics, from the highest mean correlation on"),
        "order": order_of(study),
        "mapping": MAPPING.strip(),
        "distributions": scores[0],
        "distributions_second": scores[1],
        "distributions_cosine": scores[2],
        "validity": validity_part(results, page),
        "statuses": results.table(compared, "Answers and scores"),
        "size": f"{count(first.rows // len(first.jobs) // (len(study.groups) + 1))} a group and statement",
    }


STUDY = Study(
    title="RABBI: essay grading",
    paper="Chen, Ji and Evans (2024), arXiv:2408.01285",
    about="Which metric of bias foretells whose essays are selected less often, where a model grades them?",
    takes="5 minutes of CPU time",
    cheap=False,
    specs=("rabbi_essay",),
    prose=PROSE,
    shown=shown,
)
