"""Plans that go to two sides."""

import pytest

from support.jmx_text import plan
from support.sided import Made
from tollgate.plan.jmx import PlanError


@pytest.fixture
def made(tmp_path):
    def make(*children, **options):
        return Made(tmp_path, plan(*children), **options)

    return make


@pytest.fixture
def refused(made):
    def refuse(*children, **options):
        with pytest.raises(PlanError) as caught:
            made(*children, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refuse
