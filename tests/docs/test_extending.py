"""The strategy and the kind in docs/extending.md work as they stand there."""

import json
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft7Validator
from moto.core.resource_tagging import TaggedResource

from handler.compose import Setpoint
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, failures
from infra.cloud import AwsCloud
from infra.kinds.registry import GROUP, Kinds
from policies.estate import Estate, parse_estate
from policies.plugins import Plugins
from policies.schema import json_schema
from policies.vocabulary import Vocabulary
from strategies.registry import STRATEGIES
from tests.docs.pages import PAGES, blocks, document
from tests.world import World
from tests.world.index import UNINDEXED

PAGE = next(page for page in PAGES if page.name == "extending.md")
DURING, REPOSITORY = (block.text for block in blocks("python", PAGE))
DOCUMENTS: list[Any] = [document(block) for block in blocks("json", PAGE)]
TYPE = "AWS::ECR::Repository"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    strategies = {**STRATEGIES, "during": _module("during", DURING).During}
    module = _module("ecr_repository", REPOSITORY)
    queue = EntryPoint("AWS::SQS::Queue", "infra.kinds.sqs_queue:SqsQueue", GROUP)
    kinds = Kinds(GROUP, (queue, EntryPoint(TYPE, f"{module.__name__}:EcrRepository", GROUP)))
    return Vocabulary(strategies, kinds, "123456789012", "eu-west-1")


@pytest.fixture(autouse=True)
def _repositories_in_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's tag index shows them, moto's does not."""

    def found(ecr: Any) -> Iterator[TaggedResource]:
        for one in ecr.repositories.values():
            yield TaggedResource(one.arn, ecr.tagger.get_tag_dict_for_resource(one.arn), "ecr:repository")

    monkeypatch.setitem(UNINDEXED, "ecr", found)


def test_during_exists_during(world: World, vocabulary: Vocabulary) -> None:
    estate = _estate(vocabulary, 0)
    seen = []
    for _ in range(4):
        _run(world, vocabulary, estate)
        seen.append(len(world.outside.sqs.list_queues().get("QueueUrls", ())))
        world.advance(timedelta(days=3))
    assert seen == [0, 1, 1, 0]


def test_repositories_come_change_and_go(world: World, vocabulary: Vocabulary) -> None:
    estate, ecr = _estate(vocabulary, 1), world.outside.ecr
    _run(world, vocabulary, estate)
    assert _repositories(ecr) == {"images/web": ("IMMUTABLE", True), "images/jobs": ("IMMUTABLE", True)}
    assert _run(world, vocabulary, estate) == []
    ecr.put_image_tag_mutability(repositoryName="images/web", imageTagMutability="MUTABLE")
    scanning = {"scanOnPush": False}
    ecr.put_image_scanning_configuration(repositoryName="images/jobs", imageScanningConfiguration=scanning)
    _run(world, vocabulary, estate)
    assert _repositories(ecr) == {"images/web": ("IMMUTABLE", True), "images/jobs": ("IMMUTABLE", True)}
    assert _run(world, vocabulary, estate) == []
    policies: Any = DOCUMENTS[1]["policies"]
    absent: Any = {"version": 1, "policies": [{**policies[0], "ensure": "absent"}]}
    absent["policies"][0] |= {"removal": "delete", "grace": "0s", "guardrails": {"maxDeletes": "100%"}}
    _run(world, vocabulary, _parse(vocabulary, absent))
    assert _repositories(ecr) == {}


def test_a_repository_that_others_made_stays(world: World, vocabulary: Vocabulary) -> None:
    world.outside.ecr.create_repository(repositoryName="images/web")
    world.advance(minutes=1)
    world.tick_started()
    report = _report(world, vocabulary, _estate(vocabulary, 1))
    assert [trouble.reason for one in report.policies for trouble in one.plan.troubles] == ["NameTaken"]
    assert _repositories(world.outside.ecr)["images/web"] == ("MUTABLE", False)


def test_an_editor_knows_both(vocabulary: Vocabulary) -> None:
    validator = Draft7Validator(json_schema(vocabulary))
    for found in DOCUMENTS:
        assert [error.message for error in validator.iter_errors(found)] == []


def test_a_package_brings_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toml,) = blocks("toml", PAGE)
    package, facts = tmp_path / "setpoint_extras", tmp_path / "setpoint_extras-1.0.0.dist-info"
    package.mkdir()
    facts.mkdir()
    (package / "during.py").write_text(DURING)
    (package / "ecr_repository.py").write_text(REPOSITORY)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: setpoint-extras\nVersion: 1.0.0\n")
    (facts / "entry_points.txt").write_text(_entry_points(toml.text))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "during" in Plugins("setpoint.strategies", ())
    assert Kinds(GROUP, ())[TYPE].named


def _entry_points(toml: str) -> str:
    groups = tomllib.loads(toml)["project"]["entry-points"]
    return "".join(
        f"[{group}]\n" + "".join(map("{0[0]} = {0[1]}\n".format, its.items())) for group, its in groups.items()
    )


def _module(name: str, text: str) -> ModuleType:
    """The block as a module of its own: annotations are looked up there."""
    module = ModuleType(f"tests.docs.of_the_page_{name}")
    sys.modules[module.__name__] = module
    exec(compile(text, str(PAGE), "exec"), module.__dict__)
    return module


def _estate(vocabulary: Vocabulary, place: int) -> Estate:
    return _parse(vocabulary, DOCUMENTS[place])


def _parse(vocabulary: Vocabulary, body: Any) -> Estate:
    estate = parse_estate([("doc", "1", json.dumps(body).encode())], vocabulary, full=True)
    assert estate.failures == ()
    return estate


def _run(world: World, vocabulary: Vocabulary, estate: Estate) -> list[str]:
    """One run, a minute after the last; what it did."""
    world.advance(minutes=1)
    world.tick_started()
    report = _report(world, vocabulary, estate)
    assert list(failures(estate, report)) == []
    return [outcome.action.title for one in report.policies for outcome in one.outcomes]


def _report(world: World, vocabulary: Vocabulary, estate: Estate) -> RunReport:
    assert isinstance(vocabulary.kinds, Kinds)
    cloud = AwsCloud(world.session, vocabulary.kinds)
    return Setpoint(cloud, vocabulary, InlineExecutor(), ()).run(estate, Moment(world.now))


def _repositories(ecr: Any) -> dict[str, tuple[str, bool]]:
    return {
        found["repositoryName"]: (found["imageTagMutability"], found["imageScanningConfiguration"]["scanOnPush"])
        for found in ecr.describe_repositories()["repositories"]
    }
