"""Real runs: none goes on when its test has ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e import bzt_run


@pytest.fixture(autouse=True)
def _no_run_goes_on() -> Iterator[None]:
    yield
    bzt_run.end_those_under_way()
