"""Reads a .jmx as it will run: read_plan(path, properties) -> Plan.

Fills in properties and variables, finds which timers and controllers apply to which sampler.
Source: JMeter's manual, "Elements of a Test Plan", "Scoping Rules".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from tollgate.expressions import Expander, Text
from tollgate.fields import Fields
from tollgate.jmx import Element, PlanError, read_tree
from tollgate.plan_model import (
    FLOW_CONTROL,
    Controller,
    Label,
    Plan,
    Sampler,
    ThreadGroup,
    Timer,
    Transaction,
)
from tollgate.plan_timers import read_timer

# Samplers, JMeter's own and those of plugins, are known by the end of their class name.
_SAMPLER_ENDINGS = ("Sampler", "SamplerProxy", "Sampler_", "Sampler2", "Sampler2_", FLOW_CONTROL)
_PAUSE = "1"

__all__ = [
    "Label",
    "Plan",
    "PlanError",
    "Sampler",
    "ThreadGroup",
    "Timer",
    "expander_of",
    "is_sampler",
    "read_plan",
]


def read_plan(path: Path, properties: Mapping[str, str]) -> Plan:
    """Read a .jmx as it will run with these JMeter properties.

    Raises PlanError, one line, for a file that is missing, broken or no plan, and for an Include
    or Module Controller that leads nowhere. What only the running test can know is no error.
    """
    return _Reader(Path(path), properties).plan()


@dataclass(frozen=True)
class _Scope:
    """What the controllers around an element add to it."""

    timers: tuple[Timer, ...] = ()
    parents: tuple[Controller, ...] = ()
    hidden_by: str = ""


class _Reader:
    def __init__(self, path: Path, properties: Mapping[str, str]) -> None:
        self._path = path
        bare = Expander(properties, {})
        self._root = read_tree(path, lambda text: bare.expand(text).value)
        self._expander = expander_of(self._root, properties)

    def plan(self) -> Plan:
        scope = self._inside(self._root, _Scope())
        groups = [e for e in self._root.active if e.kind.endswith("ThreadGroup")]
        return Plan(
            path=self._path,
            groups=tuple(self._group(element, scope) for element in groups),
            disabled_labels=tuple(dict.fromkeys(self._disabled(self._root, off=False))),
        )

    def _disabled(self, element: Element, *, off: bool) -> Iterator[str]:
        off = off or not element.enabled
        if off and is_sampler(element):
            yield self._expander.expand(element.name).shown
        for child in element.children:
            yield from self._disabled(child, off=off)

    def _group(self, element: Element, scope: _Scope) -> ThreadGroup:
        fields = Fields(element, self._expander)
        scheduled = fields.text("ThreadGroup.scheduler") == "true"
        inner = self._inside(element, scope)
        samplers = _with_following(list(self._samplers(element, inner)))
        forever = fields.text("LoopController.continue_forever") == "true"
        loops = fields.whole("LoopController.loops")
        group = ThreadGroup(
            name=self._expander.expand(element.name).shown,
            kind=element.kind,
            threads=fields.whole("ThreadGroup.num_threads"),
            loops=-1 if loops is None and forever else loops,
            ramp_up_s=fields.number("ThreadGroup.ramp_time"),
            duration_s=fields.number("ThreadGroup.duration") if scheduled else None,
            delay_s=fields.number("ThreadGroup.delay") if scheduled else None,
            same_user_on_next_iteration=(
                fields.text("ThreadGroup.same_user_on_next_iteration") != "false"
            ),
            on_sample_error=fields.text("ThreadGroup.on_sample_error") or "continue",
            schedule=fields.text("OpenModelThreadGroup.schedule"),
            random_seed=fields.whole("OpenModelThreadGroup.random_seed", absent=0),
            samplers=tuple(samplers),
            transactions=tuple(
                self._transaction(child)
                for child in element.walk()
                if child.kind == "TransactionController"
            ),
        )
        return replace(group, unresolved=fields.unresolved)

    def _transaction(self, element: Element) -> Transaction:
        fields = Fields(element, self._expander)
        return Transaction(
            label=self._label(element),
            generate_parent_sample=fields.text("TransactionController.parent") == "true",
            # JMeter leaves this one out of the file where it is true.
            include_timers=fields.text("TransactionController.includeTimers") != "false",
        )

    def _samplers(self, element: Element, scope: _Scope) -> Iterator[Sampler]:
        """Yield the samplers below `element`; `scope` is that of its children."""
        for child in element.active:
            inner = self._inside(child, scope)
            if is_sampler(child):
                yield Sampler(
                    label=self._label(child),
                    kind=child.kind,
                    timers=inner.timers,
                    parents=scope.parents,
                    hidden_by=scope.hidden_by,
                    pause_ms=self._own_pause_ms(child),
                )
            else:
                yield from self._samplers(child, inner)

    def _inside(self, element: Element, scope: _Scope) -> _Scope:
        """Return the scope of the children of `element`."""
        timers = tuple(
            read_timer(e, self._expander) for e in element.active if e.kind.endswith("Timer")
        )
        scope = replace(scope, timers=scope.timers + timers)
        if is_sampler(element) or element.kind == "TestPlan" or _is_group(element):
            return scope
        hides = element.props.get("TransactionController.parent") == "true"
        return replace(
            scope,
            parents=(*scope.parents, Controller(element.kind, self._label(element).text)),
            hidden_by=scope.hidden_by or (self._label(element).text if hides else ""),
        )

    def _label(self, element: Element) -> Label:
        text = self._expander.expand(element.name)
        return Label(text.shown, text.pattern if text.reason else "")

    def _own_pause_ms(self, element: Element) -> float | None:
        fields = Fields(element, self._expander)
        if element.kind != FLOW_CONTROL or fields.text("ActionProcessor.action") != _PAUSE:
            return 0.0
        return fields.number("ActionProcessor.duration", absent=0.0)


def expander_of(root: Element, properties: Mapping[str, str]) -> Expander:
    """Fills in what a run's properties and the variables of a plan's tree say."""
    return Expander(properties, _variables(root, properties))


def _variables(root: Element, properties: Mapping[str, str]) -> Mapping[str, Text]:
    """Collect user defined variables; a later one replaces an earlier one of its name."""
    variables: dict[str, Text] = {}
    expander = Expander(properties, variables)
    for element in root.walk():
        if element.kind in ("TestPlan", "Arguments"):
            variables.update({name: expander.expand(value) for name, value in element.pairs})
    return variables


def _with_following(samplers: list[Sampler]) -> Iterator[Sampler]:
    for sampler, following in pairwise([*samplers, None]):
        paused = (
            following is not None
            and following.kind == FLOW_CONTROL
            and following.all_pauses_ms != 0
        )
        yield replace(sampler, followed_by_pause=paused)


def is_sampler(element: Element) -> bool:
    """Whether JMeter runs it as a sampler, a Flow Control Action included."""
    return element.kind.endswith(_SAMPLER_ENDINGS) and element.kind != "ParallelSampler"


def _is_group(element: Element) -> bool:
    return element.kind.endswith("ThreadGroup")
