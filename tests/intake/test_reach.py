"""What a document reaches: nothing but files below its folder, or answers of its own origin."""

import contextlib
import json
import os
import threading

import pytest

from support.http_server import Handler, serving
from support.openapi_documents import document, operation, parameter
from tollgate.base import json_schema
from tollgate.cli.new_target import reached
from tollgate.intake.draft import Draft, IntakeError
from tollgate.intake.reading import draft_of
from tollgate.intake.source import load
from tollgate.intake.trial import tried

ITEM = '{"type": "object", "required": ["id"]}'
#: Stands in a file, and in an answer, that no output may have.
MARKER = "not-for-strangers"
HIDDEN = json.dumps({"type": "object", "required": [MARKER]})


class _Pages(Handler):
    """Answers with its pages: a text, or where one leads to."""

    def respond(self):
        with self.server.lock:
            self.server.asked.append(self.path)
        page = self.server.pages.get(self.path)
        if page is None:
            self.answer(404)
        elif isinstance(page, bytes):
            self.answer(200, page)
        elif page.startswith("->"):
            self.answer(302, Location=page[2:])
        elif page.startswith("URI:"):
            self.answer(302, URI=page[4:])
        else:
            self.answer(200, page)


@contextlib.contextmanager
def _pages(**pages):
    with serving(_Pages, asked=[], pages=pages) as server:
        server.url = f"http://127.0.0.1:{server.server_port}"
        yield server


@pytest.fixture
def other():
    """A server that nothing may ask."""
    with _pages() as server:
        server.pages |= dict.fromkeys(("/s.json", "/", "/items"), HIDDEN)
        yield server
        assert server.asked == []


@pytest.fixture
def own():
    with _pages() as server:
        server.pages["/s.json"] = ITEM
        yield server


