"""The catalogues hold every text of the sources, whole and with the same places, and are compiled."""

from __future__ import annotations

from string import Formatter

import pytest
from babel.messages.catalog import Catalog

from audit_lib.translation import LANGUAGES, PSEUDO, archived, known, speaking, t, tn, tp
from audit_lib.translation.patterns import pattern_of
from tools import catalogue

OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_has_a_translation_with_the_same_places(language: str) -> None:
    assert catalogue.faults(catalogue.updated(language)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_files_are_what_the_sources_make(language: str) -> None:
    made = catalogue.updated(language)
    for suffix, content in ((".po", catalogue.po(made)), (".mo", catalogue.mo(made))):
        kept = (catalogue.FOLDER / f"{language}{suffix}").read_bytes()
        assert kept == content, (
            "run `python tools/catalogue.py update`, translate what is missing, and look at it"
        )


def test_faults_are_found() -> None:
    made = Catalog(locale="es")
    made.add("{n} of {total} rows of this test", "{n} filas")
    made.add("A text of this test")
    made.add(("{n} row of this test", "{n} rows of this test"), ("{n} fila", ""))
    found = catalogue.faults(made)
    assert [fault.split(":")[0] for fault in found] == ["other places", "no translation", "no translation"]


def test_texts_are_found_where_they_are_written() -> None:
    source = """
_NONE = "nothing to see"
a = t("One {x}.", x=1) + tn("{n} row", "{n} rows", 2) + tp("of a rate", "hidden") + mark("marked")
raise UndefinedMetricError(f"{units(a)} and {units(b)} of {n:,} in {{braces}}")
b = Undefined(_NONE)
c = Estimate(method="count / count" if d else f"mean of {d.name}")
"""
    assert sorted(catalogue.of_python(source), key=str) == [
        ("One {x}.", None),
        ("count / count", None),
        ("hidden", "of a rate"),
        ("marked", None),
        ("mean of {name_d}", None),
        ("nothing to see", None),
        ("{units_a} and {units_b} of {n:,} in {{braces}}", None),
        (("{n} row", "{n} rows"), None),
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_a_filled_text_is_found_again_by_its_pattern(language: str) -> None:
    """Each pattern, filled with numbers, comes back in the language: as its translation filled with them."""
    held = {
        m.id: str(m.string)
        for m in catalogue.updated(language)
        if isinstance(m.id, str) and "{" in m.id and not m.context and m.string
    }
    told = 0
    with speaking(language) as speaker:
        for english, other in held.items():
            if pattern_of(english) is None:
                continue
            values = {place: str(7 + i) for i, place in enumerate(dict.fromkeys(_places(english)))}
            found = archived(_filled(english, values))
            if found == _filled(other, values):
                told += 1
            else:
                assert found in _readings(held, _filled(english, values)), english
    assert not speaker.untranslated
    assert told > 0.97 * sum(pattern_of(english) is not None for english in held)


def _readings(held: dict[str, str], words: str) -> set[str]:
    """Every translation of a filled text: two patterns may fit one."""
    found = set()
    for english, other in held.items():
        if (pattern := pattern_of(english)) is not None and (values := pattern.read(words)) is not None:
            found.add(pattern.fill(other, values))
    return found


def _places(text: str) -> list[str]:
    return [place for _, place, _, _ in Formatter().parse(text) if place is not None]


def _filled(text: str, values: dict[str, str]) -> str:
    return "".join(
        literal + ("" if place is None else values[place]) for literal, place, _, _ in Formatter().parse(text)
    )


def test_a_reason_inside_a_reason_is_translated_too() -> None:
    with speaking("es") as speaker:
        found = archived("no interval in the previous run: 3 members, fewer than the minimum of 5")
    assert found == "sin intervalo en la ejecución anterior: 3 miembros, menos que el mínimo de 5"
    assert not speaker.untranslated


def test_what_the_catalogue_lacks_stays_english_and_is_counted() -> None:
    with speaking("es") as speaker:
        assert t("Nobody translated {this}.", this="it") == "Nobody translated it."
        assert tn("{n} unheard of thing", "{n} unheard of things", 2) == "2 unheard of things"
        assert tp("nowhere", "an unheard of word") == "an unheard of word"
        assert (
            archived("a reason of a package nobody here wrote") == "a reason of a package nobody here wrote"
        )
        assert known("A team's own name") == "A team's own name"
    assert list(speaker.untranslated) == [
        "Nobody translated {this}.",
        "{n} unheard of thing",
        "an unheard of word",
        "a reason of a package nobody here wrote",
    ]


def test_languages_end_where_they_are_spoken() -> None:
    with speaking("es"):
        with speaking("en"):
            assert t("undefined") == "undefined"
        inside = t("undefined")
    assert inside != "undefined" == t("undefined")
    with pytest.raises(ValueError, match="'fr'.*en, es"), speaking("fr"):
        pass


def test_the_made_up_language_marks_texts_and_not_values() -> None:
    with speaking(PSEUDO):
        assert t("{n} rows of {name}", n="3", name="Ada") == "3 řǿẇş ǿƒ Ada"
