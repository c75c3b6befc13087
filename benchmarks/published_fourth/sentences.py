"""The author's sentences, each in several wordings; a layout says which it takes (``wording``)."""

from __future__ import annotations

from benchmarks.published_fourth.audit import Audit, Group

LAWFUL = (
    "Local Law 144 does not set a pass mark, and this summary should not be read as a certification of the tool.",
    "A ratio under 0.80 is sometimes used as a rule of thumb under federal guidance; it is not a legal conclusion.",
    "Differences in rates can have many causes; the audit does not determine whether discrimination occurred.",
    None,
    None,
    None,
)


def joined(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def said(*sentences: str | None) -> list[str]:
    """Those that are said."""
    return [sentence for sentence in sentences if sentence]


def source(audit: Audit, group: Group, wording: int) -> str:
    """Source and explanation of the data."""
    if audit.source == "synthetic":
        return str(audit.synthetic)
    found = {"test": test_data, "pooled": pooled_data, "own": own_data}[audit.source](audit, group)
    return found[wording % len(found)]


def test_data(audit: Audit, group: Group) -> list[str]:
    start, end = audit.date(group.start), audit.date(group.end)
    return [
        f"Historical data was not used because {audit.employer} had not yet used {audit.tool} and too few assessments "
        "existed elsewhere for a statistically significant audit. The audit therefore relied on test data: volunteers "
        f"recruited by {audit.auditor} through a research panel completed the same assessment as real applicants, "
        "reported their own sex and race/ethnicity, and were processed by the production version of "
        f"{audit.tool} between {start} and {end}.",
        f"Test data was used. {audit.employer} is introducing {audit.tool} for the first time and there was "
        "insufficient historical data to conduct a statistically significant bias audit. To generate the test data, "
        f"{audit.auditor} submitted résumés contributed by paid survey participants, with self-reported demographics, "
        f"to the live scoring service of {audit.vendor} from {start} to {end}.",
    ]


def pooled_data(audit: Audit, group: Group) -> list[str]:
    start, end = audit.date(group.start), audit.date(group.end)
    own = (
        f"{audit.employer} had never used the tool before this audit"
        if audit.first_use
        else f"{audit.employer} contributed its own historical data to the auditor"
    )
    return [
        f"The data used in the audit is historical data supplied by {audit.vendor} from several employers that used "
        f"{audit.tool} to fill similar positions ({audit.positions}) from {start} through {end}; {own}. Sex and "
        "race/ethnicity were reported by the applicants themselves.",
        f"Source of data: pooled historical applicant records of multiple {audit.vendor} customers, {start} – {end}, "
        f"for {audit.positions}. {own}. Demographics come from voluntary self-identification forms. Older records "
        "were left out because an earlier model version produced them.",
        f"{audit.auditor} worked from records of real applicants gathered across {audit.vendor}'s customer base "
        f"between {start} and {end}. {own}. No demographic information was inferred or imputed; only voluntary "
        "self-disclosures were used.",
    ]


def own_data(audit: Audit, group: Group) -> list[str]:
    start, end = audit.date(group.start), audit.date(group.end)
    return [
        f"The audit used historical data: applications that {audit.employer} received for {audit.positions} between "
        f"{start} and {end} and that were assessed with {audit.tool}. Demographic data was self-reported by "
        "applicants on the voluntary EEO form.",
        f"Source of data: {audit.employer}'s applicant tracking system, all requisitions for {audit.positions} opened "
        f"from {start} to {end}. Candidates volunteered their sex and race/ethnicity when applying; nothing was "
        "inferred.",
        f"{audit.employer} gave {audit.auditor} an extract of its recruiting records covering {start} through {end}. "
        f"Every New York applicant for {audit.positions} who was evaluated by {audit.tool} in that window is "
        "included. Sex and race/ethnicity are as self-identified at application.",
        f"Data: historical, from our own use of {audit.tool} ({audit.positions}; {start} to {end}). The window starts "
        "when the current version of the tool was released. We rely on what applicants told us about themselves in "
        "the optional demographic survey.",
    ]


def unknown(audit: Audit, group: Group, wording: int) -> str | None:
    """How many people of an unknown category were assessed."""
    if not audit.unknown_shown:
        return None
    either = audit.count(group.unknown_either)
    if audit.unknown_by_axis:
        sex, race = audit.count(group.unknown_sex), audit.count(group.unknown_race)
        found = [
            f"{audit.tool} also assessed people whose categories are unknown: sex was not reported by {sex}, "
            f"race/ethnicity by {race}, and at least one of the two by {either}. They are left out of the respective "
            "tables.",
            f"Individuals with unknown data: {sex} (sex), {race} (race/ethnicity), {either} (sex or race/ethnicity, "
            "excluded from the intersectional analysis).",
            f"Not everybody answers. {sex} applicants did not state their sex and {race} did not state their race or "
            f"ethnicity; {either} lacked one or both and therefore could not be placed in an intersectional category.",
        ]
    else:
        found = [
            f"Note: The AEDT was also used to assess {either} individuals with an unknown sex or race/ethnicity "
            "category. Data on those individuals was not included in the calculations above.",
            f"A further {either} candidates did not disclose their sex and/or race/ethnicity. They were assessed by "
            f"{audit.tool} but are not part of these calculations.",
            f"Unknown: {either} people assessed fell within an unknown category and were excluded.",
            f"{either} applicants chose not to self-identify (sex, race/ethnicity or both) and are not reflected in "
            "the tables.",
            f"In addition, {audit.tool} assessed {either} persons for whom sex or race/ethnicity is not known; the "
            "figures do not include them.",
        ]
    return found[wording % len(found)]


def excluded(audit: Audit, group: Group, wording: int) -> str | None:
    """Why categories under 2% have no ratio; where no table shows them, which they are."""
    left_out = [row for row in group.rows() if row.excluded]
    if not left_out:
        return None
    shown = "" if audit.fold else " Applicant numbers and rates are still shown."
    why = [
        f"Category represents less than 2% of the data used for the audit. {audit.auditor} left it out of the impact "
        "ratio calculation because ratios based on so few people are not statistically reliable.",
        "Not calculated: under 2% of the audited records. In the auditor's judgment the small number of applicants "
        "would make an impact ratio misleading.",
        "As permitted by 6 RCNY § 5-301(d), the auditor excluded categories under 2% of the data from impact ratios, "
        f"since one or two decisions more or less would change the result substantially.{shown}",
    ][wording % 3]
    if not audit.fold:
        return f"* {why}"
    rate = "scoring rate" if audit.scoring else "selection rate"
    listed = "; ".join(
        f"{audit.label(row)}: {row.shown['applied']} applicants, {rate} {row.shown['rate']}"
        for row in left_out
    )
    return f"{why} The categories excluded are – {listed}."


def nobody(audit: Audit, group: Group, wording: int) -> str | None:
    """Why a category without applicants has no rate."""
    if all(row.applied for row in group.rows()):
        return None
    return [
        f"Where no applicant fell in a category, no rate or ratio exists and {audit.none_word} is shown.",
        f"{audit.none_word} means that there were no applicants in this category.",
        "A category nobody belonged to has no rate.",
    ][wording % 3]


def hispanic(audit: Audit, wording: int) -> str | None:
    """The other races are of people who are not Hispanic."""
    if not audit.hispanic_note:
        return None
    name = audit.races["hisp"]
    return [
        f"All race categories other than {name} are not {name}.",
        f"Race categories exclude persons who identified as {name}.",
        f"{name} applicants of any race are counted only in that category.",
    ][wording % 3]


def median(audit: Audit, group: Group, wording: int) -> str | None:
    """What a scoring rate is."""
    if not audit.scoring:
        return None
    return [
        f"The median score of the full sample was {group.median:g}. The scoring rate is the share of a category that "
        "scored above that median.",
        f"Scoring rate = proportion of individuals with a score above the sample median ({group.median:g}).",
        "Because the tool gives a score and not a yes/no result, we report how many people in each category scored "
        f"above the median of all applicants, which was {group.median:g}.",
    ][wording % 3]


def rate_name(audit: Audit) -> str:
    return "Scoring Rate" if audit.scoring else "Selection Rate"


def ratio_meaning(audit: Audit, wording: int) -> str:
    kind = "scoring" if audit.scoring else "selection"
    return [
        f"The impact ratio is the {kind} rate of a category divided by the {kind} rate of the "
        f"{'highest scoring' if audit.scoring else 'most selected'} category.",
        f"Impact ratio: {kind} rate for the group ÷ {kind} rate of the group with the highest rate.",
        "We obtain the impact ratio by dividing each category's rate by the highest rate in the same table.",
    ][wording % 3]
