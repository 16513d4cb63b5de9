"""One API call as the world saw it, and the answers that the world gives itself."""

from dataclasses import dataclass, field
from typing import Any

from botocore.awsrequest import AWSResponse

READS = ("Get", "List", "Describe", "Head", "BatchGet", "Scan", "Query")

Params = dict[str, Any]
Answer = tuple[AWSResponse, dict[str, Any]]
"""What botocore's `before-call` may return in place of sending the request: the response and its parsed body."""


@dataclass
class Call:
    """What was asked, in which tick, and how it ended.

    `number` counts from 1; calls made inside an `on_call` function are recorded with number 0, since they neither
    count nor fault. `params` is what the caller passed (before botocore fills in idempotency tokens).
    `outcome` is "ok", an AWS error code, or the fault that ended it: "crash_before", "crash_after", "lost", "refused".
    `fault` names the injected fault, if any; a refusal by the service itself has none. `notes` is the traps' scratch
    paper; `notes["sent"]` is what was sent, where a smaller page was asked for than the caller wanted.
    """

    number: int
    service: str
    operation: str
    params: Params
    region: str
    account: str
    tick: int
    outcome: str = "pending"
    fault: str | None = None
    notes: Params = field(default_factory=dict, repr=False, compare=False)

    @property
    def mutating(self) -> bool:
        return is_mutating(self.service, self.operation)

    @property
    def name(self) -> str:
        return f"{self.service}:{self.operation}"

    @property
    def targets(self) -> int:
        """How many resources it is about. Most calls are about one; a trap may note that fewer were there."""
        for word in ("AlarmNames", "InstanceIds", "Names", "Resources"):
            if word in self.params:
                return int(self.notes.get("there", len(self.params[word])))
        return 1

    def __str__(self) -> str:
        return f"#{self.number} {self.name} {self.params} -> {self.outcome}"


def is_mutating(service: str, operation: str) -> bool:
    """Tell writes from reads by the verb; STS calls (AssumeRole) change nothing."""
    return service != "sts" and not operation.startswith(READS)


class Refused(Exception):
    """A service says no. `shape` is the modelled error where it differs from the code (query-compatible services)."""

    def __init__(self, code: str, message: str, status: int = 400, shape: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.shape = code, message, status, shape


def accepted(body: dict[str, Any]) -> Answer:
    """Answer a call with this body, as if the service had sent it."""
    return _response(200), {**body, "ResponseMetadata": _metadata(200)}


def refused(no: Refused) -> Answer:
    """Answer a call with this error; botocore raises the client's own exception class from it."""
    error = {"Code": no.code, "Message": no.message, "Type": "Sender" if no.status < 500 else "Receiver"}
    if no.shape:
        error["QueryErrorCode"] = no.shape
    return _response(no.status), {"Error": error, "ResponseMetadata": _metadata(no.status)}


def _response(status: int) -> AWSResponse:
    return AWSResponse("https://world.invalid/", status, {}, None)


def _metadata(status: int) -> dict[str, Any]:
    return {"RequestId": "world", "HTTPStatusCode": status, "HTTPHeaders": {}, "RetryAttempts": 0}
