"""The words of `AWS::Lambda::Function`, and how Lambda spells them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.errors import RefusedError, SenseError
from policies.frozen import Json, thaw
from policies.properties import CreateOnly, Default, Name, Properties, Shape, Tag, Unordered, WriteOnly, shape_of


class FunctionCode(Properties):
    """Where the code is: an object in a bucket of the same region, or an image. It is written, and never shown."""

    ImageUri: str | None = None
    S3Bucket: Annotated[str | None, Field(min_length=3, max_length=63)] = None
    S3Key: Annotated[str | None, Field(min_length=1, max_length=1024)] = None
    S3ObjectVersion: Annotated[str | None, Field(min_length=1, max_length=1024)] = None


class DeadLetters(Properties):
    """Where events go that could not be processed."""

    TargetArn: Annotated[str | None, Field(max_length=10_000), Default("")] = None


class FunctionEnvironment(Properties):
    """Variables by name; null takes one away. Those that are not named stay as they are."""

    Variables: dict[str, str | None] | None = None


class Storage(Properties):
    """The room under /tmp, in MB."""

    Size: Annotated[int, Field(ge=512, le=10_240)]


class FileSystem(Properties):
    """An access point, and where it is mounted."""

    Arn: Annotated[str, Field(max_length=200)]
    LocalMountPath: Annotated[str, Field(max_length=160, pattern=r"^/mnt/[a-zA-Z0-9-_.]+$")]


class Image(Properties):
    """What is other than in the image."""

    Command: Annotated[list[str] | None, Field(min_length=1, max_length=1500)] = None
    EntryPoint: Annotated[list[str] | None, Field(min_length=1, max_length=1500)] = None
    WorkingDirectory: Annotated[str | None, Field(max_length=1000)] = None


class Logging(Properties):
    """Where logs go and how; the levels are for JSON."""

    ApplicationLogLevel: Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] | None = None
    LogFormat: Annotated[Literal["Text", "JSON"] | None, Default("Text")] = None
    LogGroup: Annotated[str | None, Field(min_length=1, max_length=512)] = None
    SystemLogLevel: Literal["DEBUG", "INFO", "WARN"] | None = None


class Tracing(Properties):
    """X-Ray."""

    Mode: Annotated[Literal["Active", "PassThrough"] | None, Default("PassThrough")] = None


class Vpc(Properties):
    """The network that the function reaches."""

    Ipv6AllowedForDualStack: Annotated[bool | None, Default(False)] = None
    SecurityGroupIds: Annotated[list[Annotated[str, Field(max_length=1024)]] | None, Field(max_length=5), Unordered] = (
        None
    )
    SubnetIds: Annotated[list[Annotated[str, Field(max_length=1024)]] | None, Field(max_length=16), Unordered] = None


class FunctionProperties(Properties):
    """`AWS::Lambda::Function`, its unpublished version. Defaults as in CreateFunction."""

    FunctionName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_-]+", 64)]
    Architectures: Annotated[
        list[Literal["x86_64", "arm64"]] | None, Field(min_length=1, max_length=1), CreateOnly, Default(("x86_64",))
    ] = None
    Code: Annotated[FunctionCode | None, WriteOnly] = None
    DeadLetterConfig: Annotated[DeadLetters | None, Default({"TargetArn": ""})] = None
    Description: Annotated[str | None, Field(max_length=256), Default("")] = None
    Environment: Annotated[FunctionEnvironment | None, Default({"Variables": {}})] = None
    EphemeralStorage: Annotated[Storage | None, Default({"Size": 512})] = None
    FileSystemConfigs: Annotated[list[FileSystem] | None, Field(min_length=1, max_length=1), Default(())] = None
    Handler: Annotated[str | None, Field(max_length=128, pattern=r"^[^\s]+$")] = None
    ImageConfig: Annotated[Image | None, Default({})] = None
    KmsKeyArn: Annotated[str | None, Field(max_length=10_000), Default("")] = None
    Layers: Annotated[
        list[Annotated[str, Field(min_length=1)]] | None, Field(min_length=1, max_length=5), Default(())
    ] = None
    LoggingConfig: Logging | None = None
    MemorySize: Annotated[int | None, Field(ge=128, le=32_768), Default(128)] = None
    PackageType: Annotated[Literal["Image", "Zip"] | None, CreateOnly, Default("Zip")] = None
    ReservedConcurrentExecutions: Annotated[int | None, Field(ge=0)] = None
    Role: Annotated[
        str | None, Field(max_length=10_000, pattern=r"^arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$")
    ] = None
    Runtime: Annotated[str | None, Field(pattern=r"^[a-z][a-z0-9.]+(-edge)?$")] = None
    Tags: list[Tag] | None = None
    Timeout: Annotated[int | None, Field(ge=1, le=5400), Default(3)] = None
    TracingConfig: Annotated[Tracing | None, Default({"Mode": "PassThrough"})] = None
    VpcConfig: Annotated[Vpc | None, Default({"SecurityGroupIds": (), "SubnetIds": ()})] = None


NOT_SUPPORTED = frozenset(
    {
        "CapacityProviderConfig",
        "Code.S3ObjectStorageMode",
        "Code.SourceKMSKeyArn",
        "Code.ZipFile",
        "CodeSigningConfigArn",
        "DurableConfig",
        "FileSystemConfigs.S3FilesConfig",
        "FunctionScalingConfig",
        "PublishToLatestPublished",
        "RecursiveLoop",
        "RuntimeManagementConfig",
        "SnapStart",
        "TenancyConfig",
    }
)

ELSEWHERE = ("Architectures", "Code", "FunctionName", "PackageType", "ReservedConcurrentExecutions")
"""What UpdateFunctionConfiguration does not take."""

_SHAPE = shape_of(FunctionProperties)
_IRREGULAR = {"KmsKeyArn": "KMSKeyArn"}
_AS_SHOWN = (
    "Architectures",
    "DeadLetterConfig",
    "Description",
    "EphemeralStorage",
    "FunctionName",
    "Handler",
    "LoggingConfig",
    "MemorySize",
    "PackageType",
    "Role",
    "Runtime",
    "Timeout",
    "TracingConfig",
)


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What Lambda would refuse in a function to be created."""
    code, image = properties.get("Code") or {}, properties.get("PackageType") == "Image"
    if properties.get("Role") is None:
        yield "a function needs Role"
    if image and not code.get("ImageUri"):
        yield "a function of PackageType Image needs Code.ImageUri"
    if not image and not (code.get("S3Bucket") and code.get("S3Key")):
        yield "a function of PackageType Zip needs Code.S3Bucket and Code.S3Key"
    words = ("Handler", "Runtime")
    if not image and not all(properties.get(word) for word in words):
        yield "a function of PackageType Zip needs Handler and Runtime"
    if found := [word for word in (*words, "Layers") if image and properties.get(word)]:
        yield f"{', '.join(found)}: a function of PackageType Image has that in its image"
    vpc = properties.get("VpcConfig") or {}
    if bool(vpc.get("SubnetIds")) != bool(vpc.get("SecurityGroupIds")):
        yield "VpcConfig needs both SubnetIds and SecurityGroupIds"


