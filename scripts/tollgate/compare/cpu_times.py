"""The CPU time of the processes of both sides. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tollgate.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class CpuTimes:
    """used_ms: float[2 P, B], CPU ms of each process in each block, of P a side in the order of the
    coin's numbers: side + 2 * process. NaN where it is not known. workers: of PM2 that each of them
    is the sum of, several in cluster mode. doubt: why they say nothing of a change; else empty."""

    used_ms: Floats
    workers: int = 1
    doubt: str = ""

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[float | None]], workers: int, processes: int, blocks: int
    ) -> CpuTimes:
        """rows: of each process, as far as it is known. processes: of each side."""
        used = np.full((2 * processes, blocks), np.nan)
        for own, row in zip(used, rows, strict=False):
            recorded = np.array(row[:blocks], np.float64)
            own[: len(recorded)] = recorded
        return cls(used, workers)

    def first(self, blocks: int) -> CpuTimes:
        """The first so many blocks alone."""
        return replace(self, used_ms=self.used_ms[:, :blocks])
