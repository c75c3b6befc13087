"""The style of figures: for a page that holds them, and inside a file that must look well by itself."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from audit_lib.errors import InputError

_BLOCK = re.compile(
    r"^(?P<head>:root|@media[^{\n]*prefers-color-scheme: dark[^{\n]*) \{(?P<body>.*?)^\}", re.M | re.S
)
_RULE = re.compile(r"^\.chart [^{\n]*\{[^}\n]*\}", re.M)
_VARIABLE = re.compile(r"--([a-z0-9-]+): ([^;]+);")


def figure_style() -> str:
    """Return the rules that a page adds to its own style sheet to hold figures.

    Returns
    -------
    str
        CSS. It uses the variables of the report's page (``--ink``, ``--paper`` and so on).

    Examples
    --------
    >>> ".chart .mark" in figure_style()
    True
    """
    return files("audit_lib.figures").joinpath("figures.css").read_text(encoding="utf-8")


def standalone(svg: str) -> str:
    """Make a file of a figure: its size, and the page's colours, light and dark, inside it.

    Parameters
    ----------
    svg : str
        What any function of this package gives back.

    Returns
    -------
    str
        An SVG document, with the reader's colour scheme. It needs no other file.

    Raises
    ------
    InputError
        If the text is no figure of this package.

    Examples
    --------
    >>> from audit_lib.figures import fairness_ndcg_curve
    >>> file = standalone(fairness_ndcg_curve([1, 2], {"RABBI": [1.0, 0.9]}))
    >>> "prefers-color-scheme: dark" in file, "var(" in file
    (True, False)
    """
    found = re.match(r'<svg class="chart" viewBox="0 0 (\d+) (\d+)"[^>]*>', svg)
    if found is None or not svg.endswith("</svg>"):
        raise InputError("standalone: expected the <svg> element that a figure of audit_lib.figures gives")
    width, height = found.groups()
    head = found[0].replace("<svg ", f'<svg width="{width}" height="{height}" ')
    # Title and description stay first, where readers of screens look for them.
    words, rest = re.match(r"(<title>.*?</title><desc>.*?</desc>)(.*)", svg[found.end() :], re.S).groups()  # type: ignore[union-attr]
    used = set(re.findall(r'class="([^"]+)"', svg))
    return f"{head}{words}<style>{_rules(frozenset(used))}</style>{rest}\n"


def _rules(used: frozenset[str]) -> str:
    """The rules that a figure uses, with plain colours instead of variables: not all viewers know variables."""
    light, dark, rules = _palette()
    names = {"chart", "text", "path"} | {name for kind in used for name in kind.split()}
    mine = [(".chart", ["background: var(--paper)", "font-family: var(--sans)"])]
    for rule in rules:
        head, body = rule.rstrip("}").split("{")
        selectors = [s.strip() for s in head.split(",") if set(re.findall(r"[a-z][a-z0-9-]*", s)) <= names]
        if selectors:
            mine.append((",".join(selectors), [d.strip() for d in body.split(";") if d.strip()]))
    # In the dark only colours change.
    colours = [(head, [d for d in body if re.search(r"var\(--(?!sans)", d)]) for head, body in mine]
    dark_rules = "".join(_filled(head, body, {**light, **dark}) for head, body in colours if body)
    return (
        "".join(_filled(*rule, light) for rule in mine)
        + f"@media (prefers-color-scheme: dark){{{dark_rules}}}"
    )


def _filled(selectors: str, declarations: list[str], values: dict[str, str]) -> str:
    plain = re.sub(r"var\(--([a-z0-9-]+)\)", lambda m: values[m[1]], ";".join(declarations))
    return f"{selectors}{{{re.sub(r': ', ':', plain)}}}"


@cache
def _palette() -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Variables in light and in dark, and the rules, from the page's style sheet and the figures' own."""
    page = files("audit_lib.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for sheet in (page, figure_style()):
        for block in _BLOCK.finditer(sheet):
            (light if block["head"] == ":root" else dark).update(_VARIABLE.findall(block["body"]))
    return light, dark, [*_RULE.findall(page), *_RULE.findall(figure_style())]
