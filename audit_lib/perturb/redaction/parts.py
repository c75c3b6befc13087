"""The parts of a name that may stand alone, and how each is looked for in a folded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit_lib.perturb.redaction.applicant import PARTICLES, ApplicantName
from audit_lib.perturb.redaction.folding import fold
from audit_lib.perturb.redaction.inside import spelled_out
from audit_lib.perturb.redaction.lexicons import nicknames, words

LEFT: Final = r"(?<![^\W_])"
RIGHT: Final = r"(?![^\W_])"
_JOIN: Final = "+"
"""Between the words of a part made of several names: a space or a hyphen stands there."""

_SUFFIX: Final = re.compile(
    r"(?:,?[ \t]+(?i:jr|ii|iii|iv)|[ \t]+(?i:sr)|,[ \t]+(?i:sr)(?!\.?[ \t]+[A-Z]))\b(?:\.(?![ \t]+[A-Z]))?"
)
"""*Jr.* and the like after a name; a dot that ends the sentence and the *Sr.* of *Sr. Engineer* stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePart:
    """A part of the name that may stand alone; with a `doubt`, all its places are only reported, and why."""

    folded: str
    slot: str
    sure: bool = True
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What may be the first name and the last name, longest first, and the parts that may stand alone.

    `all_firsts` and `all_lasts` hold middle names too: *Mary Ann*, *Rodham Clinton*.
    """

    firsts: tuple[str, ...]
    lasts: tuple[str, ...]
    all_firsts: tuple[str, ...]
    all_lasts: tuple[str, ...]
    alone: tuple[NamePart, ...]


def parts_of(name: ApplicantName, other_names: Sequence[str], stated: Iterable[NamePart] = ()) -> Parts:
    """Take a name apart.

    Parameters
    ----------
    other_names : sequence of str
        Nicknames and former names that the caller knows.
    stated : iterable of NamePart
        Names that the dossier says are the applicant's too.
    """
    first, last = fold(name.first).text, fold(name.last).text
    firsts = [first, *nicknames().get(first, ())]
    lasts = [last] if last else []
    parts = {first: NamePart(folded=first, slot="first_name")}
    if last:
        parts[last] = NamePart(folded=last, slot="last_name")
    for shown, forms, slot in ((name.first, firsts, "first_name"), (name.last, lasts, "last_name")):
        if (spelled := spelled_out(shown)) not in parts and spelled:
            forms.append(spelled)
            parts[spelled] = NamePart(folded=spelled, slot=slot)
    for short in nicknames().get(first, ()):
        parts.setdefault(short, NamePart(folded=short, slot="nickname", sure=short not in words()))
    for other in other_names:
        tokens = fold(other).text.split()
        if len(tokens) > 1:
            firsts.append(tokens[0])
            lasts.append(tokens[-1])
            parts.setdefault(tokens[-1], NamePart(folded=tokens[-1], slot="last_name"))
        if tokens:
            parts.setdefault(tokens[0], NamePart(folded=tokens[0], slot="nickname"))
    for part in sorted(stated, key=lambda part: (bool(part.doubt), not part.sure)):
        parts.setdefault(part.folded, part)
        if part.sure and not part.doubt:
            firsts.append(part.folded)
    for middle in _middles(name):
        if len(middle) > 1 and middle not in PARTICLES:
            parts.setdefault(
                middle,
                NamePart(folded=middle, slot="middle_name", sure=len(middle) > 2 or middle not in words()),
            )
    runs = list(_runs(name, firsts, lasts))
    for folded, slot in runs:
        parts.setdefault(folded, NamePart(folded=folded, slot=slot))
    for whole, slot in ((first, "first_name"), (last, "last_name")):
        for piece in pieces(whole):
            sure = slot == "last_name" and piece not in words()
            parts.setdefault(piece, NamePart(folded=piece, slot=slot, sure=sure))
    for piece in _with_particles(last):
        parts.setdefault(piece, NamePart(folded=piece, slot="last_name"))
    return Parts(
        firsts=_longest_first(firsts),
        lasts=_longest_first(lasts),
        all_firsts=_longest_first([*firsts, *(run for run, slot in runs if slot == "first_name")]),
        all_lasts=_longest_first([*lasts, *(run for run, slot in runs if slot == "last_name")]),
        alone=tuple(parts.values()),
    )


def pieces(part: str) -> list[str]:
    """Return the words of a name that people use alone: hyphen parts too, particles only at the end.

    Examples
    --------
    >>> pieces("de la Paz"), pieces("Garcia-Lee"), pieces("Ruiz")
    (['paz'], ['garcia', 'lee'], ['ruiz'])
    """
    split = re.split(r"[-\s]+", fold(part).text)
    return [word for word in split[:-1] if len(word) > 1 and word not in PARTICLES] + split[-1:]


def pattern(folded: str) -> str:
    """Return a pattern for one or more words: any white space, hyphens and apostrophes left out too."""
    special = {" ": r"\s+", "-": r"[- \t]?", "'": "'?", _JOIN: r"(?:-|\s+)"}
    return "".join(special.get(char) or re.escape(char) for char in folded)


def suffix_end(text: str, end: int) -> int:
    """Return where a last name ends that ends here or after its *Jr.*, *Sr.*, *II*, *III*, *IV*.

    Examples
    --------
    >>> suffix_end("Mr. Smith, Jr. left", 9), suffix_end("by Smith Jr. He left", 8), suffix_end("Smith left", 5)
    (14, 11, 5)
    """
    found = _SUFFIX.match(text, end)
    return found.end() if found else end


def _middles(name: ApplicantName) -> list[str]:
    return [fold(middle).text.strip(".") for middle in name.middle]


def _runs(name: ApplicantName, firsts: Sequence[str], lasts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield neighbouring names of three or more, which together are one: *Mary Ann*, *Rodham Clinton*."""
    middles = _middles(name)
    for start in range(len(middles)):
        for end in range(start + 1, len(middles) + 1):
            run = middles[start:end]
            if any(len(word) < 2 for word in run):
                continue
            if start == 0 or end - start == 1:  # "José Rodríguez" of José Luis Rodríguez Zapatero, too
                yield from ((_JOIN.join([first, *run]), "first_name") for first in firsts)
            if end == len(middles):
                yield from ((_JOIN.join([*run, last]), "last_name") for last in lasts)
            if len(run) > 1:
                yield _JOIN.join(run), "middle_name"


def _with_particles(last: str) -> list[str]:
    """Return the parts of a double last name with the particles before it: *de la Rochefoucauld*."""
    split = last.split()
    count = next((n for n, word in enumerate(split) if word not in PARTICLES), 0)
    lead, rest = split[:count], re.split(r"[-\s]+", " ".join(split[count:]))
    return [" ".join([*lead, piece]) for piece in rest] if lead and len(rest) > 1 else []


def _longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(forms), key=lambda form: (-len(form), form)))
