"""Keep the catalogues of texts: collect the texts for people from the code, packs and records, and compile.

    python tools/catalogue.py update             # audit_lib/translation/LANGUAGE.po and .mo, from the sources
    python tools/catalogue.py missing es [PART]  # as JSON: English texts without a translation, from files named PART
    python tools/catalogue.py fill es FILE       # put the translations of such a JSON file into the catalogue
    python tools/catalogue.py check              # exit code 1 where a catalogue is not what its sources make

Texts are: arguments of `t`, `tn`, `tp` and `mark`; reasons (`Undefined`, `UndefinedMetricError`), words of how
numbers are made (`method=`), which archives hold filled in; titles and wordings of policy packs, of the framework and
of the metrics' records.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import Any, Final

import yaml
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from audit_lib.measure.metric import METRICS, record_of
from audit_lib.translation import LANGUAGES

REPOSITORY: Final = Path(__file__).parent.parent
LIBRARY: Final = REPOSITORY / "audit_lib"
FOLDER: Final = LIBRARY / "translation"
_NEVER: Final = datetime(2026, 1, 1, tzinfo=UTC)  # the same texts give the same bytes on any day
REASONS: Final = {"Undefined", "UndefinedMetricError"}
OF_PACKS: Final = {
    "jurisdiction", "law", "short_law", "title", "rate", "count", "formula", "name", "standing", "wording", "reason",
    "question", "text", "dated", "cite", "why", "label", "sentence", "doubt", "caveats", "experiment_caveats",
    "options_text",
}  # fmt: skip
"""Keys of packs and of the framework whose texts are printed; not `name`, but of the guidance and such."""
NAMES_OF_PACKS: Final = {
    "title", "rate", "count", "law", "short_law", "jurisdiction", "categories", "qualifier", "cite", "publisher",
    "duty", "what", "starts", "status", "term", "of",
}  # fmt: skip
"""Those that are printed also where they are one word."""
OF_RECORDS: Final = ("title", "unit", "meaning", "gap", "of_groups", "cite")

Found = tuple[str | tuple[str, str], str | None, str]
"""A text (singular and plural), its context, and the file it is in."""


def texts() -> Iterator[Found]:
    """Every text for people, with where it is."""
    for path in sorted(LIBRARY.rglob("*.py")):
        where = path.relative_to(REPOSITORY).as_posix()
        if not where.startswith("audit_lib/translation/"):
            for words, context in of_python(path.read_text(encoding="utf-8")):
                yield words, context, where
    for path in sorted([*(LIBRARY / "policies").glob("*.yaml"), LIBRARY / "framework.yaml"]):
        where = path.relative_to(REPOSITORY).as_posix()
        for words in of_yaml(yaml.safe_load(path.read_text(encoding="utf-8"))):
            yield words, None, where
    of_packages = METRICS.plugins.names()
    for name in METRICS.names():
        if name not in of_packages:
            record = record_of(name)
            for own in (name, *(f"{name}_{end}" for end in record.further)):
                for key in OF_RECORDS:
                    if words := str(getattr(record_of(own), key)):
                        yield words, None, f"audit_lib/measure/metrics/{name}.py"


def of_python(source: str) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    """Texts of a file: the calls that look one up, and what is archived filled in.

    Examples
    --------
    >>> list(of_python('t("{n} rows", n=n)'))
    [('{n} rows', None)]
    >>> list(of_python('raise UndefinedMetricError(f"{len(rows)} of {n:,} rows")'))
    [('{len_rows} of {n:,} rows', None)]
    """
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="method" | "reason")], value=value):
                yield from ((words, None) for words in _templates(value, constants))
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if isinstance(node.func, ast.Name) and called in ("t", "mark") and node.args:
            yield from ((words, None) for words in _templates(node.args[0], {}))
        elif isinstance(node.func, ast.Name) and called == "tn":
            one, several = (_templates(argument, {}) for argument in node.args[:2])
            yield from (((a, b), None) for a, b in zip(one, several, strict=True))
        elif isinstance(node.func, ast.Name) and called == "tp":
            (context,) = _templates(node.args[0], {})
            yield from ((words, context) for words in _templates(node.args[1], {}))
        elif called in REASONS and node.args:
            yield from ((words, None) for words in _templates(node.args[0], constants))
        for keyword in node.keywords:
            if keyword.arg in ("method", "reason") and called not in ("t", "tn", "tp"):
                yield from ((words, None) for words in _templates(keyword.value, constants))


def _templates(node: ast.AST, constants: Mapping[str, ast.expr]) -> list[str]:
    """Texts that an expression can be: a literal, an f-string, a constant of the file, or a choice of these."""
    match node:
        case ast.Constant(value=str(words)) if any(c.isalpha() for c in words):
            return [words]
        case ast.JoinedStr():
            names: dict[str, str] = {}
            made = "".join(_piece(value, names) for value in node.values)
            return [made] if any(text.strip() for text, *_ in Formatter().parse(made)) else []
        case ast.IfExp():
            return _templates(node.body, constants) + _templates(node.orelse, constants)
        case ast.Name() if node.id in constants:
            return _templates(constants[node.id], {})
        case ast.Call(func=ast.Name(id="mark"), args=[argument]):
            return _templates(argument, {})
    return []


def _piece(node: ast.expr, names: dict[str, str]) -> str:
    """A piece of an f-string as template; `names` holds the places so far and what fills them."""
    if isinstance(node, ast.Constant):
        return str(node.value).replace("{", "{{").replace("}", "}}")
    assert isinstance(node, ast.FormattedValue)
    used = [
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node.value)
        if isinstance(part, ast.Name | ast.Attribute)
    ]
    name, what = "_".join(dict.fromkeys(used)) or "value", ast.dump(node.value)
    while names.setdefault(name, what) != what:
        name += "_2"
    spec = node.format_spec
    form = "".join(_piece(one, names) for one in spec.values) if isinstance(spec, ast.JoinedStr) else ""
    return f"{{{name}{':' + form if form else ''}}}"


def of_yaml(value: Any, key: str = "") -> Iterator[str]:
    """Texts of a pack or of the framework: what lies under the keys that are printed."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            within = key in ("options_text", "wording") or (key == "categories" and name == "name")
            yield from of_yaml(inner, key if within else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from of_yaml(inner, key)
    elif (
        isinstance(value, str)
        and any(c.isalpha() for c in value)
        and (key in NAMES_OF_PACKS or (key in OF_PACKS and " " in value.strip()))
    ):
        yield value.strip()


def updated(language: str) -> Catalog:
    """Return a catalogue with exactly the texts of the sources, and the translations that it had."""
    path = FOLDER / f"{language}.po"
    old = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            old = read_po(file, locale=language)
    made = Catalog(
        locale=language,
        project="audit_lib",
        header_comment="",
        fuzzy=False,
        creation_date=_NEVER,
        revision_date=_NEVER,
    )
    for words, context, where in texts():
        had = old.get(words if isinstance(words, str) else words[0], context)
        places = {
            field
            for one in ([words] if isinstance(words, str) else words)
            for _, field, *_ in Formatter().parse(one)
            if field
        }
        kept = (
            had.string if had is not None and isinstance(had.id, tuple) == isinstance(words, tuple) else None
        )
        made.add(
            words,
            kept,
            locations=[(where, None)],
            context=context,
            flags=["python-brace-format"] if places else [],
        )
    return made


def po(catalog: Catalog) -> bytes:
    """Return a catalogue as text: sorted, without times, so that the same texts give the same bytes."""
    file = io.BytesIO()
    for message in catalog:
        message.locations = sorted(set(message.locations))
        message.flags.discard("python-format")
    write_po(
        file,
        catalog,
        width=120,
        sort_output=True,
        omit_header=False,
        include_lineno=False,
        ignore_obsolete=True,
    )
    kept = [
        line
        for line in file.getvalue().split(b"\n")
        if not line.startswith((b'"POT-Creation', b'"PO-Revision', b'"Generated-By'))
    ]
    return b"\n".join(kept)


def mo(catalog: Catalog) -> bytes:
    """Return a catalogue compiled."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def faults(catalog: Catalog) -> list[str]:
    """What is wrong with the translations: an empty one, and one with other places than the English text."""
    found = []
    for message in catalog:
        if not message.id:
            continue
        english = message.id if isinstance(message.id, tuple) else (message.id,)
        other = message.string if isinstance(message.string, tuple) else (message.string,)
        if not all(other):
            found.append(f"no translation: {english[0]}")
            continue
        may = [_places(form) for form in english]
        found.extend(f"other places: {english[-1]} -> {form}" for form in other if _places(form) not in may)
    return found


def _places(text: str) -> set[tuple[str, str]]:
    return {(field, spec or "") for _, field, spec, _ in Formatter().parse(text) if field is not None}


def missing(language: str, part: str = "") -> list[dict[str, Any]]:
    """English texts without a translation, as what `fill` takes back."""
    return [
        {
            "english": message.id,
            "context": message.context,
            "translation": "" if isinstance(message.id, str) else ["", ""],
            "in": sorted({where for where, _ in message.locations}),
        }
        for message in updated(language)
        if message.id
        and not all(message.string if isinstance(message.string, tuple) else (message.string,))
        and any(part in where for where, _ in message.locations)
    ]


def fill(language: str, given: list[dict[str, Any]]) -> Catalog:
    """Return the catalogue with these translations put in."""
    catalog = updated(language)
    for one in given:
        english = one["english"]
        message: Message | None = catalog.get(
            english if isinstance(english, str) else english[0], one.get("context")
        )
        if message is None:
            print(f"no such text: {english!r}", file=sys.stderr)
            continue
        translation = one["translation"]
        message.string = tuple(translation) if isinstance(translation, list) else translation
    return catalog


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    match arguments:
        case ["update"]:
            for language in LANGUAGES:
                if language != "en":
                    _write(language, updated(language))
        case ["missing", language, *part]:
            print(json.dumps(missing(language, *part), ensure_ascii=False, indent=1))
        case ["fill", language, path]:
            _write(language, fill(language, json.loads(Path(path).read_text(encoding="utf-8"))))
        case ["check"]:
            return _check()
        case _:
            print(__doc__)
            return 2
    return 0


def _write(language: str, catalog: Catalog) -> None:
    (FOLDER / f"{language}.po").write_bytes(po(catalog))
    (FOLDER / f"{language}.mo").write_bytes(mo(catalog))
    print(
        f"{language}: {sum(1 for m in catalog if m.id)} texts, {len(faults(catalog))} faults", file=sys.stderr
    )


def _check() -> int:
    wrong = []
    for language in LANGUAGES:
        if language != "en":
            catalog = updated(language)
            wrong += [f"{language}: {fault}" for fault in faults(catalog)]
            for suffix, made in ((".po", po(catalog)), (".mo", mo(catalog))):
                if (FOLDER / f"{language}{suffix}").read_bytes() != made:
                    wrong.append(
                        f"{language}{suffix} is not what its sources make: run `python tools/catalogue.py update`"
                    )
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
