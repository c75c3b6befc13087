"""The section ``use``: facts about the tool's use that gates and duties of law ask for.

Nothing here changes a number. What is left out is printed as not stated; a gate that needs it says so.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, field_validator

from audit_lib.spec.section import SpecSection


def _day(value: str | None) -> str | None:
    try:
        if value is not None:
            date.fromisoformat(value)
    except ValueError:
        raise ValueError("is not an ISO 8601 date such as 2026-01-31") from None
    return value


class Substitute(SpecSection):
    """Why test data stand in for historical ones, and how they were made."""

    why: str = Field("", description="Why historical data were not used.")
    how: str = Field("", description="How the test data were generated and obtained.")
    invoked: str = Field(
        "", description="How the tool was called on them, where its answers were recorded elsewhere."
    )


class Notice(SpecSection):
    """The notice of use that people got."""

    given: str = Field(description="Day from which the notice was given (ISO 8601).")
    used_from: str | None = Field(None, description="Day of the first use after it (ISO 8601).")
    where: str = Field("", description="Website, job posting, mail, policy.")
    alternative: str = Field("", description="What it says on another process or an accommodation.")

    @field_validator("given", "used_from")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _day(value)


class Website(SpecSection):
    """What the employer's website says."""

    summary: str = Field("", description="Address of the posted summary, or of the page that links to it.")
    retention_policy: str = Field("", description="Address of the policy on keeping the tool's data.")
    requests: str = Field("", description="Address of how to make a written request.")
    seen: str | None = Field(
        None,
        description="File that `audit look` wrote: when the pages at these addresses were fetched, and their SHA-256.",
    )


class Use(SpecSection):
    """Facts of the tool's use by the employer who relies on this audit."""

    later = frozenset({"assesses", "contact"})
    employer: str = Field("", description="Who relies on the audit.")
    vendor: str = Field(
        "", description="Who made the tool. Neither they nor the employer sign as its independent auditor."
    )
    data: Literal["historical", "pooled", "test"] | None = Field(
        None,
        description="Own historical data; those of several employers; or test data. Null: not stated.",
    )
    months: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="Months for which the employer has used the tool, one that has begun counted; 0: never yet.",
    )
    own_data_sufficient: bool | None = Field(
        None, description="Whether the auditor finds its own historical data enough for a significant audit."
    )
    own_data_contributed: bool | None = Field(
        None, description="Whether the employer gave its own historical data to the auditor."
    )
    last_used: str | None = Field(None, description="Day of the latest use (ISO 8601), if it ended.")
    earlier_audits: list[str] = Field(
        default_factory=list, description="Days of the tool's bias audits before this one (ISO 8601)."
    )
    unaudited_use: str = Field(
        "",
        description="Why the tool was used on a stated day that no bias audit covers; printed, the duty not met.",
    )
    posted_until: str | None = Field(None, description="Day until which the summary stays posted (ISO 8601).")
    test_data: Substitute | None = Field(None, description="Needed where data is `test`.")
    exclusions: dict[str, str] = Field(
        default_factory=dict,
        description="Category as it prints -> the auditor's justification for leaving it out of the impact ratio.",
    )
    human_review: str = Field("", description="How a person reviews the tool's output before a decision.")
    response: str = Field("", description="What was done about the results of the audit before this one.")
    development_data: str = Field(
        "",
        description="Where the data are kept that were used to develop or customise the tool for the employer, or that "
        "there are none.",
    )
    assesses: str | None = Field(
        None,
        description="Qualifications and characteristics that the tool assesses, for the applicant's page.",
    )
    contact: str | None = Field(
        None,
        description="Whom somebody asks about the tool: a name, an address, a telephone number; no sentence, since it "
        "prints the same in every language.",
    )
    notice: Notice | None = Field(None, description="The notice of use, where it was given.")
    website: Website | None = Field(None, description="Where the employer's website says what it must.")

    @field_validator("last_used", "posted_until")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return _day(value)

    @field_validator("earlier_audits")
    @classmethod
    def _each_iso(cls, value: list[str]) -> list[str]:
        for day in value:
            _day(day)
        return value


class Framework(SpecSection):
    """Answers from which `audit recommend` says which metrics apply; null: not answered yet."""

    task: Literal["generation", "classification", "recommendation"] | None = Field(
        None, description="What the model's output is; null: from the spec's task."
    )
    ftu: bool | None = Field(
        None, description="Fairness through unawareness: no prompt mentions a protected word."
    )
    person_level: bool | None = Field(None, description="Each input is about one person.")
    equal_prevalence: bool | None = Field(
        None, description="Stakeholders want equal shares of favourable predictions, whatever the outcomes."
    )
    intervention: Literal["assistive", "punitive", "neither"] | None = Field(
        None, description="What a favourable or unfavourable prediction does to a person."
    )
    content_differs: bool | None = Field(None, description="Content ought to differ by group.")
    invariance: bool | None = Field(None, description="Lists should be the same whatever the group.")
    human_review: bool | None = Field(None, description="A person reviews every output.")
