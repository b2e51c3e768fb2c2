"""The plan that compares, run by JMeter alone against two servers: where its arrivals go."""

from __future__ import annotations

import itertools
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import support
from support.jmeter_run import Run, node_server
from tollgate.compare.samples import BASE, HEAD, read
from tollgate.plan.arrivals import INCREMENT, MULTIPLIER, STATE_BITS
from tollgate.plan.read import read_plan
from tollgate.samples.counts import read_jtl
from tollgate.schedule.replay import replay_jtl
from tollgate.stats.bins import Bins

# Small sums at half of the usual rates: a machine that is busy with other tests must keep up.
WARMUP_S, MEASURED_S, RATE = 1, 4, 30
SEED = 7
PROPERTIES = {
    "warmup": WARMUP_S,
    "measured": MEASURED_S,
    "sum_rate": RATE,
    "search_rate": RATE,
    "coin_seed": SEED,
    "response_timeout": 20_000,
    "sample_variables": "TESTSTART.MS,coin",
    "jmeterengine.force.system.exit": "true",
}
#: The plan sends a second longer than it measures.
ARRIVALS = RATE * (WARMUP_S + MEASURED_S + 1)
#: Of a fair coin.
DEVIATIONS = 5


@dataclass
class Compared:
    """A run of the plan, and one of the same seed whose arrivals at `sum` go on to `calculate`.
    ports: of base and head."""

    plan: Path
    ports: dict[str, int]
    run: Run
    longer: Run
    jtl: Path


def with_longer_arrivals(folder: Path) -> Path:
    """A copy of the plan whose arrivals at `sum` have a second sample."""
    for name in ("plans", "data"):
        shutil.copytree(support.ROOT / name, folder / name)
    plan = folder / "plans" / "compare.jmx"
    before, path, after = plan.read_text().partition("fragments/sum.jmx")
    begin = before.rindex("<IncludeController")
    rest, empty, after = after.partition("<hashTree/>")
    elements = [before[begin:] + each + rest + empty for each in (path, "fragments/calculate.jmx")]
    plan.write_text(before[:begin] + "".join(elements) + after)
    return plan


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    plan = support.PLANS / "compare.jmx"
    first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    with node_server() as base, node_server() as head:
        properties = PROPERTIES | {"base_port": base, "head_port": head}
        run = Run(plan, cwd=first, out=first, **properties)
        longer = Run(with_longer_arrivals(second), cwd=second, out=second, **properties)
    return Compared(plan, {BASE: base, HEAD: head}, run, longer, first / "out.jtl")


def coins(run: Run, label: str) -> list[str]:
    """In the order of the arrivals."""
    mine = [sample for sample in run.samples if sample["label"] == label]
    return [it["coin"] for it in sorted(mine, key=lambda it: int(it["threadName"].split("-")[-1]))]


def test_each_arrival_goes_where_its_coin_says(compared: Compared) -> None:
    seen = Counter((it["coin"], it["URL"].split("/")[2]) for it in compared.run.samples)
    assert set(seen) == {(coin, f"127.0.0.1:{port}") for coin, port in compared.ports.items()}
    assert compared.run.that(success="false") == []


@pytest.mark.parametrize("label", ["sum", "search"])
def test_the_coin_is_fair_and_tossed_anew_for_each_arrival(compared: Compared, label: str) -> None:
    tossed = coins(compared.run, label)
    assert len(tossed) == ARRIVALS
    turns = [one != other for one, other in itertools.pairwise(tossed)]
    for hits, size in ((tossed.count(HEAD), ARRIVALS), (sum(turns), ARRIVALS - 1)):
        assert abs(hits - size / 2) < DEVIATIONS * math.sqrt(size / 4)


def test_all_samples_of_an_arrival_go_to_the_same_side(compared: Compared) -> None:
    arrivals: dict[str, list[str]] = defaultdict(list)
    for sample in compared.longer.samples:
        if sample["label"] in ("sum", "calculate"):
            arrivals[sample["threadName"]].append(sample["coin"])
    assert len(arrivals) == ARRIVALS
    # The end breaks off arrivals that a busy machine has not got through.
    assert sum(len(of) == 2 for of in arrivals.values()) > ARRIVALS / 2
    assert all(len(set(of)) == 1 for of in arrivals.values())


def test_tosses_are_those_of_the_seed(compared: Compared) -> None:
    # As many heads, not each one: arrivals of the same moment may swap theirs.
    heads = sum(java_tosses(SEED, 2 * ARRIVALS))
    for run in (compared.run, compared.longer):
        tossed = [coin for label in ("sum", "search") for coin in coins(run, label)]
        broken_off = 2 * ARRIVALS - len(tossed)
        assert 0 <= heads - tossed.count(HEAD) <= broken_off < ARRIVALS / 2


def java_tosses(seed: int, count: int) -> Iterator[int]:
    """What nextInt(2) of java.util.Random draws."""
    state = seed ^ MULTIPLIER
    for _ in range(count):
        state = (state * MULTIPLIER + INCREMENT) % (1 << STATE_BITS)
        yield state >> (STATE_BITS - 1)


def test_the_schedule_is_replayed_and_everything_in_it_was_sent(compared: Compared) -> None:
    properties = {name: str(value) for name, value in PROPERTIES.items()}
    plan, jtl = read_plan(compared.plan, properties), read_jtl(compared.jtl)
    bins = Bins.of(WARMUP_S, MEASURED_S)
    replayed = replay_jtl(plan, compared.jtl, jtl, WARMUP_S, None, bins)
    assert replayed.closed == {}
    assert replayed.problems == ()
    facts = {facts.labels: facts for facts in replayed.facts}
    assert set(facts) == {("sum",), ("search",)}
    for each in facts.values():
        assert (each.intended, each.missing_generator, each.extra) == (ARRIVALS, 0, 0)


def test_every_second_of_measuring_is_a_whole_one(compared: Compared) -> None:
    found = read(compared.jtl, ("sum", "search"), WARMUP_S, MEASURED_S)
    assert found.seconds == MEASURED_S
    for blocks in found.blocks:
        sent = blocks.base.n + blocks.head.n
        assert len(sent) == MEASURED_S
        assert blocks.base.total + blocks.head.total == sent.sum()
        assert (sent > 0).all()
