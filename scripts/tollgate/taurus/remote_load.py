"""What the service `load` does in a run whose load is sent by JMeter's remote engines.

    ENGINES=10.0.0.11:1099,10.0.0.12:1099
                          each started by `tollgate engine`; Taurus's `distributed` drives them

Each engine sends its share of the arrivals, as with ENGINE=k/N; a plan of the user's own runs as it
is on each. One JMeter here writes all samples down. They are judged of each engine, as those of
shares that were merged.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError, ToolError
from bzt.engine import Engine

from tollgate.base.urls import Url
from tollgate.engines import machine, probe
from tollgate.engines.divided import RemoteEngine
from tollgate.engines.heartbeat import Heartbeat
from tollgate.engines.part import EnginePart, part_of
from tollgate.plan.data_files import Feed
from tollgate.plan.inline import put_in_place
from tollgate.plan.remote import START_AT, begin_together, for_engines, own_name
from tollgate.record.manifest import ShareRecord
from tollgate.samples.layout import peek_test_start
from tollgate.schedule.share import Share
from tollgate.schedule.share_rows import read_feeds, row_file
from tollgate.targets import pm2, scenarios
from tollgate.taurus.share import refuse_undivided, shared_rows, times_the_plan
from tollgate.taurus.shared import PreparedExecution, is_running

#: Seconds for the first connection to an engine.
REACH_S = 5.0
#: From the start of the JMeter that drives them, engines have so much time to get ready, in s,
#: beside a multiple of what they took to begin with what they were asked before.
READY_S, READY = 5.0, 2.0
#: Of an engine's clock against the controller's, ms: of more the user is warned.
WARNED_MS = 50.0
#: What JMeter sets of itself, which is none of an engine's.
_CONTROLLERS = ("jmeterengine.", "user.classpath")
#: What each engine knows by itself.
_ITS_OWN = {machine.NUMBER, machine.OF}
#: What each engine must have, by the path that it is asked for, as hashes by the engines' numbers.
_Files = dict[str, dict[int, str]]


@dataclass
class RemoteLoad:
    """hosts: as ENGINES names them. rows: as shared_rows reads them. parts: of each execution, by
    its name, those of all engines in the order of their numbers; none of a plan that runs as it is.
    answers: of the engines, in the same order."""

    hosts: tuple[str, ...]
    rows: str
    address: str = ""
    parts: dict[str, list[EnginePart]] = field(default_factory=dict)
    answers: list[probe.Answer] = field(default_factory=list)
    heartbeat: Heartbeat | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any], rows: str, env: Mapping[str, str]) -> RemoteLoad | None:
        """None for a run that has no remote engines. Raises TaurusConfigError."""
        text = env.get("ENGINES", "")
        if not text:
            return None
        for name in ("ENGINE", "START_AT"):
            if env.get(name):
                raise TaurusConfigError(
                    f"load: ENGINES and {name} are set: ENGINES is of the one that drives remote "
                    f"engines, {name} of a share without a controller; leave one of them out"
                )
        refuse_undivided(config, f"ENGINES is {text}")
        return cls(_hosts(text), shared_rows(config, rows))

    def give(
        self, engine: Engine, prepared: Mapping[str, PreparedExecution], log: logging.Logger
    ) -> None:
        """Have the executions run on the engines, once all have shown that they are alike. Raises
        TaurusConfigError, EngineError, ShareError, PlanError."""
        machine.check_keystore()
        files: _Files = {}
        for name, scenario in scenarios.executions_of(engine.config):
            self._refuse_loopback(scenario, name)
            self._give(engine, name, scenario, prepared[name], files)
        for execution in engine.config.get("execution"):
            execution["distributed"] = list(self.hosts)
        self.address = self._reached()
        log.info("Asking %d engines what they have...", len(self.hosts))
        answers = probe.ask(self.hosts, self.address, files, Path(engine.artifacts_dir))
        here = machine.facts_here(Share(1, len(self.hosts)), "", 0)
        self.answers = probe.check(answers, here, files)
        for answer in self.answers:
            facts, ahead_ms, within_ms = answer.facts, answer.offset_ms, answer.uncertainty_ms
            who = f"Engine {facts.number}/{facts.of} at {answer.host}"
            line = "%s: %s, %d cores; clock %+.0f ms (within %.0f ms)"
            log.info(line, who, facts.cpu, facts.cores, ahead_ms, within_ms)
            if abs(ahead_ms) - within_ms > WARNED_MS:
                log.warning("%s: set its clock by NTP", who)

    def _give(
        self, engine: Engine, name: str, scenario: Any, prepared: PreparedExecution, files: _Files
    ) -> None:
        """files: gets what each engine must have."""
        of = len(self.hosts)
        shares = [Share(number, of) for number in range(1, of + 1)]
        path = scenarios.script_of(scenario)
        whole = scenarios.given_properties(engine.config, scenario)
        if self.rows:
            parts = [part_of(path, whole, prepared.forecast, it, self.rows) for it in shares]
            self.parts[name], shared = parts, parts[0].shared
            for number, part in enumerate(parts, start=1):
                for feed, text in part.rows:
                    of_rows = files.setdefault(self._row_path(feed), {})
                    of_rows[number] = probe.hash_of(text.encode(feed.encoding))
        else:
            prepared.notes.append(times_the_plan(of))
            shared = read_feeds(path, whole)
        for feed in shared:
            try:
                hash_ = probe.hash_of(feed.file.read_bytes())
            except OSError as problem:
                raise machine.EngineError(
                    f"{feed.file} of {feed.title} can't be read: {problem.strerror}"
                ) from None
            by_number = dict.fromkeys(range(1, of + 1), hash_)
            files[_remote_path(feed.file, path.absolute().parent)] = by_number

    def _refuse_loopback(self, scenario: Any, name: str) -> None:
        if not scenarios.targets_of(scenario, name) or not Url("http", pm2.host(), 80).is_loopback:
            return
        for host in self.hosts:
            if not Url("http", host.rpartition(":")[0], 80).is_loopback:
                raise TaurusConfigError(
                    f"load: engine {host} can't reach the target of {name!r} on this machine's "
                    "loopback: set HOST to this machine's address, or give the scenario a `url`"
                )

    def _row_path(self, feed: Feed) -> str:
        return f"${{__P({machine.ROWS})}}/{self.rows}/{row_file(feed)}"

    def _reached(self) -> str:
        """The address of this machine that the engines are reached from. Raises EngineError."""
        address = ""
        for host in self.hosts:
            name, _, port = host.rpartition(":")
            try:
                with socket.create_connection((name, int(port)), REACH_S) as connection:
                    address = address or connection.getsockname()[0]
            except OSError as problem:
                raise machine.EngineError(
                    f"engine {host} can't be reached ({problem.strerror or problem}): start it "
                    "there by `tollgate engine`, with this --address and --port"
                ) from None
        return address

    def _own_names(self, execution: str) -> set[str]:
        """The properties of which the engines have values of their own."""
        parts = self.parts.get(execution, ())
        return {name for part in parts for name in part.own} - _ITS_OWN

    def rewrite(self, plan: Path, folder: Path, execution: str) -> None:
        """Have the copy of a plan that is sent read each engine's own values. folder: from which
        JMeter reads includes. Raises TaurusConfigError."""
        put_in_place(plan, folder)
        begin_together(plan)
        if not self.parts.get(execution):
            return
        rows = self.parts[execution][0].rows
        files = {feed.named_by: self._row_path(feed) for feed, _ in rows}
        try:
            text = for_engines(plan.read_text("utf-8"), sorted(self._own_names(execution)), files)
        except ValueError as problem:
            raise TaurusConfigError(
                f"load: the plan reads the property {problem} by nothing but an included file, "
                "which no engine's own value gets into: put it into the plan itself"
            ) from None
        plan.write_text(text, "utf-8")

    def properties(self, whole: Mapping[str, object], execution: str) -> dict[str, str]:
        """What all engines are handed: the properties of the run, and beside them those of each
        engine by names of its own."""
        others = ((name, str(it)) for name, it in whole.items() if name not in _ITS_OWN)
        shared = {name: it for name, it in others if not name.startswith(_CONTROLLERS)}
        own: dict[str, str] = {}
        for number, part in enumerate(self.parts.get(execution, ()), start=1):
            of_part = shared | part.own
            names = self._own_names(execution) & of_part.keys()
            own |= {own_name(name, number): of_part[name] for name in names}
        return shared | own

    def watch(self, engine: Engine) -> None:
        """Raises ToolError, which names each engine that answers no more, and the second."""
        executor = next(filter(is_running, engine.provisioning.executors), None)
        if executor is None:
            return
        self.heartbeat = self.heartbeat or Heartbeat(self.hosts)
        lost = self.heartbeat.lost()
        if not lost:
            return
        jtl = Path(executor.kpi_jtl or "")
        started_ms = peek_test_start(jtl) if jtl.is_file() and jtl.stat().st_size else None
        # JMeter starts before the load begins.
        began = executor.start_time if started_ms is None else started_ms / 1000
        silent = (
            f"engine {number}/{len(self.hosts)} ({answer.host}) has not answered since second "
            f"{max(0.0, lost[answer.host] - began):.0f} of {executor.label}"
            for number, answer in enumerate(self.answers, start=1)
            if answer.host in lost
        )
        raise ToolError(f"{'; '.join(silent)}: it died, or was cut off")

    def engines(self) -> list[RemoteEngine]:
        """As run.json has them, by their numbers."""
        engines = []
        of, rows = len(self.hosts), self.rows
        for place, answer in enumerate(self.answers):
            share = ShareRecord(
                number=place + 1, of=of, rows=rows, data={}, start_at=None, host=answer.host
            )
            parts = {name: parts[place] for name, parts in self.parts.items()}
            engines.append(RemoteEngine(share=share, answer=answer, parts=parts))
        return engines

    def begins_at(self) -> float:
        """When all are to begin, in seconds since the epoch: the JMeter that drives them starts
        now, and starts one after the other."""
        asked_s = max(it.began_s for it in self.answers)
        return time.time() + READY_S + READY * asked_s

    def arguments(self, begins_at: float) -> list[str]:
        """Of the JMeter that drives them."""
        at_ms = (round(1000 * begins_at + it.offset_ms) for it in self.answers)
        starts = (f"-G{own_name(START_AT, number)}={ms}" for number, ms in enumerate(at_ms, 1))
        return [*machine.tls(self.address), *machine.BATCHES, *starts]


def _hosts(text: str) -> tuple[str, ...]:
    found = tuple(each.strip() for each in text.split(","))
    for host in found:
        name, _, port = host.rpartition(":")
        if not name or not port.isdecimal() or not 0 < int(port) < 65_536 or " " in host:
            raise TaurusConfigError(
                f"load: ENGINES is {text!r}: write host:port of each engine, such as 10.0.0.11:1099"
            )
    if len({*found}) < len(found):
        raise TaurusConfigError(f"load: ENGINES is {text!r}, and names one engine twice")
    return found


def _remote_path(file: Path, folder: Path) -> str:
    """A data file as the plan names it: engines read from a folder of their own."""
    path = str(file.relative_to(folder) if file.is_relative_to(folder) else file)
    return path.replace("\\", "\\\\").replace(",", "\\,").replace("$", "\\$")
