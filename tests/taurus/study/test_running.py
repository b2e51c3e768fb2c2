"""The service `study` from the start of JMeter to the report."""

import json

import pytest
from bzt import ToolError

from support.jtl_rows import lines
from support.study_jtl import Sent, load, write
from tollgate.record import manifest
from tollgate.study.design import read_blocks, rounds, seconds_of
from tollgate.study.lengths import lengthened, warmed
from tollgate.study.samples import read_spans
from tollgate.study.windows import CONNECT
from tollgate.taurus import study
from tollgate.taurus.verdict import VerdictExit

HEADER = "timeStamp,elapsed,label,success,block\n"


def test_cpu_time_is_recorded_from_the_start_of_jmeter_to_its_end(
    prepared, running, tmp_path, monkeypatch
):
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: running.pid)
    made = prepared()
    made.check()
    assert made.recorder is None
    made.executor.process = running
    made.check()
    recorder = made.recorder
    made.check()
    assert made.recorder is recorder is not None
    running.stdin.close()
    running.wait()
    made.check()
    assert made.recorder is None
    made.check()
    made.shutdown()
    lines = (tmp_path / "cpu.jsonl").read_text().splitlines()
    assert len(lines) >= 2
    assert {"time", "generator", "service", "idle", "cores"} == json.loads(lines[-1]).keys()


def test_an_interruption_ends_the_record_and_without_a_daemon_there_is_none(
    prepared, running, monkeypatch, caplog
):
    daemon = [running.pid]
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: daemon[0])
    made = prepared()
    made.executor.process = running
    made.check()
    made.engine.stopping_reason = KeyboardInterrupt()
    made.shutdown()
    assert made.recorder is None
    made, daemon[0] = prepared(), None
    made.executor.process = running
    made.check()
    assert "study: CPU time is not recorded" in caplog.text
    assert "no PM2 daemon runs" in caplog.text


def samples(tmp_path, *numbers):
    rows = (f"1700000000000,5,pi,true,{number}\n" for number in numbers)
    (tmp_path / "kpi.jtl").write_text(HEADER + "".join(rows))


def test_progress_is_told_the_block_under_way(prepared, tmp_path):
    made = prepared()
    executor = made.executor
    assert made.position(executor) is None
    samples(tmp_path, 1, 2, 3)
    assert f"; block 3 of {len(made.blocks)}, about " in made.position(executor)
    samples(tmp_path, len(made.blocks) + 1)  # no block of this run
    assert made.position(executor) is None


def test_a_plan_that_ends_before_its_last_block_is_an_error_unless_interrupted(prepared, tmp_path):
    made = prepared(short=True)
    last = len(made.blocks)
    samples(tmp_path, 1, last)
    made.shutdown()
    samples(tmp_path, 1, last - 1)
    with pytest.raises(ToolError, match=f"ended in block {last - 1} of {last}: see jmeter.log"):
        made.shutdown()
    made = prepared()
    samples(tmp_path, 1, len(made.blocks))
    with pytest.raises(ToolError, match=f"of {len(made.blocks)} of the warm-up: see jmeter.log"):
        made.shutdown()
    samples(tmp_path, 1)
    made.engine.stopping_reason = KeyboardInterrupt()
    made.shutdown()


@pytest.fixture
def warmed_up(prepared, running, monkeypatch, tmp_path):
    """A study whose JMeter waits after a warm-up with such service times."""
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: running.pid)

    def make(mean_ms, **settings):
        made = prepared(**settings)
        *before, closing = made.blocks
        sent = load(before, mean_ms=mean_ms)
        ended_ms = max(it.start_ms + it.elapsed_ms for it in sent)
        connect = Sent(str(closing.number), ended_ms + 20, 3, label=CONNECT)
        last = lines([connect.fields], header="")
        with write(tmp_path, sent).open("ab") as opened:
            opened.write(last.lstrip())
        # The connects come last in the file, as they do in time.
        made.executor.process = running
        return made

    return make


def test_blocks_as_long_as_the_warm_up_says_follow_it(warmed_up, tmp_path, caplog):
    made = warmed_up(700, experiments="kittens")
    before, cells = made.blocks, made.cells
    made.check()
    planned = {block.cell.key: block.cell for block in made.blocks if block.round}
    longer = tuple(planned[cell.key] for cell in cells)
    assert read_blocks(tmp_path / "blocks.csv") == made.blocks
    assert made.blocks[: len(before)] == before
    assert made.blocks[len(before) :] == rounds(longer, 21, after=len(before))
    assert longer == lengthened(cells, warmed(before, read_spans(tmp_path / "kpi.jtl")))
    assert all(planned[cell.key].seconds > cell.seconds for cell in cells)
    record = json.loads((tmp_path / "warm-up.json").read_text())
    assert {(it["experiment"], it["arm"], it["users"]) for it in record["cells"]} == {*planned}
    assert record["load_s"] > seconds_of(made.blocks[len(before) :], made.takes)
    assert [it for it in caplog.records if it.levelname == "WARNING"] == []


def test_the_blocks_are_drawn_up_once_and_not_before_the_warm_up_is_over(warmed_up, tmp_path):
    made = warmed_up(5, experiments="kittens")
    before, jtl = made.blocks, (tmp_path / "kpi.jtl").read_text()
    samples(tmp_path, len(before) - 1)
    made.check()
    assert made.blocks == before
    assert not (tmp_path / "warm-up.json").exists()
    (tmp_path / "kpi.jtl").write_text(jtl)
    made.check()
    blocks, text = made.blocks, (tmp_path / "blocks.csv").read_text()
    assert blocks != before
    made.check()
    assert made.blocks == blocks
    assert (tmp_path / "blocks.csv").read_text() == text


def test_a_warm_up_that_cannot_be_read_ends_the_run(warmed_up, tmp_path):
    made = warmed_up(5, experiments="kittens")
    samples(tmp_path, len(made.blocks))
    with pytest.raises(ToolError, match=r"^study: no blocks after the warm-up: .*kpi.jtl:1: "):
        made.check()
    assert not (tmp_path / "warm-up.json").exists()


def test_the_study_is_told_once_the_run_has_been_judged(prepared, tmp_path, monkeypatch, capsys):
    made, told = prepared(), []
    monkeypatch.setattr(study.report, "write", lambda run: told.append(run) or "a study")
    monkeypatch.setattr(study.report, "to_table", lambda it: f"table of {it}")
    made.post_process()
    assert told == []  # nothing ran: there is no run.json
    (tmp_path / manifest.NAME).write_text("{}")
    made.post_process()
    assert told == [tmp_path]
    assert "table of a study" in capsys.readouterr().out


def test_a_study_that_cannot_be_told_is_one_line_and_never_a_pass(
    prepared, tmp_path, monkeypatch, caplog
):
    def broken(_run):
        raise ValueError("kpi.jtl: block 7 overlaps block 8")

    made = prepared()
    (tmp_path / manifest.NAME).write_text("{}")
    monkeypatch.setattr(study.report, "write", broken)
    with pytest.raises(VerdictExit) as ruling:
        made.post_process()
    assert ruling.value.get_rc() == 1
    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert errors == ["study: no report: kpi.jtl: block 7 overlaps block 8"]
