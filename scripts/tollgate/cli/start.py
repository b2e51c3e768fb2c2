"""The console scripts, and what comes before a second's worth of imports: Ctrl-C ends them with one
line, until they know better."""

from __future__ import annotations

import os
import resource
import signal
import sys

#: As of a run that was interrupted.
INTERRUPTED = 2
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
#: In the user's shell they are meant for another Python; without docstrings commands have no help.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "PYTHONOPTIMIZE")


def bzt() -> None:
    """The command `bzt`."""
    _begin("bzt")
    from tollgate.cli.bzt import main

    main()


def tollgate() -> None:
    """The command `tollgate`."""
    _begin("tollgate")
    from tollgate.cli.cli import main

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
    # Python would truncate compiled modules there, and no command could import them any more.
    sys.dont_write_bytecode |= resource.getrlimit(resource.RLIMIT_FSIZE) != UNLIMITED
    from tollgate.base import terminal

    terminal.guard()  # before Taurus's log takes standard output


def _end(name: str) -> None:
    """At once: an import may take an exception for a problem of its own."""
    print(f"{name}: interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
