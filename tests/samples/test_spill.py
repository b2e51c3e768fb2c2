"""What does not fit into memory goes beside the JTL, and a disk that is full is told in a line."""

import errno
import os
import resource
import signal
from pathlib import Path
from unittest.mock import Mock

import duckdb
import pytest

from support import run_folder
from support.forecasts import steps_of
from support.jtl_rows import fields, lines
from support.run_folder import reasons
from tollgate.base import disk
from tollgate.forecast.model import Followed
from tollgate.gather import evidence
from tollgate.samples import store
from tollgate.samples.layout import JtlError
from tollgate.samples.single import read_samples

connect = duckdb.connect


@pytest.fixture
def spills(monkeypatch):
    """Gives DuckDB little memory, and this room to spill to; returns the spill folders."""
    folders = []

    def with_room(room):
        def connected(config):
            con = connect(config={**config, "memory_limit": "16MB"})
            con.execute(f"SET max_temp_directory_size='{room}'")
            folders.append(Path(config["temp_directory"]))
            return con

        monkeypatch.setattr(store.duckdb, "connect", connected)
        return folders

    return with_room


@pytest.fixture
def wide(tmp_path):
    """A JTL of which no two samples are alike."""
    path = tmp_path / "kpi.jtl"
    rows = (fields(it, elapsed=it, thread=f"{hash(str(it))}") for it in range(10**5))
    path.write_bytes(lines(rows))
    return path


@pytest.fixture
def among_small_files(wide):
    """Such a JTL, once no file may grow beyond some bytes."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield wide
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def refusal(path):
    with pytest.raises(JtlError) as caught:
        read_samples(path, ["search"])
    return str(caught.value)


def check_no_room(said, path):
    assert said.startswith(f"{path}: reading it takes more disk than the ")
    end = f" MiB that are free in {path.parent}; make room there and judge the run again"
    assert said.endswith(end)


def test_a_spill_that_has_no_room_is_one_line_with_the_folder_and_what_is_free(spills, wide):
    folders = spills("256KiB")
    check_no_room(refusal(wide), wide)
    assert [it.parent for it in folders] == [wide.parent]
    assert list(wide.parent.iterdir()) == [wide]


def test_a_limit_of_file_sizes_is_no_full_disk_and_no_damaged_file(spills, among_small_files):
    path = among_small_files
    spills("10GB")
    what, step = disk.LIMITS[errno.EFBIG]
    said = f"{path}: cannot be read: {what} {path.parent}; {step}, and judge the run again"
    assert refusal(path) == said
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_is_no_damaged_file(wide, monkeypatch, code):
    said = f"Could not write file 'samples.parquet': {os.strerror(code)}"
    monkeypatch.setattr(store, "write_parquet", Mock(side_effect=duckdb.IOException(said)))
    if code == errno.ENOSPC:
        check_no_room(refusal(wide), wide)
    else:
        assert disk.LIMITS[code][0] in refusal(wide)


def test_any_other_fault_of_the_database_names_the_file(tmp_path):
    fault = r"kpi\.jtl: cannot be read: Catalog Error: .* nothing"
    with pytest.raises(JtlError, match=fault), store.database(tmp_path / "kpi.jtl") as con:
        con.execute("SELECT * FROM nothing")


STEPS = (
    *("evidence.read_jtl", "samples.replay_jtl"),
    *("workers.with_losses", "evidence.forecast_facts"),
)


@pytest.mark.parametrize("error", [JtlError("kpi.jtl", "is too much"), OSError("is too much")])
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_in_any_pass_over_the_samples_is_a_fact_about_the_run(
    tmp_path, monkeypatch, step, error
):
    monkeypatch.setattr(f"tollgate.gather.{step}", Mock(side_effect=error))
    steps = steps_of(30, length_s=4.0, from_s=2.0, shares={"nap": 1.0})
    followed = Followed("data/mine.csv", 1.0, 1440.0, steps)
    changes = run_folder.follow(tmp_path) | {"forecast": followed}
    run, _ = evidence.gather(tmp_path, run_folder.make(tmp_path, **changes))
    (execution,) = run.executions
    assert execution.facts.jtl_error.endswith("is too much")
    assert execution.labels == {}
    assert "is too much" in reasons(run_folder.judge(run))
