"""Taurus service `load`: which executions a run has, and the load of those that follow a forecast.

With ENGINE=k/N it sends one engine's share of the load (share.py), at START_AT. With ENGINES it
has remote engines send all of it (remote_load.py).

It stands before the services that start and judge what is left in `execution`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate.base.paths import SUITE
from tollgate.base.settings import Number, Word, configured, read
from tollgate.base.text import UserError, did_you_mean, duration_text
from tollgate.compare.settings import own_timeouts
from tollgate.forecast.load import ShapeError, announce, load_steps, mix_text, schedule_text
from tollgate.forecast.model import Followed, LoadStep
from tollgate.forecast.read import read_forecast
from tollgate.plan import lint
from tollgate.plan.expressions import reads_property
from tollgate.plan.read import read_plan
from tollgate.targets import scenarios
from tollgate.taurus.remote_load import RemoteLoad
from tollgate.taurus.share import Sharing
from tollgate.taurus.shared import problems_as, property_of, under_way

#: Together they may take so long before one of them has to do.
BOTH_MODES_S = 180.0
BOTH = "both"


class ModeError(UserError):
    """One line: what MODE is and what it could be."""


def chosen_modes(
    mode: str, names: Sequence[str], all_s: float, preferred: str
) -> tuple[list[str], str]:
    """(names of the executions to run in their order, why not all of them).

    mode: MODE: the name of an execution, `both` for all of them, or nothing, which means all
    of them where they take at most BOTH_MODES_S together, and the preferred one where they don't.
    all_s: what they take together. Raises ModeError.
    """
    if mode in names:
        return [mode], f"MODE={mode}"
    if mode and mode != BOTH:
        step = did_you_mean(mode, [*names, BOTH])
        raise ModeError(f"MODE is {mode!r}, which no execution is called: {step}")
    if mode == BOTH or all_s <= BOTH_MODES_S or preferred not in names:
        return list(names), ""
    return [preferred], "all modes would take too long for the default; MODE=both runs them"


#: Variables that go before settings.
VARIABLES = {"mode": "MODE", "scale": "SCALE"}
#: What the plans wait for an answer, in ms, where no property says so.
RESPONSE_TIMEOUT_MS = 5000
#: Fewer measured seconds give no interval to judge by.
SHORTEST_S = 10.0


@dataclass(frozen=True)
class _Planned:
    """An execution with the properties of its plan; without steps where it follows no forecast."""

    execution: Mapping[str, Any]
    scenario: Mapping[str, Any]
    properties: Mapping[str, Any]
    drain_s: float
    steps: tuple[LoadStep, ...] = ()

    @property
    def name(self) -> str:
        return scenarios.name_of(self.execution)

    @property
    def is_inline(self) -> bool:
        return scenarios.is_inline(self.execution)

    @property
    def seconds(self) -> float:
        """How long it sends and waits."""
        return self.steps[-1].to_s + self.drain_s if self.steps else 0.0


@configured
class LoadSettings:
    """Which executions a run has, and the load of those that follow a forecast."""

    mode: Word = ""
    """The only execution to run, or both; by default all of them. MODE goes before it."""
    preferred: Word = "cluster"
    """The one to run where all would take too long."""
    forecast: Word | None = None
    """The file."""
    factor: Number = 1
    """Of the forecast's rates."""
    length: Number | None = None
    """Of the forecast's length; without it no forecast is followed."""
    scale: Number = 1
    """How much time is compressed; rates never are. SCALE goes before it."""
    rows: Literal["copy", "split"] = "copy"
    """Whether each of several engines sends all rows of data files, or its part."""


