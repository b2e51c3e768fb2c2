"""Runs whose folder is on a disk of its own, which fills up."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path

import pytest

from e2e.bzt_run import Run, mostly_right, only
from tollgate.base import disk as room

pytestmark = pytest.mark.needs("mounts")


@pytest.fixture
def mounted(tmp_path):
    """Mounts a disk of so many MiB, another filesystem than the project's."""
    places: list[Path] = []

    def mount(mebibytes):
        place = tmp_path / f"disk of {mebibytes} MiB"
        place.mkdir()
        options = ["-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs"]
        subprocess.run(["mount", *options, place], check=True)
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", place], check=True)


def test_a_disk_that_fills_up_under_load_ends_the_run_with_a_whole_verdict_and_one_line(
    tmp_path, mounted
):
    disk = mounted(48)
    config = only("fork", mostly_right("calculate"), warmup=1, measured=60)
    run = Run(tmp_path, config=config, dashboards=True, root_of_runs=disk).until("requests read")
    with (disk / "somebody's").open("wb") as file:
        while room.free(disk):
            file.write(bytes(min(room.MIB, room.free(disk))))
            file.flush()
    ended = run.end()
    assert ended.code == 1
    told = re.search(r"is full \((\d+) MiB free\)", ended.error())
    assert int(told[1]) * room.MIB < room.LOW
    assert ended.verdict["verdict"] == "INVALID"
    assert any("is full" in it["text"] for it in ended.verdict["reasons"])
    assert {"machine"} <= {it["fault"] for it in ended.verdict["reasons"]}
    for name in ("junit.xml", "verdict.md", "run.json"):
        assert (ended.folder / name).stat().st_size, name
    assert list(ended.folder.glob(".*")) == []
    assert run.left_behind() == []


@pytest.mark.long
def test_a_disk_without_room_for_the_verdict_leaves_none_and_says_so(tmp_path, mounted):
    disk = mounted(48)
    config = only("fork", mostly_right("calculate"), warmup=1, measured=60)
    run = Run(tmp_path, config=config, root_of_runs=disk).until("requests read")
    with (disk / "somebody's").open("wb", buffering=0) as file:
        while run.process.poll() is None:
            with contextlib.suppress(OSError):  # the run takes some of it at the same time
                file.write(bytes(room.MIB))
    ended = run.end()
    assert ended.code == 1
    assert "is full" in ended.error()
    left = {path.name: path.stat().st_size for path in ended.folder.glob("verdict.*")}
    assert all(left.values()), left
    assert run.left_behind() == []
