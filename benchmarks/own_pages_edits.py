"""Edits of one numeral, mark or verdict of an HTML page, a PDF or a report.json, made in the file's own text."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.canonical import pretty_json


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: its kind, what it made of the file, and what it changed."""

    kind: str
    content: bytes
    what: str


_TEXT: Final = re.compile(r">([^<>]*\d[^<>]*)<")
_VERDICTS: Final = {
    "undecided": "equivalent", "difference": "undecided", "equivalent": "difference", "indicated": "not indicated",
    "Not below the guideline": "Below the guideline", "Below the guideline": "Not below the guideline",
    "indeciso": "equivalente", "hidden": "0.912", "undefined": "1.000", "missing": "computed", "Not signed": "Signed",
    "met": "not met",
}  # fmt: skip


def _digit(rng: random.Random, words: str) -> str:
    at = rng.choice([i for i, one in enumerate(words) if one.isdigit()])
    return words[:at] + rng.choice([d for d in "0123456789" if d != words[at]]) + words[at + 1 :]


def _other_digit(rng: random.Random, found: re.Match[str]) -> str:
    return found[0].replace(found[1], _digit(rng, found[1]), 1)


def html_edit(rng: random.Random, page: str) -> Edit | None:
    """Make one edit of a page's text, outside of its head."""
    start = page.index("<body")
    kind = rng.choice(["digit"] * 5 + ["exchange", "sign", "mark", "verdict", "flag", "chart"])
    body = page[start:]
    made = ""
    if kind == "digit":
        found = rng.choice(list(_TEXT.finditer(body)))
        made = _put(body, found, ">" + _digit(rng, found[1]) + "<")
    elif kind == "exchange":
        cells = list(re.finditer(r"<td[^>]*>([\d.,%]+)", body))
        if len({one[1] for one in cells}) > 1:
            a = rng.choice(cells)
            b = rng.choice([one for one in cells if one[1] != a[1]])
            first, second = sorted((a, b), key=lambda one: one.start())
            made = (
                body[: first.start(1)] + second[1] + body[first.end(1) : second.start(1)] + first[1]
                + body[second.end(1) :]
            )  # fmt: skip
    elif kind == "sign":
        found = rng.choice(list(re.finditer(r"(?<=[> (])([+\N{MINUS SIGN}]?)(?=\d+\.\d+[ <)])", body)))
        made = _put(body, found, "" if found[0] else "\N{MINUS SIGN}")
    elif kind == "mark":
        stars = list(re.finditer(r' <span class="mark">[^<]*</span>', body))
        cells = list(re.finditer(r"(?<=\d)(?=</td>)", body))
        found = rng.choice(stars + cells[: len(stars) + 1] if cells else stars)
        made = _put(body, found, "" if found[0] else ' <span class="mark">*</span>')
    elif kind == "verdict":
        there = [word for word in _VERDICTS if re.search(rf">[^<>]*\b{word}\b[^<>]*<", body)]
        if there:
            word = rng.choice(there)
            found = rng.choice(list(re.finditer(rf">[^<>]*?\b({word})\b[^<>]*<", body)))
            at = found.start(1) - found.start()
            made = _put(body, found, found[0][:at] + _VERDICTS[word] + found[0][at + len(word) :])
    elif kind == "flag":
        found = rng.choice(list(re.finditer(r'class="((?:number )?(?:flag|muted|plain|number))"', body)))
        made = _put(body, found, f'class="{"muted" if "flag" in found[1] else "number flag"}"')
    else:
        marks = list(re.finditer(r'(?<= )(?:cx|cy|x1|x2|y1|height|width)="([\d.]+)"', body))
        labels = list(re.finditer(r'<text class="(?:value|tick)"[^>]*><tspan>([^<]*\d[^<]*)<', body))
        if marks or labels:
            found = rng.choice(rng.choice([one for one in (marks, labels) if one]))
            made = body[: found.start(1)] + _digit(rng, found[1]) + body[found.end(1) :]
    if not made or made == body:
        return None
    return Edit(kind, (page[:start] + made).encode(), _difference(body, made))


def _put(body: str, found: re.Match[str], instead: str) -> str:
    return body[: found.start()] + instead + body[found.end() :]


