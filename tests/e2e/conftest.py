"""Real runs: none goes on when its test has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_run_goes_on() -> Iterator[None]:
    yield
    # Whoever starts runs has imported it; it asks Node for the apps, which not every test has.
    if bzt_run := sys.modules.get("e2e.bzt_run"):
        bzt_run.end_those_under_way()
