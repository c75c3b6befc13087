"""Secrets: refused where they are written, read where they are named, masked where they are repeated."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from audit_lib.errors import SpecError
from audit_lib.score import check_model
from audit_lib.score.remote.credentials import check_fields, check_header, looks_secret, masked, plain_url
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
        ("X-Api-Keys", "abc"),
        ("X-Keys", "abc"),
        ("AWS-Access-Key-Id", "abc"),
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
        {"access_key_id": "abc"},
        {"tokenValue": "abc"},
        {"apiKeys": ["abc"]},
        {"api_tokens": {"first": "abc"}},
        {"accesskeys": "abc"},
        {"private_key_pem": "abc"},
        {"pem": "-----BEGIN EC PRIVATE KEY-----\nabc"},
        {"hook": "https://abc:pw@host/x"},
        {"about": "post to https://abc:pw@host/x, please"},
        {"headers": ["Authorization: Bearer abcdef"]},
        {"curl": "-H 'Authorization: Basic YWJjOmFiYw=='"},
        {"note": "use Bearer abc-12345 here"},
    ],
)
def test_fields_with_a_literal_secret_are_refused(content):
    with pytest.raises(ValueError, match="looks like a secret") as caught:
        check_fields(content, named=True)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "primary key",
        "the primary key of a table, access keys to the office",
        "Basic skills",
        "basic 12-month plan",
        "Basic requirements for 2 years",
        "a bearer of news",
        "standard bearer 2019-2020",
        "bearer internationally known",
        "Work authorization: H1B visa holder",
        "Authorization: required",
        "authorization: Basic knowledge of 3 languages",
        "task-based",
        "risk-adjusted",
        "sk-learn and scikit-learn",
        "sk-SK",
        "pk_id",
        "a rk-ranker-v2-large",
        "hf_transfer",
        "https://host:8443/@me",
        "https://host/a:b@c",
        "mailto:me@host, tel:1@2",
        "-----BEGIN CERTIFICATE-----",
        "ratio 3:1@noon",
        "gpt-4o-2024-08-06",
        "token, tokens, keyboard, key skills",
    ],
)
def test_texts_that_hold_no_secret_are_no_false_alarm(text):
    assert not looks_secret(text)
    assert check_fields({"text": text}, named=True) is None
    assert check_model(Model(backend="recorded", name=text, revision=text)) is None


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
        "keys": ["name", "years"],
        "primary_keys": "abc",
        "token_count": 5,
        "key_values": "abc",
        "api_version": "abc",
        "access_level": "abc",
        "private_notes": "abc",
        "tokenizer_mode": "abc",
        "monkey_patch": "abc",
        "special_tokens": "abc",
        "word_pass_rate": 0.5,
    }
    assert check_fields(plain, named=True) is None and check_fields(plain) is None


def test_a_field_may_name_its_secret_where_it_is_filled_in():
    assert check_fields({"api_key": "${KEY}", "max_tokens": 5, "texts": ["a", 1, None]}, named=True) is None
    with pytest.raises(ValueError, match="api_key looks like a secret"):
        check_fields({"api_key": "${KEY}"})


@pytest.mark.parametrize(
    "content",
    [
        {"note": "Bearer ${KEY}"},
        {"in": [{"note": "${KEY} ${KEY}"}]},
        {"note": "${lower}"},
        {"note": "${ KEY }"},
        {"${KEY}": "{{user}}"},
    ],
)
def test_a_variable_that_would_be_sent_as_it_stands_is_refused(content):
    with pytest.raises(ValueError, match=r"(note|in\.note|\$\{KEY\}):? .*as it stands; "):
        check_fields(content, named=True)
    with pytest.raises(ValueError, match="x is .* not filled in here"):
        check_fields({"x": "${KEY}"})
    with pytest.raises(ValueError, match="X-Trace holds .* without the name of a variable"):
        check_header("X-Trace", "${lower}")
    with pytest.raises(ValueError, match="not filled in here"):
        plain_url("https://host/${KEY}/x")


def test_money_before_a_slot_is_no_variable():
    assert check_fields({"note": "paid ${{user}} or $5 {a}"}, named=True) is None


@pytest.mark.parametrize("key", ["name", "revision"])
@pytest.mark.parametrize("value", ["sk-abcdefg12345678", "https://abc:pw@host/m", "hf_abcdefghijklmnopqrst"])
def test_a_model_s_name_or_revision_is_no_secret(key, value):
    with pytest.raises(SpecError, match=rf"model\.{key}: looks like a secret") as caught:
        check_model(Model(**{"backend": "recorded", "name": "m", key: value}))
    assert "abc" not in str(caught.value)


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


ODD = 'pa"ss/w\\rd+Zx91 tail0099'


@pytest.mark.parametrize(
    "echo",
    [
        ODD,
        ODD.upper(),
        quote(ODD),
        quote(ODD, safe=""),
        quote(ODD, safe="").lower(),
        quote_plus(ODD),
        json.dumps(ODD)[1:-1],
        json.dumps(ODD)[1:-1].replace("/", "\\/"),
        base64.b64encode(ODD.encode()).decode(),
        base64.urlsafe_b64encode(ODD.encode()).decode().rstrip("="),
        base64.b64encode(ODD.split()[0].encode()).decode(),
        quote(ODD.split()[0], safe=""),
    ],
)
def test_what_a_server_escaped_is_masked_too(echo):
    said = Response(request_id="r", model="m", method="endpoint", text=f"Yes [{echo}]")
    assert (masked(said, [ODD]).text or "").replace("=", "") == "Yes [[key]]"
