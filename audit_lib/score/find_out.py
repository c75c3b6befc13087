"""Whether a model behind an API can be asked as a spec says: found out before anything is planned or paid for."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from audit_lib.perturb.template import is_reply, read_template
from audit_lib.score.asking import capabilities_key
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.remote.capability_probe import LABELS, probe_request
from audit_lib.score.remote.limiter import Allotment, Limited, Limiter
from audit_lib.score.remote.limits import Limits
from audit_lib.score.requests import Request, kinds_asked, sampling_of
from audit_lib.score.tasks.generation import text_sampling
from audit_lib.spec import UNDECIDED, AuditSpec
from audit_lib.store import open_store
from audit_lib.window import Window


def find_out(spec: AuditSpec, root: str, window: Window) -> None:
    """Ask a model behind an API some small questions, unless that was done before for this window; else nothing.

    What is found is kept in the store, where the run's shards read it.

    Raises
    ------
    BackendError
        If the model cannot be asked as the spec says; says what to do.
    """
    kind = backend.get(spec.model.backend)
    options = parse_options(kind.Options, spec.model)
    if not isinstance(options, Limits):
        return
    with closing(kind(spec.model)) as answering:
        if isinstance(answering, Limited):
            key = capabilities_key(answering.describe(), window)
            answering.allot(Allotment(limiter=Limiter(options), store=open_store(root), capabilities=key))
        answering.find_out(_requests_like(spec))


def common_labels(spec: AuditSpec) -> tuple[str, ...]:
    """Return the labels whose probabilities are read, where they are the same for all; none where names are."""
    prompt = spec.prompt
    if prompt is None or prompt.read != "labels":
        return ()
    if spec.task == "pairwise":
        return ("A", "B", *filter(None, [prompt.tie])) if prompt.answer == "letter" else ()
    return tuple(prompt.labels) if spec.task == "pointwise" else ()


def _requests_like(spec: AuditSpec) -> list[Request]:
    """Return a request of each form that the spec asks for."""
    for_label = probe_request(common_labels(spec) or LABELS)
    sampling = text_sampling(spec) if spec.task in UNDECIDED else sampling_of(spec)
    for_text = replace(for_label, labels=(), sampling=sampling)
    asked = [for_label if kind == "labels" else for_text for kind in kinds_asked(spec)]
    steps = spec.prompt is not None and any(map(is_reply, read_template(spec.design_file("prompt.template"))))
    return asked + [for_text] * (steps and for_text not in asked)
