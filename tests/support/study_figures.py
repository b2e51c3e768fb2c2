"""The tables behind tests/studies.py: arms with their laws, users, baselines and claims."""

from __future__ import annotations

#: lambda (1/s), sigma and kappa of each arm, its app, and its workers with their shares.
ONE = {"0": 1.0}
TWO = {"0": 0.52, "1": 0.48}
ARMS: dict[str, dict[str, tuple]] = {
    "calculate": {
        "fork": (1900.0, 0.85, 0.0008, "fork", ONE),
        "cluster": (1700.0, 0.42, 0.0006, "cluster", TWO),
        "fork with logging": (1500.0, 0.86, 0.0008, "fork-logging", ONE),
        "cluster with logging": (1400.0, 0.45, 0.0006, "cluster-logging", TWO),
    },
    "sum": {
        "fork": (790.0, 0.99, 0.00001, "fork", ONE),
        "cluster": (780.0, 0.51, 0.00001, "cluster", TWO),
    },
    "search": {
        "in-process": (17.0, 0.02, 0.0001, "fork", ONE),
        "child per search": (6.0, 0.25, 0.01, "search-per-search", ONE),
        "child per carrier": (16.0, 0.05, 0.0001, "search-per-carrier", ONE),
    },
    "kittens": {
        "fork": (32.8, 0.995, 0.0, "fork", ONE),
        "cluster": (32.6, 0.46, 0.0, "cluster", TWO),
    },
    "pi": {
        "one server": (3.9, 0.98, 0.0, "fork", ONE),
        "three servers": (
            *(3.9, 0.5, 0.0, "balancer"),
            {"pi-1/0": 0.34, "pi-2/0": 0.33, "pi-3/0": 0.33},
        ),
    },
}
USERS = {
    "calculate": (1, 2, 5, 10, 20, 50),
    "sum": (1, 5, 20, 50, 100),
    "search": (1, 2, 5, 10),
    "kittens": (1, 2, 3, 5, 10),
    "pi": (1, 3, 10),
}
#: Which arm is set against which, as in study/scaling.py.
PAIRS = (
    ("cluster", "fork"),
    ("cluster with logging", "fork with logging"),
    ("fork with logging", "fork"),
    ("cluster with logging", "cluster"),
    ("child per search", "in-process"),
    ("child per carrier", "in-process"),
    ("child per carrier", "child per search"),
    ("three servers", "one server"),
)
#: Arms that are not measured at all of their experiment's numbers of users.
USERS_OF_ARM = {"fork with logging": (1, 50), "cluster with logging": (1, 50)}
#: Percentiles and the rest over the mean.
SHAPE = {"mean": 1.0, "p50": 0.97, "p90": 1.1, "p95": 1.2, "p99": 1.5, "block_max": 1.8, "max": 2.1}

#: id, system, claim, published figure, what is measured, its value here and unit, the answer.
CLAIMS = (
    (
        *("calculate-1-user", "calculate", "at 1 user a cluster only adds overhead"),
        *("faster with one process (8 workers)", "mean response time, cluster / fork, 1 user"),
        *(1.03, "ratio", "cannot tell"),
    ),
    (
        *("calculate-50-users", "calculate", "the cluster wins under concurrency"),
        *(
            "1,180 against 1,110 TPS (8 workers)",
            "throughput, cluster / fork, both logging, 50 users",
        ),
        *(1.79, "ratio", "agrees"),
    ),
    (
        *("calculate-logging", "calculate", "logging costs about 17 % of throughput"),
        *("1,420 against 1,180 TPS", "throughput lost to logging, cluster, 50 users"),
        *(6.1, "%", "disagrees"),
    ),
    (
        *("calculate-users", "calculate", "one process slows in step with its users"),
        *("0.2 ms, then 2.2 ms at 20 users", "growth of response time with users, 1 is in step"),
        *(0.93, "", "agrees"),
    ),
    (
        *("sum-throughput", "sum", "+80 % throughput for CPU-bound work"),
        *("1,426 against 788 req/s: 1.81 (4 cores)", "throughput, cluster / fork, 100 users"),
        *(1.86, "ratio", "agrees"),
    ),
    (
        *("search-children", "search", "child processes lose when the work waits on the network"),
        *("18 against 34 req/s: 0.53", "throughput, child per search / in-process, 10 users"),
        *(0.41, "ratio", "agrees"),
    ),
    (
        *("kittens-baseline", "kittens", "baseline"),
        *("32.75 req/s x 30.5 ms = 0.999", "throughput x mean response time, 1 user"),
        *(0.998, "", "agrees"),
    ),
    (
        *("kittens-scaling", "kittens", "CPU-bound work scales with the workers"),
        *("9 (8 workers)", "concurrency performance of cluster / workers, 10 users"),
        *(0.97, "ratio", "agrees"),
    ),
    (
        *("pi-slowest", "pi", "three servers cut the slowest answer to a third"),
        *("nearly 3 s to under 1 s", "slowest answer, three servers / one, 10 users"),
        *(0.52, "ratio", "agrees"),
    ),
)
