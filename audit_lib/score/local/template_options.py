"""What a spec may say of how a model's chat template writes conversations."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import Field

from audit_lib.options import Options


class ChatTemplateOptions(Options):
    """Options of the backends that write conversations themselves, as a model's chat template does."""

    thinking: Literal["none", "closed", "on"] | None = Field(
        None,
        description="Models that think before they answer: null switches it off by the chat template's own switch, and "
        "refuses labels where it has none; none: this model does not think; closed: an empty thought is written before "
        "the answer; on: it thinks, and texts only can be asked for.",
    )
    chat_template_kwargs: dict[str, bool | int | float | str] = Field(
        default_factory=dict,
        description="Given to the chat template as they are, such as enable_thinking: false.",
    )
    template_date: date | None = Field(
        None,
        description="The date that a chat template writes which asks for today's; null: 2025-01-01. Never the day of "
        "the run: the same spec asks the same.",
    )

    def written(self) -> dict[str, Any]:
        """Return what a scoring process is told of them."""
        return self.model_dump(mode="json", include=set(ChatTemplateOptions.model_fields))
