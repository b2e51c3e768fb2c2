"""`tollgate doctor`, the real command, on a machine on which something is wrong."""

import argparse
import fcntl
import os
import re
import shutil
import socket
import sys
from types import SimpleNamespace

import psutil
import pytest

import support
from tollgate.cli.doctor import finding, installed, machine, show
from tollgate.cli.doctor.finding import FAIL, OK, WARN, Diagnosis
from tollgate.targets import leftovers, lock
from tollgate.targets.pm2 import declared_apps

TOOLS = ("sh", "sed", "head", "node", "npm", "java", "mvn", "python3", "git")


def doctor(*words, **env):
    """On ports of its own."""
    names = [f"PORT_{name.upper().replace('-', '_')}" for name in declared_apps()]
    ports = {name: str(support.free_port()) for name in names}
    return support.tollgate("doctor", *words, env=support.environment(**(ports | env)))


def told(done, what):
    """The words of the line that begins with a status and this, and what to do."""
    lines = done.stdout.splitlines()
    for at, line in enumerate(lines):
        if line[6 : 6 + len(what)] == what:
            todo = lines[at + 1].strip() if "->" in lines[at + 1] else ""
            return [line[:4].strip(), line[20:], todo.removeprefix("-> ")]
    raise AssertionError(f"no {what} in:\n{done.stdout}{done.stderr}")


@pytest.fixture
def path_with(tmp_path):
    """Makes a PATH with these tools alone; those of `says` are scripts that print one line."""

    def make(*names, **says):
        for name in names:
            # The one that the tool itself names: a shim would look for its kind on PATH.
            place = sys.executable if name == "python3" else shutil.which(name)
            (tmp_path / name).symlink_to(place)
        for name, text in says.items():
            support.script(tmp_path / name, f"echo '{text}'")
        return str(tmp_path)

    return make


def test_a_port_in_use_is_told_with_the_process_that_holds_it():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = doctor(PORT_CLUSTER=str(port))
    status, found, todo = told(done, f"port {port}")
    assert (status, done.returncode) == (FAIL, 1)
    assert found.startswith(f"of app cluster: in use by pid {os.getpid()} (")
    assert todo == "end it, or set PORT_CLUSTER to a free port"


def test_free_ports_are_named():
    port = support.free_port()
    status, found, _ = told(doctor(PORT_FORK=str(port)), "ports")
    assert status == "ok"
    assert found.startswith(f"free: {port}, ")


@pytest.mark.parametrize(
    ("kind", "env", "apps"),
    [
        ((), {}, ("fork", "cluster")),
        pytest.param(("-check",), {}, ("fork", "cluster"), marks=pytest.mark.long),
        pytest.param(("-stress",), {"MODE": "fork"}, ("fork",), marks=pytest.mark.long),
        (("-study",), {}, ("balancer", "pi-1", "fork")),
    ],
)
def test_the_ports_looked_at_are_those_of_the_apps_that_the_kind_starts(kind, env, apps):
    ports = {f"PORT_{name.upper().replace('-', '_')}": str(support.free_port()) for name in apps}
    status, found, _ = told(doctor(*kind, **ports, **env), "ports")
    looked_at = found.removeprefix("free: ").split(", ")
    assert status == "ok"
    assert set(ports.values()) <= set(looked_at)
    assert kind == ("-study",) or len(looked_at) == len(apps)


@pytest.mark.parametrize(
    "kind", [("-compare",), pytest.param(("-cluster", "-compare"), marks=pytest.mark.long)]
)
def test_a_comparison_needs_the_port_of_its_app_and_those_behind_it(kind):
    first = support.free_port()
    _, found, _ = told(doctor(*kind, PORT_FORK=str(first), PORT_CLUSTER=str(first)), "ports")
    numbers = {int(it) for it in re.findall(r"\b\d+\b", found)}
    # One of them may be in use: then it alone is named.
    assert numbers & {*range(first, first + 8)}
    assert found.startswith("free: ") <= (len(numbers & {*range(first, first + 8)}) == 8)


