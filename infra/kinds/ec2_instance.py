"""EC2 instances: nameless, told apart by client token. DescribeInstances shows all that is compared, tags included.

The dead stay listed for about an hour, with token and tags. A running instance is READY once its status checks passed:
until then it is PENDING (changes wait a few minutes), so that a rollout of a broken image stops at its first ones. One
that was stopped is READY: what its power should be is for `PowerState` to say. `InstanceType` and `EbsOptimized` change
only while it is stopped, and nothing here stops it for that: it might never be started again. LaunchTime moves with
every start; age counts from when the primary network interface was attached, as AWS's documentation says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from infra.aws import Aws
from infra.kinds.ec2_instance_properties import (
    AFTER_LAUNCH,
    NOT_SUPPORTED,
    PLACEMENT,
    InstanceProperties,
    Metadata,
    launch,
    problem,
)
from infra.kinds.kind import Joint, Kind
from policies.action import Change, Desired, Progress
from policies.diff import Difference
from policies.errors import WaitError
from policies.frozen import Json
from policies.kind import Creation
from policies.properties import Shape, shape_of
from policies.world import Resource, State

_AS_SHOWN = ("EbsOptimized", "ImageId", "InstanceType", "KeyName", "PrivateIpAddress", "SourceDestCheck", "SubnetId")
_TAGGED = ("instance", "network-interface", "volume")
_WHILE_STOPPED = ("InstanceType", "EbsOptimized")
_STATES = {"stopped": State.READY, "shutting-down": State.DELETING, "terminated": State.DEAD}
_POWER = {"pending": "running", "running": "running", "stopping": "stopped", "stopped": "stopped"}
_FACTS = ("InstanceId", "InstanceLifecycle", "PrivateDnsName", "PublicDnsName", "PublicIpAddress", "VpcId")


class Ec2Instance(Kind):
    """`AWS::EC2::Instance`, from properties or a launch template, which may hold what is not supported here."""

    type = "AWS::EC2::Instance"
    arn_type = "ec2:instance"
    properties = InstanceProperties
    facts = frozenset({*_FACTS, "CreateTime", "LaunchTime", "State"})
    read_only = frozenset({"InstanceId", "PrivateDnsName", "PrivateIp", "PublicDnsName", "PublicIp", "State", "VpcId"})
    not_supported = NOT_SUPPORTED
    creation = Creation.RETURNS_EXISTING
    complete_survey = True
    absent_codes = frozenset({"InvalidInstanceID.NotFound"})
    wait_codes = frozenset(
        {
            "ConcurrentTagAccess",
            "IncorrectInstanceState",
            "IncorrectState",
            "InsufficientInstanceCapacity",
            "InvalidGroup.NotFound",
            "InvalidLaunchTemplateId.NotFound",
            "InvalidLaunchTemplateName.NotFoundException",
            "InvalidSubnetID.NotFound",
        }
    )
    spent_token_codes: ClassVar[frozenset[str]] = frozenset({"IdempotentInstanceTerminated"})
    """The instance of this token is dead: the next link of the chain is due."""
    together = {"read": 100, "update": 100, "delete": 100}
    """DescribeInstanceStatus takes a hundred. TerminateInstances, CreateTags and DeleteTags take a thousand, and AWS
    recommends fewer; for the others no limit is documented."""
    passes_roles_to = frozenset({"ec2.amazonaws.com"})
    iam = {
        "survey": frozenset({"ec2:DescribeInstances", "ec2:DescribeInstanceStatus"}),
        "read": frozenset({"ec2:DescribeInstances", "ec2:DescribeInstanceStatus"}),
        "create": frozenset({"ec2:RunInstances", "ec2:CreateTags", "iam:PassRole"}),
        "update": frozenset(
            {
                "ec2:AssociateIamInstanceProfile",
                "ec2:CreateTags",
                "ec2:DeleteTags",
                "ec2:DescribeIamInstanceProfileAssociations",
                "ec2:DisassociateIamInstanceProfile",
                "ec2:ModifyInstanceAttribute",
                "ec2:ModifyInstanceMetadataOptions",
                "ec2:MonitorInstances",
                "ec2:ReplaceIamInstanceProfileAssociation",
                "ec2:StartInstances",
                "ec2:StopInstances",
                "ec2:UnmonitorInstances",
                "iam:PassRole",
            }
        ),
        "delete": frozenset({"ec2:TerminateInstances"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return problem(properties)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return all(desired.get(word) != value for word, value in AFTER_LAUNCH.items())

    def locked(self, differences: Iterable[Difference], actual: Resource) -> tuple[str, ...]:
        """What changes only while stopped is locked while it runs: no instance is stopped for a change."""
        differences = tuple(differences)
        stopping = any(one.path == ("PowerState",) and one.after == "stopped" for one in differences)
        running = actual.facts.get("State") != "stopped" and not stopping
        late = tuple(word for one in differences for word in one.path[:1] if running and word in _WHILE_STOPPED)
        return (*super().locked(differences, actual), *late)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        # AWS: without pages, a call may be slow or fail where there are many instances.
        page = {"PageSize": 1000}
        statuses = aws.pages("ec2", "describe_instance_status", "InstanceStatuses", PaginationConfig=page)
        health = _health(statuses)
        for reservation in aws.pages("ec2", "describe_instances", "Reservations", PaginationConfig=page):
            for instance in reservation["Instances"]:
                yield _parse(aws, instance, health)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        return next(self.read_all(aws, [seen]), None)

    def read_all(self, aws: Aws, seen: Sequence[Resource]) -> Iterator[Resource]:
        ec2, ids = aws.client("ec2"), [one.id for one in seen]
        reservations = ec2.describe_instances(InstanceIds=ids)["Reservations"]
        if not reservations:
            return
        health = _health(ec2.describe_instance_status(InstanceIds=ids)["InstanceStatuses"])
        yield from (_parse(aws, instance, health) for one in reservations for instance in one["Instances"])

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = {**desired.initial, **desired.properties}
        labels = [{"ResourceType": what, "Tags": _tags(desired.tags)} for what in _TAGGED]
        once = {"MinCount": 1, "MaxCount": 1, "ClientToken": token, "TagSpecifications": labels}
        aws.client("ec2").run_instances(**once, **launch(declared))
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        ec2 = aws.client("ec2")
        wanted = _settled(self.shape, change.properties)
        _change_settings(ec2, seen.id, wanted)
        if "IamInstanceProfile" in wanted:
            _change_profile(ec2, seen.id, wanted["IamInstanceProfile"])
        # What may have to wait for a stop comes after what need not; the tags, spec hash among them, after it all.
        if _change_power(ec2, seen, wanted) is Progress.PARTIAL:
            return Progress.PARTIAL
        _change_tags(ec2, [seen.id], change)
        return Progress.COMPLETE

    def joins(self, does: Joint, change: Change) -> bool:
        return does != "update" or change.properties.keys() <= {"PowerState"}

    def update_all(self, aws: Aws, seen: Sequence[Resource], change: Change) -> Progress:
        ec2, ids, wanted = aws.client("ec2"), [one.id for one in seen], _settled(self.shape, change.properties)
        _switch(ec2, ids, wanted.get("PowerState"))
        _change_tags(ec2, ids, change)
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        self.delete_all(aws, [seen])

    def delete_all(self, aws: Aws, seen: Sequence[Resource]) -> frozenset[str]:
        # One that is protected against it keeps all others of its Availability Zone alive, and only those.
        aws.client("ec2").terminate_instances(InstanceIds=[one.id for one in seen])
        return frozenset()


def _parse(aws: Aws, instance: Mapping[str, Any], health: Mapping[str, State]) -> Resource:
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    power, instance_id, launched = instance["State"]["Name"], instance["InstanceId"], instance["LaunchTime"]
    attached = [nic["Attachment"] for nic in instance.get("NetworkInterfaces", ()) if "Attachment" in nic]
    created: datetime = next((one["AttachTime"] for one in attached if one["DeviceIndex"] == 0), launched)
    facts = {"CreateTime": created.isoformat(), "LaunchTime": launched.isoformat(), "State": power}
    return Resource(
        type=Ec2Instance.type,
        id=instance_id,
        handle=instance_id,
        arn=f"arn:{aws.client('ec2').meta.partition}:ec2:{aws.region}:{aws.account}:instance/{instance_id}",
        tags={key: value for key, value in tags.items() if not key.startswith("aws:")},
        properties=_properties(instance, tags),
        facts=facts | {word: instance[word] for word in _FACTS if instance.get(word)},
        # One that runs and has no status yet is not known to be well.
        state=health.get(instance_id, State.PENDING) if power == "running" else _STATES.get(power, State.PENDING),
        token=instance.get("ClientToken") or None,
        created=created,
    )


def _properties(instance: Mapping[str, Any], tags: Mapping[str, str]) -> dict[str, Json]:
    """What DescribeInstances shows, in CloudFormation's form."""
    template = [tags.get(f"aws:ec2launchtemplate:{word}") for word in ("id", "version")]
    options = instance.get("MetadataOptions", {})
    shown = {
        **{word: instance.get(word) for word in _AS_SHOWN},
        **{word: instance.get("Placement", {}).get(name) for word, name in PLACEMENT.items()},
        "HibernationOptions": instance.get("HibernationOptions"),
        "IamInstanceProfile": instance.get("IamInstanceProfile", {}).get("Arn", "").rpartition("/")[2],
        "LaunchTemplate": {"LaunchTemplateId": template[0], "Version": template[1]} if all(template) else None,
        "MetadataOptions": {word: options[word] for word in Metadata.model_fields if word in options},
        "Monitoring": instance.get("Monitoring", {}).get("State") in ("enabled", "pending"),
        "PowerState": _POWER.get(instance["State"]["Name"]),
        "SecurityGroupIds": [group["GroupId"] for group in instance.get("SecurityGroups", ())],
    }
    return {word: value for word, value in shown.items() if value not in (None, "", [], {})}


