"""`tollgate init` where `start` is Node with options, or TypeScript: PM2 starts that very Node."""

import json
import subprocess

import pytest

from tollgate.cli.init.look import look
from tollgate.cli.init.node import node_command
from tollgate.cli.init.texts import ecosystem

LISTENS = "require('http').createServer().listen(process.env.PORT || 3000);"
TYPED = "src/server.ts"
MODULES = ("tsx/index.js", "ts-node/register.js", "dotenv/config.js")


@pytest.fixture
def app_of(tmp_path):
    """The app that PM2 gets of a package with this `start`, whose modules are installed."""

    def made(start):
        (tmp_path / "package.json").write_text(json.dumps({"scripts": {"start": start}}))
        for file in ("server.js", TYPED, *(f"node_modules/{it}" for it in MODULES)):
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(LISTENS)
        file = tmp_path / "ecosystem.config.js"
        file.write_text(ecosystem("shop", look(tmp_path).start))
        script = f"console.log(JSON.stringify(require({json.dumps(str(file))}).apps[0]))"
        # Not from its folder, as in cluster mode.
        done = subprocess.run(["node", "-e", script], cwd="/", capture_output=True, check=True)
        return json.loads(done.stdout)

    return made


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ("node", None),
        ("LOG=off tsx", ["--import", "{}/node_modules/tsx/index.js"]),
        ("ts-node", ["--require", "{}/node_modules/ts-node/register.js"]),
        ("node -r dotenv/config", ["-r", "{}/node_modules/dotenv/config.js"]),
        ("node --env-file=.env", ["--env-file", "{}/.env"]),
        ("node --env-file-if-exists ./a/../b", ["--env-file-if-exists", "{}/b"]),
        ("node --require /opt/agent.js", ["--require", "/opt/agent.js"]),
        ("node --import ./hooks.mjs --no-warnings", ["--import", "{}/hooks.mjs", "--no-warnings"]),
        ("node --import=data:text/javascript,1", ["--import", "data:text/javascript,1"]),
        ("node -C a --max-old-space-size=300", ["-C", "a", "--max-old-space-size=300"]),
    ],
)
@pytest.mark.parametrize(("script", "interpreter"), [("server.js", None), (TYPED, "node")])
def test_pm2_starts_the_node_of_the_command_with_what_it_finds_from_any_folder(
    app_of, tmp_path, start, options, script, interpreter
):
    app = app_of(f"{start} {script} --fast")
    assert (app["script"], app["args"]) == (script, "--fast")
    assert app.get("interpreter") == interpreter
    there = options and [it.format(tmp_path) for it in options]
    assert app.get("node_args") == there


@pytest.mark.parametrize(
    "start",
    [
        *("node --watch a.js", "node -e 1", "node --test a.js", "node -", "node --run up", "node"),
        *(
            "node --import",
            "",
            "tsx watch a.ts",
            "ts-node --files a.ts",
            "tsx --tsconfig a.json b.ts",
        ),
        *("bun a.ts", "deno run a.js", "nodemon a.js", "node a.js | cat", "node 'a.js"),
        "node --title=$NAME a.js",
    ],
)
def test_what_is_not_node_alone_is_left_to_npm(start):
    assert node_command(start) is None
