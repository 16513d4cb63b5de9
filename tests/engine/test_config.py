"""The function's configuration: every variable that is wrong, at once, by its name."""

from __future__ import annotations

import pytest

from handler import function
from handler.config import read_config
from policies.errors import ParseError
from tests.engine.conftest import BUCKET, ENVIRONMENT, Deployment


def test_a_bad_configuration_is_one_error_that_names_every_variable() -> None:
    with pytest.raises(ParseError) as raised:
        read_config({"SETPOINT_MODE": "on", "SETPOINT_THREADS": "0", "SETPOINT_ACCOUNT": "12"})
    assert sorted(problem.path for problem in raised.value.problems) == [
        "AWS_REGION",
        "SETPOINT_ACCOUNT",
        "SETPOINT_BUCKET",
        "SETPOINT_MODE",
        "SETPOINT_THREADS",
    ]
    assert "environment: SETPOINT_BUCKET: it is not set" in str(raised.value)
    assert "environment: SETPOINT_MODE: found 'on'; allowed: 'observe' or 'enforce'" in str(raised.value)
    assert "environment: SETPOINT_THREADS: found '0'; allowed: at least 1" in str(raised.value)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("MODE", "enforced", "found 'enforced'; allowed: 'observe' or 'enforce'; did you mean 'enforce'?"),
        ("THREADS", "many", "found 'many'; allowed: a whole number"),
        ("THREADS", "65", "found '65'; allowed: at most 64"),
        ("PACE", "fast", "found 'fast'; allowed: true or false"),
        ("ACCOUNT", "12", r"found '12'; allowed: a text that matches ^\d{12}$"),
        ("BUCKET", "b", "found 'b'; allowed: at least 3 characters"),
        ("BUCKET", "s3://b/p", "found 's3://b/p'; allowed: a text that matches ^[a-z0-9][a-z0-9.-]+$"),
    ],
)
def test_a_wrong_variable_says_what_is_allowed(variable: str, value: str, said: str) -> None:
    with pytest.raises(ParseError) as raised:
        read_config({**ENVIRONMENT, f"SETPOINT_{variable}": value})
    assert str(raised.value) == f"environment: SETPOINT_{variable}: {said}"


@pytest.mark.parametrize(("prefix", "status"), [("policies/", "policies/status/"), ("a/", "a/"), ("", "status/")])
def test_policies_and_statuses_must_lie_apart(prefix: str, status: str) -> None:
    with pytest.raises(ParseError, match=r"SETPOINT_STATUS_PREFIX: found .* must lie apart"):
        read_config({**ENVIRONMENT, "SETPOINT_PREFIX": prefix, "SETPOINT_STATUS_PREFIX": status})


def test_a_warm_function_keeps_its_configuration_and_a_wrong_one_is_tried_again(
    deployed: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SETPOINT_BUCKET")
    with pytest.raises(ParseError, match="SETPOINT_BUCKET"):
        function.deployed()
    monkeypatch.setenv("SETPOINT_BUCKET", BUCKET)
    assert function.deployed() is function.deployed()
