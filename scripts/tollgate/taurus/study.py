"""Taurus service `study`: sets the study up, watches its CPU time, and reports it in the end.

The run begins with the warm-up alone. When it is over, and JMeter waits, the other blocks get their
length from what it measured, and how long they take is announced.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
apps that it asks for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import psutil
from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base import records
from tollgate.base.paths import ECOSYSTEM
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError
from tollgate.base.text import did_you_mean, duration_text
from tollgate.record import manifest
from tollgate.report import study as report
from tollgate.samples.growing import Growing
from tollgate.samples.layout import JtlError
from tollgate.study import autocannon, settings
from tollgate.study import record as study_run
from tollgate.study.cpu import StudyCpuRecorder
from tollgate.study.design import (
    DesignError,
    read_design,
    rounds,
    seconds_of,
    warm_up,
    write_blocks,
)
from tollgate.study.lengths import WarmUp, length_s, lengthened, takes, warmed
from tollgate.study.model import Block, Cell, Key
from tollgate.study.position import announce, last_block, position_text
from tollgate.study.samples import read_spans
from tollgate.study.stats import MIN_BLOCKS
from tollgate.targets import pm2
from tollgate.targets.pm2 import App, servers_behind
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.shared import is_running, problems_as, under_way
from tollgate.taurus.verdict import VerdictExit


class Study(OwnLoad):
    """One execution in which all arms take turns."""

    name = "study"

    def __init__(self) -> None:
        super().__init__()
        self.blocks: tuple[Block, ...] = ()
        self.cells: tuple[Cell, ...] = ()  # of the blocks that follow the warm-up; empty without
        self.seed = 0
        self.ports: dict[str, int] = {}
        self.takes: dict[Key, float] = {}
        self.recorder: StudyCpuRecorder | None = None
        self.has_recorded = False

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be run."""
        if self.settings.get("design", None) is None:
            return
        with (
            problems_as(TaurusConfigError, "study", DesignError, SettingError),
            problems_as(ToolError, "study", pm2.Pm2Error),
        ):
            settings.refuse_environment(os.environ)
            self.refuse_reloads("a block in which workers are replaced measures something else")
            self._set_up(settings.read_settings(self.settings))

    def _set_up(self, chosen: settings.StudySettings) -> None:
        """Draw up the blocks, and give the plan and the report what they need."""
        _, scenario = self.only_execution("all arms take turns in one execution")
        design = read_design(chosen.design)
        cells, left_out = settings.without_missing_autocannon(
            settings.chosen(design, chosen), autocannon.installed_version()
        )
        if not cells:
            raise settings.SetupError(f"nothing is left to measure: {'; '.join(left_out)}")
        absent = settings.labels_of(design) - settings.labels_of(cells)
        self.leave_criteria_out(lambda criterion: criterion.label in absent)
        self.seed = chosen.seed
        self.blocks = warm_up(cells, chosen.seed)
        self.cells = cells if self.blocks else ()
        self.blocks = self.blocks or rounds(cells, chosen.seed)
        under_way(self.engine).position = self.position
        self._give(cells, scenario)
        record = study_run.StudyRun(
            design=chosen.design,
            seed=chosen.seed,
            short=chosen.short,
            rounds=chosen.rounds,
            experiments=tuple(dict.fromkeys(cell.experiment for cell in cells)),
            left_out=left_out,
        )
        study_run.write(record, self.folder)
        self._announce(left_out)

    def _give(self, cells: Sequence[Cell], scenario: BetterDict) -> None:
        """The plan gets the blocks, and `targets` the apps that they ask."""
        declared = pm2.declared_apps()
        scenario["target"] = apps_of(cells, declared)
        self.ports = {name: declared[name].port for name in scenario["target"]}
        path, checks = self.folder / study_run.BLOCKS, self.folder / study_run.CHECKS
        write_blocks(path, self.blocks, self.ports)
        checks.mkdir(exist_ok=True)
        properties = {
            "blocks": str(path),
            "users": max(cell.users for cell in cells),
            "warm_up_blocks": len(self.blocks) if self.cells else 0,
            "warm_up_record": str(self.folder / study_run.WARM_UP),
            "crosscheck_command": sys.executable,  # with study/autocannon.py
            "crosscheck_folder": str(checks),
        }
        scenario.merge({"properties": properties})

    def _announce(self, left_out: Sequence[str]) -> None:
        for reason in left_out:
            self.log.warning("study: %s", reason)
        if (fewest := min(block.cell.rounds for block in self.blocks)) < MIN_BLOCKS:
            missing = f"{fewest} round(s), and intervals and answers to claims need {MIN_BLOCKS}"
            self.log.warning("study: %s", missing)
        text = announce(self.blocks, self.seed)
        if self.cells:
            least = duration_text(seconds_of(rounds(self.cells, self.seed)))
            text += f"; what it measures sets the length of the others, {least} or more"
        self.log.info("Study: %s", text)

    def _draw_up(self) -> None:
        """Append the blocks that follow the warm-up to those that JMeter reads, and let it go on.
        Raises ToolError."""
        whose = "study: no blocks after the warm-up"
        with problems_as(ToolError, whose, JtlError, OSError):
            with Growing(self.executor.kpi_jtl).read() as store:
                spans = read_spans(store)
            warm = warmed(self.blocks, spans)
            cells = lengthened(self.cells, warm)
            others = rounds(cells, self.seed, after=len(self.blocks))
            write_blocks(self.folder / study_run.BLOCKS, others, self.ports, append=True)
        self.blocks, self.takes, self.cells = self.blocks + others, takes(cells, warm), ()
        left_s = seconds_of(others, self.takes)
        load_s = length_s(spans) + left_s
        ends = datetime.now().astimezone() + timedelta(seconds=left_s)
        text = announce(others, self.seed, self.takes)
        self.log.info(
            "Study: %s; with the warm-up the load takes %s and ends about %s",
            text,
            duration_text(load_s),
            ends.strftime("%H:%M %Z"),
        )
        record = WarmUp(round(load_s, 1), tuple(warm.values()))
        records.write(self.folder / study_run.WARM_UP, record)

    def check(self) -> bool:
        """Record CPU time from JMeter's start to its end; after the warm-up, say what follows."""
        if not self.blocks or not is_running(self.executor):
            self._stop_recording()
            return False
        if not self.has_recorded:
            self._record(self.executor.process.pid)
        if self.cells and last_block(Path(self.executor.kpi_jtl)) == len(self.blocks):
            self._draw_up()
        return False

    def _record(self, generator: int) -> None:
        self.has_recorded, service = True, pm2.daemon_pid()
        try:
            if service is None:
                raise LookupError("no PM2 daemon runs")
            path = self.folder / study_run.CPU
            self.recorder = StudyCpuRecorder(path, generator, service, self.log)
            self.recorder.start()
        except (psutil.Error, LookupError) as problem:
            self.log.warning("study: CPU time is not recorded, no bottleneck known: %s", problem)

    def _stop_recording(self) -> None:
        if self.recorder:
            self.recorder.stop()
            self.recorder = None

    def position(self, executor: object, _asked_s: float = 0, _elapsed_s: float = 0) -> str | None:
        """Where the study stands, for `progress`; None where that is not known."""
        number = last_block(Path(executor.kpi_jtl))
        is_known = number is not None and 1 <= number <= len(self.blocks)
        return position_text(self.blocks, number, self.takes) if is_known else None

    def shutdown(self) -> None:
        """Raises ToolError where the plan ended by itself before its last block: no
        property says how long it takes, so that to verdict it would look complete."""
        self._stop_recording()
        if not self.blocks or self.engine.stopping_reason is not None:
            return
        number = last_block(Path(self.executor.kpi_jtl))
        if number is not None and (number != len(self.blocks) or self.cells):
            of = f"{len(self.blocks)} of the warm-up" if self.cells else len(self.blocks)
            raise ToolError(f"study: the plan ended in block {number} of {of}: see jmeter.log")

    def post_process(self) -> None:
        """Write study.json; makes bzt exit 1 where that can't be done."""
        # Without a run.json nothing was measured, and bzt says why.
        if not self.blocks or not (self.folder / manifest.NAME).exists():
            return
        with defer_signals():
            try:
                found = under_way(self.engine).study = report.write(self.folder)
            except Exception as problem:  # whatever it is, the run must not pass in silence
                self.log.debug("study: no report", exc_info=True)
                self.log.error("study: no report: %s", problem or repr(problem))
                raise VerdictExit(1) from None
        print(f"\n{report.to_table(found)}", flush=True)


def apps_of(cells: Sequence[Cell], declared: Mapping[str, App]) -> list[str]:
    """The apps that must run, in the order of ecosystem.config.js: those that the cells ask, and
    those to which one of them deals its requests. Raises SetupError."""
    asked = {cell.app for cell in cells}
    for name in sorted(asked - declared.keys()):
        raise settings.SetupError(
            f"the design asks the app {name!r}, which {ECOSYSTEM.name} does not have: "
            f"{did_you_mean(name, declared)}"
        )
    dealt = {
        server for name in asked for server in servers_behind(declared[name], declared.values())
    }
    return [name for name in declared if name in asked | dealt]
