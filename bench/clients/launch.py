"""Runs a command and tells, in one line that begins with @, what the kernel says it took.

A small process on purpose: a child begins with the peak memory of its parent.
"""

import json
import os
import subprocess
import sys
import time
from threading import Timer


def main() -> None:
    cpu, longest, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    if cpu >= 0:
        os.sched_setaffinity(0, {cpu})
    begun = time.monotonic()
    process = subprocess.Popen(command)
    timer = Timer(longest, process.kill)
    timer.start()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    timer.cancel()
    told = {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024),  # bytes there, KiB elsewhere
        "status": os.waitstatus_to_exitcode(status),
    }
    print("@" + json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
