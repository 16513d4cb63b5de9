"""The words of `AWS::EC2::Instance`: which there are, which are refused, how RunInstances spells them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.frozen import Json
from policies.properties import CreateOnly, Default, Extension, Properties, Tag, Unordered, WriteOnly

_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


class Template(Properties):
    """By id or name. With `$Latest` and `$Default` a new version is for new instances: those that exist stay."""

    LaunchTemplateId: str | None = None
    LaunchTemplateName: str | None = None
    Version: Annotated[str | None, Field(pattern=r"^([1-9][0-9]*|\$Latest|\$Default)$")] = None


class Metadata(Properties):
    """The instance metadata service. What HttpTokens and the hops are by default depends on image and account."""

    HttpEndpoint: Annotated[Literal["enabled", "disabled"] | None, Default("enabled")] = None
    HttpProtocolIpv6: Annotated[Literal["enabled", "disabled"] | None, Default("disabled")] = None
    HttpPutResponseHopLimit: Annotated[int | None, Field(ge=1, le=64)] = None
    HttpTokens: Literal["optional", "required"] | None = None
    InstanceMetadataTags: Annotated[Literal["enabled", "disabled"] | None, Default("disabled")] = None


class Volume(Properties):
    """An EBS volume made with the instance."""

    DeleteOnTermination: bool | None = None
    Encrypted: bool | None = None
    Iops: Annotated[int | None, Field(ge=100)] = None
    KmsKeyId: str | None = None
    SnapshotId: str | None = None
    VolumeSize: Annotated[int | None, Field(ge=1)] = None
    VolumeType: Literal["gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"] | None = None


class Device(Properties):
    """A volume and where it appears."""

    DeviceName: str
    Ebs: Volume


class Interface(Properties):
    """A network interface made with the instance."""

    AssociatePublicIpAddress: bool | None = None
    DeleteOnTermination: bool | None = None
    Description: str | None = None
    DeviceIndex: Annotated[str, Field(pattern=r"^[0-9]+$")]
    GroupSet: list[str] | None = None
    Ipv6AddressCount: Annotated[int | None, Field(ge=1)] = None
    PrivateIpAddress: str | None = None
    SecondaryPrivateIpAddressCount: Annotated[int | None, Field(ge=1)] = None
    SubnetId: str | None = None


class Credit(Properties):
    """What a burstable instance may use beyond its baseline."""

    CPUCredits: Literal["standard", "unlimited"]


class Hibernation(Properties):
    """Whether it may hibernate."""

    Configured: Annotated[bool | None, Default(False)] = None


class InstanceProperties(Properties):
    """`AWS::EC2::Instance`. The write-only ones are not in DescribeInstances, or (LaunchTemplate) not as declared."""

    AvailabilityZone: Annotated[str | None, CreateOnly] = None
    BlockDeviceMappings: Annotated[list[Device] | None, CreateOnly, WriteOnly] = None
    CreditSpecification: Annotated[Credit | None, CreateOnly, WriteOnly] = None
    EbsOptimized: Annotated[bool | None, Default(False)] = None
    HibernationOptions: Annotated[Hibernation | None, CreateOnly] = None
    IamInstanceProfile: str | None = None
    ImageId: Annotated[str | None, CreateOnly] = None
    InstanceInitiatedShutdownBehavior: Annotated[Literal["stop", "terminate"] | None, CreateOnly, WriteOnly] = None
    InstanceType: str | None = None
    Ipv6AddressCount: Annotated[int | None, Field(ge=1), CreateOnly, WriteOnly] = None
    KeyName: Annotated[str | None, CreateOnly] = None
    LaunchTemplate: Annotated[Template | None, CreateOnly, WriteOnly] = None
    MetadataOptions: Metadata | None = None
    Monitoring: Annotated[bool | None, Default(False)] = None
    NetworkInterfaces: Annotated[list[Interface] | None, CreateOnly, WriteOnly] = None
    PlacementGroupName: Annotated[str | None, CreateOnly] = None
    PowerState: Annotated[Literal["running", "stopped"] | None, Default("running"), Extension] = None
    PrivateIpAddress: Annotated[str | None, CreateOnly] = None
    SecurityGroupIds: Annotated[list[str] | None, Field(min_length=1), Unordered] = None
    SourceDestCheck: Annotated[bool | None, Default(True)] = None
    SubnetId: Annotated[str | None, CreateOnly] = None
    Tags: list[Tag] | None = None
    Tenancy: Annotated[Literal["default", "dedicated", "host"] | None, CreateOnly, Default("default")] = None
    UserData: Annotated[str | None, Field(max_length=21_848, pattern=_BASE64), CreateOnly, WriteOnly] = None


# A launch template may set these. DisableApiTermination is not in DescribeInstances, and would refuse our own deletes.
NOT_SUPPORTED = frozenset(
    {
        "AdditionalInfo",
        "Affinity",
        "CpuOptions",
        "DisableApiTermination",
        "ElasticGpuSpecifications",
        "ElasticInferenceAccelerators",
        "EnclaveOptions",
        "HostId",
        "HostResourceGroupArn",
        "Ipv6Addresses",
        "KernelId",
        "LicenseSpecifications",
        "PrivateDnsNameOptions",
        "PropagateTagsToVolumeOnCreation",  # they always get the instance's
        "RamdiskId",
        "SecurityGroups",
        "SsmAssociations",
        "Volumes",
    }
)

# Always there, and different from account to account or instance to instance: null has nothing to go back to.
NO_NULL = frozenset(
    {
        "AvailabilityZone",
        "HibernationOptions",
        "HttpPutResponseHopLimit",
        "HttpTokens",
        "ImageId",
        "InstanceType",
        "MetadataOptions",
        "PrivateIpAddress",
        "SecurityGroupIds",
        "SubnetId",
    }
)

PLACEMENT = {"AvailabilityZone": "AvailabilityZone", "PlacementGroupName": "GroupName", "Tenancy": "Tenancy"}

AFTER_LAUNCH = {"PowerState": "stopped", "SourceDestCheck": False}
"""What RunInstances cannot set, and the value that it does not give by itself."""


def problem(properties: Mapping[str, Json]) -> str | None:
    """What RunInstances would refuse, or no instance would ever agree with."""
    template = properties.get("LaunchTemplate")
    if not template and not (properties.get("ImageId") and properties.get("InstanceType")):
        return "ImageId and InstanceType are needed where there is no LaunchTemplate"
    if template and bool(template.get("LaunchTemplateId")) == bool(template.get("LaunchTemplateName")):
        return "LaunchTemplate needs LaunchTemplateId or LaunchTemplateName, and not both"
    if template and not template.get("Version"):
        return "LaunchTemplate needs a Version"
    inside = [
        word
        for word in ("Ipv6AddressCount", "PrivateIpAddress", "SecurityGroupIds", "SubnetId")
        if properties.get(word)
    ]
    if properties.get("NetworkInterfaces") and inside:
        return f"{inside[0]} and NetworkInterfaces exclude each other: it belongs inside the interface"
    leaves = {**properties, **(properties.get("MetadataOptions") or {})}
    nulls = [word for word, value in leaves.items() if value is None and word in NO_NULL]
    return f"{nulls[0]} cannot be null: the service has no default for it; leave it out" if nulls else None


def launch(declared: Mapping[str, Json]) -> dict[str, Any]:
    """The properties as RunInstances spells them, without those that only later calls set."""
    request: dict[str, Any] = {}
    for word, value in _given(declared).items():
        match word:
            case "AvailabilityZone" | "PlacementGroupName" | "Tenancy":
                request.setdefault("Placement", {})[PLACEMENT[word]] = value
            case "CreditSpecification":
                request[word] = {"CpuCredits": value["CPUCredits"]}
            case "IamInstanceProfile":
                request[word] = {"Name": value}
            case "Monitoring":
                request[word] = {"Enabled": value}
            case "NetworkInterfaces":
                request[word] = [_interface(one) for one in value]
            case "UserData":
                request[word] = b64decode(value)  # botocore encodes it again
            case _ if word not in AFTER_LAUNCH:
                request[word] = value
    return request


def _interface(declared: Mapping[str, Json]) -> dict[str, Any]:
    rest = {word: value for word, value in declared.items() if word != "GroupSet"}
    groups = {"Groups": declared["GroupSet"]} if "GroupSet" in declared else {}
    return {**rest, **groups, "DeviceIndex": int(declared["DeviceIndex"])}


def _given(value: Json) -> Any:
    """Plain JSON without nulls."""
    if isinstance(value, Mapping):
        return {word: _given(item) for word, item in value.items() if item is not None}
    return [_given(item) for item in value] if isinstance(value, list | tuple) else value
