from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.study_cells import cell
from tollgate.study.model import Block
from tollgate.study.windows import TOLERANCE_MS, Span, StudyDataError, away_ms, windows

TIMED = cell("fork", users=2)
COUNTED = cell("fork", users=2, each=3, seconds=10, lead_s=0.0)


def span(block=1, first=0, last=1020, users=2, requests=6, label="sum"):
    return Span(str(block), label, users, first, last, requests)


def found(one, *spans, rounds=(1,), outages=(), origin_s=0.0):
    blocks = [Block(number, turn, one) for number, turn in enumerate(rounds, 1)]
    counted, left_out = windows(blocks, spans, outages, origin_s)
    return counted, left_out[one]


def refused(match, *args, **more):
    with pytest.raises(StudyDataError, match=match):
        found(*args, **more)


def test_a_timed_blocks_window_leaves_the_switch_over_out():
    (window,), left_out = found(TIMED, span(first=5000, last=6040))
    assert (window.from_ms, window.to_ms, window.length_s) == (5250, 6000, 0.75)
    assert left_out == ()


def test_a_block_of_so_many_requests_counts_from_its_first_start_to_its_last_end():
    (window,), _ = found(COUNTED, span(first=5000, last=7500))
    assert (window.from_ms, window.length_s) == (5000, 2.5)
    assert window.to_ms > 7500


def test_windows_come_in_the_order_of_the_rounds_without_the_warm_up():
    spans = [span(1, 0, 400), span(2, 2000, 3010), span(3, 4000, 5010), span(4, 6000, 7010)]
    counted, left_out = found(TIMED, *spans, rounds=(0, 3, 1, 2))
    assert [(it.block.round, it.block.number) for it in counted] == [(1, 3), (2, 4), (3, 2)]
    assert left_out == ()


@pytest.mark.parametrize(
    ("one", "last", "requests", "whole"),
    [
        (TIMED, 1000 - TOLERANCE_MS, 9, True),
        (TIMED, 999 - TOLERANCE_MS, 9, False),
        (COUNTED, 400, 6, True),  # all were sent, however soon
        (COUNTED, 400, 5, False),
        (COUNTED, 10_100, 5, True),  # its time was up
    ],
)
def test_a_block_is_left_out_if_it_ended_before_its_time_with_requests_left(
    one, last, requests, whole
):
    counted, left_out = found(one, span(last=last, requests=requests))
    assert (len(counted), len(left_out)) == ((1, 0) if whole else (0, 1))


def test_users_who_never_came_are_an_error_unless_the_block_ended_early():
    refused("1 users sent requests where the design has 2", TIMED, span(users=1))
    assert found(TIMED, span(users=1, last=300))[1] == (
        "round 1: the load ended too early, after 0.3 s and 6 requests",
    )


def test_requests_that_the_design_does_not_have_are_an_error():
    refused("7 requests where 2 x 3 are the design's", COUNTED, span(requests=7))
    other = span(label="another generator", users=1)
    refused("both of JMeter and of another generator", TIMED, span(), other)


def test_blocks_may_touch_but_not_overlap_or_come_in_another_order():
    first, second = span(1, 0, 1020), span(2, 1020 - TOLERANCE_MS, 2100)
    assert len(found(TIMED, first, second, rounds=(1, 2))[0]) == 2
    overlapping = replace(second, first_ms=1019 - TOLERANCE_MS)
    said = r"barrier of plans/study\.jmx did not hold"
    refused(said, TIMED, first, overlapping, rounds=(1, 2))
    refused("block = '2': began", TIMED, span(1, 5000, 6010), span(2, 0, 1010), rounds=(1, 2))


def test_connecting_is_no_part_of_a_block():
    connects = span(label="connect", first=-400, last=-1)
    assert found(TIMED, connects, span()) == found(TIMED, span())


@pytest.mark.parametrize(
    ("app", "low", "high", "counts"),
    [
        *(("fork", 100, 200, False), ("fork", -900, -1, True), ("fork", -900, 0, False)),
        *(("fork", 1020, 1021, False), ("fork", 1021, None, True), ("fork", -900, None, False)),
        *(("cluster", 100, 200, True), ("pi-1", 100, 200, True)),
    ],
)
def test_a_block_counts_unless_it_met_the_death_of_a_worker_of_its_app(app, low, high, counts):
    record = {"app": app, "worker": 3, "from_s": low / 1000, "to_s": high and high / 1000}
    begin = 5_000_000
    block = span(first=begin, last=begin + 1020)
    counted, left_out = found(TIMED, block, outages=[record], origin_s=begin / 1000)
    assert left_out == (() if counts else ("round 1: worker 3 of fork died",))
    assert len(counted) == counts


@given(st.integers(10**12, 2 * 10**12), st.integers(0, 10**8), st.integers(0, 10**5))
def test_an_outage_is_compared_in_the_whole_milliseconds_that_the_watch_noted(
    origin_ms, after_ms, lasted_ms
):
    went_ms = origin_ms + after_ms
    from_s, to_s = (ms / 1000 - origin_ms / 1000 for ms in (went_ms, went_ms + lasted_ms))
    record = {"app": "fork", "from_s": from_s, "to_s": to_s}
    assert away_ms(record, origin_ms / 1000) == (went_ms, went_ms + lasted_ms)


@pytest.mark.parametrize("app", ["balancer", "pi-1", "pi-3"])
def test_the_servers_behind_the_balancer_are_its_own(app):
    outages = [{"app": app, "worker": 0, "from_s": 0.1, "to_s": 0.2}]
    one = cell("three servers", app="balancer", users=2)
    assert found(one, span(), outages=outages)[1] == (f"round 1: worker 0 of {app} died",)
