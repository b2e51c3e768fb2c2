"""Apps on frameworks that write an OpenAPI document of their own: `tollgate init` asks each for
every operation of it, also for those that write."""

import json
import re
from dataclasses import dataclass, field
from urllib.request import urlopen

import pytest
import yaml

import support
from compatibility import apps

METHODS = ("get", "put", "post", "delete", "patch", "head")
UVICORN = ("uvicorn", "app:app", "--port={port}", "--log-level=warning")
GUNICORN = ("gunicorn", "app:app", "--bind=127.0.0.1:{port}", "--log-level=warning")
NODE = ("npm", "start", "--silent")


@dataclass(frozen=True)
class Producer:
    command: tuple[str, ...]
    document: str = "/openapi.json"
    secrets: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """Labels that are left out, and named."""
    refused: list[str] = field(default_factory=list)
    """Of what writes, labels whose values the document does not describe; they are named."""


PRODUCERS = {
    # Bearer tokens and API keys may be any.
    "fastapi": Producer(UVICORN, secrets={"APP_HTTPBEARER": "secret"}),
    "fastify": Producer(NODE),
    "hono": Producer(NODE),
    "nest": Producer(NODE, "/api-json", {"APP_BEARER": "secret"}),
    "tsoa": Producer(NODE, left_out=["POST /tickets/{id}/times"]),  # sends multipart/form-data
    # It answers 406 to its own `format=yaml` beside `Accept` of its JSON.
    "drf": Producer(
        GUNICORN,
        "/schema/?format=json",
        left_out=["schema_retrieve"],
        refused=["visits_partial_update"],  # a duration is a text of no format
    ),
    "ninja": Producer(GUNICORN, "/api/openapi.json", {"APP_KEY": "secret"}),
    # A time is a text of no format.
    "smorest": Producer(GUNICORN, refused=["POST /pets/{pet_id}/walks"]),
    # A decimal is one.
    "litestar": Producer(
        UVICORN, "/schema/openapi.json", refused=["BooksAddBook", "BooksBookIdReplaceBook"]
    ),
    # express-openapi-validator takes no number in a form.
    "express": Producer(NODE, refused=["rate"]),
}
IN_CI = ("fastapi", "fastify")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in IN_CI else pytest.mark.by_hand) for name in PRODUCERS
    ],
)
def drafted(request, tmp_path_factory):
    """(the producer, operations of the document, the service of taurus.yml, what was printed)."""
    producer = PRODUCERS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    app = apps.installed(apps.FOLDER / "openapi" / request.param, folder / "app")
    with apps.serving(app, *producer.command) as url:
        with urlopen(url + producer.document) as answer:
            paths = json.load(answer)["paths"]
        operations = [
            f"{method.upper()} {path}"
            for path, item in paths.items()
            for method in item
            if method in METHODS
        ]
        named = [f"--request={it}" for it in operations if not it.startswith(("GET", "HEAD"))]
        (folder / "suite").mkdir()
        words = "--name=app", f"--url={url}", f"--from={url}{producer.document}", *named
        env = support.environment(**producer.secrets)
        done = support.tollgate("init", folder / "suite", *words, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
    service = yaml.safe_load((folder / "suite" / "taurus.yml").read_text())["scenarios"]["app"]
    return producer, operations, service, done.stdout


def test_every_operation_of_the_document_becomes_a_request_that_the_app_takes(drafted):
    producer, operations, service, output = drafted
    named = {
        kind: re.findall(rf"^note: {kind} '?([^':]+)", output, re.MULTILINE)
        for kind in ("left out", "correct")
    }
    assert named == {"left out": producer.left_out, "correct": producer.refused}, output
    assert len(service["requests"]) == len(operations) - len(producer.left_out)
