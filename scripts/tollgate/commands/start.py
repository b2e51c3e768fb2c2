"""The console scripts, and what comes before a second's worth of imports: Ctrl-C ends them with one
line, until they know better."""

from __future__ import annotations

import os
import signal
import sys

#: As of a run that was interrupted.
INTERRUPTED = 2
#: In the user's shell they are meant for another Python.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS")


def bzt() -> None:
    """The command `bzt`."""
    _begin("bzt")
    from tollgate.commands.bzt import main

    main()


def tollgate() -> None:
    """The command `tollgate`."""
    _begin("tollgate")
    from tollgate.commands.cli import main

    # What it starts has to be ended with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        _end("tollgate")


def _begin(name: str) -> None:
    foreign = [os.environ.pop(each, None) for each in FOREIGN]
    if any(foreign):
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - this Python
    signal.signal(signal.SIGINT, lambda *_: _end(name))


def _end(name: str) -> None:
    """At once: an import may take an exception for a problem of its own."""
    print(f"{name}: interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
