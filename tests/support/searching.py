"""A search for capacity against a queue of numbers, in a time that is not the clock's."""

import logging
import os
import socket
from types import SimpleNamespace

from support.growing_load import GrowingLoad
from tollgate.base import records
from tollgate.capacity.arrivals import HEADER, row
from tollgate.capacity.asked import limit_of
from tollgate.capacity.model import CapacitySettings
from tollgate.capacity.record import CapacityRecord, arrivals_path, record_path
from tollgate.capacity.running import Search
from tollgate.samples.growing import Growing

LIMITS = ("p95>250ms", "fail>0.1%")
NAME = "fork"
BEGAN_S = 1_800_000_000.0
#: Seconds between two steps, and steps after which a search never ends.
STEP_S, MOST_STEPS = 0.05, 20_000


def record_of(budget_s=150.0, **settings):
    """With short trials."""
    short = {"trial_s": 3.0, "bracket_s": 2.0, "holdout_s": 5.0, "lead_s": 0.5, **settings}
    asked = CapacitySettings(tuple(map(limit_of, LIMITS)), budget_s=budget_s, seed=5, **short)
    return CapacityRecord(asked, LIMITS, ("sum",))


class Searched:
    """folder: of the run. search: as it ended."""

    def __init__(self, folder, service, record, of=None, **load):
        self.folder, self.now = folder, BEGAN_S
        arrivals_path(folder, NAME).write_text(row(HEADER))
        records.write(record_path(folder, NAME), record)
        self.load = GrowingLoad(arrivals_path(folder, NAME), folder / "kpi.jtl", service, **load)
        self.listens = socket.create_server(("127.0.0.1", 0))
        self.listens.settimeout(5)
        properties = {"host": "127.0.0.1", "port": self.listens.getsockname()[1]}
        known = {"properties": properties, "kpi_jtl": str(folder / "kpi.jtl"), "label": NAME}
        known |= {"process": SimpleNamespace(pid=os.getpid()), "is_over": False}
        self.executor = SimpleNamespace(**known)
        log = logging.getLogger("capacity")
        samples = Growing(folder / "kpi.jtl")
        self.search = Search(self.executor, folder, record, samples, log, lambda: self.now, of)

    def step(self):
        """Some milliseconds more."""
        self.now += STEP_S
        self.load.go_on(1000 * self.now)
        asks = self.search.running is None and self.search.over_at is None
        self.search.go_on(self.now)
        if asks and self.listens.fileno() >= 0:
            self.listens.accept()[0].close()

    def to_the_end(self):
        """Until the plan is told to end."""
        for _ in range(MOST_STEPS):
            if self.load.has_ended:
                self.listens.close()
                return self
            self.step()
        raise AssertionError("the search never ended")
