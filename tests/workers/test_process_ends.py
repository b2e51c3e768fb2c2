import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.watch_lines import BEGAN, died, online
from tollgate.workers.process_ends import ends_by_events


def ended(*events):
    return [
        (end.worker, end.pid, round(end.went - BEGAN, 3), round(end.came - BEGAN, 3))
        for end in ends_by_events(events)
    ]


#: PM2 7.0.4 says `online` of a process that exits before it was ready, and then `exit`.
STILLBORN = (online(3.2, 102), died(3.201, 102), online(3.3, 0), died(3.3, 0))
#: What PM2 said, and which process of which worker was gone from when to when.
ENDS = {
    "until its successor is online": ([died(3, 101), online(4.24, 102)], [(1, 101, 3, 4.24)]),
    "for good": ([died(3, 101)], [(1, 101, 3, math.inf)]),
    "never, after a reload": ([online(2, 102), died(5, 101, by_pm2=True)], [(1, 101, 5, 5)]),
    "until one is ready": ([died(3, 101), *STILLBORN, online(4, 104)], [(1, 101, 3, 4)]),
    "twice": (
        [died(3, 101), online(4, 102), died(6, 102), online(7.5, 103)],
        [(1, 101, 3, 4), (1, 102, 6, 7.5)],
    ),
    "told twice": ([died(3, 101), died(3.08, 101), online(4, 102)], [(1, 101, 3, 4)]),
    "each of two workers": (
        [died(3, 101), died(3.1, 100, worker=0), online(4, 102), online(5, 103, worker=0)],
        [(1, 101, 3, 4), (0, 100, 3.1, 5)],
    ),
}


@pytest.mark.parametrize(("events", "ends"), ENDS.values(), ids=ENDS)
def test_a_process_that_ended_is_gone(events, ends):
    assert ended(*events) == ends


@given(st.lists(st.tuples(st.floats(0.1, 50), st.floats(0.1, 9)), max_size=8), st.randoms())
def test_what_a_simulated_pm2_did_is_found_again_in_any_order(lives, random):
    """lives: how long each process lived, and how long it took until the next one was online."""
    events, expected, now = [], [], 0.0
    for pid, (lived, gap) in enumerate(lives, 100):
        went, came = round(now + lived, 3), round(now + lived + gap, 3)
        events += [died(went, pid), online(came, pid + 1)]
        expected.append((1, pid, went, came))
        now = came
    random.shuffle(events)
    assert ended(*events) == [pytest.approx(each) for each in expected]
