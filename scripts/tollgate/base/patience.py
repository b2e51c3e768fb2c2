"""What a person is told while something takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds after which a line says what takes long, and between two lines.
_TOLD_S = 3.0


@contextmanager
def telling(action: str) -> Iterator[None]:
    """Says on stderr what goes on within the block, and for how long, if that takes seconds."""
    has_ended, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not has_ended.wait(_TOLD_S):
            print(f"{action}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
