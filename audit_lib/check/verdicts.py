"""Verdicts that a bias audit cannot give, and scores that no tool gave, found by their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.stated_fields import NEGATED, sentences, short

_I: Final = re.IGNORECASE
_TOOL: Final = (
    r"(?:tool|aedt|system|model|software|algorithm|solution|product|platform|ai|technology|process)s?"
)
_BIAS: Final = (
    r"(?:bias\w*(?![ -]?(?:audit|analys|assess|test|review|correct|mitigat|metric|stud|evaluat))\b|"
    r"discriminat\w+|(?:adverse|disparate|unlawful|discriminatory) (?:impact|effect|treatment|outcome)s?(?! ratio)|"
    r"fairness (?:issue|concern|problem)s?)"
)
_FOUND: Final = (
    r"(?:find|found|detect\w*|show\w*|reveal\w*|exhibit\w*|identif\w+|observ\w+|produc\w+|display\w*|demonstrat\w+|"
    r"indicat\w+|uncover\w*|result\w*|suggest\w*|introduc\w+|contain\w*|perpetuat\w+|present)"
)
_BE: Final = r"(?:is|are|was|were|be|been|being|remains?|as)"
_AUDIT: Final = r"(?:(?!(?:to|on|through|since|by|from|over|into|along|of|with)\b)[\w'-]+\s+){0,6}?audits?\b"
_RESULT: Final = (
    r"(?:pass(?:ed)?|compliant|fair|unbiased|no bias(?: found)?|clear(?:ed)?|satisfactory|successful)"
)
_VERDICTS: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        # Nothing was found.
        rf"\b(?:no|not any|neither|none)\b[^.;:]{{0,60}}?{_BIAS}",
        rf"\b(?:free|freedom|clear|cleared|devoid) (?:of|from)(?: any)? {_BIAS}|\bbias[- ]free\b|"
        rf"\b(?:absence|lack) of {_BIAS}",
        rf"\b(?:did|does|do|has|have|was|were|is|are)(?: not|n't) (?:\w+ ){{0,3}}{_FOUND}\b[^.;:]{{0,40}}?{_BIAS}",
        rf"{_BIAS}[^.;:]{{0,20}} (?:was|were|is|are|has|have)(?: not|n't)(?: been)? {_FOUND}",
        rf"{_TOOL}\b[^.;:]{{0,40}}\b(?:does|do|did|is|was|are|were)(?: not|n't) (?:\w+ )?(?:discriminate|biased|"
        r"discriminatory|unfair)",
        r"\b(?:audit|analys[ei]s|results?|data|statistics|assessment|review)\b[^.;:]{0,60}\b(?:found|finds?|shows?|showed|"
        r"shown|confirm\w*|conclud\w*|demonstrat\w*|prove[sdn]?|establish\w*|indicat\w*|determin\w*)\b[^.;:]{0,80}"
        r"\b(?:does|do|did)(?: not|n't) (?:\w+ )?discriminat\w+",
        r"\bwithout (?:any )?(?:bias|discrimination)\b(?! audit)",
        # It is fair.
        rf"{_TOOL}\b[^.;:]{{0,40}}\b{_BE} (?:\w+ ){{0,4}}(?:fair|unbiased|non-?discriminatory|compliant|"
        r"equitable|impartial|bias-neutral)\b",
        r"\btreat(?:s|ed)? (?:[^.;:]{0,40} )?(?:equally|fairly|alike|the same)\b",
        r"\bno (?:protected )?(?:group|category|candidate|applicant|race|sex|gender|one)s? (?:is|are|was|were) "
        r"(?:\w+ )?(?:disadvantaged|harmed|adversely affected|favou?red|treated (?:unfairly|differently|worse))",
        r"\b(?:certified|found|deemed|shown|proven|considered|judged) (?:(?:to be|as) )?(?:fair|unbiased|"
        r"non-?discriminatory|equitable|impartial)\b",
        r"\b(?:scores?|ratings?|decisions|results|outcomes) (?:is|are|were) (?:\w+ )?(?:fair|unbiased|impartial)\b",
        r"\b(?:fair|unbiased|impartial) (?:decisions?|scores?|results?|outcomes?|ratings?|selections?)\b",
        rf"^\W*{_BIAS}\s*(?::|=|\u2013)\s*(?:none|no|not)\b",
        # It passed.
        r"\baudit (?:came back|was|is) (?:clean|positive|without findings)\b|^\W*pass(?:ed)?\W.*\baudit\b",
        rf"\b(?:pass(?:es|ed)?|clear(?:s|ed)?)\s+{_AUDIT}",
        rf"\b(?:pass|passing) (?:grade|mark|result|score)s? (?:in|on|for|from) {_AUDIT}",
        r"\baudit\b[^.;:]{0,20}\b(?:was|is|has been) (?:\w+ )?(?:passed|successful)\b",
        rf"\b(?:audit|result|outcome|status|verdict|conclusion|opinion|assessment)s?\b[^.:;]{{0,40}}?"
        rf"\s*(?::|=|\u2013|\bis\b|\bwas\b|\bas\b) (?:an? )?{_RESULT}\W*$",
        rf"^\W*(?:bias )?(?:audit )?(?:result|outcome|status|verdict|conclusion|opinion)s? {_RESULT}\W*$",
        rf"\b{_TOOL}\b[^.;:]{{0,80}}\b(?:and|has|have) pass(?:es|ed)\W*$",
    )
)
# A sentence that denies, asks, demands or hopes gives no verdict.
_NO_VERDICT: Final = re.compile(
    r"\b(?:not|never|no|nor|nothing|cannot|can't|neither)\b[^.;]{0,50}?\b(?:say|says|said|mean|means|certif\w+|prov\w+|"
    r"proof|claim\w*|conclu\w+|read as|finding that|statement|guarantee\w*|impl\w+|establish\w*|evidence of absence|"
    r"certain\w*|know\w*)\b|\bwhether\b|\bif\b|\bunless\b|\bunknown\b|\bmust\b|\bmay\b|\bshall\b|\bshould\b|\brequire"
    r"|\bdesigned\b|\baims?\b|\bprohibit|\bpolicy\b|\bby itself\b|\bon its own\b|\bnecessarily\b|\bratios?\b[^.;]{0,60}"
    r"\b(?:does|do|is|are)(?: not|n't)\b",
    _I,
)

_SCORES: Final = (
    r"(?:scores?|ratings?|rankings?|results?|outcomes?|outputs?|decisions|selections|scoring outputs)"
)
_PEOPLE: Final = r"(?:candidates?|applicants?|people|persons|individuals|job seekers|employees)"
_CHANCE: Final = (
    r"(?:at random|random(?:ly|i[sz]ed)?\b(?! (?:sub)?sampl| selecti| order)|by chance|by lot|"
    r"simulated|synthetic(?:ally)?\b|artificial(?:ly)?\b|made up|"
    r"invented|fabricated|fictitious|numpy|coin|dice|(?:uniform|normal|gaussian|beta|binomial) distribution|"
    r"(?:pseudo-?)?random[- ](?:number )?generator)"
)
_LOOKED_AT: Final = (
    r"(?:checked|reviewed|verified|inspected|examined|sorted|ordered|presented|compared|split|"
    r"shuffled)\b"
)
_MADE_UP: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        rf"\b{_SCORES}(?: (?:of|for|in|from|on|used|behind|that|which) [^.;,]{{1,40}}?| (?:\w+ ){{0,1}}\w+)? "
        r"(?:was|were|are|is|has been|have been|come|came|stem|being) "
        rf"(?!(?:not|never)\b)(?:(?!{_LOOKED_AT})[\w'-]+ ){{0,5}}?{_CHANCE}",
        rf"\b(?:simulated?|invented|made up|fabricated|randomi[sz]ed) (?:the |all )?"
        rf"(?:{_TOOL}'s |candidates' )?{_SCORES}",
        r"\brandom(?:ly)?[- ](?:generated |drawn |assigned )?(?:scores?|ratings?|results?|outcomes?|outputs?)\b",
        r"\brandom numbers?\b[^.;]{0,60}\b(?:scores?|ratings?|results?)\b",
        rf"\b(?:we|I|auditors?) (?:generated|created|made|assigned|filled in) (?:\w+ ){{0,3}}{_SCORES} "
        r"(?:ourselves|themselves|by hand|for illustration|instead)\b",
        r"\b(?:coin (?:toss|flip)|dice|lottery|random draw)s?\b[^.;]{0,40}\b(?:decid|determin|chose|assign)",
        rf"\b(?:numbers|figures|data|{_SCORES})(?: (?:of|for|in|on) [^.;,]{{1,40}}?)? (?:are|were) "
        r"(?:\w+ )?(?:illustrative|fictional|hypothetical|fictitious)\b",
        rf"\b(?:drew|picked|assigned|sampled|chose|generated|created|produced) (?:\w+ ){{0,2}}{_SCORES} "
        rf"(?:\w+ ){{0,3}}{_CHANCE}",
        rf"\b(?:placeholder|stand-in|fictitious|made-up|dummy|mock|fake|invented|fabricated|simulated|synthetic|"
        rf"artificial|hypothetical) {_SCORES}",
        rf"\b{_SCORES} (?:was|were|are|is) (?:(?:only|just|merely|mere) )?(?:placeholders?|stand-ins?|dumm(?:y|ies)|"
        r"mock-ups?|inventions?|fakes?)\b",
        rf"\b(?:race|sex|gender|ethnicity|demographics?|categor(?:y|ies))\b[^.;]{{0,60}} (?:was|were|are|is|been) "
        rf"(?!(?:not|never)\b)(?:[\w'-]+ ){{0,5}}?{_CHANCE}",
        rf"\b(?:simulated|invented|made-up|fabricated|fictitious|imaginary|computer-generated) {_PEOPLE}\b",
        rf"\b{_PEOPLE}\b[^.;]{{0,30}} (?:was|were|are|is|been) (?!(?:not|never)\b)(?:[\w'-]+ ){{0,3}}?(?:simulated|"
        r"invented|made up|fabricated|fictitious|(?:created|generated|produced) by (?:an? )?(?:script|program|"
        r"computer))\b",
        rf"\b{_SCORES} [^.;]{{0,40}}\b(?:instead|in place|in lieu) of (?:the |our |its )?"
        rf"(?:{_TOOL}(?:'s)?|actual|real)\b",
    )
)


def verdicts(text: str) -> Iterator[SummaryFinding]:
    """Yield sentences by which the tool passed, or nothing was found against it."""
    for sentence in sentences(text):
        if gives_verdict(sentence):
            message = (
                "a bias audit gives rates and ratios of the data it had; the rule knows no result that passes"
            )
            yield SummaryFinding(id="verdict_given", printed=short(sentence), message=message)


def gives_verdict(sentence: str) -> bool:
    """Whether a sentence says that a tool passed its audit, or that it has no bias.

    Examples
    --------
    >>> gives_verdict("No bias was found."), gives_verdict("This page does not say that the tool is free of bias.")
    (True, False)
    """
    return _NO_VERDICT.search(sentence) is None and any(p.search(sentence) for p in _VERDICTS)


def makes_up_scores(sentence: str) -> bool:
    """Whether a sentence says that scores were made up, and does not deny it.

    Examples
    --------
    >>> makes_up_scores("Without access, scores were drawn at random."), makes_up_scores("No scores were simulated.")
    (True, False)
    """
    for pattern in _MADE_UP:
        for found in pattern.finditer(sentence):
            before = re.split(r"[,;:]", sentence[: found.start()])[-1]
            if not NEGATED.search(before[-40:] + found[0]):
                return True
    return False