@pytest.mark.parametrize(
    ("kind", "env"),
    [
        pytest.param("-plan", {}, marks=pytest.mark.long),
        ("-compare", {"BASE_URL": "http://a", "HEAD_URL": "http://b"}),
    ],
)
def test_a_kind_that_starts_no_app_needs_no_port(kind, env):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = doctor(kind, PORT_FORK=str(port), **env)
    assert told(done, "ports")[:2] == ["ok", f"none is needed: {kind} starts no app"]


def test_a_kind_that_there_is_not_is_refused_with_the_nearest():
    done = doctor("-strss")
    told = "tollgate: unrecognized arguments: -strss: did you mean '-stress'?\n"
    assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.parametrize(("what", "least"), [("Node", "20"), ("Java", "17")])
def test_a_missing_tool_is_told_and_the_rest_is_still_looked_at(path_with, what, least):
    path = path_with(*(name for name in TOOLS if name != what.lower()))
    done = doctor(PATH=path, JAVA_HOME="")
    todo = f"install {what} {least} or later"
    assert told(done, what) == [FAIL, f"no `{what.lower()}` that runs on PATH", todo]
    assert (done.returncode, done.stderr) == (1, "")
    assert told(done, "disk")[0] == "ok"


def test_a_node_that_is_too_old_is_told_with_its_version_and_not_asked_for_ports(path_with):
    path = path_with(*(name for name in TOOLS if name != "node"), node="v16.20.2")
    done = doctor(PATH=path)
    assert told(done, "Node") == [FAIL, f"16.20.2 ({path}/node)", "install Node 20 or later"]
    assert told(done, "ports")[0] == WARN
    assert "not looked at" in told(done, "ports")[1]


def test_without_anything_on_the_path_each_tool_is_told():
    done = doctor(PATH="/nowhere", JAVA_HOME="")
    assert (done.returncode, done.stderr) == (1, "")
    for what in ("Node", "npm", "Java", "Python"):
        assert told(done, what)[0] == FAIL


def test_maven_is_not_asked_for_once_jmeter_is_installed(path_with):
    done = doctor(PATH=path_with(*(name for name in TOOLS if name != "mvn")))
    there = "no `mvn` that runs on PATH: not needed, for JMeter is installed"
    assert told(done, "Maven") == [OK, there, ""]


@pytest.mark.parametrize(
    ("url", "status", "todo"),
    [
        (None, FAIL, "install Maven 3.8 or later, or {}"),
        (
            "https://host/x.tar",
            WARN,
            "none is needed where https://host/x.tar can be fetched; else install Maven 3.8 or "
            "later, or {}",
        ),
    ],
)
def test_before_that_it_is_needed_where_no_archive_can_be_had(
    path_with, tmp_path, monkeypatch, url, status, todo
):
    monkeypatch.setenv("PATH", path_with(*TOOLS[:3], "sort", mvn="Apache Maven 3.6.3"))
    monkeypatch.setenv("TOLLGATE_HOME", str(tmp_path / "empty"))
    monkeypatch.delenv("JMETER_HOME", raising=False)
    monkeypatch.setattr(installed.archive, "released", lambda: url)
    [maven] = [it for it in installed.prerequisites() if it.what == "Maven"]
    archive = "give JMeter as an archive: `tollgate install --from FILE`"
    assert (maven.status, maven.todo) == (status, todo.format(archive))
    assert maven.found.startswith("3.6.3 (")


def test_a_jmeter_home_of_yours_that_is_none_is_told(tmp_path):
    todo = "set JMETER_HOME to a JMeter 5.6.3, or unset it"
    done = doctor(JMETER_HOME=str(tmp_path))
    assert told(done, "JMeter") == [FAIL, f"no {tmp_path}/bin/jmeter", todo]


@pytest.fixture
def jmeter_home(tmp_path):
    """Makes a JMeter of the user's own that says it is this version and has these plugins."""

    def make(version, *plugins):
        (tmp_path / "lib" / "ext").mkdir(parents=True)
        support.script(tmp_path / "bin" / "jmeter", f"echo ' /_/   \\_\\_| {version}'")
        for plugin in plugins:
            (tmp_path / "lib" / "ext" / f"jmeter-plugins-{plugin}-2.10.jar").touch()
        return tmp_path

    return make


