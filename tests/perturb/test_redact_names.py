"""Names of several words, short parts, nicknames that the dossier states, generations, initials, and colleges' ends."""

from __future__ import annotations

import pytest

from audit_lib.perturb.redact import Applicant, Redacted, redact
from audit_lib.perturb.redaction.applicant import ApplicantName, parse_name

KEISHA = {"first_name": "Keisha", "last_name": "Faison", "title": "Ms."}


def filled(name: str, text: str) -> str:
    """Return what a persona makes of a text."""
    made = redact(text, Applicant(name=name))
    assert made.restored() == text
    others = {slot: f"[{slot}]" for slot in made.originals if slot.split(".")[0] in ("college", "pronoun")}
    return made.parsed().render({**KEISHA, **others})


def doubted(made: Redacted) -> list[str]:
    return [made.text[doubt.start : doubt.end] for doubt in made.doubts]


def unsure(made: Redacted) -> list[str]:
    return [made.text[span.start : span.end] for span in made.spans if not span.sure]


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("Hassan bin Ali", "Mr. Ali said. Ali's work. ALI.", "Ms. Faison said. Faison's work. FAISON."),
        ("Ana de la Paz", "Ms. Paz taught. Paz is here.", "Ms. Faison taught. Faison is here."),
        ("Sara Garcia-Lee", "Ms. Lee ran. Lee's plan.", "Ms. Faison ran. Faison's plan."),
        ("Eva van Ek", "Ms. Ek taught.", "Ms. Faison taught."),
        ("Nguyen Van An", "Mr. An said an hour. An hour is long.", "Ms. Faison said an hour. An hour is long."),
        ("Jean-Luc Roy", "Luc ran.", "Keisha ran."), ("Mary-Jo Cox", "We met Jo.", "We met Keisha."),
        ("Hye-jun Seo", "We met Jun in Jun 2020.", "We met Keisha in Jun 2020."),
        ("Jan Berg", "Jan led, Jan – Mar 2020. Jan - a friend.", "Keisha led, Jan – Mar 2020. Keisha - a friend."),
        ("Mary So Day", "So we met Mary So. Is it So?", "So we met Keisha. Is it So?"),
        ("Siobhán Ní Bhriain", "Ms Ní Bhriain sang.", "Ms. Faison sang."),
        ("Eve de la Roche-Mont", "Ms. de la Roche sang.", "Ms. Faison sang."),
        ("Mary Ann Smith", "Mary Ann sang. MARY ANN's voice.", "Keisha sang. KEISHA's voice."),
        ("Mary Ann Smith", "Mary-Ann sang with Ann.", "Keisha sang with Keisha."),
        ("José Luis Rodríguez Zapatero", "José Luis sang. Mr. Rodríguez left.", "Keisha sang. Ms. Faison left."),
        ("José Luis Rodríguez Zapatero", "Jose Rodriguez joined us.", "Keisha joined us."),
        ("José Luis Rodríguez Zapatero", "RODRÍGUEZ ZAPATERO, JOSÉ LUIS", "FAISON, KEISHA"),
        ("Gabriel García Márquez", "G. García Márquez wrote; G. García left.", "K. Faison wrote; K. Faison left."),
        ("Emily Chen", "By Chen E. A study of two.", "By Faison K. A study of two."),
        ("Hillary Rodham Clinton", "Ms. Rodham Clinton left. Hillary Rodham sang.", "Ms. Faison left. Keisha sang."),
        ("Maria del Carmen Lopez", "Maria del Carmen sang. Ms. del Carmen Lopez.", "Keisha sang. Ms. Faison."),
        ("Robert Smith", "Mr. Smith, Jr. left. Smith III won.", "Ms. Faison left. Faison won."),
        ("Robert Smith", "by Smith Jr. He left.", "by Faison. He left."),
        ("Robert Smith", "R. Smith Jr. won. Smith, Robert Sr. won.", "K. Faison won. Faison, Keisha won."),
        ("Robert Smith", "Robert Smith, Sr. Engineer", "Keisha Faison, Sr. Engineer"),
        ("Hans-Peter Müller", "Muller, H. P. (2018)", "Faison, K. (2018)"),
        ("Robert John Smith", "Smith, R. J. (2018); Smith RJ, Cole A", "Faison, K. (2018); Faison K, Cole A"),
    ],
)  # fmt: skip
def test_a_persona_takes_the_place_of_every_form(name: str, text: str, shown: str) -> None:
    assert filled(name, text).replace("[pronoun.subject]", "He") == shown


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("Mary Ann Smith", "Mary Ann Moss sang.", "Mary Ann"), ("Jean-Luc Roy", "Jean Luc Moreau sang.", "Jean Luc"),
        ("Robert Smith", "The Smiths sang.", "Smiths"), ("Sean O'Neill", "The O'Neills' farm.", "O'Neills"),
        ("Ana Ruiz", "We met three Ruizes.", "Ruizes"), ("Emily Chen", "We met two Emilys.", "Emilys"),
        ("Ana Ruiz", "Signed AnaR", "AnaR"), ("Robert Smith", "Smith, R. Jones, A. Cole", "R"),
        ("Robert Brown", "He read Brown v. Board of Education.", "Brown"),
        ("Aaliyah Washington", "At Howard University, Washington.", "Washington"),
        ("Tom Lee", "At Harvard University, Lee.", "Lee"), ("Ana Ruiz", "At Lee College, Baytown.", "Baytown"),
    ],
)  # fmt: skip
def test_what_may_be_another_is_left_as_doubtful(name: str, text: str, shown: str) -> None:
    made = redact(text, Applicant(name=name))
    assert shown in doubted(made) and shown in made.template


