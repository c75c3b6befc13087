"""A panel: one spec with a list of models, each of which is audited as if the spec named it alone.

A member is an ordinary `AuditSpec`: it has its own name, digest, run and evidence, and says nothing of the panel. Its
sample, versions and seeds are those of the others, because nothing else in it differs but, where the panel says so, the
words in which it is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import SpecError
from audit_lib.registry import did_you_mean
from audit_lib.spec.audit import AuditSpec
from audit_lib.spec.data import Schedule, Source
from audit_lib.spec.scoring import Model
from audit_lib.spec.text import faults, read_spec_text, read_yaml

MODELS: Final = "models"
MOST: Final = 64
"""Models of one panel."""


class PanelModel(Model):
    """A model of a panel, what it is called there, how it is asked, and where its recorded answers are."""

    label: str | None = Field(
        None,
        pattern=r"[A-Za-z0-9]",
        max_length=80,
        description="What the model is called in the panel; its `name` unless given. Under several labels one model "
        "may be there more than once, such as with another prompt.",
    )
    prompt: dict[str, Any] = Field(
        default_factory=dict,
        description="Keys of the section prompt that differ for this model, such as its own `template`. The "
        "applicants and what is shown of them must be the same.",
    )
    source: dict[str, Any] = Field(
        default_factory=dict,
        description="Backend `recorded`: keys of the section source that differ for this model, such as its own "
        "`paths`, or `columns: {recorded_score: score_of_this_model}`. The applicants must be the same.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A spec with a list of models.

    Attributes
    ----------
    path : Path
        The file.
    audit, title : str
        Name and title of the panel.
    members : tuple of AuditSpec
        One a model, in the file's order.
    """

    path: Path
    audit: str
    title: str
    members: tuple[AuditSpec, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What each member is called within the panel: ``panel.yaml#NAME`` is its spec."""
        return tuple(one.audit.removeprefix(f"{self.audit}_") for one in self.members)

    @property
    def references(self) -> tuple[str, ...]:
        """The members' specs, for whatever asks for the path of one."""
        return tuple(f"{self.path}#{name}" for name in self.names)

    @property
    def schedule(self) -> Schedule:
        """When it runs."""
        return self.members[0].schedule

    def member(self, name: str) -> AuditSpec:
        """Return a member by its name.

        Raises
        ------
        SpecError
            If there is none.
        """
        if name not in self.names:
            raise SpecError(
                f"{self.path}: no model of this panel is called {name!r}{did_you_mean(name, list(self.names))}; it has "
                f"{', '.join(self.names)}"
            )
        return self.members[self.names.index(name)]


def panel_digest(audit: str, digests: Sequence[str]) -> str:
    """Return the SHA-256 of a panel: of its name and its members' digests, in order."""
    return sha256(canonical_json([audit, list(digests)]))


def read_spec(path: str | Path) -> AuditSpec | Panel:
    """Read a spec of one model, a panel, or with ``panel.yaml#NAME`` one model of a panel.

    Raises
    ------
    SpecError
        If the file is not there, is not YAML, or breaks a rule; every fault is named with its key.
    """
    file, name = split_reference(path)
    found = spec_of(read_yaml(read_spec_text(file), file), file)
    if not name:
        return found
    if isinstance(found, AuditSpec):
        raise SpecError(f"{file}: is no panel, so it has no model {name!r}; leave out '#{name}'")
    return found.member(name)


def spec_of(content: Mapping[str, Any], path: Path) -> AuditSpec | Panel:
    """Make what a file's content is: the spec of one model, or a panel.

    Raises
    ------
    SpecError
        If it breaks a rule; every fault is named with its key.
    """
    return panel_of(content, path) if MODELS in content else AuditSpec.checked(content, path)


def load_spec(path: str | Path) -> AuditSpec:
    """Read the spec of one model: a file, or ``panel.yaml#NAME``.

    Raises
    ------
    SpecError
        As `read_spec`, and if the file is a panel and no model of it is named.
    """
    found = read_spec(path)
    if isinstance(found, Panel):
        raise SpecError(
            f"{path}: is a panel of {len(found.members)} models; name one: {', '.join(found.references)}"
        )
    return found


def split_reference(path: str | Path) -> tuple[Path, str]:
    """Return the file and the model that a reference names; a file that is there is taken at its word."""
    whole = Path(path)
    file, hash_sign, name = str(path).rpartition("#")
    if not hash_sign or whole.exists():
        return whole, ""
    return Path(file), name


def panel_of(content: Mapping[str, Any], path: Path) -> Panel:
    """Make a panel of a spec's content.

    Raises
    ------
    SpecError
        If it names both `model` and `models`, a model twice, or breaks a rule of any spec.
    """
    if "model" in content:
        raise SpecError(
            f"{path}: model and models are both given; keep `model` for one model, `models` for a panel"
        )
    models = _models(content[MODELS], path)
    shared = {key: value for key, value in content.items() if key != MODELS}
    # What is wrong with the rest of the spec is told once, and under the name that the user gave.
    whole = AuditSpec.checked(_member(shared, models[0], path, 0), path)
    members = []
    for place, (model, name) in enumerate(zip(models, _short_names(models, path), strict=True)):
        one = _member(shared, model, path, place)
        one |= {"audit": f"{whole.audit}_{name}", "title": f"{whole.title} ({_called(model)})"}
        try:
            members.append(AuditSpec.checked(one, path))
        except SpecError as error:
            raise SpecError(f"{error} (model {_called(model)}, models.{place})") from None
    return Panel(path=path, audit=whole.audit, title=whole.title, members=tuple(members))


def _models(content: Any, path: Path) -> list[PanelModel]:
    if not isinstance(content, list) or not 2 <= len(content) <= MOST:
        raise SpecError(
            f"{path}: models: a panel is a list of 2 to {MOST} models, each with backend and name; one model alone is "
            "`model`"
        )
    found, said = [], []
    for place, one in enumerate(content):
        try:
            found.append(PanelModel.model_validate(one))
        except ValidationError as error:
            said += [f"{path}: models.{place}.{fault}" for fault in faults(error, PanelModel)]
    if said:
        raise SpecError("\n".join(said))
    for name, times in Counter(_called(one).strip().casefold() for one in found).items():
        if times > 1:
            raise SpecError(
                f"{path}: models: {name!r} is listed {times} times; each model once, or under a `label` of its own "
                "with another prompt, revision or options"
            )
    asked = [canonical_json(one.model_dump(mode="json", exclude={"label"})) for one in found]
    for place, one in enumerate(asked):
        if one in asked[:place]:
            twice = f"{_called(found[asked.index(one)])} and {_called(found[place])}"
            raise SpecError(
                f"{path}: models: {twice} are the same model, asked the same; leave one out, or give it another prompt"
            )
    return found


def _called(model: PanelModel) -> str:
    return model.label or model.name


def _member(shared: Mapping[str, Any], model: PanelModel, path: Path, place: int) -> dict[str, Any]:
    """Return the content of a member's spec, under the panel's own name."""
    own = {"label", "prompt", "source"}
    one = dict(shared) | {"model": model.model_dump(mode="json", exclude=own)}
    if model.prompt:
        of_all = shared.get("prompt")
        one["prompt"] = {**(of_all if isinstance(of_all, Mapping) else {}), **model.prompt}
    if not model.source:
        return one
    where = f"{path}: models.{place}.source"
    if not model.answers_are_recorded:
        raise SpecError(
            f"{where}: backend {model.backend!r} is asked about the panel's own sample, so its source cannot differ; "
            "leave it out"
        )
    if unknown := [key for key in model.source if key not in Source.model_fields]:
        raise SpecError(f"{where}: unknown key{did_you_mean(unknown[0], list(Source.model_fields))}")
    source = shared.get("source")
    read = dict(source) if isinstance(source, Mapping) else {}
    for key, value in model.source.items():
        both = isinstance(value, Mapping) and isinstance(read.get(key), Mapping)
        read[key] = {**read[key], **value} if both else value
    return one | {"source": read}


def _short_names(models: Sequence[PanelModel], path: Path) -> list[str]:
    """Return what each is called in names of audits: the last part of its name where that tells them apart."""
    for of in (_last_part, _whole):
        names = [of(model) for model in models]
        if all(names) and len(set(names)) == len(names):
            return names
    twice = next((name for name, n in Counter(names).items() if n > 1), "")
    both = " and ".join(_called(model) for model, name in zip(models, names, strict=True) if name == twice)
    raise SpecError(
        f"{path}: models: {both} give the same name of an audit ({twice or 'none'}), which is made of small letters, "
        "digits and underscores; name one differently"
    )


def _last_part(model: PanelModel) -> str:
    return _plain(re.split(r"[/\\]", _called(model).rstrip("/\\"))[-1])


def _whole(model: PanelModel) -> str:
    return _plain(_called(model))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
