"""Auditors who are not independent: by what a page says of them, or by a name that the vendor or employer has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from audit_lib.check.company_names import NAME, WORD, users
from audit_lib.check.findings import SummaryFinding
from audit_lib.check.stated_fields import sentences, short
from audit_lib.plain_text import in_latin_letters

_I: Final = re.IGNORECASE
_TOOL: Final = r"(?:tool|aedt|system|model|software|algorithm|solution|product|platform)s?"
_DUTY: Final = (
    "an independent auditor takes no part in using, developing or distributing the tool, and is not employed by the "
    "employer or the vendor"
)
_INSIDER: Final = (
    r"\b(?:internal(?:ly)?|in-?house|own|our(?! (?:external |independent )?auditors?\b)|us|ourselves|"
    r"vendors?|developers?|employers?|employees?|staff|"
    r"subsidiar(?:y|ies)|affiliates?|parent company|manufacturer)\b"
)
_DID: Final = (
    r"(?:conducted|performed|carried out|completed|prepared|done|undertaken|executed|made|audited|led|did|ran|run|"
    r"wrote|handled)"
)
_THE_AUDIT: Final = (
    r"(?:(?:the|this|its|our|an?|most recent|latest) )*(?:independent )?(?:bias |impact )?audit\b"
)
_AUDITED_BY: Final = re.compile(
    rf"\baudit(?:ed)?\b[^.;]{{0,50}}?(?:\b{_DID} )?\b(?P<how>by|in-?house|internally)\b(?P<who>[^.;,]{{0,90}})"
    r"(?P<apposition>, (?:(?:the|a) (?:\w+ )?(?:vendor|developer|employer|manufacturer)\b|(?:who|which) (?:also )?"
    r"(?:built|made|makes|developed|develops|sells?|distributes?|uses?|created|designed|provides?|owns?|trained)\b))?",
    _I,
)
_INSIDER_AUDITS: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        rf"\b(?:vendor|developer|employer|manufacturer)\b(?:'s [\w ]{{0,40}}| of (?:the|this) {_TOOL}| of the AEDT)?,? "
        rf"(?:(?:also|itself|has|have) )*{_DID} {_THE_AUDIT}|"
        rf"\b(?:vendor|developer|employer|manufacturer)\b[^.;]{{0,40}}? audited (?:it\b|(?:the|this|its own) {_TOOL})",
        rf"\b(?:our|internal|in-?house|own) (?:[\w-]+ ){{0,4}}?(?:team|department|staff|people|"
        rf"employees|unit|function|group|engineers|"
        rf"scientists|analysts|auditors?)\b[^.;]{{0,40}}? {_DID} {_THE_AUDIT}",
        rf"\b(?:we|I) (?:have )?(?:{_DID}) (?:{_THE_AUDIT}|(?:our|the|this) (?:own )?{_TOOL})",
        rf"\baudit(?:ed|s)? (?:of )?(?:its|our|their) own {_TOOL}",
        r"\bself-(?:audit|conducted|audited|assess(?:ed|ment))\b",
        r"\bauditors? (?:belongs? to|works? for|reports? to)[^.;]{0,60}\b"
        r"(?:vendor|developer|employer|compan(?:y|ies))\b",
        r"\bauditors? (?:is|was|are|were) (?!not\b|neither\b|independent\b)[^.;]{0,40}?\b(?:subsidiary|affiliate|"
        r"employees?|employed|division|department|unit|part|owned|arm|member)\b[^.;]{0,60}",
        rf"^\W*(?:(?:independent|bias) )?auditor(?: name)?\s*[:\u2013-]?\s[^.;]{{0,80}}?{_INSIDER}",
    )
)
_OUTSIDER: Final = re.compile(
    r"\bindependent(?:ly)?\b|\bthird[- ]party\b|\bexternal\b|\bon behalf of\b|\bnot\b|\bnever\b|\bno\b|n't\b|"
    r"\bneither\b|\bcommission|\bengaged\b|\bretained\b|\bhired\b",
    _I,
)
# "Auditor Vendor Employer": names over the values of a row
_LABELS_ALONE: Final = re.compile(
    r"(?:\W*\b(?:independent|auditors?|vendors?|developers?|employers?|tools?|aedt|company|dates?|audits?|name|provider|of|the)\b)+"
    r"\W*",
    _I,
)
# "The audit used data provided by the vendor": by whom the data were given, not by whom it was made.
_OF_SOMETHING_ELSE: Final = re.compile(
    r"\b(?:data|employed|owned|provided|supplied|given|used|collected|published|required|requested|paid|posted|developed|built)\b",
    _I,
)
# "The audit of Sorter, provided by Acme": Acme provided the tool.
_OF_THE_TOOL: Final = (
    r"(?:, (?:made|used|designed|created)\b|"
    r"\b(?:provided|developed|distributed|sold|built|supplied|licensed|owned|offered)\b)"
)
# "The audit was commissioned by Acme and published by the employer": neither made it.
_NOT_MADE: Final = "".join(
    rf"(?<!\b{verb} )"
    for verb in (
        "commissioned", "paid for", "requested", "ordered", "reviewed", "funded", "sponsored", "hosted", "posted",
        "published", "borne", "approved", "arranged", "required", "released", "announced", "received", "presented",
    )
)  # fmt: skip
_LABEL: Final = r"(?:^|[\n.;|?])[^\w\n]*(?:{0})(?:[^\S\n]+name)?[^\S\n]*(?::|\u2013|-|\n|[^\S\n])[^\S\n]*"
_NAMED_AUDITOR: Final = (
    re.compile(
        _LABEL.format(r"(?i:(?:independent |bias |external )?auditors?|audit(?:ing)? (?:firm|company)|audited by|"
                      r"who (?:did|made|performed|conducted|carried out|completed) (?:the|this|our) (?:bias )?audit\?|"
                      r"(?:name of (?:the )?)?(?:independent )?auditor|audit "
                      r"(?:conducted|performed|completed|carried out) by|(?:conducted|performed) by)") + NAME,
    ),
    re.compile(rf"(?i:\bauditors?,? (?:is|was|being|of record is)) (?:the )?{NAME}"),
    re.compile(
        rf"(?i:\b(?:engaged|retained|commissioned|hired|appointed|chose|selected)) {NAME},? (?i:as|to) "
        r"[^.;\n]{0,40}audit"
    ),
    re.compile(
        rf"(?i:\baudit(?:ed)?\b(?:(?!{_OF_THE_TOOL})[^.;\n]){{0,90}}?\b{_NOT_MADE}by) (?:the )?{NAME}"
    ),
    re.compile(rf"{NAME},? (?:has |had |also )?{_DID} {_THE_AUDIT}"),
)  # fmt: skip
_NAMED_INSIDER: Final = (
    re.compile(
        _LABEL.format(r"(?i:(?:tool |aedt )?(?:vendor|developer|provider|manufacturer|supplier)|employer|"
                      r"employment agency|company|(?:developed|made|provided|distributed|sold|built|used) by)") + NAME,
    ),
    re.compile(
        r"(?i:\b(?:developed|made|provided|distributed|sold|built|licensed|supplied|offered|created) by) (?:the )?"
        + NAME
    ),
    re.compile(rf"{NAME}(?:,| is| \() ?(?i:the (?:\w+ )?(?:vendor|developer|employer|manufacturer|provider)\b)"),
    re.compile(rf"(?i:\b(?:vendor|developer|employer|manufacturer),) {NAME}"),
    re.compile(
        r"(?i:(?<!\baudit )(?<!\bauditing )\b(?:vendor|maker|developer|manufacturer|provider|supplier|employer)): ?"
        + NAME
    ),
    re.compile(rf"{NAME} (?i:(?:makes|sells|develops|provides|built|developed|supplies|distributes)) "),
    # "Tool: Sorter (Acme Inc.)", "the bias audit of Sorter (Acme Inc.)", "AEDT: Sorter by Acme Inc."
    re.compile(rf"(?i:\baudit of )(?:[A-Z][\w&'-]*\s+){{1,5}}\({NAME}\)"),
    re.compile(
        rf"{_LABEL.format(r'(?i:(?:name of )?(?:the )?(?:tool|aedt))')}"
        rf"(?:[A-Z][\w&'-]*\s+){{1,5}}(?:\(|by |from ){NAME}"
    ),
    # "Acme Stores uses Sorter by Acme", "reviews Sorter (Acme Inc.) every year"
    re.compile(
        rf"(?i:\b(?:uses?|using|used|reviews?|deploys?|rel(?:y|ies) on)) (?:[A-Z][\w&'-]*\s+){{1,5}}"
        rf"(?:\(|by |from |of ){NAME}"
    ),
)  # fmt: skip
# "The People Analytics group of Acme Stores", where Acme Stores uses the tool
_PART: Final = (
    r"(?i:groups?|teams?|departments?|units?|divisions?|functions?|offices?|staff|practice|lab|arm|section)"
)
_AUDITING: Final = r"(?i:\baudit(?:ed|ors?|ing)?\b)"
_DEPARTMENTS: Final = (
    re.compile(
        rf"{_AUDITING}[^.;]{{0,120}}?\b{_PART},? (?:of|at|in|within|from) (?:the )?{NAME}",
    ),
    re.compile(
        rf"{_AUDITING}[^.;]{{0,60}}?\b{NAME}['\u2019]s? (?:own )?(?:[\w&-]+ ){{0,4}}?{_PART}\b",
    ),
)
_MADE: Final = re.compile(rf"\b(?:{_DID}\b[^.;]{{0,20}}|audit(?:ed)?)$", _I)
# A tool often has its maker's name: "the bias audit of Acme Resume Ranker", "Acme Resume Ranker bias audit summary"
_NAMED_TOOL: Final = (
    re.compile(rf"(?i:\baudit of )(?:the )?{NAME}"),
    re.compile(rf"{NAME} (?i:bias audit (?:summary|results|report)\b)"),
)
# "Who conducted the audit? Acme engaged Blue Lake as auditor": Acme did not.
_ENGAGES: Final = re.compile(
    r"(?: [a-z]\w*){0,4}(?:,? (?:the|our|an?) [\w ]{1,40}?| \([^)\n]{1,40}\)|,? [A-Z][\w&.'-]*){0,4},? (?:has |had )?"
    r"(?:engaged|retained|commissioned|hired|appointed|chose|selected|contracted) (?:the (?:firm )?)?"
    rf"{WORD}(?:,? (?:{WORD}|&|of|and)){{0,6}}"
    r"(?:[.;\n]|$|,? (?:as|to|for)\b[^.;\n]{0,60}\baudit)"
)
_MADE_BY: Final = re.compile(r"\w+ by\b")
_OF_THE_AUDIT: Final = re.compile(
    r"\b(?:audit(?:s|ed)?|report|page|summary|statement|document|analys[ie]s|notice|site|website|results)\b",
    _I,
)
_CLAUSE: Final = 120
_BEFORE_LABEL: Final = re.compile(r"[\W_]+")
_COMPANY: Final = re.compile(r"company\b", _I)
# The line above "Company: Blue Lake", or above "Made by: Blue Lake"
_AUDITOR_HEADS: Final = re.compile(
    r"\W*(?:(?:the|our|your|about|independent|bias|external) )*(?:auditors?|audit(?:ing)? firm|audited by)\W*",
    _I,
)
_AUDIT_HEADS: Final = re.compile(rf"^(?!.*:)(?!\W*{_TOOL}\b).*\baudit(?:s|ed|ors?)?\b", _I)
_FORMS: Final = frozenset(
    {"inc", "llc", "ltd", "corp", "corporation", "gmbh", "co", "company", "plc", "lp", "llp", "limited", "incorporated",
     "the", "ag", "sa", "bv", "pllc", "pc"}
)  # fmt: skip
_COMMON: Final = frozenset(
    {"national", "american", "first", "global", "new", "united", "general", "international", "north", "south", "west",
     "east", "city", "us", "nyc", "york", "data", "fair", "not", "no", "none", "bias", "audit", "independent"}
)  # fmt: skip


def insider_audits(sentence: str) -> bool:
    """Whether a sentence says that the audit was made by the vendor, the employer or people of theirs.

    Examples
    --------
    >>> insider_audits("The audit was carried out in-house."), insider_audits("Our tool was audited by Blue Lake.")
    (True, False)
    """
    if _LABELS_ALONE.fullmatch(sentence):
        return False
    for found in _AUDITED_BY.finditer(sentence):
        who = found["who"] + (found["apposition"] or "")
        inside = found["how"].lower() != "by" or found["apposition"] or re.search(_INSIDER, who, _I)
        if _OF_SOMETHING_ELSE.search(found[0].partition(found["how"])[0]):
            continue
        if found["apposition"] and re.search(r"\bfor\b", found["who"]):
            continue
        if inside and not _OUTSIDER.search(sentence[: found.end()]):
            return True
    return any(
        not _OUTSIDER.search(found[0])
        and not _OUTSIDER.search(sentence[max(0, found.start() - 20) : found.start()])
        for pattern in _INSIDER_AUDITS
        for found in pattern.finditer(sentence)
    )


def auditors(text: str) -> Iterator[SummaryFinding]:
    """Yield what says that the auditor is not independent: in words, or by a name that the vendor or employer has."""
    for sentence in sentences(text):
        if insider_audits(sentence):
            yield SummaryFinding(id="auditor_not_independent", printed=short(sentence), message=_DUTY)
            return
    shapes = in_latin_letters(text)  # a letter of another script may look like one of the vendor's name
    insiders = _names(_NAMED_INSIDER, shapes)
    if (part := _department(shapes, [*insiders, *users(shapes)])) is not None:
        yield SummaryFinding(id="auditor_not_independent", printed=short(part), message=_DUTY)
        return
    for auditor in _names(_NAMED_AUDITOR, shapes):
        for insider in insiders:
            if (close := _closeness(auditor, insider)) is not None:
                kind = "auditor_not_independent" if close == "same" else "auditor_may_be_related"
                message = f"the auditor {auditor!r} has the name of the vendor or employer {insider!r}"
                if close != "same":
                    message = (
                        f"the names of the auditor and of {insider!r} begin alike: do they belong together?"
                    )
                yield SummaryFinding(id=kind, printed=auditor, message=message)
                return
        for tool in _names(_NAMED_TOOL, shapes):
            if _tokens(auditor) != _tokens(tool) and _closeness(auditor, tool) is not None:
                message = f"the tool {tool!r} has a name that begins like the auditor's: did its vendor make the audit?"
                yield SummaryFinding(id="auditor_may_be_related", printed=auditor, message=message)
                return


def _department(text: str, insiders: Sequence[str]) -> str | None:
    """Return the words by which an audit was made by a department of the employer or the vendor."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        # "Auditor", and on the next line who it is
        label = lines[i - 1] if i and _AUDITOR_HEADS.fullmatch(lines[i - 1]) else ""
        for sentence in sentences(line):
            said = f"{label} {sentence}".strip()
            for found in (match for pattern in _DEPARTMENTS for match in pattern.finditer(said)):
                before, by, _ = found[0].rpartition(" by ")
                if _OUTSIDER.search(found[0]) or _OF_SOMETHING_ELSE.search(before if by else found[0]):
                    continue
                if by and not _MADE.search(before):  # reviewed, asked for
                    continue
                if any(_closeness(found["name"], insider) == "same" for insider in insiders):
                    return said
    return None


