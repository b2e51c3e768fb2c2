"""What the looks of a default run decide, on a machine that a queue stands for.

    scripts/dev/bench interim [--runs N] [--attempts N] [--pi MS] [--kittens MS] [--only REGEX]

Requests come by the timers of plans/check.jmx, with other seeds in each run, and wait in line for
the one process of fork mode, or by turns for those of cluster mode. Each takes its time of the
machine, slower or faster for some seconds as a shared one is. The criteria are those of taurus.yml,
and the looks are judged by the code that judges a run. Every row judges the same runs. At the
limit: each limit is the true mean, over days of the same queue, so that each FAIL is a false
positive. Of one criterion of fork mode: its true mean is at its limit, or so many percent above, so
that each PASS is a miss. Attempts: what is INCONCLUSIVE is measured and judged anew, and each run
has its part of the error, as docs/policy.md says; --whole gives each run the whole error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import yaml

from benchmarks.common import remembering, responses, table
from tollgate.base.paths import SUITE
from tollgate.criteria.grammar import Criterion, parse_all
from tollgate.judge.facts import InterimHistory, JudgeSettings, LabelData, MeasuredExecution
from tollgate.judge.judgement import results_of
from tollgate.judge.levels import estimates
from tollgate.judge.verdicts import INCONCLUSIVE, worst
from tollgate.judge.when_decided import is_settled, noted
from tollgate.plan.arrivals import PreciseThroughput
from tollgate.plan.read import read_plan
from tollgate.record.interim_schedule import LEAST_S, InterimSchedule
from tollgate.schedule.schedule import schedules_of
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: Seconds of the warm-up, which are not judged.
WARMUP_S = 5
#: Milliseconds of the process that an answer takes, besides those that the arguments say, and those
#: that it takes without keeping the process busy.
OWN_MS, ASIDE_MS = {"calculate": 1.5, "sum": 2.0, "search": 9.0}, {"search": 45.0}
#: How much slower or faster the machine is in a second, and how that of the next is like it.
NOISE, LIKE = 0.2, 0.9
HOUR_S = 3600
#: Seconds of measuring at most, and processes by execution.
BUDGET_S, PROCESSES = 240.0, {"fork": 1, "cluster": 2}
#: The criteria of fork mode whose true mean is at the limit or above, and by how many percent.
NEAR = ("avg-lt of search", "avg-rt of pi", "avg-lt of sum", "avg-lt of calculate")
ABOVE = (0, 5, 10, 20, 40)


@dataclass(frozen=True)
class Machine:
    """own_ms: of a process by label. timers: by label."""

    own_ms: Mapping[str, float]
    timers: Mapping[str, PreciseThroughput]


def timers() -> dict[str, PreciseThroughput]:
    """The timer of each label of the plan."""
    plan = read_plan(SUITE / "plans" / "check.jmx", {})
    return {
        label.text: schedule.replay
        for _, schedule in schedules_of(plan)[1]
        for label in schedule.labels
    }


def sent(machine: Machine, processes: int, length_s: int, random) -> dict[str, tuple]:
    """By label when its requests came, in seconds, and how long their answers took, in ms."""
    labels = list(machine.timers)
    at = []
    for timer in machine.timers.values():
        drawn = replace(timer, seed=int(random.integers(1, 2**31)), duration_s=length_s)
        at.append(drawn.arrivals(float(length_s)))
    label = np.repeat(np.arange(len(labels)), [len(each) for each in at])
    order = np.argsort(np.concatenate(at))
    at_s, label = np.concatenate(at)[order], label[order]
    own = np.array([machine.own_ms[it] for it in labels])[label]
    speed = np.exp(NOISE * remembering(random, length_s + 1, LIKE) - NOISE**2 / 2)
    own_ms = own * random.gamma(16, 1 / 16, len(own)) * speed[at_s.astype(int)]
    aside = np.array([ASIDE_MS.get(it, 0.0) for it in labels])[label]
    took = np.empty(len(at_s))
    for process in range(processes):
        mine = slice(process, None, processes)
        took[mine] = responses(at_s[mine] * 1000, own_ms[mine]) + aside[mine]
    return {it: (at_s[label == i], took[label == i]) for i, it in enumerate(labels)}


def label_data(name: str, at_s: np.ndarray, took_ms: np.ndarray) -> LabelData:
    second, elapsed = at_s.astype(np.int64), np.rint(took_ms).astype(np.int64)
    counts = Counts.of(second, elapsed, np.ones(len(second), bool))
    n = counts.sum_by_second().astype(np.int64)
    sums = counts.sum_by_second(counts.elapsed_ms).astype(np.int64)
    totals = Totals(counts.seconds, n, sums, n * 0, n, n)
    return LabelData(name, counts, counts, totals)


def measured(
    name: str, machine: Machine, criteria: tuple[Criterion, ...], looks: InterimSchedule, random
) -> MeasuredExecution:
    """All that an execution would measure if it went on to the end of its budget."""
    length_s = WARMUP_S + int(looks.budget_s)
    found = sent(machine, PROCESSES[name], length_s, random)
    labels = {(it, False): label_data(it, *times) for it, times in found.items()}
    return MeasuredExecution(name, labels, criteria, float(WARMUP_S), looks.budget_s)


def decided(
    whole: MeasuredExecution,
    looks: InterimSchedule,
    settings: JudgeSettings,
    family: int,
    near: Criterion | None = None,
) -> tuple[float, str]:
    """At which look they end it, and its verdict. near: the one criterion whose limit is near; the
    others hold, and are judged only where it is decided."""
    course = InterimHistory(looks.least_s, looks.budget_s)
    for at_s in looks.moments:
        course = course.at(at_s)
        here = replace(whole, measured_s=at_s, course=course)
        if near:
            ((found,),) = results_of([replace(here, criteria=(near,))], settings, family)
            if found.verdict == INCONCLUSIVE:
                continue
        (results,) = results_of([here], settings, family)
        if is_settled(whole.criteria, results, course):
            return at_s, worst(it.verdict for it in results if it.decides)
        course = noted(course, results)
    return looks.budget_s, INCONCLUSIVE


def true_means(machine: Machine, processes: int, count: int, random) -> dict[str, float]:
    hours = [sent(machine, processes, HOUR_S, random) for _ in range(count)]
    return {
        label: float(np.concatenate([np.rint(each[label][1]) for each in hours]).mean())
        for label in machine.timers
    }


def at_limit(
    criteria: tuple[Criterion, ...], means: Mapping[str, float], which: str, above: float = 0.0
) -> tuple[Criterion, ...]:
    """The criteria with limits that the true means are `above` percent over, of all estimates or of
    one."""
    return tuple(
        replace(each, threshold=means[each.label] / (1 + above / 100))
        if each.is_estimate and which in ("", each.text.split(">")[0])
        else each
        for each in criteria
    )


@dataclass
class Row:
    """What runs are judged by, and what came of it. criteria: of each execution. near: as of
    `decided`, in fork mode. seconds: of measuring, of each run's executions."""

    name: str
    criteria: Mapping[str, tuple[Criterion, ...]]
    near: Criterion | None = None
    verdicts: list[str] = field(default_factory=list)
    seconds: list[tuple[float, ...]] = field(default_factory=list)

    def judge(
        self,
        run: Mapping[str, MeasuredExecution],
        looks: InterimSchedule,
        settings: JudgeSettings,
        known: dict,
    ) -> None:
        """Judge one more run. known: what other rows found of its executions."""
        family = estimates(list(self.criteria.values()))
        found = []
        for name, criteria in self.criteria.items():
            if (name, criteria) not in known:
                near = self.near if name == "fork" else None
                whole = replace(run[name], criteria=criteria)
                known[name, criteria] = decided(whole, looks, settings, family, near)
            found.append(known[name, criteria])
        ends, verdicts = zip(*found, strict=True)
        self.verdicts.append(worst(verdicts))
        self.seconds.append(ends)

    def cells(self) -> list[str]:
        found = [self.verdicts.count(it) for it in ("PASS", "FAIL", INCONCLUSIVE)]
        found.append(sum(max(it) <= LEAST_S for it in self.seconds))
        shares = (f"{100 * it / len(self.verdicts):.1f} %" for it in found)
        return [self.name, *shares, f"{np.mean(self.seconds):.0f} s"]


