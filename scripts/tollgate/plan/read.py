"""Reads a .jmx as it will run: read_plan(path, properties) -> Plan, and whom it asks.

Fills in properties and variables, reads timers, finds which timers and controllers apply to which
sampler. Source: JMeter's manual, "Elements of a Test Plan", "Scoping Rules"; Component Reference,
"Timers", "JSR223 PostProcessor"; SampleResult.setIgnore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.plan.bounds import stops_of
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element, read_tree
from tollgate.plan.model import (
    CACHE_MANAGER,
    CRITICAL_SECTION,
    FLOW_CONTROL,
    FOR_EVER,
    LOOPING,
    Controller,
    Plan,
    PlanLabel,
    Sampler,
    ThreadGroup,
    Timer,
    Transaction,
    total,
)
from tollgate.plan.reach import never_sent
from tollgate.plan.sessions import share_of
from tollgate.plan.timers import Fields, read_timer
from tollgate.plan.variables import (
    COUNTER,
    expander_of,
    label_expander_of,
    running_expander_of,
    set_by,
)

_PAUSE = "1"
_THREADS = "ThreadGroup.num_threads"
_FOREVER = "LoopController.continue_forever"
#: Conditions of a While Controller that no answer but a failed one makes false.
_ENDLESS = ("", "last", "true")
_HTTP, _DEFAULTS = "HTTPSampler", "ConfigTestElement"
_TIMEOUT = "HTTPSampler.response_timeout"
_LOCK = "CriticalSectionController.lockName"
_FOLLOW = ("HTTPSampler.follow_redirects", "HTTPSampler.auto_redirects")
#: What a script calls to keep a sample out of the JTL.
_IGNORE = re.compile(r"[Ii]gnore")
#: And to give it another label.
_RENAME = re.compile(r"[Ss]ampleLabel")
#: Where samplers, and the defaults of theirs, name a host.
_HOSTS = ("HTTPSampler.domain", "TCPSampler.server", "FTPSampler.server")
#: What JMeter does for a request that its cache answers.
NO_SAMPLE = "RETURN_NO_SAMPLE"
_CACHED_MODE = f"${{__P(cache_manager.cached_resource_mode,{NO_SAMPLE})}}"
#: A whole URL may stand here, and goes before the host.
_PATH = "HTTPSampler.path"


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
    controllers: tuple[Controller, ...] = ()
    hidden_by: str = ""
    timeout_ms: float | None = None
    is_cached: bool = False
    may_ignore: bool = False
    may_rename: bool = False
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
        stops = stops_of(self._root, self._at_start)
        elements = zip(self._root.thread_groups, stops, strict=True)
        groups = tuple(replace(self._group(it, scope), stops=stops) for it, stops in elements)
        may_rename = _has_script_with(_RENAME, self._root.walk())
        off = {} if may_rename else never_sent(self._root, groups, self._expander, self._labels)
        return Plan(
            path=self._path,
            groups=groups,
            is_serial=self._root.props.get("TestPlan.serialize_threadgroups") == "true",
            may_ignore=self._has_script_with(_IGNORE),
            may_rename=may_rename,
            never_sent=off,
        )

    def _has_script_with(self, words: re.Pattern[str]) -> bool:
        """Whether a script does so, or one in a file may."""
        every = self._root.walk()
        return any(it.is_script_with(words) or it.is_script_in_a_file for it in every)

    def _group(self, element: Element, scope: _Scope) -> ThreadGroup:
        fields = Fields(element, self._at_start)
        scheduled = fields.text("ThreadGroup.scheduler") == "true"
        inner = self._inside(element, scope)
        name = _label(element, self._at_start)
        return ThreadGroup(
            name=name.text,
            name_pattern=name.pattern,
            kind=element.kind,
            threads=self._threads(element, fields),
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
            unresolved=fields.unresolved,
        )

    def _threads(self, element: Element, fields: Fields) -> int | None:
        """JMeter takes what is no number for 0; a function may give one, as may variables that a
        plugin reads from a file before any thread group."""
        threads = fields.whole(_THREADS)
        shown = self._at_start.expand(element.props.get(_THREADS, "")).shown
        is_known = "${__" not in shown and _THREADS in element.props
        reads_first = any(it.kind == "VariablesFromCSV" for it in self._root.walk())
        return 0 if threads is None and is_known and not reads_first else threads

    def _transactions(self, element: Element, *, leave_rows: bool) -> Iterator[Transaction]:
        """Yield the Transaction Controllers below `element`; leave_rows: whether parent samples do
        there, which inside of another one they do not."""
        for child in element.active:
            is_parent = self._is_parent(child)
            if child.kind == "TransactionController":
                leaves_a_row = leave_rows or not is_parent
                yield Transaction(_label(child, self._labels), is_parent, leaves_a_row)
            yield from self._transactions(child, leave_rows=leave_rows and not is_parent)

    def _samplers(self, element: Element, scope: _Scope) -> Iterator[Sampler]:
        """Yield the samplers below `element`; `scope` is that of its children."""
        for child in element.active:
            inner = self._inside(child, scope)
            if child.is_sampler:
                yield Sampler(
                    label=_label(child, self._labels),
                    kind=child.kind,
                    timers=inner.timers,
                    controllers=scope.controllers,
                    hidden_by=scope.hidden_by,
                    pause_ms=self._own_pause_ms(child),
                    timeout_ms=self._timeout_ms(child, inner),
                    may_be_cached=inner.is_cached and child.kind.startswith(_HTTP),
                    may_be_ignored=inner.may_ignore or _has_script_with(_IGNORE, [child]),
                    may_be_renamed=inner.may_rename or _has_script_with(_RENAME, [child]),
                    follows="true" in (child.props.get(it) for it in _FOLLOW),
                )
            else:
                yield from self._samplers(child, inner)

    def _inside(self, element: Element, scope: _Scope) -> _Scope:
        """Return the scope of the children of `element`."""
        group = element if element.is_thread_group else scope.group
        counters = {**scope.counters, **self._counters(element, group)}
        timers = (it for it in element.active if it.kind.endswith("Timer"))
        is_controller = not (
            element.is_sampler or element.kind == "TestPlan" or element.is_thread_group
        )
        own = [self._controller(element)] if is_controller else []
        applied = [it for it in element.active if not it.is_sampler]
        is_parent = is_controller and self._is_parent(element)
        return _Scope(
            timers=(*scope.timers, *(read_timer(it, self._expander, counters) for it in timers)),
            controllers=(*scope.controllers, *own),
            hidden_by=scope.hidden_by or (own[0].name if is_parent else ""),
            timeout_ms=self._default_timeout_ms(element, scope),
            is_cached=self._is_cached(element, scope),
            may_ignore=scope.may_ignore or _has_script_with(_IGNORE, applied),
            may_rename=scope.may_rename or _has_script_with(_RENAME, applied),
            group=group,
            counters=counters,
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

    def _is_cached(self, element: Element, scope: _Scope) -> bool:
        """Whether an HTTP Cache Manager may answer here, without a sample for it; the innermost one
        wins."""
        mode = self._expander.expand(_CACHED_MODE).value
        for each in element.active:
            if each.kind == CACHE_MANAGER:
                expires = self._expander.expand(each.props.get("useExpires", "false")).value
                return expires != "false" and mode == NO_SAMPLE
        return scope.is_cached

    def _timeout_ms(self, element: Element, scope: _Scope) -> float | None:
        """Return the response timeout of an HTTP request; JMeter takes 0 for none."""
        if not element.kind.startswith(_HTTP):
            return None
        own = element.props.get(_TIMEOUT, "").strip()
        limit = Fields(element, self._expander).number(_TIMEOUT) if own else scope.timeout_ms
        return limit if limit and limit > 0 else None

    def _controller(self, element: Element) -> Controller:
        loops = None
        if element.kind == "LoopController":
            loops = Fields(element, self._expander).whole("LoopController.loops")
        if element.kind == "WhileController":
            text = self._expander.expand(element.props.get("WhileController.condition", "")).value
            is_endless = text is not None and text.strip().lower() in _ENDLESS
            loops = FOR_EVER if is_endless else None
        is_counted = loops is not None and loops > 0 and element.kind == "LoopController"
        share = 1.0 if is_counted else share_of(element, self._expander)
        is_section = element.kind == CRITICAL_SECTION
        lock = Fields(element, self._expander).text(_LOCK) or None if is_section else None
        return Controller(element.kind, _label(element, self._labels).text, loops, share, lock)

    def _own_pause_ms(self, element: Element) -> float | None:
        fields = Fields(element, self._expander)
        if element.kind != FLOW_CONTROL or fields.text("ActionProcessor.action") != _PAUSE:
            return 0.0
        return fields.number("ActionProcessor.duration", absent=0.0)


def _has_script_with(words: re.Pattern[str], elements: Iterable[Element]) -> bool:
    """Whether a script among them has such a word, or is in a file, which may have any."""
    return any(it.is_script_with(words) or it.is_script_in_a_file for it in elements)


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
        length = total((ramp, hold))
        return None if is_limited or not level or length is None else length * unit_s
    cells = [[*map(expander.number, row)] for row in element.rows]
    rows = [[cell for cell in row if cell is not None] for row in cells]
    if not rows or rows != cells:
        return None
    if element.kind == "FreeFormArrivalsThreadGroup" and {*map(len, rows)} == {3}:
        return sum(duration for _, _, duration in rows) * unit_s
    # The property of this name goes before the table.
    has_table = expander.expand("${__P(threads_schedule,)}").value == ""
    if element.kind == "UltimateThreadGroup" and has_table and {*map(len, rows)} == {5}:
        return max((sum(row[1:4]) for row in rows if row[0]), default=None)
    return None


def read_hosts(path: Path, properties: Mapping[str, str]) -> list[str]:
    """The hosts that a plan sends its requests to, as far as they are known before the run; each
    once, in the plan's order. Raises PlanError."""
    root = read_tree(path, properties)
    return list(dict.fromkeys(_hosts(root, expander_of(root, properties))))


def _hosts(root: Element, expander: Expander) -> Iterator[str]:
    for element in root.walk():
        hosts = [expander.expand(element.props.get(name, "")).value for name in _HOSTS]
        path = expander.expand(element.props.get(_PATH, "")).value or ""
        if path.startswith(("http://", "https://")):
            with suppress(ValueError):
                hosts.append(urlsplit(path).hostname)
        yield from (host.strip().strip("[]") for host in hosts if host and host.strip())
