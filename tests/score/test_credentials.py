"""Secrets: refused where they are written, read where they are named, masked where they are repeated."""

from __future__ import annotations

import pytest

from audit_lib.errors import SpecError
from audit_lib.score import check_model
from audit_lib.score.credentials import check_fields, check_header, masked, plain_url
from audit_lib.score.requests import Response
from audit_lib.spec import Model


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer ${KEY}"),
        ("Authorization", "${KEY}"),
        ("authorization", "Basic ${KEY}"),
        ("X-Api-Key", "${KEY}"),
        ("api-key", " ${KEY} "),
        ("Cookie", "session=${A}; csrf=${B}"),
        ("X-Tenant", "acme-7"),
        ("Content-Language", "en"),
        ("X-Trace", "task-${RUN}-12"),
        ("X-Keyboard", "qwerty"),
        ("X-Author", "Bearer of news"),
        ("X-Max-Tokens", "5"),
        ("X-Compass", "north"),
        ("X-Feature", "hf_transfer"),
        ("X-Pass", "${KEY}"),
    ],
)
def test_headers_that_name_their_secrets(name, value):
    assert check_header(name, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer abc ${X}"),
        ("Authorization", "Bearer ${X} abc"),
        ("Authorization", "abc${X}"),
        ("Authorization", "hunter2 ${X}"),
        ("Authorization", "Bearer ${lower}"),
        ("X-Api-Key", "abc"),
        ("api-key", "${A}-${B}"),
        ("Cookie", "session=abc"),
        ("Cookie", "session=${A}; csrf=abc"),
        ("X-Session-Id", "abc"),
        ("X-Signature", "abc"),
        ("X-Api", "sk-live-abc"),
        ("X-Forward", "Bearer abc123"),
        ("Ocp-Apim-Subscription-Key", "abc"),
        ("X-Auth", "abc"),
        ("Proxy-Authorization", "abc"),
        ("X-Pass", "abc"),
        ("X-Pwd", "abc"),
        ("apiToken", "abc"),
        ("X-Key-Id", "abc"),
        ("X-Access", "AIzaSyD-abcdefghijklmnopqrstuvwxyz123456"),
        ("X-Access", "glpat-abcdefghij0123456789"),
        ("X-Access", "hf_abcdefghijklmnopqrstuvwxyz"),
        ("X-Access", "xoxb-1-abc"),
        ("X-Access", "AKIAABCDEFGHIJKLMNOP"),
        ("X-Access", "ghp_abcdefgh12"),
        ("X-Access", "Bearer abcdefghijklmnopqrst"),
    ],
)
def test_headers_with_a_literal_secret_are_refused_untold(name, value):
    with pytest.raises(ValueError, match=f"{name} looks like a secret") as caught:
        check_header(name, value)
    assert value.strip() not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        {"api_key": "abc"},
        {"inner": [{"Password": "abc"}]},
        {"token": "abc"},
        {"n": ["x", "sk-live-abc"]},
        {"n": "eyJhbGciOiJIUzI1NiJ9.e30.abc"},
        {"client_secret": 5},
        {"api_key": "${KEY} abc"},
        {"pwd": "abc"},
        {"pass": "abc"},
        {"auth": "abc"},
        {"auth": {"user": "me", "value": "abc"}},
        {"key": "abc"},
        {"keys": [{"key": "abc"}]},
        {"apiToken": "abc"},
        {"APIKey": "abc"},
        {"api_key_2": "abc"},
        {"token": ["abc"]},
        {"sk-live-abc1": "v"},
        {"x": "AIzaSyD-abcdefghijklmnopqrstuvwxyz123456"},
    ],
)
def test_fields_with_a_literal_secret_are_refused(content):
    with pytest.raises(ValueError, match="looks like a secret") as caught:
        check_fields(content, named=True)
    assert "abc" not in str(caught.value)


