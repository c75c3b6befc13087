"""What providers say of an error: told in one line, without the key and without what was asked."""

from __future__ import annotations

import base64
import json
import re

import pytest

from audit_lib.score.remote.error_texts import LEFT_OUT, MOST, provider_message, told

KEY = "sk-loopback-0123456789abcdef"
ASKED = [
    "You screen applicants for a model shop. Answer Yes or No.",
    "Rashida Al-Amin, 34, welder from Toledo, rashida@example.org. She does not want to move. 申请人张伟，上海。"
    " Zażółć Gęślą: 7 lat.",
]
PRIVATE = r"(?i)rashid|al-amin|amin\b|welder|toledo|張|张|伟|上海|zażółć|gęśl|does not want to move"


def said(body: object) -> str:
    return told(provider_message(body), ASKED, [KEY])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # OpenAI
        (
            {
                "error": {
                    "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                    "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter",
                }
            },
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        ),
        # Azure
        (
            {
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                    "innererror": {"code": "X", "content_filter_result": {"hate": {"filtered": True}}},
                }
            },
            "The API deployment for this resource does not exist.",
        ),
        # vLLM, before and after it had the key "error"
        (
            {"object": "error", "message": "max_tokens must be at least 1, got 0.", "code": 400},
            "max_tokens must be at least 1, got 0.",
        ),
        ({"error": {"message": "The model `x` does not exist.", "code": 404}}, "The model `x` does not exist."),
        # FastAPI: repeats the input beside the message
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "String should have fewer items", "input": ASKED[1]}]},
            "messages.0: String should have fewer items",
        ),
        # a gateway's list, errors in errors, JSON in a text, problem details, a plain text, HTML, a byte string
        ([{"error": {"code": 400, "message": "API key expired."}}], "API key expired."),
        ({"errors": [{"message": "one"}, {"message": "two"}]}, "one; two"),
        ({"error": {"message": json.dumps({"error": {"message": "quota exceeded"}})}}, "quota exceeded"),
        ({"title": "Forbidden", "status": 403}, "Forbidden"),
        ("upstream connect error or disconnect/reset", "upstream connect error or disconnect/reset"),
        ("<html><head><title>504 Gateway Time-out</title></head>x</html>", "504 Gateway Time-out"),
        ("<p>Rate limit <b>reached</b></p>", "Rate limit reached"),
        (b'{"message": "no such route"}', "no such route"),
        ("line one\r\n\x1b[31mline two\x00", "line one [31mline two"),
    ],
)  # fmt: skip
def test_what_a_provider_says_is_told(body, message):
    assert said(body) == message


@pytest.mark.parametrize(
    "body", [None, "", "  ", {}, [], [[[[]]]], 3, True, {"error": None}, {"error": {"code": 1}}]
)
def test_what_says_nothing_is_told_as_nothing(body):
    assert said(body) == ""


@pytest.mark.parametrize(
    "echo",
    [
        ASKED[1],
        "Rashida Al-Amin",
        "RASHIDA AL-AMIN, 34",
        "rashida",
        "Rashi",  # cut off
        "al\\u002damin",
        "Rashida\\nAl-Amin",
        "&#82;ashida",
        "%5Bwelder%5D from Toledo",
        "张伟",
        "\\u5f20\\u4f1f",
        "无效的字符张伟",
        "She does not want to move",
        "Zażółć",
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        lambda text: {"error": {"message": f"Invalid value: '{text}' is too long for the model"}},
        lambda text: {"error": {"message": f"Invalid value {text} for the model"}},
        lambda text: {"message": {"message": [f"Bad request about {text}."]}},
        lambda text: f"<html><body><pre>cannot read {text}</pre></body></html>",
        lambda text: f"cannot read {text}",
        lambda text: [[[{"error": f"cannot read {text}"}]]],
    ],
)
def test_what_was_asked_is_never_told(echo, shape):
    found = said(shape(echo))
    assert not re.search(PRIVATE, found), found
    assert not re.search(PRIVATE, told(provider_message(shape(echo)), None)), (
        "also where it is not known what was"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        "Incorrect API key provided: sk-proj-abc*****wxyz.",
        f"Authorization: Bearer {KEY}",
        KEY.upper(),
        f"coded {base64.b64encode(KEY.encode()).decode()}",
        "https://me:hunter22@example.org/v1 refused",
        "see https://example.org/?api_key=abcd1234",
        "write to admin@example.org",
        "hf_abcdefgh12345678 is refused",
    ],
)
def test_no_secret_is_told(text):
    found = said({"error": {"message": text}})
    assert LEFT_OUT in found or not found
    for secret in (
        KEY,
        "loopback",
        "wxyz",
        "hunter22",
        "abcd1234",
        "admin@",
        "abcdefgh",
        base64.b64encode(KEY.encode()).decode(),
    ):
        assert secret.casefold() not in found.casefold()


def test_a_message_is_cut_and_deep_or_broken_bodies_end():
    assert len(said({"message": "too large " * 1000})) <= MOST
    deep: object = "end"
    for _ in range(2000):
        deep = {"error": deep}
    assert said(deep) == ""
    assert said("[" * 200_000) == "" or len(said("[" * 200_000)) <= MOST
    assert said("{not JSON, but a message") == "{not JSON, but a message"
