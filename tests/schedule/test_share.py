"""Which part of a load one engine of several has."""

import random
from pathlib import Path

import numpy as np
import pytest

from support import ROOT
from tollgate.forecast.load import arrival_counts, load_steps, schedule_text, shared_forecast
from tollgate.forecast.model import Forecast, ForecastStep
from tollgate.plan.data_files import Feed
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import read_plan
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.share import Share, ShareError, parse_share
from tollgate.schedule.share_load import shared_properties, shared_schedule
from tollgate.schedule.share_rows import COPY, SPLIT, read_feeds, records_of, share_of_rows

CHECK = ROOT / "plans" / "check.jmx"


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/0", "-1/3", "1.5/3", "a/b", "1/3/5"])
def test_what_is_no_share_is_refused_with_its_text(text):
    with pytest.raises(ShareError) as refused:
        parse_share(text)
    assert repr(text) in str(refused.value)


def test_a_share_is_read():
    assert parse_share(" 2/3 ") == Share(2, 3)
    assert str(Share(2, 3)) == "2/3"


def shares(of):
    return [Share(number, of) for number in range(1, of + 1)]


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_to_the_whole_and_differ_by_one_at_most(seed):
    chance = random.Random(seed)
    total, first, of = chance.randrange(2000), chance.randrange(2000), chance.randint(1, 120)
    parts = [share.part(total) for share in shares(of)]
    assert sum(parts) == total
    assert max(parts) - min(parts) <= 1
    dealt = [share.dealt(first, total) for share in shares(of)]
    turn = [number % of for number in range(first, first + total)]
    assert dealt == [turn.count(place) for place in range(of)]


def test_each_engine_has_a_seed_of_its_own_that_java_takes():
    seeds = [share.seed(21) for share in shares(500)]
    assert len(set(seeds)) == 500
    assert all(0 < seed < 2**31 for seed in seeds)
    assert Share(1, 1).seed(21) == 21
    assert Share(1, 2).seed(21) != Share(1, 2).seed(22)


LABELS = ("calculate", "sum", "search", "kittens", "pi")


def given(chance):
    """Properties of check.jmx with rates and seeds drawn at random."""
    rates = {f"{name}_rate": f"{chance.uniform(0.05, 80):.3f}" for name in LABELS}
    seeds = {f"{name}_seed": str(chance.randint(1, 10**6)) for name in LABELS}
    return {**rates, **seeds, "warmup": "5", "measured": str(chance.choice((10, 30, 61)))}


def shared(share, properties=None, path=CHECK):
    """The properties of a share of that load."""
    properties = properties or {}
    return shared_properties(
        read_plan(path, properties), read_tree(path, properties), properties, share
    )


def arrivals(properties):
    """The moments of each label's schedule in a check with these properties."""
    schedules = (it for _, it in schedules_of(read_plan(CHECK, properties))[1])
    return {it.labels[0].text: it.arrivals(it.end_s) for it in schedules}


@pytest.mark.parametrize("seed", range(12))
def test_the_arrivals_of_all_shares_of_check_are_as_many_as_those_of_the_whole(seed):
    chance = random.Random(seed)
    properties, of = given(chance), chance.choice((2, 3, 4, 7, 12))
    found = [arrivals(properties | shared(share, properties)) for share in shares(of)]
    for label, whole in arrivals(properties).items():
        parts = [each[label] for each in found]
        counts = [len(part) for part in parts]
        assert sum(counts) == len(whole)
        assert max(counts) - min(counts) <= 1
        together = np.concatenate(parts)
        assert len(np.unique(together)) == len(together), "two engines send at the same moments"


def test_a_group_without_an_arrival_is_off_and_asks_for_nothing():
    properties = {"pi_rate": "0.05", "warmup": "5", "measured": "30"}
    own = shared(Share(3, 3), properties)
    assert own["pi_threads"] == "0"
    assert "sum_threads" not in own
    assert len(arrivals(properties | own)["pi"]) == 0


def test_a_share_without_any_arrival_is_refused():
    with pytest.raises(ShareError, match="engine 2/2 has no request to send"):
        shared(Share(2, 2), {f"{name}_rate": "0.01" for name in LABELS})


def schedule(chance):
    """A schedule of steps and ramps drawn at random."""
    parts = []
    for _ in range(chance.randint(1, 5)):
        rate, length = chance.uniform(0, 60), chance.choice((0.5, 1, 2.5, 37, 200))
        parts.append(f"rate({rate:.3f}/sec) random_arrivals({length} sec)")
        if chance.random() < 0.5:
            parts.append(f"rate({chance.uniform(0, 60):.2f}/sec)")
    return " ".join(parts) + " pause(5 sec)"


