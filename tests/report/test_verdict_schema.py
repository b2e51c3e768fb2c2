"""verdict.schema.json against what is written, and against what must not be."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from support import PLANS
from support.judged import RUNS, judged, runs
from tollgate.base.paths import SUITE
from tollgate.record.environment import fingerprint
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict

SCHEMA = json.loads((SUITE / "scripts" / "tollgate" / "report" / "verdict.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def environment():
    return fingerprint(PLANS)


def content_of(run, environment, **changed):
    return json.loads(to_json(to_dict(*judged(run, **changed), "check", environment)))


def faults(content):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(content)]


@pytest.mark.parametrize("name", RUNS)
def test_a_written_verdict_is_what_the_schema_says(name, environment):
    assert faults(content_of(RUNS[name], environment)) == []


def test_a_pass_of_what_cannot_be_told_is_what_the_schema_says(environment):
    content = content_of(RUNS["inconclusive"], environment, inconclusive_passes=True)
    assert (content["verdict"], content["exit_code"], faults(content)) == ("INCONCLUSIVE", 0, [])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_any_verdict_is_what_the_schema_says(environment, run):
    assert faults(content_of(run, environment)) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.update(verdict="PASSED"),
        lambda it: it.update(exit_code=6),
        lambda it: it.pop("reasons"),
        lambda it: it.update(score=1),
        lambda it: it["reasons"][0].update(fault="nobody"),
        lambda it: it["reasons"][0].update(verdict="PASS"),
        lambda it: it["environment"].pop("commit"),
        lambda it: it["environment"]["plans"].update({"a.jmx": "abc"}),
        lambda it: it["executions"][0]["criteria"][0].update(observed="195"),
        lambda it: it["executions"][0]["criteria"][0].update(interval=[194]),
        lambda it: it["executions"][0]["criteria"][0].update(unit="seconds"),
        lambda it: it["executions"][0]["criteria"][0].update(samples=-1),
    ],
)
def test_what_is_not_a_verdict_is_refused(spoil, environment):
    content = content_of(RUNS["fail"], environment)
    assert faults(content) == []
    spoiled = copy.deepcopy(content)
    spoil(spoiled)
    assert faults(spoiled) != []
