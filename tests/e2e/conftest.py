"""Real runs: none goes on when its test has ended."""

import signal
import sys

import pytest

import support


@pytest.fixture(autouse=True)
def _no_run_goes_on():
    yield
    # Whoever starts runs has imported it; it asks Node for the apps, which not every test has.
    if bzt_run := sys.modules.get("e2e.bzt_run"):
        bzt_run.end_those_under_way()


# These import what starts runs where it is wanted, for the reason above.
@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with a history, in which comparisons run."""
    from e2e.comparing import project_with_history

    return project_with_history(tmp_path_factory.mktemp("project"))


@pytest.fixture
def compare(project, tmp_path):
    """Begins a comparison."""
    from e2e.comparing import begin

    def comparison(*options, **env):
        return begin(project, tmp_path / str(len(list(tmp_path.iterdir()))), *options, **env)

    return comparison


@pytest.fixture
def begin_bisect(tmp_path):
    """Begins the command in a suite; its output goes to a file of its own each time."""
    from e2e.bzt_run import APPS

    ports = {f"PORT_{it.upper().replace('-', '_')}": str(support.free_port()) for it in APPS}
    env = support.environment(**ports, XDG_CACHE_HOME=str(tmp_path / "cache"))
    started = []

    def call(suite, *words, options=()):
        log = tmp_path / f"bisect-{len(started)}.out"
        given = [word for it in options for word in ("-o", it)]
        command = suite / ".venv" / "bin" / "tollgate", "bisect", *words, *given
        started.append(support.start(*command, output=log, cwd=suite, env=env))
        return started[-1], log

    yield call
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(support.PATIENCE)
