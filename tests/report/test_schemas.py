"""The JSON Schemas in the tree are those of the models, and describe every field."""

import json
import os

import pytest
from jsonschema import Draft202012Validator

from support import ROOT
from tollgate.compare.profile import model as why
from tollgate.history import model as history
from tollgate.report import json_verdict, study
from tollgate.report.json_model import schema

FOLDER = ROOT / "scripts" / "tollgate"
FILES = {
    "report/verdict.schema.json": (json_verdict.VerdictFile, json_verdict.TITLE),
    "report/study.schema.json": (study.StudyFile, study.TITLE),
    "report/why.schema.json": (why.Why, why.TITLE),
    "history/history.schema.json": (history.HistoryRecord, history.TITLE),
}
every_schema = pytest.mark.parametrize("name", FILES)


def read(name):
    return json.loads((FOLDER / name).read_text())


def objects(schema):
    """Every part of a schema that lists fields."""
    parts = [part for part in schema.values() if isinstance(part, dict)]
    found = [schema] if "properties" in schema else []
    return found + [each for part in parts for each in objects(part)]


@every_schema
def test_a_schema_in_the_tree_is_that_of_its_model(name):
    text = schema(*FILES[name])
    if os.environ.get("TOLLGATE_WRITE_GOLDEN"):
        (FOLDER / name).write_text(text)
    assert (FOLDER / name).read_text() == text


@every_schema
def test_a_schema_is_a_valid_one(name):
    Draft202012Validator.check_schema(read(name))


@every_schema
def test_every_field_is_described_and_required_and_no_other_is_allowed(name):
    found = read(name)
    parts = objects(found)
    assert all(each in parts for each in found["$defs"].values())
    assert found in parts
    for part in parts:
        assert part["additionalProperties"] is False
        assert sorted(part["required"]) == sorted(part["properties"])
        assert part["description"].endswith(".")
        for field_name, field in part["properties"].items():
            about = field if "description" in field else found["$defs"][field["$ref"][8:]]
            assert about["description"].endswith("."), field_name


@every_schema
def test_a_time_or_a_size_names_its_unit(name):
    units = {"_ms": "ms", "_us": "icroseconds", "_s": "econds", "_bytes": "bytes"}
    fields = [field for part in objects(read(name)) for field in part["properties"].items()]
    timed = [field for field in fields if field[0].endswith(tuple(units))]
    assert {"memory_bytes", "from_s", "from_us"} & {field_name for field_name, _ in timed}
    for field_name, field in timed:
        unit = units[field_name[field_name.rindex("_") :]]
        assert unit in field["description"], field_name