def test_a_jmeter_home_of_another_version_is_told_as_an_installation_would(jmeter_home):
    home = jmeter_home("5.4.1", "casutg", "tst")
    assert told(doctor(JMETER_HOME=str(home)), "JMeter") == [
        *(FAIL, f"JMETER_HOME={home} is JMeter 5.4.1, but the plans need 5.6.3"),
        "unset JMETER_HOME to use Tollgate's own JMeter",
    ]


def test_a_jmeter_home_without_the_plugins_is_told_with_how_to_add_them(jmeter_home):
    home = jmeter_home("5.6.3", "tst")
    status, found, todo = told(doctor(JMETER_HOME=str(home)), "JMeter")
    assert (status, found) == (WARN, f"The JMeter in {home} lacks the plugins jpgc-casutg.")
    assert todo.endswith("install jpgc-casutg")


def test_a_listener_of_another_user_is_not_taken_for_this_process(monkeypatch):
    address = SimpleNamespace(ip="127.0.0.1", port=4711)
    other = SimpleNamespace(status=psutil.CONN_LISTEN, laddr=address, pid=None)
    monkeypatch.setattr(psutil, "net_connections", lambda _: [other])
    assert leftovers.port_owner(4711).startswith("a process of another user (see `sudo")


def test_a_run_that_is_under_way_is_told_and_its_lock_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LOCK", tmp_path / "run.lock")
    monkeypatch.setattr(lock, "STATE", tmp_path)
    assert lock.holder() is None
    with lock.take_lock() as held:
        assert lock.holder() == os.getpid()
        with (tmp_path / "run.lock").open() as other, pytest.raises(OSError):  # noqa: PT011
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not held.closed
    assert lock.holder() is None


def test_a_lock_that_names_a_process_of_another_kind_is_nobodys(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LOCK", tmp_path / "run.lock")
    (tmp_path / "run.lock").write_text(str(os.getppid()))
    assert lock.holder() is None


def test_another_run_that_is_under_way_is_in_the_way(monkeypatch):
    monkeypatch.setattr(lock, "holder", lambda: 4711)
    pid, todo = "one is under way (bzt with pid 4711)", "wait for it or end it; two runs measure "
    unseen = "not looked at: they stand in ecosystem.config.js, which Node and PM2 read"
    assert machine.look(False, "check")[:2] == [
        Diagnosis(FAIL, "other runs", pid, f"{todo}each other"),
        Diagnosis(WARN, "ports", unseen, "install these first"),
    ]


def test_there_is_no_colour_in_a_pipe_and_the_last_line_sums_up():
    done = doctor()
    assert "\033" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("to know about")


def test_ctrl_c_keeps_what_was_found_and_ends_with_one_line(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "look", interrupted)
    assert show(argparse.Namespace(kind="check", service=None)) == 2
    out, err = capsys.readouterr()
    assert err == "tollgate: interrupted: what is above holds\n"
    assert "Taurus" in out


def cgroup(tmp_path, own, files):
    """What /proc/self/cgroup says, and files of the groups by their path."""
    for path, text in files.items():
        file = tmp_path / "groups" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n" if text else "")
    (tmp_path / "own").write_text(f"{own}\n")
    return tmp_path / "own", tmp_path / "groups"


OF_VERSION_1 = {
    "cpu,cpuacct/box/cpu.cfs_quota_us": "200000",
    "cpu,cpuacct/box/cpu.cfs_period_us": "100000",
}
MEMORY_OF_VERSION_1 = {
    "memory/memory.limit_in_bytes": "1000",
    "memory/memory.usage_in_bytes": "1200",
}
OF_A_BOX = {
    **{"box/memory.max": "1000000", "box/memory.current": "700000"},
    "box/memory.stat": "anon 100000\ninactive_file 200000",
    **{"box/in/memory.max": "max", "box/in/memory.current": "5"},
}


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/box", {"box/cpu.max": "150000 100000"}, 1.5),
        # The tightest of the groups around counts.
        ("0::/box/in", {"box/cpu.max": "50000 100000", "box/in/cpu.max": "max 100000"}, 0.5),
        ("4:cpu,cpuacct:/box", OF_VERSION_1, 2.0),
        *(("0::/", {"cpu.max": text}, None) for text in ("max 100000", "", "-1")),
    ],
)
def test_the_quota_of_a_container_is_read_from_its_groups(tmp_path, own, files, cores):
    assert machine.quota(*cgroup(tmp_path, own, files)) == cores
    assert machine.quota(tmp_path / "nowhere", tmp_path) is None


