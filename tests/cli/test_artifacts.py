"""No two runs share a folder, whoever starts them and however close together."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError, ToolError
from bzt.engine import Engine
from bzt.utils import BetterDict

from support import environment
from tollgate.base import disk
from tollgate.base.paths import SUITE
from tollgate.cli import artifacts
from tollgate.targets import lock

#: A moment, 0.25 s into its second.
NOON = 1_780_000_000.25
FIRST, SECOND = (f"20260528T20264{digit}Z" for digit in "01")


@pytest.fixture(autouse=True)
def _environment_of_its_own(monkeypatch):
    monkeypatch.setenv(artifacts.UTC, "")


def claimed(parent, kind="check"):
    """The name of the folder that a start gets at that moment."""
    slept = []  # by a clock that stands still but for those who sleep
    clock = SimpleNamespace(time=lambda: NOON + sum(slept), sleep=slept.append)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifacts, "time", clock)
        made, held = artifacts.claim(lambda: parent / f"{os.environ['TOLLGATE_UTC']}-{kind}")
    assert all(0 < seconds <= 1 for seconds in slept)
    os.close(held)
    return Path(made).name


def test_who_comes_second_within_a_second_gets_the_name_of_the_next(tmp_path):
    reports = tmp_path / "reports"
    names = [claimed(reports) for _ in range(3)]
    assert names[:2] == [f"{FIRST}-check", f"{SECOND}-check"]
    assert names == sorted({*names})
    assert names == sorted(each.name for each in reports.iterdir())


def test_kinds_that_start_within_a_second_have_names_of_their_own_anyway(tmp_path):
    names = [claimed(tmp_path, kind) for kind in ("check", "stress", "check")]
    assert names == [f"{FIRST}-check", f"{FIRST}-stress", f"{SECOND}-check"]
    # The time that taurus.yml refers to is that of the name.
    assert os.environ["TOLLGATE_UTC"] == SECOND


def test_a_chosen_folder_may_be_there_but_not_while_another_run_writes_to_it(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "theirs.txt").touch()
    _, held = artifacts.claim(lambda: folder)
    with pytest.raises(TaurusConfigError, match="mine is that of a run that is under way"):
        artifacts.claim(lambda: folder)
    os.close(held)
    made, held = artifacts.claim(lambda: folder)
    os.close(held)
    assert made == str(folder)


@pytest.mark.parametrize("place", ["file", "file/below", "file/${TOLLGATE_UTC}-check"])
def test_a_folder_that_cant_be_had_is_refused_in_a_line(tmp_path, place):
    (tmp_path / "file").touch()
    with pytest.raises(TaurusConfigError, match=r"settings.artifacts-dir: .*name another") as said:
        artifacts.claim(lambda: Path(os.path.expandvars(tmp_path / place)))
    assert "\n" not in str(said.value)


#: Many processes that all begin with the same second, whatever the time is.
RACING = """
import itertools, os, sys
from pathlib import Path
from types import SimpleNamespace
from tollgate.cli import artifacts

sys.stdin.readline()
seconds = itertools.count(1_780_000_000)
artifacts.time = SimpleNamespace(time=lambda: next(seconds), sleep=lambda _: None)
wanted = lambda: Path(sys.argv[1]) / f"{os.environ['TOLLGATE_UTC']}-check"
print(artifacts.claim(wanted)[0])
"""


def test_of_starts_in_one_second_each_has_a_folder_of_its_own(tmp_path):
    env = environment(PYTHONPATH=str(SUITE / "scripts"))
    command = [sys.executable, "-c", RACING, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    starts = [subprocess.Popen(command, env=env, **pipes) for _ in range(6)]
    for start in starts:
        start.stdin.write("go\n")
        start.stdin.flush()
    names = [start.communicate()[0].strip() for start in starts]
    assert sorted(names) == sorted(str(each) for each in tmp_path.iterdir())
    assert len(names) == 6


def engine(monkeypatch, artifacts_dir, services, under_way=None):
    """Taurus's own, which makes its folder as it is told here."""
    monkeypatch.setattr(lock, "holder", lambda: under_way)
    made = Engine(logging.getLogger("artifacts"))
    made.config.merge({"settings": {"artifacts-dir": artifacts_dir}, "services": services})
    artifacts.keep_to_own(made)
    return made


def test_taurus_itself_writes_into_the_folder_that_was_made_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TAURUS_ARTIFACTS_DIR", "")
    settings = f"{tmp_path}/${{TOLLGATE_UTC}}-check", ["targets"]
    made = [engine(monkeypatch, *settings) for _ in range(2)]
    for each in made:
        each.create_artifacts_dir([], BetterDict())
    folders = [Path(each.artifacts_dir) for each in made]
    assert folders[0] != folders[1]
    assert folders == sorted(tmp_path.iterdir())
    assert all((folder / "effective.json").is_file() for folder in folders)
    for each in made:
        os.close(each.artifacts_lock)


@pytest.mark.parametrize("service", ["targets", {"module": "targets"}])
def test_a_second_run_in_a_checkout_makes_no_folder(tmp_path, monkeypatch, service):
    folder = tmp_path / "second"
    refused = engine(monkeypatch, str(folder), ["report", service], under_way=4711)
    with pytest.raises(ToolError, match=r"another run is under way in this suite .*pid 4711"):
        refused.create_artifacts_dir([], BetterDict())
    assert refused.artifacts_dir is None
    assert not folder.exists()


def test_a_disk_without_room_for_a_run_is_refused_before_there_is_a_folder(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    refused = engine(monkeypatch, str(folder), ["targets"])
    monkeypatch.setattr(disk, "free", lambda _: disk.LEAST - 1)
    with pytest.raises(TaurusConfigError, match=f"a run needs at least {disk.LEAST // disk.MIB}"):
        refused.create_artifacts_dir([], BetterDict())
    assert refused.artifacts_dir is None
    assert not folder.exists()
    monkeypatch.setattr(disk, "free", lambda _: disk.LEAST)
    refused.create_artifacts_dir([], BetterDict())
    os.close(refused.artifacts_lock)
    assert folder.exists()
