"""Runs whose folder is on a disk of its own, which fills up."""

import contextlib
import re
import subprocess

import pytest

from e2e.bzt_run import Run, mostly_right, only
from tollgate.base import disk as room

pytestmark = [pytest.mark.needs("mounts"), pytest.mark.long]


CONFIG = only("fork", mostly_right("calculate"), warmup=1, measured=60)


@pytest.fixture
def disk(tmp_path):
    """Of 48 MiB, on another filesystem than the project's."""
    place = tmp_path / "disk of 48 MiB"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_disk_that_fills_up_under_load_ends_the_run_with_a_whole_verdict_and_one_line(
    tmp_path, disk
):
    run = Run(tmp_path, config=CONFIG, dashboards=True, root_of_runs=disk).until("requests read")
    with (disk / "somebody's").open("wb") as file:
        while room.free(disk):
            file.write(bytes(min(room.MIB, room.free(disk))))
            file.flush()
    ended = run.end_cleanly()
    assert ended.outcome == (4, "INVALID")
    told = re.search(r"is full \((\d+) MiB free\)", ended.error())
    assert int(told[1]) * room.MIB < room.LOW
    assert "is full" in ended.reasons()
    assert "machine" in ended.blamed
    for name in ("junit.xml", "verdict.md", "run.json"):
        assert (ended.folder / name).stat().st_size, name
    assert list(ended.folder.glob(".*")) == []


def test_a_disk_without_room_for_the_verdict_leaves_none_and_says_so(tmp_path, disk):
    run = Run(tmp_path, config=CONFIG, root_of_runs=disk).until("requests read")
    with (disk / "somebody's").open("wb", buffering=0) as file:
        while run.process.poll() is None:
            with contextlib.suppress(OSError):  # the run takes some of it at the same time
                file.write(bytes(room.MIB))
    ended = run.end_cleanly()
    assert ended.code == 1
    assert "is full" in ended.error()
    left = {path.name: path.stat().st_size for path in ended.folder.glob("verdict.*")}
    assert all(left.values()), left
