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


@pytest.fixture
def plan(tmp_path):
    def read(*children, **properties):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children))
        return read_plan(path, properties)

    return read


def events_ms(plan, label, until_s=10):
    return expected_schedules(plan)[label].arrivals(until_s) * 1000


def samples(start_ms, elapsed_ms=20, number=1, ok=True, group="visitors 1"):
    """Samples of one label that one thread group sent; times in ms since the test start."""
    start = np.floor(np.asarray(start_ms, float)).astype(np.int64)
    others = (np.broadcast_to(it, len(start)) for it in (elapsed_ms, number, ok))
    return [
        (int(at), int(took), f"{group}-{who}" if who >= 0 else group, bool(fine))
        for at, took, who, fine in zip(start, *others, strict=True)
    ]


@pytest.fixture
def replayed(tmp_path):
    """Joins a plan with a JTL of these samples by label."""

    def joined(plan, from_s=0.0, starts=(ORIGIN, ORIGIN), **of_labels):
        path = tmp_path / "kpi.jtl"
        rows = [
            jtl_rows.row(at, elapsed, label, thread=thread, ok=ok)
            for label, rows in of_labels.items()
            for at, elapsed, thread, ok in rows
        ]
        # One of another label, since there is no JTL without samples.
        path.write_text(jtl_rows.jtl(*rows, jtl_rows.row(0, label="other")))
        jtl = replace(read_jtl(path, ORIGIN), test_starts_ms=starts)
        return replay_jtl(plan, path, jtl, from_s, None, SECONDS)

    return joined


def test_a_punctual_label_has_its_service_times_for_response_times(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER)))
    due = events_ms(read, "a")
    found = replayed(read, a=samples(due, elapsed_ms=np.arange(len(due))))
    (facts,) = found.facts
    assert (facts.labels, facts.sent, facts.missing) == (("a",), len(due), 0)
    assert facts.intended == len(due)
    assert facts.lateness_max_ms <= 1
    response = found.response["a"]
    assert sorted(np.repeat(response.elapsed_ms, response.n)) == list(range(len(due)))
    assert found.closed == {}


def test_a_late_label_is_charged_from_the_intended_start_in_the_second_of_that_start(
    plan, replayed
):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER), threads=400))
    due = events_ms(read, "a")
    found = replayed(read, a=samples(due + 3000, number=np.arange(len(due))))
    assert set(found.response["a"].elapsed_ms) <= {3019, 3020, 3021}
    assert list(found.response["a"].seconds) == sorted({int(each // 1000) for each in due})
    assert found.facts[0].generator_p99_ms == pytest.approx(3000, abs=2)
    assert found.facts[0].late_generator == len(due)


def test_a_label_without_a_timer_has_no_response_time_and_keeps_threads_busy(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER), jmx.sampler("b"), threads=1))
    due = events_ms(read, "a", until_s=1)
    first, second = due[0], due[0] + 900
    # Its one thread waits for an answer to b until the second request of a goes out, late.
    found = replayed(read, a=samples([first, second]), b=samples([first + 20], elapsed_ms=880))
    assert set(found.response) == {"a"}
    assert set(found.closed) == {"b"}
    assert found.facts[0].labels == ("a",)
    assert found.facts[0].late_service == 1
    without_b = replayed(read, a=samples([first, second]), b=samples([]))
    assert without_b.facts[0].late_generator == 1


def test_two_labels_under_one_timer_share_its_events(plan, replayed):
    either = jmx.element("RandomController", "either", [jmx.sampler("a"), jmx.sampler("b")])
    read = plan(jmx.group(BY_TIMER, either))
    due = events_ms(read, "a")
    found = replayed(
        read, a=samples(due[::2], ok=False), b=samples(due[1::2], elapsed_ms=40, number=2)
    )
    (facts,) = found.facts
    assert (sorted(facts.labels), facts.intended, facts.missing) == (["a", "b"], len(due), 0)
    a, b = found.response["a"], found.response["b"]
    assert (a.total, a.errors, set(a.elapsed_ms)) == (len(due[::2]), len(due[::2]), {20})
    assert (b.total, b.errors, set(b.elapsed_ms)) == (len(due[1::2]), 0, {40})


def test_thread_groups_have_schedules_of_their_own(plan, replayed):
    read = plan(
        jmx.group(jmx.sampler("a", BY_TIMER), name="one"),
        jmx.group(jmx.sampler("b", jmx.timer(randomSeed=8)), name="two"),
    )
    found = replayed(read, a=samples(events_ms(read, "a")), b=samples([]))
    by_label = {facts.labels: facts.missing for facts in found.facts}
    assert by_label == {("a",): 0, ("b",): len(events_ms(read, "b"))}


def test_a_label_made_up_at_run_time_follows_the_schedule_of_its_pattern(plan, replayed):
    read = plan(jmx.group(jmx.timer(), jmx.sampler("item ${row}")))
    due = events_ms(read, "item ${row}")
    found = replayed(read, **{"item 1": samples(due[:50]), "item 2": samples(due[50:], number=2)})
    assert set(found.response) == {"item 1", "item 2"}
    assert (found.facts[0].labels, found.facts[0].missing) == (("item 1", "item 2"), 0)


def test_a_closed_loop_is_named_with_its_reason_and_has_no_facts(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a")), jmx.open_group(jmx.sampler("b")))
    found = replayed(read, a=samples([0, 30]), b=samples([]))
    assert "no timer says when" in found.closed["a"]
    assert "a" not in found.response
    assert [facts.labels for facts in found.facts] == [("b",)]


def test_an_open_model_joins_by_thread_number_in_whatever_order_they_were_sent(plan, replayed):
    read = plan(jmx.open_group(jmx.sampler("a"), jmx.sampler("b")))
    due = events_ms(read, "a")
    number = np.arange(1, len(due) + 1)
    late = np.where(number == 2, 4000, 0)
    a = samples(due + late, number=number)
    found = replayed(read, a=a, b=samples(due + 500, number=number))
    assert set(found.response) == {"a"}
    assert found.facts[0].intended == found.facts[0].sent == len(due)
    # By the order of sending, the late second arrival would have made every later one early.
    elapsed = np.repeat(found.response["a"].elapsed_ms, found.response["a"].n)
    assert sum(elapsed > 30) == 1
    assert elapsed.max() == pytest.approx(4020, abs=2)


def test_an_open_model_misses_the_arrival_whose_thread_sent_nothing(plan, replayed):
    read = plan(jmx.open_group(jmx.sampler("a")))
    due = events_ms(read, "a")
    kept = np.arange(len(due)) != 5
    found = replayed(read, a=samples(due[kept], number=np.flatnonzero(kept) + 1))
    assert (found.facts[0].missing, found.facts[0].sent) == (1, len(due) - 1)


def test_lateness_in_the_warm_up_is_left_out_and_what_it_did_not_send_is_not(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER), threads=400))
    due = events_ms(read, "a")
    # Three seconds of warm-up: half a second late, and the last event of the run never sent.
    sent = due[:-1] + np.where(due[:-1] < 3000, 500, 0)
    number = np.arange(len(sent))
    whole = replayed(read, a=samples(sent, number=number)).facts[0]
    warm = replayed(read, from_s=4.0, a=samples(sent, number=number)).facts[0]
    assert whole.generator_p99_ms > 400
    assert warm.generator_p99_ms < 2
    assert (whole.missing, warm.missing) == (1, 1)
    missed = np.concatenate([due[:10], due[60:]])
    early = replayed(read, from_s=9.9, a=samples(missed, number=np.arange(len(missed)))).facts[0]
    assert early.missing == 50


