"""A run whose kpi.jtl is compacted under JMeter's hands: small pieces make a long run of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import support
from e2e.bzt_run import Finished, Run, only
from tollgate.jtl_layout import read_layout
from tollgate.jtl_pieces import read_index

PIECE_BYTES = 10_000
TOLLGATE = Path(sys.executable).with_name("tollgate")


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    config = only("fork", ["fail>0%"], warmup=1, measured=12)
    config["modules"]["compaction"] = {"piece-mib": PIECE_BYTES / (1 << 20)}
    config["modules"]["verdict"] = {"missing-share": 0.5}
    run = Run(tmp_path_factory.mktemp("compacted"), config=config, dashboards=True)
    ended = run.end()
    assert run.left_behind() == []
    return ended


def test_the_run_is_judged_from_its_pieces_as_any_other(compacted):
    assert compacted.code == 0, compacted.output
    assert compacted.verdict["verdict"] == "PASS"
    assert "compaction: " not in compacted.output
    assert len(read_index(compacted.folder / "kpi.jtl").pieces) > 1
    assert (compacted.folder / "kpi.jtl").stat().st_size < 3 * PIECE_BYTES


def test_pieces_were_made_while_jmeter_wrote(compacted):
    log = (compacted.folder / "bzt.log").read_text()
    first = json.loads((compacted.folder / "kpi.pieces" / "index.json").read_text())["pieces"][0]
    made = (compacted.folder / "kpi.pieces" / first["file"]).stat().st_mtime
    run = json.loads((compacted.folder / "run.json").read_text())["executions"][0]
    assert run["began"] < made < run["ended"], log


def test_the_command_line_judges_the_folder_as_the_run_did(compacted):
    done = support.run(TOLLGATE, "judge", compacted.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS: 1 of 1 criteria hold" in done.stdout


def test_every_sample_that_was_judged_is_written_back_in_jmeters_own_columns(compacted):
    done = support.run(TOLLGATE, "samples", compacted.folder, "fork")
    assert (done.returncode, done.stderr) == (0, "")
    header, *samples = done.stdout.splitlines()
    assert header == (compacted.folder / "kpi.jtl").read_text().splitlines()[0]
    width = len(read_layout(compacted.folder / "kpi.jtl").columns)
    assert {len(line.split(",")) for line in samples} == {width}
    statistics = compacted.folder / "dashboard" / "fork" / "statistics.json"
    assert json.loads(statistics.read_text())["Total"]["sampleCount"] == len(samples)
