"""verdict.schema.json against what is written, and against what must not be."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from support import PLANS
from support.judged import RUNS, judged, runs
from tollgate.base.paths import ROOT
from tollgate.outputs.junit import to_dict, to_json
from tollgate.run.environment import fingerprint

SCHEMA = json.loads((ROOT / "scripts" / "tollgate" / "outputs" / "verdict.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def environment():
    return fingerprint(PLANS)


def content_of(run, environment, **changed):
    return json.loads(to_json(to_dict(*judged(run, **changed), "check", environment)))


def faults(content):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(content)]


def test_the_schema_is_a_valid_schema():
    Draft202012Validator.check_schema(SCHEMA)


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


def objects(schema):
    """Every part of the schema that lists fields."""
    parts = [part for part in schema.values() if isinstance(part, dict)]
    found = [schema] if "properties" in schema else []
    return found + [each for part in parts for each in objects(part)]


def test_every_field_is_described_and_required_and_no_other_is_allowed():
    parts = objects(SCHEMA)
    assert all(each in parts for each in SCHEMA["$defs"].values() if each.get("type") == "object")
    assert SCHEMA in parts
    for part in parts:
        assert part["additionalProperties"] is False
        assert sorted(part["required"]) == sorted(part["properties"])
        for name, field in part["properties"].items():
            assert field.get("description", "").endswith("."), name


def test_a_time_or_a_size_names_its_unit():
    units = {"_ms": "ms", "_s": "econds", "_bytes": "bytes"}
    fields = [field for part in objects(SCHEMA) for field in part["properties"].items()]
    timed = [field for field in fields if field[0].endswith(tuple(units))]
    assert {"memory_bytes", "warmup_s", "lateness_max_ms"} <= {name for name, _ in timed}
    for name, field in timed:
        assert units[name[name.rindex("_") :]] in field["description"], name


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.update(verdict="PASSED"),
        lambda it: it.update(exit_code=4),
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
