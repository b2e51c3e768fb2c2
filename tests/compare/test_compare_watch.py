import re
from dataclasses import replace

import pytest

from support import compare_folder
from support.compare_findings import found
from support.compare_folder import WARMUP_S, Load, both
from support.jtl_rows import START_MS
from tollgate.compare import record, samples
from tollgate.compare.decide import close
from tollgate.compare.looks import judge_blocks
from tollgate.compare.model import ERRORS, Gate, GateSettings
from tollgate.compare.record import CpuRecord
from tollgate.compare.watch import ComparisonDecider, look_text
from tollgate.samples.growing import Growing
from tollgate.samples.layout import JtlError
from tollgate.samples.watch import AGAIN_S, SampleWatch

SETTINGS = GateSettings(budget_s=120.0, error_effect=0.05)
FIRST_S, EVERY_S, LAG_S = 30.0, 10.0, 3.0
TIMES = {"first_s": FIRST_S, "every_s": EVERY_S}


class Run:
    """A run that grows with a clock of its own, in seconds of measuring."""

    def __init__(self, folder, **label):
        self.load = Load(labels=both(**label), settings=SETTINGS)
        self.done = folder / "done"
        compare_folder.make(self.done, self.load, of=TIMES)
        self.header, *lines = (self.done / "kpi.jtl").read_text().splitlines(keepends=True)
        self.lines = sorted((ended_ms(line), line) for line in lines)
        self.jtl = folder / "kpi.jtl"
        self.clock_s = 0.0
        known = record.read(self.done)
        self.decider = ComparisonDecider(known, ["sum", "search"], WARMUP_S, LAG_S)
        self.watch = SampleWatch(self.decider, Growing(self.jtl), self.now)

    def now(self):
        return START_MS / 1000 + WARMUP_S + self.clock_s

    def wrote(self, until_s):
        """JMeter has written what was answered until then, and half a line."""
        until_ms = START_MS + 1000 * (WARMUP_S + until_s)
        written = [line for at_ms, line in self.lines if at_ms <= until_ms]
        self.jtl.write_text("".join([self.header, *written, self.lines[-1][1][:20]]))

    def at(self, clock_s, wrote_s=None):
        """What a look says then."""
        self.clock_s = clock_s
        self.wrote(clock_s if wrote_s is None else wrote_s)
        return self.watch.look()

    def until_decided(self):
        """Look twice a second; returns what was said."""
        said = []
        while self.clock_s < 120 and not self.decider.is_decided:
            said.append(self.at(self.clock_s + 0.5))
        return [line for line in said if line]


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def ended_ms(line):
    fields = line.split(",")
    return int(fields[0]) + int(fields[1])


def test_a_look_comes_when_what_was_sent_until_then_has_been_answered(run):
    assert run.at(FIRST_S + LAG_S - 0.1) is None
    assert run.at(FIRST_S + LAG_S + 0.9).startswith("Compare: 30 s of at most 120: ")
    assert run.at(FIRST_S + LAG_S + 2) is None
    assert run.at(FIRST_S + EVERY_S + LAG_S + 0.9).startswith("Compare: 40 s of at most 120: ")


def test_a_look_has_every_request_that_was_sent_before_it_however_slow(run):
    """An answer that took all of the timeout is not left out because it is the slowest."""
    sent_ms = START_MS + 1000 * (WARMUP_S + FIRST_S) - 100
    slow = next(line for _, line in run.lines if int(line.split(",")[0]) >= sent_ms - 200)
    took_ms = int(1000 * (LAG_S - 1))
    rest = slow.split(",")[2:]
    run.lines.append((sent_ms + took_ms, ",".join([f"{sent_ms:.0f}", str(took_ms), *rest])))
    run.lines.sort()
    assert run.at(FIRST_S + LAG_S + 1) is not None
    [blocks] = samples.read(run.jtl, [rest[0].strip('"')], WARMUP_S, FIRST_S).blocks
    assert took_ms in blocks.values_ms


def test_a_look_waits_for_what_jmeter_has_not_written_yet(run):
    due_s = FIRST_S + LAG_S + 1
    assert run.at(due_s, wrote_s=FIRST_S) is None
    assert run.at(due_s + AGAIN_S / 2) is None
    assert run.at(due_s + AGAIN_S).startswith("Compare: 30 s of at most 120: ")


def test_there_is_nothing_to_see_before_the_first_sample(run):
    run.clock_s = 50.0
    assert run.watch.look() is None
    run.clock_s += AGAIN_S
    run.jtl.write_text(run.header)
    assert run.watch.look() is None


def test_a_file_that_can_t_be_read_is_told_once_until_the_next_look(run):
    run.wrote(60)
    run.jtl.write_text(run.jtl.read_text().replace('"coin"', '"toss"'))
    run.clock_s = 60.0
    with pytest.raises(JtlError, match="the header has no column coin"):
        run.watch.look()
    run.clock_s += EVERY_S / 2
    assert run.watch.look() is None
    run.clock_s += EVERY_S
    with pytest.raises(JtlError):
        run.watch.look()