class Load(Service):
    """Chooses the executions, writes their schedules and says how long it will take."""

    wanted = LoadSettings()
    sharing: Sharing | None = None
    remote: RemoteLoad | None = None

    def prepare(self) -> None:
        """Raises TaurusConfigError, one line, for what can't be run."""
        with problems_as(TaurusConfigError, "load", UserError):
            where = "modules.load"
            self.wanted = read(LoadSettings, self.settings, where, os.environ, VARIABLES)
        self.sharing = Sharing.of(self.engine.config, self.wanted.rows, os.environ)
        self.remote = RemoteLoad.of(self.engine.config, self.wanted.rows, os.environ)
        run, follows = under_way(self.engine), self.wanted.length is not None
        with problems_as(TaurusConfigError, "load", UserError):
            planned = [self._planned(each) for each in self.engine.config.get("execution", [])]
            chosen = self._choose(self._with_steps(planned) if follows else planned)
            for each in chosen:
                self._note_unread(each)
                if follows:
                    self._give(each)
            # By its name the services know an execution, and its files are called.
            for name, count in Counter(each.name for each in chosen).items():
                if count > 1:
                    raise TaurusConfigError(f"load: two executions are called {name!r}: rename one")
            if self.sharing:
                run.share = self.sharing.give(self.engine, run.executions)
                self.log.info("Engine %s: its share of the load, to be merged", self.sharing.share)
            if self.remote:
                self.remote.give(self.engine, run.executions, self.log)
                run.remote = self.remote
        if follows:
            self._announce(chosen)
        elif os.environ.get("SCALE"):
            self.log.warning("load: SCALE is set, and this kind follows no forecast: it is ignored")

    def startup(self) -> None:
        """Wait for START_AT, once everything is ready."""
        if self.sharing:
            self.sharing.wait(self.log)

    def check(self) -> bool:
        """Raises ToolError once an engine is lost."""
        if self.remote:
            self.remote.watch(self.engine)
        return False

    def shutdown(self) -> None:
        if self.remote and self.remote.heartbeat:
            self.remote.heartbeat.end()

    def _planned(self, execution: Mapping[str, Any]) -> _Planned:
        """Checks the numbers that every kind has, before anything starts."""
        scenario = scenarios.scenario_of(self.engine.config, execution)
        properties = scenarios.given_properties(self.engine.config, scenario)
        where = f"load: execution {scenarios.name_of(execution)!r}"
        if servers := execution.get("distributed", None):
            raise TaurusConfigError(
                f"{where} has distributed: {servers!r}, and several JMeters each follow the whole "
                "schedule from a start of their own, with threads of the same names: take "
                "`distributed` out, and name them by ENGINES"
            )
        for name in ("warmup", "measured"):
            property_of(properties, name, 0, where)
        timeouts, pauses_s = properties, [0.0]
        composed = under_way(self.engine).composed
        if composed and composed.parts:
            timeouts = own_timeouts(composed.plan.read_text(encoding="utf-8")) | properties
            pauses_s += [it.pause_s for it in composed.parts.requests]
        timeout = property_of(timeouts, "response_timeout", RESPONSE_TIMEOUT_MS, where)
        return _Planned(execution, scenario, properties, timeout / 1000 + max(pauses_s))

    def _note_unread(self, planned: _Planned) -> None:
        """Before other services give the plan what it may leave unread."""
        if self.engine.config.get("modules").get("capacity").get("rate", None):
            return  # a copy of it reads a file of arrivals
        names = [*planned.properties]
        if under_way(self.engine).composed:  # a kind may set what the suite's own plans read
            texts = [it.read_text("utf-8", "replace") for it in (SUITE / "plans").rglob("*.jmx")]
            own = planned.scenario.get("properties", None) or {}
            names = [it for it in names if it in own or not reads_property("\n".join(texts), it)]
        for line in lint.unread(scenarios.script_of(planned.scenario), names):
            under_way(self.engine).executions[planned.name].notes.append(line)
            self.log.warning("load: %s", line)

    def _with_steps(self, planned: list[_Planned]) -> list[_Planned]:
        composed, load, following = under_way(self.engine).composed, self.wanted, []
        forecast = composed.forecast(load.forecast or "") if composed else None
        if not forecast:
            targets = {name for each in planned for name in self._targets(each)}
            forecast = read_forecast(load.forecast or "", targets)
        for each in planned:
            warmup_s = float(each.properties.get("warmup", 0))
            steps = load_steps(forecast, load.factor, load.length, load.scale, warmup_s)
            measured = steps[-1].to_s - steps[0].from_s
            if measured < SHORTEST_S:
                raise ShapeError(
                    f"SCALE={load.scale:g} leaves {measured:g} s to measure: "
                    f"take a smaller one, so that it is {SHORTEST_S:g} s or more"
                )
            following.append(replace(each, steps=steps))
        return following

    def _targets(self, planned: _Planned) -> list[str]:
        """The labels of an execution's plan: the targets that a forecast may share out."""
        if not planned.scenario.get("script", None):
            raise TaurusConfigError(
                f"load: execution {planned.name!r} has no plan that could follow the forecast: "
                "give its scenario a `script`, such as plans/stress.jmx"
            )
        return list(read_plan(scenarios.script_of(planned.scenario), planned.properties).labels)

    def _choose(self, planned: list[_Planned]) -> list[_Planned]:
        """Without a name in MODE, inline scenarios stay: no other execution stands for them."""
        mode = self.wanted.mode
        if scenarios.kind_of(self.engine.config) == "compare" or under_way(self.engine).composed:
            mode = ""  # MODE is that of the apps, which `compare` or the composition has read
        named = [each.name for each in planned if not each.is_inline]
        all_s = sum(each.seconds for each in planned)
        names, why = chosen_modes(mode, named, all_s, self.wanted.preferred)
        inline = mode in ("", BOTH)
        kept = [it for it in planned if (inline if it.is_inline else it.name in names)]
        self.engine.config.get("execution", [])[:] = [each.execution for each in kept]
        if why:
            left_out = ", ".join(each.name for each in planned if each not in kept) or "none"
            shown = ", ".join(each.name for each in kept)
            self.log.info("Only %s: %s; left out: %s", shown, why, left_out)
        return kept

    def _give(self, planned: _Planned) -> None:
        """The plan gets its schedule, and the verdict what to hold the samples against."""
        steps = planned.steps
        properties = {
            "schedule": schedule_text(steps, planned.drain_s),
            "mix": mix_text(steps),
            "measured": steps[-1].to_s - steps[0].from_s,
            # The pool of an Open Model Thread Group would keep JMeter up for a minute.
            "jmeterengine.force.system.exit": "true",
        }
        planned.scenario.merge({"properties": properties})
        run, load = under_way(self.engine), self.wanted
        followed = Followed(str(load.forecast), load.factor, load.scale, steps)
        if run.composed:
            followed = run.composed.followed(followed)
        run.executions[planned.name].forecast = followed

    def _announce(self, chosen: list[_Planned]) -> None:
        seconds = sum(each.seconds for each in chosen)
        ends = datetime.now().astimezone() + timedelta(seconds=seconds)
        scale = self.wanted.scale
        for text in dict.fromkeys(announce(each.steps, each.drain_s, scale) for each in chosen):
            self.log.info("Forecast %s: %s", self.wanted.forecast, text)
        names = ", then ".join(each.name for each in chosen)
        about = ends.strftime("%Y-%m-%d %H:%M:%S %Z")
        taken = duration_text(seconds)
        self.log.info("%s: %s in all; the load will end about %s", names, taken, about)
