"""What follows the sealed verdict of a comparison: both sides, started once more with a profiler,
under the same load. What it finds stands in files of its own, and changes no verdict."""

from __future__ import annotations

import json
import logging
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bzt import ToolError

from tollgate.base import atomic
from tollgate.compare.model import FAIL
from tollgate.compare.profile import words
from tollgate.compare.profile.differences import explain
from tollgate.compare.profile.model import absent, write_why
from tollgate.compare.profile.read import FOLDER, SIDES, ProfileError, read_blocks, schedule
from tollgate.compare.result import Comparison
from tollgate.gather.judged import Judged
from tollgate.report import write as outputs
from tollgate.targets import probe
from tollgate.targets.pm2 import Pm2Error
from tollgate.targets.scenarios import targets_of
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.rerun_load import rerun_load
from tollgate.taurus.targets import Targets

#: Seconds from the start of JMeter to the first block: it needs some itself, and V8 compiles what
#: runs often.
WARMUP_S = 10
#: Seconds for processes to write what they found in the last block.
PATIENCE_S = 5
LOOK_AGAIN_S = 0.2


def comparison_of(judged: Judged | None, profile: bool | None) -> Comparison | None:
    """What there is to explain: a comparison that failed, or with `profile` any that ran as it was
    meant to; None for nothing."""
    if judged is None or profile is False or judged.record.interrupted or judged.record.problem:
        return None
    comparison = next((it.comparison for it in judged.run.executions if it.comparison), None)
    if comparison is None:
        return None
    has_failed = judged.verdict.verdict == comparison.gate.verdict == FAIL
    return comparison if profile or has_failed else None


def explained(
    run: Path,
    comparison: Comparison,
    executor: InstalledJMeter,
    targets: Targets | None,
    roots: Mapping[str, Sequence[Path]],
    log: logging.Logger,
) -> None:
    """Find out why and write it down: why.json, and what verdict.md has of it. targets: None where
    both sides are services by URL. roots: of each side, first its own and then those whose
    packages it may share."""
    others = [it for it in targets.wanted if not it.is_node] if targets else []
    labels = comparison.cpu_by_label
    if targets is None:
        why = absent("base and head are services by URL, which are not started here")
    elif others:
        runner = Path(others[0].interpreter).name
        by = "without an interpreter" if runner == "none" else f"by {runner}"
        why = absent(f"base and head are run {by}, and the profiler is Node's", labels)
    else:
        log.info("Profiling base and head under the same load, for a minute...")
        try:
            _profile(run / FOLDER, executor, targets)
            why = explain(
                read_blocks(run / FOLDER, roots),
                comparison.gate.settings.false_alarm,
                comparison.gate.settings.effect,
                comparison.mean_rise_us,
                {it.metric for it in comparison.gating if it.verdict == FAIL},
                labels,
            )
        except (ProfileError, Pm2Error, probe.ProbeError, ToolError, OSError) as problem:
            why = absent(f"{problem}".rstrip("."), labels)
    for line in (words.sentence(why), *words.by_label(why)):
        log.info("%s", line)
    write_why(why, run)
    outputs.append_why(run, why)


def _profile(folder: Path, executor: InstalledJMeter, targets: Targets) -> None:
    """Have the profiled processes of both sides write into the folder, under load."""
    for side in SIDES:
        (folder / side).mkdir(parents=True)
    with targets.profiled(targets_of(executor.get_scenario(), executor.label), folder):
        begin_s = time.time() + WARMUP_S
        blocks = schedule(round(1000 * begin_s))
        end_s = blocks[-1]["to"] / 1000
        length_s = end_s - begin_s + PATIENCE_S
        with rerun_load(executor, folder, warmup=WARMUP_S, measured=round(length_s)) as load:
            # Whole at once, for the processes look for it.
            atomic.write(folder / "schedule.json", json.dumps(blocks))
            _await_blocks(folder, len(blocks), end_s, load)


def _await_blocks(folder: Path, count: int, end_s: float, load: subprocess.Popen[Any]) -> None:
    """Until every process that wrote at all has written its last block. Raises ProfileError where
    the load ends before."""
    last = f'{{"block":{count - 1},'
    while time.time() < end_s + PATIENCE_S:
        if time.time() > end_s:
            written = [it.read_text() for it in folder.glob("*/*.jsonl")]
            if written and all(last in text for text in written):
                return
        elif load.poll() is not None:
            raise ProfileError(f"JMeter ended too early: see {FOLDER}/jmeter.log")
        time.sleep(LOOK_AGAIN_S)
