"""Whom a dossier is about: fields that the caller knows, or what its head says."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from audit_lib.errors import InputError, NoApplicantError
from audit_lib.perturb.redaction.folding import fold
from audit_lib.perturb.redaction.lexicons import first_names, honorifics, word_set
from audit_lib.perturb.redaction.states import STATES

PARTICLES: Final = word_set(
    "de da di do du del dela della la le los las lo van von vander der den ten ter bin ibn al el ap y e dos das st san "
    "santa saint mac mc nic ni bint bin binti binte abu abd umm"
)
_SUFFIX: Final = re.compile(
    r",?\s+(?:jr|sr|ii|iii|iv|v|ph\.?d|ed\.?[dm]|m\.?d|m\.?b\.?a|"
    r"m\.?ed|m\.?a\.?t|m\.?s\.?w|esq)\.?$"
    r"|,\s+(?-i:[BM]\.?[AS]|R\.?N|J\.?D|C\.?P\.?A)\.?$",
    re.I,
)  # "Ma" is a last name, too
_LABEL: Final = re.compile(
    r"(?im)^[ \t>*#_-]*(?:(?:full[ \t]+)?name|applicant(?:'s)?(?:[ \t]+name)?|candidate(?:'s)?(?:[ \t]+name)?"
    r"|student(?:'s)?(?:[ \t]+name)?|interviewee|resume of|résumé of)"
    r"(?:[ \t]*(?:#?[0-9]+|"
    r"[A-Z]))?[ \t]*[*_]*[ \t]*[:=][ \t]*[*_]*[ \t]*(?P<name>[^\n|;,(]{3,60}(?:,[ \t]+[^\n|;(]{2,40})?)"
)
_IS: Final = re.compile(
    r"\b(?:(?i:applicant|candidate|resume|résumé)[ \t]*(?:#?[0-9]+|[A-Z])[ \t]+(?i:is)"
    r"|(?i:my[ \t]+(?:full[ \t]+)?name[ \t]+is))[ \t]+(?P<name>[A-Z][\w'’-]*\.?"
    r"(?:[ \t]+(?:[A-Z][\w'’-]*\.?(?<!\w\w\.)|d[aeiou]s?|van|von|der|bint?|al|el|la)){1,4})"
)
"""Who a sentence says the applicant is: "Applicant 2 is Bob Stone", "My name is Ana Ruiz"."""

_LETTERS: Final = r"[^\W\d_]"
_WORD: Final = rf"{_LETTERS}{_LETTERS}*(?:['’‘\-‐‑]{_LETTERS}+)*\.?"
_HEAD: Final = re.compile(
    rf"[#*_ \t]*(?P<name>{_WORD}(?:[ \t]+{_WORD}){{1,4}})(?:,?[ \t]+(?:Jr|Sr|II|III|IV)\.?)?[#*_ \t]*"
)
NO_NAME: Final = word_set(
    "resume résumé curriculum vitae cv cover letter transcript interview essay statement personal objective summary "
    "education experience skills profile contact references dear application applicant candidate job position teacher "
    "teaching university college school of the and for to in at my work professional confidential software "
    "engineer manager nurse assistant portfolio about me letter recommendation employment history i a an with was is "
    "am on this that when why how what draft name elementary middle district department street avenue "
    "hiring committee team human resources interviewer question answer part section admission admissions"
)

NO_HEAD: Final = word_set(
    "lead leader director coordinator specialist analyst developer designer associate consultant officer president "
    "rights memorial scholarship county foundation association"
)
"""Further words that a line at the head may hold, but no line that says `Name:`."""

_TOWNS: Final = word_set("los+angeles san+francisco san+diego san+jose las+vegas united+states")


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicant:
    """What is known of the applicant; every field may be left out.

    Attributes
    ----------
    name : str
        Full name, ``First Middle Last`` or ``Last, First``.
    first_name, last_name : str
        Where the full name does not show where the last name begins (``Ana García López``).
    other_names : tuple of str
        Nicknames, former names, other spellings.
    email, phone, address : str
        As the applicant gave them.
    colleges : tuple of str
        Colleges as the dossier may write them.
    sex : {"female", "male"}, optional
        Which of he and she means the applicant, where the dossier uses both.
    """

    name: str = ""
    first_name: str = ""
    last_name: str = ""
    other_names: tuple[str, ...] = ()
    email: str = ""
    phone: str = ""
    address: str = ""
    colleges: tuple[str, ...] = ()
    sex: Literal["female", "male", ""] = ""

    def __post_init__(self) -> None:
        """Refuse a sex that the rules do not know: every pronoun would stay, and nothing would say why."""
        if self.sex not in ("female", "male", ""):
            raise InputError(
                "the applicant's sex is neither 'female' nor 'male'; give one of them, or leave it out"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicantName:
    """A name in its parts; `middle` are the words between first and last, in order; `last` may be empty."""

    first: str
    middle: tuple[str, ...]
    last: str

    @property
    def key(self) -> tuple[str, str]:
        """What makes two names the same person's: first and last name, folded."""
        return fold(self.first).text, fold(self.last).text


