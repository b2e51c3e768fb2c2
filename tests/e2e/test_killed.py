"""PM2's daemon ended by SIGKILL, alone and together with bzt, under apps of ours and under apps of
somebody else's that do not end with it: in fork and in cluster mode at the same time."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

import support
from e2e.adopting import THEIRS, Copy, put_into_ecosystem
from e2e.bzt_run import Run, seconds
from tollgate.targets import pm2

LONG = seconds(1, 60)
#: Ours beside theirs. Of theirs one has another process listen, which nobody can tell is of here;
#: pmx is what PM2 puts into an app, and that ends it once nobody hears it.
OURS = ("fork", "cluster")
THEIR_APPS = {
    "clinging-fork": "exec_mode: 'fork', pmx: false",
    "clinging-cluster": "exec_mode: 'cluster', instances: 2, pmx: false",
    "handing-over": "exec_mode: 'fork', env: { HANDS_OVER: 'yes' }",
}


class Killed:
    """A copy of the project that has those apps, and its runs one after the other."""

    def __init__(self, tmp_path):
        self.tmp_path = tmp_path
        self.copy = Copy(tmp_path, {})
        self.daemon_pid = self.copy.root / ".tollgate" / "pm2" / "pm2.pid"
        self.ports = {app: support.free_port() for app in (*OURS, *THEIR_APPS)}
        for app, settings in THEIR_APPS.items():
            script = f"name: '{app}', script: '{THEIRS / 'clinging.js'}'"
            env = f"env: {{ PORT: {self.ports[app]}"
            settings = settings.replace("env: {", f"{env},")
            if "env:" not in settings:
                settings += f", {env} }}"
            put_into_ecosystem(self.copy, f"    {{ {script}, {settings} }},\n")

    def run(self, mode, *apps, options=LONG):
        """A run with these apps under PM2, whose load goes to ours of that mode."""
        scenario = {
            "app": False,
            "target": [*OURS, *apps],
            "properties": {"port": self.ports[mode]},
            "probes": [{"path": "/sum/1000", "answer": "500500"}],
        }
        config = {"~execution": [{"scenario": mode}], "scenarios": {mode: scenario}}
        folder = self.tmp_path / f"run-{len(list(self.tmp_path.glob('run-*')))}"
        own = {f"PORT_{app.upper()}": str(self.ports[app]) for app in OURS}
        return Run(folder, *options, config=config, root=self.copy.root, **own)

    def daemon(self):
        return psutil.Process(int(self.daemon_pid.read_text()))


def theirs():
    """Processes of theirs that live."""
    found = []
    for process in support.ours():
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end while we look
            if any("clinging.js" in word for word in process.cmdline()):
                found.append(process)
    return found


def lasting(processes):
    return [it for it in processes if it.is_running() and it.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    return Killed(tmp_path_factory.mktemp("killed"))


@pytest.fixture(scope="module")
def left(killed):
    """What lives on where bzt and the daemon are killed together: apps of theirs alone."""
    run = killed.run("cluster", *THEIR_APPS).until(" of 61 s, ")
    apps = killed.daemon().children()
    run.kill()
    killed.daemon().kill()
    support.wait_until(lambda: len(lasting(apps)) == 3, "all but those that cling have ended")
    return theirs()


@pytest.fixture(scope="module")
def refused(killed, left):
    """The next run, and who of those left is not of here for all that one can tell."""
    ended = killed.run("fork", *THEIR_APPS).end()
    (stranger,) = lasting(left)
    stranger.kill()
    return ended, stranger


@pytest.fixture(scope="module")
def orphaned(killed, refused):
    """The run after that, whose daemon is killed alone."""
    assert refused
    run = killed.run("fork", "clinging-fork", "clinging-cluster").until(" of 61 s, ")
    daemon = killed.daemon()
    daemon.kill()
    ended = run.end()
    assert f"PM2's daemon (pid {daemon.pid}) ended in the middle of the run" in ended.error()
    return ended


@pytest.mark.long
def test_the_next_run_ends_what_outlived_bzt_and_the_daemon_and_says_so(left, refused):
    ended, stranger = refused
    assert len(left) == 4
    for process in left:
        told = f"targets: ended pid {process.pid} (" in ended.output
        assert told == (process != stranger)


@pytest.mark.long
def test_it_names_with_its_pid_who_has_a_port_and_may_be_anybodys(killed, refused):
    ended, stranger = refused
    port = killed.ports["handing-over"]
    assert ended.code == 1
    assert f"port {port} of app 'handing-over' is in use by pid {stranger.pid} (" in ended.error()


@pytest.mark.long
def test_a_run_whose_daemon_is_killed_is_invalid_at_once_and_says_why(orphaned):
    assert orphaned.outcome == (4, "INVALID")
    assert "the run ended with an error: targets: PM2's daemon (pid " in orphaned.reasons()
    assert " of 61 s, " in orphaned.output
    assert "61 of 61 s" not in orphaned.output
    # It leaves nothing, and names what it had to end.
    assert orphaned.output.count("which outlived PM2") == 3
    assert theirs() == []


@pytest.mark.long
@pytest.mark.usefixtures("orphaned")
def test_the_run_after_that_works(killed):
    ended = killed.run("fork", options=seconds(3, 5)).end_cleanly()
    assert "left by a run that was killed" not in ended.output
    assert (ended.folder / "verdict.json").exists()
    assert "the run ended with an error" not in ended.reasons()
    ended.assert_only_the_generator_is_to_blame()


def test_a_call_of_pm2_does_not_wait_for_a_daemon_that_was_killed(tmp_path, monkeypatch):
    (tmp_path / "nap.js").write_text("setInterval(() => {}, 1000); // never ready\n")
    app = f"name: 'nap', script: '{tmp_path}/nap.js', wait_ready: true, listen_timeout: 600_000"
    ecosystem = tmp_path / "ecosystem.config.js"
    ecosystem.write_text(f"module.exports = {{ apps: [{{ {app}, exec_mode: 'cluster' }}] }};\n")
    monkeypatch.setattr(pm2, "PM2_HOME", tmp_path / "pm2")
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(pm2.start, ["nap"], ecosystem)
        daemon = psutil.Process(support.wait_until(pm2.daemon_pid, "the daemon is there"))
        support.wait_until(daemon.children, "the app is there")
        daemon.kill()
        with pytest.raises(pm2.DaemonEnded, match=f"daemon \\(pid {daemon.pid}\\) ended during"):
            call.result()
