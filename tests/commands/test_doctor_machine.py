"""What the doctor makes of cores, quotas, room, load, frequencies and clocks."""

import re

import psutil
import pytest

from tollgate.commands.doctor import finding, machine
from tollgate.commands.doctor.finding import FAIL, OK, WARN, Diagnosis


def cgroup(tmp_path, own, **files):
    """What /proc/self/cgroup says, and files of the groups by their path."""
    for path, text in files.items():
        file = tmp_path / "groups" / path.replace("__", "/")
        file = file.with_name(re.sub("^(cpu|memory)_", r"\1.", file.name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "own").write_text(own)
    return tmp_path / "own", tmp_path / "groups"


def test_the_quota_of_a_container_is_read_from_its_group(tmp_path):
    assert machine.quota(*cgroup(tmp_path, "0::/box\n", box__cpu_max="150000 100000\n")) == 1.5


def test_the_tightest_of_the_groups_around_counts(tmp_path):
    files = {"box__cpu_max": "50000 100000\n", "box__in__cpu_max": "max 100000\n"}
    assert machine.quota(*cgroup(tmp_path, "0::/box/in\n", **files)) == 0.5


def test_a_group_of_the_first_version_is_read_as_well(tmp_path):
    files = {"cpu,cpuacct__box__cpu_cfs_quota_us": "200000\n"}
    files["cpu,cpuacct__box__cpu_cfs_period_us"] = "100000\n"
    assert machine.quota(*cgroup(tmp_path, "4:cpu,cpuacct:/box\n", **files)) == 2.0


@pytest.mark.parametrize("text", ["max 100000\n", "", "-1\n"])
def test_no_quota_is_no_limit(tmp_path, text):
    assert machine.quota(*cgroup(tmp_path, "0::/\n", cpu_max=text)) is None
    assert machine.quota(tmp_path / "nowhere", tmp_path) is None


def test_memory_is_what_the_container_has_left_where_that_is_less(tmp_path):
    files = {"box__memory_max": "1000000\n", "box__memory_current": "700000\n"}
    files["box__memory_stat"] = "anon 100000\ninactive_file 200000\n"
    files |= {"box__in__memory_max": "max\n", "box__in__memory_current": "5\n"}
    assert machine.memory(*cgroup(tmp_path, "0::/box/in\n", **files)) == 500_000


def test_memory_of_a_group_of_the_first_version_is_read_as_well(tmp_path):
    files = {"memory__memory_limit_in_bytes": "1000\n", "memory__memory_usage_in_bytes": "1200\n"}
    own = "9:name=systemd:/\n5:memory:/docker/box\n"  # of the machine; the container sees its own
    assert machine.memory(*cgroup(tmp_path, own, **files)) == 0


def test_without_a_limit_memory_is_what_the_machine_has(tmp_path, monkeypatch):
    free = psutil.virtual_memory()._replace(available=5 * machine.GIB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    files = {"memory_max": "max\n", "memory_current": "1\n"}
    assert machine.memory(*cgroup(tmp_path, "0::/\n", **files)) == 5 * machine.GIB
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
    assert (found.status, bool(found.todo)) == (status, status != OK)
    assert found.found == f"{free:.1f} GiB free"


def test_load_is_held_against_the_cores():
    assert machine.judge_load(0.5, 2).status == OK
    assert machine.judge_load(0.6, 2) == Diagnosis(
        *(WARN, "load", "0.60 on 2 cores in the last minute"),
        "end what else runs here; `BASE=HEAD ./scripts/run -compare` tells whether a change can be "
        "seen all the same",
    )


def test_what_cannot_be_read_is_said_and_held_against_nobody():
    assert machine.judge_governors(set()).status == OK
    assert machine.judge_governors({"performance"}).status == OK
    assert machine.judge_governors({"powersave", "performance"}).status == WARN
    assert [machine.judge_clock(it).status for it in ("", "tsc", "hpet")] == [OK, OK, WARN]


def test_all_of_this_machine_can_be_told():
    names = ["other runs", "ports", "cores", "memory", "disk", "load", "frequency", "clock"]
    assert [each.what for each in machine.look(node_runs=False)] == names


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
