"""Values that are drawn from schemas: what these allow, or remarked."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.openapi_documents import by_label, operation, parameter
from tollgate.intake.dialect import as_json_schema
from tollgate.intake.values import ROWS, Budget, Draws, drawn, problem_of

_ENDLESS = 1e9


def _problems(schema):
    budget = Budget(left_s=_ENDLESS)
    draws = Draws.of("a", budget)
    values = [drawn(schema, draws, n) for n in range(1, ROWS + 1)]
    return [(it, why) for it in values if (why := problem_of(schema, it, budget))]


@st.composite
def _bounds(draw, numbers):
    low, width = draw(numbers), draw(st.integers(1, 1000))
    low_key = draw(st.sampled_from(["minimum", "exclusiveMinimum"]))
    high_key = draw(st.sampled_from(["maximum", "exclusiveMaximum"]))
    words = {low_key: low, high_key: low + width + 1}
    return {key: words[key] for key in draw(st.sets(st.sampled_from([*words])))}


_INTEGERS = _bounds(st.integers(-1000, 1000)).map(lambda it: {"type": "integer", **it})
_NUMBERS = _bounds(st.integers(-40, 40).map(lambda it: it / 8)).map(
    lambda it: {"type": "number", **it}
)
_PIECES = st.sampled_from(
    [r"\d{5}", "[A-Z]{2,3}", "(a|bc)", r"\w+", "-?", "[^x]", ".", r"(?:\.\d{0,2})?", "é", r"\s"]
)
_PATTERNS = st.lists(_PIECES, min_size=1, max_size=4).map(lambda it: f"^{''.join(it)}$")
_TEXTS = st.one_of(
    st.builds(dict, type=st.just("string"), pattern=_PATTERNS),
    st.builds(
        dict, type=st.just("string"), minLength=st.integers(0, 9), maxLength=st.integers(9, 20)
    ),
    st.builds(
        dict,
        type=st.just("string"),
        format=st.sampled_from(["date", "date-time", "time", "uuid", "email", "ipv4", "ipv6"]),
    ),
)
_LEAVES = st.one_of(_INTEGERS, _NUMBERS, _TEXTS, st.just({"type": "boolean"}))


def _around(inner):
    names = st.dictionaries(st.sampled_from(["id", "name", "zip", "a b"]), inner, max_size=3)
    objects = names.map(lambda it: {"type": "object", "required": sorted(it), "properties": it})
    lists = st.builds(dict, type=st.just("array"), items=inner, minItems=st.integers(0, 3))
    tuples = st.builds(
        lambda places, words: {"prefixItems": places, **words},
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from([{}, {"type": "array"}, {"items": False}, {"maxItems": 1}]),
    )
    maps = st.builds(
        dict,
        type=st.just("object"),
        minProperties=st.integers(0, 3),
        additionalProperties=inner,
        propertyNames=st.sampled_from([{}, {"pattern": "^[a-f]{4}$"}]),
    )
    return st.one_of(
        objects,
        maps,
        lists,
        tuples,
        st.lists(inner, min_size=1, max_size=3).map(lambda it: {"anyOf": it}),
    )


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.recursive(_LEAVES, _around, max_leaves=6))
def test_what_is_drawn_from_any_schema_is_valid(schema):
    assert not _problems(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": -5, "maximum": 100},
        {"type": "integer", "minimum": 0, "exclusiveMinimum": False},
        {"type": "number"},
        {},
    ],
)
def test_numbers_begin_at_1_where_they_may(schema):
    assert drawn({"type": "integer", **schema}, Draws.of("a", Budget())) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "maximum": 0},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
        {"type": "integer", "exclusiveMinimum": 3.5, "maximum": 4},
        {"type": "number", "multipleOf": 0.25, "minimum": 0.1, "maximum": 0.8},
        {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 3},
        {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}},
        {"oneOf": [{"type": "string", "pattern": "^a$"}, {"type": "integer"}], "minimum": 3},
        {"type": "string", "pattern": "^[a-z]*$", "minLength": 30, "maxLength": 60},
    ],
)
def test_what_leaves_little_room_is_drawn_within_it(schema):
    assert not _problems(schema)


def _posted(draft, schema, **more):
    body = {"required": True, "content": {"application/json": {"schema": schema, **more}}}
    found = draft({"/items": {"post": operation(requestBody=body)}}, "POST /items")
    return by_label(found)["POST /items"]["body"], found.remarks


def test_a_body_keeps_the_patterns_of_its_schema(draft):
    """Of a Django REST Framework DecimalField, for one."""
    price = {"type": "string", "format": "decimal", "pattern": r"^-?\d{0,6}(?:\.\d{0,2})?$"}
    code = {"type": "string", "pattern": r"^\d{5}$"}
    properties = {"zip": code, "price": price}
    schema = {"type": "object", "required": [*properties], "properties": properties}
    body, remarks = _posted(draft, schema)
    assert re.fullmatch(r"\d{5}", body["zip"])
    assert body["price"] == "1"
    assert not remarks


@pytest.mark.parametrize(
    ("schema", "more", "said"),
    [
        ({"type": "string", "pattern": r"^\p{L}$"}, {}, r"the schema can't be used: bad escape \p"),
        ({"type": "string", "pattern": "^a(?!b)b"}, {}, "'text-1' does not match '^a(?!b)b'"),
        ({"type": "integer", "minimum": 5, "maximum": 3}, {}, "1 is less than the minimum of 5"),
        ({"type": "integer"}, {"example": "many"}, "'many' is not of type 'integer'"),
    ],
)
def test_a_body_that_its_schema_does_not_allow_is_remarked(draft, schema, more, said):
    _, remarks = _posted(draft, schema, **more)
    assert [it for it in remarks if said in it and it.startswith("correct the body of POST /items")]


def test_of_several_branches_that_is_drawn_whose_value_the_whole_schema_allows(draft):
    """As Elysia describes a number of a path."""
    branches = [
        {"format": "integer", "default": 0, "type": "string"},
        {"minimum": 1, "type": "integer"},
    ]
    identity = parameter("id", "path", {"minimum": 1, "anyOf": branches}, required=True)
    found = draft({"/items/{id}": {"get": operation(identity)}})
    assert found.data["id"] == tuple(str(n) for n in range(1, ROWS + 1))


def test_what_an_answer_alone_has_is_not_missed_in_a_body(draft):
    identity = {"type": "integer", "readOnly": True}
    properties = {"id": identity, "name": {"type": "string"}}
    schema = {"type": "object", "required": ["id", "name"], "properties": properties}
    assert _posted(draft, schema) == ({"name": "name-1"}, ())
    assert as_json_schema(schema)["required"] == ["id", "name"]


def test_values_are_compared_for_some_seconds_and_a_remark_says_so(draft, monkeypatch):
    monkeypatch.setattr(Budget, "left_s", 0.0)
    monkeypatch.setattr(Budget.__init__, "__defaults__", (500_000, 0.0))
    _, [remark] = _posted(draft, {"type": "integer", "minimum": 5, "maximum": 3})
    assert remark.startswith("not all values were compared with their schemas")


@pytest.mark.parametrize("more", [{}, {"minItems": 2, "maxItems": 2}, {"items": False}])
def test_a_tuple_has_all_of_its_places(more):
    schema = {"type": "array", "prefixItems": [{"type": "integer"}, {"format": "date"}], **more}
    assert drawn(schema, Draws.of("a", Budget())) == [1, "2026-01-03"]


@pytest.mark.parametrize("text", ["2.5", "1e1", "-0"])
def test_a_bound_that_a_generator_wrote_as_a_text_is_the_number(text):
    schema = {"type": "number", "minimum": text}
    assert _problems(schema) == []
    assert min(drawn(schema, Draws.of("a", Budget()), n) for n in range(1, ROWS + 1)) >= float(text)
    assert problem_of(schema, float(text) - 1, Budget())


def test_an_object_has_as_many_properties_as_it_must_of_those_that_it_may():
    schema = {
        "type": "object",
        "minProperties": 2,
        "properties": {"a": {"type": "integer", "readOnly": True}, "b": {"type": "integer"}},
        "patternProperties": {"^x-[0-9]$": {"type": "boolean"}},
        "additionalProperties": False,
    }
    # Deep inside, where what is optional is not drawn.
    holder = {"type": "object", "required": ["in"], "properties": {"in": schema}}
    outer = {"type": "object", "required": ["out"], "properties": {"out": holder}}
    assert _problems(outer) == []
