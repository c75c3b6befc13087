"""Personas: a name, a title, pronouns and further signals of each group, put into the slots of a prompt.

Every prompt gets every group (or those that the design deals it), and `names_per_cell` names of it. All prompts of one
application show the same people: two prompts about one person that show two names would be of two people. The rows of a
lexicon take turns, position after position, so that each comes equally often, in every position too. Names come in a
seeded order, so that no group's result hangs on one name. Each signal takes its turns in an order of the applications
of its own: turns in step would give each name one row of a signal only, and their effects could not be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from audit_lib.documents.design import Names, Personas
from audit_lib.errors import LexiconError, UnknownSlotError
from audit_lib.perturb.attributes import GroupCell, Signal
from audit_lib.perturb.change import Change, Survey
from audit_lib.perturb.ftu import shown_fields
from audit_lib.perturb.names import choose_names
from audit_lib.perturb.parsed import ParsedTemplate, Values
from audit_lib.perturb.tables import check_filled, unused
from audit_lib.perturb.tables import read_lexicon as read_lexicon
from audit_lib.registry import did_you_mean
from audit_lib.seeds import generator

if TYPE_CHECKING:
    from audit_lib.run import Run
    from audit_lib.spec import AuditSpec, Perturb

_SIGNALS: Final = {"pronouns": "pronoun.{}", "titles": "{}"}
_NAMES: Final = "perturb.names"
_NAME: Final = "name"
_NAME_SLOTS: Final = (_NAME, "first_name", "last_name")
_HELD: Final = 10_000  # personas whose derived values are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One variant of one prompt: its group, which name of the group, and the slots' values."""

    cell: GroupCell
    replicate: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Slot values for every group.

    Parameters
    ----------
    cells : list of dict
        The intersectional groups, in the spec's order.
    names : list of list of mapping
        For each group its names, in seeded order; empty lists where no table of names is given.
    signals : list of Signal
        The slots that do not depend on the name.
    each : int
        Variants of each prompt in each group.
    account : Names or None
        Which names were chosen, for ``design.json``; None where all of the table are used.
    shown : frozenset of str or None
        Fields that the model reads; None for all.
    unused : dict
        Lexicon -> rows of levels that the audit does not have, counted by level.
    turns : mapping of str to sequence of int
        Lexicon -> the turn of each variant of each application in a group.
    people : sequence of int
        The number of each prompt's application.
    """

    cells: list[dict[str, str]]
    names: list[list[dict[str, str]]]
    signals: list[Signal]
    each: int
    account: Names | None = None
    shown: frozenset[str] | None = None
    unused: dict[str, dict[str, int]] = field(default_factory=dict)
    turns: Mapping[str, Sequence[int]] = field(default_factory=dict)
    people: Sequence[int] = ()
    _known: dict[tuple[str, ...], Values] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_run(cls, run: Run) -> Persona:
        """Read the lexicons that the plan archived, and deal their rows to the sample.

        Raises
        ------
        LexiconError
            As `read`.
        """
        content = run.stage("sample").parquet("prompts.parquet")
        names = ["prompt_id", "application_id", "position"]
        prompts = pq.read_table(content, columns=names).sort_by("prompt_id")
        applications = zip(
            prompts["application_id"].to_pylist(), prompts["position"].to_pylist(), strict=True
        )
        return cls.read(run.spec, run.design_file, list(applications), shown_fields(run))

    @classmethod
    def read(
        cls,
        spec: AuditSpec,
        file: Callable[[str], bytes],
        prompts: Sequence[tuple[str, str]] = (),
        shown: frozenset[str] | None = None,
    ) -> Persona:
        """Read the lexicons of a spec.

        Parameters
        ----------
        spec : AuditSpec
            The audit.
        file : callable
            Key of a design file -> its bytes.
        prompts : sequence of tuple of str
            Application and position of each prompt, in the order of their ids; without them lexicons are read and
            checked only.
        shown : frozenset of str or None
            Fields that the model reads; None for all.

        Raises
        ------
        LexiconError
            If a lexicon is empty, lacks a column, or lacks a group; if no lexicon signals an attribute, or two
            fill one slot.
        """
        groups, settings = spec.groups, spec.perturb
        if settings is None:
            raise LexiconError("the spec has no perturb section, so there is no lexicon to read")
        cells = groups.cells()
        signals = []
        for key, pattern in _SIGNALS.items():
            if (reference := getattr(settings, key)) is None:
                continue
            lexicon = f"perturb.{key}"
            signal = Signal.read(
                file(lexicon), lexicon, reference, groups.axes, spec.seed, pattern, whole=True
            )
            if not signal.axes:
                raise LexiconError(
                    f"{lexicon}: none of its columns is an attribute ({', '.join(groups.axes)})"
                )
            signals.append(signal)
        for number, reference in enumerate(settings.signals):
            key = f"perturb.signals.{number}"
            signals.append(Signal.read(file(key), key, reference, groups.axes, spec.seed))
        _check_slots(signals, spec.source.fields)
        names: list[list[dict[str, str]]] = [[] for _ in cells]
        account: Names | None = None
        unused = {signal.key: signal.unused(groups.attributes) for signal in signals}
        signalled = {axis for signal in signals for axis in signal.axes}
        if settings.names is not None:
            names, account, unused[_NAMES] = _names(spec, settings, file(_NAMES), cells, signalled)
        elif missing := [axis for axis in groups.axes if axis not in signalled]:
            raise LexiconError(
                f"perturb: no lexicon signals {missing[0]!r}; give a table of names or a signal with that column"
            )
        for signal in signals:
            signal.check(cells)
        # An application's position is that of its first prompt.
        positions: dict[str, str] = {}
        for application, position in prompts:
            positions.setdefault(application, position)
        numbers = {application: place for place, application in enumerate(positions)}
        return cls(
            cells=cells,
            names=names,
            signals=signals,
            each=settings.names_per_cell,
            account=account,
            shown=shown,
            turns=deal_turns(
                [position for position in positions.values() for _ in range(settings.names_per_cell)],
                [signal.key for signal in signals],
                spec.seed,
            ),
            people=[numbers[application] for application, _ in prompts],
            unused={key: rows for key, rows in sorted(unused.items()) if rows},
        )

    def edits(self, index: int, groups: Sequence[int] | None = None) -> Iterator[Edit]:
        """Yield the personas of the prompt with this index in the sorted sample, of all groups or of some."""
        for number in range(len(self.cells)) if groups is None else groups:
            cell, names = self.cells[number], self.names[number]
            for replicate in range(self.each):
                place = self.people[index] * self.each + replicate
                values = {
                    slot: value
                    for signal in self.signals
                    for slot, value in signal.values(cell, self.turns[signal.key][place]).items()
                }
                if names:
                    values |= names[self.turns[_NAMES][place] % len(names)]
                    values["name"] = f"{values['first_name']} {values['last_name']}"
                yield Edit(cell=cell, replicate=replicate, values=values)

    def survey(self, prompts: Iterable[Mapping[str, str]]) -> Survey:
        """Return the account of the names, and how many prompts read the same in every group."""
        alike = seen = 0
        for index, fields in enumerate(prompts):
            seen += 1
            alike += self._alike(index, fields)
        if seen and alike == seen:
            raise LexiconError(
                "perturb: no prompt has a slot such as {{name}} that tells a group, in a field that the model reads: "
                "every variant would be the same text. Put slots into the fields, or leave out the perturb section."
            )
        personas = Personas(
            prompts=seen, prompts_alike_in_all_groups=alike, lexicon_rows_not_used=self.unused or None
        )
        return Survey(names=self.account, personas=personas)

    def _alike(self, index: int, fields: Mapping[str, str]) -> bool:
        """Tell whether what the model reads of a prompt is the same text in every group."""
        texts = [text for name, text in fields.items() if self.shown is None or name in self.shown]
        used = [slot for text in texts for slot in ParsedTemplate.of(text).slots]
        # Slots of the template that the persona fills itself; its name stands in place of the applicant's own.
        used += [
            slot for slot in self.shown or () if slot not in fields or (slot == _NAME and any(self.names))
        ]
        if not used:
            return True
        first = None
        try:
            for number in range(len(self.cells)):
                values = self._derived(next(self.edits(index, (number,))).values)
                said = [values[slot] for slot in used]
                first = said if first is None else first
                if said != first:
                    return False
        except UnknownSlotError:
            return False  # refused where the variants are made, with the prompt's id
        return True

    def changes(self, index: int, fields: Mapping[str, str], groups: Sequence[int]) -> Iterator[Change]:
        """Yield the variants of a prompt: its slots filled."""
        parsed = {name: ParsedTemplate.of(text) for name, text in fields.items()}
        for edit in self.edits(index, groups):
            values, own = self._derived(edit.values), edit.values.get(_NAME)
            filled = {name: text.render(values) for name, text in parsed.items()}
            if own is not None and _NAME in filled:  # the applicant's own would stand in every version
                filled[_NAME] = own
            yield Change(
                cell=edit.cell, replicate=edit.replicate, values=edit.values, fields=filled, candidate=own
            )

    def _derived(self, values: Mapping[str, str]) -> Values:
        """Return the persona's values with what was derived from them; each persona comes with many prompts."""
        key = tuple(values.values())  # all personas have the same slots, in one order
        if (known := self._known.get(key)) is None:
            if len(self._known) >= _HELD:
                self._known.clear()
            self._known[key] = known = Values(values)
        return known


