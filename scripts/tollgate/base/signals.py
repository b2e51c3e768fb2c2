"""The signals that end a run, and how to have none of them for a while."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Ctrl-C, how CI systems cancel a job, and a terminal that is closed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_by(handler: Callable) -> None:
    """Let each of them call the handler, but for the SIGHUP that whoever started this process has
    ignored: under `nohup` a run outlives its terminal."""
    for number in SIGNALS:
        if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
            continue
        signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore them within; only the main thread can, and any other is never interrupted by them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that Python did not set, and can't set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
