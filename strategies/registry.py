"""Every strategy, one line each. Others ship theirs through the entry point group `setpoint.strategies`."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from policies.plugins import Plugins
from policies.strategy import Strategy

GROUP = "setpoint.strategies"

STRATEGIES: Plugins[type[Strategy]] = Plugins(
    GROUP,
    (
        EntryPoint("forEach", "strategies.for_each:ForEach", GROUP),
        EntryPoint("replicas", "strategies.replicas:Replicas", GROUP),
        EntryPoint("rotation", "strategies.rotation:Rotation", GROUP),
        EntryPoint("enforce", "strategies.enforce:Enforce", GROUP),
        EntryPoint("scale", "strategies.scale:Scale", GROUP),
        EntryPoint("expire", "strategies.expire:Expire", GROUP),
    ),
)
