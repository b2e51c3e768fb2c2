"""Samples that are evaluated while they come, whenever a decision is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from tollgate.samples.growing import Growing
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.store import Store

#: Seconds until the file is read again where JMeter has not got so far.
AGAIN_S = 2.0


class Decider(Protocol):
    """What is decided by the samples of an execution so far."""

    @property
    def every_s(self) -> float:
        """Seconds until samples that can't be read are read again."""

    def due_at(self, origin_s: float) -> float | None:
        """When the samples are to be evaluated next, None for never again. origin_s: when JMeter
        began. Both in seconds since the epoch."""

    def look(self, store: Store) -> Any:
        """What the samples show; None for nothing, and where JMeter has not written enough. Raises
        JtlError."""


class SampleWatch:
    """Has a decider evaluate the samples of an execution whenever that is due."""

    def __init__(
        self, decider: Decider, samples: Growing, now: Callable[[], float] = time.time
    ) -> None:
        """now: seconds since the epoch."""
        self.decider = decider
        self.now = now
        self._samples = samples
        samples.keeps = True
        self.not_before = 0.0

    def look(self) -> Any:
        """What the decider found, None where nothing was due. Raises JtlError, and then not again
        before every_s have passed."""
        now = self.now()
        if now < self.not_before:
            return None
        self.not_before = now + AGAIN_S
        origin_s = self.origin_s()
        due_at = None if origin_s is None else self.decider.due_at(origin_s)
        if due_at is None or now < due_at:
            self.not_before = due_at or self.not_before
            return None
        self.not_before = now + self.decider.every_s  # unless the file can be read
        with self._samples.read() as store:
            decision = self.decider.look(store)
        self.not_before = self.now() + AGAIN_S if decision is None else 0.0
        return decision

    def origin_s(self) -> float | None:
        """When JMeter began, in seconds since the epoch: its file says so with the first sample."""
        jtl = self._samples.path
        if not jtl.is_file() or not jtl.stat().st_size:
            return None
        try:
            origin_ms = peek_test_start(jtl)
        except JtlError:
            return None
        return None if origin_ms is None else origin_ms / 1000
