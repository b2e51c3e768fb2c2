"""What several tests of the judge need."""

from functools import partial

import pytest

from support import early_ends


@pytest.fixture
def found(tmp_path):
    """Tells what of a plan ended early."""
    return partial(early_ends.find, tmp_path / "plan.jmx")
