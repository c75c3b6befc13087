"""Conversations are written as templates of many kinds want them, or refused with what to do."""

from __future__ import annotations

from datetime import date

import pytest

from audit_lib.errors import BackendError
from tests.score.conftest import CHAT, save_tiny_model

pytest.importorskip("torch", reason="torch is not installed")

from transformers import AutoTokenizer

from audit_lib.score.local.chat_template import ChatTemplate, PromptError
from audit_lib.score.local.engine import Engine
from audit_lib.score.local.questions import Prompt, TemplateOptions

GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n{{ m['content'] | trim }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
MISTRAL = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "{% if m['role'] == 'user' %}[INST] {{ m['content'] }} [/INST]{% else %} {{ m['content'] }}</s>{% endif %}"
    "{% endfor %}"
)
SILENT_ABOUT_SYSTEM = (
    "{% for m in messages if m['role'] != 'system' %}<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
QWEN3 = CHAT.removesuffix("{% endif %}") + (
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
R1 = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}<|assistant|>{{ m['content'].split('</think>')[-1] }}"
    "{% else %}<|{{ m['role'] }}|>{{ m['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|><think>\n{% endif %}"
)
OLD_R1 = R1.replace("<think>\n", "")
HARMONY = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}<|start|>assistant<|channel|>final<|message|>"
    "{{ m['content'] }}<|end|>{% else %}<|start|>{{ m['role'] }}<|message|>{{ m['content'] }}<|end|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
CHANGES_BEGUN = CHAT.replace(
    "{{ m['content'] }}", "{{ m['content'] | upper if m['role'] == 'assistant' else m['content'] }}"
)
NO_PROMPT = CHAT.partition("{% if add_generation_prompt %}")[0]
SYSTEM, USER = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hire Mei?"}
MORE, BEGUN = {"role": "user", "content": "Say Yes or No."}, {"role": "assistant", "content": "Answer:"}


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return AutoTokenizer.from_pretrained(tiny_model)


@pytest.fixture
def template(tokenizer):
    def made(text: object, **how: object) -> ChatTemplate:
        tokenizer.chat_template = text
        return ChatTemplate(tokenizer, "tiny", **how)

    return made


WRITTEN = {
    "as it is": (CHAT, [SYSTEM, USER], "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHire Mei?"
                 "<|im_end|>\n<|im_start|>assistant\n", {"system": "own", "turns": "own", "thinking": "none"}),
    "a system turn refused": (GEMMA, [SYSTEM, USER], "<start_of_turn>user\nBe brief.\n\nHire Mei?<end_of_turn>\n"
                              "<start_of_turn>model\n", {"system": "folded", "turns": "merged"}),
    "a system turn alone": (GEMMA, [SYSTEM], "<start_of_turn>user\nBe brief.<end_of_turn>\n<start_of_turn>model\n", {}),
    "a system turn left out": (SILENT_ABOUT_SYSTEM, [SYSTEM, USER], "<|user|>Be brief.\n\nHire Mei?\n<|assistant|>",
                               {"system": "folded", "turns": "own"}),
    "two turns of the user": (GEMMA, [USER, MORE], "<start_of_turn>user\nHire Mei?\n\nSay Yes or No.<end_of_turn>\n"
                              "<start_of_turn>model\n", {"turns": "merged"}),
    "a begun answer": (GEMMA, [SYSTEM, USER, BEGUN], "<start_of_turn>user\nBe brief.\n\nHire Mei?<end_of_turn>\n"
                       "<start_of_turn>model\nAnswer:", {"begun_answer": "continued"}),
    "a begun answer that is changed": (CHANGES_BEGUN, [USER, BEGUN], "<|im_start|>user\nHire Mei?<|im_end|>\n"
                                       "<|im_start|>assistant\nAnswer:", {"begun_answer": "appended"}),
    "no generation prompt is needed": (MISTRAL, [USER], "[INST] Hire Mei? [/INST]", {"turns": "merged"}),
    "none, and the answer is begun": (NO_PROMPT, [USER, BEGUN], "<|im_start|>user\nHire Mei?<|im_end|>\n"
                                      "<|im_start|>assistant\nAnswer:", {}),
    "thinking has a switch": (QWEN3, [USER], "<|im_start|>user\nHire Mei?<|im_end|>\n<|im_start|>assistant\n<think>\n\n"
                              "</think>\n\n", {"thinking": "off", "kwargs": {"enable_thinking": False}}),
    "channels": (HARMONY, [USER], "<|start|>user<|message|>Hire Mei?<|end|><|start|>assistant<|channel|>final"
                 "<|message|>", {"thinking": "final"}),
    "a thought, but the answer is begun": (R1, [USER, BEGUN], "<|user|>Hire Mei?<|assistant|>Answer:",
                                           {"thinking": "unknown"}),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN)
def test_a_conversation_is_written_as_the_template_wants_it(template, case):
    text, messages, wanted, recorded = WRITTEN[case]
    made = template(text)
    assert made.render(messages) == wanted
    assert recorded == {name: made.record[name] for name in recorded}


