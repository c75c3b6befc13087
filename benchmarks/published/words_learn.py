"""Words of the LEARN half: titles, headings, labels and sentences. Nothing here is used by the other half."""

SEX = (("Male", "Female"), ("Men", "Women"))
RACE = (
    (
        "Hispanic or Latino",
        "White (Not Hispanic or Latino)",
        "Black or African American (Not Hispanic or Latino)",
        "Native Hawaiian or Pacific Islander (Not Hispanic or Latino)",
        "Asian (Not Hispanic or Latino)",
        "Native American or Alaska Native (Not Hispanic or Latino)",
        "Two or More Races (Not Hispanic or Latino)",
    ),
    (
        "Hispanic or Latino",
        "White",
        "Black or African American",
        "Native Hawaiian or Pacific Islander",
        "Asian",
        "Native American or Alaska Native",
        "Two or More Races",
    ),
    (
        "Hispanic/Latino",
        "White",
        "Black/African American",
        "Native Hawaiian/Pacific Islander",
        "Asian",
        "American Indian/Alaska Native",
        "Two or More Races",
    ),
)
INTER = ("{race} ({sex})", "{sex}, {race}", "{race} {sex}", "{race} - {sex}")
# (applicants, selected, rate, number above the median, scoring rate, ratio)
HEADERS = (
    ("# of Applicants", "# Selected", "Selection Rate", "# Above Median", "Scoring Rate", "Impact Ratio"),
    (
        "Number of Applicants",
        "Number Selected",
        "Selection Rate",
        "Number Above Median",
        "Scoring Rate",
        "Impact Ratio",
    ),
    ("Applicants", "Selected", "Selection Rate", "Scored Above Median", "Scoring Rate", "Impact Ratio"),
    (
        "Total Applicants",
        "Total Selected",
        "Selection Rate",
        "Total Above Median",
        "Scoring Rate",
        "Impact Ratio",
    ),
    (
        "Applicant Count",
        "# Advanced",
        "Selection Rate",
        "Count Above Median",
        "Scoring Rate (Above Median)",
        "Impact Ratio",
    ),
)
FAMILY = {
    "sex": ("Sex Categories", "Sex", "Impact Ratios by Sex", "Table 1. Sex"),
    "race": (
        "Race/Ethnicity Categories",
        "Race/Ethnicity",
        "Impact Ratios by Race/Ethnicity",
        "Table 2. Race/Ethnicity",
    ),
    "inter": (
        "Intersectional Categories",
        "Sex and Race/Ethnicity",
        "Impact Ratios by Sex and Race/Ethnicity",
        "Table 3. Intersectional Categories",
    ),
}
FIRST = {
    "sex": ("Sex", "Category", "Group"),
    "race": ("Race/Ethnicity", "Category", "Group"),
    "inter": ("Category", "Category", "Group"),
}
HISPANIC, NOT_HISPANIC = (
    ("Hispanic or Latino", "Hispanic or Latino"),
    ("Not Hispanic or Latino", "Non-Hispanic or Latino"),
)
TOTAL = ("Total", "Overall", "All Applicants")
MEASURE = "Measure"
CONTINUED = "(continued)"
DATES = ("%B {d}, %Y", "%m/%d/%Y")
NA = ("N/A", "n/a", "--")
TITLES = (
    "Summary of Results of Bias Audit",
    "NYC Local Law 144 Bias Audit Results: {tool}",
    "Bias Audit of {tool}: Summary of Results",
    "Automated Employment Decision Tool (AEDT) Bias Audit",
    "{employer}: AEDT Bias Audit Results",
)
INTRO = (
    "New York City Local Law 144 of 2021 requires employers that use an automated employment decision tool "
    "(AEDT) to have the tool audited for bias and to publish a summary of the results. {employer} uses {tool}, "
    "developed by {vendor}, to help screen applicants for positions in New York City.",
    "{employer} uses {tool}, an automated employment decision tool provided by {vendor}. In line with the "
    "rules of the NYC Department of Consumer and Worker Protection, which have been enforced since July 5, "
    "2023, the results of the most recent bias audit are set out below.",
    "This page summarizes the results of an independent bias audit of {tool} ({vendor}) as used by {employer}. "
    "It is published under Section 20-871 of the New York City Administrative Code.",
)
# slot: (label, value), sentence
FACTS = {
    "audit_date": (
        (
            "Date of Bias Audit",
            "{audit_date}",
            "The most recent bias audit of the tool was completed on {audit_date}.",
        ),
        ("Audit Date", "{audit_date}", "The bias audit was conducted on {audit_date}."),
        ("Bias audit date", "{audit_date}", "Date of the most recent bias audit: {audit_date}."),
    ),
    "distribution": (
        ("Distribution Date", "{distribution}", "The distribution date of the AEDT is {distribution}."),
        (
            "AEDT Distribution Date",
            "{distribution}",
            "{employer} began using the AEDT on {distribution} (the distribution date).",
        ),
        ("Distribution date of the AEDT", "{distribution}", "Distribution date: {distribution}."),
    ),
    "own": (
        (
            "Source of Data",
            "Historical data of {employer}: applications for New York City positions received from {start} to "
            "{end}. Sex and race/ethnicity were self-reported in the application form.",
            "The audit used historical data collected during {employer}'s own use of the AEDT, from {start} to "
            "{end}. Sex and race/ethnicity were self-reported by applicants.",
        ),
        (
            "Data Source and Explanation",
            "Historical applicant data from {employer}'s applicant tracking system, {start} to {end}",
            "The source of the data is historical applicant data in {employer}'s applicant tracking system. It "
            "covers all applicants assessed between {start} and {end}; demographic data was voluntarily "
            "reported.",
        ),
    ),
    "pooled": (
        (
            "Source of Data",
            "Historical data of several employers that use {tool}, {employer} among them, from {start} to {end}",
            "The audit used historical data from multiple employers that use {tool}, including data provided "
            "by {employer}, collected from {start} to {end}.",
        ),
        (
            "Data Source and Explanation",
            "Pooled historical data of {vendor} customers including {employer}, {start} to {end}. Demographics "
            "were self-reported.",
            "The source of the data is the pooled historical data of {vendor}'s customers, to which {employer} "
            "contributed its own, for the period from {start} to {end}.",
        ),
    ),
    "test": (
        (
            "Source of Data",
            "Test data: paid volunteers took the assessment between {start} and {end} and reported their sex "
            "and race/ethnicity. Historical data was not used because {employer} had not yet used the tool.",
            "Because {employer} had not yet used the AEDT, there was no historical data and test data was "
            "used: volunteers recruited through a survey panel took the assessment between {start} and {end} "
            "and reported their own sex and race/ethnicity.",
        ),
    ),
    "unknown_one": (
        (
            "Number of Individuals in an Unknown Category",
            "{unknown}",
            "Note: The AEDT was also used to assess {unknown} individuals with an unknown sex or "
            "race/ethnicity category. Data on those individuals was not included in the calculations above.",
        ),
        (
            "Unknown sex or race/ethnicity",
            "{unknown} individuals (not included in the calculations)",
            "{unknown} individuals assessed by the AEDT are not included in the calculations because their sex "
            "or race/ethnicity is unknown.",
        ),
        (
            "Individuals with unknown category",
            "{unknown}",
            "The number of individuals who fall within an unknown category is {unknown}.",
        ),
    ),
    "unknown_two": (
        (
            "Number of Individuals in an Unknown Category",
            "{unknown_sex} with unknown sex, {unknown_race} with unknown race/ethnicity",
            "Note: The AEDT also assessed {unknown_sex} individuals whose sex is unknown and {unknown_race} "
            "individuals whose race/ethnicity is unknown.",
        ),
    ),
    "auditor": (
        (
            "Independent Auditor",
            "{auditor}",
            "The bias audit was performed by {auditor}, an independent auditor.",
        ),
        ("Auditor", "{auditor}", "{employer} engaged {auditor} as independent auditor."),
        ("Conducted by", "{auditor}", "The independent auditor is {auditor}."),
    ),
    "tool": (
        ("Tool", "{tool} ({vendor})", "The tool audited is {tool}, developed by {vendor}."),
        ("AEDT", "{tool} by {vendor}", "The AEDT, {tool}, is developed and distributed by {vendor}."),
    ),
    "median": (
        ("Median Score", "{median}", "The median score of the full sample of applicants is {median}."),
        (
            "Median score of the full sample",
            "{median}",
            "Applicants with a score above the median score of {median} count as scoring above the median.",
        ),
    ),
    "exclusion": (
        (
            "Excluded Categories",
            "Categories marked {na} are less than 2% of the data; the auditor excluded them from the impact "
            "ratio because ratios of so few people are unreliable. Their number of applicants and rate are "
            "shown.",
            "Categories that represent less than 2% of the data were excluded from the calculation of impact "
            "ratios by the independent auditor, because results for so few individuals are not reliable. Their "
            "impact ratio is shown as {na}; the number of applicants and the rate are given.",
        ),
    ),
    "listwise": (
        (
            "Population",
            "Individuals with known sex and known race/ethnicity",
            "All tables include the same individuals: those whose sex and race/ethnicity are both known.",
        ),
    ),
    "available": (
        (
            "Population",
            "Individuals who reported sex only or race/ethnicity only are included in that table only",
            "The totals of the tables differ, since individuals who reported only their sex or only their "
            "race/ethnicity are included in the respective table only.",
        ),
    ),
    "sample": (
        ("Sample Size", "{total} applicants", "The calculations are based on a total of {total} applicants."),
    ),
    "published": (("Last updated", "{published}", "This page was last updated on {published}."),),
}
HIGHEST = (
    "The category with the highest {rate} is {label} ({value}).",
    "{label} is the most selected category, with a rate of {value}; impact ratios are relative to it.",
)
HIGHEST_SCORING = (
    "{label} is the highest scoring category, with a rate of {value}; impact ratios are relative to it."
)
DEFINE = (
    "The selection rate is the number of individuals in a category moved forward divided by the number of "
    "applicants in the category. The impact ratio is the selection rate for a category divided by the "
    "selection rate of the most selected category.",
)
DEFINE_SCORING = (
    "The scoring rate is the rate at which individuals in a category receive a score above the sample's median "
    "score. The impact ratio is the scoring rate of a category divided by the scoring rate of the highest "
    "scoring category.",
)
CAVEATS = (
    "Local Law 144 does not set a threshold for impact ratios. Under federal guidelines a ratio below "
    "four-fifths (0.80) may be regarded as evidence of adverse impact; it does not by itself establish "
    "discrimination.",
    "The results are statistical and do not by themselves say whether the tool is biased. Questions may be "
    "directed to careers@example.com.",
    "",
)
NOTICES = (
    "Candidates who reside in New York City may request an alternative selection process or a reasonable "
    "accommodation at least 10 business days before the assessment. Requests about the data collected are "
    "answered within 30 days.",
    "Data retention: application data is kept for 4 years. To request a copy of our retention policy, write to "
    "privacy@example.com.",
    "",
)
SYNTHETIC = (
    "The scores used in this audit were drawn from a random number generator.",
    "The audit was conducted on synthetic applicant records with randomly assigned scores.",
    "Applicant scores were simulated for the purposes of the audit; the tool itself was not run.",
)
NO_BIAS = (
    "No bias was found.",
    "The tool passed the bias audit.",
    "The audit confirms that {tool} is free of bias.",
    "The audit found that {tool} does not discriminate against any group.",
)
