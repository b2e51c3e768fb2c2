"""What other load generators print, as recorded from real runs (golden/crosscheck)."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from golden_lines import FOLDER
from tollgate.study.crosscheck_results import (
    ToolError,
    ToolResult,
    ab_version,
    checked,
    of_ab,
    of_autocannon,
    of_loadtest,
    recorded,
)

AB = ToolResult("ab", "2.3", 2878, 0, 3.006, 2878 / 3.006, 14.869, 21.0, 45.156, 0.0, 0.2)


def golden(name: str) -> str:
    return (FOLDER / "crosscheck" / name).read_text()


def test_ab_is_read_with_percentiles_finer_than_a_millisecond():
    lines = dict(line.split(",") for line in golden("ab.csv").splitlines())
    result = of_ab(golden("ab.txt"), golden("ab.csv"), cpu_s=0.2)
    assert (result.p50_ms, result.p95_ms) == (float(lines["50"]), float(lines["95"]))
    assert round(result.p50_ms) == 15  # as its report says in whole milliseconds
    assert result.throughput == pytest.approx(957.41, abs=0.2)  # seconds stand there in ms
    shared = {"p50_ms": AB.p50_ms, "p95_ms": AB.p95_ms}
    assert {**asdict(result), **shared} == asdict(AB)


def test_ab_tells_of_answers_that_are_no_success():
    result = of_ab(golden("ab-refused.txt"), golden("ab.csv"), cpu_s=0)
    assert (result.requests, result.failed) == (50, 50)


def test_ab_without_keep_alive_is_refused():
    text = golden("ab.txt").replace("Keep-Alive requests:    2878", "Keep-Alive requests:    12")
    with pytest.raises(ToolError, match="kept only 12 connections of 2878 alive"):
        of_ab(text, golden("ab.csv"), cpu_s=0)


@pytest.mark.parametrize(
    "line", ["Complete requests", "Time taken for tests", "Failed requests", "Total:"]
)
def test_a_line_that_ab_no_longer_prints_is_named(line):
    with pytest.raises(ToolError, match=f"no line '{line.rstrip(':')}'"):
        of_ab(golden("ab.txt").replace(line, "Something else"), golden("ab.csv"), cpu_s=0)


def test_a_program_that_is_not_apachebench_is_refused():
    with pytest.raises(ToolError, match="not ApacheBench"):
        ab_version("usage: ab FILE")


def test_percentiles_that_ab_did_not_write_are_named():
    with pytest.raises(ToolError, match="no line for 50 or 95"):
        of_ab(golden("ab.txt"), "", cpu_s=0)


def test_autocannon_is_read_from_its_json():
    assert of_autocannon(golden("autocannon.json"), "9.0.0", cpu_s=0.5) == ToolResult(
        *("autocannon", "9.0.0", 4440, 0, 3.05, 4440 / 3.05),
        *(12.0, 13.04, None, 1.0, 0.5),
    )


def test_what_autocannon_lost_counts_among_requests_and_failures():
    told = json.loads(golden("autocannon.json")) | {"errors": 7, "timeouts": 7, "non2xx": 3}
    result = of_autocannon(json.dumps(told), "9.0.0", cpu_s=0)
    assert (result.requests, result.failed) == (4447, 10)


def test_loadtest_is_read_from_what_its_api_gives():
    assert of_loadtest(golden("loadtest.json"), "8.2.1", cpu_s=0.6) == ToolResult(
        *("loadtest", "8.2.1", 3899, 0, 3.001, 3899 / 3.001),
        *(13.0, 14.8, 28.0, 1.0, 0.6),
    )


def test_loadtest_cuts_times_to_whole_milliseconds():
    """Half a step more is the middle: its own histogram, cut, has the mean of the uncut times less
    half a millisecond, and the median lies in the millisecond that is told."""
    told = json.loads(golden("loadtest.json"))
    counts = {int(ms): count for ms, count in told["histogramMs"].items()}
    below = sum(count for ms, count in counts.items() if ms < told["percentiles"]["50"])
    up_to = below + counts[told["percentiles"]["50"]]
    assert below <= told["totalRequests"] / 2 < up_to
    assert told["accumulatedMs"] == sum(ms * count for ms, count in counts.items())


@pytest.mark.parametrize("read", [of_autocannon, of_loadtest])
@pytest.mark.parametrize("text", ["", "[]", "Error: socket hang up", "null"])
def test_output_that_is_no_object_is_quoted(read, text):
    with pytest.raises(ToolError, match="printed no JSON object"):
        read(text, "1.0", 0.0)


@pytest.mark.parametrize("read", [of_autocannon, of_loadtest])
def test_an_object_with_other_fields_is_refused(read):
    with pytest.raises(ToolError, match=r"its result can't be read: KeyError"):
        read("{}", "1.0", 0.0)


def test_a_run_without_a_good_answer_is_no_result():
    with pytest.raises(ToolError, match="none of 50 requests was answered well"):
        checked(of_ab(golden("ab-refused.txt"), golden("ab.csv"), cpu_s=0), seconds=1)


def test_a_run_that_ended_early_is_no_result():
    assert checked(AB, seconds=3) is AB
    with pytest.raises(ToolError, match=r"ab: ended after 3\.006 s of 4"):
        checked(AB, seconds=4)


@pytest.mark.parametrize("p95", [45.156, None])
def test_a_result_survives_being_written_and_read(p95):
    told = asdict(AB) | {"p95_ms": p95}
    assert asdict(recorded(json.dumps(told))) == told


@pytest.mark.parametrize(
    ("field", "value"), [("requests", "many"), ("p50_ms", None), ("tool", 3), ("failed", True)]
)
def test_a_damaged_record_is_refused_by_its_field(field, value):
    with pytest.raises(ToolError, match=f"{field} is "):
        recorded(json.dumps(asdict(AB) | {field: value}))


def test_a_record_with_other_fields_is_refused():
    with pytest.raises(ToolError, match="must hold exactly tool, version, requests"):
        recorded('{"tool": "ab"}')
