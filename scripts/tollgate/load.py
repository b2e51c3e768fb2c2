"""Taurus service `load`: which executions a run has, and the load of those that follow a forecast.

Settings, under modules.load in taurus.yml; the environment variables in brackets go before them:

    mode: fork            [MODE] the only execution to run, or `both`; by default all of them, or
    preferred: cluster    this one where all would take too long
    forecast: data/forecast.csv
    factor: 1.5           of the forecast's rates
    length: 0.5           of the forecast's length; a kind that names none follows no forecast
    scale: 1440           [SCALE] compresses time, never rates

It stands before the other services: they start and judge what is left in `execution`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate import modes
from tollgate.forecast import ForecastError, read_forecast
from tollgate.forecast_model import LoadStep
from tollgate.forecast_record import Followed, to_record
from tollgate.jmx import PlanError
from tollgate.load_mix import mix_text
from tollgate.load_shape import schedule_text
from tollgate.load_steps import ShapeError, load_steps
from tollgate.load_words import announce, duration_text
from tollgate.plan import read_plan

#: What the plans wait for an answer, in ms, where no property says so.
RESPONSE_TIMEOUT_MS = 5000
#: Fewer measured seconds give no interval to judge by.
SHORTEST_S = 10.0


class Load(Service):
    """Chooses the executions, writes their schedules and says how long it will take."""

    def prepare(self) -> None:
        """Raises TaurusConfigError, one line, for what can't be run."""
        super().prepare()
        try:
            steps = self._steps() if self.settings.get("length", None) is not None else ()
            names = self._choose(self._seconds(steps))
        except (ForecastError, ShapeError, modes.ModeError, PlanError) as problem:
            raise TaurusConfigError(f"load: {problem}") from None
        if steps:
            for name in names:
                self._give(self._scenario(name), steps)
            self._announce(names, steps)

    def _steps(self) -> tuple[LoadStep, ...]:
        targets = {name for each in self._names() for name in self._targets(each)}
        forecast = read_forecast(self.settings.get("forecast"), targets)
        steps = load_steps(
            forecast,
            factor=self._factor(),
            length=_number("length", self.settings.get("length")),
            scale=self._scale(),
            warmup_s=self._property("warmup", 5),
        )
        measured = steps[-1].to_s - steps[0].from_s
        if measured < SHORTEST_S:
            raise ShapeError(
                f"SCALE={self._scale():g} leaves {measured:g} s to measure: "
                f"take a smaller one, so that it is {SHORTEST_S:g} s or more"
            )
        return steps

    def _targets(self, name: str) -> list[str]:
        """The labels of an execution's plan: the targets that a forecast may share out."""
        scenario = self._scenario(name)
        properties = {key: str(value) for key, value in self._properties().items()}
        return list(read_plan(Path(scenario.get("script")), properties).labels)

    def _factor(self) -> float:
        return _number("factor", self.settings.get("factor", 1))

    def _scale(self) -> float:
        return _number("SCALE", os.environ.get("SCALE") or self.settings.get("scale", 1))

    def _choose(self, each_s: float) -> list[str]:
        wanted = os.environ.get("MODE") or self.settings.get("mode", "")
        names, why = modes.chosen(
            wanted, self._names(), each_s, self.settings.get("preferred", "cluster")
        )
        executions = self.engine.config.get("execution", [])
        executions[:] = [each for each in executions if each.get("scenario") in names]
        if why:
            self.log.info("Only %s: %s", ", ".join(names), why)
        return names

    def _names(self) -> list[str]:
        return [str(each.get("scenario")) for each in self.engine.config.get("execution", [])]

    def _scenario(self, name: str) -> Mapping:
        return self.engine.config.get("scenarios").get(name)

    def _properties(self) -> Mapping:
        return self.engine.config.get("modules").get("jmeter").get("properties")

    def _property(self, name: str, default: float) -> float:
        return _number(name, self._properties().get(name, default))

    def _drain_s(self) -> float:
        return self._property("response_timeout", RESPONSE_TIMEOUT_MS) / 1000

    def _seconds(self, steps: tuple[LoadStep, ...]) -> float:
        """How long one execution sends and waits."""
        return steps[-1].to_s + self._drain_s() if steps else 0.0

    def _give(self, scenario: Mapping, steps: tuple[LoadStep, ...]) -> None:
        """The plan gets its schedule, and the verdict what to hold the samples against."""
        scenario.merge(
            {
                "properties": {
                    "schedule": schedule_text(steps, self._drain_s()),
                    "mix": mix_text(steps),
                    "measured": steps[-1].to_s - steps[0].from_s,
                    # The pool of an Open Model Thread Group would keep JMeter up for a minute.
                    "jmeterengine.force.system.exit": "true",
                },
                "forecast": to_record(
                    Followed(
                        str(self.settings.get("forecast")), self._factor(), self._scale(), steps
                    )
                ),
            }
        )

    def _announce(self, names: list[str], steps: tuple[LoadStep, ...]) -> None:
        each = self._seconds(steps)
        ends = datetime.now().astimezone() + timedelta(seconds=each * len(names))
        drain, scale = self._drain_s(), self._scale()
        self.log.info(
            "Forecast %s: %s", self.settings.get("forecast"), announce(steps, drain, scale)
        )
        self.log.info(
            "%s: %s in all; the load will end about %s",
            ", then ".join(names),
            duration_text(each * len(names)),
            ends.strftime("%Y-%m-%d %H:%M:%S %Z"),
        )


def _number(name: str, value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise TaurusConfigError(f"load: {name} is {value!r}: write a number") from None
