"""A page as one self-contained HTML file: no script, no remote asset, readable on a phone and on paper.

`paper` makes the HTML that the PDF is set from: nothing folded, charts as pictures with an alternative text, and
facts as tables, which PDF has tags for.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache, partial
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from audit_lib.figures import figure_style, standalone
from audit_lib.page_transcript import with_transcript
from audit_lib.report.blocks import Page
from audit_lib.translation import Filled, speaking, t

_HALO = re.compile(
    r"paint-order:stroke;stroke:[^;}]+;stroke-width:4px;?|stroke:#[0-9a-f]+;stroke-width:4px;?"
)

_WORD = re.compile(r"(<text\b[^>]*>)([^<]*)(?=</text>)")

_WITH_DIGITS = re.compile(r"(\S*\d\S*(?: %)?)")

# Controls but tab and newlines, surrogates, and the characters that embed, override or isolate a direction.
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)


def render_html(page: Page, *, paper: bool = False, short: bool = False) -> bytes:
    """Return the page as HTML (UTF-8), with its transcript. All texts are escaped but charts and the style sheet.

    A `short` page has no charts and no contents, and is set close, for two sheets of paper or a telephone.
    """
    template = _environment().get_template("short.html.j2" if short else "report.html.j2")
    with speaking(page.language):
        style = Markup(page_style(paper=paper, short=short) + (_page_numbers(page.language) if paper else ""))
        around = {"skip": t("Skip to the results"), "on_this_page": t("On this page")}
    made = template.render(
        page=page,
        style=style,
        drawn=_drawn,
        paper=paper,
        picture=_picture,
        described=_described,
        said=partial(_said, page.untranslated),
        **around,
    )
    return with_transcript(readable(made)).encode()


def _page_numbers(language: str) -> str:
    """Return the footer of a sheet of paper in another language than English, whose words the style sheet has."""
    if language == "en":
        return ""
    words = t("{page} of {pages}", page='" counter(page) "', pages='" counter(pages) "')
    return f'\n@page {{ @bottom-right {{ content: "{words}" }} }}\n'


def rendered_template(name: str, **values: object) -> bytes:
    """Return a small template of its own, such as the card, filled in; every value is escaped."""
    return readable(_environment().get_template(name).render(values)).encode()


def readable(words: str) -> str:
    """Put a mark in place of what is no text: XML refuses controls, and some turn what follows round for the eye.

    Examples
    --------
    >>> readable("Ada" + chr(0x202E) + chr(11))
    'Ada��'
    """
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", words)


def _said(untranslated: frozenset[str], words: str) -> str:
    """Return a text with what its numerals are; mark one that is in English on a page in another language."""
    told = _told(words)
    return Markup('<span lang="en">{}</span>').format(told) if words in untranslated else told


def _told(words: str) -> str:
    """Say of each numeral of a text what it is, where the text knows."""
    if not isinstance(words, Filled) or not any(map(str.isdigit, words)):
        return words
    made = [
        f'<span data-of="{escape(of)}">{escape(piece)}</span>' if number % 2 and of else escape(piece)
        for stretch, of in words.stretches
        for number, piece in enumerate(_WITH_DIGITS.split(stretch))
        if piece
    ]
    return Markup("".join(made))


def _drawn(svg: str) -> Markup:
    """Return a figure for the page. Its words are inline, so that programs which compute contrasts can do so."""
    return Markup(_WORD.sub(r"\1<tspan>\2</tspan>", svg))


def _picture(svg: str) -> str:
    # The halo of texts lies under them on screens; WeasyPrint does not know `paint-order` and would paint it over.
    picture = readable(_HALO.sub("", standalone(svg)))
    return "data:image/svg+xml;base64," + b64encode(picture.encode()).decode()


def _described(svg: str) -> Markup:
    """Title and description of a figure, which are escaped already."""
    title, description = (re.search(f"<{tag}>(.*?)</{tag}>", svg, re.S) for tag in ("title", "desc"))
    return Markup(". ".join(found[1] for found in (title, description) if found and found[1]))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("audit_lib.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def page_style(*, paper: bool, short: bool = False) -> str:
    """Return the style sheet of a page, for a screen or for paper."""
    folder = files("audit_lib.report").joinpath("templates")
    if short:
        return "\n".join(
            folder.joinpath(name).read_text(encoding="utf-8")
            for name in (("short.css", "short_paper.css") if paper else ("short.css",))
        )
    names = ("style.css", "paper.css") if paper else ("style.css",)
    sheets = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return "\n".join([sheets[0], figure_style(), *sheets[1:]])
