"""What several tests of the judge need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from support import early_ends
from tollgate.judge.ended_early import EarlyEnds


@pytest.fixture
def found(tmp_path) -> Callable[..., EarlyEnds]:
    """Tells what of a plan ended early."""
    return partial(early_ends.find, tmp_path / "plan.jmx")
