"""Real runs: none goes on when its test has ended."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_run_goes_on():
    yield
    # Whoever starts runs has imported it; it asks Node for the apps, which not every test has.
    if bzt_run := sys.modules.get("e2e.bzt_run"):
        bzt_run.end_those_under_way()


# These two import what starts runs where it is wanted, for the reason above.
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