@pytest.mark.parametrize(
    ("ratio", "verdict", "many"), [(1.0, "PASS", "12 of 12"), (1.3, "FAIL", r"\d+ of 12")]
)
def test_what_ends_the_run_is_what_the_verdict_comes_to_afterwards(tmp_path, ratio, verdict, many):
    run = Run(tmp_path, ratio=ratio)
    said = run.until_decided()
    decided_s, gate = run.decider.record.decided_s, run.decider.gate
    assert FIRST_S <= decided_s < SETTINGS.budget_s
    assert gate.verdict == verdict
    assert len(said) == 1 + (decided_s - FIRST_S) / EVERY_S
    assert re.match(rf"Compare: {decided_s:g} s of at most 120: {many} decided", said[-1])
    assert ("FAIL typical of sum +" in said[-1]) == (ratio > 1)
    assert ("a FAIL ends the measuring" in said[-1]) == bool(gate.left_open)
    assert run.watch.look() is None
    ended = compare_folder.judged(tmp_path / "ended", run.load, decided_s=decided_s, of=TIMES)
    [execution] = ended.executions
    assert (execution.comparison.doubt, execution.comparison.gate) == ("", close(gate))


def test_what_others_took_is_noted_of_the_seconds_that_were_looked_at(run):
    asked, decider = [], run.decider

    def shares(from_s, seconds):
        asked.append((from_s, seconds))
        return (0.5, 0.0) * (seconds // 2)

    decider.background_cpu = shares
    assert run.at(FIRST_S + LAG_S + 1)
    assert asked == [(START_MS / 1000 + WARMUP_S, FIRST_S)]
    assert decider.record.background_cpu == (0.5, 0.0) * 15
    blocks = samples.read(run.jtl, ["sum", "search"], WARMUP_S, FIRST_S).blocks
    assert decider.gate == judge_blocks(decider.record, blocks, FIRST_S, live=True)
    decider.note_cpu(START_MS / 1000, 50)
    assert len(decider.record.background_cpu) == 50


def test_what_both_sides_used_is_noted_and_compared_of_the_same_seconds(run, tmp_path):
    asked, decider = [], run.decider
    rows = ((400.0,) * 200, (480.0,) * 200)

    def used_ms(from_s, seconds):
        asked.append((from_s, seconds))
        return tuple(it[:seconds] for it in rows)

    decider.used_ms = used_ms
    decider.record = replace(decider.record, cpu=CpuRecord())
    assert run.at(FIRST_S + LAG_S + 1)
    assert asked == [(START_MS / 1000 + WARMUP_S, FIRST_S)]
    assert decider.record.cpu.used_ms == tuple(it[: int(FIRST_S)] for it in rows)
    found = {it.key: it for it in decider.gate.findings}["all labels", "cpu"]
    assert found.change == pytest.approx(0.2, abs=0.1)
    # And `tollgate judge` comes to the same by compare.json.
    cpu = CpuRecord(1, tuple(it[: int(FIRST_S)] for it in rows))
    ended = {"decided_s": FIRST_S, "of": TIMES | {"cpu": cpu}}
    [execution] = compare_folder.judged(tmp_path / "ended", run.load, **ended).executions
    again = {it.key: it for it in execution.comparison.gate.findings}["all labels", "cpu"]
    assert again == found
    assert execution.comparison.samples["all labels"] == tuple(
        sum(it) for it in zip(*(n.totals for n in execution.comparison.counts), strict=True)
    )
    assert {it.label for it in execution.comparison.cpu_by_label} <= {"sum", "search"}


def test_no_more_than_three_open_and_three_failed_are_told_one_by_one(tmp_path):
    run = Run(tmp_path, sigma=1.5)
    line = run.at(FIRST_S + LAG_S + 1)
    assert line.count("; open ") <= 3
    assert "open p95 of sum " in line
    assert "(at least -" in line


COARSE = found("p50", "OPEN", 0.04, 0.05, is_coarse=True)
PASSED, FEW = found("p95", "PASS", 0.0, 0.01), found(ERRORS, "OPEN", 0.0, 0.01)


@pytest.mark.parametrize(
    ("findings", "is_said"),
    [
        *(((COARSE, PASSED), True), ((COARSE, PASSED, FEW), False)),
        *(((PASSED, FEW), False), ((PASSED,), False)),
    ],
)
def test_where_whole_milliseconds_are_too_coarse_for_all_that_is_open_the_look_says_so(
    findings, is_said
):
    no_time = "too coarse for all that is open: unless its estimates change, more time will not"
    line = look_text(Gate(SETTINGS, (60.0,), findings))
    assert (no_time in line, "\n" in line) == (is_said, False)
