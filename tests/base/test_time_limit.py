import contextlib
import re
import signal

import pytest

from tollgate.base.time_limit import within


def search_for(seconds):
    """Up to so many seconds of CPU for a pattern that needs any time."""
    with within(seconds):
        re.search(r"^(\w+)*!$", "a" * 60)


def search_often(times):
    with within(0.3, signal.ITIMER_PROF):
        for _ in range(times):
            with contextlib.suppress(TimeoutError):
                search_for(0.02)


def test_a_pattern_without_end_is_ended():
    with pytest.raises(TimeoutError, match=r"takes longer than 0.05 s"):
        search_for(0.05)


def test_a_limit_holds_however_often_one_within_it_ends_something():
    with pytest.raises(TimeoutError, match=r"takes longer than 0.3 s"):
        search_often(200)
