"""Whatever a stranger sends that is large: handled, or refused in one line, within 500 MB. The
shapes are just beyond our own limits, and harmless to others."""

import json
import os
import random
import resource
import sys
import traceback
from pathlib import Path

import pytest

from support.openapi_documents import document, operation, parameter
from tollgate.base.text import UserError
from tollgate.intake import notation
from tollgate.intake.notation import DEEPEST, MOST_VALUES, parsed
from tollgate.intake.reading import draft_of
from tollgate.intake.values import MOST_DRAWN

#: Seconds of CPU after which a child counts as hanging.
_HANGS_S = 60
_MOST_MB = 500


def _child(path, named):
    """(status, text) of what a process of its own says of a file: "draft" or "refused"."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_HANGS_S, _HANGS_S))
        try:
            told = "draft", "\n".join(draft_of(str(path), "shop", path.parent, named).remarks)
        except UserError as problem:
            told = "refused", str(problem)
        except BaseException:
            told = "trace", traceback.format_exc()
        with os.fdopen(writes, "w") as out:
            json.dump(told, out)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as answer:
        text = answer.read()
    _, status, used = os.wait4(pid, 0)
    assert status == 0, "it was ended, or hung"
    return *json.loads(text), _most_mb(used)


def _most_mb(usage):
    # Darwin counts bytes.
    return usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What is said of a text, of which "\\n" ends no refusal, after its memory was measured."""
    monkeypatch.setattr("tollgate.intake.document._CHECKED_S", 0.3)
    before_mb = _most_mb(resource.getrusage(resource.RUSAGE_SELF))

    def tell(name, text, *named):
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        kind, said, used_mb = _child(path, named)
        assert kind in ("draft", "refused"), said
        assert kind == "draft" or ("\n" not in said and len(said) < 1000)
        # A child begins with what this process has.
        assert used_mb < max(_MOST_MB, before_mb + 400)
        return kind, said

    return tell


def _ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def _of_schemas(count, made):
    """A document that asks for the first of so many schemas. made: each by the next one's name."""
    schemas = {f"s{n}": made(_ref(f"s{n + 1}")) for n in range(count)}
    schemas[f"s{count}"] = {"type": "object"}
    return document({"/a": {"get": operation(schema=_ref("s0"))}}, components={"schemas": schemas})


def _gets(count, *parameters, **more):
    return document({f"/a{n}": {"get": operation(*parameters, **more)} for n in range(count)})


def _body(schema):
    content = {"application/json": {"schema": schema}}
    return document({"/a": {"post": operation(requestBody={"content": content})}})


def _nested(schema, times, key="items"):
    for _ in range(times):
        schema = {key: schema}
    return schema


def _needs(schema):
    return _gets(1, parameter("p", schema=schema, required=True))


def _aliases(levels, width):
    first = "s0: &s0 [" + ",".join("1" * width) + "]\n"
    rest = (f"s{n}: &s{n} [{','.join([f'*s{n - 1}'] * width)}]\n" for n in range(1, levels))
    return "openapi: 3.0.3\npaths: {/a: {get: {}}}\n" + first + "".join(rest)


def _merges(keys, times):
    pairs = ",".join(f"k{n}: 1" for n in range(keys))
    return f"openapi: 3.0.3\nx: &x {{{pairs}}}\ny: {{<<: [{','.join(['*x'] * times)}]}}\n"


#: Longer than any that is repeated in a document of use.
LONG = "x" * 100_000


#: Of which Python tries more and more ways, and none fits.
SLOW = {"type": "string", "pattern": "^(\\w+)*!$"}


def _repeated(schema, method="get"):
    """A document that refers to one schema a thousand times."""
    properties = {f"p{n}": _ref("s") for n in range(1000)}
    content = {"application/json": {"schema": {"type": "object", "properties": properties}}}
    place = "requestBody" if method == "post" else "responses"
    said = {"content": content, "description": "a"}
    asked = {"responses": {"200": {"description": "a"}}}
    asked |= {place: said if method == "post" else {"200": said}}
    return document({"/a": {method: asked}}, components={"schemas": {"s": schema}})


