"""A record is read back as it was written, and a wrong one is refused in one line."""

from __future__ import annotations

import json
import math
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


def read(path):
    return records.read(path, Whole, RefusedError, "test", "write it again")


def refusal(path):
    with pytest.raises(RefusedError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_was_written_is_read_back(tmp_path):
    whole = Whole("Ünïcode 🐌", [Part(0.5, ("a", "b"))], {"deep": [1, {"x": None}]}, 0.5)
    records.write(tmp_path / "whole.json", whole)
    assert read(tmp_path / "whole.json") == whole


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("more", [True, False])
def test_what_is_no_number_is_refused_in_any_field(tmp_path, number, more):
    whole = Whole("a", [], {"x": number}) if more else Whole("a", [], {}, number)
    records.write(tmp_path / "whole.json", whole)
    assert json.dumps(number) in refusal(tmp_path / "whole.json")


def test_a_number_too_large_to_be_one_is_refused(tmp_path):
    (tmp_path / "whole.json").write_text('{"name": "a", "parts": [], "at_s": 1e999}')
    assert "at_s: " in refusal(tmp_path / "whole.json")


def test_brackets_without_end_are_refused(tmp_path):
    (tmp_path / "whole.json").write_text("[" * 100_000)
    assert "whole.json can't be read" in refusal(tmp_path / "whole.json")


def test_a_field_that_an_older_version_did_not_write_has_its_default(tmp_path):
    (tmp_path / "whole.json").write_text('{"name": "a", "parts": [{"share": 1}]}')
    assert read(tmp_path / "whole.json") == Whole("a", [Part(1.0)])


def test_a_name_that_is_not_utf_8_does_not_make_a_record_unreadable(tmp_path):
    records.write(tmp_path / "whole.json", Whole("caf\udce9", []))
    assert read(tmp_path / "whole.json").name == "caf?"


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
def test_a_wrong_record_is_refused_with_file_field_and_value(tmp_path, fields, why):
    path = tmp_path / "whole.json"
    path.write_text(json.dumps(fields))
    assert refusal(path).startswith(f"{path} can't be read: {why}")
    assert refusal(path).endswith("; write it again")


def test_a_folder_without_the_file_is_refused_as_what_it_is_not(tmp_path):
    said = f"{tmp_path} is not the folder of a test: it has no whole.json; name one under reports/"
    assert refusal(tmp_path / "whole.json") == said
