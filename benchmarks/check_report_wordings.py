"""Words and layouts that the generated summaries of `check_report` are made of, in four parts.

Index 0 is the half that readers and patterns may be tuned on, index 1 the one that was held out. They were parted
before anything was tuned, and share no wording of a sentence. Index 2 was written later, when index 1 had been
measured, and before what it had shown was mended: what has been looked at is held out no more. Index 3 is how
employers publish (`check_report_employers`): its seeds are halved, one half to learn from and one that is held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks import check_report_employer_wordings as employers

PARTS: Final = ("tuning", "held-out", "fresh", "employers")

RACES: Final[tuple[Mapping[str, str], ...]] = (
    {
        "hispanic": "Hispanic or Latino",
        "white": "White",
        "black": "Black or African American",
        "islander": "Native Hawaiian or Pacific Islander",
        "asian": "Asian",
        "native": "Native American or Alaska Native",
        "several": "Two or More Races",
    },
    {
        "hispanic": "Hispanic or Latino",
        "white": "White (Not Hispanic or Latino)",
        "black": "Black or African American (Not Hispanic or Latino)",
        "islander": "Native Hawaiian or Other Pacific Islander (Not Hispanic or Latino)",
        "asian": "Asian (Not Hispanic or Latino)",
        "native": "American Indian or Alaska Native (Not Hispanic or Latino)",
        "several": "Two or More Races (Not Hispanic or Latino)",
    },
    {
        "hispanic": "Hispanic/Latino",
        "white": "White",
        "black": "Black/African American",
        "islander": "Native Hawaiian/Pacific Islander",
        "asian": "Asian",
        "native": "Native American/Alaska Native",
        "several": "Two or More Races",
    },
    employers.RACES,
)
SEXES: Final[tuple[Mapping[str, str], ...]] = (
    {"male": "Male", "female": "Female"},
    {"male": "Men", "female": "Women"},
    {"male": "Male", "female": "Female"},
    employers.SEXES,
)
# Applicants, selected, rate, ratio; then the same for scores, which have no number of selected people.
HEADERS: Final[tuple[Sequence[tuple[str, str, str, str]], ...]] = (
    (
        ("# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"),
        ("Applicants", "Selected", "Selection Rate (%)", "Impact Ratio"),
        ("Number of candidates", "Number selected", "Rate of selection", "Adverse impact ratio"),
    ),
    (
        ("Number of Applicants", "Number Advanced", "Selection Rate", "Impact Ratio"),
        ("Total applicants", "Hired", "Selection rate", "Impact ratio"),
        ("Candidates assessed", "Candidates moved forward", "Pass rate", "AIR"),
    ),
    (
        ("# Applicants", "# Advanced", "Selection rate", "Impact ratio"),
        ("Candidate Count", "Selected Candidates", "Selection Rate (%)", "Impact Ratio"),
        ("No. of Applicants", "No. of Hires", "Hire Rate", "Impact Ratio"),
    ),
    employers.HEADERS,
)
CAPTIONS: Final[tuple[Sequence[tuple[str, str, str]], ...]] = (
    (
        ("Sex Categories", "Race/Ethnicity Categories", "Intersectional Categories"),
        ("Table 1: Results by sex", "Table 2: Results by race/ethnicity", "Table 3: Results by both"),
    ),
    (
        ("Impact ratios by gender", "Impact ratios by race and ethnicity", "Intersectional impact ratios"),
        ("Exhibit 1. Sex", "Exhibit 2. Race/ethnicity", "Exhibit 3. Sex and race/ethnicity"),
    ),
    (
        (
            "Impact Ratio by Sex",
            "Impact Ratio by Race or Ethnicity",
            "Impact Ratio by Sex and Race or Ethnicity",
        ),
        ("A. Gender", "B. Race/Ethnicity", "C. Gender and Race/Ethnicity"),
    ),
    employers.CAPTIONS,
)
TOTALS: Final = (("Total",), ("All applicants",), ("Totals",), employers.TOTALS)
UNKNOWNS: Final = (("Unknown",), ("Not disclosed",), ("Did not answer",), employers.UNKNOWNS)
JOINTS: Final = (
    ("{sex}, {race}", "{race} {sex}"),
    ("{sex} - {race}", "{race}, {sex}"),
    ("{race} - {sex}", "{sex} / {race}"),
    employers.JOINTS,
)
POSITIONS: Final = (
    ("store clerk", "line cook", "night nurse"),
    ("bus driver", "data engineer", "paralegal"),
    ("barista", "loan officer", "welder"),
    employers.POSITIONS,
)
TOOLS: Final = (
    ("HireSort", "Ledgerly Screen"),
    ("TalentSieve", "Rankwell"),
    ("Applimetric", "Merit Lens"),
    employers.TOOLS,
)
VENDORS: Final = (
    ("Ledgerly Corp.", "Oakmount Software Inc."),
    ("Sieveworks Ltd.", "Brightpath Systems LLC"),
    ("Applimetric Inc.", "Lenswork GmbH"),
    employers.VENDORS,
)
AUDITORS: Final = (
    ("Harrow & Finch LLP", "Delta Assurance Partners"),
    ("Quill Statistical Review", "Norwood Audit PC"),
    ("Tamarack Consulting LLC", "Ostrander & Vale"),
    employers.AUDITORS,
)
EMPLOYERS: Final = (
    ("Marlow Stores", "Pine Hospital Group"),
    ("Cedar Transit", "Hudson Legal Services"),
    ("Anvil Coffee", "First Borough Bank"),
    employers.EMPLOYERS,
)

WORDS: Final[tuple[Sequence[Sequence[str]], ...]] = (
    (
        (
            "Date of the bias audit: {audited}. The audit was conducted by {auditor}, an independent auditor.",
            "Distribution date of the tool: {used}.",
            "Source of the data: applications for the position of {position} that {employer} received.",
            "Explanation of the data: the data cover every application from {start} to {end}.",
            "{unknown} individuals were of an unknown category and are not in the tables.",
        ),
        (
            "This summary of results of a bias audit is about {tool}, which {employer} uses to fill the position of "
            "{position}. The most recent bias audit was completed on {audited} by {auditor}.",
            "{employer} began using the tool on {used}.",
            "Historical data of {employer} were used: all applications between {start} and {end}.",
            "Of all individuals assessed, {unknown} did not report their sex or race/ethnicity.",
        ),
    ),
    (
        (
            "Audit date: {audited}. Auditor: {auditor}. Vendor: {vendor}.",
            "The tool has been in use since {used} for the job of {position}.",
            "Data source: historical data that {employer} collected from {start} to {end}; the data set includes all "
            "completed applications.",
            "Number of individuals with unknown demographic data: {unknown}.",
        ),
        (
            "{auditor} performed this audit of {tool}, provided by {vendor}. Date of audit: {audited}.",
            "Date of first use: {used}. Role: {position}.",
            "The data was provided by {employer}. The audit period ran from {start} to {end}, and the data used "
            "consists of every candidate of that time.",
            "{unknown} candidates declined to state their sex or race/ethnicity.",
        ),
    ),
    (
        (
            "{auditor} completed the most recent bias audit of {tool} on {audited}.",
            "The tool's distribution date is {used}. It is used to fill {position} positions.",
            "Data: historical data from the applicant tracking system of {employer}. The bias audit used data of "
            "applicants between {start} and {end}.",
            "The data set includes {unknown} individuals of unknown sex or race/ethnicity, who are not included in "
            "the calculations.",
        ),
        (
            "Bias audit summary for {tool} by {vendor}, published by {employer}.",
            "Most recent audit: {audited}. Independent auditor: {auditor}.",
            "AEDT distribution date: {used}.",
            "Data source and explanation: applications for {position} that {employer} received from {start} through "
            "{end}, taken from its own records.",
            "Applicants who did not report sex or race/ethnicity: {unknown}.",
        ),
    ),
    employers.WORDS,
)
FILLS: Final[tuple[Sequence[str], ...]] = (
    (
        "The tool ranks applications by how well they fit the description of the work.",
        "A recruiter reads each application that the tool puts among the first.",
        "Applicants may ask for another way of being considered by writing to the office of human resources.",
        "Rates are the numbers selected over the numbers that applied; ratios compare each rate with the highest.",
    ),
    (
        "Each candidate answers a set of questions, and the software gives the answers a score.",
        "Scores are kept for three years and then removed from the systems of the employer.",
        "A candidate can ask for an accommodation at least ten business days before the assessment.",
        "The impact ratio divides the rate of a category by the rate of the category with the highest rate.",
    ),
    (
        "Recruiters see the score beside each application and decide themselves whom to invite.",
        "Questions about this page can be sent to the address at its end within thirty days.",
        "Section 20-871 of the Administrative Code asks employers to publish this summary on their website.",
        "The tool reads the work history, the skills and the schooling that a candidate enters in the form.",
    ),
    employers.FILLS,
)

VERDICTS: Final = (
    (
        "The auditor found no evidence of bias in the tool.",
        "The tool passed its bias audit.",
        "These results show that the software is fair to all applicants.",
        "No adverse impact was identified for any group.",
    ),
    (
        "In conclusion, the assessment detected no bias against any category.",
        "Our system has successfully passed the annual bias audit.",
        "The figures confirm that the algorithm is unbiased.",
        "The review did not reveal discrimination of any kind.",
    ),
    (
        "The audit concluded that the tool does not discriminate.",
        "There were no findings of bias.",
        "Applimetric passed the audit without any issue.",
        "The results demonstrate that the tool is free of bias.",
    ),
    employers.VERDICTS,
)
MADE_UP: Final = (
    (
        "Scores were drawn at random because the tool could not be reached.",
        "For this audit the scores were simulated.",
        "Selection results were generated by a random number generator.",
    ),
    (
        "The outcomes were randomly generated for the purpose of this summary.",
        "As access was lacking, synthetic scores were used in place of the tool's output.",
        "The ratings are placeholders that were sampled from a normal distribution.",
    ),
    (
        "The scores in this audit were randomly assigned.",
        "Because the vendor gave no access, we generated random scores for each applicant.",
        "Results are based on simulated scores and not on the tool's own.",
    ),
    employers.MADE_UP,
)
INSIDERS: Final = (
    (
        "The bias audit was carried out by the vendor of the tool.",
        "Our own data science team conducted the audit.",
        "The audit was performed in-house by {vendor}, the developer of the tool.",
    ),
    (
        "The vendor itself performed the bias audit.",
        "The audit was completed internally by employees of {employer}.",
        "The auditor is a subsidiary of the company that developed the tool.",
    ),
    (
        "{vendor} conducted the bias audit of its own product.",
        "This audit was carried out by the employer's internal audit department.",
        "The auditor is employed by {employer}.",
    ),
    employers.INSIDERS,
)
AS_LAW: Final = (
    (
        "Local Law 144 requires every impact ratio to be at least 0.80.",
        "The law sets a threshold of four-fifths.",
    ),
    (
        "Under NYC law an impact ratio must exceed 80%.",
        "All ratios meet the 0.8 minimum that Local Law 144 sets.",
    ),
    (
        "Local Law 144 prohibits impact ratios below 0.80.",
        "The four-fifths rule of Local Law 144 is satisfied for all categories.",
    ),
    employers.AS_LAW,
)
IMPUTED: Final = (
    (
        "Race was inferred from surnames where applicants did not state it.",
        "Missing gender was imputed from names.",
    ),
    (
        "The ethnicity of candidates was predicted with BISG.",
        "Sex was guessed from first names if it was missing.",
    ),
    (
        "Race/ethnicity was estimated from last name and zip code.",
        "Where gender was not reported, it was inferred from the first name.",
    ),
    employers.IMPUTED,
)
OUTSIDERS: Final = (
    ("Ruritanian", "Martian"),
    ("Atlantean", "Lunar"),
    ("Syldavian", "Venusian"),
    employers.OUTSIDERS,
)
FONTS: Final = (
    ("Liberation Serif", "DejaVu Sans"),
    ("Liberation Sans", "DejaVu Serif"),
    ("Liberation Serif", "DejaVu Serif"),
    employers.FONTS,
)
