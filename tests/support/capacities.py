"""Searches for capacity as judge is given them."""

from dataclasses import replace

from support.executions import execution
from support.searching import LIMITS
from tollgate.capacity.asked import limit_of
from tollgate.capacity.model import Ask, CurvePoint, Result, Searched, Trial
from tollgate.judge.facts import MeasuredRun


def trial(rate, over=0, purpose="search", number=1, **changes):
    """800 answers at a rate."""
    fields = {"ask": Ask(number, purpose, rate, 10.0), "achieved": rate * 1.01, "n": 800}
    fields |= {"over": (over, 0), "p50_ms": rate, "p95_ms": 2 * rate, "p99_ms": 3 * rate}
    fields |= {"grew": False, "generator_cpu": 0.25, "sound": True, "began_s": 12.0 * number}
    return Trial(**fields | changes)


def result(status="found", low=95.0, estimate=100.0, high=105.0, **changes):
    """An answer with its curves."""
    rates = (50.0, 90.0, 110.0)
    curves = {
        name: tuple(CurvePoint(rate, factor * rate, rate, 4 * rate) for rate in rates)
        for factor, name in enumerate(("p50", "p95", "p99"), 1)
    }
    reason = "" if status == "found" else f"the reason for {status}"
    known = {"drift": 0.01, "curves": curves, "holdout": trial(95.0, purpose="holdout")}
    return Result(status, reason, estimate, low, high, **known | changes)


NOTHING = {"low": None, "estimate": None, "high": None, "drift": None, "curves": None}


def searched(answer=None, **changes):
    """A search with some trials, one of which broke a limit and one of which got no answer."""
    trials = (
        *(trial(rate, number=number) for number, rate in enumerate((50.0, 90.0), 1)),
        trial(110.0, over=300, number=3),
        trial(200.0, over=800, number=4, grew=True, p95_ms=float("inf"), p99_ms=float("inf")),
    )
    fields = {"limits": LIMITS, "parsed_limits": tuple(map(limit_of, LIMITS))}
    fields |= {"of": ("sum",), "ceiling": 1600.0, "is_over": True, "trials": trials}
    fields |= {"ceiling_trials": (trial(1600.0, purpose="ceiling"),), "result": answer or result()}
    return Searched(**fields | changes)


def searching(*criteria, name="fork", of=None):
    """An execution with such a search."""
    return execution(*criteria, label="sum", name=name, capacity=of or searched())


OF_CLUSTER = searched(result(low=280.0, estimate=300.0, high=320.0))
BOTH = MeasuredRun(
    (searching("capacity of fork<90/s"), searching(name="cluster", of=OF_CLUSTER)),
)
EMPTY = searched(result("open", **NOTHING, holdout=None), trials=(), ceiling_trials=(), ceiling=0.0)
RUNS = {
    "capacities": BOTH,
    "no capacity yet": MeasuredRun((searching(of=replace(EMPTY, is_over=False)),)),
    "a capacity below": MeasuredRun((searching(of=searched(result("below", **NOTHING))),)),
}
