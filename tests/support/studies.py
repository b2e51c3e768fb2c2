"""A study of known truth, with every experiment, arm and number of users of data/study.csv.

Its throughputs follow `law` exactly; every interval is as wide as SPREAD on
either side. Nothing in it is measured.
"""

from dataclasses import replace

from support.cell_data import cell_of
from tollgate.study import published
from tollgate.study.model import (
    CROSSCHECK,
    DESCRIBED,
    METRICS,
    ArmComparison,
    Bottleneck,
    CellResult,
    Check,
    Claim,
    Curve,
    Estimate,
    ScalingPoint,
    StudyResult,
)
from tollgate.study.scaling import PAIRS

#: lambda (1/s), sigma and kappa of each arm, its app, and its workers with their shares.
ONE = {"0": 1.0}
TWO = {"0": 0.52, "1": 0.48}
THREE = {"pi-1/0": 0.34, "pi-2/0": 0.33, "pi-3/0": 0.33}
ARMS = {
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
        "three servers": (3.9, 0.5, 0.0, "balancer", THREE),
    },
}
USERS = {
    "calculate": (1, 2, 5, 10, 20, 50),
    "sum": (1, 5, 20, 50, 100),
    "search": (1, 2, 5, 10),
    "kittens": (1, 2, 3, 5, 10),
    "pi": (1, 3, 10),
}
#: Arms that are not measured at all of their experiment's numbers of users.
USERS_OF_ARM = {"fork with logging": (1, 50), "cluster with logging": (1, 50)}
#: Percentiles and the rest over the mean.
SHAPE = {"mean": 1.0, "p50": 0.97, "p90": 1.1, "p95": 1.2, "p99": 1.5, "block_max": 1.8, "max": 2.1}

#: id, system, claim, published figure, what is measured, its value here and unit, the answer.
#: What is measured of each claim, and the answer.
CLAIMS = {
    "calculate-1-user": (1.03, "cannot tell"),
    "calculate-50-users": (1.79, "agrees"),
    "calculate-logging": (6.1, "disagrees"),
    "calculate-users": (0.93, "agrees"),
    "sum-throughput": (1.86, "agrees"),
    "search-children": (0.41, "agrees"),
    "kittens-baseline": (0.998, "agrees"),
    "kittens-scaling": (0.97, "agrees"),
    "pi-slowest": (0.52, "agrees"),
}

SEED, CORES, ROUNDS = 21, 2, 10
SPREAD = 0.04


def around(value, spread=SPREAD, note=""):
    """An estimate with an interval of the same width on either side, as a share of the value."""
    return Estimate(value, value * (1 - spread), value * (1 + spread), note)


def law(experiment, arm, users):
    """The arm's throughput in 1/s, by a model of contention and coherency."""
    one, contention, coherency = ARMS[experiment][arm][:3]
    return one * users / (1 + contention * (users - 1) + coherency * users * (users - 1))


def users_of(experiment, *arms):
    """The numbers of users that all of these arms are measured at."""
    every = USERS[experiment]
    return [each for each in every if all(each in USERS_OF_ARM.get(arm, every) for arm in arms)]


def cell(experiment, arm, users, **changes):
    """A row of the design; a pi block is so many answers a user, all the others take a second."""
    app = ARMS.get(experiment, {}).get(arm, (0, 0, 0, "fork"))[3]
    pi = {"seconds": 60, "lead_s": 0.0, "each": 5} if experiment == "pi" else {"seconds": 1}
    return cell_of(experiment, arm, users, **{"app": app, "path": f"/{experiment}"} | pi | changes)


def values(throughput, users):
    """The metrics of a closed loop without think time: Little's law gives the mean."""
    mean = 1000 * users / throughput
    return {"throughput": throughput} | {name: mean * SHAPE[name] for name in SHAPE}


def result(cell, throughput, workers, **changes):
    """What was measured of a cell that had this throughput."""
    told = values(throughput, cell.users)
    requests = round(cell.users * cell.each or throughput * 0.75) * ROUNDS
    made = CellResult(
        cell=cell,
        blocks=ROUNDS,
        requests=requests,
        failed=0,
        metrics={name: around(told[name]) for name in DESCRIBED},
        workers={name: round(requests * share) for name, share in workers.items()},
        cpu={"generator": 0.4, "service": 1.0, "idle": 0.6},
        bottleneck=Bottleneck("service", "its processes took 1.00 of the 1 core they can use"),
        busiest=max(workers.values()),
    )
    return replace(made, **changes)


def cells():
    """All cells, those of the cross-check last."""
    for experiment, arms in ARMS.items():
        for arm, (*_, workers) in arms.items():
            for users in users_of(experiment, arm):
                made = cell(experiment, arm, users)
                yield result(made, law(experiment, arm, users), workers)
    made = cell(CROSSCHECK, "jmeter", 100, path="/sum/500000", seconds=3, lead_s=0.5)
    yield result(made, 790.0, ONE)


def comparisons():
    """Every arm against its baseline, at every number of users."""
    for experiment, arms in ARMS.items():
        for arm, base in (pair for pair in PAIRS if arms.keys() >= set(pair)):
            for users in users_of(experiment, arm, base):
                up = values(law(experiment, arm, users), users)
                down = values(law(experiment, base, users), users)
                ratios = {name: around(up[name] / down[name]) for name in METRICS}
                yield ArmComparison(experiment, users, arm, base, ratios)


def curves():
    """Every arm's scaling."""
    for experiment, arms in ARMS.items():
        baseline = 1 / law(experiment, next(iter(arms)), 1)
        for arm in arms:
            points = tuple(
                ScalingPoint(users, around(value), around(baseline * value))
                for users in users_of(experiment, arm)
                for value in [law(experiment, arm, users)]
            )
            yield Curve(experiment, arm, points)


def claims():
    """One of each row of the published figures, with each of the three answers among them."""
    for row in published.CLAIMS:
        value, answer = CLAIMS[row.id]
        reason = f"the interval {value * 0.96:.3g} to {value * 1.04:.3g} says so"
        yield Claim(row, around(value), answer, reason)


def checks():
    """Three other generators, as runs made before have them, one of each agreement."""
    agrees = {"throughput": around(1.01), "p50": around(0.99)}
    differs = {"throughput": around(0.71), "p50": around(1.38)}
    unknown = {name: Estimate(None, note="ab is not installed") for name in agrees}
    return (
        Check("autocannon", "8.0.0", agrees, "agrees", "both within 10 % of JMeter's"),
        Check("loadtest", "8.2.1", differs, "disagrees", "it took 0.9 cores, JMeter 0.4"),
        Check("ab", "", unknown, "cannot tell", "ab is not installed"),
    )


OUTAGE = {
    **{"app": "pi-2", "worker": "0", "pid": 4711, "lost": 0, "experiment": "pi"},
    **{"from_s": 431.2, "to_s": 432.9},
}


def study(**changes):
    """Everything, with one outage and one note."""
    made = StudyResult(
        seed=SEED,
        cores=CORES,
        cells=tuple(cells()),
        comparisons=tuple(comparisons()),
        curves=tuple(curves()),
        claims=tuple(claims()),
        checks=checks(),
        outages=(OUTAGE,),
        notes=(
            "autocannon is not installed, so that crosscheck is left out: run `tollgate install`",
        ),
    )
    return replace(made, **changes)