def _difference(before: str, after: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    return f"{before[max(0, at - 30) : at + 20]!r} -> {after[max(0, at - 30) : at + 20]!r}"


def json_edit(rng: random.Random, content: bytes) -> Edit | None:
    """Make one edit of a number, a flag or a verdict of a report.json."""
    document = json.loads(content)
    leaves = [one for one in _leaves(document) if one[0][0] != "digests"]
    kind = rng.choice(["digit"] * 4 + ["exchange", "sign", "flag", "verdict"])
    numbers = [one for one in leaves if isinstance(one[1], int | float) and not isinstance(one[1], bool)]
    if kind in ("flag", "verdict"):
        fit = [
            one for one in leaves
            if (isinstance(one[1], bool) if kind == "flag" else one[0][-1] in ("kind", "verdict", "status"))
        ]  # fmt: skip
        if not fit:
            return None
        path, value = rng.choice(fit)
        new: Any = (not value) if kind == "flag" else _VERDICTS.get(value, "difference")
    else:
        path, value = rng.choice(numbers)
        if kind == "digit":
            written = _digit(rng, repr(value))
            try:
                new = json.loads(written)
            except ValueError:
                return None
        elif kind == "sign":
            new = -value
        else:
            other, new = rng.choice(numbers)
            _set(document, other, value)
    if new == value:
        return None
    _set(document, path, new)
    return Edit(kind, pretty_json(document), f"{'/'.join(map(str, path))}: {value} -> {new}")


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _leaves(one, (*path, i))
    else:
        yield path, value


def _set(document: Any, path: tuple[str | int, ...], value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def pdf_edit(rng: random.Random, content: bytes) -> Edit | None:
    """Put another glyph of the same font where a digit is drawn, or draw two numbers in each other's place."""
    import pikepdf

    with pikepdf.open(io.BytesIO(content)) as pdf:
        page = rng.choice(list(pdf.pages))
        instructions = list(pikepdf.parse_content_stream(page))
        font, drawn = "", []
        for i, (operands, operator) in enumerate(instructions):
            if str(operator) == "Tf":
                font = str(operands[0])
            elif str(operator) in ("Tj", "TJ"):
                drawn.append((i, font))
        letters = {name: _letters(of) for name, of in page.Resources.Font.items()}
        places = []
        for i, name in drawn:
            operands, _ = instructions[i]
            strings = list(operands[0]) if isinstance(operands[0], pikepdf.Array) else [operands[0]]
            for k, string in enumerate(strings):
                if isinstance(string, pikepdf.String):
                    raw = bytes(string)
                    places += [
                        (i, k, j, name)
                        for j in range(0, len(raw), 2)
                        if letters[name].get(raw[j : j + 2], "").isdigit()
                    ]
        if not places:
            return None
        i, k, j, name = rng.choice(places)
        operands, operator = instructions[i]
        is_array = isinstance(operands[0], pikepdf.Array)
        strings = list(operands[0]) if is_array else [operands[0]]
        raw = bytes(strings[k])
        old = letters[name][raw[j : j + 2]]
        others = [code for code, letter in letters[name].items() if letter.isdigit() and letter != old]
        if not others:
            return None
        new = rng.choice(others)
        strings[k] = pikepdf.String(raw[:j] + new + raw[j + 2 :])
        operands = [pikepdf.Array(strings)] if is_array else [strings[0]]
        instructions[i] = pikepdf.ContentStreamInstruction(operands, operator)
        page.Contents = pdf.make_stream(pikepdf.unparse_content_stream(instructions))
        out = io.BytesIO()
        pdf.save(out)
    return Edit("digit", out.getvalue(), f"{old} -> {letters[name][new]}")


def _letters(font: Any) -> dict[bytes, str]:
    """Code of a glyph -> its letter, by the font's own table."""
    table = font.ToUnicode.read_bytes().decode("latin-1") if "/ToUnicode" in font else ""
    return {
        bytes.fromhex(code): bytes.fromhex(letter).decode("utf-16-be")
        for code, letter in re.findall(r"<([0-9A-Fa-f]{4})>\s*<([0-9A-Fa-f]{4})>", table)
    }
