"""`tollgate init` where PM2, or a runner of packages, starts the service."""

import contextlib
import json
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tollgate.cli.init import command
from tollgate.cli.init.commands import InitError, start_of

SERVER = "require('http').createServer((_, res) => res.end()).listen(process.env.PORT || 4100);\n"
NAP = "setInterval(() => {}, 1000);\n"
API = {"name": "api", "script": "server.js", "env": {"PORT": 18110}}
BUNDLED = {"bundled": "webpack && node server.js"}
JSON5 = "{apps: [{name: 'api', script: 'server.js', env: {PORT: 18110},}]} // ours\n"


@pytest.fixture
def repository(tmp_path):
    """Writes a package, whose `start` is this, and files beside a server and a worker."""

    def make(start="", files=(), **package):
        scripts = {"start": start} if start else {}
        package = {"name": "shop", "scripts": scripts, **package}
        texts = {"package.json": json.dumps(package), "server.js": SERVER, "worker.js": NAP}
        for name, text in {**texts, **dict(files)}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


@pytest.fixture
def init(tollgate):
    """Gives (what was printed, the service, its app's line in taurus.yml)."""

    def run(root):
        code, out, err = tollgate("init", root)
        assert code == 0, err
        text = (root / "taurus.yml").read_text()
        line = next((it.strip() for it in text.splitlines() if it.startswith("    app: ")), "")
        return out, yaml.safe_load(text)["scenarios"]["shop"], line

    return run


def node_exports(file):
    script = f"console.log(JSON.stringify(require({json.dumps(str(file))})))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


