"""The plan that compares, run by JMeter alone against two servers: where its arrivals go."""

import itertools
import math
import shutil
from collections import Counter, defaultdict
from types import SimpleNamespace

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
WARMUP_S, MEASURED_S, PERIOD_MS = 1, 4, 33
SEED = 7
#: Of a group; each draws the next arrival while it waits for its own.
THREADS = 12
PROPERTIES = {
    **{"warmup": WARMUP_S, "measured": MEASURED_S, "period": PERIOD_MS, "threads": THREADS},
    **{"coin_seed": SEED, "response_timeout": 20_000, "sample_variables": "TESTSTART.MS,coin"},
}
#: The plan sends a second longer than it measures, and its threads begin some time after the test.
#: At least so many.
ARRIVALS = 1000 * (WARMUP_S + MEASURED_S + 1) // PERIOD_MS + 1
#: Of a fair coin.
DEVIATIONS = 5


def with_longer_arrivals(folder):
    """A copy of the plan whose arrivals at `sum` have a second sample."""
    for name in ("plans", "data"):
        shutil.copytree(support.ROOT / name, folder / name)
    plan = folder / "plans" / "compare.jmx"
    before, path, after = plan.read_text().partition("fragments/sum.jmx")
    begin = before.rindex("<IncludeController")
    rest, empty, after = after.partition("<hashTree/>")
    one, other = (before[begin:] + it + rest + empty for it in (path, "fragments/calculate.jmx"))
    # Behind what waits for the arrival.
    controller, after = after.split("</hashTree>", 1)
    plan.write_text(before[:begin] + one + controller + "</hashTree>" + other + after)
    return plan


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A run of the plan, and one of the same seed whose arrivals at `sum` go on to `calculate`;
    ports of base and head."""
    plan = support.PLANS / "compare.jmx"
    first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    with node_server() as base, node_server() as head:
        properties = PROPERTIES | {"port_0": base, "port_1": head}
        run = Run(plan, first, first, **properties)
        longer = Run(with_longer_arrivals(second), second, second, **properties)
    made = {"plan": plan, "ports": {BASE: base, HEAD: head}, "jtl": first / "out.jtl"}
    return SimpleNamespace(**made, run=run, longer=longer)


def coins(run, label):
    """In the order of the arrivals."""
    mine = [sample for sample in run.samples if sample["label"] == label]
    return [int(it["coin"]) for it in sorted(mine, key=lambda it: int(it["timeStamp"]))]


def test_each_arrival_goes_where_its_coin_says(compared):
    seen = Counter((int(it["coin"]), it["URL"].split("/")[2]) for it in compared.run.samples)
    assert set(seen) == {(coin, f"127.0.0.1:{port}") for coin, port in compared.ports.items()}
    assert compared.run.that(success="false") == []


@pytest.mark.parametrize("label", ["sum", "search"])
def test_the_coin_is_fair_and_tossed_anew_for_each_arrival(compared, label):
    tossed = coins(compared.run, label)
    size = len(tossed)
    assert size >= ARRIVALS
    turns = [one != other for one, other in itertools.pairwise(tossed)]
    for hits, of in ((tossed.count(HEAD), size), (sum(turns), size - 1)):
        assert abs(hits - of / 2) < DEVIATIONS * math.sqrt(of / 4)


def test_all_samples_of_an_arrival_go_to_the_same_side(compared):
    threads = defaultdict(list)
    for sample in sorted(compared.longer.samples, key=lambda it: int(it["timeStamp"])):
        if sample["label"] in ("sum", "calculate"):
            threads[sample["threadName"]].append((sample["label"], sample["coin"]))
    assert len(threads) == THREADS
    arrivals = [it for sent in threads.values() for it in zip(sent[::2], sent[1::2], strict=False)]
    # The end breaks off the last arrival of a thread.
    assert len(arrivals) >= ARRIVALS - THREADS
    for (first, one), (second, other) in arrivals:
        assert (first, second, one) == ("sum", "calculate", other)


def test_tosses_are_those_of_the_seed(compared):
    # As many heads, not each one: a toss is the thread's that took it, which may send later than
    # the next one's. Threads that end have tossed once more.
    for run in (compared.run, compared.longer):
        tossed = [coin for label in ("sum", "search") for coin in coins(run, label)]
        heads = sum(java_tosses(SEED, len(tossed) + 2 * THREADS))
        assert 0 <= heads - tossed.count(HEAD) <= 2 * THREADS


def java_tosses(seed, count):
    """What nextInt(2) of java.util.Random draws."""
    state = seed ^ MULTIPLIER
    for _ in range(count):
        state = (state * MULTIPLIER + INCREMENT) % (1 << STATE_BITS)
        yield state >> (STATE_BITS - 1)


def test_the_schedule_is_replayed_and_everything_in_it_was_sent(compared):
    properties = {name: str(value) for name, value in PROPERTIES.items()}
    plan, jtl = read_plan(compared.plan, properties), read_jtl(compared.jtl)
    replayed = replay_jtl(plan, compared.jtl, jtl, WARMUP_S, None, Bins.of(WARMUP_S, MEASURED_S))
    assert (replayed.closed, replayed.problems) == ({}, ())
    facts = {facts.labels: facts for facts in replayed.facts}
    assert set(facts) == {("sum",), ("search",)}
    for each in facts.values():
        assert (each.intended, each.missing_generator, each.extra) == (ARRIVALS, 0, 0)


def test_every_second_of_measuring_is_a_whole_one(compared):
    found = read(compared.jtl, ("sum", "search"), WARMUP_S, MEASURED_S)
    assert found.seconds == MEASURED_S
    for blocks in found.blocks:
        sent = blocks.base.n + blocks.head.n
        assert len(sent) == MEASURED_S
        assert blocks.base.total + blocks.head.total == sent.sum()
        assert (sent > 0).all()
