"""`tollgate init`: what it finds in a repository, and what it writes there."""

import json
import subprocess

import pytest
import yaml
from bzt.engine import Configuration

from support.http_server import Handler, serving
from tollgate.cli.init import command
from tollgate.criteria import grammar as criteria
from tollgate.forecast.read import read_forecast
from tollgate.service import choice
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service
from tollgate.taurus.run_file import with_kinds

SERVER = """
const app = require('express')();
app.get('/', (_req, res) => res.json({}));
app.get('/healthz', (_req, res) => res.send('ok'));
app.get('/items/:id', (req, res) => res.json({}));
app.listen(process.env.PORT || 8123);
"""
OPENAPI = {
    "openapi": "3.0.0",
    "info": {"title": "shop", "version": "1"},
    "paths": {
        "/items": {"get": {"operationId": "list", "responses": {"200": {"description": "all"}}}},
        "/items/{id}": {
            "get": {
                "operationId": "item",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {
                    "200": {
                        "description": "one",
                        "content": {
                            "application/json": {"schema": {"type": "object", "required": ["id"]}}
                        },
                    }
                },
            }
        },
        "/orders": {"post": {"responses": {"201": {"description": "made"}}}},
    },
}
WRITTEN = {
    *("taurus.yml", "ecosystem.config.js", "data/forecast.csv", "reports/README.md"),
    *(".gitignore", ".github/workflows/tollgate.yml"),
}


@pytest.fixture
def repository(tmp_path):
    """Makes files in a new repository."""
    root = tmp_path / "My Shop"
    root.mkdir()
    (root / ".git").mkdir()

    def make(package=None, **files):
        if package is not None:
            (root / "package.json").write_text(json.dumps(package))
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if isinstance(text, str) else json.dumps(text))
        return root

    return make


@pytest.fixture
def init(tollgate):
    """Gives what was printed."""

    def run(root, *words):
        code, out, err = tollgate("init", root, *words)
        assert code == 0, err
        return out

    return run


def files_of(root):
    there = (it for it in root.rglob("*") if it.is_file())
    return {it.relative_to(root).as_posix(): it.read_text() for it in there}


def service_of(root, name):
    return yaml.safe_load((root / "taurus.yml").read_text())["scenarios"][name]


def labels_of(root, name):
    return {it["label"]: it["url"] for it in service_of(root, name)["requests"]}


def apps_of(root, name="ecosystem.config.js", **env):
    script = f"console.log(JSON.stringify(require('./{name}').apps))"
    done = subprocess.run(
        ["node", "-e", script],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env=env or None,
    )
    return json.loads(done.stdout)


def test_an_express_app_becomes_a_suite_whose_service_is_named_like_the_package(init, repository):
    root = repository({"name": "@team/shop", "main": "server.js"}, server_js=SERVER)
    out = init(root)
    assert {*files_of(root)} == {*WRITTEN, "package.json", "server.js"}
    assert "run -shop -compare" in out
    assert labels_of(root, "shop") == {"home": "/", "healthz": "/healthz"}
    assert service_of(root, "shop")["probes"] == [{"path": "/healthz"}]
    assert (root / "taurus.yml").read_text().count("# guessed: ") == 2
    [app] = apps_of(root)
    assert (app["name"], app["script"], app["env"]["PORT"]) == ("shop", "server.js", "8123")
    assert app["cwd"] == str(root)


def test_what_it_writes_is_read_by_a_run_of_each_kind(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER)
    init(root)
    for kind in ("check", "stress", "load", "soak", "compare", "capacity"):
        config = Configuration()
        config.load(with_kinds(root / "taurus.yml"))
        config.merge(config["cli-aliases"][kind])
        assert choice.only_service(config) == "shop"
    service = read_service("shop", service_of(root, "shop"))
    parts = parts_of(service, root)
    labels = [it.label for it in parts.requests]
    criteria.parse_all(service.taurus["criteria"], labels)
    known = {it: it for it in labels}
    forecast = read_forecast(str(root / "data/forecast.csv"), known, parts.weights)
    assert len(forecast.steps) == 24


def test_it_overwrites_nothing_and_adds_what_is_missing(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER)
    init(root)
    for gone in ("reports/README.md", "ecosystem.config.js", "data/forecast.csv"):
        (root / gone).unlink()
    (root / "taurus.yml").write_text((root / "taurus.yml").read_text() + "# mine\n")
    before = files_of(root)
    out = init(root)
    made = {line.removeprefix("made").strip() for line in out.splitlines() if "made " in line}
    assert made == {"reports/README.md", "ecosystem.config.js", "data/forecast.csv"}
    after = files_of(root)
    assert {it: text for it, text in after.items() if it not in made} == before
    assert apps_of(root)[0]["name"] == "shop"
    assert init(root).startswith("nothing is missing")


