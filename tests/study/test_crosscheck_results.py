"""What autocannon prints, as recorded from a real run (golden/crosscheck)."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from support.golden_lines import FOLDER
from tollgate.study.crosscheck_tools import ToolError, ToolResult, checked, of_autocannon, recorded

RESULT = ToolResult(
    *("autocannon", "9.0.0", 4440, 0, 3.05, 4440 / 3.05),
    *(12.0, 13.04, None, 1.0, 0.5),
)
#: What a run made before left of ab.
OF_AB = ToolResult("ab", "2.3", 2878, 0, 3.006, 2878 / 3.006, 14.869, 21.0, 45.156, 0.0, 0.2)
PRINTED = (FOLDER / "crosscheck" / "autocannon.json").read_text()


def test_autocannon_is_read_from_its_json():
    assert of_autocannon(PRINTED, "9.0.0", cpu_s=0.5) == RESULT


def test_what_autocannon_lost_counts_among_requests_and_failures():
    told = json.loads(PRINTED) | {"errors": 7, "timeouts": 7, "non2xx": 3}
    result = of_autocannon(json.dumps(told), "9.0.0", cpu_s=0)
    assert (result.requests, result.failed) == (4447, 10)


@pytest.mark.parametrize("text", ["", "[]", "Error: socket hang up", "null"])
def test_output_that_is_no_object_is_quoted(text):
    with pytest.raises(ToolError, match="printed no JSON object"):
        of_autocannon(text, "1.0", 0.0)


def test_an_object_with_other_fields_is_refused():
    with pytest.raises(ToolError, match=r"its result can't be read: KeyError"):
        of_autocannon("{}", "1.0", 0.0)


def test_a_run_without_a_good_answer_is_no_result():
    with pytest.raises(ToolError, match="none of 50 requests was answered well"):
        checked(replace(RESULT, requests=50, failed=50), seconds=1)


def test_a_run_that_ended_early_is_no_result():
    assert checked(RESULT, seconds=3) is RESULT
    with pytest.raises(ToolError, match=r"autocannon: ended after 3\.05 s of 4"):
        checked(RESULT, seconds=4)


@pytest.mark.parametrize("result", [RESULT, OF_AB], ids=["autocannon", "ab"])
def test_a_result_survives_being_written_and_read(result):
    assert recorded(json.dumps(asdict(result))) == result


@pytest.mark.parametrize(
    ("field", "value"), [("requests", "many"), ("p50_ms", None), ("tool", 3), ("failed", True)]
)
def test_a_damaged_record_is_refused_by_its_field(field, value):
    with pytest.raises(ValueError, match=f"{field}: input should be a valid .+, not {value!r}"):
        recorded(json.dumps(asdict(RESULT) | {field: value}))


def test_a_record_with_other_fields_is_refused():
    with pytest.raises(ValueError, match="version: it is missing"):
        recorded('{"tool": "autocannon"}')
    with pytest.raises(ValueError, match="score: there is no such field"):
        recorded(json.dumps(asdict(RESULT) | {"score": 1}))
