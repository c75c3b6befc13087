"""The sections of a spec that say when and of whom: schedule, source, demographics, groups and sample."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from audit_lib.registry import did_you_mean
from audit_lib.spec.imputed import ImputedGroups
from audit_lib.spec.section import Name, Provenance, SpecSection, no_repeats
from audit_lib.spec.text import check_cron, check_time_format
from audit_lib.spec.true_outcome import Outcome


class Arrival(SpecSection):
    """The audit of a window begins when its data are there, and not at the tick."""

    prefix: str = Field(
        description="Folder (relative to the spec) or s3:// prefix: something must have been written there after the "
        "window's end."
    )
    quiet_minutes: Annotated[float, Field(ge=0, le=1440)] = Field(
        10, description="Nothing more was written there for so long: an export of several files is complete."
    )
    poll_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        60, description="How often the triggerer looks."
    )


class Schedule(SpecSection):
    """When the audit runs. Each run audits the interval between two ticks of the schedule."""

    cron: str = Field("0 6 * * 1", description="Five-field cron expression of the runs.")
    timezone: str = Field("UTC", description="IANA time zone of the cron expression.")
    start: datetime | None = Field(
        None,
        description="Windows are owed from this instant on (ISO 8601), and none before it by schedule. null: "
        "from the first one that is audited on this schedule.",
    )
    catchup: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = Field(
        None,
        description="How many windows before the latest are audited later if nobody audited them in time: the "
        "scheduler was down, or a run took long. Older ones are named as missed. null: 30, or 0 where "
        "source.windowed is false and every window reads the same prompts.",
    )

    arrival: Arrival | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="Wait for the data of a window; null: the audit begins at the tick of the schedule.",
    )

    @field_validator("cron")
    @classmethod
    def _cron(cls, value: str) -> str:
        return check_cron(value)

    @field_validator("timezone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"{value!r} is not an IANA time zone such as America/New_York") from None
        return value

    @field_validator("start")
    @classmethod
    def _aware(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("needs a UTC offset, such as 2026-01-05T00:00:00+00:00")
        return value


class Constant(SpecSection):
    """One value for all rows."""

    value: str = Field(description="As the column of a file would hold it.")


class Once(SpecSection):
    """Each prompt is audited once over all windows: a whole round or application, where these compete.

    What a complete run of another window has read is left out and counted, also where it comes again with another time.
    """

    late_days: Annotated[int, Field(ge=0, le=3660, strict=True)] = Field(
        0,
        description="Prompts up to so many days older than the window are audited with it, if their own window is "
        "audited and did not read them: they came late.",
    )


class Source(SpecSection):
    """Where the prompts, or the recorded decisions, are read from."""

    kind: Name = Field(
        "files",
        description="Who reads: `files` (one row a candidate), `ranking_log`, `openai_batch`, `otel_genai`, `sql` "
        "(the rows of a query), or a source of an installed package.",
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        exclude_if=lambda given: not given,
        description="The source's own options, such as a query.",
    )
    paths: list[str] = Field(
        default_factory=list,
        description="The files of a source that reads files: JSONL (also .gz), Parquet or CSV, by local path (relative "
        "to the spec) or s3:// URI.",
    )
    columns: dict[str, str | Constant] = Field(
        default_factory=dict,
        description="Our column name -> the file's, where they differ, such as {occurred_at: created}; or the value of "
        "all rows, where the file has no such column: {position: {value: nurse}}.",
    )
    batch_inputs: list[str] = Field(
        default_factory=list,
        description="`openai_batch`: input files of the batches, joined by custom_id; paths that begin with body, "
        "method or url are theirs.",
    )
    fields: list[str] = Field(
        default_factory=list, description="Further columns that the prompt template uses."
    )
    time_format: str = Field(
        "iso8601",
        description="How occurred_at is written: `iso8601`, `unix_s` (seconds since 1970), or as Python's strptime "
        "reads it, such as `%m/%d/%Y` for 03/04/2026 as 4 March. Without an offset it is UTC.",
    )
    selected_values: list[str] = Field(
        default_factory=list,
        description="Words of recorded_selected that mean selected, such as [Advance, Hired]; case makes no "
        "difference. Empty: true and false, yes and no, 1 and 0.",
    )
    rejected_values: list[str] = Field(
        default_factory=list,
        description="Words that mean not selected. A word in neither list is refused; an empty cell is no decision.",
    )
    outcome: Outcome | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="How the column `outcome` is read; null: 1 means qualified, 0 not, and any other number nothing.",
    )
    windowed: bool = Field(
        True,
        description="Keep only rows whose occurred_at is in the run's window; false for a fixed set of prompts.",
    )
    once: Once | None = Field(
        None,
        exclude_if=lambda given: given is None,
        description="Audit each prompt once over all windows, late ones too; null: whatever is in the window, as it is "
        "when the audit runs.",
    )
    reason: str = Field(
        "", description="Why these data, and why any limit of time or region (printed in the report)."
    )

    @property
    def named(self) -> dict[str, str]:
        """Our column -> the file's."""
        return {ours: theirs for ours, theirs in self.columns.items() if isinstance(theirs, str)}

    @property
    def constants(self) -> dict[str, str]:
        """Our column -> the value of all rows."""
        return {ours: one.value for ours, one in self.columns.items() if isinstance(one, Constant)}

    @field_validator("time_format")
    @classmethod
    def _format(cls, value: str) -> str:
        return check_time_format(value)

    @model_validator(mode="after")
    def _windows(self) -> Source:
        if self.once is not None and not self.windowed:
            raise ValueError("once needs windowed: true; without windows every run reads the same prompts")
        return self

    @model_validator(mode="after")
    def _words(self) -> Source:
        if self.rejected_values and not self.selected_values:
            raise ValueError("rejected_values is given without selected_values: nobody could be selected")
        words = [" ".join(word.split()).casefold() for word in (*self.selected_values, *self.rejected_values)]
        if "" in words:
            raise ValueError(
                "selected_values and rejected_values hold no empty word: an empty cell is no decision"
            )
        if repeated := next((word for place, word in enumerate(words) if word in words[:place]), None):
            raise ValueError(f"{repeated!r} is listed twice in selected_values and rejected_values")
        return self


