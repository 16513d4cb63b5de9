"""Strategies and kinds of others: installed as a package, found by their entry points, used like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

import pytest

from infra.kinds.kind import Joint
from infra.kinds.registry import Kinds
from infra.kinds.sqs_queue import SqsQueue
from policies.errors import PluginError
from policies.plugins import Plugins

ROOT = Path(__file__).parents[2]

STRATEGY = '''
"""Wants one resource on even days."""
from typing import Literal

from policies.strategy import Decision, Strategy


class EvenDays(Strategy):
    type: Literal["evenDays"]

    def decide(self, blueprint, seen, now):
        return Decision(desired=(blueprint.render("one"),) if now.day % 2 == 0 else ())
'''

KIND = '''
"""SNS topics, as somebody else would add them."""
from typing import Annotated

from infra.kinds.kind import Kind
from policies.action import Progress
from policies.kind import Creation
from policies.properties import CreateOnly, Name, Properties, Tag
from policies.world import Resource


class TopicProperties(Properties):
    TopicName: Annotated[str, CreateOnly, Name("[A-Za-z0-9_-]+", 256)]
    DisplayName: str | None = None
    Tags: list[Tag] | None = None


class Topic(Kind):
    type = "Acme::SNS::Topic"
    properties = TopicProperties
    identifier = "TopicName"
    creation = Creation.RETURNS_EXISTING
    index = "sns:topic"
    absent_codes = frozenset({"NotFound", "NotFoundException"})

    def survey(self, aws, prefixes):
        for topic in aws.pages("sns", "list_topics", "Topics"):
            yield self.locate(aws, topic["TopicArn"].rpartition(":")[2])

    def has_arn(self, arn):
        return arn.split(":")[2] == "sns"

    def name_of_arn(self, arn):
        return arn.rpartition(":")[2]

    def locate(self, aws, name):
        arn = f"arn:aws:sns:{aws.region}:{aws.account}:{name}"
        return Resource(type=self.type, id=name, name=name, handle=arn, arn=arn)

    def read(self, aws, seen):
        sns = aws.client("sns")
        shown = sns.get_topic_attributes(TopicArn=seen.handle)["Attributes"]
        tags = seen.tags
        if tags is None:
            listed = sns.list_tags_for_resource(ResourceArn=seen.handle)["Tags"]
            tags = {tag["Key"]: tag["Value"] for tag in listed}
        properties = {"TopicName": seen.name, "DisplayName": shown.get("DisplayName") or None}
        return Resource(
            type=self.type, id=seen.id, name=seen.name, handle=seen.handle, arn=seen.handle, tags=tags,
            properties={word: value for word, value in properties.items() if value is not None},
        )

    def create(self, aws, desired, token):
        attributes = {"DisplayName": desired.properties["DisplayName"]} if "DisplayName" in desired.properties else {}
        tags = [{"Key": key, "Value": value} for key, value in desired.tags.items()]
        aws.client("sns").create_topic(Name=desired.name, Attributes=attributes, Tags=tags)
        return Progress.COMPLETE

    def update(self, aws, seen, change):
        sns = aws.client("sns")
        for word, value in change.properties.items():
            sns.set_topic_attributes(TopicArn=seen.handle, AttributeName=word, AttributeValue=value or "")
        if change.tags:
            tags = [{"Key": key, "Value": value} for key, value in change.tags.items()]
            sns.tag_resource(ResourceArn=seen.handle, Tags=tags)
        if change.untag:
            sns.untag_resource(ResourceArn=seen.handle, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws, seen):
        aws.client("sns").delete_topic(TopicArn=seen.handle)
'''

GOOD = {
    "setpoint.strategies": {"evenDays": "acme_setpoint.strategy:EvenDays"},
    "setpoint.kinds": {"Acme::SNS::Topic": "acme_setpoint.kind:Topic"},
}


def install(folder: Path, points: dict[str, dict[str, str]]) -> Path:
    """The package as an installer would leave it: modules, and a dist-info with entry points."""
    package, info = folder / "acme_setpoint", folder / "acme_setpoint-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "strategy.py").write_text(STRATEGY)
    (package / "kind.py").write_text(KIND)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-setpoint\nVersion: 1.0\n")
    sections = [
        f"[{group}]\n" + "".join(f"{word} = {at}\n" for word, at in those.items()) for group, those in points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(sections))
    return folder


def said(folder: Path, program: str) -> Any:
    """What a process of its own prints, in which the package is installed."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "AWS_DEFAULT_REGION": "eu-west-1"}
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


