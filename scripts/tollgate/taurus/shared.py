"""What the modules of taurus.yml share: the record of the run under way, and checks of settings.

Taurus prepares services in the order of taurus.yml, then the executors, then reporters. Each
fills in fields of RunUnderWay that those behind it read: `plan`, `load`, `stop-when-decided`,
`study` or `compare` or `capacity`, `targets`, the executors, `verdict`. What a plan reads stands
among the properties of its scenario, which Taurus hands to JMeter.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from bzt import TaurusConfigError
from bzt.engine import Engine

from tollgate.base.text import did_you_mean
from tollgate.record.manifest import Manifest, ShareRecord
from tollgate.report.pages.run.write import Judged
from tollgate.study.model import StudyResult
from tollgate.taurus.engines import RemoteLoad
from tollgate.taurus.prepared import PreparedExecution
from tollgate.workers.background_cpu import BackgroundCpuRecorder
from tollgate.workers.watching_cost import WatchingCost

# JMeter's functions read no exponents, and YAML 1.1 takes 1e3 for a string.
_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?")
#: Seconds that a process may take to end once its standard input is closed.
STDIN_S = 5


@dataclass
class RunUnderWay:
    """What one module lets the others know of a run; times are seconds since the epoch.

    executions: what services have prepared, by the names of executions.
    manifest: the run's record so far, which `verdict` makes; who ends an execution notes it there.
    stop_requested_at: when `plan` ended the load of an executor. watching, background: of
    `targets`. position: of a study,
    a comparison or `stop-when-decided`, where an executor stands: (executor, seconds asked for,
    seconds elapsed) to text, None where it can't say. judged: by `verdict`. share: by `load`, of
    a run that sends a part of a load; remote, of one whose load engines send. study: by `study`.
    """

    executions: defaultdict[str, PreparedExecution] = field(
        default_factory=lambda: defaultdict(PreparedExecution)
    )
    manifest: Manifest | None = None
    stop_requested_at: dict[object, float] = field(default_factory=dict)
    watching: WatchingCost | None = None
    background: BackgroundCpuRecorder | None = None
    position: Callable[[object, float, float], str | None] | None = None
    judged: Judged | None = None
    share: ShareRecord | None = None
    remote: RemoteLoad | None = None
    study: StudyResult | None = None

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


def refuse_unknown(module: str, settings: Mapping[str, object], known: Iterable[str]) -> None:
    """Raises TaurusConfigError, one line, for a setting that does not exist."""
    names = [*known]
    for name in settings:
        if name not in (*names, "class"):
            raise TaurusConfigError(
                f"{module}: modules.{module} has the setting {name!r}, which does not exist: "
                f"{did_you_mean(str(name), names)}"
            )


def end_by_stdin(process: subprocess.Popen) -> None:
    """End a process that ends with its standard input, and by force where it does not."""
    process.stdin.close()
    try:
        process.wait(STDIN_S)
    except subprocess.TimeoutExpired:
        process.kill()


def number(value: object) -> float:
    """`2`, `0.5`, `1e3` or `1/3`, as a number or as text. Raises ValueError for anything else."""
    text = str(value)
    try:
        found = float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{text!r} is not a number such as 2 or 1/3")
    return found


def property_of(properties: Mapping[str, object], name: str, default: float, where: str) -> float:
    """A JMeter property such as warmup and measured, in its own unit, as the plan reads it.

    where: whose it is, e.g. `load: execution 'fork'`. Raises TaurusConfigError.
    """
    value = properties.get(name, default)
    if not _PLAIN.fullmatch(str(value)):
        raise TaurusConfigError(
            f"{where}: the property {name} is {value!r}: write plain digits without a unit, "
            f"such as {default or 60:g}"
        )
    return float(str(value))
