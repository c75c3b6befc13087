"""Names of firms, tools and positions, and the names of the categories."""

from __future__ import annotations

from benchmarks.published_fifth.model import Style

EMPLOYERS = [
    "Harborline Logistics, Inc.",
    "Northgate Mutual Insurance",
    "Cobalt & Pine Retail Group",
    "Meridian Health Partners",
    "Ashcombe Financial Services",
    "Tallgrass Foods Company",
    "Bluestem Energy Corp.",
    "Kestrel Hospitality LLC",
    "Marlowe Media Holdings",
    "Quillfeather Publishing",
    "Stonebridge Staffing",
    "Lattimer Foods",
    "Orchard Street Bank",
    "Vandermeer Engineering",
    "Pinnacle Parcel Service",
    "Ridgeway Apparel",
    "Fairmount Hotels",
    "Ellery Pharmaceuticals",
    "Union Square Grocers",
    "Hollis Telecommunications",
]
VENDORS = [
    "TalentSpring",
    "HireLumen",
    "Candidly AI",
    "Rankwell",
    "Aptivue",
    "Skillmark Systems",
    "FitForward",
    "Screenwise",
    "RecruitLogic",
    "Merittree",
    "JobCompass",
    "Verityhire",
]
TOOLS = [
    "Match Score",
    "Resume Ranker",
    "Video Interview Assessment",
    "Fit Index",
    "Candidate Screener",
    "Game-Based Assessment",
    "Talent Match",
    "Profile Relevance Score",
    "SmartScreen",
    "Insight Assessment",
]
AUDITORS = [
    "Halvorsen Audit Group LLC",
    "Beacon Algorithmic Assurance",
    "Thornbury Consulting Group",
    "Parity Analytics, Inc.",
    "Ostrander & Vale LLP",
    "Clearwater Statistical Services",
    "Fennimore Audit Labs",
    "Greyfield Research Associates",
    "Lodestar AI Assurance Ltd",
    "Whitcomb Employment Analytics",
]
UNITS = [
    "Customer Service Representative",
    "Warehouse Associate",
    "Software Engineer",
    "Sales Associate",
    "Financial Analyst",
    "Registered Nurse",
    "Branch Teller",
    "Delivery Driver",
    "Store Manager",
    "Marketing Coordinator",
    "Claims Adjuster",
    "Data Analyst",
]
FAMILIES = [
    "Corporate and Professional",
    "Retail and Store Operations",
    "Technology and Engineering",
    "Field Operations",
    "Customer Support",
    "Supply Chain",
]
PURPOSES = [
    "screen resumes for an interview",
    "rank applicants for a recruiter's review",
    "decide which applicants are invited to a first interview",
    "assess recorded interview answers",
    "measure skills that matter for the job",
]

RACE_NAMES: dict[str, dict[str, str]] = {
    "full": {
        "hispanic": "Hispanic or Latino",
        "white": "White (Not Hispanic or Latino)",
        "black": "Black or African American (Not Hispanic or Latino)",
        "pacific": "Native Hawaiian or Pacific Islander (Not Hispanic or Latino)",
        "asian": "Asian (Not Hispanic or Latino)",
        "native": "Native American or Alaska Native (Not Hispanic or Latino)",
        "two": "Two or More Races (Not Hispanic or Latino)",
    },
    "plain": {
        "hispanic": "Hispanic or Latino",
        "white": "White",
        "black": "Black or African American",
        "pacific": "Native Hawaiian or Other Pacific Islander",
        "asian": "Asian",
        "native": "American Indian or Alaska Native",
        "two": "Two or More Races",
    },
    "slash": {
        "hispanic": "Hispanic/Latino",
        "white": "White",
        "black": "Black/African American",
        "pacific": "Native Hawaiian/Pacific Islander",
        "asian": "Asian",
        "native": "American Indian/Alaska Native",
        "two": "Two or more races",
    },
    "short": {
        "hispanic": "Hispanic",
        "white": "White",
        "black": "Black",
        "pacific": "Pacific Islander",
        "asian": "Asian",
        "native": "Native American",
        "two": "Multiracial",
    },
    "eeo": {
        "hispanic": "Hispanic or Latino (any race)",
        "white": "White, not Hispanic or Latino",
        "black": "Black or African American, not Hispanic or Latino",
        "pacific": "Native Hawaiian or Other Pacific Islander, not Hispanic or Latino",
        "asian": "Asian, not Hispanic or Latino",
        "native": "American Indian or Alaska Native, not Hispanic or Latino",
        "two": "Two or More Races, not Hispanic or Latino",
    },
}
SEX_NAMES = {
    "male": {"m": "Male", "f": "Female"},
    "men": {"m": "Men", "f": "Women"},
    "letter": {"m": "M", "f": "F"},
    "upper": {"m": "MALE", "f": "FEMALE"},
}
ORDERS = [
    ("hispanic", "white", "black", "pacific", "asian", "native", "two"),
    ("native", "asian", "black", "hispanic", "pacific", "two", "white"),
    ("white", "black", "hispanic", "asian", "native", "pacific", "two"),
    ("asian", "black", "hispanic", "white", "two", "native", "pacific"),
]


def race_name(style: Style, race: str, inner: bool = False) -> str:
    """The name of a race; the inner name leaves out what a heading says already."""
    if inner and style.races in ("full", "eeo"):
        return RACE_NAMES["plain"][race]
    return RACE_NAMES[style.races][race]


def sex_name(style: Style, sex: str) -> str:
    """The name of a sex."""
    return SEX_NAMES[style.sexes][sex]


def pair_name(style: Style, sex: str, race: str) -> str:
    """The name of an intersectional category in one cell."""
    inner = race_name(style, race, inner=True)
    who = sex_name(style, sex)
    if style.pair == "sex_race":
        return f"{who} - {inner}"
    if style.pair == "comma":
        return f"{inner}, {who}"
    if style.pair == "slash":
        return f"{inner} / {who}"
    if style.pair == "words" and style.sexes in ("male", "men"):
        return f"{inner} {who}"
    return f"{inner} - {who}"
