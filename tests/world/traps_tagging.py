"""The Tagging API where moto is fragile: the pages of one listing show one moment.

moto keeps a live generator between pages, which breaks when a resource is made meanwhile. How far the index lags
is `World.index_lag`; that it omits never-tagged resources is moto's behaviour already (API_GetResources).
"""

from tests.world.call import Call, Params
from tests.world.trap import Scene, Trap, backend


class TagIndexTraps(Trap):
    service = "resourcegroupstaggingapi"

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        if token := answer.get("PaginationToken"):
            page = backend(call)._pages[token]
            page["gen"] = iter(list(page["gen"]))
