"""Whose recorded decisions a source holds: those of the model that the spec names, and others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from audit_lib.documents.sample import RecordedModel
from audit_lib.errors import InputError
from audit_lib.spec import AuditSpec
from audit_lib.spec.served import without_version

_MOST_NAMED: Final = 5
_MODEL: Final = re.compile(r"[\w.:/@+-]{1,80}", re.ASCII)
UNNAMED: Final = "(not the look of a model's name)"
_WHAT_TO_DO: Final = (
    "List in model.served the models whose decisions are audited (rows of others are then left out and counted), "
    "or write model.served: any, and tables are split by model"
)


class ServedBy:
    """Counts the models of the rows of a window, and says which rows belong to the audit."""

    def __init__(self, spec: AuditSpec) -> None:
        self._model = spec.model
        self._looks = spec.model.answers_are_recorded
        self._rows: Counter[str | None] = Counter()
        self._first: dict[str, str] = {}
        self._may_be: dict[str, bool] = {}

    def keeps(self, name: str | None, where: str) -> bool:
        """Count a row, and tell whether it stays; one that names no model is taken for the named one's."""
        if not self._looks:
            return True
        self._rows[name] += 1
        if name is None:
            return True
        if name not in self._may_be:
            self._may_be[name], self._first[name] = self._model.may_be(name), where
        return self._may_be[name] or self._model.served is None  # null: `check` refuses them all at once

    def keeps_all(self, names: Sequence[str | None]) -> bool:
        """Count rows where all of them stay, and models that were met before; else count none, and tell so."""
        if not self._looks:
            return True
        if not all(name is None or self._may_be.get(name, False) for name in set(names)):
            return False
        self._rows.update(names)
        return True

    def check(self) -> None:
        """Refuse rows of models that the spec does not name, where it does not say what to do with them.

        Raises
        ------
        InputError
            If there are some; names the models with their counts, and where each comes first.
        """
        others = self._others()
        if self._model.served is not None:
            self._check_listed(others)
        elif self._model.names_none:
            self._check_one()
        elif others:
            raise InputError(
                f"source: {others.total():,} of {self._rows.total():,} rows were answered by another model than "
                f"{self._model.name!r}, which model.name says: {self._named(others)}. {_WHAT_TO_DO}"
            )

    def _check_one(self) -> None:
        """Refuse several models under a name that is a label: nothing says whose decisions are audited."""
        models = Counter({name: n for name, n in self._rows.items() if name is not None})
        if len({without_version(name) for name in models} - {None}) > 1:
            raise InputError(
                f"source: the {self._rows.total():,} rows were answered by several models, and model.name, "
                f"{self._model.name!r}, names none: {self._named(models)}. {_WHAT_TO_DO}"
            )

    def _named(self, models: Counter[str]) -> str:
        named = [
            f"{_shown(name)!r} ({n:,}; first at {self._first[name]})" for name, n in models.most_common()
        ]
        more = f" and {len(named) - _MOST_NAMED} others" if len(named) > _MOST_NAMED else ""
        return f"{', '.join(named[:_MOST_NAMED])}{more}"

    def _check_listed(self, others: Counter[str]) -> None:
        unnamed = self._rows[None]
        if others and unnamed and others.total() + unnamed == self._rows.total():
            raise InputError(
                f"source: all {others.total():,} rows that name a model are of models that model.served does not list "
                f"({', '.join(sorted({_shown(name) for name in others})[:_MOST_NAMED])}), and the {unnamed:,} others "
                "name none, so nothing says that they are of a listed one; correct the list (it is the whole list: "
                "name the model in it too)"
            )

    def left_out(self) -> int:
        """How many rows of other models were left out."""
        return sum(self._others().values())

    def account(self, sampled: Counter[str | None]) -> tuple[RecordedModel, ...] | None:
        """Return each model with its rows in the window and in the sample; None where a live model is asked.

        Names that do not look like one are counted together: a wrong column may hold what must not be printed.
        """
        if not self._looks:
            return None
        found: dict[tuple[str | None, bool], list[int]] = {}
        for name, rows in self._rows.items():
            key = (None if name is None else _shown(name), name is None or self._may_be[name])
            counts = found.setdefault(key, [0, 0])
            counts[0] += rows
            counts[1] += sampled[name]
        return tuple(
            RecordedModel(model=name, rows=rows, sampled=drawn, audited=audited)
            for (name, audited), (rows, drawn) in sorted(
                found.items(), key=lambda one: (one[0][0] or "", one[0][1])
            )
        )

    def _others(self) -> Counter[str]:
        return Counter(
            {name: n for name, n in self._rows.items() if name is not None and not self._may_be[name]}
        )


def _shown(name: str) -> str:
    return name if _MODEL.fullmatch(name) else UNNAMED
