"""The second reader: whatever is left of the applicant makes a dossier `review`, never `ok`."""

# ruff: noqa: E501  (one case an entry)

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.cli.main import main
from audit_lib.perturb.documents import read_dossier
from audit_lib.perturb.redact import Applicant, Redacted, redact
from audit_lib.perturb.rereading.fields import find_fields
from audit_lib.perturb.rereading.findings import GONE
from audit_lib.perturb.rereading.given import find_given
from audit_lib.perturb.rereading.ledger import remaining
from audit_lib.perturb.rereading.reread import MODELS, Reread, reread
from tests.perturb.test_redact_documents import docx, paragraph

ANA = Applicant(name="Ana Ruiz")
LOOKED = tuple(sorted(MODELS))


def again(text: str, applicant: Applicant = ANA) -> tuple[Redacted, Reread]:
    """Redact and read again, as if both models had looked and found nothing."""
    made = replace(redact(text, applicant), checks=LOOKED)
    return made, reread(made, applicant)


def told(text: str, applicant: Applicant = ANA) -> list[str]:
    """Return what a reviewer is shown, in the order of the text."""
    made, second = again(text, applicant)
    places = sorted((p.start, p.end) for p in (*made.doubts, *second.findings))
    return [text[start:end] for start, end in places]


def test_a_dossier_with_nothing_left_is_ok() -> None:
    made, second = again("We thank Ms. Ruiz for the report; the pupils liked it.")
    assert (second.status, second.reasons, second.findings) == ("ok", (), ())
    assert made.template.startswith("We thank {{title}} {{last_name}} for")


def test_without_both_models_nothing_is_ok_and_it_says_which_did_not_look() -> None:
    made = redact("We thank Ms. Ruiz for the report.", ANA)
    second = reread(made, ANA)
    assert second.status == "review" and second.not_looked == ("presidio", "spacy")
    assert second.reasons == ("did not look, not installed or not asked for: presidio, spacy",)


@pytest.mark.parametrize("between", ["\n", "\r\n", " \n ", "\n\t"])
def test_a_title_on_the_line_above_goes_with_the_name(between: str) -> None:
    made, _ = again(f"We met Ms.{between}Ruiz today.")
    assert made.template == f"We met {{{{title}}}}{between}{{{{last_name}}}} today."


@pytest.mark.parametrize(
    "left",
    ["R u i z", "A N A", "R-u-i-z", "R.U.I.Z", "R\u00adu\u00adiz", "Ru\u200biz", "RUÍZ", "ruiz", "Ru-\niz", "Ru-\n                 iz",
     "xruiz99", "Rúiz", "Ru1z", "a_ruiz", "R  u  i  z"],
)  # fmt: skip
def test_every_part_of_the_name_is_found_however_it_is_written(left: str) -> None:
    found = list(find_given(f"The badge says {left} here.", ["Ana Ruiz"]))
    assert found and all(finding.kind == "name" for finding in found)


@pytest.mark.parametrize(
    ("name", "left"),
    [("표승현", "이름 표 승 현 입니다"), ("Björn Åkesson", "bjorn akesson"), ("Łukasz Żak", "Lukasz ZAK"), ("Ma. Corazon Uy", "UY, CORAZON"),
     ("Anne-Marie d'Arcy", "annemarie"), ("Xu Li", "Dear Xu"), ("Thiagarajan Pillai", "Thiagara-\n                jan")],
)  # fmt: skip
def test_names_of_other_scripts_and_short_ones_are_found(name: str, left: str) -> None:
    assert list(find_given(left, [name]))


def test_a_short_word_in_lower_case_is_no_name() -> None:
    assert not list(find_given("an hour so far", ["Nguyen Van An", "Mary So"]))


FIELDS = [
    ("Gender: Female", "Female"), ("Sex\tF", "F"), ("| Sex | F |", "F"), ("Date of birth ..... 1 May 1990", "1 May 1990"),
    ("Age   27", "27"), ("Marital status = single", "single"), ("Nationality:\nGhanaian", "Ghanaian"), ("Disability: none", "none"),
    ("Veteran: I am not a protected veteran", "I am not a protected veteran"), ("Race/Ethnicity: prefer not to say", "prefer not to say"),
    ("Religion : Islam", "Islam"), ("Pronouns: they/them", "they/them"), ("Photo: attached", "attached"), ("Citizenship: Peru", "Peru"),
    ("Geburtsdatum: 01.02.1990", "01.02.1990"), ("Familienstand: ledig", "ledig"), ("Staatsangehörigkeit: deutsch", "deutsch"),
    ("Sexe : F", "F"), ("Situation familiale : mariée", "mariée"), ("Estado civil: soltera", "soltera"), ("Cinsiyet: K", "K"),
    ("Medeni hali: bekar", "bekar"), ("Jenis kelamin: P", "P"), ("Agama: Hindu", "Hindu"), ("성별: 여", "여"), ("生年月日  平成4年", "平成4年"),
    ("性別 女", "女"), ("الجنسية: مصرية", "مصرية"), ("Пол: женский", "женский"), ("Płeć: K", "K"), ("Stan cywilny: panna", "panna"),
    ("Nazionalità: italiana", "italiana"), ("Naturalidade e data de nascimento: Recife, 1990", "Recife, 1990"), ("Geslacht: v", "v"),
    ("Kön: kvinna", "kvinna"), ("Họ và tên: Lan", "Lan"), ("Tribe: Yoruba", "Yoruba"), ("Armed forces: reservist", "reservist"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "value"), FIELDS, ids=[line.split(":")[0].strip() for line, _ in FIELDS])
