"""The perturbation ``lexicon``: prompts without slots, their words of one group exchanged for another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from audit_lib.documents.design import Substitution as Exchanged
from audit_lib.documents.design import Unawareness
from audit_lib.errors import LexiconError
from audit_lib.perturb.change import Change, Survey
from audit_lib.perturb.ftu import Surroundings, ftu_report
from audit_lib.perturb.lexicon import ParsedText, SwapLexicon
from audit_lib.registry import did_you_mean

if TYPE_CHECKING:
    from audit_lib.run import Run


class SubstitutedVariants:
    """Variants by exchange of words.

    A prompt is varied over the attributes that it mentions; the others are unknown in its variants. One that
    mentions none gets no variant. Where no prompt mentions any, the spec's `perturb.no_mention` decides.
    """

    each = 1

    def __init__(
        self,
        swap: SwapLexicon,
        cells: Sequence[Mapping[str, str]],
        only: Sequence[str] | None,
        as_is: bool,
        around: Surroundings,
        level: float,
    ) -> None:
        self.swap, self.cells, self.only, self.as_is, self.around = swap, cells, only, as_is, around
        self.level = level
        self.unvaried = False

    @classmethod
    def from_run(cls, run: Run) -> SubstitutedVariants:
        """Read the lexicons that the plan archived."""
        settings = run.spec.perturb
        if settings is None:
            raise LexiconError("the spec has no perturb section, so there is no lexicon to read")
        swap = read_terms(run)
        return cls(
            swap,
            run.spec.groups.cells(),
            settings.fields,
            settings.no_mention == "as_is",
            Surroundings.of(run, swap),
            run.spec.measure.level,
        )

    def survey(self, prompts: Iterable[Mapping[str, str]]) -> Survey:
        """Return the FTU check, how many prompts are varied, and which mentions are doubtful or were left alone."""
        varied: list[tuple[str, ...]] = []
        outside: list[set[str]] = []
        mentions = doubtful = left = 0
        for fields in prompts:
            parsed = self._parsed(fields)
            varied.append(self._mentioned(parsed.values()))
            outside.append(self._outside(fields, parsed))
            for text in parsed.values():
                mentions, doubtful, left = mentions + text.count, doubtful + text.doubtful, left + text.left
        read = [{*one, *other} for one, other in zip(varied, outside, strict=True)]
        ftu = ftu_report(read, self.swap.attributes, self.level, outside)
        self.unvaried = not any(varied)
        if self.unvaried and not self.as_is:
            raise LexiconError(_refusal(ftu))
        exchanged = Exchanged(
            prompts_varied=sum(map(bool, varied)),
            prompts_without_mention=sum(not one for one in varied),
            prompts_with_words_that_stay=sum(
                not other.isdisjoint(one) for one, other in zip(varied, outside, strict=True)
            ),
            mentions=mentions,
            doubtful_mentions=doubtful,
            mentions_left_alone=left,
        )
        return Survey(ftu=ftu, substitution=exchanged)

    def changes(self, index: int, fields: Mapping[str, str], groups: Sequence[int]) -> Iterator[Change]:
        """Yield the variants of a prompt: one for each level that its own attributes take in these groups."""
        del index
        if self.unvaried:
            yield Change(cell={}, replicate=0, values={}, fields=fields, candidate=fields.get("name"))
            return
        parsed = self._parsed(fields)
        mentioned = self._mentioned(parsed.values())
        if not mentioned:
            return
        done: set[tuple[str, ...]] = set()
        for number in groups:
            cell = {axis: level for axis, level in self.cells[number].items() if axis in mentioned}
            if (levels := tuple(cell.values())) in done:
                continue
            done.add(levels)
            yield Change(
                cell=cell,
                replicate=0,
                values=cell,
                fields={**fields, **{name: text.render(cell) for name, text in parsed.items()}},
                candidate=fields.get("name"),
            )

    def _parsed(self, fields: Mapping[str, str]) -> dict[str, ParsedText]:
        names = fields if self.only is None else self.only
        for name in names:
            if name not in fields:
                raise LexiconError(
                    f"perturb.fields: {name!r} is no field{did_you_mean(name, sorted(fields))}"
                )
        return {name: self.swap.parse(fields[name]) for name in names if self.around.shows(name)}

    def _outside(self, fields: Mapping[str, str], exchanged: Mapping[str, ParsedText]) -> set[str]:
        """Return what the rest of a prompt mentions, which is the same in all variants."""
        rest = [text for name, text in fields.items() if name not in exchanged and self.around.shows(name)]
        return {*self.around.mentions, *(a for text in rest for a in self.swap.parse(text).attributes)}

    def _mentioned(self, parsed: Iterable[ParsedText]) -> tuple[str, ...]:
        found = {attribute for text in parsed for attribute in text.attributes}
        return tuple(attribute for attribute in self.swap.attributes if attribute in found)


def read_terms(run: Run) -> SwapLexicon:
    """Read the lexicons of `perturb.terms`, as the plan archived them."""
    settings = run.spec.perturb
    terms = {} if settings is None else settings.terms
    files = {attribute: run.design_file(f"perturb.terms.{attribute}") for attribute in terms}
    return SwapLexicon.read(files, run.spec.groups.attributes)


def _refusal(ftu: Unawareness) -> str:
    way_out = "Leave out the perturb section, or set perturb.no_mention: as_is"
    stays = [f"{one.attribute} ({one.mentioning})" for one in ftu.outside or () if one.mentioning]
    if stays:
        return (
            f"none of {ftu.prompts} prompts mentions a word of perturb.terms in a field that is exchanged; what "
            f"mentions {', '.join(stays)} is the template or another field, and is the same in all variants. Put these "
            f"words into a field of perturb.fields. {way_out}"
        )
    return (
        f"none of {ftu.prompts} prompts mentions a word of perturb.terms: the model sees no group (fairness through "
        f"unawareness), so counterfactual metrics do not apply. {way_out}"
    )


def terms_outside_slots(run: Run, prompts: Iterable[Mapping[str, str]]) -> Unawareness:
    """Return the FTU check of texts with slots, and of the template: words of a group that no persona changes."""
    swap = read_terms(run)
    around = Surroundings.of(run, swap)
    found = [
        {*around.mentions}.union(
            *(swap.parse(text).attributes for name, text in fields.items() if around.shows(name))
        )
        for fields in prompts
    ]
    return ftu_report(found, swap.attributes, run.spec.measure.level)