def _health(statuses: Iterable[Mapping[str, Any]]) -> dict[str, State]:
    """Impaired by either check is unhealthy. `insufficient-data` proves nothing."""
    health = {}
    for status in statuses:
        checks = {status["SystemStatus"]["Status"], status["InstanceStatus"]["Status"]}
        settled = State.PENDING if "initializing" in checks else State.READY
        health[status["InstanceId"]] = State.UNHEALTHY if "impaired" in checks else settled
    return health


def _change_settings(ec2: Any, instance: str, wanted: Mapping[str, Json]) -> None:
    """What may change while the instance runs."""
    if "SecurityGroupIds" in wanted:
        ec2.modify_instance_attribute(InstanceId=instance, Groups=list(wanted["SecurityGroupIds"]))
    if "SourceDestCheck" in wanted:
        ec2.modify_instance_attribute(InstanceId=instance, SourceDestCheck={"Value": wanted["SourceDestCheck"]})
    if "MetadataOptions" in wanted:
        options = _settled(shape_of(Metadata), wanted["MetadataOptions"])
        ec2.modify_instance_metadata_options(InstanceId=instance, **options)
    if "Monitoring" in wanted:
        (ec2.monitor_instances if wanted["Monitoring"] else ec2.unmonitor_instances)(InstanceIds=[instance])


