"""The end of a hopeless run by its own samples, without Taurus's engine."""

import logging
from types import SimpleNamespace

import pytest
from bzt import NormalShutdown

from support import run_folder
from tollgate.samples.layout import JtlError
from tollgate.taurus.early_stop import EarlyStop
from tollgate.taurus.shared import RunUnderWay

TRIPS = "p50 of nap>10ms over 2s"


class Executor(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.fixture
def reporter(tmp_path):
    """The reporter at the start of a run of one execution with these criteria."""

    def start(*criteria, ended=None, **known):
        record = run_folder.make(tmp_path, criteria)
        executor = Executor(
            label="nap",
            kpi_jtl=str(tmp_path / run_folder.JTL),
            start_time=record.executions[0].began,
            process=SimpleNamespace(poll=lambda: ended),
            is_over=False,
        )
        found = EarlyStop()
        found.log = logging.getLogger("passfail")
        found.engine = SimpleNamespace(
            artifacts_dir=str(tmp_path),
            provisioning=SimpleNamespace(executors=[executor]),
            run_under_way=RunUnderWay(manifest=record, **known),
        )
        found.startup()
        return found, executor

    return start


def test_the_criterion_that_ends_a_run_is_kept_with_its_moment_and_what_shows_it(
    reporter, monkeypatch
):
    monkeypatch.setattr("tollgate.taurus.early_stop.time.time", lambda: 1234.5)
    early, _ = reporter("fail of nap>50% for 2s", TRIPS)
    with pytest.raises(NormalShutdown):
        early.check()
    record = early.engine.run_under_way.manifest
    assert (record.stopped_by, record.stopped_at) == (TRIPS, 1234.5)
    (execution,) = record.executions
    assert 6.0 <= execution.stop.measured_s <= 8.0


CALM = [
    (("p50 of nap>1s over 2s",), {}),
    (("p50 of nap>10ms",), {}),
    ((f"{TRIPS}, continue as failed",), {}),
    ((f"{TRIPS}, stop as non-failed",), {}),
    ((TRIPS,), {"ended": 0}),
    ((TRIPS,), {"share": "1/2"}),
]


@pytest.mark.parametrize(("criteria", "changes"), CALM)
def test_nothing_else_ends_a_run(reporter, criteria, changes):
    early, _ = reporter(*criteria, **changes)
    assert early.check() is False
    assert early.engine.run_under_way.manifest.stopped_by is None


def test_an_execution_that_a_look_has_ended_or_whose_samples_cannot_be_read_is_not_stopped(
    reporter,
):
    early, executor = reporter(TRIPS)
    executor.is_over = True
    assert early.check() is False

    def unreadable():
        raise JtlError("kpi.jtl", "line 7 is broken")

    early, executor = reporter(TRIPS)
    early.watches[executor].look = unreadable
    assert early.check() is False
