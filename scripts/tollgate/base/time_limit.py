"""A bound on the time of one step: what strangers write may make any library slow.

Python's `re` needs time that grows exponentially with some patterns, and validators follow what
refers to itself in all combinations; neither has a budget of its own. A timer of the kernel ends
both, for `re` looks for signals while it matches. Source: CPython, Modules/_sre.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = {
    signal.ITIMER_REAL: signal.SIGALRM,
    signal.ITIMER_VIRTUAL: signal.SIGVTALRM,
    signal.ITIMER_PROF: signal.SIGPROF,
}
#: Seconds after which it is ended again, should a library have swallowed the first time.
_AGAIN_S = 0.5


class _Ended(BaseException):
    """The signal that came. No Exception, which libraries take for one of theirs."""


@contextmanager
def within(seconds: float, timer: int = signal.ITIMER_VIRTUAL) -> Iterator[None]:
    """Raises TimeoutError when the block has used so many seconds of CPU (ITIMER_PROF: with that of
    the kernel), or of any time (ITIMER_REAL). A block may stand in one of another timer. Only the
    main thread has timers; elsewhere there is no bound."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(_SIGNALS[timer], _end)
    signal.setitimer(timer, seconds, _AGAIN_S)
    try:
        yield
        signal.setitimer(timer, 0)
    except _Ended as ended:
        if ended.args != (_SIGNALS[timer],):  # that of a block around this one
            raise
        raise TimeoutError(f"it takes longer than {seconds:g} s") from None
    finally:
        signal.setitimer(timer, 0)
        signal.signal(_SIGNALS[timer], before)


def _end(number: int, _: FrameType | None) -> None:
    raise _Ended(number)