def test_nothing_sent_at_all_misses_every_event(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER)))
    (facts,) = replayed(read).facts
    assert (facts.labels, facts.sent) == (("a",), 0)
    assert facts.intended == facts.missing_generator == len(events_ms(read, "a"))


def test_without_the_test_start_it_is_estimated(plan, replayed):
    read = plan(jmx.group(jmx.sampler("a", BY_TIMER)))
    found = replayed(read, starts=None, a=samples(events_ms(read, "a") + 7000))
    assert found.facts[0].missing == 0
    assert found.facts[0].lateness_max_ms <= 2


def loop(*children):
    return jmx.element("LoopController", "again", children, LoopController__loops=10)


def test_what_a_loop_sends_again_in_an_arrival_counts_by_its_own_start_and_time(plan, replayed):
    read = plan(jmx.open_group(loop(jmx.sampler("page"))))
    due = events_ms(read, "page")
    number = np.arange(1, len(due) + 1)
    firsts = samples(due + 500, number=number)
    again = samples(np.repeat(due + 600, 9), elapsed_ms=2000, number=np.repeat(number, 9))
    found = replayed(read, page=[*firsts, *again])
    response = found.response["page"]
    assert response.total == 10 * len(due)
    elapsed = np.repeat(response.elapsed_ms, response.n)
    assert np.count_nonzero(elapsed == 2000) == 9 * len(due)
    assert np.count_nonzero((elapsed >= 519) & (elapsed <= 521)) == len(due)
    assert (found.facts[0].sent, found.facts[0].extra) == (len(due), 0)
    # Only what had an intended start can be late.
    assert found.lateness["page"].total == len(due)


def test_a_sampler_that_is_first_in_some_arrivals_counts_in_those_where_it_is_second_too(
    plan, replayed
):
    condition = jmx.element("IfController", "if new", [jmx.sampler("login")])
    read = plan(jmx.open_group(condition, jmx.sampler("search")))
    due = events_ms(read, "search")
    number = np.arange(1, len(due) + 1)
    login = samples(due[::2], number=number[::2])
    search = samples(due + np.where(number % 2, 300, 0), elapsed_ms=50, number=number)
    found = replayed(read, login=login, search=search)
    assert found.response["login"].total == len(login)
    assert found.response["search"].total == len(search)
    assert set(found.response["search"].elapsed_ms) <= {50, 51}


