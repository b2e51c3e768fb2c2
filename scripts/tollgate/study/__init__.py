"""The published claims.

In: samples and CPU times of cells in random blocks. Out: figures, curves, answers to claims.
"""

from __future__ import annotations

from tollgate.study import crosscheck, model, record, settings
from tollgate.study.answers import Ran, build
from tollgate.study.cpu import CpuError, CpuRecorder
from tollgate.study.crosscheck_tools import TOOL, Load, ToolError, run
from tollgate.study.design import (
    DesignError,
    blocks,
    only,
    read_blocks,
    read_design,
    rounds,
    seconds_of,
    shorten,
    warm_up,
    write_blocks,
)
from tollgate.study.lengths import WarmUp, hopeless, lengthened, takes, warmed
from tollgate.study.model import (
    CROSSCHECK,
    JMETER,
    TOLD,
    Block,
    Cell,
    CellResult,
    Check,
    Claim,
    Comparison,
    Curve,
    Estimate,
    Key,
    ScalingPoint,
    Study,
)
from tollgate.study.record import StudyRun
from tollgate.study.samples import read, read_spans
from tollgate.study.stats import MIN_BLOCKS
from tollgate.study.windows import ANOTHER_GENERATOR, CONNECT
from tollgate.study.words import (
    AGREES,
    DISAGREES,
    METRIC_NAMES,
    UNKNOWN,
    answer,
    interval,
    number,
    summary,
    tone,
    users,
)

__all__ = [
    "AGREES",
    "ANOTHER_GENERATOR",
    "CONNECT",
    "CROSSCHECK",
    "DISAGREES",
    "JMETER",
    "METRIC_NAMES",
    "MIN_BLOCKS",
    "TOLD",
    "TOOL",
    "UNKNOWN",
    "Block",
    "Cell",
    "CellResult",
    "Check",
    "Claim",
    "Comparison",
    "CpuError",
    "CpuRecorder",
    "Curve",
    "DesignError",
    "Estimate",
    "Key",
    "Load",
    "Ran",
    "ScalingPoint",
    "Study",
    "StudyRun",
    "ToolError",
    "WarmUp",
    "answer",
    "blocks",
    "build",
    "crosscheck",
    "hopeless",
    "interval",
    "lengthened",
    "model",
    "number",
    "only",
    "read",
    "read_blocks",
    "read_design",
    "read_spans",
    "record",
    "rounds",
    "run",
    "seconds_of",
    "settings",
    "shorten",
    "summary",
    "takes",
    "tone",
    "users",
    "warm_up",
    "warmed",
    "write_blocks",
]
