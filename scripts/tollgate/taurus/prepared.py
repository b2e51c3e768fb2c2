"""What services find out of an execution before its load begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tollgate.record.interim import InterimSchedule


@dataclass
class PreparedExecution:
    """What services have found out of an execution, for `verdict` to record.

    notes: lines for the verdict, of any service. forecast: what it follows, as
    forecast.to_record writes it, and undivided_properties: of a share, both of `load`. interim: of
    `stop-when-decided`. original: of `capacity`, the plan beside which the files lie that the
    scenario's own plan, a copy, names.
    """

    notes: list[str] = field(default_factory=list)
    forecast: dict[str, Any] | None = None
    undivided_properties: dict[str, str | None] = field(default_factory=dict)
    interim: InterimSchedule | None = None
    original: Path | None = None