def deal_turns(positions: Sequence[str], signals: Sequence[str], seed: int) -> dict[str, list[int]]:
    """Return the turn of each variant of each application in the names and in each signal, position after position.

    Parameters
    ----------
    positions : sequence of str
        Position of each variant, in the order of applications and their variants in a group. Names come in this order.
    signals : sequence of str
        Keys of the signals; each comes in an order of its own, drawn by the seed.
    seed : int
        The audit's.

    Examples
    --------
    >>> deal_turns(["cook", "driver", "cook", "driver"], [], 7)
    {'perturb.names': [0, 2, 1, 3]}
    """
    members: dict[str, list[int]] = {}
    for index, position in enumerate(positions):
        members.setdefault(position, []).append(index)
    turns = {}
    for key in (_NAMES, *signals):
        order: list[int] = []
        for position, own in sorted(members.items()):
            places = range(len(own))
            drawn = places if key == _NAMES else generator(seed, "turns", key, position).permutation(len(own))
            order += [own[place] for place in drawn]
        turns[key] = [0] * len(order)
        for turn, index in enumerate(order):
            turns[key][index] = turn
    return turns


def _names(
    spec: AuditSpec,
    settings: Perturb,
    content: bytes,
    cells: Sequence[dict[str, str]],
    signalled: set[str],
) -> tuple[list[list[dict[str, str]]], Names | None, dict[str, int]]:
    """Return each group's names in seeded order, the account of them, and rows of other levels.

    Groups that names cannot tell apart share them.
    """
    axes = spec.groups.axes
    rows = read_lexicon(content, _NAMES, ("first_name", "last_name"), settings.names or "")
    own = [axis for axis in axes if axis in rows[0]]
    check_filled(rows, ("first_name", "last_name", *own), _NAMES)
    for axis in axes:
        if axis not in own and axis not in signalled:
            raise LexiconError(
                f"perturb.names: no column {axis!r}{did_you_mean(axis, list(rows[0]))}; nor does another lexicon "
                "signal it"
            )
    keys = [tuple(cell[axis] for axis in own) for cell in cells]
    chosen, account = choose_names(rows, own, list(dict.fromkeys(keys)), settings, spec.seed)
    rng = generator(spec.seed, "persona", "names")
    shuffled = {
        key: [
            {name: members[place][name] for name in ("first_name", "last_name")}
            for place in rng.permutation(len(members))
        ]
        for key, members in chosen.items()
    }
    rules = ("minimum_first_share", "minimum_last_share", "names_per_group")
    ruled = settings.unique_first_names != "no" or any(getattr(settings, rule) is not None for rule in rules)
    others = unused(rows, {axis: spec.groups.attributes[axis] for axis in own})
    return [shuffled[key] for key in keys], account if ruled else None, others


def _check_slots(signals: Sequence[Signal], fields: Sequence[str]) -> None:
    filled = dict.fromkeys(_NAME_SLOTS, "the table of names") | dict.fromkeys(fields, "source.fields")
    for signal in signals:
        for slot in signal.slots:
            if slot in filled:
                raise LexiconError(
                    f"{signal.key}: the slot {slot!r} is filled by {filled[slot]} too; rename a column"
                )
            filled[slot] = signal.key
