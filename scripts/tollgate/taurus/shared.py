"""What the modules of taurus.yml share: the record of the run under way, and checks of settings.

Taurus prepares services in the order of taurus.yml, then the executors, then reporters. Each
fills in fields of RunUnderWay that those behind it read: `plan`, `load`, `stop-when-decided`,
`study` or `compare` or `capacity`, `targets`, the executors, `verdict`. What a plan reads stands
among the properties of its scenario, which Taurus hands to JMeter.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError
from bzt.engine import Engine

from tollgate.base.settings import SettingError, plain_property
from tollgate.forecast.model import Followed
from tollgate.gather.judged import Judged
from tollgate.record.interim_schedule import InterimSchedule
from tollgate.record.manifest import Manifest, ShareRecord
from tollgate.samples.growing import Growing
from tollgate.service.compose import Composed
from tollgate.study.model import StudyResult
from tollgate.workers.background_cpu import BackgroundCpuRecorder
from tollgate.workers.watching_cost import WatchingCost
from tollgate.workers.worker_cpu import WorkerCpuRecorder

#: Seconds that a process may take to end once its standard input is closed.
STDIN_S = 5


@dataclass
class PreparedExecution:
    """What services have found out of an execution, for `verdict` to record.

    notes: lines for the verdict, of any service. forecast: what it follows,
    and undivided_properties: of a share, both of `load`. interim: of
    `stop-when-decided`. original: of `capacity`, and of a comparison of a user's own plan: the
    plan beside which the files lie that the scenario's own plan, a copy, names. ends_s: after how
    many seconds of load `plan` ends it. service_host: of `plan`, whom base and head stand for.
    """

    notes: list[str] = field(default_factory=list)
    forecast: Followed | None = None
    undivided_properties: dict[str, str | None] = field(default_factory=dict)
    interim: InterimSchedule | None = None
    original: Path | None = None
    ends_s: float | None = None
    service_host: str = ""


@dataclass
class RunUnderWay:
    """What one module lets the others know of a run; times are seconds since the epoch.

    executions: what services have prepared, by the names of executions.
    manifest: the run's record so far, which `verdict` makes; who ends an execution notes it there.
    watching, background, worker_cpu: of `targets`. position: of a study, a comparison or
    `stop-when-decided`, where an executor stands: (executor, seconds asked for, seconds elapsed) to
    text, None where it can't say. judged: by `verdict`. share: by `load`, of a run that sends a
    part of a load; remote: the RemoteLoad of one whose load engines send. study: by `study`.
    composed: by the engine, the Composed of a run of a service. interrupted_at: when a signal ended
    it. samples: of each executor, by `samples_of`.
    """

    executions: defaultdict[str, PreparedExecution] = field(
        default_factory=lambda: defaultdict(PreparedExecution)
    )
    manifest: Manifest | None = None
    watching: WatchingCost | None = None
    background: BackgroundCpuRecorder | None = None
    worker_cpu: WorkerCpuRecorder | None = None
    position: Callable[[object, float, float], str | None] | None = None
    judged: Judged | None = None
    share: ShareRecord | None = None
    remote: Any = None
    study: StudyResult | None = None
    composed: Composed | None = None
    interrupted_at: float | None = None
    samples: dict[Any, Growing] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        """Whether several engines send the load: it has a fixed length, and nothing is decided
        before all samples of it are there."""
        return bool(self.share or self.remote)


def under_way(engine: Engine) -> RunUnderWay:
    """The one record of an engine's run."""
    if not hasattr(engine, "run_under_way"):
        engine.run_under_way = RunUnderWay()
    return engine.run_under_way


def samples_of(engine: Engine, executor: Any) -> Growing:
    """The one reader of what an executor's JMeter writes. It keeps only samples that a listener
    wants. Listeners are added at `startup`, before the first reading."""
    readers = under_way(engine).samples
    if executor not in readers:
        readers[executor] = Growing(executor.kpi_jtl, keeps=False)
    return readers[executor]


def is_running(executor: Any) -> bool:
    """Whether its JMeter was started and has not ended."""
    process = getattr(executor, "process", None)
    return bool(process) and process.poll() is None


@contextmanager
def problems_as(raised: type[Exception], module: str, *problems: type[Exception]) -> Iterator[None]:
    """Raise problems as one that Taurus shows in a line: TaurusConfigError or ToolError. module:
    whose they are."""
    try:
        yield
    except problems as problem:
        raise raised(f"{module}: {problem}") from None


def end_by_stdin(process: subprocess.Popen[Any]) -> None:
    """End a process that ends with its standard input, and by force where it does not."""
    process.stdin.close()
    try:
        process.wait(STDIN_S)
    except subprocess.TimeoutExpired:
        process.kill()


def property_of(properties: Mapping[str, object], name: str, default: float, where: str) -> float:
    """A JMeter property such as warmup and measured, in its own unit, as the plan reads it.

    where: whose it is, e.g. `load: execution 'fork'`. Raises TaurusConfigError.
    """
    with problems_as(TaurusConfigError, where, SettingError):
        return plain_property(properties, name, default)


def was_ended(executor: Any) -> bool:
    """Whether a decision, a criterion or STOP_AFTER has ended its load."""
    return executor.is_over or executor.stop_requested_at is not None
