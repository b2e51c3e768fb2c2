"""Talks to the project's own PM2: one daemon, whose home is inside the project."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tollgate.base.paths import ECOSYSTEM, SUITE, identity
from tollgate.base.paths import PM2_HOME as PM2_HOME  # which others ask of this module
from tollgate.base.processes import spawn
from tollgate.base.text import UserError, telling
from tollgate.install import tools

#: Begins the line that tells the apps: an ecosystem may print what it likes, as dotenv does.
MARK = "tollgate-apps:"
READER = Path(__file__).with_name("read-ecosystem.js")
#: The apps of ecosystem.config.js as a run starts them: see copies.py.
COMPOSED = Path(__file__).with_name("composed.config.js")
#: The same apps with a profiler, and the variable that names the folder of what it finds.
PROFILED = Path(__file__).with_name("profiled.config.js")
PROFILE = "TOLLGATE_PROFILE"
#: Of a server that does nothing.
IDLE_SERVER = Path(__file__).with_name("idle-server.js")
HOST = "127.0.0.1"
#: Longest path of a Unix socket on Linux is 107 bytes (sun_path), on macOS 103; PM2 appends this.
LONGEST_SOCKET = 103 - len("/interactor.sock")
#: Seconds for one call of the pm2 command. Starting waits for `ready`, stopping for drains.
CALL_TIMEOUT = 120
#: Seconds that one worker's reload may take: listen_timeout and kill_timeout, and some for PM2.
RELOAD_TIMEOUT = 25
#: Seconds between two looks at the daemon while a call waits for it.
LOOK_AGAIN = 1
#: Variable of every PM2 process and of what these start, by which leftovers.py knows its own.
STARTED_FROM = "TOLLGATE_STARTED_FROM"


class Pm2Error(UserError):
    """One line that says what PM2 refused and what to do."""


class DaemonEnded(Pm2Error):  # noqa: N818 - for `pm2 kill` it is what was wanted
    """The daemon has gone while a call waited for it."""


@dataclass(frozen=True)
class App:
    """An app as ecosystem.config.js declares it, with `max` instances counted out. memory_limit:
    bytes of RSS above which PM2 restarts a worker, None for no limit. deals_to: a regular
    expression for the names of the apps to which it deals its requests, None for none. port: 0 for
    none, as of a worker that takes jobs from a queue. script: the
    file that it runs, cwd: the folder in which, both absolute. interpreter: as PM2 names it, `none`
    for what needs none. env: what it declares alone. has_own_ports: whether each instance listens
    at the port after that of the one before (`increment_var`). is_sided: whether `${SIDE}` stands
    in what it is made of, so that base and head differ in more than their code."""

    name: str
    port: int
    exec_mode: str
    instances: int
    memory_limit: float | None = None
    deals_to: str | None = None
    script: str = ""
    cwd: str = ""
    interpreter: str = "node"
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    has_own_ports: bool = False
    is_sided: bool = False

    @property
    def ports(self) -> range:
        """Where its instances listen."""
        return range(self.port, self.port + (self.instances if self.has_own_ports else 1))

    @property
    def is_node(self) -> bool:
        """Whether Node runs it."""
        return Path(self.interpreter).name in ("node", "nodejs")


def home() -> str:
    """PM2_HOME: inside the project, through a short link where its sockets' paths are too long.
    Raises Pm2Error where the link's place is taken."""
    PM2_HOME.mkdir(parents=True, exist_ok=True)
    if len(os.fsencode(PM2_HOME)) <= LONGEST_SOCKET:
        return str(PM2_HOME)
    link = Path(tempfile.gettempdir()) / f"tollgate-{os.getuid()}-{PM2_HOME.stat().st_ino}"
    try:
        _refuse_taken(link)
        if not link.is_symlink() or link.readlink() != PM2_HOME:
            link.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):
                link.symlink_to(PM2_HOME)
            _refuse_taken(link)  # somebody else may have been faster
    except OSError as problem:
        raise _no_link(link, problem.strerror) from None
    return str(link)


def _refuse_taken(link: Path) -> None:
    """Any user may write there, and a link's owner leads PM2's calls to where they like."""
    if os.path.lexists(link) and link.lstat().st_uid != os.getuid():
        raise _no_link(link, f"it belongs to the user {link.lstat().st_uid}")


