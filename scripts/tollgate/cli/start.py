"""The console scripts, and what comes before a second's worth of imports: Ctrl-C ends them with one
line, until they know better."""

from __future__ import annotations

import os
import resource
import signal
import sys

from tollgate.base.exit_codes import ExitCode

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
#: In the user's shell they are meant for another Python; without docstrings commands have no help.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "PYTHONOPTIMIZE")


def bzt() -> None:
    """The command `bzt`."""
    _begin("bzt")
    _find_java()
    from tollgate.cli.bzt import main

    main()


def tollgate() -> None:
    """The command `tollgate`."""
    _begin("tollgate")
    _go_to_suite()
    _find_java()
    if sys.argv[1:2] == ["run"]:
        from tollgate.cli import run

        run.main(sys.argv[2:])
        return
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
    if sys.stdout:
        # A label that its encoding lacks ends no command. Standard error has that by itself.
        sys.stdout.reconfigure(errors="replace")
    from tollgate.base import terminal

    terminal.guard()  # before Taurus's log takes standard output


def _go_to_suite() -> None:
    """`tollgate -C FOLDER ...`: as if it were called in that folder."""
    if sys.argv[1:2] != ["-C"]:
        return
    try:
        os.chdir(sys.argv[2])
    except IndexError:
        sys.exit("tollgate: -C needs a folder: tollgate -C FOLDER run")
    except OSError as problem:
        sys.exit(f"tollgate: -C {sys.argv[2]}: {problem.strerror}")
    del sys.argv[1:3]


def _find_java() -> None:
    from tollgate.install import java  # which looks where the suite is

    java.adopt()


def _end(name: str) -> None:
    """At once: an import may take an exception for a problem of its own."""
    print(f"{name}: interrupted", file=sys.stderr, flush=True)
    os._exit(ExitCode.INTERRUPTED)