def test_a_taurus_yml_without_a_service_gets_one_and_keeps_its_lines(init, repository):
    text = "# mine\nscenarios:\n  old: {script: a.jmx}\n"
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, taurus_yml=text)
    init(root)
    assert (root / "taurus.yml").read_text().startswith(text)
    assert [*labels_of(root, "shop")] == ["home", "healthz"]


@pytest.mark.parametrize(
    ("start", "script", "args", "env"),
    [
        ("node server.js", "server.js", None, {}),
        ("node server", "server.js", None, {}),
        ("LOG=off node server.js --fast 'a b'", "server.js", "--fast 'a b'", {"LOG": "off"}),
        ("cross-env LOG=off PORT=90 node server.js", "server.js", None, {"LOG": "off"}),
        ("PORT=${PORT:-3000} node server.js", "server.js", None, {}),
        ("nest start && echo", "npm", "run start", {}),
        ("npm run build && node server.js", "npm", "run start", {}),
        ("node server.js > log.txt", "npm", "run start", {}),
        ("node server.js; echo over", "npm", "run start", {}),
        ("LOG=$HOME/log node server.js", "npm", "run start", {}),
    ],
)
def test_the_start_script_says_what_pm2_starts(init, repository, start, script, args, env):
    listens = "require('http').createServer().listen(process.env.PORT || 3000);"
    root = repository({"name": "shop", "scripts": {"start": start}}, server_js=listens)
    init(root)
    [app] = apps_of(root)
    assert (app["script"], app.get("args")) == (script, args)
    port = "90" if "PORT=90" in start else "3000"
    assert app["env"] == {"NODE_ENV": "production", **env, "PORT": port}


def test_a_port_that_the_source_fixes_is_taken_and_said(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js="http.listen(4567);")
    assert "listens at 4567 whatever PORT says" in init(root)
    assert apps_of(root)[0]["env"]["PORT"] == "4567"


def test_where_files_are_es_modules_pm2s_file_is_none(init, repository):
    package = {"name": "shop", "type": "module", "main": "server.js"}
    root = repository(package, server_js=SERVER)
    init(root)
    assert "ecosystem.config.js" not in files_of(root)
    assert apps_of(root, "ecosystem.config.cjs")[0]["name"] == "shop"


def test_an_app_that_pm2_knows_already_is_the_one_that_is_tested(init, repository):
    mine = "module.exports = { apps: [{ name: 'web', script: 'server.js', env: { PORT: 80 } }] };"
    root = repository(
        {"name": "shop", "main": "server.js"}, server_js=SERVER, ecosystem_config_js=mine
    )
    init(root)
    assert service_of(root, "shop")["app"] == "web"
    assert files_of(root)["ecosystem.config.js"] == mine


def test_an_openapi_document_in_the_repository_gives_the_requests(init, repository):
    root = repository(
        {"name": "shop", "main": "server.js"}, server_js=SERVER, docs__openapi_json=OPENAPI
    )
    out = init(root)
    assert "the requests are those of docs/openapi.json" in out
    assert "left out, because they may write: POST /orders" in out
    assert labels_of(root, "shop") == {"list": "/items", "item": "/items/${id}"}
    probe = {"path": "/items/1", "schema": "data/shop.answers.json#item"}
    assert service_of(root, "shop")["probes"] == [probe]
    assert json.loads(files_of(root)["data/shop.answers.json"])["item"]["required"] == ["id"]
    assert files_of(root)["data/shop.csv"].splitlines()[:3] == ["id", "1", "2"]
    read_service("shop", service_of(root, "shop"))


def test_what_may_write_is_asked_if_it_is_named(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, openapi_json=OPENAPI)
    init(root, "--request", "POST /orders")
    assert labels_of(root, "shop")["POST /orders"] == "/orders"


def test_a_document_that_can_not_be_used_is_said_and_the_routes_are_taken(init, repository):
    broken = {"openapi": "3.0.0", "paths": {}}
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, openapi_json=broken)
    assert "has no `paths`" in init(root)
    assert [*labels_of(root, "shop")] == ["home", "healthz"]


