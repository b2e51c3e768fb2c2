"""Reads a .jmx as it will run: read_plan(path, properties) -> Plan, and whom it asks.

Fills in properties and variables, reads timers, finds which timers and controllers apply to which
sampler. Source: JMeter's manual, "Elements of a Test Plan", "Scoping Rules"; Component Reference,
"Timers", "JSR223 PostProcessor"; SampleResult.setIgnore.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.plan.arrivals import (
    EVEN_DELAY,
    EvenArrivals,
    NotReplayableError,
    PreciseThroughput,
)
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element, read_tree
from tollgate.plan.model import (
    FLOW_CONTROL,
    LOOPING,
    PRECISE_THROUGHPUT,
    Controller,
    Plan,
    PlanLabel,
    Sampler,
    ThreadGroup,
    Timer,
    Transaction,
)
from tollgate.plan.variables import (
    COUNTER,
    expander_of,
    label_expander_of,
    running_expander_of,
    set_by,
)

# Samplers, JMeter's own and those of plugins, are known by the end of their class name.
_SAMPLER_ENDINGS = ("Sampler", "SamplerProxy", "Sampler_", "Sampler2", "Sampler2_", FLOW_CONTROL)
_PAUSE = "1"
_FOREVER = "LoopController.continue_forever"
_HTTP, _DEFAULTS = "HTTPSampler", "ConfigTestElement"
_TIMEOUT = "HTTPSampler.response_timeout"
#: What a script calls to keep a sample out of the JTL.
_IGNORE = re.compile(r"[Ii]gnore")
#: A Constant Timer's delay that waits for what a Counter says.
_EVEN = re.compile(re.escape(EVEN_DELAY.format("@")).replace("@", r"([^${}()]+)"))
_DELAY = "ConstantTimer.delay"
#: Where samplers, and the defaults of theirs, name a host.
_HOSTS = ("HTTPSampler.domain", "TCPSampler.server", "FTPSampler.server")
#: A whole URL may stand here, and goes before the host.
_PATH = "HTTPSampler.path"


class Fields:
    """Reads properties of one element and remembers, by name, why some are not known."""

    def __init__(self, element: Element, expander: Expander) -> None:
        self._element = element
        self._expander = expander
        self.unresolved: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """The property after expansion; None where it is absent or not known."""
        if name not in self._element.props:
            return None
        expanded = self._expander.expand(self._element.props[name])
        if expanded.reason:
            self.unresolved[name.rpartition(".")[2]] = expanded.reason
        return expanded.value

    def number(self, name: str, absent: float | None = None) -> float | None:
        return self._converted(name, absent, float)

    def whole(self, name: str, absent: int | None = None) -> int | None:
        return self._converted(name, absent, int)

    def _converted(
        self, name: str, absent: float | None, convert: Callable[[str], float]
    ) -> float | None:
        text = self.text(name)
        if text is None:
            return None if name in self._element.props else absent
        try:
            return convert(text.strip() or absent or 0)
        except ValueError:
            self.unresolved[name.rpartition(".")[2]] = f"'{text}' is not a number"
            return None


def read_timer(
    element: Element, expander: Expander, counters: Mapping[str, Element | None]
) -> Timer:
    """Return the timer with its properties filled in; one that paces a loop pauses 0 ms.

    counters: those of its thread group, around it or beside it, by their variable; None where
    something else sets that as well.
    """
    name = expander.expand(element.name).shown
    counter = _EVEN.fullmatch(element.props.get(_DELAY, "").strip())
    if element.kind == PRECISE_THROUGHPUT or (element.kind == "ConstantTimer" and counter):
        pause_ms = 0.0 if element.kind == PRECISE_THROUGHPUT else None
        try:
            replay = (
                _even(counter[1], counters, expander) if counter else _precise(element, expander)
            )
        except NotReplayableError as error:
            return Timer(element.kind, name, pause_ms, reason=str(error))
        return Timer(element.kind, name, pause_ms, replay=replay)
    fields = Fields(element, expander)
    delay = fields.number(_DELAY, absent=0.0)
    spread = fields.number("RandomTimer.range", absent=0.0)
    match element.kind:
        case "ConstantTimer" | "UniformRandomTimer":
            return Timer(element.kind, name, _add(delay, spread))
        case "GaussianRandomTimer":
            return Timer(element.kind, name, _add(delay, spread, spread, spread))
        case "PoissonRandomTimer":
            margin = None if spread is None else 3 * math.sqrt(max(spread, 0.0))
            return Timer(element.kind, name, _add(delay, spread, margin))
        case kind if "Throughput" in kind:
            return Timer(kind, name, 0.0)
        case kind:
            return Timer(kind, name, None)


def _precise(element: Element, expander: Expander) -> PreciseThroughput:
    fields = Fields(element, expander)
    throughput = fields.number("throughput")
    period = fields.whole("throughputPeriod")
    duration = fields.whole("duration")
    batch = fields.whole("batchSize")
    seed = fields.whole("randomSeed", absent=0)
    if throughput is None or period is None or duration is None or batch is None or seed is None:
        missing = ("settings", "not all of them are in the plan")
        name, reason = next(iter(fields.unresolved.items()), missing)
        raise NotReplayableError(f"the timer's {name} cannot be known: {reason}")
    if period < 1:
        raise NotReplayableError(f"the timer's throughput period is {period} s")
    return PreciseThroughput(seed, throughput / period, duration, batch)


def _even(
    variable: str, counters: Mapping[str, Element | None], expander: Expander
) -> EvenArrivals:
    if variable not in counters:
        raise NotReplayableError(
            f"no Counter of its thread group, around it or beside it, counts ${{{variable}}}"
        )
    element = counters[variable]
    if element is None:
        raise NotReplayableError(f"more than one element sets ${{{variable}}}")
    if element.props.get(f"{COUNTER}.per_user") == "true":
        raise NotReplayableError(f"each thread has its own count of ${{{variable}}}")
    fields = Fields(element, expander)
    first, period, last = (fields.whole(f"{COUNTER}.{it}") for it in ("start", "incr", "end"))
    shape = element.props.get(f"{COUNTER}.format", "")
    if first is None or period is None or "end" in fields.unresolved or last or shape:
        name, reason = next(
            iter(fields.unresolved.items()), ("settings", "start, incr and no more")
        )
        raise NotReplayableError(f"the {name} of its {element.title} cannot be known: {reason}")
    return EvenArrivals(first, period)


def _add(*terms: float | None) -> float | None:
    return None if None in terms else sum(term for term in terms if term is not None)


def read_plan(path: Path, properties: Mapping[str, str]) -> Plan:
    """Read a .jmx as it will run with these JMeter properties.

    Raises PlanError, one line, for a file that is missing, broken or no plan, and for an Include
    or Module Controller that leads nowhere. What only the running test can know is no error.
    """
    return _Reader(Path(path), properties).plan()


@dataclass(frozen=True)
class _Scope:
    """What the controllers around an element add to it. counters: as
    read_timer has them."""

    timers: tuple[Timer, ...] = ()
    parents: tuple[Controller, ...] = ()
    hidden_by: str = ""
    timeout_ms: float | None = None
    group: Element | None = None
    counters: Mapping[str, Element | None] = field(default_factory=dict)


class _Reader:
    def __init__(self, path: Path, properties: Mapping[str, str]) -> None:
        self._path = path
        self._root = read_tree(path, properties)
        self._at_start = expander_of(self._root, properties)
        self._expander = running_expander_of(self._root, properties)
        self._labels = label_expander_of(self._root, properties)

    def plan(self) -> Plan:
        scope = self._inside(self._root, _Scope())
        return Plan(
            path=self._path,
            groups=tuple(self._group(element, scope) for element in self._root.thread_groups),
            is_serial=self._root.props.get("TestPlan.serialize_threadgroups") == "true",
            may_ignore=any(
                each.is_script_with(_IGNORE) or each.is_script_in_a_file
                for each in self._root.walk()
            ),
        )

    def _group(self, element: Element, scope: _Scope) -> ThreadGroup:
        fields = Fields(element, self._at_start)
        scheduled = fields.text("ThreadGroup.scheduler") == "true"
        inner = self._inside(element, scope)
        name = _label(element, self._at_start)
        group = ThreadGroup(
            name=name.text,
            name_pattern=name.pattern,
            kind=element.kind,
            threads=fields.whole("ThreadGroup.num_threads"),
            loops=_loops(element, fields),
            ramp_up_s=fields.number("ThreadGroup.ramp_time"),
            duration_s=fields.number("ThreadGroup.duration") if scheduled else None,
            delay_s=fields.number("ThreadGroup.delay") if scheduled else None,
            length_s=_length_s(element, fields, self._at_start),
            on_sample_error=fields.text("ThreadGroup.on_sample_error") or "continue",
            schedule=fields.text("OpenModelThreadGroup.schedule"),
            random_seed=fields.whole("OpenModelThreadGroup.random_seed", absent=0),
            samplers=tuple(self._samplers(element, inner)),
            transactions=tuple(self._transactions(element, leave_rows=True)),
        )
        return replace(group, unresolved=fields.unresolved)

    def _transactions(self, element: Element, *, leave_rows: bool) -> Iterator[Transaction]:
        """Yield the Transaction Controllers below `element`; leave_rows: whether parent samples do
        there, which inside of another one they do not."""
        for child in element.active:
            is_parent = False
            if child.kind == "TransactionController":
                is_parent = self._is_parent(child)
                yield Transaction(
                    label=self._label(child),
                    generate_parent_sample=is_parent,
                    leaves_a_row=leave_rows or not is_parent,
                )
            yield from self._transactions(child, leave_rows=leave_rows and not is_parent)

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
                    timeout_ms=self._timeout_ms(child, inner),
                )
            else:
                yield from self._samplers(child, inner)

    def _inside(self, element: Element, scope: _Scope) -> _Scope:
        """Return the scope of the children of `element`."""
        group = element if element.is_thread_group else scope.group
        counters = scope.counters | self._counters(element, group)
        scope = replace(scope, group=group, counters=counters)
        timers = tuple(
            read_timer(e, self._expander, counters)
            for e in element.active
            if e.kind.endswith("Timer")
        )
        scope = replace(
            scope, timers=scope.timers + timers, timeout_ms=self._default_timeout_ms(element, scope)
        )
        if is_sampler(element) or element.kind == "TestPlan" or element.is_thread_group:
            return scope
        hides = self._is_parent(element)
        return replace(
            scope,
            parents=(*scope.parents, self._controller(element)),
            hidden_by=scope.hidden_by or (self._label(element).text if hides else ""),
        )

    def _counters(self, element: Element, group: Element | None) -> dict[str, Element | None]:
        """The Counters right below an element of a thread group, as read_timer has them."""
        own = [each for each in element.active if each.kind == COUNTER]
        if not (own and group):
            return {}
        around = (each for each in self._root.active if not each.is_thread_group)
        setting = [name for top in (group, *around) for it in top.walk() for name in set_by(it)]
        names = ((each, each.props.get(f"{COUNTER}.name", "").strip()) for each in own)
        return {name: each if setting.count(name) == 1 else None for each, name in names}

    def _is_parent(self, element: Element) -> bool:
        """Whether it is a Transaction Controller that generates a parent sample."""
        return Fields(element, self._expander).text("TransactionController.parent") == "true"

    def _default_timeout_ms(self, element: Element, scope: _Scope) -> float | None:
        """Return what HTTP Request Defaults say at this level; the innermost ones win."""
        for each in element.active:
            if each.kind == _DEFAULTS and each.props.get(_TIMEOUT, "").strip():
                return Fields(each, self._expander).number(_TIMEOUT)
        return scope.timeout_ms

    def _timeout_ms(self, element: Element, scope: _Scope) -> float | None:
        """Return the response timeout of an HTTP request; JMeter takes 0 for none."""
        if not element.kind.startswith(_HTTP):
            return None
        own = element.props.get(_TIMEOUT, "").strip()
        found = Fields(element, self._expander).number(_TIMEOUT) if own else scope.timeout_ms
        return found if found and found > 0 else None

    def _controller(self, element: Element) -> Controller:
        loops = None
        if element.kind == "LoopController":
            loops = Fields(element, self._expander).whole("LoopController.loops")
        return Controller(element.kind, self._label(element).text, loops)

    def _label(self, element: Element) -> PlanLabel:
        return _label(element, self._labels)

    def _own_pause_ms(self, element: Element) -> float | None:
        fields = Fields(element, self._expander)
        if element.kind != FLOW_CONTROL or fields.text("ActionProcessor.action") != _PAUSE:
            return 0.0
        return fields.number("ActionProcessor.duration", absent=0.0)


def _label(element: Element, expander: Expander) -> PlanLabel:
    text = expander.expand(element.name)
    return PlanLabel(text.shown, text.pattern if text.reason else "")


def _loops(element: Element, fields: Fields) -> int | None:
    """Return the iterations of each thread, -1 for ever.

    A main controller that may continue for ever begins again after its last loop, so that its
    threads are never done. JMeter's window writes `false`; where nothing is written, it is true.
    """
    forever = fields.text(_FOREVER) == "true" or _FOREVER not in element.props
    return -1 if forever and element.kind in LOOPING else fields.whole("LoopController.loops")


def _length_s(element: Element, fields: Fields, expander: Expander) -> float | None:
    """Return how long a thread group of the plugins sends at least, if nothing stops it; None where
    its schedule does not say.

    Source: jmeter-plugins-casutg 2.10, AbstractDynamicThreadGroup, FreeFormArrivalsThreadGroup, and
    UltimateThreadGroup.scheduleThread.
    """
    unit_s = 1 if fields.text("Unit") == "S" else 60
    if element.kind in ("ConcurrencyThreadGroup", "ArrivalsThreadGroup"):
        # A number of iterations may end it before its time.
        is_limited = (fields.text("Iterations") or "").strip() not in ("", "0")
        names = ("TargetLevel", "RampUp", "Hold")
        level, ramp, hold = (fields.number(name, absent=0.0) for name in names)
        is_unknown = is_limited or not level or None in (ramp, hold)
        return None if is_unknown else (ramp + hold) * unit_s
    rows = [[_number(expander.expand(cell).value) for cell in row] for row in element.rows]
    if not rows or any(None in row for row in rows):
        return None
    if element.kind == "FreeFormArrivalsThreadGroup" and {*map(len, rows)} == {3}:
        return sum(duration for _, _, duration in rows) * unit_s
    # The property of this name goes before the table.
    has_table = expander.expand("${__P(threads_schedule,)}").value == ""
    if element.kind == "UltimateThreadGroup" and has_table and {*map(len, rows)} == {5}:
        return max((sum(row[1:4]) for row in rows if row[0]), default=None)
    return None


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def is_sampler(element: Element) -> bool:
    """Whether JMeter runs it as a sampler, a Flow Control Action included."""
    return element.kind.endswith(_SAMPLER_ENDINGS) and element.kind != "ParallelSampler"


def read_hosts(path: Path, properties: Mapping[str, str]) -> list[str]:
    """The hosts that a plan sends its requests to, as far as they are known before the run; each
    once, in the plan's order. Raises PlanError."""
    root = read_tree(path, properties)
    return list(dict.fromkeys(_hosts(root, expander_of(root, properties))))


def _hosts(root: Element, expander: Expander) -> Iterator[str]:
    for element in root.walk():
        for name in _HOSTS:
            host = expander.expand(element.props.get(name, "")).value
            if host and host.strip():
                yield host.strip().strip("[]")
        path = expander.expand(element.props.get(_PATH, "")).value or ""
        if path.startswith(("http://", "https://")) and (host := _host_of(path)):
            yield host


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
