"""What the service `load` does in a run whose load is sent by JMeter's remote engines.

    ENGINES=10.0.0.11:1099,10.0.0.12:1099
                          each started there by scripts/engine; Taurus's `distributed` drives them

Each engine sends its share of the arrivals, as with ENGINE=k/N; a plan of the user's own runs as it
is on each. One JMeter here writes all samples down. They are judged of each engine, as those of
shares that were merged.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError, ToolError
from bzt.engine import Engine

from tollgate.base.urls import Url
from tollgate.plan.inline import put_in_place
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import expander_of
from tollgate.plan.remote import START_AT, begin_together, for_engines, own_name
from tollgate.record import divided
from tollgate.samples.layout import peek_test_start
from tollgate.schedule.share import Share
from tollgate.schedule.share_rows import Feed, feeds_of
from tollgate.targets import pm2
from tollgate.targets.scenarios import given_properties, name_of, scenario_of, targets_of
from tollgate.taurus import engine_host, engine_probe
from tollgate.taurus.heartbeat import Heartbeat
from tollgate.taurus.prepared import PreparedExecution
from tollgate.taurus.share import (
    SharePlan,
    is_own_plan,
    part_of,
    refuse_undivided,
    rows_setting,
    script_of,
    times_the_plan,
)

#: Seconds for the first connection to an engine.
REACH_S = 5.0
#: From the start of the JMeter that drives them, engines have so much time to get ready, in s,
#: beside a multiple of what they took to begin with what they were asked before.
READY_S, READY = 5.0, 2.0
#: Of an engine's clock against the controller's, ms: more is told.
TOLD_MS = 50.0
#: What JMeter sets of itself, which is none of an engine's.
_CONTROLLERS = ("jmeterengine.", "user.classpath")


@dataclass
class RemoteLoad:
    """hosts: as ENGINES names them. rows: copy or split. parts: of each execution, by its name,
    those of all engines in the order of their numbers; none of a plan that runs as it is.
    by_number: the host of each engine. answers: what each host told."""

    hosts: tuple[str, ...]
    rows: str
    runs_whole: bool
    address: str = ""
    parts: dict[str, list[SharePlan]] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    answers: dict[str, engine_probe.Answer] = field(default_factory=dict)
    heartbeat: Heartbeat | None = None

    @classmethod
    def of(
        cls, config: Mapping[str, Any], settings: Mapping[str, Any], env: Mapping[str, str]
    ) -> RemoteLoad | None:
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
        return cls(_hosts(text), rows_setting(settings), is_own_plan(config))

    def give(
        self,
        engine: Engine,
        executions: Sequence[Mapping],
        prepared: Mapping[str, PreparedExecution],
        log: logging.Logger,
    ) -> None:
        """Have the executions run on the engines, once all have shown that they are alike. Raises
        TaurusConfigError, EngineError, ShareError, PlanError."""
        engine_host.check_keystore()
        files: dict[str, dict[int, str]] = {}
        for execution in executions:
            scenario = scenario_of(engine.config, execution)
            self._refuse_loopback(scenario, name_of(execution))
            execution["distributed"] = list(self.hosts)
            self._give(engine, execution, prepared[name_of(execution)], files)
        self.address = self._reached()
        self._ask(files, Path(engine.artifacts_dir), log)

    def _give(
        self, engine: Engine, execution: Mapping, prepared: PreparedExecution, files: dict
    ) -> None:
        scenario, name = scenario_of(engine.config, execution), name_of(execution)
        numbers = range(1, len(self.hosts) + 1)
        if self.runs_whole:
            prepared.notes.append(times_the_plan(len(self.hosts)))
            given, path = given_properties(engine.config, scenario), script_of(scenario)
            root, folder = read_tree(path, given), path.absolute().parent
            shared = list(feeds_of(root, folder, expander_of(root, given)))
        else:
            shares = [Share(number, len(self.hosts)) for number in numbers]
            parts = [part_of(engine, scenario, prepared, share, self.rows) for share in shares]
            self.parts[name] = parts
            folder = script_of(scenario).absolute().parent
            shared = parts[0].shared
            for number, part in zip(numbers, parts, strict=True):
                for feed, text in part.rows:
                    content = text.encode(feed.encoding)
                    files.setdefault(self._row_path(feed), {})[number] = engine_probe.hash_of(
                        content
                    )
        for feed in shared:
            found = engine_probe.hash_of(_content(feed))
            files[_remote_path(feed, folder)] = dict.fromkeys(numbers, found)

    def _refuse_loopback(self, scenario: Any, name: str) -> None:
        away = [it for it in self.hosts if not Url("http", it.rpartition(":")[0], 80).is_loopback]
        if away and targets_of(scenario, name) and Url("http", pm2.host(), 80).is_loopback:
            raise TaurusConfigError(
                f"load: the target of {name!r} listens on this machine's loopback, which engine "
                f"{away[0]} does not reach: set HOST to the address of this machine at which it is "
                "to listen, or give the scenario the `url` of a service"
            )

    def _row_path(self, feed: Feed) -> str:
        return f"${{__P({engine_host.ROWS})}}/{engine_host.row_file(feed.property, self.rows)}"

    def _reached(self) -> str:
        """The address of this machine that the engines are reached from. Raises EngineError."""
        found = ""
        for host in self.hosts:
            name, _, port = host.rpartition(":")
            try:
                with socket.create_connection((name, int(port)), REACH_S) as connection:
                    found = found or connection.getsockname()[0]
            except OSError as problem:
                raise engine_host.EngineError(
                    f"engine {host} can't be reached ({problem.strerror or problem}): start it "
                    "there by scripts/engine, with this --address and --port"
                ) from None
        return found

    def _ask(self, files: Mapping[str, dict[int, str]], folder: Path, log: logging.Logger) -> None:
        log.info("Asking %d engines what they have...", len(self.hosts))
        self.answers = engine_probe.ask(self.hosts, self.address, [*files], folder)
        here = engine_host.facts_here(Share(1, len(self.hosts)), "", 0)
        self.by_number = engine_probe.check(self.answers, here, [*files], [*files.values()])
        for number, host in sorted(self.by_number.items()):
            facts, answer = self.answers[host].facts, self.answers[host]
            log.info(
                "Engine %d/%d at %s: %s, %d cores; clock %+.0f ms (within %.0f ms)",
                *(number, len(self.hosts), host, facts.cpu, facts.cores),
                *(answer.offset_ms, answer.uncertainty_ms),
            )
            if abs(answer.offset_ms) - answer.uncertainty_ms > TOLD_MS:
                log.warning(
                    "Engine %d/%d at %s: set its clock by NTP", number, len(self.hosts), host
                )

    def rewrite(self, plan: Path, folder: Path, name: str) -> None:
        """Have the copy of a plan that is sent read each engine's own values. folder: from which
        JMeter reads includes. Raises TaurusConfigError."""
        put_in_place(plan, folder)
        begin_together(plan)
        parts = self.parts.get(name)
        if not parts:
            return
        files = {feed.property: self._row_path(feed) for feed, _ in parts[0].rows}
        names = {name for part in parts for name in part.own} - {engine_host.NUMBER, engine_host.OF}
        try:
            text = for_engines(plan.read_text("utf-8"), sorted(names), files)
        except ValueError as problem:
            raise TaurusConfigError(
                f"load: the plan reads the property {problem} by nothing but an included file, "
                "which no engine's own value gets into: put it into the plan itself"
            ) from None
        plan.write_text(text, "utf-8")

    def properties(self, given: Mapping[str, object], execution: str) -> dict[str, str]:
        """What all engines are handed: the properties of the run, and beside them those of each
        engine by names of its own."""
        found = {
            name: str(value)
            for name, value in given.items()
            if not name.startswith(_CONTROLLERS)
            and name not in (engine_host.NUMBER, engine_host.OF)
        }
        parts = self.parts.get(execution, ())
        names = {name for part in parts for name in part.own}
        for number, part in enumerate(parts, start=1):
            for name in names - {engine_host.NUMBER, engine_host.OF}:
                value = part.own.get(name, found.get(name))
                if value is not None:
                    found[own_name(name, number)] = value
        return found

    def watch(self, engine: Engine) -> None:
        """Raises ToolError, which names each engine that answers no more, and the second."""
        sending = [it for it in engine.provisioning.executors if _sends(it)]
        if not sending:
            return
        if self.heartbeat is None:
            self.heartbeat = Heartbeat(self.hosts)
        lost = self.heartbeat.lost()
        if not lost:
            return
        executor = sending[0]
        began = _began(executor)
        told = (
            f"engine {number}/{len(self.hosts)} ({host}) has not answered since second "
            f"{max(0.0, lost[host] - began):.0f} of {executor.label}"
            for number, host in sorted(self.by_number.items())
            if host in lost
        )
        raise ToolError(f"{'; '.join(told)}: it died, or was cut off")

    def watch_no_more(self) -> None:
        if self.heartbeat:
            self.heartbeat.end()
            self.heartbeat = None

    def engines(self) -> list[divided.RemoteEngine]:
        """As run.json tells of them, by their numbers."""
        return [self._engine(number, host) for number, host in sorted(self.by_number.items())]

    def _engine(self, number: int, host: str) -> divided.RemoteEngine:
        answer = self.answers[host]
        parts = {
            name: divided.EnginePart(
                of_all[number - 1].own,
                {it: of_all[number - 1].given.get(it) for it in of_all[number - 1].own},
                of_all[number - 1].forecast,
            )
            for name, of_all in self.parts.items()
        }
        return divided.RemoteEngine(
            number=number,
            of=len(self.hosts),
            host=host,
            rows="" if self.runs_whole else self.rows,
            environment={"cpu": answer.facts.cpu, "cores": answer.facts.cores},
            parts=parts,
            offset_ms=answer.offset_ms,
            uncertainty_ms=answer.uncertainty_ms,
        )

    def begins_at(self) -> float:
        """When all are to begin, in seconds since the epoch: the JMeter that drives them starts
        now, and starts one after the other."""
        asked_s = max(it.began_s for it in self.answers.values())
        return time.time() + READY_S + READY * asked_s

    def arguments(self, begins_at: float) -> list[str]:
        """Of the JMeter that drives them."""
        starts = (
            (number, round(1000 * begins_at + self.answers[host].offset_ms))
            for number, host in self.by_number.items()
        )
        return [
            *engine_host.tls(self.address),
            *engine_host.BATCHES,
            *(f"-G{own_name(START_AT, number)}={moment}" for number, moment in starts),
        ]


def _sends(executor: Any) -> bool:
    return bool(executor.process) and executor.process.poll() is None


def _began(executor: Any) -> float:
    """When the load began, in seconds since the epoch: JMeter starts before it."""
    jtl = Path(executor.kpi_jtl or "")
    started_ms = peek_test_start(jtl) if jtl.is_file() and jtl.stat().st_size else None
    return executor.start_time if started_ms is None else started_ms / 1000


def _hosts(text: str) -> tuple[str, ...]:
    found = tuple(each.strip() for each in text.split(","))
    for host in found:
        name, _, port = host.rpartition(":")
        if not name or not port.isdecimal() or not 0 < int(port) < 65_536 or " " in host:
            raise TaurusConfigError(
                f"load: ENGINES is {text!r}: write the host and port of each engine, such as "
                "10.0.0.11:1099,10.0.0.12:1099"
            )
    if len({*found}) < len(found):
        raise TaurusConfigError(f"load: ENGINES is {text!r}, and names one engine twice")
    return found


def _content(feed: Feed) -> bytes:
    try:
        return feed.file.read_bytes()
    except OSError as problem:
        raise engine_host.EngineError(
            f"{feed.file} of {feed.name} can't be read: {problem.strerror}"
        ) from None


def _remote_path(feed: Feed, folder: Path) -> str:
    """As the plan names it: engines read from a folder of their own."""
    try:
        path = str(feed.file.relative_to(folder))
    except ValueError:
        path = str(feed.file)
    return path.replace("\\", "\\\\").replace(",", "\\,").replace("$", "\\$")