EITHER = jmx.element("RandomController", "either", [jmx.sampler("a"), jmx.sampler("b")])


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
def test_response_times_are_those_of_all_samples_whatever_was_sent(plan, replayed, group, seed):
    rng = np.random.default_rng(seed)
    sent = {
        label: samples(
            rng.uniform(-100, 15_000, size),
            elapsed_ms=rng.integers(0, 90, size),
            number=rng.integers(-1, 60, size),
            ok=rng.random(size) < 0.8,
        )
        for label, size in (("a", 90), ("b", int(rng.integers(0, 40))))
    }
    found = replayed(plan(group), **sent)
    assert set(found.response) == {"a", "b"}
    for label, counts in found.response.items():
        failed = sum(not ok for *_, ok in sent[label])
        assert (counts.total, counts.errors) == (len(sent[label]), failed)
        assert counts.elapsed_ms @ counts.n >= sum(elapsed for _, elapsed, *_ in sent[label])
        assert found.lateness[label].total <= counts.total


def two_groups(plan, *others):
    """One thread group that asks for paths by a schedule, and others that ask for a fixed one."""
    health = jmx.group(jmx.sampler("GET /health"), name="checks")
    return plan(jmx.group(BY_TIMER, jmx.sampler("GET ${path}"), name="A"), *(others or (health,)))


def test_a_label_of_another_thread_group_is_no_part_of_the_schedule_that_its_name_fits(
    plan, replayed
):
    read = two_groups(plan)
    due = events_ms(read, "GET ${path}")
    health = samples(np.arange(0, 10_000, 10), elapsed_ms=5, group="checks 2")
    found = replayed(read, **{"GET /a": samples(due, group="A 1"), "GET /health": health})
    (facts,) = found.facts
    assert (facts.labels, facts.extra, facts.missing) == (("GET /a",), 0, 0)
    assert facts.lateness_max_ms <= 1
    assert set(found.response) == {"GET /a"}
    assert "no timer says when" in found.closed["GET /health"]


def test_a_label_that_two_thread_groups_sent_is_joined_by_thread_and_judged_by_service_time(
    plan, replayed
):
    read = two_groups(plan)
    due = events_ms(read, "GET ${path}")
    both = [
        *samples(due[::2], group="A 1"),
        *samples(np.arange(0, 10_000, 10), elapsed_ms=5, group="checks 2"),
    ]
    other = samples(due[1::2], group="A 1")
    found = replayed(read, **{"GET /a": other, "GET /health": both})
    (facts,) = found.facts
    assert (facts.labels, facts.extra, facts.missing) == (("GET /a", "GET /health"), 0, 0)
    assert set(found.response) == set(found.lateness) == {"GET /a"}
    assert "more than one thread group" in found.closed["GET /health"]


def test_a_second_open_model_does_not_take_arrivals_of_the_first(plan, replayed):
    read = plan(
        jmx.open_group(jmx.sampler("GET ${path}"), name="A"),
        jmx.open_group(jmx.sampler("GET /b${noun}"), name="B", seed=9),
    )
    a, b = events_ms(read, "GET ${path}"), events_ms(read, "GET /b${noun}")
    found = replayed(
        read,
        **{
            "GET /a": samples(a, number=np.arange(1, len(a) + 1), group="A 1"),
            "GET /b1": samples(b, number=np.arange(1, len(b) + 1), group="B 2"),
        },
    )
    assert [facts.labels for facts in found.facts] == [("GET /a",), ("GET /b1",)]
    assert all((it.extra, it.missing) == (0, 0) for it in found.facts)
    assert all(it.lateness_max_ms <= 1 for it in found.facts)
    assert found.response["GET /b1"].total == len(b)


@pytest.mark.parametrize("name", ["", "renamed by a script"])
def test_without_names_of_threads_what_fits_two_groups_is_joined_and_not_judged_by_it(
    plan, replayed, name
):
    read = two_groups(plan)
    due = events_ms(read, "GET ${path}")
    sent = {"GET /a": samples(due, group=name), "GET /health": samples([500], group=name)}
    found = replayed(read, **sent)
    assert found.facts[0].extra == 1
    assert set(found.response) == {"GET /a"}
    assert "more than one thread group" in found.closed["GET /health"]


DEFAULTS = jmx.element("ConfigTestElement", **{"HTTPSampler__response_timeout": "${__P(t,4000)}"})


@pytest.mark.parametrize(("properties", "slow_ms"), [({}, 4000), ({"t": "0"}, NEVER_MS)])
def test_what_a_timer_asked_for_and_nobody_sent_is_as_slow_as_the_plans_timeout(
    plan, replayed, properties, slow_ms
):
    read = plan(jmx.group(DEFAULTS, jmx.sampler("a", BY_TIMER)), **properties)
    due = events_ms(read, "a")
    found = replayed(read, a=samples(np.delete(due, slice(40, 60))))
    (missing,) = found.unanswered
    assert missing.labels == ("a",)
    assert missing.counts.total == missing.counts.errors == 20
    assert set(missing.counts.elapsed_ms) == {slow_ms}
    assert set(missing.counts.seconds) == set(np.floor(due[40:60] / 1000).astype(int))
