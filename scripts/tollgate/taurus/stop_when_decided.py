"""Taurus service `stop-when-decided`: ends an execution once its verdict is settled.

The property `measured` then says what is measured at least before a PASS. A plan whose length is
that property gets the budget in its place, so that it stays a plan that JMeter runs by itself; one
that has a length of its own is only ended sooner.

It stands behind `load`, which writes the lengths of those that follow a forecast.
"""

from __future__ import annotations

from bzt import TaurusConfigError
from bzt.engine import Service
from bzt.utils import BetterDict

from tollgate.base.settings import SecondsOrOff, SettingError, configured, read
from tollgate.base.text import duration_text, some_of
from tollgate.gather.early_decisions import InterimDecider, outcome
from tollgate.record.interim_schedule import LEAST_S, InterimSchedule
from tollgate.samples.watch import SampleWatch
from tollgate.stats.sequential import nominal_level
from tollgate.targets.scenarios import executions_of, given_properties, kind_of
from tollgate.taurus.decision_loop import decisions, watches
from tollgate.taurus.shared import problems_as, property_of, under_way

NAME = "stop-when-decided"
#: Seconds that JMeter takes to start and to end, in the announcement.
AROUND_S = 10.0
#: So many open criteria are named in a line.
NAMED = 3
#: What a look is made of must be in the file, and JMeter writes blocks of some 50 samples.
AUTOFLUSH = "jmeter.save.saveservice.autoflush"


@configured
class StopSettings:
    """Each execution ends once its verdict is settled."""

    budget: SecondsOrOff = None
    """Of measuring, at most; off measures all that the plan has."""


class StopWhenDecided(Service):
    """Evaluates the samples of each execution while it measures."""

    def __init__(self) -> None:
        super().__init__()
        self.budget_s: float | None = None
        self.watches: dict[object, SampleWatch] = {}

    def prepare(self) -> None:
        """Give each execution its budget. Raises TaurusConfigError, one line."""
        # A share has a fixed length: who decides early sees the samples of all engines.
        self.budget_s = None if under_way(self.engine).is_shared else self._wanted().budget
        if self.budget_s is None:
            return
        kind = kind_of(self.engine.config)
        if kind in ("compare", "study"):
            raise TaurusConfigError(
                f"{NAME}: modules.{NAME}.budget is {self.settings.get('budget')!r}, and the kind "
                f"{kind} ends itself: set it to off"
            )
        executions = executions_of(self.engine.config)
        longest_s = sum([self._give(*each) for each in executions])
        run = under_way(self.engine)
        run.position = run.position or self.position
        if executions:
            names = ", then ".join(name for name, _ in executions)
            text = "%s: each ends once its criteria are decided; at most %s in all"
            self.log.info(text, names, duration_text(longest_s))

    def _wanted(self) -> StopSettings:
        with problems_as(TaurusConfigError, NAME, SettingError):
            return read(StopSettings, self.settings, f"modules.{NAME}")

    def _give(self, name: str, scenario: BetterDict) -> float:
        """Sets its schedule of looks, and the plan's length; returns how long it takes at most,
        as far as is known."""
        config, prepared = self.engine.config, under_way(self.engine).executions[name]
        own, where = given_properties(config, scenario), f"{NAME}: execution {name!r}"
        least_s = measured = property_of(own, "measured", 0, where)
        own_length = bool(prepared.forecast) or not measured
        if own_length:
            least_s = property_of(given_properties(config, {}), "measured", LEAST_S, where)
        prepared.interim = InterimSchedule.of(least_s, self.budget_s)
        budget_s = length_s = prepared.interim.budget_s
        properties: dict[str, object] = {AUTOFLUSH: "true"}
        if not own_length:
            properties["measured"] = int(budget_s) if budget_s.is_integer() else budget_s
        elif measured:
            length_s = min(budget_s, measured)
        scenario.merge({"properties": properties})
        return property_of(own, "warmup", 0, where) + length_s + AROUND_S

    def startup(self) -> None:
        """Know what to look at: what `verdict` has recorded."""
        if self.budget_s is None or under_way(self.engine).manifest is None:
            return
        nominal_level((1.0,), 0.01)  # what all looks need once, before there is load to disturb
        self.watches = watches(self, lambda own: own.planned.interim and InterimDecider(own))

    def check(self) -> bool:
        """End each execution that is decided."""
        for executor, look in decisions(self, NAME, self.watches):
            decider = self.watches[executor].decider
            if decider.is_over:
                self.log.info("%s: %s", executor.label, outcome(look))
                planned = decider.context.planned
                planned.decided_s, planned.decided_lag_s = look.course.looks_s[-1], look.lag_s
                executor.stop_now()
        return False

    def position(self, executor: object, asked_s: float, elapsed_s: float) -> str | None:
        """How far an execution is and what of it is open, for `progress`."""
        if executor not in self.watches:
            return None
        at = f"{min(elapsed_s, asked_s):.0f} of at most {asked_s:.0f} s"
        at = at if asked_s else f"{elapsed_s:.0f} s"
        decider = self.watches[executor].decider
        if decider.last is None or not decider.open:
            return at
        return f"{at}, open: {some_of(decider.open, NAMED)}"
