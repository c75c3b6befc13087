"""Claims that the law does not make, or that a bias audit cannot rest on, found by their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.check.auditor_independence import auditors
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.highest_category import highest_categories
from audit_lib.check.published_tables import PublishedTable
from audit_lib.check.stated_fields import NEGATED, has_excluded, sentences, short
from audit_lib.check.verdicts import makes_up_scores, verdicts
from audit_lib.policies import Policy

# "No ratio is under 0.8" denies nothing about the law.
_DENIED: Final = re.compile(
    r"\b(?:not|never|nor|neither|cannot|without)\b|n't\b|\b(?:sets?|has|contains?|with|knows?) no\b|"
    r"\bno (?:pass|threshold)",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(r"\b(?:may|must|can|cannot|shall|should)\b|prohibit|refus", re.IGNORECASE)
_ASKED: Final = re.compile(r"\b(?:whether|if|unless)\b", re.IGNORECASE)
_NOT_DONE: Final = re.compile(
    rf"^\W*(?:no|none|neither|nobody)\b|(?:{NEGATED.pattern})(?:\W+\w+){{0,3}}\W*$", re.IGNORECASE
)
_SUBORDINATE: Final = re.compile(
    r"[,;:]|\b(?:and|but|rather|instead|where|when(?:ever)?|that|who|which|because|since|for|as|if)\b",
    re.IGNORECASE,
)
_PASSIVE_DENIAL: Final = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did)(?:n't| not| never)\b", re.IGNORECASE
)
_FOUR_FIFTHS: Final = re.compile(
    r"four[ -]fifths|4/5(?:ths?)?|\b80 ?(?:%|percent)|(?<![\d.])0?\.80?(?!\d)|eighty percent", re.IGNORECASE
)
_CITY: Final = r"(?:NYC|New York(?: City)?|(?:the )?city)"
_LAW: Final = re.compile(
    r"local law|\bLL ?-?144\b|\bthe law\b|\bDCWP\b|\bAEDT law|"
    rf"\b{_CITY}(?:['\u2019]?s)? (?:law|rules?|requirements?|regulations?|thresholds?|standards?|limits?|minimum)\b|"
    rf"\b(?:set|required|imposed|mandated|prescribed|demanded) by {_CITY}\b|"
    rf"\b(?:laws?|rules?|requirements?|regulations?) of {_CITY}\b",
    re.IGNORECASE,
)
# A bias audit cannot be passed; "four-fifths rule" names the guidance, a bare number does not.
_VERDICT: Final = re.compile(
    r"\b(?:tool|aedt|system|model|software|algorithm|audit)s?\b[^.;]{0,30}\b(?:pass(?:es|ed)?|fail(?:s|ed)?)\b.*"
    r"\bratios?\b|\bratios?\b.*\b(?:tool|aedt|system|model|software|algorithm|audit)s?\b[^.;]{0,30}\b"
    r"(?:pass(?:es|ed)?|fail(?:s|ed)?)\b|\b(?:pass(?:es|ed)?|fail(?:s|ed)?) (?:the |this |its |our )?(?:bias )?audit\b",
    re.IGNORECASE,
)
_NAMED_RULE: Final = re.compile(
    r"(?:four[ -]fifths|4/5(?:ths?)?|80 ?(?:%|percent)) (?:rule|test)", re.IGNORECASE
)
_DEMANDS: Final = re.compile(
    r"requir|must|threshold|standard|complian|comply|complies|pass(?:es|ed|ing)?\b|fail|violat|minimum|permitted|allow"
    r"|meets?\b|sets?\b|under\b|legal",
    re.IGNORECASE,
)
_GUIDANCE: Final = re.compile(
    r"29 C\.?F\.?R|uniform guidelines|\bEEOC\b|UGESP|1607|guid(?:ance|eline)", re.IGNORECASE
)
_MADE_UP: Final = re.compile(
    r"random(?:ly)?[- ](?:generat|number|scores?|assigned scores?)|simulated (?:scores?|results?|outcomes?)|"
    r"(?:placeholder|fictitious|made-up|dummy|mock|fake|invented) (?:scores?|results?|outcomes?|outputs?)|"
    r"(?:scores?|results?|outcomes?|outputs?) (?:was|were|are) (?:drawn|sampled|taken|generated|produced) "
    r"(?:from|by|with|using) [^.]{0,40}(?:\bnumpy\b|\brandom\b(?! (?:sub)?sample| selection)|distribution\b)|"
    r"(?:scores?|results?|outcomes?) (?:were|was|are) (?:randomly |artificially )?(?:simulated|random)",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[;:]|, (?:and )?so\b")  # what one of them denies, the next may say
_NEVER_CALLED: Final = re.compile(
    r"\b(?:tool|model|system|aedt|software|algorithm)\b[^.]{0,40}\b(?:(?:was|were|is) (?:never|not)|never) "
    r"(?:actually )?(?:called|run|invoked|executed|queried|used to score)|"
    r"without (?:ever )?(?:running|calling|invoking|executing|querying) the "
    r"(?:tool|model|system|aedt|software|algorithm)",
    re.IGNORECASE,
)
_GROUP_WORD: Final = r"(?:race|ethnicit|sex\b|gender|demographic|categor)"
_GUESSING: Final = (
    r"(?:imput|infer(?:red|ence)|predict|guess|BISG|geocod|surname|(?:first|last|given)[ -]name|photograph)"
)
_DERIVED: Final = (
    r"(?:assigned|derived|deduced|determined|estimated|filled in|coded|classified)\b[^.;]{0,40}"
    r"\b(?:algorithm|classifier|pronouns?|photos?|pictures?|zip codes?|from (?:\w+ ){0,2}names?)\b"
)
_IMPUTED: Final = re.compile(
    rf"{_GROUP_WORD}[^.;]{{0,80}}\b(?:{_GUESSING}|{_DERIVED})|\b{_GUESSING}[^.;]{{0,60}}{_GROUP_WORD}",
    re.IGNORECASE,
)
_MEDIAN_OF_KNOWN: Final = re.compile(
    r"median[^.]{0,120}(?:\bonly\b[^.]{0,60}\bknown|\bknown\b[^.]{0,40}\bonly|(?:excluding|without|leaving out|"
    r"omitting)[^.]{0,60}unknown)|(?:\bonly\b[^.]{0,60}\bknown)[^.]{0,80}\bmedian",
    re.IGNORECASE,
)
_SAYS_COMPARATOR: Final = re.compile(
    r"(?:comparator|highest rate|divided by|compared (?:with|to))[^.]{0,120}(?:excluded|included|left out|"
    r"with a ratio)",
    re.IGNORECASE,
)
_SCORES: Final = re.compile(r"scores?\b|results?\b|outcomes?\b|outputs?\b", re.IGNORECASE)
_POSITION: Final = re.compile(
    r"\b(?:positions?|job titles?|jobs?|roles?|occupations?|vacanc(?:y|ies))\b", re.IGNORECASE
)
_TESTED: Final = re.compile(
    r"p-?values?|\bp ?[<=>\u2264]|confidence|interval|fisher|standard deviations?|chi-?square|z-?test|exact test",
    re.IGNORECASE,
)
_BOUNDED: Final = re.compile(
    r"\bbound(?:s|ed)?\b|(?:best|worst) case|had all been|between which", re.IGNORECASE
)


def claims(
    text: str,
    unknown: int | None,
    tables: Sequence[PublishedTable],
    policy: Policy,
    *,
    of_audit: bool = True,
    all_read: bool = True,
) -> Iterator[SummaryFinding]:
    """Yield sentences that put into the law what it does not say, or claim what the page does not show.

    Where demographics may come from is a duty of bias audits: a page that calls itself none is not held to it. Where
    not all tables were read (`all_read`), a sentence on the highest rate may be about one of the others.
    """
    for sentence in sentences(text):
        if (
            _FOUR_FIFTHS.search(sentence)
            and _is_of_law(sentence)
            and not _DENIED.search(sentence)
            and not _GUIDANCE.search(sentence)
        ):
            message = f"{policy.short_law} sets no pass mark; the {policy.guidance.name} is of {policy.guidance.cite}"
            yield SummaryFinding(id="four_fifths_as_law", printed=short(sentence), message=message)
        made_up = makes_up_scores(sentence) or any(
            _MADE_UP.search(part) and _SCORES.search(part) and not NEGATED.search(part)
            for part in _PARTS.split(sentence)
        )
        if made_up or _NEVER_CALLED.search(sentence):
            message = (
                "scores that are synthetic, simulated or drawn at random say nothing of the tool: an audit rests on "
                "what the tool answered; ask what was scored, and by what"
            )
            yield SummaryFinding(id="scores_not_from_tool", printed=short(sentence), message=message)
        if of_audit and _imputes(sentence):
            message = "a bias audit rests on demographics that people gave of themselves"
            yield SummaryFinding(id="imputed_demographics", printed=short(sentence), message=message)
        if _MEDIAN_OF_KNOWN.search(sentence) and not NEGATED.search(sentence):
            message = "people of unknown category are part of the full sample, though of no row"
            yield SummaryFinding(id="median_of_known", printed=short(sentence), message=message)
    yield from verdicts(text)
    yield from auditors(text)
    yield from highest_categories(text, tables, policy, all_read=all_read)
    if not _SAYS_COMPARATOR.search(text):
        yield from filter(None, map(_excluded_highest, tables))
    if re.search(r"significan", text, re.IGNORECASE) and not _TESTED.search(text):
        yield SummaryFinding(
            id="significance_without_test",
            message="significance is spoken of; no test, p-value or interval was found",
        )
    if not _POSITION.search(text) and not any(table.place for table in tables):
        yield SummaryFinding(
            id="position_not_found", message="pooled results hide positions; name those they are about"
        )
    if unknown and not _BOUNDED.search(text):
        yield SummaryFinding(
            id="unknown_without_bounds",
            printed=str(unknown),
            message="say between which limits the ratios lie, wherever the unknown people belong",
        )


def _imputes(sentence: str) -> bool:
    """Whether a sentence says that demographics were guessed: not that they may not be, and not only where they lacked.

    What denies or asks stands before the guess, or says right after it that this was not done: "where sex was not
    stated it was inferred" and "race was inferred for people who did not state it" deny something else.
    """
    if _FORBIDDEN.search(sentence):
        return False
    for found in _IMPUTED.finditer(sentence):
        guess = re.search(rf"{_GUESSING}|{_DERIVED}", found[0], re.IGNORECASE)
        at = found.start() + (guess.start() if guess else 0)
        clause = re.split(r"[;:]", sentence[:at])[-1]
        rest = _SUBORDINATE.split(sentence[at:])[0]
        if not (_NOT_DONE.search(clause) or _ASKED.search(clause) or _PASSIVE_DENIAL.search(rest)):
            return True
    return False


def _is_of_law(sentence: str) -> bool:
    """Whether a sentence says that the law demands something, or that the tool passes or fails by a number."""
    if _LAW.search(sentence):
        return _DEMANDS.search(sentence) is not None
    return _VERDICT.search(sentence) is not None and _NAMED_RULE.search(sentence) is None


def _excluded_highest(table: PublishedTable) -> SummaryFinding | None:
    """Name the category without a ratio whose rate is higher than that of any category with one."""
    if not has_excluded(table):
        return None
    counted = [
        (Fraction(k, n), row)
        for row in table.of("category")
        if (n := row.cell("applicants").count) and (k := row.cell("selected").count) is not None
    ]
    rated = [rate for rate, row in counted if row.cell("ratio").number]
    rate, top = max(counted, key=lambda pair: pair[0], default=(Fraction(0), None))
    if top is None or not rated or rate <= max(rated):
        return None
    message = "the rule is silent on the comparator then; say whether the others are compared with it"
    return SummaryFinding(id="excluded_highest", table=table.name, row=top.label.text, message=message)
