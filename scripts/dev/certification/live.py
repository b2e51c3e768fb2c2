"""Live runs of `bzt taurus.yml -compare`, HEAD with itself, one after another."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import yaml

from certification.conditions import Condition, next_run
from certification.found import MEASURED
from certification.probe import ProbeError, probe
from certification.processes import neighbour, run_to_end
from certification.store import BROKEN, Run, Store, StoreError
from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError, seconds_of
from tollgate.compare import record, samples
from tollgate.compare.looks import prepared
from tollgate.compare.model import ALL_LABELS, Blocks
from tollgate.compare.settings import LARGEST_SEED, seeds_of
from tollgate.record import manifest
from tollgate.record.manifest import ManifestError
from tollgate.samples.layout import JtlError
from tollgate.targets.git import GitError, find_revisions


def blocks_of(folder: Path) -> tuple[Blocks, ...]:
    """Each label's blocks, until the moment at which the run was decided: what came after that
    took no part. Raises JtlError, ManifestError, for a run whose samples are not what it left."""
    made, compared = manifest.read(folder), record.read(folder)
    (execution,) = (it for it in made.executions if it.name == compared.execution)
    manifest.check_seal(execution, folder)
    verdict = json.loads((folder / "verdict.json").read_text())
    (comparison,) = (it["comparison"] for it in verdict["executions"] if it["comparison"])
    found = dict.fromkeys(it["label"] for it in comparison["findings"])
    labels = [it for it in found if it != ALL_LABELS]
    until_s = compared.decided_s or compared.settings.budget_s
    jtl = folder / execution.jtl
    found = samples.read(jtl, labels, execution.warmup, until_s, compared.processes)
    return tuple(prepared(compared, found.blocks))


#: So many broken runs in a row are no accident.
MOST_BROKEN = 3


@dataclass(frozen=True)
class Limits:
    """runs: start no more. minutes: start none after so many; the last one may last longer, for a
    run that is left out because it would take long leaves a wrong picture."""

    runs: float = math.inf
    minutes: float = math.inf


def session(
    store: Store,
    weights: Mapping[Condition, int],
    limits: Limits,
    execute: Callable[[Condition, int, int], tuple[Run, Sequence[Blocks]]],
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Carry the certification on. execute: (condition, number, seed) to a finished run and its
    samples. Order and seeds are drawn anew each time, so that sessions of several machines add up.
    Raises StoreError after MOST_BROKEN runs in a row without a verdict, and where something can't
    be removed that a run left which did not finish.
    """
    order = secrets.randbelow(LARGEST_SEED)
    if store.clean_up():
        say(f"removed {store.under_way}: a run that did not finish left it")
    runs = store.read()
    began, started, broken = clock(), 0, 0
    while started < limits.runs and clock() - began < 60 * limits.minutes:
        done = Counter(run.of for run in runs if run.verdict != BROKEN)
        condition = next_run(weights, done, order)
        number = len(runs) + 1
        say(f"run {number}: {condition.key}")
        try:
            run, blocks = execute(condition, number, 1 + secrets.randbelow(LARGEST_SEED))
            store.add(run, blocks)
        finally:
            store.clean_up()
        runs.append(run)
        started += 1
        say(f"run {number}: {summary(run)}")
        broken = broken + 1 if run.verdict == BROKEN else 0
        if broken == MOST_BROKEN:
            raise StoreError(f"{broken} runs in a row left no verdict; the last: {run.problem}")


def summary(run: Run) -> str:
    """`PASS after 60 s of measuring, 92 s in all`."""
    after = f" after {run.seconds:g} s of measuring" if run.seconds is not None else ""
    problem = f": {run.problem}" if run.problem else ""
    return f"{run.verdict}{after}, {run.wall_s:.0f} s in all{problem}"


PLAN = SUITE / "plans" / "compare.jmx"
BZT = Path(sys.executable).with_name("bzt")
#: bzt's exit code when a user ended it.
INTERRUPTED = 2
#: Seconds that a run may take beyond its budget of measuring: set-up, warm-up, verdict.
MOST_BEYOND_S = 600
BUDGET = "modules.compare.budget"
#: Whatever the caller's environment says of what is compared would not be the condition.
_OURS = re.compile(r"(HEAD_|BASE_)?(INJECT_\w+|URL)|BASE|MODE")


class LiveError(Exception):
    """One line: why no run can be what it is meant to be."""