@pytest.mark.parametrize(
    ("text", "how", "ends"),
    [
        (R1, {"wish": "closed"}, "<|assistant|><think>\n\n</think>\n\n"),
        (OLD_R1, {"wish": "closed"}, "<|assistant|><think>\n\n</think>\n\n"),
        (OLD_R1, {"wish": "none"}, "<|assistant|>"),
        (QWEN3, {"wish": "none"}, "<|im_start|>assistant\n"),
        (QWEN3, {"kwargs": {"enable_thinking": False}}, "</think>\n\n"),
    ],
)
def test_a_spec_says_what_is_done_about_thinking(template, text, how, ends):
    assert template(text, **how).render([USER]).endswith(ends)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (R1, {}), (OLD_R1, {}), (R1, {"wish": "none"}), (QWEN3, {"wish": "on"}),
        (QWEN3, {"kwargs": {"enable_thinking": True}}),
    ],
)  # fmt: skip
def test_no_label_is_scored_where_the_model_would_think(template, text, how):
    made = template(text, **how)
    with pytest.raises(BackendError, match=r"^model type tiny: .*labels .*(think|model\.options).*; .*"):
        made.render([USER])
    assert made.render([USER], for_labels=False), "a text may hold a thought"


def test_what_an_applicant_writes_is_no_thought(template):
    assert template(CHAT).render([{"role": "user", "content": "I <think> so"}])
    assert template(R1, wish="closed").render([{"role": "user", "content": "I <think> so"}])


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "the conversation is empty"),
        ([BEGUN, USER], "the chat template refuses the conversation .*roles must alternate"),
        ([{"role": "tool", "content": "Mei"}, USER], "refuses the conversation"),
    ],
)
def test_a_conversation_that_cannot_be_written_says_why(template, messages, said):
    with pytest.raises(PromptError, match=said) as caught:
        template(GEMMA).render(messages)
    assert "Mei" not in str(caught.value)


def test_a_turn_that_is_left_out_is_told(template):
    ignores_tools = CHAT.replace("{% for m in messages %}", "{% for m in messages if m['role'] != 'tool' %}")
    with pytest.raises(PromptError, match="leaves out or changes the text of a turn of the tool"):
        template(ignores_tools).render([USER, {"role": "tool", "content": "42"}, USER])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "has no chat template; add the chat_template.jinja"),
        ("{{ raise_exception('no') }}", "cannot be rendered"),
        ("{% if %}", "cannot be rendered"),
    ],
)
def test_a_template_that_is_none_is_refused(template, text, said):
    with pytest.raises(BackendError, match=f"^model type tiny: .*{said}"):
        template(text)


def test_nothing_says_that_the_answer_begins(template):
    made = template(NO_PROMPT)
    with pytest.raises(
        BackendError, match="no generation prompt: .*assistant.*add_generation_prompt, or begin"
    ):
        made.render([USER])


@pytest.mark.parametrize(
    ("text", "roles", "labels", "said"),
    [
        (R1, ["user"], True, "labels would be scored where the model may think"),
        (R1, ["user", "assistant"], True, None),
        (R1, ["user"], False, None),
        (NO_PROMPT, ["user"], True, "no generation prompt"),
        (GEMMA, ["system", "user", "user"], True, None),
        (
            GEMMA,
            ["assistant", "user"],
            True,
            "refuses the conversation .*, with turns of assistant, user; write prompt",
        ),
    ],
)
def test_the_roles_of_a_prompt_are_checked_before_anything_is_asked(template, text, roles, labels, said):
    made = template(text)
    if said is None:
        made.check(roles, for_labels=labels)
        return
    with pytest.raises(BackendError, match=said):
        made.check(roles, for_labels=labels)


DATED = "Today is {{ strftime_now('%d %b %Y') }}. " + CHAT


def test_a_template_s_date_is_not_the_day_of_the_run(template):
    made = template(DATED)
    assert made.render([USER]).startswith("Today is 01 Jan 2025. ") and made.record["date"] == "2025-01-01"
    another = template(DATED, day=date(2024, 7, 26))
    assert another.render([USER]).startswith("Today is 26 Jul 2024. ")
    assert template(CHAT).record["date"] is None


def test_a_date_that_cannot_be_held_is_refused(template, monkeypatch):
    monkeypatch.setattr("audit_lib.score.local.chat_template.is_held", lambda *_given: False)
    with pytest.raises(
        BackendError, match="writes today's date.*; write a fixed date into chat_template.jinja"
    ):
        template(DATED)


def test_a_system_turn_that_is_folded_is_part_of_what_is_scored(tmp_path):
    save_tiny_model(tmp_path)
    (tmp_path / "chat_template.jinja").write_text(GEMMA)
    engine = Engine(tmp_path, device="cpu", threads=1, asking=TemplateOptions())
    labels = ("No", "Yes")
    with_system, without, empty = engine.score(
        [Prompt(messages=tuple(m), labels=labels) for m in ([SYSTEM, USER], [USER], [])]
    )
    assert with_system.probabilities and without.probabilities
    assert with_system.probabilities != without.probabilities
    assert empty.error == "the conversation is empty"
    assert engine.template.record["system"] == "folded"