FORMS = {
    "ecosystem.config.js": f"module.exports = {{ apps: [{json.dumps(API)}] }};",
    "ecosystem.config.cjs": f"module.exports = [{json.dumps(API)}];",
    "ecosystem.json": JSON5,
    "ecosystem.config.json": json.dumps({"apps": API}),
    "ecosystem.yml": yaml.safe_dump({"apps": [API]}),
    "pm2.yaml": yaml.safe_dump(API),
    "pm2.config.js": f"exports.pm2 = {json.dumps(API)};",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_pm2_is_read_in_each_of_its_forms(init, repository, form):
    root = repository(files={form: FORMS[form]})
    assert init(root)[1]["app"] == "api"
    assert [it.name for it in root.glob("ecosystem*")] == [form] * form.startswith("ecosystem")


@pytest.mark.parametrize(
    ("start", "file"),
    [
        ("pm2 start {}", "ecosystem.json"),
        ("pm2-runtime {}", "process.json"),
        ("pm2-runtime start {} --env production", "deploy/apps.json"),
        ("pm2-dev {}", "ecosystem.json"),
        ("npx pm2 startOrReload {} --update-env && pm2 logs", "deploy/apps.json"),
        ("cross-env A=b ./node_modules/.bin/pm2 start --no-daemon {}", "process.json"),
        ("npm run build; npm run up", "process.json"),
    ],
)
def test_what_start_has_pm2_read_is_read_instead_of_pm2_in_pm2(init, repository, start, file):
    scripts = {"start": start.format(file), "up": f"pm2 start {file}", "build": "echo"}
    root = repository(files={file: json.dumps({"apps": [API]})}, scripts=scripts)
    assert init(root)[1]["app"] == "api"
    made = root / "ecosystem.config.js"
    assert made.exists() == (file == "deploy/apps.json")
    if made.exists():
        assert node_exports(made) == {"apps": [API]}


@pytest.mark.parametrize(
    ("start", "script", "args"),
    [
        ("pm2 start server.js -i max --name api", "server.js", None),
        ("pm2 start -i 2 server.js -- --fast 'a b'", "server.js", "--fast 'a b'"),
        ("pm2 start 'node server.js --fast'", "server.js", "--fast"),
        ("pm2 start npm --name api -- run serve", "server.js", None),
        ("pm2 start -n api 'next start -p 80'", "npm", "exec --call 'next start -p 80'"),
        ("pm2 start npm -- run bundled", "npm", "run bundled"),
        ("npm run serve", "server.js", None),
    ],
)
def test_a_program_that_pm2_is_to_start_is_started_without_its_pm2(
    init, repository, start, script, args
):
    root = repository(scripts={"start": start, "serve": "node server.js", **BUNDLED})
    init(root)
    [app] = node_exports(root / "ecosystem.config.js")["apps"]
    assert (app["script"], app.get("args")) == (script, args)


@pytest.mark.parametrize(
    ("start", "file", "said"),
    [
        ("pm2 start gone.json", "other.json", "has PM2 read gone.json, which is not there"),
        ("pm2 start npm -- start", "other.json", "`start` of {}/package.json calls itself"),
        ("pm2 start --only api", "other.json", "has PM2 read ecosystem.config.js, which is not"),
        ("pm2-runtime", "other.json", "has PM2 read ecosystem.config.js, which is not there"),
        ("pm2 start ecosystem.config.mjs", "ecosystem.config.mjs", "save what it exports as"),
        ("pm2 start ecosystem.config.ts", "ecosystem.config.ts", "save what it exports as"),
        ("pm2 start deploy/a.yml", "deploy/a.yml", "does not find deploy/a.yml: move it to"),
        ("", "ecosystem.config.js", "it exports a function or a promise"),
        ("", "ecosystem.json", "ecosystem.json can't be loaded: SyntaxError"),
        ("", "ecosystem.yml", "ecosystem.yml can't be loaded: YAMLException"),
    ],
)
def test_what_pm2_does_not_read_is_refused_in_one_line(refusal, repository, start, file, said):
    texts = {"ecosystem.config.js": "module.exports = () => [];"}
    broken = texts.get(file, json.dumps(API) if file == "deploy/a.yml" else "a: [}{")
    root = repository(start, files={file: broken})
    assert said.format(root) in refusal("init", root)
    assert not (root / "taurus.yml").exists()


def test_a_file_that_pm2_does_not_read_is_named_where_start_does_without_it(init, repository):
    root = repository("node server.js", files={"ecosystem.config.mjs": "export default {}"})
    assert "note: PM2 7 does not read ecosystem.config.mjs: save" in init(root)[0]


def apps(*settings):
    return {"ecosystem.json": json.dumps({"apps": settings})}


WORKER = {"name": "jobs", "script": "worker.js"}
SHOP = {"name": "web", "script": "server.js"}


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ([WORKER, {**SHOP, "env": {"PORT": 80}}], "the only one that has a PORT of the apps"),
        ([WORKER, {**SHOP, "port": 80}], "the only one that has a PORT of the apps"),
        ([WORKER, SHOP], "the only one that listens by its script of the apps"),
        ([SHOP, {**SHOP, "name": "shop2"}], "one that listens by its script of the apps"),
    ],
)
def test_of_several_apps_the_one_that_listens_is_tested_and_all_are_named(
    init, repository, settings, line
):
    out, service, written = init(repository(files=apps(*settings)))
    names = ", ".join(it["name"] for it in settings)
    assert service["app"] == "web"
    assert written == f"app: web # guessed: {line} {names}"
    assert f"note: the app 'web' is tested: it is {line} {names}" in out
    assert ("web' has no number in env.PORT" in out) == ("PORT" not in line)


def test_where_nothing_says_which_listens_the_first_is_a_guess(init, repository):
    out, _, written = init(repository(files=apps(WORKER, {**WORKER, "name": "mail"})))
    assert written.startswith("app: jobs # guessed: the first, for nothing says which listens")
    assert "jobs, mail" in out


def test_on_a_terminal_it_is_asked_which_of_those_that_listen(init, repository, monkeypatch):
    answers = iter(["shop", "admin"])
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    root = repository(files=apps(API, {**API, "name": "admin"}))
    assert init(root)[1]["app"] == "admin"


def test_an_app_without_a_name_has_that_of_its_script(init, repository):
    root = repository(files=apps({**API, "name": None, "script": "./server.js"}))
    assert init(root)[1]["app"] == "server"