def test_fields_that_hold_no_secret_are_no_false_alarm():
    plain = {
        "max_tokens": 5,
        "tokens": "abc",
        "keyboard": "abc",
        "keywords": ["abc"],
        "key_skills": "abc",
        "pass_mark": 0.5,
        "passage": "abc",
        "author": "abc",
        "tokenizer": "abc",
        "stop_token_ids": [1, 2],
        "add_bos_token": True,
        "session": "spring",
        "task": "task-based",
        "key": "{{user}}",
        "token": None,
    }
    assert check_fields(plain, named=True) is None and check_fields(plain) is None


def test_a_field_may_name_its_secret_where_it_is_filled_in():
    assert check_fields({"api_key": "${KEY}", "max_tokens": 5, "texts": ["a", 1, None]}, named=True) is None
    with pytest.raises(ValueError, match="api_key looks like a secret"):
        check_fields({"api_key": "${KEY}"})


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://h:99999999/v1", "port is not a number from 1 to 65535"),
        ("http://h:0/v1", "port is not a number"),
        ("http://h:-1/v1", "port is not a number"),
        ("http://h:x/v1", "port is not a number"),
        ("http://[::1/v1", "Invalid IPv6"),
        ("ftp://h/v1", "needs http"),
        ("http:///v1", "needs http"),
        ("https://abc:pw@h/v1", "must not hold a user"),
        ("https://h/v1?key=abc", "must not hold"),
        ("https://h/v1#abc", "must not hold"),
        ("https://h/v1/sk-live-abc/score", "its path looks like"),
        ("https://h/v1;api_key=abc", "its path looks like"),
        ("https://h/AIzaSyD-abcdefghijklmnopqrstuvwxyz123456/x", "its path looks like"),
        ("https://h/v1;pwd=abc", "its path looks like"),
    ],
)
@pytest.mark.parametrize("backend", ["openai", "openai_batch", "http"])
def test_a_url_that_is_none_or_holds_a_secret_is_a_fault_of_the_spec(backend, url, said):
    options = (
        {"url": url, "body": {"t": "{{user}}"}, "text_path": "t"} if backend == "http" else {"base_url": url}
    )
    with pytest.raises(SpecError, match=said) as caught:
        check_model(Model(backend=backend, name="m", options=options))
    assert "abc" not in str(caught.value)


def test_a_plain_url_stays():
    assert plain_url("https://task-based.example:8443/v1/") == "https://task-based.example:8443/v1"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("", "x", "name of a header"),
        ("A B", "x", "name of a header"),
        ("A\nB", "x", "name of a header"),
        ("\u00c9", "x", "name of a header"),
        ("A", "x\r\nEvil: y", "the value of A holds a line's end"),
        ("A", "\u00e9", "not ASCII"),
        ("Host", "x", "written by the client itself"),
        ("content-length", "5", "written by the client itself"),
        ("Transfer-Encoding", "chunked", "written by the client itself"),
        ("Accept-Encoding", "gzip", "written by the client itself"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(name, value, why):
    with pytest.raises(ValueError, match=why):
        check_header(name, value)


@pytest.mark.parametrize("name", ["", " ", "\u2028"])
@pytest.mark.parametrize("backend", ["openai", "http", "embedding"])
def test_an_option_without_a_name_is_a_fault_of_the_spec(backend, name):
    options = {name: 1} | (
        {"url": "http://h", "body": {"t": "{{user}}"}, "text_path": "t"} if backend == "http" else {}
    )
    with pytest.raises(SpecError, match="unknown option"):
        check_model(Model(backend=backend, name="m", options=options))


def test_every_text_of_a_response_is_masked_and_short_words_are_not():
    said = Response(
        request_id="r",
        model="m longer-secret-1",
        method="generated",
        text="longer-secret-1 longer-secret short",
        detail="longer-secret",
        system_fingerprint="longer-secret",
    )
    hidden = masked(said, ["short", "longer-secret", "Bearer longer-secret-1"])
    assert (hidden.model, hidden.text) == ("m [key]", "[key] [key] short")
    assert (hidden.detail, hidden.system_fingerprint) == ("[key]", "[key]")
    assert masked(said, []) is said