class Demographics(SpecSection):
    """Real applicants' demographics, in a file of their own, joined by applicant id."""

    path: str = Field(description="CSV, JSONL or Parquet, relative to the spec, or s3://.")
    id_column: str = Field(description="The file's column that equals the prompts' application_id.")
    columns: dict[str, str] = Field(
        description="Attribute -> the file's column, such as {race: race_ethnicity}."
    )
    values: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Attribute -> (file's value -> level of groups.attributes). Values not listed are kept as they "
        "are; a value that is no level is counted as unknown.",
    )


class Groups(SpecSection):
    """The groups compared. They are intersections of the attributes' levels."""

    attributes: dict[Name, list[str]] = Field(
        min_length=1, description="Attribute -> its levels, such as {sex: [female, male]}."
    )
    reference: dict[Name, str] = Field(
        description="The level of each attribute that others are compared with."
    )
    provenance: Provenance = Field(
        description="How the demographics are known. LL144 bias audits accept only self_reported; `assigned` makes an "
        "experiment."
    )
    unknown_values: list[str] | None = Field(
        None,
        description="Values of the data that say a category is not known, such as [Prefer not to say]. Where given, "
        "any other value that is no level is refused; null: it counts as unknown.",
    )
    categories: dict[Name, dict[str, str]] = Field(
        default_factory=dict,
        description="Attribute -> (level -> the policy's category), such as {race: {Black: Black or African "
        "American}}.",
    )

    also: list[list[Name]] = Field(
        default_factory=list,
        exclude_if=lambda given: not given,
        description="Further intersections that are compared, next to single attributes and to all of them together, "
        "such as [[sex, race], [sex, age]] of three attributes.",
    )
    masks: list[str] = Field(
        default_factory=list,
        exclude_if=lambda given: not given,
        description="auc_gap: columns of source.fields that say yes or no of each person, such as [first_generation]. "
        "Each makes two subgroups; who has no value is in neither.",
    )
    imputed: dict[Name, ImputedGroups] = Field(
        default_factory=dict,
        exclude_if=lambda given: not given,
        description="Attribute -> how its levels are imputed (provenance inferred): for bounds of rates by the metrics "
        "imputed_rate_gap and imputed_impact_ratio.",
    )
    pairs: Literal["reference", "all"] = Field(
        "reference",
        exclude_if=lambda given: given == "reference",
        description="Texts and lists: whose answers to one prompt are compared as counterfactual pairs: each group's "
        "with the reference's, or those of every two groups.",
    )

    @model_validator(mode="after")
    def _check(self) -> Groups:
        self._check_further()
        for attribute, levels in self.attributes.items():
            if len(levels) < 2 or len(set(levels)) != len(levels):
                raise ValueError(f"attribute {attribute!r} needs two or more different levels, has {levels}")
            if attribute not in self.reference:
                raise ValueError(f"attribute {attribute!r} has no reference; add it to groups.reference")
            level = self.reference[attribute]
            if level not in levels:
                raise ValueError(
                    f"the reference {level!r} is not a level of {attribute!r}{did_you_mean(level, levels)}"
                )
        for attribute in (*self.reference, *self.categories, *self.imputed):
            if attribute not in self.attributes:
                raise ValueError(
                    f"{attribute!r} is not an attribute{did_you_mean(attribute, list(self.attributes))}"
                )
        for attribute, imputed in self.imputed.items():
            imputed.check(attribute, self.attributes[attribute])
        if self.imputed and self.provenance != "inferred":
            raise ValueError(
                f"imputed: levels that are imputed have provenance inferred, not {self.provenance}"
            )
        for attribute, mapping in self.categories.items():
            for level in mapping:
                if level not in self.attributes[attribute]:
                    raise ValueError(
                        f"{level!r} is not a level of {attribute!r}{did_you_mean(level, self.attributes[attribute])}"
                    )
        return self

    def _check_further(self) -> None:
        for number, axes in enumerate(self.also):
            for axis in axes:
                if axis not in self.attributes:
                    raise ValueError(
                        f"also: {axis!r} is not an attribute{did_you_mean(axis, list(self.attributes))}"
                    )
            no_repeats(axes)
            if not 1 < len(axes) < len(self.attributes):
                raise ValueError(
                    f"also: [{', '.join(axes)}] is compared already; name two attributes or more, and not all of them"
                )
            if sorted(axes) in [sorted(earlier) for earlier in self.also[:number]]:
                raise ValueError(f"also: [{', '.join(axes)}] is listed twice")
        no_repeats(self.masks)
        if taken := [mask for mask in self.masks if mask in self.attributes]:
            raise ValueError(f"masks: {taken[0]!r} is an attribute, whose levels are compared already")

    @property
    def axes(self) -> tuple[str, ...]:
        """Attribute names in the spec's order."""
        return tuple(self.attributes)

    @property
    def axes_of_probabilities(self) -> tuple[str, ...]:
        """Attributes of which each person has probabilities alone, and no level."""
        return tuple(axis for axis, imputed in self.imputed.items() if imputed.probabilities)

    def cells(self) -> list[dict[str, str]]:
        """Return the intersectional groups, in the order of the spec's levels."""
        return self._crossed(self.axes)

    def _crossed(self, axes: Sequence[str]) -> list[dict[str, str]]:
        cells: list[dict[str, str]] = [{}]
        for attribute in axes:
            cells = [{**cell, attribute: level} for cell in cells for level in self.attributes[attribute]]
        return cells

    def comparisons(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Return (group, reference) pairs: each attribute alone, those of `also`, then the intersectional groups."""
        pairs = [
            ({axis: level}, {axis: self.reference[axis]})
            for axis, levels in self.attributes.items()
            for level in levels
            if level != self.reference[axis]
        ]
        for axes in (*self.also, *((self.axes,) if len(self.axes) > 1 else ())):
            reference = {axis: self.reference[axis] for axis in axes}
            pairs += [(cell, reference) for cell in self._crossed(axes) if cell != reference]
        return pairs

    def counterfactuals(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Return the comparisons, and with `pairs` all those of every two other groups of the same attributes."""
        found = self.comparisons()
        if self.pairs == "all":
            families = [
                *((axis,) for axis in self.axes),
                *self.also,
                *([self.axes] if len(self.axes) > 1 else []),
            ]
            for axes in families:
                reference = {axis: self.reference[axis] for axis in axes}
                others = [cell for cell in self._crossed(axes) if cell != reference]
                found += combinations(others, 2)
        return found

    def mask_sides(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Return (group, reference) pairs of `masks`: who it says yes of, and who it says no of."""
        return [({mask: "yes"}, {mask: "no"}) for mask in self.masks]


class Sample(SpecSection):
    """How many prompts are drawn from the window."""

    size: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Prompts drawn, or whole rounds where candidates compete; null: all."
    )
    strata: list[str] = Field(
        default_factory=lambda: ["position"],
        description="Columns whose shares the draw keeps (proportional allocation): position, recorded_model, "
        "qualified, an attribute, or any of source.fields.",
    )

    @field_validator("strata")
    @classmethod
    def _once(cls, value: list[str]) -> list[str]:
        no_repeats(value)
        return value
