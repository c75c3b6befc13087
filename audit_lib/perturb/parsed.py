"""A template that is parsed once and rendered many times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from audit_lib.perturb.derived import OPEN, key_of, slot_value
from audit_lib.perturb.template import escape, parts


class Values(dict[str, str]):
    """The values of one persona; what is derived from them is worked out once, for all templates."""

    def __missing__(self, slot: str) -> str:
        """Work out what a slot takes."""
        self[slot] = value = slot_value(slot, self)
        return value


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """The texts of a template around its slots, and the slots as written.

    Examples
    --------
    >>> letter = ParsedTemplate.of("{{Pronoun.subject}} is {{name}}.")
    >>> letter.render(Values({"name": "Ana Ruiz", "pronoun.subject": "she"}))
    'She is Ana Ruiz.'
    """

    pieces: tuple[str, ...]
    slots: tuple[str, ...]

    @classmethod
    def of(cls, template: str) -> ParsedTemplate:
        """Parse a template."""
        around, slots = parts(template)
        pieces = [""] * (2 * len(slots) + 1)
        pieces[0::2] = around
        return cls(tuple(pieces), tuple(slots))

    def partly(self, values: Mapping[str, str]) -> str:
        """Return a template in which the slots that have a value of their own are filled, and the others left.

        Examples
        --------
        >>> ParsedTemplate.of("{{name}}, {{Degree}}").partly({"degree": "a {{B.A.}}"})
        '{{name}}, A {{open_braces}}B.A.}}'
        """
        pieces = list(self.pieces)
        for number, slot in enumerate(self.slots):
            open_ = slot == OPEN or key_of(slot) not in values
            pieces[2 * number + 1] = f"{{{{{slot}}}}}" if open_ else escape(slot_value(slot, values))
        return "".join(pieces)

    def render(self, values: Mapping[str, str]) -> str:
        """Fill the slots; the same text as ``template.fill``. Give `Values` to fill many.

        Raises
        ------
        UnknownSlotError
            If a slot has no value.
        """
        known = values if isinstance(values, Values) else Values(values)
        filled = list(self.pieces)
        filled[1::2] = [known[slot] for slot in self.slots]
        return "".join(filled)
