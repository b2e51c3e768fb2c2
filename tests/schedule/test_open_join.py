"""An open model joined batch by batch, held to the join of whole arrays."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.simulated import ORIGIN
from tollgate.plan.model import Label
from tollgate.samples.samples import Samples
from tollgate.samples.single import Batch
from tollgate.schedule.model import Schedule
from tollgate.schedule.open_join import OpenJoin, estimate_test_start_ms
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.queues import Queue
from tollgate.schedule.replay import join_queue, unsent_of
from tollgate.stats.bins import Bins
from tollgate.stats.late_histogram import LateHistogram, rounded_tenths

SCHEDULES = (
    "rate(5/s) random_arrivals(4 s) rate(9/s) random_arrivals(3 s) rate(2/s)",
    "rate(4/s) even_arrivals(3 s) pause(2 s) rate(0/s) random_arrivals(4 s) rate(8/s)",
    "rate(1/s) random_arrivals(2 s)",
    "rate(0/s) random_arrivals(5 s)",
)
ROUNDED = ("lateness_p50_ms", "lateness_p99_ms", "generator_p99_ms")
NAMES = ("a", "b")


@st.composite
def runs(draw):
    """(schedule, rows): retries, arrivals that sent nothing, threads that no arrival has, ties."""
    seed = draw(st.integers(1, 9))
    arrivals = OpenModelArrivals(draw(st.sampled_from(SCHEDULES)), seed)
    end_s = draw(st.none() | st.floats(0, 15))
    schedule = Schedule("g", tuple(map(Label, NAMES)), arrivals, by_thread=True, end_s=end_s)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(0, 3 * arrivals.count + 3))
    # From -1, the number of a thread without one, to some more than there are.
    number = rng.integers(-1, arrivals.count + 4, rows)
    known = np.clip(number - 1, 0, max(0, arrivals.count - 1))
    due = arrivals.at(known) if arrivals.count else np.zeros(rows)
    late = rng.choice([0, 0, 1, 6, 3000, 20_000], rows) * rng.random(rows)
    columns = {
        "start_ms": ORIGIN + np.floor(due * 1000 + late).astype(np.int64),
        "label": rng.integers(0, len(NAMES), rows),
        "number": number,
        "elapsed_ms": rng.integers(0, 4, rows),
        "ok": rng.random(rows) < 0.7,
    }
    order = np.lexsort([columns[n] for n in ("ok", "elapsed_ms", "number", "label", "start_ms")])
    return schedule, Batch(**{name: column[order] for name, column in columns.items()})


def whole(schedule, rows, test_start_ms, from_s, bins):
    samples = {}
    for label, name in enumerate(NAMES):
        mine = rows.of_labels([label])
        group = np.zeros(len(mine.start_ms), np.int32)
        columns = (mine.start_ms, mine.elapsed_ms, mine.ok, group, mine.number, ("g",))
        samples[name] = Samples(*columns)
    queue = Queue(schedule, NAMES, NAMES)
    return join_queue(queue, samples, ORIGIN, test_start_ms, from_s, bins)


def batches(rows, cuts):
    """The rows cut into batches of which none starts before an earlier one ends."""
    borders = np.searchsorted(rows.start_ms, [ORIGIN + cut for cut in sorted(cuts)])
    for low, high in zip([0, *borders], [*borders, len(rows.start_ms)], strict=True):
        yield Batch(*(getattr(rows, name)[low:high] for name in Batch.__dataclass_fields__))


def streamed(schedule, rows, test_start_ms, from_s, bins, cuts):
    is_estimated = test_start_ms is None
    if is_estimated:
        starts = (each.start_ms for each in batches(rows, cuts))
        test_start_ms = estimate_test_start_ms(schedule.replay, starts)
    join = OpenJoin(schedule, (0, 1), float(test_start_ms), ORIGIN, from_s, bins)
    for batch in batches(rows, cuts):
        join.add(batch)
    numbers = set(rows.number.tolist())
    outside = numbers - set(range(1, schedule.replay.count + 1))
    response = {name: join.response(label) for label, name in enumerate(NAMES)}
    lateness = {name: join.lateness(label) for label, name in enumerate(NAMES)}
    facts = replace(join.facts(NAMES, len(outside)), origin_is_estimated=is_estimated)
    unsent = unsent_of(Queue(schedule, NAMES, NAMES), join.unsent_ms(), bins)
    return response, lateness, facts, unsent


def rounded(facts):
    """As a histogram of tenths tells them; as text, since NaN equals nothing."""
    values = {name: getattr(facts, name) for name in ROUNDED}
    told = {
        name: value if math.isnan(value) else float(rounded_tenths(np.array([value]))[0]) / 10
        for name, value in values.items()
    }
    return str(replace(facts, **told))


@given(
    runs(),
    st.sampled_from([ORIGIN, ORIGIN - 40, None]),
    st.sampled_from([0.0, 2.5, 100.0]),
    st.sampled_from([Bins(), Bins(3, 1, 8)]),
    st.lists(st.integers(0, 12_000), max_size=6),
)
def test_batch_by_batch_gives_what_the_join_of_whole_arrays_gives(run, start, from_s, bins, cuts):
    schedule, rows = run
    kept = whole(schedule, rows, start, from_s, bins)
    response, lateness, facts, unsent = streamed(schedule, rows, start, from_s, bins, cuts)
    assert response == kept.response
    assert unsent == kept.unsent
    assert lateness == kept.lateness
    assert rounded(facts) == rounded(kept.facts)


@given(
    runs(),
    st.sampled_from([ORIGIN, None]),
    st.sampled_from([Bins(), Bins(3, 1, 8)]),
    st.lists(st.integers(0, 12_000), max_size=6),
)
def test_every_sample_counts_once_in_the_response_times_of_its_label(run, start, bins, cuts):
    schedule, rows = run
    for response in (
        whole(schedule, rows, start, 0.0, bins).response,
        streamed(schedule, rows, start, 0.0, bins, cuts)[0],
    ):
        for label, name in enumerate(NAMES):
            mine = rows.of_labels([label])
            assert response[name].total == len(mine.ok)
            assert response[name].errors == np.count_nonzero(~mine.ok)
            # Nobody waits for less than the answer took.
            assert response[name].elapsed_ms @ response[name].n >= mine.elapsed_ms.sum()


def test_all_of_a_long_schedule_is_intended_although_nothing_of_it_is_drawn():
    day = OpenModelArrivals("rate(1000/s) random_arrivals(1 h) " * 48, 7)
    schedule = Schedule("g", (Label("a"),), day, by_thread=True)
    join = OpenJoin(schedule, (0,), float(ORIGIN), ORIGIN, 0.0, Bins())
    facts = join.facts(("a",), 0)
    assert (facts.intended, facts.missing_generator) == (172_800_000, 172_800_000)
    assert math.isnan(facts.lateness_p99_ms)


@pytest.mark.parametrize(
    ("value", "told"),
    [(3.14, 3.1), (0.0, 0), (-1.96, -2), (9999.96, 10_000), (12_345.6, 12_346), (1e6 + 36, 1e6)],
)
def test_lateness_is_rounded_to_tenths_and_from_ten_seconds_on_to_five_digits(value, told):
    assert rounded_tenths(np.array([value]))[0] / 10 == pytest.approx(told)


@given(
    st.lists(st.floats(-1e4, 1e7), min_size=1, max_size=60),
    st.integers(1, 59),
    st.floats(0.1, 100),
)
def test_percentiles_of_lateness_are_numpys_rounded_however_it_came_in(values, cut, percent):
    histogram = LateHistogram()
    for part in (values[:cut], values[cut:]):
        histogram.add(np.array(part, float))
    exact = np.percentile(values, percent, method="inverted_cdf")
    assert histogram.percentile(percent) == rounded_tenths(np.array([exact]))[0] / 10
    assert histogram.max_ms == max(values)
