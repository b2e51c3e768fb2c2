"""The examples, each run as its README says."""

import os
import shutil
import subprocess
import sys

import pytest

import support
from e2e.bzt_run import PATIENCE, Finished, seconds
from support import postgres
from tollgate.base import paths

pytestmark = pytest.mark.services

EXAMPLES = support.ROOT / "examples"
#: On a busy machine the generator is late, and an interval is wider than what there is to decide.
BUSY = {"generator", "machine"}
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", ".tollgate", "reports")


@pytest.fixture
def example(tmp_path):
    """A copy of an example's folder, with its packages installed if it has any."""

    def copied(name):
        folder = tmp_path / name
        shutil.copytree(EXAMPLES / name, folder, ignore=LEFT_OUT)
        if (folder / "package.json").exists():
            call("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=folder)
        return folder

    return copied


def call(*command, **options):
    done = support.run(*command, timeout=PATIENCE, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def ran(folder, *options, **env):
    """A short run of the suite, whose every answer was right."""
    settings = [*seconds(3, 8), "modules.verdict.missing-share=0.5", *options]
    words = [word for setting in settings for word in ("-o", setting)]
    own = support.environment(TOLLGATE_HOME=str(paths.cache()), **env)
    done = support.tollgate("run", *words, cwd=folder, env=own, timeout=PATIENCE)
    output = done.stdout + done.stderr
    assert (folder / "reports" / "latest").exists(), output
    ended = Finished(done.returncode, output, folder / "reports" / "latest")
    assert ended.blamed <= BUSY, output
    assert ended.all_answered_right, output
    return ended


def labels(ended):
    return {row["label"] for row in ended.samples if row["URL"] != "null"}


def test_a_service_in_typescript_is_built_and_checked(example):
    folder = example("typescript")
    call("npm", "run", "build", cwd=folder)
    ended = ran(folder, PORT_QUOTES=str(support.free_port()))
    assert labels(ended) == {"quote", "order"}
    assert ended.execution["workers"][0]["rss_max_bytes"] > 0


def test_a_service_with_a_database_is_checked(example):
    folder = example("postgres")
    with postgres.serving() as url:
        ended = ran(folder, PORT_NOTES=str(support.free_port()), DATABASE_URL=url)
    assert labels(ended) == {"list", "add", "read"}


def test_a_service_that_runs_already_is_checked_by_its_url(example):
    folder, port = example("by-url"), support.free_port()
    env = {**os.environ, "PORT": str(port)}
    command = [sys.executable, "server.py"]
    server = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL)
    try:
        support.wait_until(lambda: support.listens(port), "the service listens")
        ended = ran(folder, f"scenarios.words.url=http://127.0.0.1:{port}")
        assert server.poll() is None, "it was ended by somebody"
    finally:
        server.terminate()
        server.wait()
    assert labels(ended) == {"reversed"}
    assert ended.execution["url"] == f"http://127.0.0.1:{port}"
