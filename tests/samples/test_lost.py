from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.jtl_rows import START_MS, jtl, row
from tollgate.samples.layout import JtlError
from tollgate.samples.lost import GRACE_MS, _window, count_lost, with_losses
from tollgate.workers.model import Reload, Resources, WorkerOutage

RESET = "Non HTTP response code: java.net.SocketException"


def gone(at_ms, elapsed=5, code=RESET, **fields):
    return row(at_ms, elapsed, code=code, ok=False, **fields)


def written(folder, *rows):
    (folder / "kpi.jtl").write_text(jtl(*rows))
    return folder / "kpi.jtl"


def counted(folder, rows, *windows):
    windows = [(START_MS + low, START_MS + high) for low, high in windows]
    [counts] = count_lost(written(folder, *rows), [windows])
    return counts


def reloaded(began_s, ended_s, problem=""):
    began, ended = (it and START_MS / 1000 + it for it in (began_s, ended_s))
    return {"app": "cluster", "began": began, "ended": ended, "problem": problem}


NO_RESPONSE = "Non HTTP response code: org.apache.http.NoHttpResponseException"
TIMEOUT = "Non HTTP response code: java.net.SocketTimeoutException"


LOST = (RESET, NO_RESPONSE, TIMEOUT, "", "502", "503", "504")


@pytest.mark.parametrize("code", [*LOST, "200", "404", "500"])
def test_a_request_without_an_answer_of_the_services_is_lost_and_a_wrong_one_is_not(tmp_path, code):
    assert counted(tmp_path, [gone(500, code=code)], (0, 1000)) == [code in LOST]


def test_what_succeeded_is_not_lost_whatever_its_code(tmp_path):
    assert counted(tmp_path, [row(500, code=RESET), row(501, code="503")], (0, 1000)) == [0]


TRANSACTION = '"Number of samples in transaction : 1, number of failing samples : 1"'


def test_a_transaction_that_failed_for_a_lost_request_is_not_counted_beside_it(tmp_path):
    rows = [gone(500), gone(499, 6, code="", message=TRANSACTION)]
    assert counted(tmp_path, rows, (0, 1000)) == [1]


def test_a_parent_sample_that_failed_for_a_lost_request_is_counted_for_it(tmp_path):
    rows = [gone(500 + at, label=label, message=TRANSACTION) for at in (0, 1) for label in "ab'"]
    file = written(tmp_path, *rows)
    window = [[(START_MS, START_MS + 1000)]]
    assert count_lost(file, window) == [[0]]
    assert count_lost(file, window, parents=["a", "'", "none"]) == [[4]]
    outages = Resources(outages=(WorkerOutage("0", 7, 0.1, 1.0),))
    assert with_losses(outages, [], file, START_MS, parents=["b"]).outages[0].lost == 2


def test_a_request_counts_if_any_of_its_time_lies_in_the_window_or_its_grace(tmp_path):
    rows = [gone(0, 99), gone(0, 100), gone(150, 1), gone(200 + GRACE_MS), gone(201 + GRACE_MS)]
    assert counted(tmp_path, rows, (100, 200)) == [3]
    assert counted(tmp_path, [gone(0, 10_000)], (4000, 5000)) == [1]


def test_a_request_is_charged_to_the_last_window_that_had_begun_when_it_was_sent(tmp_path):
    rows = [gone(100), gone(100), gone(5000)]
    windows = ((0, 200), (50, 150), (4000, float("inf")), (9000, 9100))
    assert counted(tmp_path, rows, *windows) == [0, 2, 1, 0]


def test_a_request_that_hung_from_a_crash_on_is_not_charged_to_what_came_while_it_hung(tmp_path):
    assert counted(tmp_path, [gone(90, 10_000)], (9000, 9100), (100, 200)) == [0, 1]


