"""Numbers of cells with their intervals, and what held a cell's throughput. Pure.

What the metrics are: study/metrics.py.

Intervals.
The rounds are the experiment's independent repetitions; requests of one block are not independent,
and the machine drifts from round to round. So whole rounds are drawn with replacement, a block
bootstrap whose blocks are the design's own, and the same rounds for every cell that goes into a
number: what a round did to all arms cancels in their ratio.

A percentile interval from n rounds is too narrow, as if the normal distribution held with a
variance divided by n. The expanded percentile interval takes the quantiles of the replicates
farther out, at Phi(-sqrt(n / (n - 1)) t) with Student's t of n - 1 degrees of freedom
(T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69(4),
2015, section 4.4 of the full text, arXiv:1411.5279); it is the same for a ratio and its inverse.

Limits, by simulation (tests/study/test_study_stats.py): with 8 to 12 rounds 93 to 96 % of the
intervals hold a ratio of throughputs or means, also with a drift common to all arms, requests that
depend on each other, and heavy tails; 94 to 98.5 % hold a ratio of medians, most of them where
rounds differ by factors. Where one block in ten of each arm is slow by half, some 93 % do.

Bottleneck.
Operational analysis (P. J. Denning and J. P. Buzen, "The Operational Analysis of Queueing Network
Models", ACM Computing Surveys 10(3), 1978): by the Utilization Law a resource is busy for its
throughput times what a request demands of it, and the one that is busy all the time holds the
throughput. The resources here are the cores that the arm can use, and those of the machine, which
the service and the generator share; where the latter are all busy, the one
that needs more of them for a request holds it.

Headroom.
JMeter shares the machine with the servers. Where no core was idle, an arm with several processes
may have been held by what JMeter and others used, and an arm of one process not: their ratio is
then one of this machine under this load. By the Utilization Law an arm
that got more cores could serve no more than headroom times its throughput, and in a closed loop
without pauses its response times would be shorter by the same factor (Little's law). An answer has
to hold with and without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import itemgetter
from typing import Literal

import numpy as np
from scipy import special

from tollgate.stats.arrays import Floats
from tollgate.stats.intervals import CONFIDENCE
from tollgate.study.metrics import COARSE_MS, PERCENTILES, Metrics
from tollgate.study.model import METRICS, ArmComparison, Bottleneck, CellData, CellResult, Estimate

#: With fewer rounds the resampled ones are too few different ones for an interval at 95 %.
MIN_BLOCKS = 8
#: The outermost quantile, 0.57 % with 8 rounds, then lies at the 23rd replicate.
RESAMPLES = 4000
#: A core is never seen wholly busy: looks at counters are a few ticks off, and a closed loop has
#: moments without a request.
BUSY = 0.9
#: Of the machine's cores; less than this that is idle is what the kernel leaves between processes.
IDLE = 0.1


def multiplicities(rounds: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """float[resamples, rounds]: how often each resample has each round; every row sums to rounds.

    Equal for equal arguments, so that numbers with the same rounds share their resamples.
    """
    rng = np.random.default_rng(seed)
    return rng.multinomial(rounds, np.full(rounds, 1 / rounds), resamples).astype(np.float64)


def interval(
    replicates: Floats, rounds: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """(low, high), the expanded percentile interval from the replicates of `rounds` rounds, at
    least two. The replicates must be finite."""
    reach = math.sqrt(rounds / (rounds - 1)) * special.stdtrit(rounds - 1, (1 + confidence) / 2)
    share = float(special.ndtr(-reach))
    low, high = np.quantile(replicates, [share, 1 - share])
    return float(low), float(high)


def with_interval(value: float, replicates: Floats, rounds: int) -> Estimate:
    """A value with its interval, or with the reason why it has none.

    value: from all rounds as they were. replicates: float[B] from the resampled ones; they may be
    empty where there are fewer than MIN_BLOCKS rounds.
    """
    if not math.isfinite(value):
        return Estimate(None, note="no estimate: no request was measured, or a divisor is 0")
    if rounds < MIN_BLOCKS:
        were = "round was" if rounds == 1 else "rounds were"
        note = f"no interval: {rounds} {were} measured, {MIN_BLOCKS} are needed"
        return Estimate(float(value), note=note)
    lost = int(np.count_nonzero(~np.isfinite(replicates)))
    if lost:
        note = f"no interval: {lost} of {len(replicates)} resamples hold no request or divide by 0"
        return Estimate(float(value), note=note)
    return Estimate(float(value), *interval(replicates, rounds))


def bottleneck(data: CellData, cores: int, usable_cores: int) -> Bottleneck:
    """Who held the throughput of a cell, and the sentence that says why.

    cores: of the machine. usable_cores: how many the arm could use if it were alone, which is one
    for a single Node process and the workers of a cluster, if the machine has as many cores.
    """
    generator, service, idle = data.mean_cores.values()
    if np.isnan(service):
        return Bottleneck("unknown", f"the CPU was not recorded ({_name(data)})")
    usable = max(1, min(usable_cores, cores))
    used = f"the service, PM2 included, used {service:.2f} of the {_cores(usable)} that it can use"
    headroom = max(1.0, usable / service) if service and idle < IDLE * cores else 1.0
    if service >= BUSY * usable:
        return Bottleneck("service", f"{used}, which is {BUSY:.0%} or more", headroom)
    machine = f"{idle:.2f} of the machine's {_cores(cores)} were idle"
    others = cores - idle - service - generator
    if others >= IDLE * cores:
        machine += f", other processes used {others:.2f}"
    if idle >= IDLE * cores:
        return Bottleneck("neither", f"{used}, and {machine}: requests waited for something else")
    who: Literal["generator", "machine"] = "generator" if generator >= service else "machine"
    reason = f"{used}, and only {machine}; {_demands(data, generator, service)}"
    return Bottleneck(who, reason, headroom)


def _demands(data: CellData, generator: float, service: float) -> str:
    """Demand = utilization / throughput, in ms of CPU a request."""
    requests = data.counts.sum()
    if not requests:
        return f"JMeter used {generator:.2f} cores, and no request ended"
    ms = 1000 * data.window_s.sum() / requests
    each = f"{generator * ms:.3g} ms of JMeter's CPU and {service * ms:.3g} ms of the service's"
    return f"a request took {each}"


def _cores(count: int) -> str:
    return "one core" if count == 1 else f"{count} cores"


def _name(data: CellData) -> str:
    cell = data.cell
    return f"{cell.experiment}, {cell.arm}, {cell.users} users"


def widest(
    quantity: Callable[..., Floats],
    cells: Sequence[CellData],
    headrooms: Sequence[float],
    usual: Estimate,
    seed: int,
) -> Estimate:
    """`usual`, an estimate of the quantity of these cells, with an interval as wide as it gets when
    any one of the cells uses its headroom."""
    ends = [usual]
    for place, headroom in enumerate(headrooms):
        if headroom > 1:
            faster = _faster(cells[place], headroom)
            ends.append(estimate(quantity, [*cells[:place], faster, *cells[place + 1 :]], seed))
    lows = [it.low for it in ends if it.low is not None]
    highs = [it.high for it in ends if it.high is not None]
    return Estimate(usual.value, min(lows, default=None), max(highs, default=None), usual.note)


def _faster(data: CellData, factor: float) -> CellData:
    """The cell if all of it had taken so much less time. Exact for throughput, mean and block_max,
    which whole milliseconds do not round."""
    return replace(data, window_s=data.window_s / factor, values_ms=data.values_ms / factor)


def estimate(function: Callable[..., Floats], cells: Sequence[CellData], seed: int) -> Estimate:
    """A number that is computed from the metrics of cells, with its 95 % interval.

    function(*metrics) gets for each cell a mapping of METRICS to float[B] and returns float[B], one
    number for each of B choices of rounds; it is called with B = 1 for all rounds as they were, and
    with B = RESAMPLES. Only rounds that all of the cells have count, so that pairs stay pairs.
    Fewer than MIN_BLOCKS of these give a value without an interval, none gives no value; the note
    says so.
    """
    return estimates({"": function}, cells, seed)[""]


def estimates(
    functions: dict[str, Callable[..., Floats]], cells: Sequence[CellData], seed: int
) -> dict[str, Estimate]:
    """The same for several numbers of the same cells, from the same resamples."""
    # Ascending, those in which each of the cells was measured.
    rounds = reduce(np.intersect1d, (data.rounds for data in cells))
    if not len(rounds):
        of_all = " of all the cells" if len(cells) > 1 else ""
        note = f"no estimate: no round was measured{of_all}"
        return dict.fromkeys(functions, Estimate(None, note=note))
    # Too few rounds have no interval that would be worth the work.
    resamples = RESAMPLES if len(rounds) >= MIN_BLOCKS else 0
    once = [Metrics(data, rounds, np.ones((1, len(rounds)))) for data in cells]
    times = multiplicities(len(rounds), seed, resamples)
    resampled = [Metrics(data, rounds, times) for data in cells]
    by_name = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, function in functions.items():
            again = function(*resampled) if resamples else np.empty(0)
            by_name[name] = with_interval(float(function(*once)[0]), again, len(rounds))
    return by_name


def compare(arm: CellData, baseline: CellData, seed: int) -> ArmComparison:
    """arm / baseline for all METRICS, of cells of the same experiment and number of users."""
    ratios = {name: _ratio(name) for name in METRICS}
    by_metric = _resolved(estimates(ratios, [arm, baseline], seed), [arm, baseline])
    experiment, name, users = arm.cell.key
    return ArmComparison(experiment, users, name, baseline.cell.arm, by_metric)


def cell_result(data: CellData, cores: int, usable_cores: int, seed: int) -> CellResult:
    """The figures of a cell. cores, usable_cores: see `bottleneck`."""
    metrics = estimates({name: itemgetter(name) for name in METRICS}, [data], seed)
    return CellResult(
        cell=data.cell,
        blocks=len(data.rounds),
        requests=int(data.counts.sum()),
        failed=int(data.failed.sum()),
        metrics={**_resolved(metrics, [data]), "max": _max(data)},
        workers=data.workers,
        cpu={name: None if np.isnan(it) else it for name, it in data.mean_cores.items()},
        bottleneck=bottleneck(data, cores, usable_cores),
        left_out=data.left_out,
        busiest=float(data.busiest.mean()) if len(data.busiest) else None,
    )


def _max(data: CellData) -> Estimate:
    slowest = data.values_ms[data.counts.any(axis=0)]
    note = "the slowest of all requests has no interval"
    return Estimate(float(slowest.max()) if len(slowest) else None, note=note)


def _resolved(estimates: dict[str, Estimate], cells: Sequence[CellData]) -> dict[str, Estimate]:
    """Without the percentiles for which JMeter's milliseconds are too coarse, and without the
    intervals of those for which there are too few requests."""
    all_rounds = [Metrics(it, it.rounds, np.ones((1, len(it.rounds)))) for it in cells]
    for name in PERCENTILES:
        if any(it[name] < COARSE_MS for it in all_rounds):
            note = f"below {COARSE_MS:g} ms, for which JMeter's whole milliseconds are too coarse"
            estimates[name] = Estimate(None, note=note)
            continue
        requests = min(int(it.counts.sum()) for it in cells)
        # With fewer independent requests the largest of them lies below the percentile in more than
        # 2.5 of 100 tries, so that there is no upper end of 95 %.
        needed = math.ceil(math.log(0.025) / math.log(int(name.removeprefix("p")) / 100))
        if estimates[name].low is not None and requests < needed:
            note = f"no interval: {requests} requests, and a {name} needs {needed}"
            estimates[name] = Estimate(estimates[name].value, note=note)
    return estimates


def _ratio(name: str) -> Callable[[Metrics, Metrics], Floats]:
    return lambda arm, baseline: arm[name] / baseline[name]
