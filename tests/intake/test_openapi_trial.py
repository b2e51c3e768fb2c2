"""A draft of an OpenAPI document, asked of the service that it describes."""

from urllib.parse import urlsplit

import pytest

from support.http_server import Handler, serving
from support.openapi_documents import by_label, operation, parameter
from tollgate.intake.draft import IntakeError
from tollgate.intake.trial import tried


class _Shop(Handler):
    """Knows the items 1 and 2 but no tag, and lies about names."""

    def respond(self):
        path = urlsplit(self.path).path
        answers = {"/items": "[]", "/items/1": "{}", "/items/2": "{}", "/names": '{"names": 3}'}
        body = answers.get(path)
        self.answer(200 if body else 404, body or "", Content_Type="application/json")


class _Closed(Handler):
    def respond(self):
        self.answer(200 if self.path in ("/open", "/closed?k=right%26") else 403)


def test_a_service_that_answers_already_is_asked_which_guesses_it_knows(draft):
    identity = parameter("id", "path", {"type": "integer"}, required=True)
    names = {"type": "object", "properties": {"names": {"type": "array"}}}
    paths = {
        "/items": {"get": operation(schema={"type": "array"})},
        "/items/{id}": {"get": operation(identity)},
        "/tags/{id}": {"get": operation(identity)},
        "/names": {"get": operation(schema=names)},
        "/gone": {"get": operation(schema={"type": "object"})},
    }
    with serving(_Shop) as server:
        found = tried(draft(paths), f"http://127.0.0.1:{server.server_port}", {})
    assert [*by_label(found)] == ["GET /items", "GET /items/{id}", "GET /names"]
    assert found.data == {"id": ("1", "2")}
    assert [it["path"] for it in found.probes] == ["/items"]
    assert [it.partition(":")[0] for it in found.remarks] == [
        "2 of 20 rows of data are kept for 'GET /items/{id}'",
        "left out 'GET /tags/{id}'",
        "left out 'GET /gone'",
        "'GET /names' answers otherwise than its schema says",
    ]
    assert "GET /items/11 answers 404" in found.remarks[0]


def test_a_service_that_does_not_answer_is_refused_in_one_line(draft):
    with pytest.raises(IntakeError, match=r"answers none of the 1 requests rightly"):
        tried(draft({"/a": {"get": operation()}}), "http://127.0.0.1:9", {})


def test_a_secret_is_asked_with_where_the_environment_has_it_and_said_nowhere(draft):
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "k"}}
    paths = {
        "/open": {"get": operation(security=[])},
        "/closed": {"get": operation(security=[{"key": []}])},
    }
    found = draft(paths, components={"securitySchemes": schemes})
    with serving(_Closed) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        assert tried(found, at, {}) == found
        assert tried(found, at, {"SHOP_KEY": "right&"}) == found
        wrong = tried(found, at, {"SHOP_KEY": "planted"})
    assert [it["label"] for it in wrong.requests] == ["GET /open"]
    assert not wrong.secrets
    assert wrong.remarks == (
        "left out 'GET /closed': GET /closed?k=${__urlencode(${__P(SHOP_KEY)})} answers 403",
    )