def creation(declared: Mapping[str, Json]) -> dict[str, Any]:
    """What CreateFunction takes, tags aside; the reserved concurrency has a call of its own."""
    wanted = {word: value for word, value in declared.items() if value is not None}
    wanted.pop("ReservedConcurrentExecutions", None)
    return _spell(_settled(_SHAPE, wanted))


def configuration(wanted: Mapping[str, Json]) -> dict[str, Any]:
    """What UpdateFunctionConfiguration takes of these properties; null is the service's default."""
    settled = _settled(_SHAPE, {word: value for word, value in wanted.items() if word not in ELSEWHERE})
    if lost := [word for word in wanted if word not in ELSEWHERE and word not in settled]:
        raise RefusedError(f"{', '.join(lost)}: there is no default that null could stand for; give a value")
    return _spell(settled)


def parse(answer: Mapping[str, Any]) -> dict[str, Json]:
    """What GetFunction shows, in CloudFormation's form."""
    found, environment = answer["Configuration"], answer["Configuration"].get("Environment") or {}
    if "Error" in environment:
        why = environment["Error"].get("Message", "no reason given")
        raise SenseError(f"the environment of {found['FunctionName']} cannot be read: {why}")
    vpc = {word: (found.get("VpcConfig") or {}).get(word) for word in Vpc.model_fields}
    systems = found.get("FileSystemConfigs") or ()
    shown = {
        **{word: found.get(word) for word in _AS_SHOWN},
        "FileSystemConfigs": [{word: one[word] for word in FileSystem.model_fields} for one in systems],
        "ImageConfig": (found.get("ImageConfigResponse") or {}).get("ImageConfig"),
        "KmsKeyArn": found.get("KMSKeyArn"),
        "Layers": [layer["Arn"] for layer in found.get("Layers") or ()],
        "ReservedConcurrentExecutions": (answer.get("Concurrency") or {}).get("ReservedConcurrentExecutions"),
        "VpcConfig": vpc if vpc["SubnetIds"] else None,
    }
    # Also where there are none: a variable that is to be away is compared with those that are there.
    return _given(shown) | {"Environment": {"Variables": environment.get("Variables") or {}}}


def _settled(shape: Shape, properties: Mapping[str, Json]) -> dict[str, Json]:
    """The properties with the service's default in place of null, at any depth; without those that have none."""
    settled = {word: _value(shape.inner(word), value) for word, value in properties.items()}
    return {word: value for word, value in settled.items() if value is not None}


def _value(shape: Shape, value: Json) -> Json:
    if value is None:
        return shape.default
    return _settled(shape, value) if isinstance(value, Mapping) else value


def _spell(properties: Mapping[str, Json]) -> dict[str, Any]:
    spelt = {_IRREGULAR.get(word, word): thaw(value) for word, value in properties.items()}
    logging = spelt.get("LoggingConfig", {})
    if logging.get("LogFormat") == "Text":
        spelt["LoggingConfig"] = {word: value for word, value in logging.items() if not word.endswith("Level")}
    return spelt


def _given(shown: Mapping[str, Json]) -> dict[str, Json]:
    """Without what is not set, at any depth."""
    inner = {word: _given(value) if isinstance(value, Mapping) else value for word, value in shown.items()}
    return {word: value for word, value in inner.items() if value not in (None, "", [], {})}
