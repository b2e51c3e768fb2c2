"""Real runs: none goes on when its test has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from e2e.bzt_run import Run
    from support.git_repos import Repo


@pytest.fixture(autouse=True)
def _no_run_goes_on() -> Iterator[None]:
    yield
    # Whoever starts runs has imported it; it asks Node for the apps, which not every test has.
    if bzt_run := sys.modules.get("e2e.bzt_run"):
        bzt_run.end_those_under_way()


# These two import what starts runs where it is wanted, for the reason above.
@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A copy of the project with a history, in which comparisons run."""
    from e2e.comparing import project_with_history

    return project_with_history(tmp_path_factory.mktemp("project"))


@pytest.fixture
def compare(project: Repo, tmp_path: Path) -> Callable[..., Run]:
    """Begins a comparison."""
    from e2e.comparing import begin

    def comparison(*options: str, **env: str) -> Run:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return begin(project, folder, *options, **env)

    return comparison
