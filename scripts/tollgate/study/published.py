"""What was published about one process against several in Node: a row for each claim, as data.

Core counts differ, so directions and ratios are compared, never absolute times. What a row is made
of, and why its rule has a gap: study/rules.py.
"""

from __future__ import annotations

import math

from tollgate.study.rules import (
    DELTA,
    FEW,
    KITTENS_USERS,
    LESS,
    MANY,
    MORE,
    Published,
    Rule,
    elasticity,
    in_flight,
    per_worker,
    percent_lost,
    ratio,
)

CLAIMS = (
    Published(
        id="calculate-1-user",
        system="calculate",
        claim="at 1 user a cluster only adds overhead",
        published="one process faster than 8 workers, without figures",
        what="mean response time, cluster / fork, 1 user",
        unit="",
        cells=(("calculate", "cluster", 1), ("calculate", "fork", 1)),
        quantity=ratio("mean"),
        rule=MORE,
    ),
    Published(
        id="calculate-50-users",
        system="calculate",
        claim="the cluster wins under concurrency, each request logged",
        published="1,180 / 1,110 TPS = 1.06 (8 workers)",
        what="throughput with logging, cluster / fork, 50 users",
        unit="",
        cells=(
            ("calculate", "cluster with logging", 50),
            ("calculate", "fork with logging", 50),
        ),
        quantity=ratio("throughput"),
        rule=MORE,
    ),
    Published(
        id="calculate-logging",
        system="calculate",
        claim="logging each request costs about 17 % of throughput",
        published="1,180 instead of 1,420 TPS: 17 % (8 workers)",
        what="throughput that logging costs the cluster, 50 users",
        unit="%",
        cells=(("calculate", "cluster with logging", 50), ("calculate", "cluster", 50)),
        quantity=percent_lost,
        # "About": from half to double of it. The gap is DELTA of throughput on either side.
        rule=Rule(8.5, 34, 8.5 - 100 * DELTA, 34 + 100 * DELTA),
        context=lambda _: "about 17 % is taken as half to double of it",
    ),
    Published(
        id="calculate-users",
        system="calculate",
        claim="one process slows in step with its users",
        published="0.2 ms at a few users, 2.2 ms at 20",
        what="growth of response time with users, 1 is in step; fork, 5 to 20 users",
        unit="",
        cells=(("calculate", "fork", FEW), ("calculate", "fork", MANY)),
        quantity=elasticity,
        # 1 is in step, 0 not at all: the half that it is nearer to.
        rule=Rule(0.5, math.inf, 0.4, math.inf),
        cores=1,
        context=lambda _: "1 is in step with the users, 0 not at all",
    ),
    Published(
        id="sum-throughput",
        system="sum",
        claim="a cluster has more throughput for CPU-bound work",
        published="+80 %: 1,426 / 788 req/s = 1.81 (4 cores)",
        what="throughput, cluster / fork, 100 users",
        unit="",
        cells=(("sum", "cluster", 100), ("sum", "fork", 100)),
        quantity=ratio("throughput"),
        rule=MORE,
    ),
    Published(
        id="search-children",
        system="search",
        claim="child processes lose when the work waits on the network",
        published="18 / 34 req/s = 0.53",
        what="throughput, child per search / in-process, 10 users",
        unit="",
        cells=(("search", "child per search", 10), ("search", "in-process", 10)),
        quantity=ratio("throughput"),
        rule=LESS,
        cores=1,
    ),
    Published(
        id="kittens-baseline",
        system="kittens",
        claim="the baseline: one user gets as many answers as fit into the time",
        published="32.75 req/s x 30.5 ms = 0.999",
        what="throughput x mean response time, fork, 1 user",
        unit="",
        cells=(("kittens", "fork", 1),),
        quantity=in_flight,
        rule=Rule(0.9, 1.1, 0.9 - DELTA, 1.1 + DELTA),
        cores=1,
        context=lambda _: (
            "a check of the measurement: Little's law makes it 1 for one user who never pauses"
        ),
    ),
    Published(
        id="kittens-scaling",
        system="kittens",
        claim="CPU-bound work scales with the workers",
        published="concurrency performance 9 with 8 workers = 1.13 for each",
        what="concurrency performance of cluster for each worker, 10 users",
        unit="",
        cells=(("kittens", "fork", 1), ("kittens", "cluster", KITTENS_USERS)),
        quantity=per_worker,
        # 1 is all that each worker can give; JMeter and the system take their part of the cores.
        rule=Rule(0.75, math.inf, 0.65, math.inf),
        context=lambda machine: (
            f"1 is all that each of {machine.workers} workers on {machine.cores} cores can give"
        ),
        performances=("cluster", "fork"),
    ),
    Published(
        id="pi-slowest",
        system="pi",
        claim="three servers cut the slowest answer",
        published="to a third: nearly 3 s to under 1 s, about 0.33",
        what="slowest of a block of 10 users x 5 requests, three servers / one server",
        unit="",
        cells=(("pi", "three servers", 10), ("pi", "one server", 10)),
        quantity=ratio("block_max"),
        rule=LESS,
        context=lambda machine: (
            f"a third was published; {machine.cores} cores allow "
            f"{1 / min(3, machine.cores):.2f} at best"
        ),
    ),
)
