"""Threads in a closed loop as JMeter runs them, and a clock that may be set back under them."""

import itertools
from dataclasses import dataclass

from support import jtl_rows


@dataclass(frozen=True)
class Sent:
    """One request, in milliseconds since the test began. start_ms: by the clock that was set back;
    true_ms: by one that was not. written_ms: when its row was written."""

    start_ms: int
    true_ms: int
    elapsed_ms: int
    thread: str
    written_ms: int


def none():
    return 0


def sent(threads, until_ms, answer_ms, held_ms=none, pause_ms=none, step=None, group="visitors 1"):
    """All requests as JMeter writes their rows. held_ms: what post-processors take before that.
    pause_ms: before the next request. step: when the clock was set back, and by how much."""

    def of_thread(name):
        at_ms = 0
        while at_ms < until_ms:
            elapsed = answer_ms()
            back = step[1] if step and at_ms >= step[0] else 0
            over = at_ms + elapsed + held_ms()
            yield Sent(at_ms - back, at_ms, elapsed, name, over)
            at_ms = over + max(1, pause_ms())

    rows = itertools.chain(*(of_thread(f"{group}-{number + 1}") for number in range(threads)))
    return sorted(rows, key=lambda it: it.written_ms)


def lines(rows, label="home", bad_from_ms=None):
    """Their rows in a JTL, with TESTSTART.MS; those sent from bad_from_ms on have failed."""

    def line(it):
        ok = bad_from_ms is None or it.true_ms < bad_from_ms
        code = "200" if ok else "500"
        return jtl_rows.row(it.start_ms, it.elapsed_ms, label, code, thread=it.thread, ok=ok)

    return [f"{line(it)},{jtl_rows.START_MS}" for it in rows]
