"""Plans and samples joined: response times by label, and how each schedule was kept."""

from dataclasses import replace

import numpy as np
import pytest

from support import jmx_text as jmx
from support import jtl_rows
from support.simulated import expected_schedules
from tollgate.plan.read import read_plan
from tollgate.samples.counts import read_jtl
from tollgate.schedule.model import NEVER_MS
from tollgate.schedule.replay import replay_jtl
from tollgate.stats.bins import SECONDS

ORIGIN = jtl_rows.START_MS
BY_TIMER = jmx.timer(throughput=10, duration=10, randomSeed=7)
EITHER = jmx.element("RandomController", "either", [jmx.sampler("a"), jmx.sampler("b")])


def samples(start_ms, elapsed_ms=20, number=1, ok=True, group="visitors 1"):
    """Samples of one label that one thread group sent; times in ms since the test start."""
    start = np.floor(np.asarray(start_ms, float)).astype(np.int64)
    others = (np.broadcast_to(it, len(start)) for it in (elapsed_ms, number, ok))
    return [
        (int(at), int(took), f"{group}-{who}" if who >= 0 else group, bool(fine))
        for at, took, who, fine in zip(start, *others, strict=True)
    ]


class Replay:
    """A plan, joined with a JTL of samples by label."""

    def __init__(self, folder):
        self.folder, self.plan = folder, None

    def planned(self, *children, of=None, **properties):
        """Write the plan; returns the schedule of one of its labels."""
        path = self.folder / "plan.jmx"
        path.write_text(jmx.plan(*children))
        self.plan = read_plan(path, properties)
        return of and self.due(of)

    def due(self, label, until_s=10):
        """The schedule of a label in ms."""
        return expected_schedules(self.plan)[label].arrivals(until_s) * 1000

    def __call__(self, from_s=0.0, starts=(ORIGIN, ORIGIN), **of_labels):
        path = self.folder / "kpi.jtl"
        rows = [
            jtl_rows.row(at, elapsed, label, thread=thread, ok=ok)
            for label, rows in of_labels.items()
            for at, elapsed, thread, ok in rows
        ]
        # One of another label, since there is no JTL without samples.
        path.write_text(jtl_rows.jtl(*rows, jtl_rows.row(0, label="other")))
        jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=starts)
        return replay_jtl(self.plan, path, jtl, from_s, None, SECONDS)


@pytest.fixture
def replay(tmp_path):
    return Replay(tmp_path)


def elapsed_of(found, label):
    """The response time of each request."""
    return np.repeat(found.response[label].elapsed_ms, found.response[label].n)


def test_a_punctual_label_has_its_service_times_for_response_times(replay):
    due = replay.planned(jmx.group(jmx.sampler("a", BY_TIMER)), of="a")
    found = replay(a=samples(due, elapsed_ms=np.arange(len(due))))
    (facts,) = found.facts
    assert (facts.labels, facts.missing, found.closed) == (("a",), 0, {})
    assert facts.sent == facts.intended == len(due)
    assert facts.lateness_max_ms <= 1
    assert sorted(elapsed_of(found, "a")) == list(range(len(due)))