@pytest.mark.parametrize(
    ("start", "port", "said"),
    [
        ("next start -p 3456", "3456", "the command with `-p 3456` listens at 3456"),
        ("next start --port=3456", "3456", "`--port=3456` listens at"),
        ("next build && next start -p 3456", "3456", "`-p 3456` listens at"),
        ("cross-env PORT=3456 next start", "3456", "`PORT=3456` listens at"),
        ("PORT=${PORT:-3456} next start", "4100", ""),
        ("next start", "4100", ""),
        ("exec node --env-file=prod.env server.js", "3777", ""),
        ("exec node -r dotenv/config server.js", "3555", ""),
    ],
)
def test_the_port_is_that_of_the_command_before_that_of_the_source(
    init, repository, start, port, said
):
    files = {"prod.env": "A=1\nPORT=3777\n"}
    if "dotenv" in start:
        files[".env"] = "export PORT='3555'\n"
    root = repository(start, files=files)
    out, *_ = init(root)
    [app] = node_exports(root / "ecosystem.config.js")["apps"]
    assert (app["script"], app["args"], app["env"]["PORT"]) == ("npm", "run start", port)
    assert said in out
    assert ("a comparison needs" in out) == bool(said)


_WORDS = st.sampled_from(
    [
        *("pm2", "start", "pm2-runtime", "npm", "run", "serve", "turbo", "node"),
        *("--", "-i", "-p", "80", "PORT=80", "--only", "&&", "|", "'"),
        *("x" * 300, "\0", "a.json", "--filter=a", "=", '"', "\n"),
    ]
)


@given(
    start=st.lists(_WORDS).map(lambda words: " ".join(["pm2 start", *words])) | st.text(),
    serve=st.lists(_WORDS).map(" ".join),
)
def test_any_words_of_start_are_a_command_or_are_refused(start, serve):
    scripts = {"scripts": {"start": start, "serve": serve}}
    with contextlib.suppress(InitError):
        found = start_of(scripts, Path("/"))
        assert 0 <= found.port[0] < 100_000
        assert isinstance(found.task, str)


def test_a_port_that_start_gives_is_said_to_be_of_start(init, repository):
    root = repository("HOST=::1 PORT=3456 node server.js")
    init(root)
    assert "port 3456 is that of PORT=3456" in (root / "ecosystem.config.js").read_text()


def test_a_port_among_the_arguments_of_node_becomes_that_of_each_process(init, repository):
    root = repository("node server.js --port 3456 --fast")
    assert "a comparison needs" not in init(root)[0]
    [app] = node_exports(root / "ecosystem.config.js")["apps"]
    assert (app["args"], app["env"]["PORT"]) == ("--port ${PORT} --fast", "3456")


@pytest.mark.parametrize(
    "start",
    [
        *("turbo run start --filter=api", "pnpm --filter @team/api start", "npm start -w apps/api"),
        *("yarn workspace @team/api start", "nx run api:start"),
        "lerna run start --scope=@team/api",
    ],
)
def test_a_runner_of_one_package_is_followed_into_it(init, repository, start):
    server = SERVER.replace("4100", "4200")
    api = {"name": "@team/api", "scripts": {"start": "node main.js"}}
    web = {"name": "@team/web", "scripts": {"start": "node main.js"}}
    files = {"apps/api/package.json": json.dumps(api), "apps/api/main.js": server}
    root = repository(start, files={**files, "apps/web/package.json": json.dumps(web)})
    init(root)
    [app] = node_exports(root / "ecosystem.config.js")["apps"]
    assert (app["script"], app["env"]["PORT"]) == ("main.js", "4200")
    assert app["cwd"] == str(root / "apps/api")


def test_a_runner_of_several_packages_is_a_guess_that_names_them(init, repository):
    package = json.dumps({"name": "api", "scripts": {"start": "node main.js"}})
    files = {f"apps/{it}/package.json": package.replace("api", it) for it in ("api", "web")}
    root = repository("turbo run start", files=files)
    init(root)
    text = (root / "ecosystem.config.js").read_text()
    assert "which starts other packages (apps/api, apps/web)" in text
