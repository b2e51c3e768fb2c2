"""Executions for judge's tests, with samples whose percentiles and intervals are known."""

from dataclasses import replace

import numpy as np

from tollgate.criteria.grammar import parse_all
from tollgate.judge.facts import ExecutionFacts, LabelData, MeasuredExecution, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals


def counts(n=3000, seconds=60, low=100, high=200, failed=0, code="200"):
    """n samples over that many seconds, elapsed spread evenly over low..high, with a design effect
    of 1, for neighbours in time lie far apart in elapsed."""
    at = np.arange(n)
    elapsed = low + (at * 0.6180339887 % 1) * (high - low)
    ok = np.ones(n, bool)
    ok[:: max(1, n // failed) if failed else n + 1] = failed == 0
    ok[np.flatnonzero(~ok)[failed:]] = True
    return Counts.of(at * seconds // n, np.rint(elapsed), ok, (~ok).astype(int), (code, "500"))


def totals(of):
    n = of.sum_by_second().astype(int)
    sums = of.sum_by_second(of.elapsed_ms).astype(int)
    return Totals(of.seconds, n, sums // 2, n * 0, n * 100, np.full(len(n), 7))


def execution(*criteria, service=None, response=None, label="search", **changes):
    """An execution of one label that is measured for as long as its samples last."""
    service = counts() if service is None else service
    data = LabelData(label, service, response, totals(service) if service.total else None)
    measured = float(service.seconds[-1] + 1) if service.total else 60.0
    parsed = parse_all(criteria, [label])
    made = MeasuredExecution("search-fork", {(label, False): data}, parsed, 0.0, measured)
    return replace(made, **changes)


def verdict_on(*criteria, settings=None, facts=None, **changes):
    """Judge's verdict on a run of one such execution."""
    if facts:
        changes["facts"] = ExecutionFacts(**facts)
    return judge(MeasuredRun((execution(*criteria, **changes),)), settings)


def result_of(*criteria, **changes):
    """The result of the first criterion."""
    return verdict_on(*criteria, **changes).executions[0].criteria[0]
