"""S3 buckets: born with tags and ownership; every other setting has calls of its own; never emptied."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.s3.models import s3_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds import s3_lifecycle
from infra.kinds.s3_bucket import S3Bucket
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import ConflictError
from policies.frozen import freeze, thaw
from policies.world import Resource, Scope, State

KIND = S3Bucket()
NAME = "orders-live"
TAGS = {"setpoint:policy": "main/buckets", "setpoint:key": "a", "team": "orders"}
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
PLAIN = {"BucketName": NAME}
RULE: dict[str, Any] = {
    "Id": "all",
    "Status": "Enabled",
    "Prefix": "logs/",
    "TagFilters": [{"Key": "kind", "Value": "log"}, {"Key": "team", "Value": "orders"}],
    "ObjectSizeGreaterThan": "1024",
    "ObjectSizeLessThan": "1048576",
    "ExpirationInDays": 365,
    "Transitions": [
        {"StorageClass": "STANDARD_IA", "TransitionInDays": 30},
        {"StorageClass": "GLACIER", "TransitionInDays": 90},
    ],
    "NoncurrentVersionExpiration": {"NoncurrentDays": 30, "NewerNoncurrentVersions": 3},
    "NoncurrentVersionTransitions": [{"StorageClass": "GLACIER", "TransitionInDays": 7, "NewerNoncurrentVersions": 2}],
}
UPLOADS = {"Id": "uploads", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
DATED = {
    "Id": "dated",
    "Status": "Disabled",
    "TagFilters": [{"Key": "a", "Value": "b"}],
    "ExpirationDate": "2027-01-01T00:00:00Z",
    "Transitions": [{"StorageClass": "GLACIER", "TransitionDate": "2026-01-01T00:00:00Z"}],
}
MARKERS = {"Id": "markers", "Status": "Enabled", "Prefix": "a/", "ExpiredObjectDeleteMarker": True}
LARGE = {"Id": "large", "Status": "Enabled", "ObjectSizeGreaterThan": "5", "ExpirationInDays": 1}
OPEN = {"BlockPublicAcls": False, "BlockPublicPolicy": False, "IgnorePublicAcls": False, "RestrictPublicBuckets": False}
RICH: dict[str, Any] = {
    "BucketName": NAME,
    "BucketEncryption": {
        "ServerSideEncryptionConfiguration": [
            {
                "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY},
                "BucketKeyEnabled": True,
            }
        ]
    },
    "LifecycleConfiguration": {
        "Rules": [RULE, UPLOADS, DATED, MARKERS, LARGE],
        "TransitionDefaultMinimumObjectSize": "varies_by_storage_class",
    },
    "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerPreferred"}]},
    "PublicAccessBlockConfiguration": {**OPEN, "BlockPublicAcls": True},
    "VersioningConfiguration": {"Status": "Enabled"},
}


def encrypted(**by_default: str) -> dict[str, Any]:
    return {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": by_default}]}


class Faithful:
    """What moto leaves out of S3: tags and settings of a new bucket, half of a lifecycle rule, blocked encryption."""

    def __init__(self, session: boto3.Session) -> None:
        self.params: dict[str, Any] = {}
        self.lifecycle: dict[str, Any] = {}
        self.encryption: dict[str, Any] = {}
        self.fresh = False
        events: Any = session.events
        events.register("before-parameter-build.s3.CreateBucket", self.note)
        events.register("after-call.s3.CreateBucket", self.created)
        events.register("before-parameter-build.s3.PutBucketLifecycleConfiguration", self.keep)
        events.register("after-call.s3.GetBucketLifecycleConfiguration", self.show)
        events.register("before-parameter-build.s3.PutBucketEncryption", self.encrypt)

    @property
    def backend(self) -> Any:
        return s3_backends["123456789012"]["aws"]

    def note(self, params: dict[str, Any], **_: Any) -> None:
        self.params = params
        self.fresh = params["Bucket"] not in self.backend.buckets

    def created(self, http_response: Any, **_: Any) -> None:
        if http_response.status_code == 200 and self.fresh:
            name, tags = self.params["Bucket"], self.params["CreateBucketConfiguration"].get("Tags", [])
            bucket = self.backend.buckets[name]
            self.backend.put_bucket_tagging(name, {tag["Key"]: tag["Value"] for tag in tags})
            bucket.ownership_rule = bucket.ownership_rule or "BucketOwnerEnforced"
            bucket.encryption = {"Rule": {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}}
            self.backend.put_public_access_block(name, dict.fromkeys(OPEN, "true"))

    def keep(self, params: dict[str, Any], **_: Any) -> None:
        self.lifecycle = deepcopy(
            {
                "Rules": params["LifecycleConfiguration"]["Rules"],
                "TransitionDefaultMinimumObjectSize": params.get(
                    "TransitionDefaultMinimumObjectSize", "all_storage_classes_128K"
                ),
            }
        )
        for rule in self.lifecycle["Rules"]:
            for dated in (rule.get("Expiration", {}), *rule.get("Transitions", ())):
                if "Date" in dated:
                    dated["Date"] = datetime.fromisoformat(dated["Date"])

    def show(self, parsed: dict[str, Any], **_: Any) -> None:
        if "Rules" in parsed:
            parsed.update(deepcopy(self.lifecycle))

    def encrypt(self, params: dict[str, Any], **_: Any) -> None:
        self.encryption = params["ServerSideEncryptionConfiguration"]["Rules"][0]


@pytest.fixture(autouse=True)
def faithful(session: boto3.Session) -> Faithful:
    return Faithful(session)


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    return Desired("a", properties["BucketName"], freeze(properties), freeze(TAGS), freeze(initial))


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


def create(aws: Aws, declared: dict[str, Any]) -> Resource:
    """As the engine does it: create, and what is still different comes as an update."""
    KIND.create(aws, wanted(declared), None)
    found = read(aws, declared["BucketName"])
    words = {one.path[0]: declared[one.path[0]] for one in diff(freeze(declared), found.properties or {}, KIND.shape)}
    assert not words or not KIND.single_call(freeze(declared))
    KIND.update(aws, found, Change(properties=freeze(words)))
    return read(aws, declared["BucketName"])


@pytest.mark.parametrize("declared", [PLAIN, RICH])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.id, found.name, found.tags, found.state) == (NAME, NAME, TAGS, State.READY)
    assert found.created is not None
    assert found.created.tzinfo is not None
    assert found.facts["CreateTime"] == found.created.isoformat()
    KIND.properties.model_validate(thaw(found.properties))


@pytest.mark.parametrize("word", sorted(KIND.words - {"BucketName", "CreateTime", "Tags"}))
def test_a_look_for_one_word_asks_for_it_alone_and_sees_the_same(aws: Aws, recorded: set[str], word: str) -> None:
    whole = create(aws, RICH)
    recorded.clear()
    seen = KIND.look(aws, whole.with_tags(whole.tags), frozenset({word}))
    assert seen is not None
    assert seen.properties == {"BucketName": NAME, word: (whole.properties or {})[word]}
    assert len(recorded - {"s3:HeadBucket"}) == 1


def test_the_create_alone_brings_tags_and_ownership(aws: Aws) -> None:
    assert KIND.create(aws, wanted(RICH), None) is Progress.PARTIAL
    found = read(aws)
    assert found.tags == TAGS
    assert {path.split(".")[0] for path in differences(RICH, found)} == RICH.keys() - {
        "BucketName",
        "OwnershipControls",
    }
    other = {"BucketName": "other", "OwnershipControls": RICH["OwnershipControls"]}
    assert KIND.create(aws, wanted(other), None) is Progress.COMPLETE


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing: dict[str, Any] = dict.fromkeys(RICH.keys() - {"BucketName"})
    assert differences(nothing, create(aws, PLAIN)) == []
    assert differences({"VersioningConfiguration": {"Status": "Suspended"}}, read(aws)) == []


def test_a_bucket_from_before_is_open_and_shows_it(aws: Aws, faithful: Faithful) -> None:
    create(aws, PLAIN)
    faithful.backend.delete_public_access_block(NAME)
    faithful.backend.delete_bucket_ownership_controls(NAME)
    declared: dict[str, Any] = {"PublicAccessBlockConfiguration": None, "OwnershipControls": None}
    assert differences(declared, read(aws)) == list(declared)
    KIND.update(aws, read(aws), Change(properties=freeze(declared)))
    assert differences(declared, read(aws)) == []
    assert set((read(aws).properties or {})["PublicAccessBlockConfiguration"].values()) == {True}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("BucketEncryption", encrypted(SSEAlgorithm="AES256")),
        ("BucketEncryption", None),
        ("LifecycleConfiguration", {"Rules": [UPLOADS]}),
        ("LifecycleConfiguration", {"Rules": [{**RULE, "ExpirationInDays": 30}, MARKERS]}),
        ("LifecycleConfiguration", None),
        ("OwnershipControls", {"Rules": [{"ObjectOwnership": "ObjectWriter"}]}),
        ("OwnershipControls", None),
        ("PublicAccessBlockConfiguration", OPEN),
        ("PublicAccessBlockConfiguration", None),
        ("VersioningConfiguration", {"Status": "Suspended"}),
        ("VersioningConfiguration", None),
    ],
)  # fmt: skip
def test_an_update_changes_its_property_and_leaves_every_other(aws: Aws, word: str, value: Any) -> None:
    seen = create(aws, RICH)
    assert KIND.update(aws, seen, Change(properties=freeze({word: value}))) is Progress.COMPLETE
    assert differences({**RICH, word: value}, read(aws)) == []
    assert read(aws).tags == TAGS


def test_one_bar_of_the_block_can_be_reset_alone(aws: Aws) -> None:
    seen = create(aws, {**PLAIN, "PublicAccessBlockConfiguration": OPEN})
    block = {**OPEN, "BlockPublicAcls": None}
    KIND.update(aws, seen, Change(properties=freeze({"PublicAccessBlockConfiguration": block})))
    assert differences({"PublicAccessBlockConfiguration": {**OPEN, "BlockPublicAcls": True}}, read(aws)) == []


def test_encryption_that_somebody_blocked_stays_blocked(aws: Aws, session: boto3.Session, faithful: Faithful) -> None:
    seen = create(aws, PLAIN)
    blocked = {"EncryptionType": ["SSE-C"]}

    def show(parsed: dict[str, Any], **_: Any) -> None:
        parsed["ServerSideEncryptionConfiguration"]["Rules"][0]["BlockedEncryptionTypes"] = blocked

    events: Any = session.events
    events.register("after-call.s3.GetBucketEncryption", show)
    again = Aws(session, aws.scope)
    KIND.update(again, seen, Change(properties=freeze({"BucketEncryption": RICH["BucketEncryption"]})))
    assert faithful.encryption["BlockedEncryptionTypes"] == blocked
    assert differences({"BucketEncryption": RICH["BucketEncryption"]}, read(again)) == []


@pytest.mark.parametrize("rule", [RULE, UPLOADS, MARKERS, LARGE])
def test_a_lifecycle_rule_is_the_same_in_both_tongues(rule: dict[str, Any]) -> None:
    told = s3_lifecycle.spell(
        {"Rules": [freeze({**rule, "ExpiredObjectDeleteMarker": rule.get("ExpiredObjectDeleteMarker")})]}
    )
    assert s3_lifecycle.parse(told["LifecycleConfiguration"]) == {"Rules": [rule]}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({}, {"Prefix": ""}),
        ({"Prefix": "a"}, {"Prefix": "a"}),
        ({"TagFilters": [{"Key": "a", "Value": "b"}]}, {"Tag": {"Key": "a", "Value": "b"}}),
        ({"ObjectSizeLessThan": "5"}, {"ObjectSizeLessThan": 5}),
        ({"Prefix": "a", "ObjectSizeLessThan": "5"}, {"And": {"Prefix": "a", "ObjectSizeLessThan": 5}}),
        (
            {"TagFilters": [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d"}]},
            {"And": {"Tags": [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d"}]}},
        ),
    ],
)
def test_one_condition_stands_alone_and_several_together(where: dict[str, Any], said: dict[str, Any]) -> None:
    told = s3_lifecycle.spell({"Rules": [{"Id": "a", "Status": "Enabled", "ExpirationInDays": 1, **where}]})
    assert told["LifecycleConfiguration"]["Rules"][0]["Filter"] == said


def test_an_old_rule_has_its_prefix_outside() -> None:
    old = {"ID": "a", "Status": "Enabled", "Prefix": "logs/", "Expiration": {"Date": datetime(2027, 1, 1, tzinfo=UTC)}}
    (rule,) = s3_lifecycle.parse({"Rules": [old]})["Rules"]
    assert rule == {"Id": "a", "Status": "Enabled", "Prefix": "logs/", "ExpirationDate": "2027-01-01T00:00:00Z"}


def test_tags_are_merged_and_removed(aws: Aws, session: boto3.Session) -> None:
    create(aws, PLAIN)
    KIND.update(aws, read(aws), Change(tags=freeze({"stage": "live"})))
    KIND.update(aws, read(aws), Change(tags=freeze({"stage": "test"}), untag=frozenset({"team"})))
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "test"}
    KIND.update(aws, read(aws), Change(untag=frozenset(read(aws).tags or ())))
    assert read(aws).tags == {}


def test_a_bucket_that_is_ours_already_exists(aws: Aws) -> None:
    create(aws, RICH)
    with pytest.raises(ClientError) as refusal:
        KIND.create(aws, wanted(PLAIN), None)
    assert refusal.value.response["Error"]["Code"] in KIND.exists_codes
    assert differences(RICH, read(aws)) == []


def test_in_us_east_1_a_create_answers_with_what_is_there(session: boto3.Session) -> None:
    aws = Aws(session, Scope("123456789012", "us-east-1"))
    create(aws, PLAIN)
    assert KIND.create(aws, Desired("b", NAME, freeze(PLAIN), freeze({"other": "tags"})), None) is Progress.COMPLETE
    assert read(aws).tags == TAGS


def test_the_name_of_another_account_is_a_conflict(aws: Aws, session: boto3.Session) -> None:
    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "403", "Message": "Forbidden"}}, "HeadBucket")

    s3 = s3_backends["210987654321"]["aws"]
    s3.create_bucket(NAME, "eu-west-1")
    with pytest.raises(ConflictError, match="another account"):
        KIND.create(aws, wanted(PLAIN), None)
    events: Any = session.events
    events.register("before-call.s3.HeadBucket", refuse)
    again = Aws(session, aws.scope)
    with pytest.raises(ConflictError, match="another account"):
        read(again)
    create(aws, {"BucketName": "mine"})
    with pytest.raises(ClientError, match="403"):  # ours, so what is missing is a permission
        read(again, "mine")


def test_the_name_in_another_region_is_a_conflict(aws: Aws, session: boto3.Session) -> None:
    create(Aws(session, Scope("123456789012", "eu-central-1")), PLAIN)
    with pytest.raises(ConflictError, match="in eu-central-1"):
        read(aws)


def test_an_empty_bucket_is_deleted_and_absent(aws: Aws) -> None:
    KIND.delete(aws, create(aws, PLAIN))
    with pytest.raises(ClientError) as refusal:
        KIND.read(aws, KIND.locate(aws, NAME))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


def test_a_full_bucket_waits(aws: Aws, session: boto3.Session) -> None:
    seen = create(aws, PLAIN)
    session.client("s3").put_object(Bucket=NAME, Key="a", Body=b"b")
    with pytest.raises(ClientError) as refusal:
        KIND.delete(aws, seen)
    assert refusal.value.response["Error"]["Code"] in KIND.wait_codes
    assert session.client("s3").get_object(Bucket=NAME, Key="a")["Body"].read() == b"b"


def test_what_is_known_is_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    (listed,) = KIND.survey(aws, [NAME])
    recorded.clear()
    found = KIND.read(aws, listed.with_tags({"team": "orders"}))
    assert found is not None
    assert (found.tags, found.created) == ({"team": "orders"}, listed.created)
    assert not recorded & {"s3:GetBucketTagging", "s3:ListBuckets"}


def test_the_survey_shows_the_region_by_prefix(aws: Aws, session: boto3.Session) -> None:
    for name in ("aaa", "aab", "bbb"):
        create(aws, {"BucketName": name})
    create(Aws(session, Scope("123456789012", "eu-central-1")), {"BucketName": "aac"})
    assert sorted(one.id for one in KIND.survey(aws, ["aa", "c"])) == ["aaa", "aab"]
    assert len(list(KIND.survey(aws, [""]))) == 3
    assert list(KIND.survey(aws, [])) == []
    assert all(one.created for one in KIND.survey(aws, [""]))


def test_the_survey_is_complete_over_pages(aws: Aws, session: boto3.Session) -> None:
    """moto has no pages of buckets."""
    pages = iter([{"ContinuationToken": "1"}, {"ContinuationToken": "2"}, {}])

    def page(parsed: dict[str, Any], **_: Any) -> None:
        more = next(pages)
        name = f"page-{more.get('ContinuationToken')}"
        parsed.update({"Buckets": [{"Name": name, "CreationDate": datetime(2026, 1, 1, tzinfo=UTC)}], **more})

    events: Any = session.events
    events.register("after-call.s3.ListBuckets", page)
    assert [one.id for one in KIND.survey(aws, [""])] == ["page-1", "page-2", "page-None"]


def test_the_tag_index_finds_it_by_its_arn(aws: Aws) -> None:
    arn = create(aws, PLAIN).arn or ""
    assert arn == f"arn:aws:s3:::{NAME}"
    assert KIND.has_arn(arn)
    assert KIND.name_of_arn(arn) == NAME
    assert not KIND.has_arn("arn:aws:s3:eu-west-1:123456789012:accesspoint/orders")


ACTIONS = {
    "s3:DeleteBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:DeleteBucketLifecycle": "s3:PutLifecycleConfiguration",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
    "s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListBuckets": "s3:ListAllMyBuckets",
    "s3:PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
    "s3:PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
}
"""Where S3 calls the permission otherwise than the call."""


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = {ACTIONS.get(call, call) for call in recorded}
        recorded.clear()
        return made

    KIND.create(aws, wanted(PLAIN), None)
    # Tags and ownership in the create need rights of their own.
    assert calls() | {"s3:TagResource", "s3:PutBucketOwnershipControls"} == KIND.iam["create"]
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    some = {word: value for word, value in RICH.items() if word != "BucketName"}
    KIND.update(aws, seen, Change(freeze(some), freeze({"a": "b"}), frozenset({"team"})))
    KIND.update(aws, seen, Change(freeze(dict.fromkeys(some))))
    assert calls() == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"BucketName": "ab"}, "fewer than 3"),
        (
            {
                **PLAIN,
                "BucketEncryption": encrypted(SSEAlgorithm="AES256", KMSMasterKeyID=KEY),
            },
            "needs an SSEAlgorithm",
        ),
        (
            {
                **PLAIN,
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [
                        {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}, "BucketKeyEnabled": False}
                    ]
                },
            },
            "leave it out",
        ),
        ({**PLAIN, "LifecycleConfiguration": {"Rules": [UPLOADS, UPLOADS]}}, "the same Id"),
        ({**PLAIN, "LifecycleConfiguration": {"Rules": [{**DATED, "ExpirationInDays": 3}]}}, "exclude each other"),
    ],
)  # fmt: skip
def test_what_would_be_refused_or_never_settle_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"BucketName": "a" * 64},
        {"BucketName": "Orders"},
        {"BucketName": "-orders"},
        {"BucketName": "abc", "VersioningConfiguration": {"Status": "Off"}},
        {"BucketName": "abc", "AccessControl": "PublicRead"},
        {"BucketName": "abc", "OwnershipControls": {"Rules": []}},
        {"BucketName": "abc", "LifecycleConfiguration": {"Rules": []}},
        {"BucketName": "abc", "LifecycleConfiguration": {"Rules": [{"Status": "Enabled"}]}},
        {"BucketName": "abc", "LifecycleConfiguration": {"Rules": [{**RULE, "ExpirationDate": "2027-01-01"}]}},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)
