"""The modules that taurus.yml names.

In: Taurus's life cycle. Out: calls of the other rooms, in time.
"""

from __future__ import annotations

from tollgate.taurus.capacity import Capacity
from tollgate.taurus.compare import Compare
from tollgate.taurus.early_stop import EarlyStop
from tollgate.taurus.engine import BASE_CONFIG, Engine
from tollgate.taurus.jmeter import QUIET, InstalledJMeter
from tollgate.taurus.load import Load
from tollgate.taurus.looks import Looks
from tollgate.taurus.own_plan import OwnPlan
from tollgate.taurus.progress import Progress
from tollgate.taurus.report import Report
from tollgate.taurus.shared import number, under_way
from tollgate.taurus.study import Study
from tollgate.taurus.targets import Targets
from tollgate.taurus.verdict import Ruling, Verdict, judge_unstarted

__all__ = [
    "BASE_CONFIG",
    "QUIET",
    "Capacity",
    "Compare",
    "EarlyStop",
    "Engine",
    "InstalledJMeter",
    "Load",
    "Looks",
    "OwnPlan",
    "Progress",
    "Report",
    "Ruling",
    "Study",
    "Targets",
    "Verdict",
    "judge_unstarted",
    "number",
    "under_way",
]
