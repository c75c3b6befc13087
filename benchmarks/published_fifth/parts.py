"""Parts that several layouts share: table sections and tables about other things."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

from benchmarks.published_fifth.model import AuditTable, Block, Bullets, Cell, Draw, Grid, Heading, Para
from benchmarks.published_fifth.numbers import count_text, date_text
from benchmarks.published_fifth.words import Words

Shape = Callable[[AuditTable], Grid]


def titles(draw: Draw) -> dict[str, str]:
    """The headings of the three tables."""
    return {
        "sex": draw.pick("t1", ["Sex Categories", "Results by Sex", "Gender", "Sex"]),
        "race": draw.pick(
            "t2",
            [
                "Race/Ethnicity Categories",
                "Results by Race/Ethnicity",
                "Race and Ethnicity",
                "Race/Ethnicity",
            ],
        ),
        "inter": draw.pick(
            "t3",
            [
                "Intersectional Categories",
                "Intersectional Results (Sex and Race/Ethnicity)",
                "Race/Ethnicity by Sex",
                "Intersectional",
            ],
        ),
    }


def sections(
    draw: Draw,
    words: Words,
    unit: int,
    shapes: dict[str, Shape],
    level: int = 3,
    order: tuple[str, ...] = ("sex", "race", "inter"),
    captions: bool = False,
    numbered: bool = False,
) -> list[Block]:
    """The tables of one position, each with its heading and notes."""
    blocks: list[Block] = []
    names = titles(draw)
    where = f" - {draw.units[unit].name}" if len(draw.units) > 1 and captions else ""
    for kind in order:
        table = draw.table(unit, kind)
        if table is None:
            continue
        grid = shapes[kind](table)
        number = 1 + sum(isinstance(block, Grid) for block in blocks) + 3 * unit
        title = (f"Table {number}. " if numbered else "") + names[kind] + where
        if captions:
            grid.caption = title
        else:
            blocks.append(Heading(level, title))
        grid.notes = words.exclusion(table)
        blocks.append(grid)
    return blocks


def after(words: Words, unit: int) -> list[str]:
    """What stands below the tables of a position."""
    return words.same_people(unit) + words.unknown(unit) + words.highest(unit)


def paras(texts: list[str]) -> list[Block]:
    """Each text as a paragraph."""
    return [Para(text) for text in texts]


def _grid(head: list[str], rows: list[list[str]], caption: str = "") -> Grid:
    """A plain table."""
    return Grid(
        [[Cell(text, head=True) for text in head]], [[Cell(text) for text in row] for row in rows], caption
    )


def offices(draw: Draw) -> Grid:
    """Where the employer has offices."""
    rng = Random(draw.seed + "offices")
    rows = [
        ["New York, NY", "Headquarters", str(rng.randint(200, 1900))],
        ["Jersey City, NJ", "Operations", str(rng.randint(40, 700))],
        ["Chicago, IL", "Regional office", str(rng.randint(30, 500))],
        ["Austin, TX", "Service center", str(rng.randint(30, 500))],
    ]
    return _grid(["Location", "Type", "Employees"], rows[: rng.randint(2, 4)])


def pricing(draw: Draw) -> Grid:
    """The vendor's plans."""
    rng = Random(draw.seed + "pricing")
    base = rng.randint(3, 9) * 50 - 1
    return _grid(
        ["Plan", "Monthly price", "Assessments included", "Support"],
        [
            ["Starter", f"${base}", "250", "E-mail"],
            ["Growth", f"${base * 3}", "1,500", "E-mail and chat"],
            ["Enterprise", "Contact us", "Unlimited", "Named manager"],
        ],
    )


def changes(draw: Draw) -> Grid:
    """The releases of the tool."""
    rng = Random(draw.seed + "changes")
    major = rng.randint(2, 6)
    rows = [
        [f"{major}.{minor}", text]
        for minor, text in (
            (3, "Faster loading of the recruiter view"),
            (2, "New languages: French, Spanish"),
            (1, "Accessibility fixes (WCAG 2.1 AA)"),
            (0, "New user interface"),
        )
    ]
    return _grid(["Version", "What changed"], rows)


def control(draw: Draw, words: Words) -> Grid:
    """The document control table of a report."""
    f = draw.facts
    rows = [
        ["Client", f.employer],
        ["System", f.tool],
        ["Classification", "Public"],
        ["Version", draw.pick("ver", ["1.0", "1.1", "2.0"])],
    ]
    if "audit" not in f.missing:
        rows.insert(
            2,
            [
                "Report date",
                date_text(f.audit + timedelta(days=int(draw.pick("rd", ["3", "5", "8"]))), draw.style.dates),
            ],
        )
    return _grid(["Document control", ""], rows)


def volume(draw: Draw) -> Grid:
    """People in the audit by quarter of the data."""
    rng = Random(draw.seed + "volume")
    total = sum(unit.both_known for unit in draw.units)
    cuts = sorted(rng.uniform(0.18, 0.82) for _ in range(3))
    marks = [0] + [round(total * cut) for cut in cuts] + [total]
    rows = [[f"Quarter {i + 1}", count_text(marks[i + 1] - marks[i], draw.style.count)] for i in range(4)]
    rows.append(["All four quarters", count_text(total, draw.style.count)])
    return _grid(["Period of the data", "People in the intersectional analysis"], rows)


def glossary() -> Bullets:
    """A short list of terms."""
    return Bullets(
        [
            "AEDT: automated employment decision tool, as defined in NYC Admin. Code § 20-870.",
            "Impact ratio: the rate of a category divided by the rate of the category with the highest rate.",
            "Four-fifths rule: a rule of thumb in federal guidelines (29 CFR 1607.4(D)); it is not "
            "part of Local Law 144.",
        ]
    )


def nav(draw: Draw) -> list[str]:
    """The links at the top of the page."""
    return [
        ["Home", "About us", "Careers", "Benefits", "Locations", "Contact"],
        ["Products", "Solutions", "Pricing", "Resources", "Company", "Log in"],
        ["Jobs", "Students", "Life here", "Diversity & inclusion", "FAQ"],
    ][int(draw.pick("nav", ["0", "0", "2"]))]


COOKIES = [
    "We use cookies to improve your experience. By continuing to browse you agree to our cookie "
    "policy. Accept all | Reject | Settings",
    "This website stores cookies on your computer. Manage preferences - Accept",
    "Your privacy matters. We and 34 partners use cookies for analytics. 100% of optional cookies can be declined.",
]
RELATED = [
    "Equal Employment Opportunity statement",
    "Know Your Rights: Workplace Discrimination is Illegal (PDF)",
    "Pay transparency",
    "Applicant privacy notice",
    "Request an accommodation",
    "How we hire: 5 tips for your interview",
    "Transparency in Coverage",
]


def web(draw: Draw) -> dict[str, object]:
    """What stands around the text of a web page."""
    f = draw.facts
    first = int(draw.pick("rel", ["0", "1", "2", "3"]))
    links = ["Terms of use | Privacy", "Privacy | Cookie settings | Sitemap", "An equal opportunity employer"]
    return {
        "nav": nav(draw),
        "cookie": draw.pick("cookie", COOKIES) if draw.chance("ck", 60) else "",
        "related": RELATED[first : first + 3] if draw.chance("rl", 70) else [],
        "footer": f"© 2026 {f.employer} All rights reserved. {draw.pick('ft', links)}",
    }