BEGINNING = """
    import json
    from tests.engine.given import document, parse, run
    from handler.compose import vocabulary
    from tests.world import World

    topic = {"type": "Acme::SNS::Topic", "properties": {"TopicName": "news", "DisplayName": "News"}}
    clause = {"name": "topics", "resource": topic, "strategy": {"type": "evenDays"}}
    queue = {"type": "AWS::SQS::Queue", "properties": {"QueueName": "q"}}
    ours = {"name": "ours", "resource": queue, "strategy": {"type": "forEach"}}
    words = vocabulary("123456789012", "eu-west-1")
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process with the package in good order says."""
    program = (
        BEGINNING
        + """
    wrong = {**clause, "resource": {**topic, "properties": {"TopicName": "news", "DisplayNam": "x"}}}
    misspelt = {**clause, "strategy": {"type": "evenDay"}}
    said = [str(parse({"main": document(one)}, words=words).failures[0]) for one in (wrong, misspelt)]
    days = []
    with World() as world:
        for day in range(3):
            told = [run(world, {"main": document(clause)}, words=words) for _ in range(2)][-1]
            topics = world.outside.sns.list_topics()["Topics"]
            shown = [world.outside.sns.get_topic_attributes(TopicArn=one["TopicArn"])["Attributes"] for one in topics]
            days.append([world.now.day, [one["DisplayName"] for one in shown], sorted(told.true("topics"))])
            world.advance(days=1)
    print(json.dumps({"days": days, "wrong": said[0], "misspelt": said[1]}))
    """
    )
    return said(install(tmp_path_factory.mktemp("good"), GOOD), program)


def test_an_installed_strategy_and_kind_are_parsed_planned_and_run(good: Any) -> None:
    assert good["days"] == [[2, ["News"], ["Ready"]], [3, [], ["Ready"]], [4, ["News"], ["Ready"]]]


def test_its_words_are_checked_like_ours(good: Any) -> None:
    assert good["wrong"].startswith("main: $.policies[0].resource.properties.DisplayNam: unknown key")
    assert "did you mean 'DisplayName'?" in good["wrong"]
    assert "did you mean 'evenDays'?" in good["misspelt"]


def test_it_cannot_take_one_of_our_words(tmp_path: Path) -> None:
    stolen = {
        "setpoint.strategies": {"forEach": "acme_setpoint.strategy:EvenDays"},
        "setpoint.kinds": {"AWS::SQS::Queue": "acme_setpoint.kind:Topic"},
    }
    program = (
        BEGINNING
        + """
    with World() as world:
        run(world, {"main": document(ours)}, words=words)
        made = type(words.kinds["AWS::SQS::Queue"]).__name__, words.strategies["forEach"].__name__
        print(json.dumps([*made, sorted(world.resources()["AWS::SQS::Queue"])]))
    """
    )
    assert said(install(tmp_path, stolen), program) == ["SqsQueue", "ForEach", ["q"]]


BROKEN = {
    "setpoint.strategies": {"evenDays": "acme_setpoint.missing:EvenDays"},
    "setpoint.kinds": {"Acme::SNS::Topic": "acme_setpoint.missing:Topic"},
}


def test_one_that_is_broken_and_not_used_harms_nobody(tmp_path: Path) -> None:
    program = (
        BEGINNING
        + """
    with World() as world:
        told = [run(world, {"main": document(ours)}, words=words) for _ in range(2)][-1]
        print(json.dumps([told.words, sorted(told.true("ours"))]))
    """
    )
    assert said(install(tmp_path, BROKEN), program) == ["", ["Ready"]]


@pytest.mark.parametrize("word", ["strategy", "kind"])
def test_one_that_is_broken_and_used_ends_only_its_document(tmp_path: Path, word: str) -> None:
    fine = {"setpoint.strategies": GOOD["setpoint.strategies"], "setpoint.kinds": GOOD["setpoint.kinds"]}
    group = "setpoint.strategies" if word == "strategy" else "setpoint.kinds"
    program = (
        BEGINNING
        + """
    with World() as world:
        told = run(world, {"main": document(ours), "theirs": document(clause)}, words=words)
        print(json.dumps([told.words, sorted(world.resources().get("AWS::SQS::Queue", {}))]))
    """
    )
    words, made = said(install(tmp_path, {**fine, group: BROKEN[group]}), program)
    assert made == ["q"]
    assert words.startswith("theirs: $.policies[0].")
    assert "acme_setpoint.missing" in words


# --- the registry itself -------------------------------------------------------------------------------------------


def registry(**ours: str) -> Plugins[Any]:
    return Plugins("setpoint.none", tuple(EntryPoint(word, at, "setpoint.none") for word, at in ours.items()))


class HalfAKind(SqsQueue):
    """Says what it cannot do."""

    together: ClassVar[Mapping[Joint, int]] = {"delete": 10}


def test_a_kind_that_says_what_it_has_no_method_for_cannot_be_loaded() -> None:
    found = Kinds("setpoint.none", (EntryPoint("A::B::C", f"{__name__}:HalfAKind", "setpoint.none"),))
    with pytest.raises(PluginError, match=r"together says 'delete', and there is no delete_all"):
        found["A::B::C"]


def test_a_word_is_loaded_when_it_is_first_used_and_once() -> None:
    found = registry(decoder="json:JSONDecoder", broken="no_such_module:Thing")
    assert (sorted(found), len(found), "broken" in found, "other" in found) == (["broken", "decoder"], 2, True, False)
    assert found["decoder"] is found["decoder"] is json.JSONDecoder
    with pytest.raises(PluginError, match=r"'broken' \(no_such_module:Thing\) cannot be loaded: ModuleNotFoundError"):
        found["broken"]
    with pytest.raises(KeyError):
        found["other"]
