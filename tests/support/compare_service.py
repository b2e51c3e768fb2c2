"""The service `compare` without Taurus's engine, PM2 or JMeter."""

import pytest
from bzt import TaurusConfigError

from tollgate.taurus import targets


class Held(targets.Targets):
    """The service `targets`, which keeps others out and stops what it has not started."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def hold(self):
        self.calls.append("hold")

    def shutdown(self):
        self.calls.append("shutdown")


def scenario(made):
    return made.engine.config["scenarios"]["compare"]


def refused(made, kind=TaurusConfigError):
    with pytest.raises(kind) as refusal:
        made.prepare()
    said = str(refusal.value)
    assert said.startswith("compare: ")
    assert "\n" not in said
    return said