@pytest.fixture
def folder(tmp_path):
    """With a document's other files, and one beside it that is not below it."""
    (tmp_path / "secret.json").write_text(HIDDEN)
    inside = tmp_path / "api"
    inside.mkdir()
    (inside / "s.json").write_text(ITEM)
    (inside / "link.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(inside / "fifo.json")
    return inside


def _described(reference, version="3.1.0", **more):
    get = operation(schema={"$ref": reference})
    return json.dumps({**document({"/items": {"get": get}}, **more), "openapi": version})


def _refusal(place):
    with pytest.raises(IntakeError) as refused:
        draft_of(str(place), "shop", None)
    said = str(refused.value)
    assert "\n" not in said
    assert MARKER not in said
    return said


OUTSIDE = ["../secret.json", "%2e%2e/secret.json", "link.json", "{folder}/../secret.json"]


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize("reference", OUTSIDE)
def test_a_file_reads_no_file_outside_of_its_folder(folder, version, reference):
    path = folder / "openapi.json"
    reference = reference.format(folder=folder.as_uri())
    path.write_text(_described(reference, version))
    said = _refusal(path)
    assert said.startswith(f"{path}, paths./items: it refers to ")
    assert "secret.json" in said


@pytest.mark.parametrize("reference", ["{}/s.json", "//{host}/s.json#/a", "ftp://{host}/s.json"])
def test_a_file_reads_nothing_by_url(folder, other, reference):
    path = folder / "openapi.json"
    path.write_text(_described(reference.format(other.url, host=other.url[7:])))
    said = _refusal(path)
    assert str(path) in said
    assert "s.json" in said


def test_only_regular_files_are_read(folder):
    (folder / "openapi.json").write_text(_described("fifo.json"))
    for place in ("openapi.json", "fifo.json"):
        assert "fifo.json is no regular file" in _refusal(folder / place)
    assert "Is a directory" in _refusal(folder)
    assert "/dev/zero is no regular file" in _refusal("/dev/zero")


@pytest.mark.parametrize("reference", ["s.json", "/s.json", "{own}/s.json", "leads.json"])
def test_a_url_reads_others_of_its_origin_each_once(own, reference):
    own.pages["/leads.json"] = "->/s.json"
    reference = reference.format(own=own.url)
    paths = {f"/{it}": {"get": operation(schema={"$ref": reference})} for it in "abc"}
    own.pages["/openapi.json"] = json.dumps(document(paths))
    found = draft_of(f"{own.url}/openapi.json", "shop", None)
    assert {it["required"][0] for it in found.answers.values()} == {"id"}
    assert own.asked.count("/s.json") == 1


@pytest.mark.parametrize(
    "reference",
    ["{other}/s.json", "//{host}/s.json", "leads.json", "file.json", "{file}", "ftp://{host}/s"],
)
def test_a_url_reads_nothing_of_other_origins_and_no_file(folder, own, other, reference):
    own.pages |= {"/leads.json": f"->{other.url}/s.json"}
    own.pages |= {"/file.json": f"->{(folder / 's.json').as_uri()}"}
    names = {"other": other.url, "host": other.url[7:], "file": (folder / "s.json").as_uri()}
    own.pages["/openapi.json"] = _described(reference.format(**names))
    said = _refusal(f"{own.url}/openapi.json")
    assert said.startswith(f"{own.url}/openapi.json, paths./items: ")
    assert own.url in said.partition("paths")[2]


def test_a_redirect_of_the_document_itself_is_refused_with_both_names(own, other):
    for target in (f"{other.url}/s.json", "file:///etc/hostname", "ftp://127.0.0.1/a"):
        own.pages["/openapi.json"] = f"->{target}"
        said = _refusal(f"{own.url}/openapi.json")
        assert said.startswith(f"{own.url}/openapi.json can't be read: it leads to {target}")


def test_the_header_uri_leads_nowhere(own, other):
    own.pages["/openapi.json"] = own.pages["/items"] = f"URI:{other.url}/s.json"
    assert "it answers 302" in _refusal(f"{own.url}/openapi.json")
    draft = Draft(({"label": "items", "url": "/items"},))
    assert tried(draft, own.url, {}).requests == draft.requests


@pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
def test_no_library_fetches_what_a_document_names_elsewhere(folder, other, own, version):
    at = f"{other.url}/s.json"
    words = ("$dynamicRef", "$recursiveRef", "$schema", "$id")
    found = {"discriminator": {"propertyName": "a", "mapping": {"b": at}}, "default": {"a": "b"}}
    schemas = {"type": "object", **dict.fromkeys(words, at), **found, "oneOf": [{}], "anyOf": [{}]}
    unused = {f"s{n}": {"$ref": it} for n, it in enumerate((at, "../secret.json", "ftp://a/b"))}
    text = {**document({"/items": {"get": operation(schema=schemas)}}), "externalDocs": {"url": at}}
    text |= {"components": {"schemas": {**unused, "t": {"allOf": [{"$ref": at}], "default": {}}}}}
    text |= {"jsonSchemaDialect": at, "definitions": unused, "openapi": version}
    if version == "2.0":
        text = {**text, "swagger": text.pop("openapi")}
    own.pages["/openapi.json"] = json.dumps(text)
    (folder / "openapi.json").write_text(json.dumps(text))
    for place in (folder / "openapi.json", f"{own.url}/openapi.json"):
        draft = draft_of(str(place), "shop", None)
        assert MARKER not in str(draft)
    assert own.asked == ["/openapi.json"]


def test_the_schema_of_an_answer_fetches_nothing(other):
    for word in ("$ref", "$dynamicRef"):
        problem = json_schema.mismatch({word: f"{other.url}/s.json"}, "{}")
        assert problem.startswith("the schema can't be used")


def test_a_trial_asks_the_service_alone(own, other):
    own.pages |= {"/items": f"->{other.url}/items", "/s": "->/s.json"}
    requests = tuple({"label": it[1:], "url": it} for it in ("/items", "/s"))
    kept = tried(Draft(requests), own.url, {})
    assert [it["label"] for it in kept.requests] == ["s"]
    [remark] = kept.remarks
    assert remark.startswith("left out 'items': ")
    assert f"{other.url}/items" in remark


def test_a_document_has_the_service_tried_where_it_came_from_alone(own, other):
    """Another port is another service."""
    own.pages["/openapi.json"] = "{}"
    arguments = type("Arguments", (), {"source": f"{own.url}/openapi.json", "name": "shop"})
    draft = Draft(({"label": "items", "url": "/items"},), url=other.url)
    assert reached(arguments, draft, None)[0] is draft


class _Slow(Handler):
    def respond(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while not self.server.ends.wait(0.05):
                self.wfile.write(b" ")
        self.close_connection = True


def test_a_server_that_never_ends_its_answer_is_given_up(monkeypatch):
    monkeypatch.setattr("tollgate.intake.reach._PATIENCE_S", 0.5)
    ends = threading.Event()
    with serving(_Slow, ends=ends) as server:
        with pytest.raises(IntakeError, match=r"can't be read: it takes longer than 0.5 s"):
            load(f"http://127.0.0.1:{server.server_port}/openapi.json")
        ends.set()


def test_a_parameter_of_another_file_is_still_read(folder):
    (folder / "p.json").write_text(json.dumps({"id": parameter("id", "path", required=True)}))
    paths = {"/a/{id}": {"get": operation({"$ref": "p.json#/id"})}}
    (folder / "openapi.json").write_text(json.dumps(document(paths)))
    assert draft_of(str(folder / "openapi.json"), "shop", None).requests[0]["url"] == "/a/${id}"


def test_what_is_too_large_or_no_text_is_refused_from_a_file_and_from_a_url(
    folder, own, monkeypatch
):
    monkeypatch.setattr("tollgate.intake.reach.LARGEST", 1 << 20)
    for text, why in (("é" * (1 << 20), "is larger than 1 MB"), (b"\xff", "is no text in UTF-8")):
        data = text if isinstance(text, bytes) else text.encode()
        (folder / "openapi.json").write_bytes(data)
        own.pages["/openapi.json"] = text
        for place in (folder / "openapi.json", f"{own.url}/openapi.json"):
            assert _refusal(place).startswith(f"{place} {why}")
