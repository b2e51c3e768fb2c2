"""An open model joined batch by batch, held to a look at one sample after the other."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.simulated import ORIGIN
from tollgate.plan.model import PlanLabel
from tollgate.samples.single import Batch
from tollgate.schedule.attribution import FAR_LATE_MS, LATE_MS
from tollgate.schedule.lateness import percentile
from tollgate.schedule.model import Schedule, ScheduleFacts
from tollgate.schedule.open_join import OpenJoin
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.queues import Queue, unanswered_of
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

SCHEDULES = (
    "rate(5/s) random_arrivals(4 s) rate(9/s) random_arrivals(3 s) rate(2/s)",
    "rate(4/s) even_arrivals(3 s) pause(2 s) rate(0/s) random_arrivals(4 s) rate(8/s)",
    "rate(1/s) random_arrivals(2 s)",
    "rate(0/s) random_arrivals(5 s)",
)
NAMES = ("a", "b")


@st.composite
def runs(draw):
    """(schedule, rows): retries, arrivals that sent nothing, threads that no arrival has, ties."""
    seed = draw(st.integers(1, 9))
    arrivals = OpenModelArrivals(draw(st.sampled_from(SCHEDULES)), seed)
    end_s = draw(st.none() | st.floats(0, 15))
    schedule = Schedule("g", tuple(map(PlanLabel, NAMES)), arrivals, end_s=end_s)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(0, 3 * arrivals.count + 3))
    # From -1, the number of a thread without one, to some more than there are.
    number = rng.integers(-1, arrivals.count + 4, rows)
    known = np.clip(number - 1, 0, max(0, arrivals.count - 1))
    due = arrivals.at(known) if arrivals.count else np.zeros(rows)
    late = rng.choice([0, 0, 1, 6, 3000, 20_000], rows) * rng.random(rows)
    start_ms = ORIGIN + np.floor(due * 1000 + late).astype(np.int64)
    label, elapsed_ms = rng.integers(0, len(NAMES), rows), rng.integers(0, 4, rows)
    columns = (start_ms, label, number, elapsed_ms, rng.random(rows) < 0.7)
    order = np.lexsort([columns[at] for at in (4, 3, 2, 1, 0)])
    return schedule, Batch(*(column[order] for column in columns))


def one_by_one(schedule, rows, test_start_ms, from_s, bins):
    """(response, lateness, facts), by a look at one sample after the other."""
    due_ms = schedule.replay.arrivals(math.inf) * 1000
    start_ms = float(test_start_ms)
    response, lateness = {it: [] for it in NAMES}, {it: [] for it in NAMES}
    late = {}
    columns = (getattr(rows, name).tolist() for name in Batch.__dataclass_fields__)
    for start, label, number, elapsed, ok in zip(*columns, strict=True):
        arrival, begin, waited = number - 1, start, 0
        if 0 <= arrival < len(due_ms) and arrival not in late:
            begin = due_ms[arrival] + start_ms
            waited = max(0, start - math.floor(begin))
            late[arrival] = start - start_ms - due_ms[arrival]
            lateness[NAMES[label]].append((begin, waited, ok))
        response[NAMES[label]].append((begin, elapsed + waited, ok))

    def counts(samples):
        begin, values, ok = zip(*samples, strict=True) if samples else ((), (), ())
        second = np.floor((np.array(begin, float) - ORIGIN) / 1000).astype(np.int64)
        return Counts.of(bins.begin(second), values, ok, width=bins.width_s)

    end_s = math.inf if schedule.end_s is None else schedule.end_s
    intended = int(np.searchsorted(due_ms / 1000, end_s))
    sent = sum(it < intended for it in late)
    measured = {k: v for k, v in late.items() if due_ms[k] + start_ms >= ORIGIN + from_s * 1000}
    values = np.array([*measured.values()])
    surplus = Counter()
    for arrival, value in measured.items():
        due = due_ms[arrival] + start_ms - start_ms
        surplus[math.floor(due / 1000)] -= 1
        surplus[math.floor((due + max(0, value)) / 1000)] += 1
    p50, p99, longest = (percentile(values.copy(), it) for it in (50, 99, 100))
    far_late = int(np.count_nonzero(values > FAR_LATE_MS))
    facts = ScheduleFacts(
        labels=NAMES,
        intended=intended,
        sent=sent,
        missing_generator=intended - sent,
        lateness_p50_ms=p50,
        lateness_p99_ms=p99,
        lateness_max_ms=longest,
        generator_p99_ms=p99 if math.isnan(p99) else max(p99, 0.0),
        late_generator=int(np.count_nonzero(values > LATE_MS)),
        extra=len(set(rows.number.tolist()) - set(range(1, len(due_ms) + 1))),
        measured=len(values),
        far_late=far_late,
        generator_far_late=far_late,
        displaced=sum(map(abs, surplus.values())) // 2,
    )
    unanswered = due_ms[[it for it in range(intended) if it not in late]] + start_ms - ORIGIN
    return (
        {name: counts(samples) for name, samples in response.items()},
        {name: counts(samples) for name, samples in lateness.items()},
        facts,
        unanswered_of(Queue(schedule, NAMES, NAMES), unanswered, bins),
    )


def batches(rows, cuts):
    """The rows cut into batches of which none starts before an earlier one ends."""
    borders = np.searchsorted(rows.start_ms, [ORIGIN + cut for cut in sorted(cuts)])
    for low, high in zip([0, *borders], [*borders, len(rows.start_ms)], strict=True):
        yield Batch(*(getattr(rows, name)[low:high] for name in Batch.__dataclass_fields__))


def streamed(schedule, rows, test_start_ms, from_s, bins, cuts):
    """The outcome of the batches."""
    join = OpenJoin(Queue(schedule, NAMES, NAMES), test_start_ms, ORIGIN, from_s, bins)
    for batch in batches(rows, cuts):
        join.add(batch)
    outside = set(rows.number.tolist()) - set(range(1, schedule.replay.count + 1))
    return join.outcome(len(outside))


@given(
    runs(),
    st.sampled_from([ORIGIN, ORIGIN - 40]),
    st.sampled_from([0.0, 2.5, 100.0]),
    st.sampled_from([Bins(), Bins(3, 1, 8)]),
    st.lists(st.integers(0, 12_000), max_size=6),
)
def test_batch_by_batch_gives_what_a_look_at_each_sample_gives(run, start, from_s, bins, cuts):
    schedule, rows = run
    expected = one_by_one(schedule, rows, start, from_s, bins)
    found = streamed(schedule, rows, start, from_s, bins, cuts)
    # As text, since NaN equals nothing.
    assert str(found.facts) == str(expected[2])
    assert (found.response, found.lateness, found.unanswered) == (*expected[:2], expected[3])


@given(
    runs(),
    st.sampled_from([Bins(), Bins(3, 1, 8)]),
    st.lists(st.integers(0, 12_000), max_size=6),
)
def test_every_sample_counts_once_in_the_response_times_of_its_label(run, bins, cuts):
    schedule, rows = run
    response = streamed(schedule, rows, ORIGIN, 0.0, bins, cuts).response
    for label, name in enumerate(NAMES):
        mine = rows.label == label
        assert response[name].total == np.count_nonzero(mine)
        assert response[name].errors == np.count_nonzero(mine & ~rows.ok)
        # No caller waits for less than the answer took.
        assert response[name].elapsed_ms @ response[name].n >= rows.elapsed_ms[mine].sum()


def test_ends_of_arrivals_behind_a_cut_excuse_none_before():
    arrivals = OpenModelArrivals(SCHEDULES[0], 7)
    due_ms = np.floor(arrivals.at(np.arange(arrivals.count)) * 1000).astype(np.int64)
    labels = (PlanLabel("a"),)
    # None before the cut left a sample, and three of them were through.
    cut = arrivals.count // 2
    schedule = Schedule("g", labels, arrivals, end_s=due_ms[cut] / 1000, least=0)
    number = np.arange(cut + 1, arrivals.count + 1)
    zeros = np.zeros(len(number), np.int64)
    rows = Batch(due_ms[cut:] + ORIGIN, zeros, number, zeros, zeros == 0)
    ends = {"Thread is done": len(number) + 3}
    queue = Queue(schedule, ("a",), ("a",))
    join = OpenJoin(queue, ORIGIN, ORIGIN, 0.0, Bins(), ends=ends)
    join.add(rows)
    facts = join.facts(0)
    before = arrivals.count_before(schedule.end_s)
    assert facts.missing_generator == before - facts.sent - 3


def test_all_of_a_long_schedule_is_intended_although_nothing_of_it_is_drawn():
    day = OpenModelArrivals("rate(1000/s) random_arrivals(1 h) " * 48, 7)
    schedule = Schedule("g", (PlanLabel("a"),), day)
    join = OpenJoin(Queue(schedule, ("a",), ("a",)), ORIGIN, ORIGIN, 0.0, Bins())
    facts = join.facts(0)
    assert (facts.intended, facts.missing_generator) == (172_800_000, 172_800_000)
    assert math.isnan(facts.lateness_p99_ms)