@pytest.mark.parametrize("seed", range(60))
def test_the_arrivals_of_all_shares_of_a_schedule_are_as_many_as_those_of_the_whole(seed):
    chance = random.Random(seed)
    text, of = schedule(chance), chance.choice((1, 2, 3, 8, 100))
    told = [shared_schedule(text, share) for share in shares(of)]
    counts = [OpenModelArrivals(part, 5).count for part, _ in told]
    assert counts == [count for _, count in told]
    assert sum(counts) == OpenModelArrivals(text, 5).count
    assert max(counts) - min(counts) <= 1


def test_even_arrivals_are_refused_and_pauses_are_not():
    with pytest.raises(ShareError, match="even_arrivals"):
        shared_schedule("rate(5/sec) even_arrivals(10 sec)", Share(1, 2))
    assert shared_schedule("pause(3 sec)", Share(1, 2)) == ("pause(3 sec)", 0)


def test_a_forecast_is_dealt_out_as_its_schedule_is():
    hours = tuple(ForecastStep(str(n), 3 + n, {"sum": 1.0}) for n in range(24))
    steps = load_steps(Forecast("f.csv", 3600, hours), scale=1440, warmup_s=5)
    warm_up, *whole = arrival_counts(steps)
    found = np.zeros(24)
    for share in shares(7):
        counts = [step.tps * (step.to_s - step.from_s) for step in shared_forecast(steps, share)]
        found += counts
        sent = shared_schedule(schedule_text(steps, 5), share)[1]
        assert round(sum(counts)) <= sent <= round(sum(counts)) + warm_up
    assert found == pytest.approx(whole)


CLOSED = """<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="t"/><hashTree>
<ThreadGroup testname="users"><stringProp name="ThreadGroup.num_threads">{threads}</stringProp>
<stringProp name="LoopController.loops">5</stringProp></ThreadGroup>
<hashTree><HTTPSamplerProxy testname="home"/><hashTree/></hashTree>
</hashTree></hashTree></jmeterTestPlan>"""


def test_threads_of_a_closed_loop_are_divided(tmp_path):
    path = tmp_path / "closed.jmx"
    path.write_text(CLOSED.format(threads="${__P(users,10)}"))
    assert [shared(share, path=path)["users"] for share in shares(4)] == ["3", "3", "2", "2"]


def test_a_number_that_no_property_says_is_refused_with_what_to_write(tmp_path):
    path = tmp_path / "closed.jmx"
    path.write_text(CLOSED.format(threads="10"))
    with pytest.raises(ShareError) as refused:
        shared(Share(1, 2), path=path)
    assert "num_threads of 'users' is '10'" in str(refused.value)
    assert "${__P(NAME,10)}" in str(refused.value)


TEXT = "n,sum\n" + "".join(f"{n},{n * n}\n" for n in range(10))


def engines(of, how, text=TEXT, is_headed=True):
    feed = Feed("numbers", Path("sum.csv"), "sum_data", is_headed, True, "UTF-8")
    return [share_of_rows(feed, text, share, how).splitlines() for share in shares(of)]


@pytest.mark.parametrize("of", [1, 2, 3, 10])
def test_split_gives_row_i_to_engine_i_mod_n_and_none_to_two(of):
    files = engines(of, SPLIT)
    assert {file[0] for file in files} == {"n,sum"}
    for number, file in enumerate(files):
        assert [int(row.split(",")[0]) for row in file[1:]] == list(range(number, 10, of))


def test_too_few_rows_to_split_are_refused():
    with pytest.raises(ShareError, match="has 10 rows, too few to be split among 11 engines"):
        engines(11, SPLIT)


@pytest.mark.parametrize("of", [1, 2, 3, 10])
def test_copies_have_all_rows_in_their_order_from_another_one_on(of):
    files = engines(of, COPY)
    assert len({file[1] for file in files}) == of
    for file in files:
        first = int(file[1].split(",")[0])
        order = [int(row.split(",")[0]) for row in file[1:]]
        assert order == [(first + step) % 10 for step in range(10)]


def test_without_a_head_the_first_row_is_one_like_the_others():
    assert engines(2, SPLIT, "a\nb\nc", is_headed=False) == [["a", "c"], ["b"]]


def test_rows_are_what_jmeter_reads():
    assert records_of('a,"x\ny"\r\nb', is_quoted=True) == ['a,"x\ny"\r\n', "b\n"]
    assert records_of('a,"x\ny"\n', is_quoted=False) == ['a,"x\n', 'y"\n']
    assert records_of("a\x0bb\u2028c\rd", is_quoted=True) == ["a\x0bb\u2028c\r", "d\n"]


@pytest.mark.parametrize("name", ["check", "stress"])
def test_every_data_file_of_the_plans_is_named_by_a_property(name):
    path = ROOT / "plans" / f"{name}.jmx"
    feeds = read_feeds(path, {})
    assert [each.named_by for each in feeds] == [f"{name}_data" for name in LABELS]
    assert all(each.file.is_file() and each.is_headed for each in feeds)
