"""A small, deterministic AWS for tests: moto, made as strict as the real services.

`World` is the whole interface; `Fault` says what goes wrong and when. Everything else in this package is one
idea a file: the clock, the recorded calls, the faults, the stale views and one file of traps per service.

    with World(seed=7) as world:
        world.outside.sqs.create_queue(QueueName="by-hand")      # set-up: no faults, no record
        world.inject(Fault(at=3, kind="lost"))
        world.tick_started()
        run(world.session, world.now)                            # the code under test
        world.advance(minutes=1)
        assert world.resources()["AWS::SQS::Queue"].keys() == {"by-hand", "orders-a"}

Not modelled: IAM (inject `denied`), rates and quotas other than those in the traps, ListQueues showing a queue that is
being deleted, GSIs that are built in the background beyond their table's update, alarms that evaluate, capacity errors.
Time stands still within a call: an SQS long poll (WaitTimeSeconds) would wait for ever.
"""

from tests.world.call import Call
from tests.world.faults import Crash, Fault, FaultKind, operation
from tests.world.world import World

__all__ = ["Call", "Crash", "Fault", "FaultKind", "World", "operation"]
