"""What one row must not hold, whatever the law: a position under two names, a category that nobody declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from unicodedata import category, normalize

from audit_lib.errors import InputError
from audit_lib.policies import policy_of
from audit_lib.policies.gates import check_known
from audit_lib.sample.labels import level_of, levels_by_label
from audit_lib.spec import AuditSpec


class RowChecks:
    """Looks at rows one by one; remembers the names of positions."""

    def __init__(self, spec: AuditSpec) -> None:
        self._policy = policy_of(spec)
        self._levels = {axis: {*levels} for axis, levels in spec.groups.attributes.items()}
        declared = spec.groups.unknown_values
        self._declared = None if declared is None else frozenset(declared)
        self._labels = levels_by_label(spec)
        self._named = {axis: _column(axis, spec.source.named.get(axis)) for axis in spec.groups.axes}
        self._seen: dict[str, tuple[str, str]] = {}
        self._spelled: set[str] = set()
        self._passed: set[tuple[str, str | None]] = set()

    def position(self, name: str, where: str) -> None:
        """Refuse a name that people read as another one: their people would stand in two tables.

        Names are compared in the compatibility form NFKC, without case and without what cannot be seen.

        Raises
        ------
        InputError
            If there is one; names both places.
        """
        if name in self._spelled:
            return
        self._spelled.add(name)
        folded = _as_read(name)
        other, first = self._seen.setdefault(folded, (name, where))
        if other != name:
            gate = self._policy.gate("positions")
            rule = "" if gate is None else f" ({self._policy.short_law}, {gate.cite}: {gate.wording})"
            raise InputError(
                f"{where}: column 'position' has {name!r}, and {first} has {other!r}: one position under two names; "
                f"write it one way{rule}"
            )

    def passed(self, positions: Iterable[str], categories: Mapping[str, Iterable[str | None]]) -> bool:
        """Tell whether all these names of positions, and values by attribute, were looked at before and let pass."""
        return self._spelled.issuperset(positions) and (
            self._declared is None
            or all((axis, one) in self._passed for axis, values in categories.items() for one in values)
        )

    def category(self, axis: str, value: str | None, where: str, mapped: Collection[str] = ()) -> None:
        """Refuse a value that is no level, not mapped to one, and not declared as unknown.

        Raises
        ------
        GateError
            If ``groups.unknown_values`` is given and does not hold it; names the row and the column.
        """
        if self._declared is None or (axis, value) in self._passed:
            return
        if value is not None and value.strip():
            levels, labels = [*self._levels[axis]], self._labels[axis]
            if value in self._declared or level_of(value, levels, labels) is None:
                check_known(
                    self._policy,
                    value,
                    self._levels[axis] | {*mapped} | self._declared,
                    f"{where}: column {self._named[axis]}",
                )
        self._passed.add((axis, value))


def _column(ours: str, theirs: str | None) -> str:
    """Name a column as the file does, with our name for it where that is another."""
    return repr(ours) if theirs in (None, ours) else f"{theirs!r} ({ours})"


def _as_read(name: str) -> str:
    """Fold what people do not see: case, spaces, and characters of control and format (Cc, Cf)."""
    seen = (char for char in normalize("NFKC", name) if char.isspace() or category(char) not in ("Cc", "Cf"))
    return " ".join("".join(seen).split()).casefold()
