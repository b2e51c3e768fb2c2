"""A service that looks on while a run measures. Neither load nor verdict depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bzt.engine import Service

from tollgate.samples.layout import JtlError
from tollgate.taurus.shared import samples_of, was_ended


class Onlooker(Service):
    """Reads the samples of each execution. Its lines in the log name its class."""

    def stop(self) -> None:
        """Do nothing more."""

    @contextmanager
    def harmless(self) -> Iterator[None]:
        """Whatever goes wrong within ends this service, and nothing else."""
        try:
            yield
        except Exception as problem:
            self.log.debug("%s: failed", self.name, exc_info=True)
            self.warn(problem)
            self.stop()

    def warn(self, problem: Exception | str) -> None:
        text = str(problem) or repr(problem)
        self.log.warning("%s: %s; load and verdict do not depend on it", self.name, text)

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    def read(self) -> None:
        """Take in the samples that are new."""
        for executor in self.engine.provisioning.executors:
            with suppress(JtlError):  # `verdict` says so
                samples_of(self.engine, executor).advance()

    def was_cut(self, executor: Any) -> bool:
        """Whether its load has ended before its time."""
        return self.engine.stopping_reason is not None or was_ended(executor)
