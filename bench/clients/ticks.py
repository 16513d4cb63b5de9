"""Setpoint as Lambda runs it: the artifact's own handler, once or several times in one process, each time on demand.

Run by a Python without site-packages (-S) whose PYTHONPATH is the artifact. One line that begins with @ tells what a
run took. With --on-demand there is a run for each line on stdin, with --until-quiet runs until one changes nothing.
"""

import argparse
import json
import resource
import sys
import time
import traceback

MOST_RUNS = 20


class Context:
    """What a handler asks of Lambda's context."""

    function_name = "setpoint"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:setpoint"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(1000 * (self._end - time.monotonic()))


def tick(seconds: float) -> dict[str, object]:
    """One run, and its wall and CPU seconds."""
    from handler.app import handler

    wall, cpu = time.monotonic(), _cpu()
    try:
        summary = dict(handler({}, Context(seconds)))
    except ExceptionGroup:
        traceback.print_exc()
        summary = {"Errors": 1}
    return {"wall": time.monotonic() - wall, "cpu": _cpu() - cpu, "summary": summary}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _is_quiet(summary: dict[str, float]) -> bool:
    return not any(summary.get(word) for word in ("Created", "Updated", "Deleted", "Errors"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=55, help="the function's timeout")
    parser.add_argument("--on-demand", action="store_true", help="a run per line on stdin")
    parser.add_argument("--until-quiet", action="store_true", help="run until a run changes nothing")
    given = parser.parse_args()
    if given.on_demand:
        for _ in sys.stdin:
            print("@" + json.dumps(tick(given.seconds)), flush=True)
        return
    for _ in range(MOST_RUNS if given.until_quiet else 1):
        told = tick(given.seconds)
        if _is_quiet(told["summary"]):
            break
    print("@" + json.dumps(told), flush=True)
    sys.exit(bool(told["summary"].get("Errors")))


if __name__ == "__main__":
    main()