REFUSED = {
    "aliases of a long text": lambda: f"x: &x {LONG}\nopenapi: [{','.join(['*x'] * 1000)}]\n",
    "one key in all operations": lambda: {
        **document({f"/a{n}": {"$ref": "#/a"} for n in range(1000)}),
        "a": {"get": operation(schema={"type": "object", "required": [LONG]})},
    },
    "aliases": lambda: _aliases(8, 10),
    "merges": lambda: _merges(1000, MOST_VALUES // 1000 + 1),
    "within itself": lambda: "openapi: 3.0.3\nx: &x [*x]\n",
    "deep YAML": lambda: "a: " + "[" * DEEPEST + "]" * DEEPEST,
    "deep blocks": lambda: "".join(f"{' ' * n}a:\n" for n in range(DEEPEST + 1)),
    "deep JSON": lambda: '{"openapi": ' + "[" * DEEPEST + "]" * DEEPEST + "}",
    "very deep JSON": lambda: "[" * 5000,
    "many values": lambda: "[" + "{}," * (MOST_VALUES // 2 + 1) + "1]",
    "many lines": lambda: "- a\n" * (MOST_VALUES + 1),
    "long number": lambda: '{"openapi": ' + "9" * 301 + "}",
    "long number of YAML": lambda: "openapi: 0x" + "f" * 301,
    "operations": lambda: _gets(20_001),
    "parameters": lambda: _gets(1, *(parameter(f"p{n}", required=True) for n in range(30_000))),
    "long path": lambda: document({"/" + "a" * 2001: {"get": operation()}}),
    "long server": lambda: {**_gets(1), "servers": [{"url": "http://a/" + "b" * 2001}]},
    "servers of servers": lambda: {
        **_gets(1),
        "servers": [{"url": "/{a}" * 10, "variables": {"a": {"default": "b" * 2000}}}],
    },
    "long text": lambda: _needs({"type": "string", "minLength": 10 * MOST_DRAWN + 1}),
    "endless text": lambda: _needs({"type": "string", "minLength": 10**18}),
    "long name": lambda: _gets(1, parameter("p" * MOST_DRAWN, required=True)),
    "items": lambda: _body({"type": "array", "minItems": MOST_DRAWN}),
    "items of items": lambda: _body(
        _nested({"type": "array", "minItems": 100, "items": {}}, 1)["items"]
        | {"items": {"minItems": 100, "items": {"minItems": 100, "items": {}}}}
    ),
    "recording of secrets": lambda: _recording(
        "&".join(f"f{n}={random.Random(n).getrandbits(128):032x}" for n in range(12_000))
    ),
}


def _recording(text, count=1, mime="application/x-www-form-urlencoded", url="http://a.example/b"):
    post = {"mimeType": mime, "text": text}
    request = {"method": "POST", "url": url, "headers": [], "postData": post}
    content = {"mimeType": "application/json", "text": text}
    response = {"status": 200, "headers": [], "content": content}
    entry = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1}
    entries = [{**entry, "request": request, "response": response}] * count
    return {"log": {"version": "1.2", "entries": entries}}


def _paths(*paths):
    recorded = [_recording("a=b", url=f"http://a.example/{it}") for it in paths]
    entries = [entry for it in recorded for entry in it["log"]["entries"]]
    return {"log": {"version": "1.2", "entries": entries}}


@pytest.mark.parametrize("shape", REFUSED)
def test_what_is_too_large_is_refused_in_one_line(told, shape):
    kind, said = told("api", REFUSED[shape](), "POST /a")
    assert kind == "refused", said


HANDLED = {
    "all of twice, 30 deep": lambda: _of_schemas(30, lambda it: {"allOf": [it, it]}),
    "properties twice, 30 deep": lambda: _of_schemas(
        30, lambda it: {"properties": {"a": it, "b": it}, "required": ["a"]}
    ),
    "defaults in any of two": lambda: _of_schemas(30, lambda it: {"anyOf": [it, it], "default": 1}),
    "all of itself": lambda: _of_schemas(1, lambda _: {"allOf": [_ref("s0"), _ref("s0")]}),
    "a wide circle": lambda: document(
        {f"/a{n}": {"get": operation(schema=_ref(f"s{n}"))} for n in range(40)},
        components={
            "schemas": {
                f"s{n}": {"properties": {f"p{m}": _ref(f"s{m}") for m in range(40)}}
                for n in range(40)
            }
        },
    ),
    "deep schemas in each other": lambda: _of_schemas(12, lambda it: _nested(it, DEEPEST - 20)),
    "operations of one name": lambda: _gets(3000, operationId="same"),
    "many of one enum": lambda: document(
        {f"/a{n}": {"get": operation(parameter("p", schema=_ref("e")))} for n in range(300)},
        components={"schemas": {"e": {"enum": list(range(100_000))}}},
    ),
    "keys of an operation": lambda: document(
        {"/a": {"get": operation(**{f"x-{n}": _ref("s0") for n in range(3000)})}},
        components=_of_schemas(9, lambda it: {"properties": dict.fromkeys("abc", it)})[
            "components"
        ],
    ),
    "infinite": lambda: json.dumps(_needs({"type": "number", "minimum": 0.5})).replace(
        "0.5", "1e999"
    ),
    "steps": lambda: _needs({"type": "number", "multipleOf": 1e-300, "minimum": 1e300}),
    "bounds of whole numbers": lambda: _needs({"type": "integer", "minimum": 10**299}),
    "a bound that is a text": lambda: _needs({"type": "integer", "minimum": "1", "maximum": []}),
    "long pattern": lambda: _needs({"type": "string", "pattern": "(" * 2000 + ")" * 2000}),
    "patterns that take any time": lambda: _gets(
        *(1, *(parameter(f"{'p' * 40}{n}", required=True, schema=SLOW) for n in range(8)))
    ),
    "deep body": lambda: _recording("[" * 900 + "]" * 900, mime="application/json"),
    "long number in a body": lambda: _recording("[" + "9" * 301 + "]", mime="application/json"),
    "an hour of a visit": lambda: _recording("a=b&c=d", 5000),
    "a long tag": lambda: _recording("<a " + "b='c' " * 2_000 + ">", mime="text/xml"),
    "many elements": lambda: _recording("<a b='c'>d</a>" * 1_000, mime="text/xml"),
    "a long path": lambda: _paths("b/" * 100_000, "c"),
    "the beginnings of tokens": lambda: _recording("eyJ" * 100_000, mime="text/plain"),
}


@pytest.mark.parametrize("shape", HANDLED)
def test_what_is_large_but_can_be_read_makes_a_draft(told, shape):
    kind, said = told("api", HANDLED[shape]())
    assert kind == "draft", said


@pytest.mark.parametrize("example", range(8))
def test_documents_of_any_shape_end_in_a_draft_or_in_one_line(told, example):
    """Schemas at random, with what no schema should have in each place; a new seed each run."""
    seed = random.SystemRandom().randrange(10**6)
    print("seed", seed, "of example", example)
    draws = random.Random(seed)
    odd = [None, -1, 10**18, 1e300, "a", [], {}, True, "9" * 1000, [[]] * 50]
    words = "type format minimum maximum exclusiveMinimum multipleOf minLength maxLength minItems"
    words += " pattern enum example default properties required items allOf anyOf nullable"

    def schema(depth):
        kinds = ("object", "array", "string", "integer", "number", draws.choice(odd))
        made = {"type": draws.choice(kinds), **dict.fromkeys(draws.sample(words.split(), 2))}
        made = {key: draws.choice(odd) if it is None else it for key, it in made.items()}
        if depth and draws.random() < 0.9:
            width = draws.choice((1, 2, 10))
            made |= {"properties": {f"p{n}": schema(depth - 1) for n in range(width)}}
            made |= {"items": schema(depth - 1), "allOf": [schema(0), _ref("s1")]}
        return made

    schemas = {f"s{n}": schema(4) for n in range(3)}
    content = {"application/json": {"schema": schema(5)}}
    asked = operation(
        parameter("p", schema=schema(1)),
        parameter("q", schema=schema(0), required=True),
        schema=schema(3),
    )
    paths = {"/a": {"get": asked, "post": operation(requestBody={"content": content})}}
    told("api.json", document(paths, components={"schemas": schemas}), "POST /a")


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("shared", [{"description": LONG, "example": LONG}, {"enum": [LONG]}])
def test_a_long_text_that_schemas_share_is_not_written_for_each_of_them(tmp_path, method, shared):
    path = tmp_path / "api.json"
    path.write_text(json.dumps(_repeated(shared, method)))
    draft = draft_of(str(path), "shop", tmp_path, [f"{method.upper()} /a"])
    assert len(json.dumps([draft.requests, draft.answers])) < 50 * len(LONG)


def test_a_secret_that_stands_in_many_places_has_a_short_name(tmp_path):
    secret = {"p" * 10_000 + "_password": "opensesame"}
    posted = [_recording(json.dumps(secret), mime="application/json")]
    posted.append(_recording("opensesame " * 1000, mime="text/plain"))
    entries = [entry for it in posted for entry in it["log"]["entries"]]
    path = tmp_path / "visit.har"
    path.write_text(json.dumps({"log": {"entries": entries}}))
    draft = draft_of(str(path), "shop", tmp_path)
    assert "opensesame" not in str(draft)
    assert len(str(draft)) < 200_000


def test_limits_are_beyond_the_largest_documents_that_are_known():
    """GitHub's: 1,290,000 values without references, nested 30 deep; an hour at three a second."""
    assert MOST_VALUES > 1.5 * 1_290_000 - 1
    assert DEEPEST > 3 * 30
    assert notation.MOST_RECORDED > 3600 * 3 * 150


@pytest.mark.parametrize("count", [1, 0])
def test_a_text_with_many_commas_is_one_value(count):
    text = json.dumps({"a": ",[{" * (MOST_VALUES // 3 + count)})
    assert len(parsed("a.json", text)["a"]) == 3 * (MOST_VALUES // 3 + count)


def test_aliases_and_merges_mean_what_they_mean_in_yaml():
    text = "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: {<<: [*x, {b: 9, f: 1}], g: *x}\n*k : 1\n"
    text = "k: &k key\n" + text
    pairs = {"b": 1, "c": 2}
    whole = {"k": "key", "a": pairs, "d": {"b": 1, "c": 3}, "key": 1}
    assert parsed(Path("a").name, text) == {**whole, "e": {"b": 1, "f": 1, "c": 2, "g": pairs}}