def _no_link(link: Path, reason: str | None) -> Pm2Error:
    return Pm2Error(
        f"{link}, a short link to {PM2_HOME}, can't be made: {reason}: remove it, or set TMPDIR to "
        "a folder of your own with a short path"
    )


def environment() -> dict[str, str]:
    """The environment of every PM2 process. The daemon is the primary that deals connections to
    cluster workers, so its scheduling policy must be there when it starts."""
    return {
        **os.environ,
        "PM2_HOME": home(),
        STARTED_FROM: started_from(),
        "NODE_CLUSTER_SCHED_POLICY": "rr",
        "HOST": host(),
        "PM2_DISABLE_VERSION_CHECK": "true",  # nothing here asks the network
        # A daemon that breaks down runs `node $_ update`, whatever command the shell put there.
        "_": os.devnull,
        **_reading(ECOSYSTEM.name),
    }


def _reading(file: str) -> dict[str, str]:
    """The variables by which composed.config.js finds PM2's file. An app may ask PM2 as well, as
    app/balancer does: by the daemon's own version of it."""
    return {"PM2_PACKAGE": str(tools.node_package("pm2")), "TOLLGATE_ECOSYSTEM": file}


def reading_environment() -> dict[str, str]:
    """The environment in which scripts of this package find PM2's own modules."""
    return {**environment(), "NODE_PATH": str(tools.node_folder() / "node_modules")}


def host() -> str:
    """The address at which apps listen and are asked: loopback, and HOST in a run with ENGINES,
    which reach it from their hosts. HOST alone says nothing: some shells export the machine's name
    by it. Raises Pm2Error."""
    address = os.environ.get("HOST")
    if not address or not os.environ.get("ENGINES"):
        return HOST
    try:
        is_one = not ipaddress.ip_address(address).is_unspecified
    except ValueError:
        is_one = False
    if not is_one:
        raise Pm2Error(
            f"HOST is {address!r}: write the address of this machine at which the engines of "
            "ENGINES reach its services, such as 10.0.0.10, or leave it out"
        )
    return address


def started_from() -> str:
    """What marks the processes of this suite."""
    return identity(SUITE)


def declared_apps() -> dict[str, App]:
    """The apps of ecosystem.config.js by name.

    Raises Pm2Error when the file can't be loaded or an app has no name.
    """
    return _apps_of(ECOSYSTEM.parent, ECOSYSTEM.name, reading_environment())


def apps_elsewhere(folder: Path, file: str) -> dict[str, App]:
    """The apps of a file as PM2 reads it when it is called in a folder, which need not be the
    suite's. Leaves nothing on the disk, and raises Pm2Error."""
    if not tools.pm2().exists():
        raise Pm2Error(f"{file} is for PM2, which is not installed: run `tollgate install`")
    modules = {"NODE_PATH": str(tools.node_folder() / "node_modules")}
    return _apps_of(folder, file, {**os.environ, **_reading(file), **modules})


def _apps_of(folder: Path, file: str, env: Mapping[str, str]) -> dict[str, App]:
    command = ["node", str(READER), str(COMPOSED), MARK]
    output: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(command, cwd=folder, env=env, check=False, **output)
    if done.returncode:
        nothing = [f"it ends Node with code {done.returncode}"]
        reasons = telling(done.stderr, r"\w*(Error|Exception)\b") or nothing
        raise Pm2Error(f"{file} can't be loaded: {reasons[0]}: correct it")
    marked = [line for line in done.stdout.split("\n") if line.startswith(MARK)]
    try:
        apps = [_app(each, file) for each in json.loads(marked[-1].removeprefix(MARK))]
    except (IndexError, ValueError):
        raise Pm2Error(
            f"{file} can't be read: Node ended too early; let it only export its apps"
        ) from None
    return {app.name: app for app in apps}


def _app(entry: dict[str, Any], file: str) -> App:
    if not entry.get("name"):
        raise Pm2Error(f"{file}: an app has no name and no script: give each its own")
    text = str(entry.get("port", ""))
    port = int(text) if re.fullmatch("[0-9]+", text) else 0
    return App(**entry | {"port": port, "args": tuple(entry.get("args", ()))})