def test_a_late_label_is_charged_from_the_intended_start_in_the_second_of_that_start(replay):
    due = replay.planned(jmx.group(jmx.sampler("a", BY_TIMER), threads=400), of="a")
    found = replay(a=samples(due + 3000, number=np.arange(len(due))))
    assert set(found.response["a"].elapsed_ms) <= {3019, 3020, 3021}
    assert list(found.response["a"].seconds) == sorted({int(each // 1000) for each in due})
    assert found.facts[0].generator_p99_ms == pytest.approx(3000, abs=2)
    assert found.facts[0].late_generator == len(due)


def test_a_label_without_a_timer_has_no_response_time_and_keeps_threads_busy(replay):
    replay.planned(jmx.group(jmx.sampler("a", BY_TIMER), jmx.sampler("b"), threads=1))
    due = replay.due("a", until_s=1)
    first, second = due[0], due[0] + 900
    # Its one thread waits for an answer to b until the second request of a goes out, late.
    found = replay(a=samples([first, second]), b=samples([first + 20], elapsed_ms=880))
    assert set(found.response) == {"a"}
    assert set(found.closed) == {"b"}
    assert found.facts[0].labels == ("a",)
    assert found.facts[0].late_service == 1
    without_b = replay(a=samples([first, second]), b=samples([]))
    assert without_b.facts[0].late_generator == 1


def test_two_labels_under_one_timer_share_its_events(replay):
    due = replay.planned(jmx.group(BY_TIMER, EITHER), of="a")
    second = samples(due[1::2], elapsed_ms=40, number=2)
    found = replay(a=samples(due[::2], ok=False), b=second)
    (facts,) = found.facts
    assert (sorted(facts.labels), facts.intended, facts.missing) == (["a", "b"], len(due), 0)
    a, b = found.response["a"], found.response["b"]
    assert (a.total, a.errors, set(a.elapsed_ms)) == (len(due[::2]), len(due[::2]), {20})
    assert (b.total, b.errors, set(b.elapsed_ms)) == (len(due[1::2]), 0, {40})


def test_thread_groups_have_schedules_of_their_own(replay):
    replay.planned(
        jmx.group(jmx.sampler("a", BY_TIMER), name="one"),
        jmx.group(jmx.sampler("b", jmx.timer(randomSeed=8)), name="two"),
    )
    found = replay(a=samples(replay.due("a")), b=samples([]))
    by_label = {facts.labels: facts.missing for facts in found.facts}
    assert by_label == {("a",): 0, ("b",): len(replay.due("b"))}


def test_a_label_made_up_at_run_time_follows_the_schedule_of_its_pattern(replay):
    due = replay.planned(jmx.group(jmx.timer(), jmx.sampler("item ${row}")), of="item ${row}")
    found = replay(**{"item 1": samples(due[:50]), "item 2": samples(due[50:], number=2)})
    assert set(found.response) == {"item 1", "item 2"}
    assert (found.facts[0].labels, found.facts[0].missing) == (("item 1", "item 2"), 0)


def test_a_closed_loop_is_named_with_its_reason_and_has_no_facts(replay):
    replay.planned(jmx.group(jmx.sampler("a")), jmx.open_group(jmx.sampler("b")))
    found = replay(a=samples([0, 30]), b=samples([]))
    assert "no timer says when" in found.closed["a"]
    assert "a" not in found.response
    assert [facts.labels for facts in found.facts] == [("b",)]


def test_an_open_model_joins_by_thread_number_in_whatever_order_they_were_sent(replay):
    due = replay.planned(jmx.open_group(jmx.sampler("a"), jmx.sampler("b")), of="a")
    number = np.arange(1, len(due) + 1)
    late = samples(due + np.where(number == 2, 4000, 0), number=number)
    found = replay(a=late, b=samples(due + 500, number=number))
    assert set(found.response) == {"a"}
    assert found.facts[0].intended == found.facts[0].sent == len(due)
    # By the order of sending, the late second arrival would have made every later one early.
    elapsed = elapsed_of(found, "a")
    assert sum(elapsed > 30) == 1
    assert elapsed.max() == pytest.approx(4020, abs=2)


def test_an_open_model_misses_the_arrival_whose_thread_sent_nothing(replay):
    due = replay.planned(jmx.open_group(jmx.sampler("a")), of="a")
    kept = np.arange(len(due)) != 5
    found = replay(a=samples(due[kept], number=np.flatnonzero(kept) + 1))
    assert (found.facts[0].missing, found.facts[0].sent) == (1, len(due) - 1)


def test_lateness_in_the_warm_up_is_left_out_and_what_it_did_not_send_is_not(replay):
    due = replay.planned(jmx.group(jmx.sampler("a", BY_TIMER), threads=400), of="a")
    # Three seconds of warm-up: half a second late, and the last event of the run never sent.
    sent = due[:-1] + np.where(due[:-1] < 3000, 500, 0)
    missed = np.concatenate([due[:10], due[60:]])
    (whole,), (warm,), (early,) = (
        replay(from_s=from_s, a=samples(at, number=np.arange(len(at)))).facts
        for from_s, at in ((0.0, sent), (4.0, sent), (9.9, missed))
    )
    assert whole.generator_p99_ms > 400
    assert warm.generator_p99_ms < 2
    assert (whole.missing, warm.missing, early.missing) == (1, 1, 50)


def test_nothing_sent_at_all_misses_every_event(replay):
    replay.planned(jmx.group(jmx.sampler("a", BY_TIMER)))
    (facts,) = replay().facts
    assert (facts.labels, facts.sent) == (("a",), 0)
    assert facts.intended == facts.missing_generator == len(replay.due("a"))


def loop(*children):
    return jmx.element("LoopController", "again", children, LoopController__loops=10)


def test_what_a_loop_sends_again_in_an_arrival_counts_by_its_own_start_and_time(replay):
    due = replay.planned(jmx.open_group(loop(jmx.sampler("page"))), of="page")
    number = np.arange(1, len(due) + 1)
    firsts = samples(due + 500, number=number)
    again = samples(np.repeat(due + 600, 9), elapsed_ms=2000, number=np.repeat(number, 9))
    found = replay(page=[*firsts, *again])
    elapsed = elapsed_of(found, "page")
    assert len(elapsed) == 10 * len(due)
    assert np.count_nonzero(elapsed == 2000) == 9 * len(due)
    assert np.count_nonzero((elapsed >= 519) & (elapsed <= 521)) == len(due)
    assert (found.facts[0].sent, found.facts[0].extra) == (len(due), 0)
    # Only what had an intended start can be late.
    assert found.lateness["page"].total == len(due)


def test_a_sampler_that_is_first_in_some_arrivals_counts_in_those_where_it_is_second_too(replay):
    condition = jmx.element("IfController", "if new", [jmx.sampler("login")])
    due = replay.planned(jmx.open_group(condition, jmx.sampler("search")), of="search")
    number = np.arange(1, len(due) + 1)
    search = samples(due + np.where(number % 2, 300, 0), elapsed_ms=50, number=number)
    sent = {"login": samples(due[::2], number=number[::2]), "search": search}
    found = replay(**sent)
    assert {label: found.response[label].total for label in sent} == {
        label: len(rows) for label, rows in sent.items()
    }
    assert set(found.response["search"].elapsed_ms) <= {50, 51}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "group",
    [
        jmx.open_group(EITHER),
        jmx.open_group(loop(EITHER), jmx.sampler("a")),
        jmx.group(BY_TIMER, EITHER),
        jmx.group(BY_TIMER, EITHER, threads=1, loops=3, duration=None),
    ],
)
def test_response_times_are_those_of_all_samples_whatever_was_sent(replay, group, seed):
    rng = np.random.default_rng(seed)
    sent = {}
    for label, size in (("a", 90), ("b", int(rng.integers(0, 40)))):
        start_ms, elapsed = rng.uniform(-100, 15_000, size), rng.integers(0, 90, size)
        number, ok = rng.integers(-1, 60, size), rng.random(size) < 0.8
        sent[label] = samples(start_ms, elapsed, number, ok)
    replay.planned(group)
    found = replay(**sent)
    assert set(found.response) == {"a", "b"}
    for label, counts in found.response.items():
        failed = sum(not ok for *_, ok in sent[label])
        assert (counts.total, counts.errors) == (len(sent[label]), failed)
        assert counts.elapsed_ms @ counts.n >= sum(elapsed for _, elapsed, *_ in sent[label])
        assert found.lateness[label].total <= counts.total


@pytest.fixture
def due_of_two(replay):
    """One thread group that asks for paths by a schedule, which it gives, and one that asks for a
    fixed path."""
    by_timer = jmx.group(BY_TIMER, jmx.sampler("GET ${path}"), name="A")
    replay.planned(by_timer, jmx.group(jmx.sampler("GET /health"), name="checks"))
    return replay.due("GET ${path}")


HEALTH = samples(np.arange(0, 10_000, 10), elapsed_ms=5, group="checks 2")


def test_a_label_of_another_thread_group_is_no_part_of_the_schedule_that_its_name_fits(
    replay, due_of_two
):
    found = replay(**{"GET /a": samples(due_of_two, group="A 1"), "GET /health": HEALTH})
    (facts,) = found.facts
    assert (facts.labels, facts.extra, facts.missing) == (("GET /a",), 0, 0)
    assert facts.lateness_max_ms <= 1
    assert set(found.response) == {"GET /a"}
    assert "no timer says when" in found.closed["GET /health"]


def test_a_label_that_two_thread_groups_sent_is_joined_by_thread_and_judged_by_service_time(
    replay, due_of_two
):
    even, odd = (samples(due_of_two[at::2], group="A 1") for at in (0, 1))
    found = replay(**{"GET /a": odd, "GET /health": [*even, *HEALTH]})
    (facts,) = found.facts
    assert (facts.labels, facts.extra, facts.missing) == (("GET /a", "GET /health"), 0, 0)
    assert set(found.response) == set(found.lateness) == {"GET /a"}
    assert "more than one thread group" in found.closed["GET /health"]


def test_a_second_open_model_does_not_take_arrivals_of_the_first(replay):
    replay.planned(
        jmx.open_group(jmx.sampler("GET ${path}"), name="A"),
        jmx.open_group(jmx.sampler("GET /b${noun}"), name="B", seed=9),
    )
    a, b = replay.due("GET ${path}"), replay.due("GET /b${noun}")
    of_a = samples(a, number=np.arange(1, len(a) + 1), group="A 1")
    of_b = samples(b, number=np.arange(1, len(b) + 1), group="B 2")
    found = replay(**{"GET /a": of_a, "GET /b1": of_b})
    assert [facts.labels for facts in found.facts] == [("GET /a",), ("GET /b1",)]
    for facts in found.facts:
        assert (facts.extra, facts.missing, facts.lateness_max_ms <= 1) == (0, 0, True)
    assert found.response["GET /b1"].total == len(b)


@pytest.mark.parametrize("name", ["", "renamed by a script"])
def test_without_names_of_threads_what_fits_two_groups_is_joined_and_not_judged_by_it(
    replay, due_of_two, name
):
    sent = {"GET /a": samples(due_of_two, group=name), "GET /health": samples([500], group=name)}
    found = replay(**sent)
    assert found.facts[0].extra == 1
    assert set(found.response) == {"GET /a"}
    assert "more than one thread group" in found.closed["GET /health"]


DEFAULTS = jmx.element("ConfigTestElement", **{"HTTPSampler__response_timeout": "${__P(t,4000)}"})


@pytest.mark.parametrize(("properties", "slow_ms"), [({}, 4000), ({"t": "0"}, NEVER_MS)])
def test_what_a_timer_asked_for_and_nobody_sent_is_as_slow_as_the_plans_timeout(
    replay, properties, slow_ms
):
    due = replay.planned(jmx.group(DEFAULTS, jmx.sampler("a", BY_TIMER)), **properties, of="a")
    found = replay(a=samples(np.delete(due, slice(40, 60))))
    (missing,) = found.unanswered
    assert missing.labels == ("a",)
    assert missing.counts.total == missing.counts.errors == 20
    assert set(missing.counts.elapsed_ms) == {slow_ms}
    assert set(missing.counts.seconds) == set(np.floor(due[40:60] / 1000).astype(int))
