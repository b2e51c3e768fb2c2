"""Which seconds of samples may end a run early: by Taurus's own criteria, fed second by second."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bzt.modules.aggregator import DataPoint, KPISet

from tollgate.criteria import parse_all
from tollgate.taurus.early_stop import Measured

WARMUP_S = 5
SLOW = "avg-rt of home>100ms for 3s, stop as failed"


def second(at: int) -> DataPoint:
    """One in which every request was too slow."""
    point = DataPoint(at)
    slow = KPISet()
    slow[KPISet.SAMPLE_COUNT], slow[KPISet.AVG_RESP_TIME] = 10, 0.4
    point[DataPoint.CURRENT] = {"": slow, "home": slow}
    return point


class Executor(SimpleNamespace):
    __hash__ = object.__hash__


def executor(start_time: float | None, warmup_s: int = WARMUP_S) -> Executor:
    return Executor(label="fork", start_time=start_time, properties={"warmup": str(warmup_s)})


def seconds_until_a_stop(first: int, *executors: Executor) -> int | None:
    """How many seconds of samples, from the first on, it takes."""
    (criterion,) = parse_all([SLOW])
    processor = Measured([criterion.as_taurus()], None, executors)
    for count in range(30):
        processor.aggregated_second(second(first + count))
        if processor.criteria[0].is_triggered:
            return count
    return None


def test_a_warm_up_ends_no_run():
    without = seconds_until_a_stop(102, executor(100.0, warmup_s=0))
    assert seconds_until_a_stop(102, executor(100.0)) == without + WARMUP_S


def test_each_execution_has_a_warm_up_of_its_own():
    first, second_one, unborn = executor(100.0), executor(200.0), executor(None)
    assert seconds_until_a_stop(202, first, second_one, unborn) == seconds_until_a_stop(102, first)


@pytest.mark.parametrize("start_time", [None, 150.0])
def test_samples_of_no_execution_end_nothing(start_time):
    assert seconds_until_a_stop(102, executor(start_time)) is None
