"""Which ports a run may tell its JMeters to end on."""

import socket
import subprocess
import sys
import tempfile

import pytest

import support
from tollgate.taurus import shutdown_ports

#: Ports that no JMeter of a run has.
FIRST = 18_000
TAKE = f"""
from tollgate.taurus import shutdown_ports
shutdown_ports.FIRST = {FIRST}
print(shutdown_ports.take(), flush=True)
input()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where the locks are: not those of runs that are under way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutdown_ports, "FIRST", FIRST)
    shutdown_ports._reserved.cache_clear()
    yield tmp_path / f"tollgate-{shutdown_ports.os.getuid()}"
    shutdown_ports._reserved.cache_clear()


def block_of(port):
    return (port - shutdown_ports.FIRST) // shutdown_ports.SIZE


def taken_by_another_run():
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE],
        env=support.environment(PYTHONPATH=str(support.ROOT / "scripts")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, int(process.stdout.readline())


def test_two_runs_at_once_have_no_port_in_common_and_a_dead_one_has_none():
    killed, first = taken_by_another_run()
    try:
        assert block_of(shutdown_ports.take()) != block_of(first)
        shutdown_ports._reserved.cache_clear()
    finally:
        killed.kill()
        killed.communicate()
    assert block_of(shutdown_ports.take()) == block_of(first)


def test_a_port_that_somebody_has_is_left_alone_and_each_jmeter_has_its_own():
    first = shutdown_ports.take()
    with socket.socket(type=socket.SOCK_DGRAM) as foreign:
        foreign.bind(("127.0.0.1", first + 1))
        others = {shutdown_ports.take() for _ in range(shutdown_ports.SIZE - 2)}
    assert len(others) == shutdown_ports.SIZE - 2
    assert others.isdisjoint({first, first + 1})


def test_a_folder_that_somebody_else_may_have_put_there_is_not_used(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert shutdown_ports.take() == shutdown_ports.NONE
    assert list((tmp_path / "elsewhere").iterdir()) == []
