"""A correspondence experiment on teachers' dossiers, and the impact ratios of the applicants as they came in."""

from __future__ import annotations

from collections.abc import Mapping

from audit_lib.report.content import gather
from audit_lib.report.numbers import count
from studies.results import Results
from studies.study import Study

PROSE = """
## The paper's design

Two questions, kept apart. **Impact ratios** are of real applicants as they came in: the share of a group that is rated
3, 4 or 5 and more, against men and against White applicants, with 95 and 70% intervals. **Effects** are of dossiers
(resume and interview) that are shown in eight versions, which differ in name, title, pronouns and nothing else; the
college is drawn from three without regard to group. A regression on sex and race, in standard deviations of the rating,
with errors clustered on the application, says what each does. The model first sums up the qualifications and then rates
from 1 to 5. Then the question is changed, one thing at a time: other words, no summary, no interview, another district,
an instruction to follow equal opportunity law, redacted material. A manipulation check asks for the sex and the race
that the model perceives; in the paper its answers mostly agree with what was meant, in over nine of ten. A last figure
(A6) asks whether sex and race can be predicted from redacted and from unredacted material.

The paper has several large models and the applications to a school district; its figures' numbers are not at hand, and
so are not next to ours. In its abstract the authors find moderate disparities that favour women and applicants who are
not White.

## Ours

$applicants invented applicants, made by a script: every group has the same numbers of strong, middling and weak
dossiers. `audit redact --jsonl` turned them into prompts with slots for name, title, pronouns and college, without a
script of our own ([how](../howto/redaction.md)); $dossiers of these were shown in eight versions to
SmolLM2-135M-Instruct, a real model, and no valid judge. The score is the expected rating from the probabilities of 1
to 5.

### Impact ratios of the applicants as they came in

$ratios

$ratios_table

### Effects, as asked and after one change each

95% intervals are thin, 70% thick. An effect whose interval holds 0 is called uninterpretable where the model did not
tell the groups apart when asked (next section): that no difference was found is then no evidence of none.

$effects

$effects_table

### What they rest on

$rest

### Manipulation check

$sex

$race

### Blinding

The same applicants with everything redacted, no slot left open:

$blind

### Leakage

$leak

$leak_blind

## The difference, and why

- **The model.** It has 135 million parameters and rates all dossiers nearly alike (see *SD of the score*), so the
  thresholds are set where its ratings are, from 3 to below 4, after a look at another run of it: at the paper's 4 and 5
  nobody would be selected. A few hundredths of a rating are a standard deviation here.
- **The manipulation.** The paper's models named sex and race as meant nearly always. This one mostly says *Unsure* and
  *Black*. So its null effects are no evidence of equal treatment; the paper's could be read. All are printed, and
  some of so many leave out 0 by chance: read them by the p that is adjusted for all tests.
- **The summary.** The paper rates after a summary, and leaves it out as a change. A model this small is asked for the
  rating at once, and after a summary as a change.
- **Few dossiers.** The paper's intervals rest on hundreds of applications, ours on $dossiers, so they are wide: an
  effect would have to be large to be found.
- **Leakage.** The paper predicts from sentence embeddings, and so can `embedding: minilm`; here words are counted,
  which takes no model. A name that nobody else has says nothing out of sample then, so these AUCs are what little a
  counter of words finds, not what can be found.
"""


def shown(results: Results) -> Mapping[str, str]:
    """Return what the page prints."""
    check = results.report("gaebler")
    applicants, blind = results.report("gaebler_applicants"), results.report("gaebler_blind")
    (whole,) = {e.clusters for e in gather(results.runs("gaebler")[0]).estimates("standardised_effect")}
    return {
        "applicants": count(results.runs("gaebler_applicants")[0].stage("metrics").success().counts["rows"]),
        "dossiers": count(int(whole or 0)),
        "ratios": results.chart(applicants, "Adverse impact by threshold", "ratios"),
        "ratios_table": results.table(applicants, "Adverse impact by threshold"),
        "effects": results.chart(check, "Standardised effects", "effects"),
        "effects_table": results.table(check, "Standardised effects: sensitivity"),
        "rest": results.table(check, "Standardised effects: what they rest on"),
        "sex": results.table(check, "Manipulation check: sex", notes=False),
        "race": results.table(check, "Manipulation check: race", notes=False),
        "blind": results.chart(blind, "Adverse impact by threshold", "ratios-redacted"),
        "leak": results.chart(applicants, "Leakage", "leakage"),
        "leak_blind": results.chart(blind, "Leakage", "leakage-redacted"),
    }


STUDY = Study(
    title="A correspondence experiment on teachers' dossiers",
    paper="Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086",
    about="Does a model rate the same dossier differently under names of another sex or race?",
    takes="10 to 15 minutes on 2 cores",
    cheap=False,
    specs=("gaebler", "gaebler_applicants", "gaebler_blind"),
    prose=PROSE,
    shown=shown,
)
