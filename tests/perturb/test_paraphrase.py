"""Back-translated templates: in other words, with every slot, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from audit_lib.cli.main import main
from audit_lib.errors import BackendError, SpecError
from audit_lib.perturb.paraphrase import back_translate
from audit_lib.perturb.template import read_template
from tests.score.audits import write_audit
from tests.score.fakes import fake
from tests.specs import INCLUDE

TEMPLATE = (INCLUDE / "prompts" / "resume_rating.yaml").read_bytes()


def shouting(texts: Sequence[str]) -> list[str]:
    return [text.split("\n\n", 1)[1].replace("applicant", "candidate") for text in texts]


def test_turns_that_the_model_writes_or_begins_stay_and_slots_are_kept() -> None:
    made = read_template(back_translate(TEMPLATE, "German", shouting, name="second", made_by="m"))
    before = read_template(TEMPLATE)
    assert [m["role"] for m in made] == [m["role"] for m in before]
    assert made[2]["content"] == "{{reply}}" and "candidate" in made[1]["content"]
    begun = b"messages: [{role: user, content: 'a {{x}}'}, {role: assistant, content: 'Answer:'}]"
    assert (
        read_template(back_translate(begun, "German", shouting, name="n", made_by="m"))[1]["content"]
        == "Answer:"
    )


@pytest.mark.parametrize("said", ["no slot at all", "{{resume}} and {{resume}}", "{{name}}"])
def test_a_lost_doubled_or_new_slot_is_an_error(said: str) -> None:
    plain = b"messages: [{role: user, content: 'Rate {{resume}}'}]"
    with pytest.raises(BackendError, match=r"message 1 came back without its slots"):
        back_translate(plain, "German", lambda texts: [said] * len(texts), name="n", made_by="m")


def test_a_template_of_nothing_to_translate_is_refused() -> None:
    with pytest.raises(SpecError, match="nothing to put into other words"):
        back_translate(
            b"messages: [{role: assistant, content: 'Answer:'}]", "German", shouting, name="n", made_by="m"
        )


def test_the_command_writes_a_file_once_that_names_model_and_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = fake("translator", lambda request: shouting([request.messages[-1].content])[0])
    spec = write_audit(tmp_path, "pointwise", model={"backend": "translator", "name": "translator"})
    out = tmp_path / "second.yaml"
    arguments = ["paraphrase", str(spec), "--through", "German", "--out", str(out)]
    assert main(arguments) == 0
    document = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert document["name"] == "second" and "German by translator" in document["description"]
    assert len(part.asked) == 6  # three turns, there and back
    assert "into German" in part.asked[0].messages[0].content
    assert "from German into English" in part.asked[3].messages[0].content
    assert main(arguments) == 2 and "is there already" in capsys.readouterr().err
