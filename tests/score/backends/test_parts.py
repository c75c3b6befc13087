"""Images and files of a template reach a model that reads them itself, and no other.

Their form is that of https://platform.openai.com/docs/guides/pdf-files and
https://platform.openai.com/docs/guides/images-vision, which vLLM and others share.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit_lib.canonical import canonical_json
from audit_lib.errors import SpecError
from audit_lib.perturb.template import read_template, render, turn_slots
from audit_lib.records import from_parquet
from audit_lib.score import score_shard
from tests.score.audits import open_audit
from tests.score.cases import run_with, variant
from tests.score.conftest import SECRET
from tests.score.loopback import GOOD, completion, loopback

pytest.importorskip("openai", reason="openai is not installed")

TEMPLATE = b"""
messages:
  - {role: system, content: You screen applicants.}
  - role: user
    content: "{{name}} sends this resume."
    parts:
      - {type: file, file: {filename: resume.pdf, file_data: "{{resume_pdf}}"}}
      - {type: image_url, image_url: {url: "data:image/png;base64,AAAA", detail: low}}
  - {role: assistant, content: "Answer:"}
"""
PDF = "data:application/pdf;base64,JVBERi0xLjQ="


def test_their_slots_are_filled() -> None:
    template = read_template(TEMPLATE)
    assert [turn_slots(turn) for turn in template] == [[], ["name", "resume_pdf"], []]
    turns = json.loads(render(template, {"name": "Ann Lee", "resume_pdf": PDF}))
    assert turns[1]["content"] == "Ann Lee sends this resume."
    assert turns[1]["parts"][0] == {"type": "file", "file": {"filename": "resume.pdf", "file_data": PDF}}


@pytest.mark.parametrize(
    ("parts", "role"), [("[{type: text, text: a}]", "user"), ("[a]", "user"), ("[{type: file}]", "system")]
)
def test_what_is_no_part_is_refused(parts: str, role: str) -> None:
    with pytest.raises(SpecError, match=r"message 1: (`parts` is|a part is)"):
        read_template(f"messages: [{{role: {role}, content: a, parts: {parts}}}]".encode())


@pytest.mark.parametrize("options", [{}, {"method": "sampled", "samples": 1}])
def test_they_are_sent_after_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any) -> None:
    monkeypatch.setenv("TEST_API_KEY", SECRET)
    turns = render(read_template(TEMPLATE), {"name": "w00", "resume_pdf": PDF})
    with loopback(lambda word, time: completion(GOOD, text="Yes")) as server:
        given = {"api_key_env": "TEST_API_KEY", "base_url": server.url, **options}
        model = {"backend": "openai", "name": "m", "served": "any", "options": given}
        run = run_with(tmp_path, [variant("w00", messages=turns)], model=model, score={"shards": 1})
        scores = from_parquet(score_shard(run, 0).artefacts["scores.parquet"])
    assert scores.status.eq("ok").all()
    (text, file, image) = server.bodies[0]["messages"][1]["content"]
    assert text["type"] == "text" and text["text"].startswith(
        "w00 sends this resume.\n\nAnswer with exactly one"
    )
    assert (file["type"], file["file"]["file_data"], image["type"]) == ("file", PDF, "image_url")


def test_another_file_is_another_question(tmp_path: Path) -> None:
    digests = set()
    for pdf in (PDF, PDF + "="):
        turns = render(read_template(TEMPLATE), {"name": "w", "resume_pdf": pdf})
        (folder := tmp_path / str(len(pdf))).mkdir()
        run = run_with(folder, [variant("w", messages=turns)])
        from audit_lib.score.tasks.pointwise import Pointwise

        (request,) = Pointwise(run.spec).requests(run.stage("variants").read_table("variants.parquet"))
        digests.add(request.digest())
        assert canonical_json(json.loads(request.messages[1].parts or ""))
    assert len(digests) == 2


def test_a_backend_that_would_leave_them_out_is_refused(tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_bytes(TEMPLATE.replace(b"{{resume_pdf}}", b"{{resume}}"))
    with pytest.raises(SpecError, match=r"has images or files .* backends that do: openai, openai_batch"):
        open_audit(
            tmp_path,
            "pointwise",
            prompt={"template": str(template)},
            model={"backend": "transformers", "name": "x/y"},
        )
