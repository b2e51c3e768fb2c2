import logging
import math
import threading

import pytest
from bzt import TaurusConfigError

from tollgate.targets import pm2
from tollgate.targets.pm2 import App, Pm2Error
from tollgate.targets.reloads import Reloads, Timetable, period_of

CLUSTER, FORK = App("cluster", 3002, "cluster", 2), App("fork", 3001, "fork", 1)
LOG = logging.getLogger("test")


@pytest.mark.parametrize(
    ("setting", "variable", "expected"),
    [
        *((None, None, None), ("off", None, None), ("20s", None, 20.0)),
        *((30, None, 30.0), ("90 s", None, 90.0), ("2min", None, 120.0)),
        *(("1m30s", None, 90.0), ("1m 30s", None, 90.0), ("1h 1s", None, 3601.0)),
        *(("1m", "10s", 10.0), ("20s", "off", None), ("20s", "", 20.0)),
    ],
)
def test_the_period_is_the_environments_or_else_the_settings(setting, variable, expected):
    environment = {} if variable is None else {"RELOAD_EVERY": variable}
    settings = {} if setting is None else {"reload-every": setting}
    assert period_of(settings, environment) == expected


@pytest.mark.parametrize(
    "value",
    ["soon", "-5s", "inf", "20 parsecs", "nan", "2,5s", "every 20s", "20 30", "5s 3", "2.5s", "0"],
)
def test_a_period_that_is_no_time_is_refused_with_where_it_stands(value):
    with pytest.raises(TaurusConfigError, match=r"modules\.targets\.reload-every is "):
        period_of({"reload-every": value}, {})
    with pytest.raises(TaurusConfigError, match="RELOAD_EVERY is "):
        period_of({"reload-every": "20s"}, {"RELOAD_EVERY": value})


@pytest.mark.parametrize(
    ("timetable", "due"),
    [
        pytest.param(Timetable(20.0, 0.0, 100.0 - 16.0), [20, 40, 60, 80], id="multiples"),
        pytest.param(Timetable(20.0, 0.0, 95.0 - 16.0), [20, 40, 60], id="none outlasts the load"),
        pytest.param(Timetable(10.0, 25.0, 80.0 - 16.0), [30, 40, 50, 60], id="after the warm-up"),
        pytest.param(Timetable(50.0, 0.0, math.inf), [50, 100, 150, 200, 250], id="no end"),
    ],
)
def test_reloads_are_due_at_multiples_of_the_period_within_the_load(timetable, due):
    assert [half / 2 for half in range(600) if timetable.is_due(half / 2)] == due


def test_what_was_missed_is_due_once_and_not_made_up_for():
    timetable = Timetable(10.0, 0.0, 84.0)
    moments = (9.9, 35.0, 36.0, 41.0, 41.5)
    assert [at for at in moments if timetable.is_due(at)] == [35.0, 41.0]


@pytest.fixture
def gate(monkeypatch):
    """(reloads of an app in cluster mode, apps that were reloaded, event that ends a reload)"""
    done, reloaded = threading.Event(), []

    def reload(app):
        reloaded.append(app.name)
        done.wait(60)

    monkeypatch.setattr(pm2, "reload", reload)
    made = Reloads(10.0, LOG)
    made.expect("cluster", CLUSTER, 0.0, 100.0)
    yield made, reloaded, done
    done.set()
    made.finish()


def test_a_reload_does_not_hold_up_the_caller_and_is_never_doubled(gate):
    made, reloaded, done = gate
    for second in (10, 20, 30):
        made.tick("cluster", CLUSTER, second)  # the first is still under way
    done.set()
    made.finish()
    assert reloaded == ["cluster"]
    [record] = made.records
    assert record["app"] == "cluster"
    assert record["problem"] == ""
    assert record["ended"] >= record["began"]


def test_the_next_reload_begins_once_the_one_before_has_ended(gate):
    made, reloaded, done = gate
    done.set()
    for second in (10, 20):
        made.tick("cluster", CLUSTER, second)
        made._in_flight.result(60)
    assert reloaded == ["cluster", "cluster"]


def test_finishing_waits_for_the_reload_under_way_and_begins_no_other(gate):
    made, reloaded, done = gate
    made.tick("cluster", CLUSTER, 10)
    threading.Timer(0.1, done.set).start()
    made.finish()
    assert made.records[0]["ended"]
    made.tick("cluster", CLUSTER, 20)
    assert reloaded == ["cluster"]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (Pm2Error("`pm2 reload cluster` failed: no"), "`pm2 reload cluster`"),
        *((ValueError("no"), "ValueError"), (OSError(), "OSError"), (KeyError("pm2"), "KeyError")),
    ],
)
def test_a_reload_that_breaks_in_any_way_has_a_problem_and_an_end(monkeypatch, error, problem):
    def broken(_app):
        raise error

    monkeypatch.setattr(pm2, "reload", broken)
    made = Reloads(10.0, LOG)
    made.expect("cluster", CLUSTER, 0.0, 100.0)
    made.tick("cluster", CLUSTER, 10)
    made.finish()
    [record] = made.records
    assert problem in record["problem"]
    assert isinstance(error, Pm2Error) is (record["problem"] == str(error))
    assert record["ended"] is not None


def test_an_app_in_fork_mode_is_left_alone_and_a_time_too_short_for_a_reload_is_refused(gate):
    made, reloaded, _ = gate
    made.expect("fork", FORK, 0.0, 100.0)
    made.tick("fork", FORK, 10)
    assert (reloaded, made.records) == ([], [])
    with pytest.raises(TaurusConfigError, match=r"no reload of 'cluster' fits into the 35 s of"):
        made.expect("cluster", CLUSTER, 20.0, 35.0)
