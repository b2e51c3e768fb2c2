"""What the service `progress` says of each execution."""

import time
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from tollgate.taurus.progress import Progress

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads,"
    "Latency,Connect"
)


class Executor:
    """Compared by identity, as Taurus's executors are."""

    def __init__(self, **fields):
        vars(self).update(fields)


def execution(folder, label, failures, properties):
    """One whose JTL has ten requests, so many of them failed."""
    jtl = folder / f"{label}.jtl"
    rows = (
        f"{1_700_000_000_000 + i * 1000},5,sum,200,OK,t 1-1,{str(i >= failures).lower()},9,1,3,0"
        for i in range(10)
    )
    jtl.write_text("\n".join([HEADER, *rows, ""]))
    return Executor(
        label=label,
        kpi_jtl=str(jtl),
        properties=BetterDict.from_dict(properties),
        start_time=time.time() - 1000,
        begins_at=0.0,
    )


@pytest.fixture
def line(tmp_path):
    """The line about the last of several executions, once all that they wrote has been read."""

    def of(*failures, **properties):
        properties = properties or {"warmup": 5, "measured": 30}
        executors = [
            execution(tmp_path, f"e{number}", count, properties)
            for number, count in enumerate(failures)
        ]
        progress = Progress()
        progress.engine = SimpleNamespace(provisioning=SimpleNamespace(executors=executors))
        progress.prepare()
        progress.startup()
        return progress._line(executors[-1])

    return of


def test_the_failures_of_one_execution_are_not_told_of_the_next(line):
    assert line(4) == "e0: 35 of 35 s, 10 requests read, 4 failed so far"
    assert line(4, 3) == "e1: 35 of 35 s, 10 requests read, 3 failed so far"
    assert line(4, 0) == "e1: 35 of 35 s, 10 requests read"


def test_an_execution_that_ends_by_itself_is_told_without_an_end(line):
    assert line(0, loops=3) == "e0: 1000 s, 10 requests read"


def test_seconds_may_be_written_as_text_but_are_a_number(line):
    assert line(0, warmup="5", measured="60").startswith("e0: 65 of 65 s")
    with pytest.raises(TaurusConfigError, match="execution 'e0': the property measured is '60s'"):
        line(0, measured="60s")
