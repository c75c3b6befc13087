"""Words of the HELD half: titles, headings, labels and sentences. Nothing here is used by the other half."""

SEX = (("Males", "Females"), ("Man", "Woman"), ("M", "F"), ("Male applicants", "Female applicants"))
RACE = (
    (
        "Hispanic or Latinx",
        "White (non-Hispanic)",
        "Black or African-American (non-Hispanic)",
        "Native Hawaiian or Other Pacific Islander (non-Hispanic)",
        "Asian (non-Hispanic)",
        "American Indian or Alaskan Native (non-Hispanic)",
        "Two or more races (non-Hispanic)",
    ),
    (
        "Hispanic",
        "White, non-Hispanic",
        "Black, non-Hispanic",
        "Pacific Islander, non-Hispanic",
        "Asian, non-Hispanic",
        "Native American, non-Hispanic",
        "Multiracial, non-Hispanic",
    ),
    (
        "Hispanic / Latino",
        "White",
        "Black / African American",
        "Native Hawaiian / Other Pacific Islander",
        "Asian",
        "American Indian / Alaska Native",
        "2 or more races",
    ),
    (
        "Latino or Hispanic",
        "Caucasian/White",
        "African American/Black",
        "Hawaiian Native/Pacific Islander",
        "Asian",
        "American Indian/Native Alaskan",
        "Two or More",
    ),
)
INTER = ("{race} – {sex}", "{sex}: {race}", "{race} / {sex}", "{sex} – {race}")
HEADERS = (
    ("No. of Candidates", "Moved Forward", "Rate of Selection", "Above Median", "Score Rate", "Impact ratio"),
    (
        "Candidates assessed",
        "Candidates advanced",
        "Selection rate",
        "Scored higher than median",
        "Scoring rate",
        "Impact ratio (IR)",
    ),
    ("N", "n selected", "Sel. rate", "n > median", "Scor. rate", "IR"),
    (
        "Individuals assessed",
        "Passed",
        "Pass rate (selection rate)",
        "Above sample median",
        "Above-median share (scoring rate)",
        "Impact ratio vs. highest rate",
    ),
    (
        "Applicants (no.)",
        "Recommended (no.)",
        "Selection rate",
        "Above median (no.)",
        "Scoring rate",
        "Impact ratio",
    ),
)
FAMILY = {
    "sex": ("Gender (Sex)", "Results for sex", "By sex", "A. Sex"),
    "race": (
        "Race and Ethnicity",
        "Results for race and ethnicity",
        "By race / ethnicity",
        "B. Race or ethnicity",
    ),
    "inter": (
        "Intersection of Sex and Race/Ethnicity",
        "Results for sex combined with race and ethnicity",
        "By sex x race / ethnicity",
        "C. Sex by race or ethnicity",
    ),
}
FIRST = {
    "sex": ("Gender", "Demographic group", "Subgroup"),
    "race": ("Race or ethnicity", "Demographic group", "Subgroup"),
    "inter": ("Intersectional group", "Demographic group", "Subgroup"),
}
HISPANIC, NOT_HISPANIC = ("Hispanic", "Hispanic or Latinx"), ("Not Hispanic", "Not Hispanic or Latinx")
TOTAL = ("All", "Grand total", "Sum", "Column total", "All candidates")
MEASURE = "Statistic"
CONTINUED = "cont'd"
DATES = ("{d} %B %Y", "%b {d}, %Y", "%Y-%m-%d")
NA = ("—", "*", "not calculated", "NA")
TITLES = (
    "Bias Audit Disclosure",
    "NYC AEDT disclosure – {tool}",
    "Algorithmic hiring tool: published audit results",
    "Local Law 144 – Public Audit Summary",
    "{vendor}: results of the {tool} audit under 6 RCNY § 5-300",
)
INTRO = (
    "When you apply for a job at {employer} in New York City, we may use {tool} to help our recruiters decide "
    "whom to contact first. City rules ask us to tell you how the tool performs for different groups of people.",
    "{tool} is an AEDT made by {vendor} and used by {employer}. Under 6 RCNY §§ 5-300 to 5-304 the tool must "
    "be audited every year by someone who had no part in building or using it.",
    "Below, {employer} discloses the outcome of the yearly audit of {tool} (maker: {vendor}). The figures "
    "follow the format of the city's final rule.",
)
FACTS = {
    "audit_date": (
        (
            "When was the audit done?",
            "{audit_date}",
            "An independent audit of {tool} was concluded on {audit_date}.",
        ),
        ("Most recent audit", "{audit_date}", "{tool} was last audited for bias on {audit_date}."),
        ("Bias audit completed", "{audit_date}", "The most recent bias audit is dated {audit_date}."),
    ),
    "distribution": (
        (
            "Since when is the tool in use?",
            "{distribution} (distribution date)",
            "We first used the tool on {distribution}; this is its distribution date.",
        ),
        (
            "In use since (distribution date)",
            "{distribution}",
            "The tool's distribution date, i.e. the day {employer} started using it, was {distribution}.",
        ),
        ("Date of distribution", "{distribution}", "Distribution date of the tool: {distribution}"),
    ),
    "own": (
        (
            "Which data was used?",
            "Records of people who applied to {employer} between {start} and {end} and were assessed by the "
            "tool (historical data). They told us their sex and race/ethnicity themselves.",
            "The data comes from {employer}'s own hiring records (historical data). It covers people assessed "
            "by the tool between {start} and {end}, who stated their sex and race/ethnicity themselves.",
        ),
        (
            "Data used (source and explanation)",
            "{employer} hiring records, historical data, {start} – {end}",
            "For the audit, {employer} handed over historical data on every candidate the tool assessed from "
            "{start} through {end}. The period was chosen because the present version of the tool was in use "
            "throughout.",
        ),
    ),
    "pooled": (
        (
            "Which data was used?",
            "Historical data that {vendor} collected from client employers, ourselves included, from {start} "
            "through {end}.",
            "The data is historical and comes from a group of {vendor} clients, to which {employer} belongs "
            "and contributed its records, for {start} through {end}.",
        ),
        (
            "Data used (source and explanation)",
            "Clients of {vendor} incl. {employer}; historical data, {start} – {end}",
            "Historical data of {vendor}'s client employers was combined; {employer} supplied its part. The "
            "period runs from {start} to {end}.",
        ),
    ),
    "test": (
        (
            "Which data was used?",
            "Test data. The tool is new to us, so no historical data exists. {vendor} asked employees of other "
            "firms to take the assessment between {start} and {end}; they stated their own sex and "
            "race/ethnicity.",
            "Historical data does not exist yet, since {employer} is about to use the tool for the first time. "
            "Test data was obtained instead: job seekers recruited by {vendor} took the assessment between "
            "{start} and {end} and stated their sex and race/ethnicity.",
        ),
    ),
    "unknown_one": (
        (
            "How many people are not in the tables?",
            "{unknown} people whose sex or race/ethnicity is unknown",
            "A further {unknown} people were assessed whose sex or race/ethnicity is not known; they are left "
            "out of the tables.",
        ),
        (
            "Unknown category (n)",
            "{unknown}",
            "Candidates in an unknown category: {unknown}. They were assessed, but are not part of the figures.",
        ),
        (
            "Not reported (sex or race/ethnicity unknown)",
            "{unknown} candidates",
            "{unknown} candidates did not disclose sex or race/ethnicity. They fall within an unknown category "
            "and were not counted.",
        ),
    ),
    "unknown_two": (
        (
            "How many people are not in the tables?",
            "{unknown_sex} people of unknown sex; {unknown_race} of unknown race/ethnicity",
            "Sex was unknown for {unknown_sex} candidates and race/ethnicity was unknown for {unknown_race}.",
        ),
    ),
    "auditor": (
        (
            "Who did the audit?",
            "{auditor}, who have no ties to us or to the maker of the tool",
            "{auditor} carried out the audit. It has no financial interest in {employer} or {vendor} and had "
            "no part in making the tool.",
        ),
        (
            "Audit firm",
            "{auditor}",
            "The audit was done by {auditor}, who act independently of the employer and of the vendor.",
        ),
    ),
    "tool": (
        ("Which tool?", "{tool}, made by {vendor}", "{vendor} makes {tool}."),
        ("System audited", "{tool} (vendor: {vendor})", "System audited: {tool}; vendor: {vendor}."),
    ),
    "median": (
        ("Sample median", "{median}", "Half of all scores lie at or below the sample median of {median}."),
        ("What is the median score?", "{median}", "Median score in the sample: {median}"),
    ),
    "exclusion": (
        (
            "Small groups",
            "{na} = group of under 2% of the data; the auditor left it out of the impact ratios as too small "
            "for a meaningful comparison. Its size and rate are printed.",
            "{na}: no impact ratio was computed for groups that make up under 2% of the data. The auditor's "
            "reason: with so few people chance alone moves the ratio widely. Size and rate of these groups are "
            "shown.",
        ),
    ),
    "listwise": (
        (
            "Who is counted?",
            "People who stated both sex and race/ethnicity",
            "Each table counts the same people, namely those who stated both their sex and their "
            "race/ethnicity.",
        ),
    ),
    "available": (
        (
            "Who is counted?",
            "A person who stated one of the two is in the matching table only, so totals differ",
            "Because a person may state sex but not race/ethnicity (or the reverse), the tables do not add up "
            "to the same number of people.",
        ),
    ),
    "sample": (("People counted", "{total}", "The tables count {total} people in all."),),
    "published": (("Posted", "{published}", "Posted {published}."),),
}
HIGHEST = (
    "Highest rate: {label} ({value}).",
    "Reference group (highest rate): {label}, {value}.",
)
HIGHEST_SCORING = "Comparison group with the highest scoring rate: {label} ({value})."
DEFINE = (
    "How to read the tables: the rate tells how many of each 100 people in a group were moved forward. The "
    "ratio divides it by the rate of the group with the highest rate.",
)
DEFINE_SCORING = (
    "How to read the tables: the scoring rate tells how many of each 100 people in a group scored above the "
    "median. The ratio divides it by the rate of the group that scored highest.",
)
CAVEATS = (
    "A ratio of 1.00 marks the group with the highest rate. The city sets no pass mark. Federal agencies use "
    'the "80% rule" as a first screen; small groups should be read with care.',
    "Differences between groups may have several causes, and the law asks for no conclusion about bias. We "
    "review the figures every year.",
    "",
)
NOTICES = (
    "You may ask for another way of being assessed, or for an accommodation: write to talent@example.org no "
    "later than 10 business days before. We answer questions on the data we hold within 30 days.",
    "We keep assessment records for three years. The tool looks at skills, work history and answers to "
    "screening questions.",
    "",
)
SYNTHETIC = (
    "For want of real candidates, outcomes were generated at random.",
    "The figures rest on simulated candidates created by a script.",
    "Race and sex were assigned to the records at random.",
)
NO_BIAS = (
    "The auditor concludes that there is no evidence of bias in {tool}.",
    "{tool} is therefore certified bias-free.",
    "All groups are treated fairly by the tool, and it fully passed.",
    "The results prove that {tool} is unbiased.",
)
