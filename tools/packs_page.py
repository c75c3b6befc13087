"""Print the reference page of the policy packs, from the packs: what a lawyer reads before they rely on one.

python tools/packs_page.py > docs/reference/packs.md
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from audit_lib.policies import Clock, Policy, load_policy, policy_names
from audit_lib.policies.standing import since
from audit_lib.registry import Plugins
from audit_lib.report.sections.periods import length

START: Final = """\
# Policy packs, law by law

<!-- Made by `python tools/packs_page.py` from the packs; edit those, then make this page again. -->

A pack is a reading of law by people who are not your lawyers. *primary*: the text itself was read, or a verbatim copy
of it. *secondary*: an account of it was. *recalled*: no source was found; it is printed as "to be looked up". What was
not verified in any way is left out. No law here sets a pass mark; four fifths is a guideline of 29 CFR 1607.4(D).

What no pack can know:

- Whether a law binds you. A pack prints whom it binds; which employer, which tool and which place are not looked at.
- Whether what a spec states is true. *Stated* means that nothing checked it; *seen* that an address answered on a day,
  and not that its page says what the law asks; *computed* that the run's own artefacts show it.
- Whether an auditor is independent. Names of auditor, employer and vendor are compared, and attestations are signed;
  who owns or pays whom is not known.
- Holidays. Business days are Mondays to Fridays, so a period of them ends later where one falls on a holiday.
- What a court or an agency makes of it, and what became law after a pack's sources were looked at.
- Whether the numbers fit another law's question. Under every pack they are computed alike, by the formulae of New York
  City, and groups are those of the spec unless the law names its own.
- In Spanish, names of laws and paragraphs are ours. The English or original text is the one that was read.

`audit policies [NAME] --on DAY` says whether a law is in force on a day, and warns of a pack whose sources were looked
at more than 90 days before `--today`. [Keys and gates](policies.md), [one run under several
packs](../howto/several-laws.md).
"""


def page() -> str:
    """Return the page."""
    of_packages = set(Plugins("policies").names())
    packs = [load_policy(name) for name in policy_names() if name not in of_packages]
    lines = [
        START,
        "| pack | law | applies since | records kept longest | version, as of |",
        "|---|---|---|---|---|",
    ]
    lines += [_line(pack) for pack in packs]
    for pack in packs:
        lines += ["", *_pack(pack)]
    return "\n".join(lines).rstrip() + "\n"


def _line(pack: Policy) -> str:
    first = since(pack)
    kept = _longest(pack)
    return (
        f"| [`{pack.name}`](#{pack.name}) | {pack.law} | {first or 'not stated'} | "
        f"{'no period' if kept is None else length(kept)} | {pack.version}, {pack.as_of} |"
    )


def _longest(pack: Policy) -> Clock | None:
    from audit_lib.policies.retention import longest

    return longest(pack, date(2026, 1, 1))


def _pack(pack: Policy) -> Iterator[str]:
    yield f"## {pack.name}"
    yield ""
    yield f"{pack.jurisdiction}: {pack.law}. Version {pack.version}; sources as of {pack.as_of}."
    if pack.in_force is not None:
        doubt = f" {pack.in_force.doubt}" if pack.in_force.doubt else ""
        yield f"In force since {pack.in_force.since} ({pack.in_force.cite}; {pack.in_force.seen}).{doubt}"
    if pack.binds is not None:
        yield f"Binds: {pack.binds.text} ({pack.binds.cite}; {pack.binds.seen})"
    yield f"Threshold: {pack.guidance.threshold}, {pack.guidance.name}, {pack.guidance.cite}: {pack.guidance.standing}."
    if pack.duties:
        yield from ("", "| duty | whose | since | paragraph | how sure |", "|---|---|---|---|---|")
        for duty in pack.duties:
            yield f"| {duty.text} | {duty.of} | {since(pack, duty)} | {duty.cite} | {duty.seen} |"
    yield from (
        "",
        "| period | kind | length | starts | since | paragraph | standing | how sure |",
        "|---|---|---|---|---|---|---|---|",
    )
    for clock in pack.clocks:
        first = since(pack, clock) or "not stated"
        yield (
            f"| {clock.what} | {clock.kind} | {length(clock)} | {clock.starts} | {first} | {clock.cite} | "
            f"{clock.status} | {clock.seen} |"
        )
    yield from ("", "| checklist | asked | paragraph | when | since |", "|---|---|---|---|---|")
    for line in pack.required_fields:
        yield (
            f"| {line.id} | {line.duty} | {line.cite} | {line.condition} | {since(pack, line) or 'not stated'} |"
        )
    yield from _caveats(pack)
    if pack.not_claimed:
        yield from ("", "Not claimed:", "")
        yield from (f"- {one.text} ({one.cite})" for one in pack.not_claimed)
    yield from ("", "Sources:", "")
    for source in pack.citations:
        title = f"[{source.title}]({source.url})" if source.url else source.title
        yield f"- {title}. {source.publisher}, {source.dated}. {source.seen.capitalize()}."
    if pack.changes:
        yield from ("", "Changes:", "")
        yield from (f"- {one.version}, {one.day}: {one.change} Source: {one.source}." for one in pack.changes)


def _caveats(pack: Policy) -> Iterator[str]:
    """What is to be kept in mind with this pack: how it reads what the text leaves open, and what a page says of it."""
    yield from ("", "Caveats:", "")
    yield f"- {pack.guidance.wording}"
    yield f"- {pack.exclusion.wording} ({pack.exclusion.cite})"
    refused = [*pack.provenance.refused, *pack.provenance.experiment]
    accepted = ", ".join(one.replace("_", "-") for one in pack.provenance.audit)
    others = ", ".join(one.replace("_", "-") for one in refused)
    rest = f" Of {others} ones a page has another title." if others else ""
    yield f"- Demographics that count: {accepted}.{rest} ({pack.provenance.cite})"
    yield from (f"- {words}" for words in pack.caveats)
    yield from ("", "Where the text leaves room:", "")
    for switch in pack.switches:
        yield f"- {switch.question} {switch.options_text[switch.value]}. {switch.reason} ({switch.cite})"


if __name__ == "__main__":
    print(page(), end="")
