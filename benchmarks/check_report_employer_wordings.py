"""Words of the fourth part of the generated summaries of `check_report`, as employers and auditors write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

RACES: Final[Mapping[str, str]] = {
    "hispanic": "Hispanic or Latino",
    "white": "White",
    "black": "Black or African American",
    "islander": "Native Hawaiian or Other Pacific Islander",
    "asian": "Asian",
    "native": "American Indian or Alaska Native",
    "several": "Two or More Races",
}
SEXES: Final[Mapping[str, str]] = {"male": "Male", "female": "Female"}
HEADERS: Final[Sequence[tuple[str, str, str, str]]] = (
    ("# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"),
    ("Total Applicants", "Total Selected", "Selection Rate (%)", "Impact Ratio"),
    ("Number of Candidates", "Candidates Advanced", "Advancement Rate", "Impact Ratio"),
    ("Applicant Count", "Passed", "Passing Rate", "Adverse Impact Ratio"),
    ("Applied", "Selected", "Selection rate", "Impact ratio"),
    ("N Applicants", "N Selected", "Selection Rate", "Impact Ratio"),
    ("Individuals Assessed", "Individuals Selected", "Selection Rate", "Impact Ratio"),
)
CAPTIONS: Final[Sequence[tuple[str, str, str]]] = (
    ("Sex", "Race/Ethnicity", "Sex by Race/Ethnicity"),
    ("Gender Impact Ratio", "Race/Ethnicity Impact Ratio", "Intersectional Impact Ratio"),
    (
        "Table 1. Selection rates and impact ratios by sex",
        "Table 2. Selection rates and impact ratios by race/ethnicity",
        "Table 3. Selection rates and impact ratios by sex and race/ethnicity",
    ),
    (
        "Results for Sex Categories",
        "Results for Race/Ethnicity Categories",
        "Results for Intersectional Categories",
    ),
)
TOTALS: Final = ("Total", "Overall", "Grand Total")
UNKNOWNS: Final = ("Unknown", "Not specified", "Prefer not to say")
JOINTS: Final = ("{sex} {race}", "{race} ({sex})", "{sex}/{race}", "{race}, {sex}")
POSITIONS: Final = (
    "customer service representative",
    "warehouse associate",
    "financial analyst",
    "retail supervisor",
)
TOOLS: Final = ("TalentRank", "Assess360", "FitScore")
VENDORS: Final = ("Hireware Inc.", "Candor Technologies LLC")
AUDITORS: Final = ("Beacon Analytics LLC", "Whitcomb Advisory Group", "Meridian Statistical Consulting")
EMPLOYERS: Final = ("Gotham Retail Holdings", "Battery Park Insurance", "Riverside Logistics")
WORDS: Final[Sequence[Sequence[str]]] = (
    (
        "In accordance with New York City Local Law 144 of 2021, {employer} publishes this summary of the results of "
        "the most recent bias audit of {tool}.",
        "Bias audit date: {audited}",
        "Independent auditor: {auditor}",
        "AEDT distribution date: {used}",
        "Data source: historical data of {employer}, drawn from its applicant tracking system for all {position} "
        "requisitions.",
        "Explanation of data: the data include all individuals who applied between {start} and {end}.",
        "Individuals with unknown sex or race/ethnicity: {unknown}",
    ),
    (
        "{auditor} was engaged by {employer} to conduct an independent bias audit of {tool}, an automated employment "
        "decision tool provided by {vendor}. The audit was completed on {audited}.",
        "{employer} first used {tool} on {used} to screen applicants for the position of {position}.",
        "The bias audit used historical data. The data was collected by {employer} from {start} through {end} and "
        "consists of all applications that were scored by the tool.",
        "The audit excluded {unknown} applicants whose sex or race/ethnicity is unknown.",
    ),
    (
        "NYC AEDT Bias Audit Results. Employer: {employer}. Tool: {tool}. Role: {position}.",
        "Date of most recent bias audit: {audited} (performed by {auditor})",
        "Distribution date of the AEDT: {used}",
        "Source and explanation of the data used to conduct the bias audit: historical data from applicants to "
        "{employer} from {start} to {end}.",
        "Number of individuals the AEDT assessed that fall within an unknown category: {unknown}",
    ),
)
FILLS: Final[Sequence[str]] = (
    "The impact ratio is the selection rate of a category divided by the selection rate of the most selected category.",
    "Applicants who live in the city may request an alternative selection process by e-mail to the recruiting team.",
    "The tool considers the answers to the application form and the resume, and orders applicants for recruiters.",
    "Information about how long data are kept is available on request within thirty days of a written request.",
)
EXCLUDED: Final[Sequence[str]] = (
    "Note: Categories that represent less than 2% of the data were excluded from the impact ratio calculations.",
    "N/A: category is less than 2% of the data and is not included in the calculation of impact ratios.",
    "Impact ratios are not shown for groups that make up less than 2% of applicants, as Section 5-301(d) permits.",
)
VERDICTS: Final = (
    "The audit found that the tool is not biased.",
    "The tool has passed the bias audit.",
    "No bias was detected.",
)
MADE_UP: Final = (
    "The scores were randomly generated.",
    "Scores in this audit were simulated, not produced by the tool.",
)
INSIDERS: Final = (
    "The bias audit was conducted by our internal audit team.",
    "The audit was conducted by {vendor}, the vendor of the tool.",
)
AS_LAW: Final = (
    "Local Law 144 requires impact ratios of 0.80 or higher.",
    "The law requires that each impact ratio be at least four-fifths.",
)
IMPUTED: Final = (
    "Race was imputed from last names where it was missing.",
    "Gender was inferred from first names for some applicants.",
)
OUTSIDERS: Final = ("Klingon", "Narnian")
FONTS: Final = ("Liberation Sans", "DejaVu Sans", "Liberation Serif")
