"""What the world is like while a scenario runs: all of it is legal for AWS, and none of it is the engine's fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.world import World


@dataclass(frozen=True)
class Weather:
    """`lag`: all reads are so many runs old, those just before a write too; `index_lag`: only the tag index is.

    `pages`: the largest page, and lists in no order. `slow`: changes of a queue's attributes show so many runs late,
    and every transition takes so many runs more.
    """

    name: str = "fair"
    lag: int = 0
    index_lag: int = 0
    pages: int | None = None
    slow: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def blurred(self) -> bool:
        """Reads are not of the present: what a run says is true of what it saw, and no more."""
        return bool(self.lag or self.index_lag or self.slow)

    def come_over(self, world: World) -> None:
        world.stale(self.lag)
        world.index_lag = self.index_lag
        world.page_size, world.shuffle, world.seed = self.pages, self.pages is not None, self.seed
        if self.slow:
            world.sqs.attribute_delay = self.slow
            world.ec2.state_ticks = 1 + self.slow
            world.dynamodb.create_ticks = world.dynamodb.update_ticks = 1 + self.slow
            world.elasticache.ticks = 1 + self.slow
            world.rds.ticks.update(dict.fromkeys(world.rds.ticks, 1 + self.slow))

    def clear_up(self, world: World) -> None:
        """Back to the present, and to pages as large as they are; what takes its time goes on to take it."""
        world.stale(0)
        world.index_lag = 0
        world.page_size, world.shuffle = None, False


FAIR = Weather()
WEATHERS: Mapping[str, Weather] = {
    weather.name: weather
    for weather in (
        FAIR,
        Weather("lag 1", lag=1),
        Weather("lag 2", lag=2),
        Weather("lag 3", lag=3),
        Weather("small pages", pages=1, seed=1),
        Weather("index lag", index_lag=2),
        Weather("slow", slow=2),
    )
}