def _change_profile(ec2: Any, instance: str, name: str | None) -> None:
    """Attach, replace (AWS does that on running instances only) or detach, in one call."""
    of_it = [{"Name": "instance-id", "Values": [instance]}]
    known = ec2.describe_iam_instance_profile_associations(Filters=of_it)["IamInstanceProfileAssociations"]
    held = [association for association in known if association["State"] in ("associating", "associated")]
    ids = {"AssociationId": held[0]["AssociationId"]} if held else {"InstanceId": instance}
    if held and name:
        ec2.replace_iam_instance_profile_association(**ids, IamInstanceProfile={"Name": name})
    elif held:
        ec2.disassociate_iam_instance_profile(**ids)
    elif name:
        ec2.associate_iam_instance_profile(**ids, IamInstanceProfile={"Name": name})


def _change_power(ec2: Any, seen: Resource, wanted: Mapping[str, Json]) -> Progress:
    """Stop; change what changes only while stopped; start. A run that ends in between leaves the rest visibly due."""
    stopped_only = [word for word in _WHILE_STOPPED if word in wanted]
    if wanted.get("PowerState") == "stopped":
        _switch(ec2, [seen.id], "stopped")
        return Progress.PARTIAL if stopped_only else Progress.COMPLETE
    if stopped_only and seen.facts["State"] != "stopped":
        what = f"{stopped_only[0]} of {seen.id} changes only while it is stopped, and it is {seen.facts['State']}"
        raise WaitError(f"{what}: stop it (PowerState), or terminate it if another takes its place")
    for word in stopped_only:
        ec2.modify_instance_attribute(InstanceId=seen.id, **{word: {"Value": wanted[word]}})
    _switch(ec2, [seen.id], wanted.get("PowerState"))
    return Progress.COMPLETE


def _switch(ec2: Any, ids: list[str], power: str | None) -> None:
    if power is not None:
        (ec2.start_instances if power == "running" else ec2.stop_instances)(InstanceIds=ids)


def _change_tags(ec2: Any, ids: list[str], change: Change) -> None:
    if change.tags:
        ec2.create_tags(Resources=ids, Tags=_tags(change.tags))
    if change.untag:
        ec2.delete_tags(Resources=ids, Tags=[{"Key": key} for key in sorted(change.untag)])


def _settled(shape: Shape, properties: Mapping[str, Json]) -> dict[str, Json]:
    """The properties, with the service's default in place of null."""
    return {word: shape.inner(word).default if value is None else value for word, value in properties.items()}


def _tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Sorted: one token must always come with one request."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
