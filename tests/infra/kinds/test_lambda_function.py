"""Functions: one update at a time, code that is written once although nobody can read it, and names that are taken."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.awslambda.models import lambda_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.lambda_function import CODE, LambdaFunction
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.drift import drift
from policies.errors import ExistsError, RefusedError, SenseError, WaitError
from policies.frozen import freeze
from policies.world import Resource, Scope, State
from tests.world import World

KIND = LambdaFunction()
NAME = "thumbnails"
TAGS = {"setpoint:policy": "main/functions", "setpoint:key": NAME, "setpoint:spec": "v1:x:y", "team": "media"}
LAYERS = [f"arn:aws:lambda:eu-west-1:123456789012:layer:common:{number}" for number in (1, 2)]
FORGOTTEN = (
    "DeadLetterConfig",
    "EphemeralStorage",
    "FileSystemConfigs",
    "KMSKeyArn",
    "LoggingConfig",
    "TracingConfig",
)
"""What moto does not show at all, or not after an update."""


class Functions:
    """An account with two roles, a bucket of code, layers and a network; and what moto forgets of a function."""

    def __init__(self, world: World) -> None:
        self.world, self.aws = world, Aws(world.session, Scope("123456789012", "eu-west-1"))
        self.client = self.aws.client("lambda")
        self.kept: dict[str, dict[str, Any]] = {}
        events = self.client.meta.events
        for operation in ("CreateFunction", "UpdateFunctionConfiguration"):
            events.register(f"provide-client-params.lambda.{operation}", self._keep)
        events.register("after-call.lambda.GetFunction", self._show)
        outside = world.outside
        made = [outside.iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}") for name in ("one", "two")]
        self.roles = [one["Role"]["Arn"] for one in made]
        outside.s3.create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        for key in ("1.zip", "2.zip"):
            outside.s3.put_object(Bucket="code", Key=key, Body=key.encode())
        for _ in LAYERS:
            outside.client("lambda").publish_layer_version(LayerName="common", Content={"ZipFile": b"layer"})
        subnets = outside.ec2.describe_subnets()["Subnets"]
        self.subnets = [subnet["SubnetId"] for subnet in subnets[:2]]
        group = outside.ec2.create_security_group(GroupName="a", Description="a", VpcId=subnets[0]["VpcId"])
        self.groups = [group["GroupId"]]

    @property
    def plain(self) -> dict[str, Any]:
        return {
            "FunctionName": NAME,
            "Role": self.roles[0],
            "Handler": "app.handler",
            "Runtime": "python3.13",
            "Code": {"S3Bucket": "code", "S3Key": "1.zip"},
        }

    @property
    def rich(self) -> dict[str, Any]:
        return {
            **self.plain,
            "Architectures": ["arm64"],
            "DeadLetterConfig": {"TargetArn": "arn:aws:sqs:eu-west-1:123456789012:dead"},
            "Description": "Makes small pictures",
            "Environment": {"Variables": {"SIZE": "200", "DEBUG": "no"}},
            "EphemeralStorage": {"Size": 1024},
            "FileSystemConfigs": [{"Arn": "arn:aws:elasticfilesystem:x", "LocalMountPath": "/mnt/pictures"}],
            "KmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1",
            "Layers": LAYERS[:1],
            "LoggingConfig": {"LogFormat": "JSON", "ApplicationLogLevel": "INFO", "LogGroup": "/media"},
            "MemorySize": 512,
            "PackageType": "Zip",
            "ReservedConcurrentExecutions": 5,
            "Timeout": 30,
            "TracingConfig": {"Mode": "Active"},
            "VpcConfig": {"SubnetIds": self.subnets, "SecurityGroupIds": self.groups},
        }

    @property
    def image(self) -> dict[str, Any]:
        return {
            "FunctionName": NAME,
            "Role": self.roles[0],
            "PackageType": "Image",
            "Code": {"ImageUri": "registry/thumbnails:1"},
            "ImageConfig": {"Command": ["app.handler"], "EntryPoint": ["/run"], "WorkingDirectory": "/app"},
        }

    def make(self, properties: dict[str, Any] | None = None, **more: Any) -> Resource:
        properties = properties or self.plain
        name = properties["FunctionName"]
        desired = Desired(name, name, freeze(properties), freeze(TAGS), **more)
        self.progress = KIND.create(self.aws, desired, None)
        self.settle()
        if self.progress is Progress.PARTIAL:
            self.bring(self.read(name), **properties)
        return self.read(name)

    def read(self, name: str = NAME) -> Resource:
        found = KIND.read(self.aws, KIND.locate(self.aws, name))
        assert found is not None
        return found

    def bring(self, seen: Resource, **wanted: Any) -> Resource:
        change = drift(KIND, Desired(NAME, NAME, freeze(wanted)), seen)
        KIND.update(self.aws, seen, Change(properties=change.properties))
        self.settle()
        return self.read()

    def settle(self) -> None:
        for _ in range(2):
            self.world.tick_started()

    def moto(self) -> Any:
        return lambda_backends["123456789012"]["eu-west-1"].get_function(NAME)

    def updates(self) -> list[str]:
        return [call.operation for call in self.world.calls(mutating=True, service="lambda") if call.outcome == "ok"]

    def _keep(self, params: dict[str, Any], **_: Any) -> None:
        kept = self.kept.setdefault(params["FunctionName"], {})
        kept.update({word: value for word, value in params.items() if word in FORGOTTEN})
        if "ImageConfig" in params:
            kept["ImageConfigResponse"] = {"ImageConfig": params["ImageConfig"]}

    def _show(self, parsed: dict[str, Any], **_: Any) -> None:
        if "Configuration" in parsed:
            parsed["Configuration"].update(self.kept.get(parsed["Configuration"]["FunctionName"], {}))


@pytest.fixture
def functions(world: World) -> Functions:
    return Functions(world)


def differences(declared: dict[str, Any], seen: Resource) -> list[str]:
    return [str(found) for found in diff(freeze(declared), seen.properties or {}, KIND.shape)]


# Creating and reading


@pytest.mark.parametrize("shape", ["plain", "rich", "image"])
def test_what_was_created_is_what_is_read(functions: Functions, shape: str) -> None:
    declared = getattr(functions, shape)
    KIND.properties.model_validate(declared)
    assert KIND.check(declared) is None
    seen = functions.make(declared)
    assert differences(declared, seen) == []
    assert (seen.id, seen.name, seen.tags, seen.state) == (NAME, NAME, TAGS, State.READY)
    assert KIND.facts >= seen.facts.keys() >= {"CodeSha256", "LastModified"}


def test_the_rich_function_shows_every_property(functions: Functions) -> None:
    shown = set(functions.make(functions.rich).properties or {}) | {"Code", "ImageConfig", "Tags"}
    assert shown == set(KIND.properties.model_fields)


def test_tags_are_in_the_create_call(functions: Functions) -> None:
    functions.make()
    assert functions.updates() == ["CreateFunction"]


def test_reserved_concurrency_takes_a_second_call(functions: Functions) -> None:
    assert KIND.single_call(functions.plain) and not KIND.single_call(functions.rich)
    functions.make(functions.rich)
    assert functions.progress is Progress.PARTIAL
    assert functions.updates() == ["CreateFunction", "PutFunctionConcurrency"]


def test_initial_is_under_what_is_declared(functions: Functions) -> None:
    seen = functions.make(functions.plain, initial=freeze({"MemorySize": 256, "Handler": "other"}))
    assert seen.properties is not None
    assert (seen.properties["MemorySize"], seen.properties["Handler"]) == (256, "app.handler")


def test_an_existing_name_is_told(functions: Functions) -> None:
    functions.make()
    with pytest.raises(ExistsError):
        functions.make()


def test_a_role_that_is_not_there_yet_is_waited_for(functions: Functions) -> None:
    with pytest.raises(WaitError, match="assumed"):
        functions.make({**functions.plain, "Role": "arn:aws:iam::123456789012:role/late"})


def test_what_is_not_there_is_not_there(functions: Functions) -> None:
    with pytest.raises(ClientError) as raised:
        KIND.read(functions.aws, KIND.locate(functions.aws, "none"))
    assert raised.value.response["Error"]["Code"] in KIND.absent_codes


def test_the_survey_is_complete_over_pages(functions: Functions, world: World) -> None:
    code = {"ImageUri": "registry/a:1"}
    names = {f"{'a' if number % 2 else 'b'}-{number:03}" for number in range(60)}
    for name in names:
        world.outside.client("lambda").create_function(
            FunctionName=name, Role=functions.roles[0], PackageType="Image", Code=code
        )
    assert {seen.id for seen in KIND.survey(functions.aws, ("",))} == names
    assert {seen.id[0] for seen in KIND.survey(functions.aws, ("b-",))} == {"b"}


@pytest.mark.parametrize("tags", [None, TAGS])
def test_tags_that_are_known_are_kept(functions: Functions, tags: dict[str, str] | None) -> None:
    seen = functions.make().with_tags({"a": "b"} if tags else None)
    found = KIND.read(functions.aws, seen)
    assert found is not None and found.tags == ({"a": "b"} if tags else TAGS)


def test_tags_that_cannot_be_read_are_not_none(functions: Functions) -> None:
    def hide(parsed: dict[str, Any], **_: Any) -> None:
        parsed.pop("Tags")
        parsed["TagsError"] = {"ErrorCode": "AccessDenied", "Message": "no lambda:ListTags"}

    functions.make()
    functions.client.meta.events.register("after-call.lambda.GetFunction", hide)
    with pytest.raises(SenseError, match="ListTags"):
        functions.read()


def test_an_environment_that_cannot_be_decrypted_is_not_empty(functions: Functions) -> None:
    seen = functions.make()
    functions.kept[NAME]["Environment"] = {"Error": {"ErrorCode": "AccessDenied", "Message": "no kms:Decrypt"}}
    with pytest.raises(SenseError, match="Decrypt"):
        KIND.read(functions.aws, seen)


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        ({"State": "Pending"}, State.PENDING),
        ({"State": "Inactive"}, State.READY),
        ({"State": "Failed"}, State.UNHEALTHY),
        ({"State": "Deleting"}, State.DELETING),
        ({"LastUpdateStatus": "InProgress"}, State.PENDING),
        ({"LastUpdateStatus": "Failed"}, State.UNHEALTHY),
    ],
)
def test_states(functions: Functions, shown: dict[str, str], state: State) -> None:
    functions.make()
    functions.kept[NAME].update(shown)
    assert functions.read().state is state


# Updating


def changes(functions: Functions) -> dict[str, Any]:
    return {
        "DeadLetterConfig": {"TargetArn": "arn:aws:sqs:eu-west-1:123456789012:other"},
        "Description": "Makes big pictures",
        "Environment": {"Variables": {"SIZE": "300", "NEW": "1"}},
        "EphemeralStorage": {"Size": 2048},
        "FileSystemConfigs": [{"Arn": "arn:aws:elasticfilesystem:y", "LocalMountPath": "/mnt/other"}],
        "Handler": "app.other",
        "KmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/2",
        "Layers": LAYERS[1:],
        "LoggingConfig": {"LogFormat": "Text"},
        "MemorySize": 1024,
        "ReservedConcurrentExecutions": 7,
        "Role": functions.roles[1],
        "Runtime": "python3.14",
        "Timeout": 60,
        "TracingConfig": {"Mode": "PassThrough"},
        "VpcConfig": {"SubnetIds": functions.subnets[:1]},
    }


def test_every_property_changes(functions: Functions) -> None:
    seen = functions.make(functions.rich)
    fixed = {"Architectures", "Code", "FunctionName", "PackageType"}
    assert set(changes(functions)) == set(functions.rich) - fixed
    for word, value in changes(functions).items():
        seen = functions.bring(seen, **{word: value})
        assert differences({word: value}, seen) == [], word


def test_many_changes_are_one_call(functions: Functions) -> None:
    wanted = {word: value for word, value in changes(functions).items() if word != "ReservedConcurrentExecutions"}
    functions.bring(functions.make(functions.rich), **wanted)
    assert functions.updates() == ["CreateFunction", "PutFunctionConcurrency", "UpdateFunctionConfiguration"]


def test_variables_that_are_not_named_stay(functions: Functions) -> None:
    wanted = {"Environment": {"Variables": {"SIZE": "300", "DEBUG": None}}}
    seen = functions.bring(functions.make(functions.rich), **wanted)
    assert differences(wanted, seen) == []
    assert functions.moto().environment_vars == {"SIZE": "300"}
    assert (
        differences(
            {"Environment": {"Variables": {"NONE": None}}}, functions.make({**functions.plain, "FunctionName": "other"})
        )
        == []
    )


RESETS = (
    "DeadLetterConfig",
    "Description",
    "Environment",
    "EphemeralStorage",
    "FileSystemConfigs",
    "KmsKeyArn",
    "Layers",
    "MemorySize",
    "ReservedConcurrentExecutions",
    "Timeout",
    "TracingConfig",
    "VpcConfig",
)


def test_null_resets(functions: Functions) -> None:
    seen = functions.make(functions.rich)
    for word in RESETS:
        assert differences({word: None}, seen) == [word]
        seen = functions.bring(seen, **{word: None})
        assert differences({word: None}, seen) == [], word


def test_an_image_is_as_it_was_made_again(functions: Functions) -> None:
    seen = functions.bring(functions.make(functions.image), ImageConfig=None)
    assert differences({"ImageConfig": None}, seen) == []


@pytest.mark.parametrize("word", ["Handler", "LoggingConfig", "Role", "Runtime"])
def test_what_has_no_default_cannot_be_reset(functions: Functions, word: str) -> None:
    with pytest.raises(RefusedError, match=word):
        functions.bring(functions.make(functions.rich), **{word: None})


def test_nought_is_a_number(functions: Functions) -> None:
    functions.bring(functions.make(), ReservedConcurrentExecutions=0)
    assert functions.moto().reserved_concurrency == 0


def test_tags_are_merged(functions: Functions) -> None:
    seen = functions.make()
    change = Change(tags=freeze({"team": "web", "new": "1"}), untag=frozenset({"setpoint:key"}))
    assert KIND.update(functions.aws, seen, change) is Progress.COMPLETE
    kept = {key: value for key, value in TAGS.items() if key != "setpoint:key"}
    assert functions.read().tags == {**kept, "team": "web", "new": "1"}


# Code


CODE_2 = {"S3Bucket": "code", "S3Key": "2.zip"}
NEW_CODE = Change(properties=freeze({"Code": CODE_2}))


def test_code_is_written_once(functions: Functions) -> None:
    seen = functions.make()
    assert KIND.update(functions.aws, seen, NEW_CODE) is Progress.PARTIAL
    assert functions.read().state is State.PENDING
    functions.settle()
    assert KIND.update(functions.aws, functions.read(), NEW_CODE) is Progress.COMPLETE
    assert functions.updates().count("UpdateFunctionCode") == 1
    assert functions.moto().code["S3Key"] == "2.zip"


def test_code_that_went_back_is_written_again(functions: Functions) -> None:
    functions.make()
    for key in ("2.zip", "1.zip", "2.zip"):
        wanted = Change(properties=freeze({"Code": {"S3Bucket": "code", "S3Key": key}}))
        assert KIND.update(functions.aws, functions.read(), wanted) is Progress.PARTIAL
        functions.settle()
        assert KIND.update(functions.aws, functions.read(), wanted) is Progress.COMPLETE
        assert functions.moto().code["S3Key"] == key


def test_configuration_goes_first_and_code_in_the_next_run(functions: Functions) -> None:
    both = Change(properties=freeze({"Code": CODE_2, "Timeout": 9}))
    assert KIND.update(functions.aws, functions.make(), both) is Progress.PARTIAL
    functions.settle()
    assert KIND.update(functions.aws, functions.read(), NEW_CODE) is Progress.PARTIAL
    assert functions.updates()[1:] == ["UpdateFunctionConfiguration", "TagResource", "UpdateFunctionCode"]


def test_code_that_was_begun_before_a_crash_is_written_before_anything_else_moves(functions: Functions) -> None:
    def fail(**_: Any) -> None:
        raise ConnectionError

    seen = functions.make()
    functions.client.meta.events.register_first("before-parameter-build.lambda.UpdateFunctionCode", fail)
    with pytest.raises(ConnectionError):
        KIND.update(functions.aws, seen, NEW_CODE)
    functions.client.meta.events.unregister("before-parameter-build.lambda.UpdateFunctionCode", fail)
    assert CODE in (functions.read().tags or {})
    KIND.update(functions.aws, functions.read(), Change(properties=freeze({"Code": CODE_2, "Timeout": 9})))
    assert functions.moto().code["S3Key"] == "2.zip"
    functions.settle()
    KIND.update(functions.aws, functions.read(), Change(properties=freeze({"Code": CODE_2, "Timeout": 9})))
    functions.settle()
    assert KIND.update(functions.aws, functions.read(), NEW_CODE) is Progress.COMPLETE


def test_an_image_is_another_when_its_name_is(functions: Functions) -> None:
    seen = functions.make(functions.image)
    KIND.update(functions.aws, seen, Change(properties=freeze({"Code": {"ImageUri": "registry/thumbnails:2"}})))
    assert functions.moto().code["ImageUri"] == "registry/thumbnails:2"


# Deleting, words


def test_a_function_goes(functions: Functions) -> None:
    seen = functions.make()
    KIND.delete(functions.aws, seen)
    with pytest.raises(ClientError):
        KIND.read(functions.aws, seen)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Role": None}, "Role"),
        ({"Code": None}, "S3Bucket"),
        ({"Code": {"S3Bucket": "code"}}, "S3Key"),
        ({"Runtime": None}, "Runtime"),
        ({"PackageType": "Image"}, "ImageUri"),
        ({"PackageType": "Image", "Code": {"ImageUri": "a:1"}}, "Handler, Runtime"),
        ({"VpcConfig": {"SubnetIds": ["subnet-1"]}}, "both"),
    ],
)
def test_what_the_service_would_refuse_is_told_before(functions: Functions, change: dict[str, Any], said: str) -> None:
    assert said in (KIND.check({**functions.plain, **change}) or "")


@pytest.mark.parametrize("wrong", [{"Timeout": 0}, {"Code": {"ZipFile": "x"}}, {"MemorySize": 64}, {"Role": "one"}])
def test_wrong_values_are_refused(functions: Functions, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**functions.plain, **wrong})


def test_arns_of_functions_are_told(functions: Functions) -> None:
    seen = functions.make()
    assert seen.arn is not None
    assert KIND.has_arn(seen.arn) and KIND.name_of_arn(seen.arn) == NAME
    assert not KIND.has_arn(LAYERS[0])


NOT_CALLED = {
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "iam:PassRole",
    "lambda:GetLayerVersion",
    "lambda:ListTags",
    "s3:GetObject",
}
"""What Lambda asks on the caller's behalf."""


def test_the_iam_actions_are_the_calls_that_are_made(functions: Functions, world: World) -> None:
    list(KIND.survey(functions.aws, ("",)))
    seen = functions.bring(functions.make(functions.rich), ReservedConcurrentExecutions=None, Timeout=9)
    KIND.update(functions.aws, seen, NEW_CODE)
    functions.settle()
    change = Change(tags=freeze({"a": "b"}), untag=frozenset({"team"}))
    KIND.update(functions.aws, functions.read(), change)
    KIND.delete(functions.aws, functions.read())
    assert {call.name for call in world.calls()} | NOT_CALLED == set().union(*KIND.iam.values())
