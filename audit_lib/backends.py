"""What is known of every backend without asking it: their registry, and the record that each of them is.

The backends themselves are in `audit_lib.score.backends`. What stands below them (specs, policies, earlier stages)
reads here what the one that a spec names can do, and so needs to know none by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from audit_lib.options import Options
from audit_lib.registry import Registry, is_whole

if TYPE_CHECKING:
    from audit_lib.spec import Model


class BackendRecord:
    """What a backend says about itself.

    Attributes
    ----------
    Options : type
        The options that `model.options` of the spec may hold.
    extra : str or None
        The extra of audit-lib that brings the packages; None if it needs none, or they come with the backend.
    packages : tuple of str
        Modules that it imports and audit-lib's core does not bring.
    local : bool
        Whether the model runs on this machine.
    weights : bool
        Whether `model.name` names weights: a folder, or an id of the Hugging Face hub.
    answers_are_recorded : bool
        Whether it gives back the answers of the source, so that nobody is asked.
    answers_alone : bool
        Whether an answer does not depend on the pack that its request is in, so that a part of a pack may be asked.
    answers_later : bool
        Whether answers come in hours, so that a task waits for them without a worker.
    kept : bool
        Whether the ledger keeps the answers.
    loads : bool
        Whether describing it loads the model, which then refuses what it cannot score exactly: the preflight does it.
    takes_parts : bool
        Whether it passes on images and files of a template (`parts`).
    pool : str
        Name of the pool in which Airflow scores with it (``dags/pools.json``); one that Airflow lacks stops the task.
    """

    Options: ClassVar[type[Options]] = Options
    extra: ClassVar[str | None] = None
    packages: ClassVar[tuple[str, ...]] = ()
    local: ClassVar[bool] = False
    weights: ClassVar[bool] = False
    answers_are_recorded: ClassVar[bool] = False
    answers_alone: ClassVar[bool] = False
    answers_later: ClassVar[bool] = False
    kept: ClassVar[bool] = True
    loads: ClassVar[bool] = False
    takes_parts: ClassVar[bool] = False
    pool: ClassVar[str] = "default_pool"

    @classmethod
    def decides(cls, model: Model) -> bool:
        """Tell whether answers hold the model's own decision, as the decision rule `recorded` needs."""
        return cls.answers_are_recorded

    @classmethod
    def variables(cls, model: Model) -> Sequence[Secret]:
        """Return the secrets that it reads from the environment; a lack of one is told before anything is asked."""
        return ()

    @classmethod
    def says_yes_or_no(cls, model: Model) -> bool:
        """Tell whether an answer about one candidate is one of its labels or a decision, without a probability."""
        return False

    @classmethod
    def no_text(cls, model: Model) -> str | None:
        """Say why answers hold no text, by the options; None where they do, or `gives` says so."""
        return None

    @classmethod
    def probe(cls, model: Model) -> Probe | None:
        """Return what shows whether its endpoint answers; None where there is no endpoint."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """An environment variable with a secret that a model's options name.

    Attributes
    ----------
    variable, where : str
        Its name, and the key of the spec that names it.
    spaces : bool
        Whether its value may hold spaces.
    """

    variable: str
    where: str
    spaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A request that costs nothing and shows whether an endpoint answers.

    Attributes
    ----------
    verb, url : str
        What is asked.
    where : str
        The key of the spec that says so.
    headers : mapping of str to str
        With the key; they are never printed.
    """

    verb: str
    url: str
    where: str
    headers: Mapping[str, str] = field(default_factory=dict)


BACKENDS: Final[Registry[type[BackendRecord]]] = Registry(
    "backends", "audit_lib.score.backends", lambda part: is_whole(part, BackendRecord)
)
