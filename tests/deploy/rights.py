"""The rights of the function as IAM gets them from a stack with some parameters."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Template = Mapping[str, Any]
Rights = dict[str, Any]
"""A policy document, every `Action` and `Resource` in it a list."""

# The longest that AWS allows or has.
VALUES = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws-us-gov",
    "AWS::Region": "ap-southeast-1",
    "PolicyBucket.Arn": "arn:aws-us-gov:s3:::" + "b" * 63,
    "LogGroup.Arn": "arn:aws-us-gov:logs:ap-southeast-1:123456789012:log-group:/aws/lambda/" + "s" * 128 + ":*",
}
NOTHING = object()


def granted(template: Template, **parameters: str) -> dict[str, Rights]:
    """The policies attached to the function's role, by their names in the template."""
    stack = _Stack(template, parameters)
    role = stack.resolve(template["Resources"]["FunctionRole"]["Properties"])
    assert "Policies" not in role, "inline policies have a limit of their own"
    return {name: stack.rights(name) for name in role["ManagedPolicyArns"]}


def size(rights: Rights) -> int:
    """As IAM counts: every character but white space. Lists of one count as lists, which is a little too much."""
    return len("".join(json.dumps(rights, separators=(",", ":")).split()))


def actions(rights: Mapping[str, Rights]) -> set[str]:
    return {action for one in rights.values() for statement in one["Statement"] for action in statement["Action"]}


class _Stack:
    def __init__(self, template: Template, parameters: Mapping[str, str]) -> None:
        defaults = {name: one["Default"] for name, one in template["Parameters"].items()}
        assert parameters.keys() <= defaults.keys(), "parameters that the template does not have"
        self._values = {**VALUES, **defaults, **parameters}
        self._template = template
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self._condition,
            "Fn::And": lambda parts: all(map(self.resolve, parts)),
            "Fn::Equals": lambda pair: self.resolve(pair[0]) == self.resolve(pair[1]),
            "Fn::GetAtt": lambda path: self._values[".".join(path)],
            "Fn::If": lambda choice: self.resolve(choice[1] if self._condition(choice[0]) else choice[2]),
            "Fn::Join": lambda words: words[0].join(self.resolve(words[1])),
            "Fn::Not": lambda parts: not self.resolve(parts[0]),
            "Fn::Or": lambda parts: any(map(self.resolve, parts)),
            "Fn::Sub": lambda text: re.sub(r"\$\{([^}]+)\}", lambda name: str(self._values[name[1]]), text),
        }

    def resolve(self, value: Any) -> Any:
        match value:
            case dict() if len(value) == 1 and (function := self._functions.get(next(iter(value)))):
                return function(next(iter(value.values())))
            case dict():
                return {key: self.resolve(one) for key, one in value.items()}
            case list():
                return [found for one in value if (found := self.resolve(one)) is not NOTHING]
        return value

    def rights(self, name: str) -> Rights:
        resource = self._template["Resources"][name]
        assert resource["Type"] == "AWS::IAM::ManagedPolicy"
        assert self._condition(resource.get("Condition")), f"{name} is attached where it does not exist"
        document = self.resolve(resource["Properties"]["PolicyDocument"])
        return {**document, "Statement": [_listed(statement) for statement in document["Statement"]]}

    def _condition(self, name: str | None) -> bool:
        return name is None or bool(self.resolve(self._template["Conditions"][name]))

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NOTHING
        if self._template["Parameters"].get(name, {}).get("Type") == "CommaDelimitedList":
            return str(self._values[name]).split(",")
        return self._values.get(name, name)


def _listed(statement: Mapping[str, Any]) -> dict[str, Any]:
    single = {word: [statement[word]] for word in ("Action", "Resource") if isinstance(statement[word], str)}
    return {**statement, **single}
