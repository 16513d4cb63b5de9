"""CloudWatch Logs where moto is too kind: it does not know `logGroupIdentifiers`, and answers with a page of all.

Source: API_DescribeLogGroups (1 to 50 identifiers of the pattern below; names are allowed in one's own account;
"the only other filter that you can choose to specify is includeLinkedAccounts"; results are sorted by name).
"""

import re

from tests.world.call import Call, Params, Refused
from tests.world.trap import Scene, Trap, backend

MOST, IDENTIFIER = 50, re.compile(r"[\w#+=/:,.@-]*", re.ASCII)


class LogGroupTraps(Trap):
    """DescribeLogGroups by names."""

    service = "logs"

    def before(self, call: Call, scene: Scene) -> Params | None:
        if call.operation != "DescribeLogGroups" or "logGroupIdentifiers" not in call.params:
            return None
        asked = call.params["logGroupIdentifiers"]
        if len(asked) > MOST or {"logGroupNamePrefix", "logGroupNamePattern", "logGroupClass"} & call.params.keys():
            raise Refused("InvalidParameterException", "at most 50 logGroupIdentifiers, and no other filter")
        if not all(map(IDENTIFIER.fullmatch, asked)):
            raise Refused("InvalidParameterException", f"logGroupIdentifiers must satisfy {IDENTIFIER.pattern}")
        groups, after = backend(call).groups, call.params.get("nextToken", "")
        found = [groups[name].to_describe_dict() for name in sorted(asked) if name in groups and name > after]
        size = call.notes["sent"].get("limit", MOST)
        more = {"nextToken": found[size - 1]["logGroupName"]} if len(found) > size else {}
        return {"logGroups": found[:size], **more}