def rows(
    criteria: tuple[Criterion, ...], means: Mapping[str, Mapping[str, float]]
) -> Iterator[Row]:
    both = dict.fromkeys(means, criteria)
    yield Row("as it is", both)
    limits = {name: at_limit(criteria, found, "") for name, found in means.items()}
    yield Row("every estimate at its limit", limits)
    for which in NEAR:
        for above in ABOVE:
            one = at_limit(criteria, means["fork"], which, above)
            (near,) = (it for it in one if it.text.split(">")[0] == which)
            where = f"{above} % above its limit" if above else "at its limit"
            yield Row(f"{which} {where}", {**both, "fork": one}, near)


def simulated(arguments: argparse.Namespace) -> list[Row]:
    """All rows of so many runs."""
    random = np.random.default_rng(arguments.seed)
    reporting = yaml.safe_load((SUITE / "taurus.yml").read_text())["~reporting"]
    criteria = parse_all(next(it["criteria"] for it in reporting if "criteria" in it))
    machine = Machine({**OWN_MS, "kittens": arguments.kittens, "pi": arguments.pi}, timers())
    means = {
        name: true_means(machine, it, arguments.hours, random) for name, it in PROCESSES.items()
    }
    for name, found in means.items():
        shown = ", ".join(f"{label} {value:.0f}" for label, value in found.items())
        print(f"{name}: true means in ms: {shown}", file=sys.stderr)
    looks = InterimSchedule.of(LEAST_S, BUDGET_S).with_lag(criteria)
    made = [it for it in rows(criteria, means) if re.search(arguments.only, it.name)]
    parts = 1 if arguments.whole else arguments.attempts
    settings = JudgeSettings(confidence=1 - (1 - JudgeSettings.confidence) / parts)
    for _ in range(arguments.runs):
        left = made
        for attempt in range(arguments.attempts):
            whole = {it: measured(it, machine, criteria, looks, random) for it in PROCESSES}
            known: dict = {}
            for row in left:
                if attempt:
                    del row.verdicts[-1], row.seconds[-1]
                row.judge(whole, looks, settings, known)
            left = [it for it in left if it.verdicts[-1] == INCONCLUSIVE]
    return made


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--attempts", type=int, default=1, help="runs until one is decided")
    parser.add_argument("--whole", action="store_true", help="each with the whole error")
    parser.add_argument("--pi", type=float, default=500.0, help="ms of one core")
    parser.add_argument("--kittens", type=float, default=70.0, help="ms of one core")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hours", type=int, default=100, help="of which true means are taken")
    parser.add_argument("--only", default="", help="rows, a regular expression")
    return parser.parse_args(given)


def main() -> None:
    arguments = parse()
    heads = ("limits", "PASS", "FAIL", "INCONCLUSIVE", "at the first look", "mean measuring")
    print(table(heads, (row.cells() for row in simulated(arguments))))


if __name__ == "__main__":
    main()