@dataclass(frozen=True)
class Live:
    """options: of bzt, each as for `-o`. command: what compares, to which options are added."""

    store: Store
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = (str(BZT), "taurus.yml", "-compare")

    def __call__(
        self, condition: Condition, number: int, seed: int
    ) -> tuple[Run, Sequence[Blocks]]:
        """Run it to its end. Raises LiveError where it compared something else than the same code,
        and JtlError and ManifestError where its samples are not what it left."""
        made = self.store.under_way / f"run-{number}"
        made.parent.mkdir(parents=True, exist_ok=True)
        most_s = budget_of(self.options) + MOST_BEYOND_S
        began, clock = datetime.now(timezone.utc), time.monotonic()
        blocks: Sequence[Blocks] = ()
        with neighbour(condition.noisy, seed, most_s) as beside:
            code, problem = self._compared(condition, made, seed, most_s)
            wall_s, started = time.monotonic() - clock, began.isoformat(timespec="seconds")
            run = Run(condition.key, seed, started, round(wall_s, 1), code, BROKEN, problem=problem)
            run = replace(run, cores=len(os.sched_getaffinity(0)))
            if not problem:
                run = _read(run, made)
            if run.verdict in MEASURED and run.seconds is not None:
                blocks = blocks_of(made)
                labels = [it.label for it in blocks]
                try:
                    run = replace(run, clock=probe(made / "kpi.jtl", labels, condition.injection()))
                except (ProbeError, JtlError) as error:
                    run = replace(run, problem=f"no clock: {error}")
        return replace(run, neighbour=beside), blocks

    def _compared(
        self, condition: Condition, made: Path, seed: int, most_s: float
    ) -> tuple[int | None, str]:
        """(exit code, why there is none)"""
        options = [
            f"settings.artifacts-dir={made}",
            "modules.report.dashboards=false",
            "modules.compare.profile=false",
            "modules.compare.fail-fast=false",  # when each metric is decided is what is measured
            *(f"modules.jmeter.properties.{it}={seed}" for it in seeds_of(PLAN.read_text())),
            *self.options,
        ]
        command = [*self.command, *(part for option in options for part in ("-o", option))]
        environment = {name: it for name, it in os.environ.items() if not _OURS.fullmatch(name)}
        environment |= {"MODE": "fork", **condition.environment()}
        try:
            return run_to_end(command, environment, made.with_suffix(".out"), most_s), ""
        except subprocess.TimeoutExpired:
            return None, f"bzt took longer than {most_s:.0f} s"


def budget_of(options: Sequence[str]) -> float:
    """The seconds that a run measures at most, by the options of bzt or taurus.yml; the last option
    counts, as it does for bzt. Raises LiveError."""
    aliases = yaml.safe_load((SUITE / "taurus.yml").read_text())["cli-aliases"]
    default = f"{BUDGET}={aliases['compare']['modules']['compare']['budget']}"
    given = [it.partition("=")[2] for it in (default, *options) if it.startswith(f"{BUDGET}=")]
    try:
        return seconds_of("budget", given[-1])
    except SettingError as problem:
        raise LiveError(str(problem)) from None


def check_like() -> None:
    """Raise LiveError where the project in the working tree is not that of HEAD."""
    try:
        found = find_revisions(SUITE, "HEAD")
    except GitError as problem:
        raise LiveError(str(problem)) from None
    if not found.is_control:
        raise LiveError(
            f"{(*found.changed, *found.ignored)[0]} is not in HEAD as it is here: the working tree "
            "is compared with HEAD, and both must be the same code; commit it, or put it aside"
        )


def _read(run: Run, made: Path) -> Run:
    """With what the run's folder says. Raises LiveError where base and head were not the same code:
    a session lasts for hours, and meanwhile a user may edit a file or check something out."""
    try:
        verdict = json.loads((made / "verdict.json").read_text())
        compared = record.read(made)
    except (OSError, ValueError, ManifestError) as error:
        return replace(run, problem=f"no verdict: {error}; {_last_line(made)}")
    base, head = compared.base, compared.head
    # A working tree with changes has no revision.
    if base.revision is None or base.revision != head.revision:
        raise LiveError(
            f"the run compared base, {base.description}, with head, {head.description}: both must "
            "be the same code, and nothing of that run is kept; commit what has changed, or put it "
            "aside, and go on"
        )
    comparisons = [it["comparison"] for it in verdict["executions"] if it["comparison"]]
    if not comparisons or run.exit_code == INTERRUPTED:
        why = "; ".join(reason["text"] for reason in verdict["reasons"])
        return replace(run, problem=f"nothing was compared: {why or _last_line(made)}")
    (comparison,) = comparisons
    looked = {name: getattr(compared, name) for name in ("first_s", "every_s", "mode", "processes")}
    return replace(
        run,
        verdict=verdict["verdict"],
        seconds=comparison["ended_itself_s"] or comparison["compared_s"],
        promise=asdict(compared.settings) | looked,
        environment=verdict["environment"],
    )


def _last_line(made: Path) -> str:
    log = made.with_suffix(".out")
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "bzt said nothing")
