"""A service from a document and a recording whose every string somebody else chose: the service
gets the texts as they were written, and nothing of them is evaluated, be it by JMeter or Taurus."""

import json
from urllib.parse import parse_qsl, unquote, unquote_plus

import pytest
import yaml

from e2e.bzt_run import LENIENT, Run, seconds
from support import strangers
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target
from support.recordings import har
from support.strangers import EVALUATED, SPELLINGS

#: What the service gives where the recording has a token.
OTHER = "given-by-the-service"


def text(place):
    """All spellings in one, and a backslash at its end, in front of what follows."""
    return f"{place} {' '.join(SPELLINGS)}\\"


class Service(Handler):
    """Remembers what JMeter sent, and answers with all keys that are asked for."""

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if "Tollgate" not in self.headers["User-Agent"]:
            whole = [self.command, self.path, body, *map(": ".join, self.headers.items())]
            self.server.sent.append(whole)
        given = {text("answer-key"): {text("inner-key"): OTHER}, text("required"): "r"}
        page = f"""<form><input type='hidden' name='{text("hidden")}' value='{OTHER}'></form>"""
        is_page = self.path == "/"
        kind = "text/html" if is_page else "application/json"
        self.answer(200, page if is_page else json.dumps(given), Content_Type=kind)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(the run, what was sent, the suite): one plan sends what both sources say."""
    folder = tmp_path_factory.mktemp("strangers")
    suite = copy_project(folder / "suite")
    with serving(Service, sent=[]) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        (folder / "openapi.json").write_text(json.dumps(strangers.document(text)))
        file = har(folder / "visit.har", *strangers.recording(text, url))
        posts = [f"--request=POST /{it}" for it in ("example", "drawn", "form")]
        sources = (("described", folder / "openapi.json", *posts), ("recorded", file))
        for name, source, *more in sources:
            made = new_target(suite, name, "--from", source, "--url", url, *more)
            assert made.returncode == 0, made.stderr
        scenarios = yaml.safe_load((suite / "taurus.yml").read_text())["scenarios"]
        own = scenarios["recorded"]
        added = {it: own[it] for it in ("requests", "cookies", "environment")}
        config = {"modules": {"verdict": LENIENT}, "scenarios": {"described": added}}
        names = [*scenarios["described"]["environment"], *own["environment"]]
        secrets = dict.fromkeys(names, "held-by-the-environment")
        given = {"config": config, "alias": "described", "root": suite, **secrets}
        run = Run(folder, *seconds(1, 5), **given).end_cleanly()
    return run, server.sent, suite


def test_the_service_gets_the_texts_as_they_were_written(ran):
    run, sent, _ = ran
    assert run.all_answered_right, run.output
    arrived = set()
    for _, path, body, *headers in sent:
        at, _, query = path.partition("?")
        arrived |= {*unquote(at).split("/"), *headers, unquote_plus(body)}
        arrived |= {it for pair in (*parse_qsl(query), *parse_qsl(body)) for it in pair}
        arrived |= set(texts_of_json(body))
    whole = "\n".join(arrived)
    places = (
        *("query", "query-example", "header-example", "path-example", "accept", "content-type"),
        *("json-key", "json-value", "property", "enum", "field", "field-value", "key-query"),
        *("segment", "query-value", "header-value", "xml", "json-text", "cookie-name"),
    )
    assert [it for it in places if text(it) not in whole] == []
    # What the answers gave is taken from under the keys that the recording has.
    assert {OTHER, f"X-Token: {OTHER}", "c\\n", "a\\b"} <= arrived


def texts_of_json(body):
    def walk(value):
        if isinstance(value, dict):
            yield from value
            value = [*value.values()]
        for it in value if isinstance(value, list) else ():
            yield from [it] if isinstance(it, str) else walk(it)

    return walk(json.loads(body)) if body.startswith("{") else ()


def test_nothing_is_evaluated_on_the_wire_or_in_a_file(ran):
    run, sent, suite = ran
    assert sent
    wire = json.dumps(sent)
    assert EVALUATED not in wire
    assert str(run.folder) not in wire
    written = [*run.folder.rglob("*"), *(suite / ".tollgate").glob("*.jmx"), suite / "taurus.yml"]
    written += [*(suite / "data").iterdir(), *(suite / "plans").rglob("*")]
    assert [it for it in written if it.is_file() and EVALUATED.encode() in it.read_bytes()] == []


def test_labels_of_samples_are_those_of_the_service(ran):
    run, _, suite = ran
    service = yaml.safe_load((suite / "taurus.yml").read_text())["scenarios"]["described"]
    labels = {it["label"] for it in service["requests"]}
    assert labels <= {it["label"] for it in run.samples}
    judged = {it["criterion"] for it in run.execution["criteria"]}
    assert {f"avg-rt of {it}>2500ms" for it in labels} <= judged