@pytest.mark.parametrize(
    "stated",
    ["Katarzyna (Kasia) Wójcik", "Katarzyna “Kasia” Wójcik", "Katarzyna Wójcik (Kasia)", "Katarzyna goes by Kasia",
     "Friends call me Kasia", "I am also known as Kasia", "Preferred name: Kasia", "Nickname: Kasia",
     "I'm Katarzyna, Kasia to my friends", "Katarzyna Wójcik (goes by Kasia)"],
)  # fmt: skip
def test_a_nickname_that_the_dossier_states_is_redacted(stated: str) -> None:
    made = redact(f"{stated}. Her pupils wrote to Kasia.", Applicant(name="Katarzyna Wójcik"))
    assert made.template.endswith("wrote to {{nickname}}.")


@pytest.mark.parametrize("stated", ["Everybody calls him Zed.", "My brother goes by Zed.", "Ana Ruiz (Zed)."])
def test_what_may_be_a_nickname_is_reported_wherever_it_stands(stated: str) -> None:
    made = redact(f"{stated} We met Zed.", Applicant(name="Ana Ruiz"))
    assert made.template.endswith("We met Zed.")
    assert doubted(made).count("Zed") == 2


@pytest.mark.parametrize(
    "text",
    ["Ana Ruiz (Chair) left the Chair.", "Ana Ruiz (she/her)", "Pupils call me Coach.", "Ana Ruiz (Latina)",
     "Ana, known as Teacher of the Year", "Ana knows what goes by Red Hill"],
)  # fmt: skip
def test_not_every_word_in_brackets_is_a_nickname(text: str) -> None:
    made = redact(text, Applicant(name="Ana Ruiz"))
    assert "nickname" not in made.template


def test_a_nickname_after_the_name_or_a_phrase_is_to_check() -> None:
    made = redact("Katarzyna (Kasia) Wójcik. Kasia sang.", Applicant(name="Katarzyna Wójcik"))
    assert unsure(made) == []
    made = redact("Katarzyna Wójcik (Kasia). Kasia sang.", Applicant(name="Katarzyna Wójcik"))
    assert unsure(made) == ["Kasia", "Kasia"]


@pytest.mark.parametrize(("text", "college"), [
    ("He sold shoes near the University of Arizona in Tucson. Training 2018", "University of Arizona in Tucson"),
    ("The Board of Education. Brown University called.", "Brown University"),
    ("At St. James Church. James Madison University called.", "James Madison University"),
    ("St. John's University called.", "St. John's University"),
    ("J. Sargeant Reynolds Community College called.", "J. Sargeant Reynolds Community College"),
    ("Ph.D. Stanford University called.", "Stanford University"),
    ("Texas A&M University called.", "Texas A&M University"),
])  # fmt: skip
def test_a_college_ends_with_its_sentence(text: str, college: str) -> None:
    made = redact(text, Applicant(name="Ana Ruiz"))
    assert [text[span.start : span.end] for span in made.spans if span.kind == "college"] == [college]


def test_a_title_before_the_first_name_alone_is_to_check() -> None:
    """*Mr. Kim* of Kim Min-jun: the rules take the first word for the first name."""
    made = redact("Mr. Kim left.", Applicant(name="Kim Min-jun"))
    assert unsure(made) == ["Kim"]
    made = redact("Mr. Kim left.", Applicant(name="Kim Min-jun", first_name="Min-jun", last_name="Kim"))
    assert made.template == "{{title}} {{last_name}} left." and unsure(made) == []


def test_a_last_name_that_stands_first_leaves_no_middle_names() -> None:
    assert parse_name("Kim Min-jun", first="Min-jun", last="Kim") == ApplicantName(
        first="Min-jun", middle=(), last="Kim"
    )


def test_a_married_name_after_the_whole_name_is_to_check() -> None:
    assert unsure(redact("Ana Ruiz-Cole", Applicant(name="Ana Ruiz"))) == ["Ana Ruiz"]
