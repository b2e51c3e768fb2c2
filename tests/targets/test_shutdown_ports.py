"""Which ports a run may tell its JMeters to end on."""

import socket
import subprocess
import sys
import tempfile

import pytest

import support
from tollgate.targets import lock

#: Ports that no JMeter of a run has.
FIRST = 18_000
TAKE = f"""
from tollgate.targets import lock
lock.FIRST_PORT = {FIRST}
print(lock.take_port(), flush=True)
input()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where the locks are: not those of runs that are under way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(lock, "FIRST_PORT", FIRST)
    lock._reserved.cache_clear()
    yield tmp_path / f"tollgate-{lock.os.getuid()}"
    lock._reserved.cache_clear()


def block_of(port):
    return (port - lock.FIRST_PORT) // lock.SIZE


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
        assert block_of(lock.take_port()) != block_of(first)
        lock._reserved.cache_clear()
    finally:
        killed.kill()
        killed.communicate()
    assert block_of(lock.take_port()) == block_of(first)


def test_a_port_that_somebody_has_is_left_alone_and_each_jmeter_has_its_own():
    first = lock.take_port()
    with socket.socket(type=socket.SOCK_DGRAM) as foreign:
        foreign.bind(("127.0.0.1", first + 1))
        others = {lock.take_port() for _ in range(lock.SIZE - 2)}
    assert len(others) == lock.SIZE - 2
    assert others.isdisjoint({first, first + 1})


def test_a_folder_that_somebody_else_may_have_put_there_is_not_used(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert lock.take_port() == lock.NO_PORT
    assert list((tmp_path / "elsewhere").iterdir()) == []