def why_not_asked(app: App, file: str = "") -> str:
    """Why no run can start an app and ask it, such as a worker that takes jobs from a queue; empty
    if one can. file: that declares it, by default the suite's."""
    file = file or ECOSYSTEM.name
    if not app.port:
        return (
            f"{file}: app {app.name!r} has no number in env.PORT: write there where it listens, as "
            "`env: {PORT: 3000}`"
        )
    if re.search("[ ,]", app.name):
        return (
            f"{file}: PM2 starts no app by a name with a blank or a comma, such as "
            f"{app.name!r}: rename it"
        )
    return ""


def servers_behind(app: App, apps: Iterable[App]) -> list[str]:
    """The names of those apps to which an app deals its requests; none where it is no balancer."""
    return [it.name for it in apps if app.deals_to and re.search(app.deals_to, it.name)]


def start(names: list[str], ecosystem: Path = COMPOSED) -> None:
    """Start the named apps, and wait until PM2 has seen each worker's `ready` or given up."""
    _call("start", str(ecosystem), "--only", ",".join(names), "--no-color")


def reload(app: App) -> None:
    """Replace the workers of an app one after another; returns when the last old one has ended.

    Raises Pm2Error when PM2 refuses, or when it takes longer than the workers may take.
    """
    limit = max(CALL_TIMEOUT, RELOAD_TIMEOUT * app.instances)
    done = _call("reload", app.name, "--no-color", timeout=limit)
    if done.returncode:
        said = (line for line in (done.stderr + done.stdout).splitlines() if "ERROR" in line)
        raise Pm2Error(f"`pm2 reload {app.name}` failed: {next(said, 'see pm2.log')}")


def workers() -> list[dict[str, Any]]:
    """What PM2 knows of each worker, as `pm2 jlist` prints it."""
    out = _call("jlist", "--silent").stdout
    found: list[dict[str, Any]] = json.loads(out[out.index("[") :])
    return found


def kill() -> None:
    """Stop every app, with its drain, and then the daemon. Does nothing when none runs."""
    if daemon_pid() is not None:
        with contextlib.suppress(DaemonEnded):
            _call("kill", "--no-color")


def daemon_pid() -> int | None:
    """The pid of the project's daemon, or None when none runs."""
    pid = _written_pid()
    if pid is None:
        return None
    command = Path(f"/proc/{pid}/cmdline")
    try:
        os.kill(pid, 0)
    except OSError:
        return None
    if command.exists() and b"PM2" not in command.read_bytes():
        return None  # the number has been given to another process since
    return pid


def _written_pid() -> int | None:
    """The pid that a daemon wrote down; one that was killed leaves it."""
    try:
        return int((PM2_HOME / "pm2.pid").read_text())
    except (OSError, ValueError):
        return None


def forget() -> None:
    """Remove what an earlier daemon left: its sockets, pid file and logs."""
    shutil.rmtree(PM2_HOME, ignore_errors=True)


def _call(*arguments: str, timeout: float = CALL_TIMEOUT) -> subprocess.CompletedProcess[str]:
    # Ctrl-C in the terminal must not reach a call that cleans up.
    streams = {"stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
    command = [str(tools.pm2()), *arguments]
    with spawn(command, SUITE, environment(), subprocess.PIPE, **streams) as process:
        try:
            out, err = _outcome(process, arguments[0], timeout)
        except Pm2Error:
            process.kill()
            raise
        except BaseException:
            # Interrupted. A daemon whose client dies in the middle of a call breaks down, or is
            # not even born yet when it is looked for: let the call come to its end.
            with contextlib.suppress(Pm2Error):
                _outcome(process, arguments[0], CALL_TIMEOUT)
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _outcome(process: subprocess.Popen[str], command: str, timeout: float) -> tuple[str, str]:
    """What a call printed. Raises Pm2Error where it takes too long, or waits in vain: a call whose
    daemon is killed meanwhile never ends."""
    deadline = time.monotonic() + timeout
    before, daemon = _written_pid(), daemon_pid()
    while True:
        try:
            return process.communicate(timeout=LOOK_AGAIN)
        except subprocess.TimeoutExpired:
            pass
        if daemon is None and _written_pid() != before:
            daemon = _written_pid()  # which the call has started
        if daemon is not None and daemon_pid() != daemon:
            raise DaemonEnded(f"PM2's daemon (pid {daemon}) ended during `pm2 {command}`")
        if time.monotonic() > deadline:
            raise Pm2Error(
                f"`pm2 {command}` did not end within {timeout} s: see {PM2_HOME / 'pm2.log'}"
            )
