"""Parameters of OpenAPI and Swagger in the style that a document says."""

from pathlib import Path

import pytest

from support.openapi_documents import operation, parameter
from tollgate.intake.styles import in_path_or_header, query_pairs
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service

LIST, COLOR = ["blue", "black"], {"R": 100, "G": 200}


def _asked(draft):
    """URLs of the first row."""
    first = {name: it[0] for name, it in draft.data.items()}
    return [it["url"].replace("${", "{").format(**first) for it in draft.requests]


@pytest.mark.parametrize(
    ("said", "value", "sent"),
    [
        # The table of OpenAPI 3.2.0, "Style Examples".
        ({}, "blue", "color=blue"),
        ({}, LIST, "color=blue&color=black"),
        ({}, COLOR, "R=100&G=200"),
        ({"explode": False}, LIST, "color=blue,black"),
        ({"explode": False}, COLOR, "color=R,100,G,200"),
        ({"style": "spaceDelimited"}, LIST, "color=blue%20black"),
        ({"style": "spaceDelimited"}, COLOR, "color=R%20100%20G%20200"),
        ({"style": "pipeDelimited"}, LIST, "color=blue%7Cblack"),
        ({"style": "pipeDelimited", "explode": True}, LIST, "color=blue&color=black"),
        ({"style": "deepObject", "explode": True}, COLOR, "color%5BR%5D=100&color%5BG%5D=200"),
        ({"style": "deepObject"}, {"a": {"b": 1}}, "color%5Ba%5D%5Bb%5D=1"),
        ({}, True, "color=true"),
        ({}, [], ""),
        ({}, "a&b/c", "color=a%26b%2Fc"),
        ({"allowReserved": True}, "a&b/c", "color=a%26b/c"),
        (
            {"content": {"application/json": {}}},
            COLOR,
            "color=%7B%22R%22%3A%20100%2C%20%22G%22%3A%20200%7D",
        ),
        (
            {"in": "querystring", "content": {"application/x-www-form-urlencoded": {}}},
            COLOR,
            "R=100&G=200",
        ),
        ({"in": "querystring", "content": {"application/json": {}}}, 1, "1"),
    ],
)
def test_a_query_is_written_by_style_and_explode(said, value, sent):
    pairs = query_pairs(parameter("color", **{"place": said.pop("in", "query"), **said}), value)
    assert "&".join(f"{key}={text}" if key else text for key, text in pairs) == sent


@pytest.mark.parametrize(
    ("said", "value", "sent"),
    [
        ({}, "blue", "blue"),
        ({}, LIST, "blue,black"),
        ({}, COLOR, "R,100,G,200"),
        ({"explode": True}, COLOR, "R=100,G=200"),
        ({"style": "label"}, "blue", ".blue"),
        ({"style": "label"}, LIST, ".blue,black"),
        ({"style": "label", "explode": True}, LIST, ".blue.black"),
        ({"style": "label", "explode": True}, COLOR, ".R=100.G=200"),
        ({"style": "matrix"}, "blue", ";color=blue"),
        ({"style": "matrix"}, LIST, ";color=blue,black"),
        ({"style": "matrix", "explode": True}, LIST, ";color=blue;color=black"),
        ({"style": "matrix"}, COLOR, ";color=R,100,G,200"),
        ({"style": "matrix", "explode": True}, COLOR, ";R=100;G=200"),
        ({}, "a b/c", "a%20b%2Fc"),
        ({"place": "header"}, ["a b", "c"], "a b,c"),
    ],
)
def test_a_path_and_a_header_are_written_by_style_and_explode(said, value, sent):
    assert in_path_or_header(parameter("color", **{"place": "path", **said}), value) == sent


@pytest.mark.parametrize(
    ("format_", "sent"),
    [
        (None, "color=blue,black"),
        ("csv", "color=blue,black"),
        ("ssv", "color=blue%20black"),
        ("tsv", "color=blue%09black"),
        ("pipes", "color=blue%7Cblack"),
        ("multi", "color=blue&color=black"),
    ],
)
def test_swagger_says_by_collection_format_how_a_list_is_written(format_, sent):
    said = {"name": "color", "in": "query", "type": "array"}
    said |= {"collectionFormat": format_} if format_ else {}
    assert "&".join(f"{key}={text}" for key, text in query_pairs(said, LIST)) == sent


def test_parameters_of_several_values_are_columns_of_whole_pairs(draft):
    person = {"author": {"example": "doe"}, "year": {"type": "integer", "example": 1999}}
    parameters = [
        parameter("filter", schema={"type": "object", "properties": person}, style="deepObject"),
        parameter("ids", schema={"type": "array", "example": [3, 4]}, explode=False),
        parameter("tags", schema={"type": "array", "items": {"type": "string"}, "minItems": 2}),
        parameter("state", schema={"type": "array", "items": {"enum": ["on", "off"]}}),
        parameter("word", example="a"),
    ]
    for it in parameters:
        it["required"] = True
    found = draft({"/books": {"get": operation(*parameters)}})
    [request] = found.requests
    assert request["url"] == "/books?${filter}&ids=${ids}&${tags}&state=${state}&word=${word}"
    assert request["x-guessed"] == "filter, tags"
    assert _asked(found) == [
        "/books?filter%5Bauthor%5D=doe&filter%5Byear%5D=1999&ids=3,4"
        "&tags=tags-1&tags=tags-2&state=on&word=a"
    ]
    service = {"url": "http://127.0.0.1:1", "requests": [{"label": "a", "url": request["url"]}]}
    assert parts_of(read_service("shop", service), Path()).requests
