"""Fairness through unawareness: whether a run's prompts mention a protected word, and whether the spec says so too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit_lib.translation import t

if TYPE_CHECKING:
    from audit_lib.documents.design import ProtectedMentions, Unawareness
    from audit_lib.spec import AuditSpec


def measured_ftu(
    perturbation: str, ftu: Unawareness | None, words: ProtectedMentions | None = None
) -> bool | None:
    """Return whether no prompt of a run mentions a protected word, by three keys of its ``design.json``.

    None where nobody looked: the spec has no section `framework` and no `perturb.terms`, no prompt has a text, some are
    not in English, which the lists are, or names fill slots and the words around say nothing.

    Examples
    --------
    >>> measured_ftu("lexicon", None) is None
    True
    """
    known = [one.unaware for one in (ftu, words) if one is not None and one.unaware is not None]
    if not known:
        return None
    unaware = all(known)
    return None if unaware and perturbation == "persona" else unaware


def ftu_conflict(
    spec: AuditSpec, perturbation: str, ftu: Unawareness | None, words: ProtectedMentions | None = None
) -> str | None:
    """Say where the spec's answer on mentions is not what its prompts are; None where it is, or nobody looked."""
    measured = measured_ftu(perturbation, ftu, words)
    answered = None if spec.framework is None else spec.framework.ftu
    if answered and measured is None and words is not None and words.not_english:
        return t(
            "framework.ftu says that no prompt mentions a protected word; {n} of {prompts} prompts are not in English, "
            "which the library's lists are, so this was not measured",
            n=words.not_english,
            prompts=words.prompts,
        )
    if measured is None or answered is None or measured == answered:
        return None
    agreeing = [one for one in (ftu, words) if one is not None and one.unaware == measured]
    counts = {"prompts": agreeing[0].prompts, "mentioning": agreeing[0].any.mentioning}
    if answered and agreeing[0] is words:
        return t(
            "framework.ftu says that no prompt mentions a protected word; of {prompts} prompts {mentioning} mention "
            "one of the library's lists",
            **counts,
        )
    if answered:
        return t(
            "framework.ftu says that no prompt mentions a protected word; of {prompts} prompts {mentioning} mention "
            "one of perturb.terms",
            **counts,
        )
    if agreeing[0] is words:
        return t(
            "framework.ftu says that prompts mention a protected word; of {prompts} prompts {mentioning} mention one "
            "of the library's lists",
            **counts,
        )
    return t(
        "framework.ftu says that prompts mention a protected word; of {prompts} prompts {mentioning} mention one of "
        "perturb.terms",
        **counts,
    )