def parse_name(name: str, *, first: str = "", last: str = "") -> ApplicantName:
    """Take a full name apart.

    Raises
    ------
    InputError
        If there is no name at all.

    Examples
    --------
    >>> parse_name("Dr. Ana María de la Cruz, Ph.D.")
    ApplicantName(first='Ana', middle=('María',), last='de la Cruz')
    >>> parse_name("van der Berg, Jan").last, parse_name("Sukarno")
    ('van der Berg', ApplicantName(first='Sukarno', middle=(), last=''))
    """
    text = " ".join(name.split())
    while (shorter := _SUFFIX.sub("", text)) != text:
        text = shorter
    if "," in text and not (first or last):
        last, _, text = (part.strip() for part in text.partition(","))
    tokens = text.split()
    while len(tokens) > 1 and fold(tokens[0]).text.rstrip(".") in honorifics():
        tokens = tokens[1:]
    tokens = [t.strip("\"'“”()") for t in tokens if t.strip("\"'“”()")]
    if first and not last:
        last = " ".join(tokens[len(first.split()) :]) if tokens[: len(first.split())] == first.split() else ""
    if first and last and tokens == [*last.split(), *first.split()]:
        tokens = first.split()  # "Kim Min-jun": the last name stands first
    if last and tokens[-len(last.split()) :] == last.split():
        tokens = tokens[: -len(last.split())]
    if not last and len(tokens) > 1:
        start = len(tokens) - 1
        while start > 1 and fold(tokens[start - 1]).text in PARTICLES:
            start -= 1
        last, tokens = " ".join(tokens[start:]), tokens[:start]
    if not first and tokens:
        first, tokens = tokens[0], tokens[1:]
    elif first and tokens[: len(first.split())] == first.split():
        tokens = tokens[len(first.split()) :]
    if not first:
        raise InputError(
            "the applicant's name holds no name; give the full name, or first_name and last_name"
        )
    return ApplicantName(first=first, middle=tuple(tokens), last=last)


def applicant_of(text: str, known: Applicant) -> tuple[ApplicantName, list[ApplicantName]]:
    """Return the applicant's name, and names of further candidates that the text shows.

    Raises
    ------
    NoApplicantError
        If the caller gave no name and the text shows none: no label such as ``Name:``, no line of a name at its head.
    """
    shown = _names_shown(text)
    given = (fold(known.first_name).text, fold(known.last_name).text)
    fitting = [n for n in shown if all(one in ("", other) for one, other in zip(given, n.key, strict=True))]
    if known.name or all(given) or (known.first_name and not fitting):
        name = parse_name(
            known.name or f"{known.first_name} {known.last_name}".strip(),
            first=known.first_name,
            last=known.last_name,
        )
    elif shown:
        name = (fitting or shown)[0]
    else:
        raise NoApplicantError(
            "no applicant's name was given, and the dossier shows none (no line `Name: ...`, no name at its head); "
            "give it with --name, or in a column"
        )
    mine = {name.key, *(parse_name(n).key for n in known.other_names if len(n.split()) > 1)}
    others: dict[tuple[str, str], ApplicantName] = {}
    for other in shown:
        if not name.last and name.key[0] in (other.key[0], other.key[1]):
            continue
        same_last = any(other.key[1] == last and other.key[0][:1] == first[:1] for first, last in mine)
        if other.key not in mine and not same_last:
            others.setdefault(other.key, other)
    return name, list(others.values())


def with_name(known: Applicant, name: ApplicantName) -> Applicant:
    """Return the applicant with a name that was found."""
    return replace(known, name=" ".join([name.first, *name.middle, name.last]))


def _bare(line: str) -> str:
    """Return a head's name alone: without contact details beside it, degrees, and a nickname in brackets."""
    line = re.split(r"\s*[|•·]|\t|\s[-–—]\s", line.strip("\r\ufeff \t"))[0]
    line = re.sub(r"\s*[(\"“][\w' -]{1,20}[)\"”]", "", line)
    while (shorter := _SUFFIX.sub("", line)) != line:
        line = shorter
    return line


def _likely(text: str, heads: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop heads of a place or an occupation, and those above the first that another place supports."""
    heads = [
        (at, shown) for at, shown in heads
        if not NO_HEAD & {fold(w).text.strip(".,") for w in shown.split()}
        and fold("+".join(shown.split())).text not in _TOWNS and not re.fullmatch(STATES, " ".join(shown.split()))
    ]  # fmt: skip
    supported = [
        (at, shown) for at, shown in heads
        if fold(shown.split()[0]).text in first_names()
        or any(len(re.findall(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text)) > 1 for word in shown.split())
    ]  # fmt: skip
    return [head for head in heads if not supported or head[0] >= supported[0][0]]


def _names_shown(text: str) -> list[ApplicantName]:
    """Return names behind labels, at the head, and above a line with contact details, in order."""
    places = [
        (match.start(), match.group("name")) for pattern in (_LABEL, _IS) for match in pattern.finditer(text)
    ]
    heads: list[tuple[int, str]] = []
    lines, start = text.split("\n"), 0
    seen = 0
    for number, line in enumerate(lines):
        if line.strip():
            seen += 1
            found = _HEAD.fullmatch(_bare(line))
            below = "\n".join(lines[number + 1 : number + 4])
            if found and (seen <= 2 or re.search(r"\S@\S+\.\w|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}", below)):
                heads.append((start, found.group("name")))
        start += len(line) + 1
    names = []
    for _, shown in sorted([*places, *_likely(text, heads)]):
        tokens = shown.replace("*", " ").split()
        # A particle may be lower case; everything else of a name is not, and none of it is a heading's word.
        capital = all(t[:1].isupper() or fold(t).text in PARTICLES for t in tokens)
        if (
            not 2 <= len(tokens) <= 6
            or not capital
            or any(fold(t).text.strip(".,") in NO_NAME for t in tokens)
        ):
            continue
        try:
            name = parse_name(shown)
        except InputError:
            continue
        if name.last:
            names.append(name)
    return names
