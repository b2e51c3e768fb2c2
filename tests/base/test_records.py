import json
import math
import os
from dataclasses import dataclass, field
from typing import Any

import pytest

from tollgate.base import records


@dataclass(frozen=True)
class Part:
    __pydantic_config__ = records.STRICT

    share: float
    names: tuple[str, ...] = ()

    def __post_init__(self):
        if self.share < 0:
            raise ValueError("share must not be negative")


@dataclass
class Whole:
    __pydantic_config__ = records.STRICT

    name: str
    parts: list[Part]
    more: dict[str, Any] = field(default_factory=dict)
    at_s: float | None = None


class RefusedError(Exception):
    pass


@pytest.fixture
def path(tmp_path):
    return tmp_path / "whole.json"


def read(path):
    return records.read(path, Whole, RefusedError, "test", "write it again")


def refusal(path):
    with pytest.raises(RefusedError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_was_written_is_read_back(path):
    whole = Whole("Ünïcode 🐌", [Part(0.5, ("a", "b"))], {"deep": [1, {"x": None}]}, 0.5)
    records.write(path, whole)
    assert read(path) == whole


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("more", [True, False])
def test_what_is_no_number_is_refused_in_any_field(path, number, more):
    whole = Whole("a", [], {"x": number}) if more else Whole("a", [], {}, number)
    records.write(path, whole)
    assert json.dumps(number) in refusal(path)


HARMFUL = {
    "a number too large to be one": ('{"name": "a", "parts": [], "at_s": 1e999}', "at_s: "),
    "brackets without end": ("[" * 100_000, "whole.json can't be read"),
}


@pytest.mark.parametrize(("text", "why"), HARMFUL.values(), ids=HARMFUL)
def test_what_would_harm_a_reader_is_refused(path, text, why):
    path.write_text(text)
    assert why in refusal(path)


def test_a_field_that_an_older_version_did_not_write_has_its_default(path):
    path.write_text('{"name": "a", "parts": [{"share": 1}]}')
    assert read(path) == Whole("a", [Part(1.0)])


def test_a_name_that_is_not_utf_8_does_not_make_a_record_unreadable(path):
    records.write(path, Whole("caf\udce9", []))
    assert read(path).name == "caf?"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "name: it is missing"),
        ({"name": 5, "parts": []}, "name: input should be a valid string, not 5"),
        ({"name": "a", "parts": [], "nome": 1}, "nome: there is no such field, and it is 1"),
        ({"name": "a", "parts": [{"share": "1"}]}, "parts.0.share: input should be a valid number"),
        ({"name": "a", "parts": [{"share": -1}]}, "parts.0: share must not be negative"),
        ([], "it holds no object but []"),
    ],
)
def test_a_wrong_record_is_refused_with_file_field_and_value(path, fields, why):
    path.write_text(json.dumps(fields))
    assert refusal(path).startswith(f"{path} can't be read: {why}")
    assert refusal(path).endswith("; write it again")


def test_a_folder_without_the_file_is_refused_as_what_it_is_not(path):
    said = (
        f"{path.parent} is not the folder of a test: it has no whole.json; name one under reports/"
    )
    assert refusal(path) == said


def test_a_pipe_is_no_record_and_keeps_nobody_waiting(path):
    os.mkfifo(path)
    with pytest.raises(RefusedError, match=r"whole.json can't be read: it is no file"):
        records.read(path, Whole, RefusedError, "run")