def _names(patterns: tuple[re.Pattern[str], ...], text: str) -> list[str]:
    found = (
        match["name"].strip(" ,.")
        for pattern in patterns
        for match in pattern.finditer(text)
        if not (patterns is _NAMED_INSIDER and _is_of_the_audit(text, match))
        and not (patterns is _NAMED_AUDITOR and _ENGAGES.match(text, match.end("name")))
    )
    return list(dict.fromkeys(found))


def _is_of_the_audit(text: str, match: re.Match[str]) -> bool:
    """Whether "made by" or "provided by" is said of the audit or of the page: its maker is the auditor."""
    label = _BEFORE_LABEL.match(match[0])
    words = match[0][label.end() if label else 0 :]
    before = text[max(0, match.start() - _CLAUSE) : match.start() + (label.end() if label else 0)]
    if _MADE_BY.match(words) and not (label and label[0].strip()):
        clause = re.split(r"[.,;:(\n]", before)[-1]
        if _OF_THE_AUDIT.search(clause):
            return True
    if label is None or "\n" not in label[0]:
        return False
    line = next((line for line in reversed(before.split("\n")) if line.strip()), "")
    if _COMPANY.match(words):
        return _AUDITOR_HEADS.fullmatch(line) is not None
    return _MADE_BY.match(words) is not None and _AUDIT_HEADS.search(line) is not None


def _closeness(one: str, other: str) -> str | None:
    first, second = _tokens(one), _tokens(other)
    if not first or not second or first[0] in _COMMON:
        return None
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter] and (len(first) == len(second) or shorter > 1):
        return "same"
    return "alike" if first[0] == second[0] else None


def _tokens(name: str) -> list[str]:
    words = re.findall(r"[\w&]+", re.sub(r"['\u2019]s\b", "", name.lower()))
    return [word for word in words if word not in _FORMS]
