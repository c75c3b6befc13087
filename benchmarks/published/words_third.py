"""Words of the THIRD half: titles, headings, labels, sentences and ways to write numbers."""

from benchmarks.published.shown import Convention

SEX = (
    ("Male", "Female"),
    ("Male", "Female"),
    ("MALE", "FEMALE"),
    ("Men", "Women"),
    ("Identifies as male", "Identifies as female"),
)
RACE = (
    (
        "Hispanic or Latino",
        "White",
        "Black or African American",
        "Native Hawaiian or Other Pacific Islander",
        "Asian",
        "American Indian or Alaska Native",
        "Two or More Races",
    ),
    (
        "Hispanic or Latino (United States of America)",
        "White (United States of America)",
        "Black or African American (United States of America)",
        "Native Hawaiian or Other Pacific Islander (United States of America)",
        "Asian (United States of America)",
        "American Indian or Alaska Native (United States of America)",
        "Two or More Races (United States of America)",
    ),
    (
        "Hispanic/Latinx",
        "White",
        "Black/Afr. American",
        "Nat. Hawaiian/Pac. Islander",
        "Asian",
        "Am. Indian/Alaska Nat.",
        "Two+ Races",
    ),
    (
        "Hispanic or Latino, of any race",
        "White alone, not Hispanic",
        "Black or African American alone, not Hispanic",
        "Native Hawaiian and other Pacific Islander alone, not Hispanic",
        "Asian alone, not Hispanic",
        "American Indian and Alaska Native alone, not Hispanic",
        "Two or more races, not Hispanic",
    ),
    (
        "Latina/o or Hispanic",
        "White",
        "Black",
        "Pacific Islander",
        "Asian",
        "Native American",
        "More than one race",
    ),
)
INTER = ("{race}, {sex}", "{sex} × {race}", "{race} | {sex}", "{sex} ({race})")
HEADERS = (
    (
        "Count",
        "Count Passing",
        "Selection Rate (Pass Rate)",
        "Count Above Median",
        "Scoring Rate",
        "Impact Ratio",
    ),
    (
        "Candidates considered",
        "Invited to interview",
        "Selection rate",
        "Score above median",
        "Scoring rate",
        "Impact ratio",
    ),
    (
        "Total applied",
        "Total moved to next round",
        "Selection rate",
        "Total above median score",
        "Scoring rate",
        "Impact ratio to top group",
    ),
    (
        "Total Assessed",
        "Total Recommended",
        "Selection Rate",
        "Total Over Median",
        "Scoring Rate",
        "Impact Ratio (IR)",
    ),
    (
        "Number of People Who Applied",
        "Number of People Selected",
        "Selection Rate",
        "Number of People Above the Median",
        "Scoring Rate",
        "Impact Ratio",
    ),
    (
        "Sample size (N)",
        "Favorable outcome",
        "Selection rate",
        "Above median (N)",
        "Scoring rate",
        "Impact ratio",
    ),
)
FAMILY = {
    "sex": ("Sex/Gender", "Analysis by Sex", "Sex at a Glance", "Exhibit A: Sex"),
    "race": (
        "Ethnicity/Race",
        "Analysis by Race and Ethnicity",
        "Race/Ethnicity at a Glance",
        "Exhibit B: Race/Ethnicity",
    ),
    "inter": (
        "Sex by Ethnicity/Race",
        "Intersectional Analysis (Sex with Race and Ethnicity)",
        "Combined Categories at a Glance",
        "Exhibit C: Intersectional (Sex and Race/Ethnicity)",
    ),
}
FIRST = {
    "sex": ("EEO category", "Sex category", "Applicant group"),
    "race": ("EEO category", "Race/ethnicity category", "Applicant group"),
    "inter": ("EEO category", "Intersectional category", "Applicant group"),
}
HISPANIC, NOT_HISPANIC = ("Hispanic or Latino",), ("Not Hispanic or Latino",)
TOTAL = ("TOTAL", "Total (all categories)", "Everyone", "All categories")
MEASURE = "Metric"
CONTINUED = "continued from previous page"
DATES = ("%B {d}, %Y", "%d-%b-%Y", "%A, %B {d}, %Y", "%m/%d/%y")
NA = ("N/A", "–", "n.a.", "Insufficient data")
FIRM = "\N{NO-BREAK SPACE}"
# thousands, decimal, digits and unit of rates, digits of ratios and whether these are percentages: house styles
CONVENTIONS = tuple(
    Convention(thousands, ".", digits, unit, ratio, percent, "", "", bare)
    for thousands, digits, unit, ratio, percent, bare in (
        (",", 1, "%", 2, False, False),
        (",", 2, "%", 3, False, False),
        (",", 0, "%", 2, False, False),
        ("", 1, "%", 3, False, False),
        (",", 1, f"{FIRM}%", 2, False, False),
        (FIRM, 1, f"{FIRM}%", 2, False, False),
        (",", 0, "", 2, False, True),
        ("", 1, "", 3, False, True),
        (",", 1, "", 3, False, False),
        (",", 1, "%", 3, True, False),
        ("", 1, "header", 2, False, False),
    )
)
TITLES = (
    "{tool} Bias Audit: Public Disclosure for New York City Applicants",
    "AEDT Transparency Notice",
    "Independent Bias Audit Report Summary | {tool}",
    "{employer} Careers: Use of Automated Tools in Hiring",
    "New York City AEDT Law (LL 144): Audit Results",
)
INTRO = (
    "{employer} relies on {tool} ({vendor}) for part of its candidate screening. The tool is an automated "
    "employment decision tool (AEDT) within the meaning of New York City Administrative Code § 20-870. We make "
    "the results of its latest independent audit available here.",
    "At {employer}, recruiters make hiring decisions. For some roles they are assisted by {tool}, software of "
    "{vendor} that evaluates applications against the requirements of the job. New York City employers must "
    "post audit results for such software before they use it.",
    "Posted by {employer} pursuant to NYC Admin. Code § 20-871(a)(2) (technology provider: {vendor}).",
    "What is an AEDT? An AEDT is a computer-based tool that uses machine learning, statistical modeling, data "
    "analytics, or artificial intelligence and substantially helps with an employment decision. {employer} uses "
    "one, {tool}, which {vendor} provides.",
)
FACTS = {
    "audit_date": (
        (
            "Audit completion date",
            "{audit_date}",
            "The auditor completed its most recent review on {audit_date}.",
        ),
        (
            "Date of most recent bias audit",
            "{audit_date}",
            "Our most recent bias audit took place on {audit_date}.",
        ),
        ("Bias Audit Date", "{audit_date}", "The bias audit reported here was finalized on {audit_date}."),
    ),
    "distribution": (
        (
            "Tool distribution date",
            "{distribution}",
            "{employer} has used this tool since its distribution date, {distribution}.",
        ),
        (
            "Date we began using the AEDT (distribution date)",
            "{distribution}",
            "Use of the AEDT by {employer} began on {distribution} (distribution date).",
        ),
        (
            "AEDT first used on (Distribution Date)",
            "{distribution}",
            "Distribution date of this AEDT: {distribution}",
        ),
    ),
    "own": (
        (
            "Data used",
            "{employer} applicant records, {start} through {end} (historical data); demographic information "
            "comes from voluntary self-identification forms",
            "The auditor analyzed historical data: records of applicants to {employer} who were evaluated by "
            "the tool between {start} and {end}. Demographic information comes from the voluntary "
            "self-identification form in our application.",
        ),
        (
            "Source and explanation of data",
            "Historical data extracted from {employer}'s HR system for {start} - {end}, being the latest full "
            "period at the time of the audit",
            "Historical data was extracted from the HR system of {employer}. It spans {start} to {end}, the latest "
            "full period at the time of the audit, and includes every requisition for which the tool was on.",
        ),
    ),
    "pooled": (
        (
            "Data used",
            "Historical data of customers of {vendor}, including {employer}, {start} through {end}; "
            "demographic information is self-reported",
            "The auditor analyzed historical data that customers of {vendor} contributed. {employer} is one of the "
            "contributors. Applications were evaluated between {start} and {end}, and demographic information "
            "was self-reported.",
        ),
        (
            "Source and explanation of data",
            "Aggregated historical applicant data from {vendor} customers ({employer} provided its own data), "
            "{start} - {end}",
            "The analysis rests on aggregated historical applicant data of employers using {tool}, to which "
            "{employer} provided its own data, for the period {start} to {end}.",
        ),
    ),
    "test": (
        (
            "Data used",
            "Test data, as {employer} has no historical data yet: from {start} to {end} adult job seekers hired "
            "through a research panel completed the assessment and reported their sex and race/ethnicity",
            "{employer} had no historical data, because the tool had not been put to use at the time of the audit. "
            "The auditor therefore relied on test data: from {start} to {end}, adult job seekers hired through a "
            "research panel completed the assessment and reported their sex and race/ethnicity.",
        ),
    ),
    "unknown_one": (
        (
            "Individuals in unknown category",
            "{unknown}",
            "In addition, {unknown} individuals with unknown sex or unknown race/ethnicity were assessed. They "
            "are excluded from the results.",
        ),
        (
            "Did not self-identify (unknown category)",
            "{unknown} individuals",
            "{unknown} individuals did not self-identify their sex or their race/ethnicity. They count as "
            "unknown and appear in no table.",
        ),
        (
            "Assessed, sex or race/ethnicity unknown",
            "{unknown}, excluded from all results",
            "The tool also assessed {unknown} persons who fall in an unknown category, having left the sex or "
            "race/ethnicity question blank.",
        ),
    ),
    "unknown_two": (
        (
            "Individuals in unknown category",
            "Sex: {unknown_sex}; race/ethnicity: {unknown_race}",
            "Individuals assessed who fall in an unknown category: {unknown_sex} for sex and {unknown_race} for "
            "race/ethnicity.",
        ),
        (
            "Did not self-identify (unknown category)",
            "{unknown_sex} (sex), {unknown_race} (race/ethnicity)",
            "{unknown_sex} individuals did not self-identify their sex, and {unknown_race} did not self-identify "
            "their race/ethnicity; each is left out of the tables that need the missing answer.",
        ),
    ),
    "auditor": (
        (
            "Independent audit firm",
            "{auditor}",
            "{auditor} served as independent auditor under 6 RCNY § 5-300.",
        ),
        (
            "Audited by",
            "{auditor}",
            "We retained {auditor} to conduct the audit. It was not involved in using, developing, or distributing "
            "the AEDT and holds no financial interest in {employer} or {vendor}.",
        ),
        (
            "Auditor (independent)",
            "{auditor}",
            "This audit was prepared by {auditor}, an independent third party.",
        ),
    ),
    "tool": (
        ("AEDT name", "{tool}", "The AEDT covered by this disclosure is {tool} from {vendor}."),
        ("Product / provider", "{tool} / {vendor}", "Product covered: {tool}. Provider: {vendor}."),
    ),
    "median": (
        (
            "Median score (all scored applicants)",
            "{median}",
            "The median score among all scored applicants was {median}; the scoring rate is the share above it.",
        ),
    ),
    "exclusion": (
        (
            "Groups below 2%",
            "Shown as {na}: the auditor did not calculate impact ratios for groups with less than 2% of the "
            "individuals, since estimates for groups this small are not statistically stable",
            "As permitted by 6 RCNY § 5-301(d), the auditor excluded groups with less than 2% of the individuals "
            "in the data from impact ratio calculations, since estimates for groups this small are not "
            "statistically stable. In the tables their impact ratio reads {na}; counts and rates are still given.",
        ),
    ),
    "listwise": (
        (
            "Individuals included",
            "Everyone with self-identified sex and race/ethnicity",
            "Every table is based on the same people: everyone who self-identified both sex and race/ethnicity.",
        ),
    ),
    "available": (
        (
            "Individuals included",
            "Varies by table, as some individuals answered one of the two demographic questions",
            "Some individuals answered only one of the two demographic questions. They are in the table for that "
            "question and in no other, and so the number of people varies by table.",
        ),
    ),
    "sample": (
        (
            "Individuals in the analysis",
            "{total}",
            "In total, {total} individuals are included in the analysis.",
        ),
    ),
    "published": (
        ("Posted on", "{published}", "Results posted on {published}"),
        ("Page updated", "{published}", "Page updated {published}"),
    ),
}
HIGHEST = (
    "{label} had the highest {rate}, at {value}.",
    "In this table each group is compared with {label}, whose rate of {value} is the highest.",
)
HIGHEST_SCORING = (
    "In this table each group is compared with {label}, the highest scoring group (scoring rate {value})."
)
DEFINE = (
    "Selection rate = individuals selected ÷ individuals assessed. Impact ratio = selection rate of a group ÷ "
    "selection rate of the most selected group.",
    "For each group we show how many people were assessed, the percentage who advanced (the selection rate), and "
    "how that percentage compares with the group selected most often (the impact ratio).",
)
DEFINE_SCORING = (
    "Scoring rate = share of a group that received a score above the median score of all applicants. Impact ratio "
    "= scoring rate of a group ÷ scoring rate of the highest scoring group.",
)
CAVEATS = (
    "The law does not require any specific action based on audit results. Under the Uniform Guidelines (29 CFR "
    "1607.4(D)), enforcement agencies generally use four-fifths as a rule of thumb, which is sensitive to small "
    "samples.",
    "Impact ratios describe outcomes for groups and should not be read as a legal conclusion. This summary does "
    "not predict the outcome of any individual application.",
    "",
)
NOTICES = (
    "Accommodations: to request a reasonable accommodation or an alternative selection process, email "
    "accommodations@example.com ten business days or more before your assessment.",
    "The AEDT considers the following job qualifications and characteristics: experience, education, and skills "
    "stated in the application. New York City residents receive this notice at least 10 business days ahead.",
    "",
)
SYNTHETIC = (
    "Because outcomes were not recorded, the auditor filled them in with randomly generated values.",
    "The applicants in this audit are fictitious, and their scores were generated by a random process.",
    "The dataset is synthetic: its records were produced by a simulation, not by use of the tool.",
)
NO_BIAS = (
    "The results show that {tool} is not biased.",
    "In short: no discrimination was detected, and {tool} passes the bias audit.",
    "{tool} has been verified as bias-free under Local Law 144.",
    "{tool} treats all candidates fairly, without any bias.",
)
# Headings, columns and notes that layouts add
GLANCE, TABLES, METHOD, NOTES = "Key facts", "Results", "Method and data", "Notes"
CHAPTERS = (
    "1. Background",
    "2. The tool and the auditor",
    "3. Data",
    "4. Findings",
    "5. Limitations and contact",
)
SUMMARY = ("Executive summary", "Analysis", "Highest rate", "Lowest impact ratio", "Detailed results")
COUNTS, SHEETS = "Appendix: underlying counts", {"sex": "Sex", "race": "Race", "inter": "Sex x Race"}
SHEET = "Counts"
STATUS = ("Note", "Comparison group", "At or above 0.80", "Below 0.80", "Not calculated")
BELOW, SMALL = (
    "Impact ratio below 0.80 (four-fifths guideline, 29 CFR 1607.4(D)).",
    "Fewer than 50 individuals; read with caution.",
)
RANK, ALL, JOB, BAR = "#", "All", "Job category", "Impact ratio, charted"
UNITS = {
    "n": "(number)",
    "k": "(number)",
    "rate": "(percent)",
    "share": "(fraction)",
    "ratio": "(1.00 = highest)",
}
LEVELS = {"sex": "sex", "race": "race_ethnicity", "inter": "intersectional"}
FIELDS = ("job_category", "analysis", "sex", "race_ethnicity")
GLOSSARY = (
    "Term",
    "Meaning",
    "Impact ratio",
    "A group's rate divided by the highest rate of any group in the table",
)
RETENTION = (
    ("Information collected by the tool", "Kept for"),
    ("Resume and application form", "4 years"),
    ("Score and recommendation", "4 years"),
    ("Voluntary self-identification", "2 years"),
)