def test_a_service_that_runs_already_is_asked_what_it_knows(init, repository):
    root = repository(openapi_yaml=yaml.safe_dump(OPENAPI))
    with serving(_Items) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        out = init(root, "--name", "shop", "--url", url)
    assert "left out 'item': GET /items/1 answers 404" in out
    assert labels_of(root, "shop") == {"list": "/items"}
    assert service_of(root, "shop")["url"] == url
    assert "ecosystem.config.js" not in files_of(root)


class _Items(Handler):
    def respond(self):
        self.answer(200 if self.path == "/items" else 404, "[]")


def test_requests_may_be_named_in_place_of_a_document(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER)
    init(root, "--request", "GET /items/${id}")
    assert labels_of(root, "shop") == {"items-id": "/items/${id}"}
    assert files_of(root)["data/shop.csv"].startswith("id\n1\n")


def test_the_file_of_ci_stands_at_the_top_of_the_repository(init, repository):
    root = repository(services__shop__server_js=SERVER)
    folder = root / "services" / "shop"
    (folder / "package.json").write_text('{"name": "shop", "main": "server.js"}')
    init(folder)
    assert "services/shop" in files_of(root)[".github/workflows/tollgate.yml"]
    assert "services/shop/taurus.yml" in files_of(root)


def test_a_suite_that_has_a_service_gets_no_other_one_by_init(init, repository, refusal):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, openapi_json=OPENAPI)
    init(root)
    said = refusal("init", root, "--from", root / "openapi.json")
    assert "has the service 'shop': add one by `tollgate new target`" in said


def test_what_a_browser_asks_for_is_no_route(init, repository):
    files = {"server_js": "require('http').createServer().listen(1234)"}
    root = repository(
        {"name": "shop", "main": "server.js"}, **files, public__page_js="axios.get('/users')"
    )
    assert "/users" not in init(root)
    assert labels_of(root, "shop") == {"home": "/"}


def test_git_ignores_what_runs_leave_and_each_line_once(init, repository):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER)
    (root / ".gitignore").write_text("node_modules\n.tollgate/")
    init(root)
    lines = (root / ".gitignore").read_text().splitlines()
    assert lines == ["node_modules", ".tollgate/", "/reports/*", "!/reports/README.md"]


@pytest.mark.parametrize(
    ("package", "words", "said"),
    [
        (
            {"name": "shop"},
            (),
            "say how the service is started there, or where it answers by --url",
        ),
        ({"name": "shop"}, ("--url", "x"), "write protocol, host and perhaps a port"),
        (
            {"name": "shop"},
            ("--name", "Shop", "--url", "http://a"),
            "'Shop' is no name for a target",
        ),
        ({"name": "stress"}, ("--url", "http://a"), "has a kind 'stress' already"),
        ({"name": "shop"}, ("--from", "no.json"), "no.json can't be read: No such file"),
        (
            {"name": "shop"},
            ("--url", "http://a", "--request", "items"),
            "--request 'items' is none",
        ),
    ],
)
def test_what_can_not_be_made_is_refused_in_one_line_and_nothing_is_written(
    refusal, repository, package, words, said
):
    root = repository(package)
    assert said in refusal("init", root, *words)
    assert [*files_of(root)] == ["package.json"]


def test_a_package_json_that_can_not_be_read_is_named(refusal, repository):
    assert "package.json can't be read" in refusal("init", repository(package_json="{"))


def test_a_folder_that_is_not_there_is_named(refusal, tmp_path):
    assert "is no folder" in refusal("init", tmp_path / "gone")


@pytest.fixture
def on_terminal(monkeypatch):
    """Has answers be given on a terminal."""

    def answer(*words):
        given = iter(words)
        monkeypatch.setattr(command, "_is_terminal", lambda: True)
        monkeypatch.setattr("builtins.input", lambda _: next(given))

    return answer


def test_on_a_terminal_a_person_names_the_service_and_may_leave_out_a_document(
    init, repository, on_terminal
):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, openapi_json=OPENAPI)
    on_terminal("store", "no")
    init(root)
    assert [*labels_of(root, "store")] == ["home", "healthz"]


def test_no_answer_on_a_terminal_means_what_was_proposed(init, repository, on_terminal):
    root = repository({"name": "shop", "main": "server.js"}, server_js=SERVER, openapi_json=OPENAPI)
    on_terminal("", "")
    init(root)
    assert [*labels_of(root, "shop")] == ["list", "item"]
