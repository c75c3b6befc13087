"""What a person has to look at: nothing of the applicant stays in silence, and nothing of another's goes for sure."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.errors import InputError
from audit_lib.perturb.redact import Applicant, Redacted, redact
from audit_lib.perturb.redaction.applicant import ApplicantName, parse_name
from audit_lib.perturb.redaction.review import review_html
from tests.perturb.test_redact_documents import scan

ANA = Applicant(name="Ana Ruiz")


def seen(result: Redacted, shown: str) -> bool:
    """Return whether every letter of the last such text is redacted or doubted."""
    start = result.text.rindex(shown)
    marked = {i for place in (*result.spans, *result.doubts) for i in range(place.start, place.end)}
    return all(i in marked for i in range(start, start + len(shown)) if result.text[i].isalnum())


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("T.K. Moss", "TK coached.", "TK"), ("T.K. Moss", "K Moss wrote.", "K Moss"),
        ("Luz María Ferrer de Soto", "L.M. Ferrer led.", "L.M. Ferrer"),
        ("Omar Ali Aziz", "O. Ali Aziz led.", "O. Ali Aziz"),
        ("Min-seo Park", "M.-S. Park sang.", "M.-S. Park"), ("Min-seo Park", "Minseo sang.", "Minseo"),
        ("Anna-Lena Roth", "AnnaLena sang.", "AnnaLena"), ("Eva Roth", "Eva Roth (née Stein)", "Stein"),
        ("Jörg Müller", "Joerg Mueller sang.", "Joerg Mueller"), ("Joerg Mueller", "Müller sang.", "Müller"),
        ("Ana Alvarez", "We thank Al-\nvarez.", "Al-\nvarez"), ("Piet van den Berg", "signed PvdB", "PvdB"),
        ("Ana Ruiz", "See xanaruizx on the web.", "xanaruizx"), ("Ana Ruiz", "Call 6145550101.", "6145550101"),
        ("Ana Ruiz", "Call 555-0199.", "555-0199"), ("Ana Ruiz", "At 12B Baker Street.", "12B Baker Street"),
        ("Ana Ruiz", "my papá", "papá"), ("Ana Ruiz", "my abuela", "abuela"), ("Ana Ruiz", "my stepmom", "stepmom"),
        ("Ana Ruiz", "my fiance", "fiance"), ("Ana Ruiz", "Frau Ruiz", "Frau"), ("Ana Ruiz", "Mme. Ruiz", "Mme"),
        ("Ana Ruiz", "Ms Ruiz", "Ms"), ("Ana Ruiz", "a Senegalese home", "Senegalese"),
        ("Ana Ruiz", "I am Navajo", "Navajo"),
        ("Ana Ruiz", "a Punjabi home", "Punjabi"), ("Ana Ruiz", "I am Jewish", "Jewish"),
        ("Ana Ruiz", "I am Kurdish", "Kurdish"),
        ("Ana Ruiz", "In Ohio State I worked.", "Ohio State"), ("Ana Ruiz", "I went to Howard.", "Howard"),
    ],
)  # fmt: skip
def test_nothing_of_the_applicant_stays_in_silence(name: str, text: str, shown: str) -> None:
    result = redact(text, Applicant(name=name))
    assert seen(result, shown)
    assert result.restored() == text


@pytest.mark.parametrize(
    ("file", "template"),
    [
        ("AnaRuizCV.pdf", "{{first_name}}{{last_name}}CV.pdf"),
        ("anaruizresume.docx", "{{first_name.lower}}{{last_name.lower}}resume.docx"),
        ("aruiz_resume.pdf", "{{first_name.initial.lower}}{{last_name.lower}}_resume.pdf"),
        ("RuizA.pdf", "{{last_name}}{{first_name.initial}}.pdf"),
        ("budget.pdf", "budget.pdf"),
    ],
)
def test_names_of_files_are_redacted(file: str, template: str) -> None:
    made = redact(f"See {file}", ANA)
    assert made.template == f"See {template}"
    if file == "aruiz_resume.pdf":
        assert made.parsed().render({"first_name": "Sam", "last_name": "Cole"}) == "See scole_resume.pdf"


@pytest.mark.parametrize(
    "text",
    ["He taught in [Jackson], MS.", "He lived in [Jackson].", "See Santa [Jackson].", "He is at [Jackson] High School.",
     "Turn at [Jackson] Slope.", "I am a [Jackson]."],
)  # fmt: skip
def test_a_place_is_not_surely_the_applicant(text: str) -> None:
    start = text.index("[")
    result = redact(text.replace("[", "").replace("]", ""), Applicant(name="Tom Jackson"))
    assert not any(span.sure and span.start == start for span in result.spans if span.kind == "name")
    assert seen(result, "Jackson")


@pytest.mark.parametrize("sex", ["female", ""])
def test_a_title_of_the_other_sex_is_a_relative(sex: str) -> None:
    result = redact(
        "Ms. Ruiz led. Ms. Ruiz sang. Mr. Ruiz is my husband.", Applicant(name="Ana Ruiz", sex=sex)
    )  # type: ignore[arg-type]
    assert result.template.endswith(" Mr. Ruiz is my {{spouse}}.")
    assert [d.kind for d in result.doubts] == ["title", "name"]


def test_candidates_in_a_sentence_are_seen_and_their_names_reported() -> None:
    text = "Applicant 1 is Ana Ruiz, who sings. Applicant 2 is Bob Stone. Bob counts."
    result = redact(text, ANA)
    assert result.candidates == 2
    assert [text[d.start : d.end] for d in result.doubts if d.kind == "person"] == ["Bob", "Stone", "Bob"]


@pytest.mark.parametrize(
    "head",
    ["Ana Ruiz, M.Ed.", "Ana Ruiz, M.A.", "Ana Ruiz | a@x.example | 614-555-0100", "Ana (Annie) Ruiz",
     "\ufeffAna Ruiz",
     "My name is Ana Ruiz.", "New York\nAna Ruiz", "Project Lead\nAna Ruiz",
     "Human Rights Watch\n\nAna Ruiz\n614-555-0100"],
)  # fmt: skip
def test_heads_that_hold_more_than_a_name(head: str) -> None:
    result = redact(f"{head}\nAna Ruiz taught. Ms. Ruiz left.")
    assert result.template.endswith("{{name}} taught. {{title}} {{last_name}} left.")
    assert result.candidates == 1


@pytest.mark.parametrize("name", ["Fatima bint Ali", "Aisha binti Yusof"])
def test_a_patronym_is_a_name_at_the_head(name: str) -> None:
    result = redact(f"Candidate: {name}\n{name.split()[0]} led.")
    assert result.template == "Candidate: {{name}}\n{{first_name}} led."


def test_ma_is_a_last_name() -> None:
    assert parse_name("Jack Ma") == ApplicantName(first="Jack", middle=(), last="Ma")


def test_one_name_is_enough() -> None:
    text = "Sukarno teaches; Sukarno's pupils like him. SUKARNO: Yes."
    made = redact(text, Applicant(name="Sukarno", sex="male"))
    assert made.template.startswith(
        "{{first_name}} teaches; {{first_name}}'s pupils like {{pronoun.object}}."
    )
    assert "ukarno" not in made.template.lower() and made.restored() == text


def test_who_speaks_to_the_applicant_is_not_the_applicant() -> None:
    text = 'My mother smiled. "Jean," she told me, "read." I read.'
    result = redact(text, Applicant(name="Jean Roux"))
    assert '"{{first_name}}," she told me' in result.template
    assert [text[d.start : d.end] for d in result.doubts if d.kind == "pronoun"] == ["she"]


def test_a_town_after_a_college_and_a_job_without_a_heading() -> None:
    text = "BS, University of Toledo, Toledo, OH, 2009-2013\nBarista, Austin, TX, 2010-2012\nClerk, Lima, OH, 2015-2018"
    assert redact(text, ANA).template == (
        "BS, {{college}}, {{college_place}}, {{graduation_year}}\n"
        "Barista, {{job_place}}, 2010-2012\nClerk, Lima, OH, 2015-2018"
    )


def test_what_cannot_be_redacted_on_demand_is_refused() -> None:
    for kind in ("sex", "address", "organisation", "place"):
        with pytest.raises(InputError, match=f"kind '{kind}' cannot be redacted on demand"):
            redact("Ana", ANA, also=[kind])


def test_the_review_says_what_looked_and_what_was_not_read() -> None:
    page = review_html(redact("Ana", ANA), "dossier-0001", (2, 3))
    assert "page 2, 3 holds no text" in page and "Looked for by the rules." in page


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("file,name,sex\na.txt,Ana Ruiz,F\n", "row 1: the applicant's sex is neither 'female' nor 'male'"),
        ("file,Name\na.txt,Ana Ruiz\n", "column 'Name' is not known; did you mean 'name'"),
    ],
)
def test_a_table_that_would_be_ignored_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, message: str
) -> None:
    (tmp_path / "a.txt").write_text("Ana Ruiz likes her class.", encoding="utf-8")
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    arguments = [
        str(tmp_path / "a.txt"),
        "--applicants",
        str(tmp_path / "t.csv"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["redact", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_pages_without_text_are_a_fault_and_the_review_is_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.pdf").write_bytes(scan(True, False, False))
    out = tmp_path / "out"
    assert main(["redact", str(tmp_path / "a.pdf"), "--name", "Ana Ruiz", "--out", str(out)]) == 1
    assert "pages that need OCR: 2" in capsys.readouterr().out
    assert json.loads((out / "coverage.json").read_bytes())["dossiers"][0]["pages_without_text"] == 2
    assert "page 2, 3 holds no text" in (out / "review" / "dossier-0001.html").read_text(encoding="utf-8")
    assert stat.S_IMODE((out / "review").stat().st_mode) == 0o700
    files = sorted((out / "review").iterdir())
    assert len(files) == 3 and {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("head", ["Jo Park\nj@x.example", "Virginia West\nv@x.example"])
def test_a_name_at_the_head_may_be_a_word_of_places(head: str) -> None:
    assert redact(f"{head}\n\nBio.").template.startswith("{{name}}\n")


def test_as_many_titles_of_either_sex_are_both_to_check() -> None:
    result = redact("Ms. Ruiz sings. Mr. Ruiz counts.", ANA)
    assert [(span.kind, span.sure) for span in result.spans if span.kind == "title"] == [("title", False)] * 2


def test_a_first_name_alone_takes_the_head_that_fits_it() -> None:
    text = "Candidate: Bo Ek\nCandidate: Ana Ruiz\nMs. Ruiz"
    assert redact(text, Applicant(first_name="Ana")).template.endswith("{{title}} {{last_name}}")
    assert redact("Ms. Ruiz\nCandidate: Ms. Ruiz\nAna", Applicant(first_name="Ana")).template.endswith(
        "{{first_name}}"
    )


@pytest.mark.parametrize("shown", ["Apache Spark", "fluent in Punjabi", "Sioux Falls"])
def test_languages_and_places_are_left_as_doubtful(shown: str) -> None:
    result = redact(f"Ana knows {shown}.", ANA)
    assert [doubt.kind for doubt in result.doubts] == ["ethnicity"]
