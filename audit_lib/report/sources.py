"""Which files of the run a part of the page is made from: those whose content was read while it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, Final

from audit_lib.report.blocks import Page, Section
from audit_lib.report.content import Content

_METRICS: Final = ("metrics/metrics.json",)
_SHARDS: Final = ("scores/*/scores.parquet",)
FILES: Final[dict[str, tuple[str, ...]]] = {
    "spec": ("plan/spec.json",),
    "key": ("plan/spec.json", "plan/plan.json"),
    "policy": ("policy",),
    "plan": ("plan/plan.json",),
    "sample": ("sample/sample.json",),
    "design": ("variants/design.json",),
    "validation": ("validation/validation.json",),
    "metrics": _METRICS,
    "tables": _METRICS,
    "hidden": _METRICS,
    "archived_metrics": _METRICS,
    "models": ("scores/*/model.json",),
    "prompt_digest": ("plan/inputs/prompt.template",),
    "planned_at": ("plan/_SUCCESS",),
    "scored_at": ("scores/*/_SUCCESS", "validation/_SUCCESS"),
    "measured_at": ("metrics/_SUCCESS",),
    "inputs": ("*/_SUCCESS",),
    "score_methods": _SHARDS,
    "served": ("sample/sample.json", *_SHARDS),
    "earlier": ("plan/earlier.json",),
    "signature": ("signoff/*",),
    "rejected": ("signoff/*",),
    "plan_signature": ("signatures/plan.dsse.json",),
    "journal": ("plan/journal.json",),
    "store_lock": ("store/lock.json",),
    "planned_under": ("plan/plan.json",),
}
"""Field of the content -> the files that determine it; ``policy`` is the pack that the page names."""
_MEASURED: Final = ("metrics", "tables", "hidden", "archived_metrics")
_MEASURED_ANEW: Final = ("sample/sample.json", "variants/variants.parquet", *_SHARDS)
"""Under another pack than the plan's: the scores are measured again."""
SEALED: Final = ("evidence/manifest.json",)
"""What a part that names the digest of the sealed manifest is made from, too."""
_FIELDS: Final = frozenset(one.name for one in fields(Content))


class ReadContent(Content):
    """A report's content that keeps which of its fields are read, also by its own properties."""

    __slots__ = ("fields_read",)

    fields_read: set[str]

    @classmethod
    def of(cls, content: Content) -> ReadContent:
        """Return the content with nothing read of it."""
        made = cls(**{name: getattr(content, name) for name in _FIELDS})
        object.__setattr__(made, "fields_read", set())
        return made

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute, and keep its name."""
        if name in _FIELDS:
            object.__getattribute__(self, "fields_read").add(name)
        return object.__getattribute__(self, name)

    @property
    def sources(self) -> tuple[str, ...]:
        """Files that what was read comes from, in the order of an audit."""
        files = FILES
        if object.__getattribute__(self, "planned_under") is not None:
            files = FILES | dict.fromkeys(_MEASURED, _MEASURED_ANEW)
        return tuple(
            dict.fromkeys(file for name in FILES if name in self.fields_read for file in files[name])
        )


Maker = Callable[[Content], Section | Iterable[Section] | None]
"""Makes a part of a page from what it is about, some parts, or none of it."""


def sections_of(content: Content, *makers: Maker) -> tuple[Section, ...]:
    """Return the parts of a page in order, each with the files that it was made from."""
    return tuple(one for make in makers for one in _with_sources(content, make))


def _with_sources(content: Content, make: Maker) -> Iterable[Section]:
    read = ReadContent.of(content)
    made = make(read)
    for one in (made,) if isinstance(made, Section) else tuple(made or ()):
        yield replace(one, sources=tuple(dict.fromkeys((*read.sources, *one.sources))))


def with_head(content: Content, make: Callable[[Content], Page]) -> Page:
    """Return a page with the files that what is around its parts was made from."""
    read = ReadContent.of(content)
    page = make(read)
    return replace(page, sources=read.sources)