def test_a_labelled_field_is_redacted_or_told_in_any_language(line: str, value: str) -> None:
    text = f"Ana Ruiz\n\n{line}\n"
    made, second = again(text)
    start = text.index(value, text.index(line) + (0 if value not in line.split(":")[0] else 1))
    places = [*made.spans, *made.doubts, *second.findings]
    covered = {i for place in places for i in range(place.start, place.end)}
    letters = [i for i in range(start, start + len(value)) if text[i].isalnum()]
    assert all(i in covered for i in letters)


def test_a_clause_begins_with_its_line() -> None:
    shown = told("We thank Ana.\nTHE TEAM\nChoir at St. Mary, sewing\n")
    assert any(place.startswith("Choir") for place in shown) and not any("TEAM\n" in place for place in shown)


ALONE = [(line, value) for line, value in FIELDS if line != "性別 女"]  # one space: read by its script


@pytest.mark.parametrize(("line", "value"), ALONE, ids=[line.split(":")[0].strip() for line, _ in ALONE])
def test_the_field_grammar_finds_them_alone(line: str, value: str) -> None:
    found = [line[f.start : f.end] for f in find_fields(line)]
    assert any(value.rstrip(")") in shown or shown in value for shown in found)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("Name,Gender,Date of birth\nX,F,1990-01-01\n", ["F", "1990-01-01"]),
        ("Gender\nNationality\nAge\nFemale\nGerman\n41\n", ["Female", "German", "41"]),
        ("Gender | Nationality | Age\nFemale | German | 41\n", ["Female", "German", "41"]),
        ("Gender\tAge\nFemale\t41\n", ["Female", "41"]),
        ("Gender        Age        Religion\nFemale        41         none\n", ["Female", "41", "none"]),
    ],
)  # fmt: skip
def test_tables_and_columns_are_read_by_their_head(table: str, values: list[str]) -> None:
    found = [table[f.start : f.end] for f in find_fields(table)]
    assert set(values) <= set(found)


def test_what_is_gone_is_no_finding() -> None:
    assert not list(find_fields(f"Gender: {GONE * 6}\nAge\t{GONE * 2}"))


@pytest.mark.parametrize(
    "text",
    ["Jordan has skills. They are reliable and their notes are clear.", "They/them, please.", "I hired them myself; they did it themself."],
)  # fmt: skip
def test_singular_they_is_told(text: str) -> None:
    made, second = again(text, Applicant(name="Jordan Lee"))
    unsure = [span for span in made.spans if not span.sure]
    shown = {text[p.start : p.end].lower() for p in (*unsure, *made.doubts, *second.findings)}
    assert any("they" in word or "them" in word for word in shown) and second.status == "review"


def test_singular_they_that_is_stated_has_slots_to_check() -> None:
    text = "Jordan Lee (they/them) leads. Their plan was theirs; we like them."
    made = redact(text, Applicant(name="Jordan Lee"))
    assert made.template == (
        "{{name}} ({{pronoun.subject}}/{{pronoun.object}}) leads. {{Pronoun.possessive}} plan was "
        "{{pronoun.possessive_pronoun}}; we like {{pronoun.object}}."
    )
    assert not any(span.sure for span in made.spans if span.kind == "pronoun")


def test_the_middle_of_a_text_is_never_lost() -> None:
    text = "Candidate: Rashida\nWelder Certified\nMuhammad was hired"
    made, _ = again(text, Applicant(name="Rashida Muhammad"))
    assert made.template == "Candidate: {{first_name}}\nWelder Certified\n{{last_name}} was hired"


@pytest.mark.parametrize("between", ["Welder Certified", "Gender: Female", "Head of Sales"])
def test_a_name_takes_no_other_line_along(between: str) -> None:
    made, _ = again(f"Ana\n{between}\nRuiz")
    assert all("\n" not in made.text[span.start : span.end] for span in made.spans)


