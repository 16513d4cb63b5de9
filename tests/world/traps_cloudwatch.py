"""CloudWatch alarms where moto is too kind: PutMetricAlarm as an upsert, pages, errors of deletes.

Sources: API_PutMetricAlarm ("if you are using this operation to update an existing alarm, any tags you specify in this
parameter are ignored"; the update "completely overwrites the previous configuration" and leaves the state alone; a new
alarm starts in INSUFFICIENT_DATA), API_ListTagsForResource (ResourceNotFoundException), API_DescribeAlarms (MaxRecords
1 to 100), API_DeleteAlarms (up to 100; of several names the right ones are deleted; ResourceNotFound).
"""

from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Scene, Trap, backend

PAGE = 50


class AlarmTraps(Trap):
    """PutMetricAlarm on an existing alarm keeps its tags and state; DescribeAlarms comes in pages."""

    service = "cloudwatch"

    def before(self, call: Call, scene: Scene) -> Params | None:
        match call.operation:
            case "PutMetricAlarm":
                self._note_existing(call)
            case "DescribeAlarms":
                _at_most(call, "MaxRecords", call.params.get("MaxRecords", PAGE))
                _at_most(call, "AlarmNames", len(call.params.get("AlarmNames", [])))
            case "ListTagsForResource":
                if call.params["ResourceARN"] not in {one.alarm_arn for one in backend(call).alarms.values()}:
                    raise Refused(
                        "ResourceNotFoundException", "Unable to find the alarm.", 404, shape="ResourceNotFoundException"
                    )
            case "DeleteAlarms":
                _at_most(call, "AlarmNames", len(call.params["AlarmNames"]))
                if not backend(call).alarms.keys() & set(call.params["AlarmNames"]):
                    raise Refused(
                        "ResourceNotFound", "The named resource does not exist.", 404, shape="ResourceNotFound"
                    )
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        match call.operation:
            case "PutMetricAlarm":
                self._restore(call)
            case "DescribeAlarms":
                _page(call, answer)
            case "DeleteAlarms":
                for name in call.params["AlarmNames"]:
                    backend(call).tagger.delete_all_tags_for_resource(_arn(call, name))

    def _note_existing(self, call: Call) -> None:
        found, name = backend(call), call.params["AlarmName"]
        if alarm := found.alarms.get(name):
            call.notes["state"] = _state(alarm)
            call.notes["tags"] = dict(found.tagger.tags.get(alarm.alarm_arn, {}))

    def _restore(self, call: Call) -> None:
        found, name = backend(call), call.params["AlarmName"]
        alarm = found.alarms[name]
        if "tags" in call.notes:
            found.tagger.tags[alarm.alarm_arn] = call.notes["tags"]
            vars(alarm).update(call.notes["state"])
        else:
            alarm.state_value = "INSUFFICIENT_DATA"


def _state(alarm: Any) -> Params:
    return {key: value for key, value in vars(alarm).items() if key.startswith("state_") or key == "history"}


def _arn(call: Call, name: str) -> str:
    return f"arn:aws:cloudwatch:{call.region}:{call.account}:alarm:{name}"


def _at_most(call: Call, parameter: str, size: int) -> None:
    if size > 100:
        raise Refused("ValidationError", f"{parameter} of {call.operation} must be at most 100, not {size}.")


def _page(call: Call, answer: Params) -> None:
    """Cut the page that was asked for out of moto's full answer; the token is the last name of the page before."""
    size, token = call.notes["sent"].get("MaxRecords", PAGE), call.params.get("NextToken", "")
    alarms = sorted(answer.get("MetricAlarms", []), key=lambda alarm: str(alarm["AlarmName"]))
    rest = [alarm for alarm in alarms if alarm["AlarmName"] > token]
    answer["MetricAlarms"] = rest[:size]
    if len(rest) > size:
        answer["NextToken"] = rest[size - 1]["AlarmName"]
