"""Nothing that looks like a secret comes out, and what is none stays readable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.redact import HIDDEN, redact, redact_value

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("AKIAIOSFODNN7EXAMPLE", HIDDEN),
        ("key ASIAIOSFODNN7EXAMPLE was used", f"key {HIDDEN} was used"),
        ("https://ops:hunter2@wiki/orders", f"https://{HIDDEN}@wiki/orders"),
        ("postgres://u:p@db:5432/x and redis://a:b@c", f"postgres://{HIDDEN}@db:5432/x and redis://{HIDDEN}@c"),
        ("password=hunter2", f"password={HIDDEN}"),
        ("Password=hunter2&x=1", f"Password={HIDDEN}&x=1"),
        ("token: abc", f"token: {HIDDEN}"),
        ("token: the", f"token: {HIDDEN}"),
        ("token: thermal noise", f"token: {HIDDEN} noise"),
        ("token: 0-to-5 by", f"token: {HIDDEN} by"),
        ('{"password":"hunter2","id":"x"}', f'{{"password":"{HIDDEN}","id":"x"}}'),
        ("the secret='abc', then", f"the secret='{HIDDEN}', then"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", f"aws_secret_access_key = {HIDDEN}"),
        ("api_key=abc123", f"api_key={HIDDEN}"),
        (f"Bearer {JWT}", f"Bearer {HIDDEN}"),
        (f"a {KEY} b", f"a {HIDDEN} b"),
        (KEY.partition("-----END")[0], HIDDEN),  # cut off in the middle
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "orders-a exists and is not ours",
        "arn:aws:sqs:eu-west-1:123456789012:orders-a",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders-a",
        "mail ops@example.org",
        "at 09:00:12 it was 5@once",
        "NextToken was sent",
        "a tokenised password policy",
        "AKIA is a prefix",
        "password-reset: deleted from 2026-12-03T04:57:37Z on",
        "password-reset: not wanted since 2026-12-03T04:57:37Z, retained",
        "password-reset: nothing that is matched has this name",
        "count of secret-rotation: 0 to 5 by its schedule",
        "(ExpiredToken: The security token included in the request is expired)",
        "token: found 7; allowed: a text",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"MasterUserPassword": "x", "Name": "n"}, {"MasterUserPassword": HIDDEN, "Name": "n"}),
        ({"UserData": "IyEvYmluL3No"}, {"UserData": HIDDEN}),
        ({"apiKey": "x", "api_key": "y", "accessKey": "z"}, dict.fromkeys(("apiKey", "api_key", "accessKey"), HIDDEN)),
        (
            {"PrivateKey": "x", "Credentials": "y", "AuthToken": "z"},
            dict.fromkeys(("PrivateKey", "Credentials", "AuthToken"), HIDDEN),
        ),
        (
            {"Inner": {"secret": "x"}, "List": [{"token": "y"}]},
            {"Inner": {"secret": HIDDEN}, "List": [{"token": HIDDEN}]},
        ),
        ({"secrets": ["a", "b"]}, {"secrets": [HIDDEN, HIDDEN]}),
        ([{"Key": "db-password", "Value": "x"}], [{"Key": "db-password", "Value": HIDDEN}]),
        ([{"Name": "API_TOKEN", "Value": "x"}], [{"Name": "API_TOKEN", "Value": HIDDEN}]),
        ([{"Key": "team", "Value": "orders"}], [{"Key": "team", "Value": "orders"}]),
        ({"Description": "https://a:b@c"}, {"Description": f"https://{HIDDEN}@c"}),
        (
            {"PasswordLength": 12, "TokenEnabled": True, "Secret": None, "Password": ""},
            {"PasswordLength": 12, "TokenEnabled": True, "Secret": None, "Password": ""},
        ),
        ({"VisibilityTimeout": 60, "QueueName": "orders"}, {"VisibilityTimeout": 60, "QueueName": "orders"}),
    ],
)
def test_property_values_are_hidden_by_their_name_or_their_text(value: Any, shown: Any) -> None:
    assert redact_value(value) == shown


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "password", "Key", "Value"]), inner)
    ),
    max_leaves=8,
)


@given(_json)
def test_redacting_twice_is_redacting_once_and_the_shape_stays(value: Any) -> None:
    once = redact_value(value)
    assert redact_value(once) == once


@given(st.text(alphabet="abc123", min_size=4, max_size=20), st.sampled_from(["password", "secret", "token"]))
def test_an_assigned_secret_never_survives(secret: str, word: str) -> None:
    for text in (f"{word}={secret}", f'x {{"{word}": "{secret}"}}', f"{word.upper()}: {secret}"):
        assert secret not in redact(text)
