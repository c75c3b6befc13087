"""The section ``retention``: whether the store must lock the evidence, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from audit_lib.spec.section import SpecSection


class Retention(SpecSection):
    """Whether the store must lock the evidence, and for how long. Nothing here changes a number."""

    lock: Literal["required", "buckets", "none"] = Field(
        "buckets",
        description="`buckets`: a bucket must lock what is put into it (S3 Object Lock, COMPLIANCE); a folder cannot, "
        "and the page says so. `required`: a folder is refused too. `none`: nothing is locked, which the page says.",
    )
    days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(
        None,
        description="Days for which each object is locked at least; null: as the policy's longest period of retention.",
    )