@pytest.mark.parametrize(
    ("own", "files", "left"),
    [
        ("0::/box/in", OF_A_BOX, 500_000),
        # The group's path is the machine's; the container sees its own.
        ("9:name=systemd:/\n5:memory:/docker/box", MEMORY_OF_VERSION_1, 0),
        ("0::/", {"memory.max": "max", "memory.current": "1"}, 5 * machine.GIB),
    ],
)
def test_memory_is_what_the_container_has_left_where_that_is_less(
    tmp_path, monkeypatch, own, files, left
):
    free = psutil.virtual_memory()._replace(available=5 * machine.GIB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    assert machine.memory(*cgroup(tmp_path, own, files)) == left
    assert machine.memory(tmp_path / "nowhere", tmp_path) == 5 * machine.GIB


def test_fewer_cores_than_node_sees_are_told_with_what_pm2_would_do():
    found = machine.judge_cores(8, 8, 1.5)
    assert (found.status, found.found) == (WARN, "8, of which 1.5 may be used")
    assert "`max` starts 8 workers" in found.todo
    assert machine.judge_cores(8, 2, None).found == "8, of which 2 may be used"
    assert machine.judge_cores(8, 8, 16.0) == Diagnosis(OK, "cores", "8")
    assert machine.judge_cores(1, 1, None).status == WARN


@pytest.mark.parametrize(("free", "status"), [(0.5, FAIL), (1.0, WARN), (4.0, OK)])
def test_room_is_judged_by_what_a_run_needs(free, status):
    found = machine.judge_room("memory", free * machine.GIB, machine.FREE_MEMORY)
    assert (found.status, "->" in finding.line(found, colour=False)) == (status, status != OK)
    assert found.found == f"{free:.1f} GiB free"


def test_load_is_held_against_the_cores():
    assert machine.judge_load(0.5, 2).status == OK
    todo = "end what else runs here; `BASE=HEAD tollgate run -compare` shows whether a change can "
    told = ("load", "0.60 on 2 cores in the last minute", f"{todo}be seen all the same")
    assert machine.judge_load(0.6, 2) == Diagnosis(WARN, *told)


def test_what_cannot_be_read_is_said_and_held_against_nobody():
    governors = (set(), {"performance"}, {"powersave", "performance"})
    assert [machine.judge_governors(it).status for it in governors] == [OK, OK, WARN]


def test_all_of_this_machine_can_be_told():
    names = ["other runs", "ports", "cores", "memory", "disk", "load", "frequency"]
    assert [each.what for each in machine.look(False, "check")] == names


def test_only_a_failure_is_in_the_way():
    warn, fail = Diagnosis(WARN, "load", "high", "wait"), Diagnosis(FAIL, "Node", "none", "get it")
    assert finding.exit_code([Diagnosis(OK, "a", "b"), warn]) == 0
    assert finding.exit_code([warn, fail]) == 1
    assert finding.summary([warn, fail]) == "1 in the way of a run, 1 to know about"
    assert finding.summary([warn]) == "nothing is in the way of a run, 1 to know about"


def test_a_line_holds_status_what_found_and_below_it_what_to_do():
    assert finding.line(Diagnosis(OK, "Node", "20.1"), colour=False) == "ok    Node          20.1"
    failed = finding.line(Diagnosis(FAIL, "Node", "none", "get it"), colour=False)
    assert failed == "fail  Node          none\n                    -> get it"
    assert "\033[31mfail\033[0m" in finding.line(Diagnosis(FAIL, "a", "b"), colour=True)
