"""The slowest requests of a JTL, against all of its rows sorted."""

import numpy as np
import pytest

from support.jtl_rows import HEADER, START_MS, lines
from tollgate.samples.slowest import MOST, OF_LABEL, slowest
from tollgate.samples.store import open_store

TEST_START = START_MS - 2000
WITH_TRACES = f"{HEADER},URL,TESTSTART.MS,coin,tollgate_trace"
URL = "http://127.0.0.1:3001/sum"


def written(rows, header=WITH_TRACES):
    """The bytes of a JTL with (label, start, elapsed, URL, coin, what was drawn) of each row."""
    said = ("OK", "TG 1-1")
    every = [
        [at, took, label, "200", *said, "true", 9, 2, 3, took, "h", 1, url, TEST_START, coin, drawn]
        for label, at, took, url, coin, drawn in rows
    ]
    return lines([list(map(str, row[: header.count(",") + 1])) for row in every], header=header)


def drawn_rows(seed, number=120):
    """Of a dozen labels, with many that took equally long."""
    numbers = np.random.default_rng(seed)
    for _ in range(number):
        label, took, start, coin = numbers.integers((12, 30, 10, 4))
        drawn = f"{numbers.integers(2**64, dtype=np.uint64):016x}"
        yield f"label {label}", START_MS + int(start), int(took), URL, str(coin), drawn


@pytest.mark.parametrize("seed", range(4))
def test_they_are_the_first_of_each_label_and_of_all_when_sorted(path, seed):
    rows = [*drawn_rows(seed)]
    path.write_bytes(written(rows))
    with open_store(path) as store:
        found = slowest(store, START_MS + 2, START_MS + 8, ())
    inside = [row for row in rows if START_MS + 2 <= row[1] < START_MS + 8]
    first = [
        took
        for label in {row[0] for row in inside}
        for took in sorted((row[2] for row in inside if row[0] == label), reverse=True)[:OF_LABEL]
    ]
    assert len(first) > MOST
    assert [request.elapsed_ms for request in found] == sorted(first, reverse=True)[:MOST]
    by_trace = {f"000{TEST_START}{row[-1]}": row for row in inside}
    for request in found:
        label, start_ms, elapsed_ms, _, coin, _ = by_trace[request.trace]
        shown = (request.label, request.start_ms, request.elapsed_ms, request.side)
        assert shown == (label, start_ms, elapsed_ms, int(coin) % 2)


NOT_DRAWN = [(URL, ""), (URL, "null"), (URL, "12"), (URL, "x" * 16), ("null", "1" * 16)]


@pytest.mark.parametrize(("url", "drawn"), [*NOT_DRAWN, ("", "1" * 16), ("jdbc:x", "1" * 16)])
def test_a_row_that_shows_no_request_of_a_trace_has_none(path, url, drawn):
    path.write_bytes(written([("a", START_MS, 5, url, "0", drawn)]))
    with open_store(path) as store:
        (request,) = slowest(store, 0, 9e15, ())
    assert (request.elapsed_ms, request.trace) == (5, "")


@pytest.mark.parametrize("columns", ["", ",URL", ",URL,TESTSTART.MS"])
def test_a_jtl_of_an_earlier_run_has_slowest_requests_without_traces(path, columns):
    path.write_bytes(written([("a", START_MS, 5, URL, "0", "1" * 16)], HEADER + columns))
    with open_store(path) as store:
        (request,) = slowest(store, 0, 9e15, ())
    assert (request.elapsed_ms, request.trace, request.side) == (5, "", -1)