def test_a_table_of_a_docx_keeps_its_rows_and_loses_no_gender(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells) + "</w:tr>"

    body = f"<w:tbl>{row('First name', 'Ana')}{row('Gender', 'Female')}{row('Last name', 'Ruiz')}</w:tbl>"
    text = read_dossier(docx(tmp_path / "a.docx", body)).text
    assert text == "First name\tAna\nGender\tFemale\nLast name\tRuiz"
    made, _ = again(text)
    assert made.template == "First name\t{{first_name}}\nGender\t{{sex}}\nLast name\t{{last_name}}"
    assert made.template_with() == "First name\t{{first_name}}\nGender\t[sex]\nLast name\t{{last_name}}"


def test_a_removal_that_holds_more_than_the_name_is_told() -> None:
    made, second = again("Ana Welder Certified Ruiz was hired")
    assert any(span.end - span.start > 10 for span in made.spans), "the rules take it for middle names"
    assert {made.text[f.start : f.end] for f in second.findings} == {"Welder", "Certified"}


def test_the_books_have_to_agree() -> None:
    made, _ = again("Ana Ruiz sings. Ana left.")
    assert reread(made, ANA).status == "ok"
    for template in (
        made.template.replace(" sings", ""),
        made.template + "!",
        made.template.replace("{{first_name}}", "Ana"),
    ):
        broken = replace(made, template=template)
        assert "what was removed is not what is listed as removed" in reread(broken, ANA).reasons
    unlisted = replace(made, spans=made.spans[:1], written=made.written[:1])
    assert "what was removed is not what is listed as removed" in reread(unlisted, ANA).reasons


@given(st.text(alphabet="Ana Ruiz{}\n.she", max_size=60))
def test_the_original_less_the_listed_removals_is_the_result(text: str) -> None:
    made = redact(text, ANA)
    left = remaining(text, made.template, [(span.start, span.end) for span in made.spans])
    assert left is not None and len(left) == len(text)
    gone = {i for span in made.spans for i in range(span.start, span.end)}
    assert all(
        (a == GONE) == (i in gone) and (i in gone or a == b)
        for i, (a, b) in enumerate(zip(left, text, strict=True))
    )


def test_a_referee_does_not_take_the_applicants_mail() -> None:
    text = "Ana Ruiz\nana.ruiz@mail.example\n\nReferee: Maria Ruiz, maria.ruiz@school.example, ana.schmidt@x.example"
    made, _ = again(text)
    slots = {text[s.start : s.end]: s.slot for s in made.spans if s.kind == "email"}
    assert slots == {
        "ana.ruiz@mail.example": "email", "maria.ruiz@school.example": "other_email", "ana.schmidt@x.example": "other_email",
    }  # fmt: skip
    alone = redact("Dear Ana,\n" + "\n" * 12 + "Write to ana.schmidt@x.example", ANA)
    assert [s.slot for s in alone.spans if s.kind == "email"] == ["other_email"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("Jordan Lee", "Flew to Jordan with a team."), ("Chad Moss", "Served in Chad."), ("Paris Hill", "We toured Paris."),
     ("Ana Sydney", "Moved from Sydney."), ("Georgia Cole", "Sales across Georgia rose.")],
)  # fmt: skip
def test_a_name_that_is_a_place_is_doubtful_where_it_may_be_one(name: str, text: str) -> None:
    made, second = again(text, Applicant(name=name))
    assert "{{" not in made.template and second.status == "review"


def test_a_name_that_is_a_place_goes_where_the_sentence_shows_a_person() -> None:
    made, _ = again("Jordan led the team. We thank Jordan.", Applicant(name="Jordan Lee"))
    assert made.template == "{{first_name}} led the team. We thank {{first_name}}."


@pytest.mark.parametrize(
    "left",
    ["my wife", "a mosque", "I am deaf", "U.S. Army", "nonbinary", "Delta Sigma Theta Sorority", "Spanish (native)", "on maternity leave",
     "I am 44.", "born in 1970", "aged 27", "xx@example.org", "@handle_417", "+44 20 7946 0000", "0800 000 0419", "SSN 000-00-0000",
     "Box 417, Lodge Grass", "LL26 0ZZ", "three children", "Mrs. Cope", "union steward", "H-1B", "Graduated 1999, Tech High School",
     "ce-\nliac", "M o t h e r", "👩", "Lebt mit der Familie und ist sehr nett", "Sikh", "Evli", "Schwerbehinderung", "xe/xem", "女", "over three decades in nursing", "Worked since 1979.", "M/F: F", "Ru iz", "Served in Iraq", "off on Sundays"],
)  # fmt: skip
def test_what_tells_who_somebody_is_blocks(left: str) -> None:
    text = f"The note says: {left}"
    made, second = again(text)
    covered = [*made.spans, *made.doubts, *second.findings]
    assert any(place.end > text.index(left) for place in covered)
    assert second.status == "review" or left in ("Mrs. Cope", "+44 20 7946 0000", "0800 000 0419")


