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
    assert "environment: SETPOINT_MODE: found 'on'; Input should be 'observe' or 'enforce'" in str(raised.value)


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
