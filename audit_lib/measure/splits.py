"""The strata of an audit: each set of rows is measured once, whatever it is called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from audit_lib.documents.metrics import Heterogeneity, SameStratum
from audit_lib.measure.heterogeneity import heterogeneity
from audit_lib.measure.metric import Measured
from audit_lib.measure.rows.scored import Rows

MeasuredByName = Mapping[str, Measured]


@dataclass(slots=True)
class Splits:
    """What was measured in each part of each split, in order.

    With a single position the stratum `position` is the whole audit again, and two columns may cut the rows
    alike. Measured twice, every hypothesis would count twice in the family of tests.

    Parameters
    ----------
    measured : list of mapping of str to Measured
        Every set of rows once: metric -> what it gives.
    identical : list of SameStratum
        Parts that hold the rows of an earlier one.
    """

    measured: list[MeasuredByName] = field(default_factory=list)
    identical: list[SameStratum] = field(default_factory=list)
    _splits: list[tuple[tuple[str, ...], dict[str, MeasuredByName]]] = field(default_factory=list)
    _seen: dict[str, tuple[dict[str, str], MeasuredByName]] = field(default_factory=dict)

    def begin(self, names: Sequence[str]) -> None:
        """Go on to the split by these columns."""
        self._splits.append((tuple(names), {}))

    def known(self, part: Rows) -> bool:
        """Tell whether the rows of this part were measured under another name, and note it."""
        key = _key(part)
        if key not in self._seen:
            return False
        levels, found = self._seen[key]
        self.identical.append(SameStratum(stratum=dict(part.levels), same_as=dict(levels)))
        self._splits[-1][1][key] = {name: _named(one, part.levels) for name, one in found.items()}
        return True

    def add(self, part: Rows, found: MeasuredByName) -> None:
        """Take what was measured in a part."""
        key = _key(part)
        self._seen[key] = (dict(part.levels), found)
        self._splits[-1][1][key] = found
        self.measured.append(found)

    def heterogeneity(self, metrics: Sequence[str]) -> Iterator[Heterogeneity]:
        """Compare the whole with each split of it that cuts the rows otherwise than those before.

        Without a headline of the whole there is nothing to compare.
        """
        (columns, parts), *others = self._splits
        if columns:
            return
        (whole,) = parts.values()
        done = [set(parts)]
        for names, split in others:
            if not names or set(split) in done:
                continue
            done.append(set(split))
            for name in metrics:
                yield from heterogeneity(whole[name], [part[name] for part in split.values()], names)


def _key(part: Rows) -> str:
    # Rows keep their order in every part, so equal sets of rows have equal places.
    return hashlib.sha256(np.ascontiguousarray(part.place).data).hexdigest()


def _named(found: Measured, levels: Mapping[str, str]) -> Measured:
    return replace(
        found,
        estimates=[replace(estimate, stratum=dict(levels)) for estimate in found.estimates],
        tables=[replace(table, stratum=dict(levels)) for table in found.tables],
    )