def test_a_pdf_in_two_columns_with_letters_apart_and_cut_words_is_to_review(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    weasyprint = pytest.importorskip("weasyprint")
    page = (
        "<style>@page{size:12cm 9cm}div{columns:2;hyphens:manual;font:12px monospace}</style><h1>F e r n &aacute; n d e z</h1><div>"
        "<p>Welds with care. Marta Fernán-<br>dez has led a crew.</p><p>Gender<br>Female</p><p>Mother of t-<br>wo, ce-<br>liac.</p></div>"
    )
    weasyprint.HTML(string=page).write_pdf(tmp_path / "a.pdf")
    text = read_dossier(tmp_path / "a.pdf").text
    marta = Applicant(name="Marta Fernández")
    made, second = again(text, marta)
    assert second.status == "review"
    gone = {i for p in (*made.spans, *made.doubts, *second.findings) for i in range(p.start, p.end)}
    left = "".join(char for i, char in enumerate(text) if i not in gone)
    for told in ("Female", "F e r n", "Fern", "dez", "liac", "Marta"):
        assert told not in left


@pytest.mark.parametrize(
    "head",
    ["INTERESTS", "Memberships:", "## Volunteering", "Community", "Languages", "Hobbys", "Personal"],
)
def test_lines_under_a_personal_heading_are_shown_whatever_they_say(head: str) -> None:
    text = f"We thank Ms. Ruiz.\n\n{head}\nzorbing, qwop\n\nSKILLS\nwelding\n"
    _, second = again(text)
    assert "zorbing, qwop" in [text[f.start : f.end] for f in second.findings]
    assert not any(text[f.start : f.end] == "welding" for f in second.findings) and second.status == "review"


@pytest.mark.parametrize(("title", "status"), [("Dr.", "ok"), ("Rev.", "review"), ("Imam", "review")])
def test_a_title_that_a_template_keeps_blocks_where_it_tells_a_faith(title: str, status: str) -> None:
    assert again(f"We thank {title} Ruiz for the report.")[1].status == status


def test_a_person_of_one_name_with_other_names_is_redacted() -> None:
    made, _ = again(
        "Bu Sumarni cooks.", Applicant(first_name="Sumarni", other_names=("Ibu Sumarni", "Sumarni Sumarni"))
    )
    assert "umarni" not in made.template


def test_exit_codes_tell_ok_review_and_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("presidio_analyzer")
    texts = {
        "ok.txt": "We thank Ms. Ruiz for the report.",
        "review.txt": "Ms. Ruiz. Gender is female.",
        "refused.txt": " ",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    codes = {}
    for name in texts:
        out = tmp_path / f"out-{name}"
        codes[name] = main(["redact", str(tmp_path / name), "--name", "Ana Ruiz", "--out", str(out)])
        row = json.loads((out / "coverage.json").read_bytes())["dossiers"][0]
        assert row["status"] == name.removesuffix(".txt")
    assert codes == {"ok.txt": 0, "review.txt": 1, "refused.txt": 2}
    out = tmp_path / "unlooked"
    assert main(["redact", str(tmp_path / "ok.txt"), "--name", "Ana Ruiz", "--out", str(out), "--check"]) == 1
    assert "did not look" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["redact", "--help"])
    assert "review" in capsys.readouterr().out


@pytest.mark.parametrize(
    "between", [" \N{EM DASH} ", "\N{EM DASH}", " - ", "- ", " \N{RIGHTWARDS ARROW} ", "\N{NO-BREAK SPACE}", " \N{MIDDLE DOT} ", " > ", "/", "\N{FULLWIDTH SOLIDUS}", "__"]
)  # fmt: skip
@pytest.mark.parametrize(("label", "value"), [("Sex", "F"), ("Geschlecht", "w")])
def test_a_field_is_read_whatever_is_between_its_label_and_its_value(
    label: str, value: str, between: str
) -> None:
    line = f"{label}{between}{value}"
    assert value in [line[f.start : f.end] for f in find_fields(line)]
    _, found = again(f"Ana Ruiz\n{line}\n\nKept the books of three plants for eight years.\n")
    assert found.status == "review"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Address: 5 Main St - Springfield", "5 Main St - Springfield"),
        ("Gender-neutral hiring - a guide", None),
        ("Experience \N{EM DASH} Acme", None),
    ],
)
def test_a_dash_in_a_value_does_not_end_it_and_one_in_a_sentence_makes_no_field(
    line: str, value: str | None
) -> None:
    assert [line[f.start : f.end] for f in find_fields(line)] == ([] if value is None else [value])