def test_what_a_client_noticed_before_pm2_did_is_charged_to_the_outage_but_not_to_a_reload(
    tmp_path,
):
    rows = (row(0), gone(2000, 1), gone(2500, 494), gone(3000 - GRACE_MS - 2, 1))
    seen = Resources(outages=(WorkerOutage("0", 7, 3.0, 3.1),))
    found = with_losses(seen, [reloaded(3, None)], written(tmp_path, *rows), START_MS)
    assert ([it.lost for it in found.reloads], [it.lost for it in found.outages]) == ([0], [2])


def test_a_request_counts_for_a_reload_and_for_the_outage_in_it(tmp_path):
    file = written(tmp_path, gone(500))
    window = (START_MS + 400, START_MS + 600)
    assert count_lost(file, [[window], [window, window]]) in ([[1], [1, 0]], [[1], [0, 1]])


def test_what_the_end_of_the_load_broke_off_was_not_lost(tmp_path):
    took = (99, 100, 101)
    file = written(tmp_path, row(0), *(gone(500, it) for it in took), gone(700))
    assert count_lost(file, [[(START_MS, START_MS + 1000)]], START_MS + 600) == [[2]]
    seen = Resources(outages=(WorkerOutage("0", 7, 0.1, 1.0),))
    assert with_losses(seen, [], file, START_MS, 0.6).outages[0].lost == 2


def test_without_windows_nothing_is_read():
    assert count_lost("no such file", [[], []]) == [[], []]


def test_a_file_that_is_no_jtl_is_refused(tmp_path):
    (tmp_path / "kpi.jtl").write_text("hello\n")
    with pytest.raises(JtlError):
        count_lost(tmp_path / "kpi.jtl", [[(0, 1)]])


def by_start(counts, pairs):
    """Windows that begin at the same moment are as good as each other."""
    found = Counter()
    for n, (at, _) in zip(counts, pairs, strict=True):
        found[at] += n
    return found


REQUESTS = st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 3000), st.booleans()))
WINDOWS = st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 3000)), max_size=4)


@settings(max_examples=25, deadline=None)
@given(REQUESTS, WINDOWS)
def test_counts_are_those_of_a_look_at_every_request(tmp_path_factory, requests, windows):
    rows = [gone(at, took) if lost else row(at, took) for at, took, lost in requests]
    pairs = [(low, low + length) for low, length in windows]
    expected = Counter()
    for at, took, lost in requests:
        over = [low for low, high in pairs if at <= high + GRACE_MS and at + took >= low]
        if lost and over:
            expected[max((low for low in over if low <= at), default=min(over))] += 1
    found = counted(tmp_path_factory.mktemp("jtl"), [row(0), *rows], *pairs)
    assert by_start(found, pairs) == expected


def test_reloads_and_outages_come_out_in_seconds_with_what_each_lost(tmp_path):
    file = written(tmp_path, row(0), gone(20_500), gone(31_000), gone(31_001))
    records = [reloaded(10, 12), reloaded(20, 22, "refused")]
    before = WorkerOutage("0", 79, 20.6, 20.1)  # its successor was online before it ended
    outages = (WorkerOutage("1", 77, 30.5, 31.5), WorkerOutage("0", 78, 40.0, None), before)
    found = with_losses(Resources(outages=outages), records, file, START_MS)
    assert found.reloads == (Reload(10, 12, 0, ""), Reload(20, 22, 1, "refused"))
    assert [(it.pid, it.lost) for it in found.outages] == [(77, 2), (78, 0), (79, 1)]


@given(st.integers(10**12, 2 * 10**12), st.integers(0, 10**8), st.integers(0, 10**5))
def test_an_outage_is_compared_in_the_whole_milliseconds_that_the_watch_noted(
    origin_ms, after_ms, lasted_ms
):
    went_ms = origin_ms + after_ms
    # As workers has them: the difference of two moments in seconds.
    from_s, to_s = (ms / 1000 - origin_ms / 1000 for ms in (went_ms, went_ms + lasted_ms))
    assert _window(WorkerOutage("0", 7, from_s, to_s), origin_ms) == (went_ms, went_ms + lasted_ms)
    assert _window(WorkerOutage("0", 7, from_s, None), origin_ms) == (went_ms, float("inf"))
