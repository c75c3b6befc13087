"""A page as one self-contained HTML file: no script, no remote asset, readable on a phone and on paper."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from audit_lib.report.blocks import Page


def render_html(page: Page) -> bytes:
    """Return the page as HTML (UTF-8). Every text is escaped; only charts and the style sheet are not."""
    template = _environment().get_template("report.html.j2")
    return template.render(page=page, style=Markup(_style()), safe=Markup).encode()


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
def _style() -> str:
    return files("audit_lib.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
