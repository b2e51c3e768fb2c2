"""Taurus service `targets`: the PM2 apps of a run, from before the first request to after the last.

A scenario that names an app (`target: fork`) gets that app started, and its host and port as
properties of the plan. One that names several (`target: [balancer, pi-1]`) gets all of them at the
same time, and the host alone: its plan has to know the ports. One that names a `url` is about a
service that runs already: it is asked, and neither started, watched nor stopped. Parameters of the
service, in taurus.yml; a scenario's own go before them:

    probes:             one request per path before any load, each with
    - path: /sum/10     the path asked for and
      answer: '"sum":55'  a regular expression that the body of the answer must contain
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
from bzt import TaurusConfigError, ToolError
from bzt.engine import Service

from tollgate.base.paths import SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.urls import Url
from tollgate.install import tools
from tollgate.targets import leftovers, lock, pm2, probe, scenarios
from tollgate.targets.reloads import Reloads, period_of
from tollgate.targets.runtimes import other_node, runtimes_of
from tollgate.taurus.shared import end_by_stdin, is_running, problems_as, property_of, under_way
from tollgate.workers.background_cpu import BackgroundCpuRecorder
from tollgate.workers.cpu import CpuRecorder
from tollgate.workers.watching_cost import WatchingCost
from tollgate.workers.worker_cpu import NAME as WORKER_CPU
from tollgate.workers.worker_cpu import WorkerCpuRecorder

WATCHER = Path(pm2.__file__).with_name("watch-workers.js")


class Targets(Service):
    """Starts, checks, watches and stops the targets."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[pm2.App] = []
        self.probes: dict[str, scenarios.Probes] = {}
        self.elsewhere: list[tuple[str, Url, scenarios.Probes]] = []
        self.apps: list[pm2.App] = []  # those that have been started
        self.daemon: int | None = None
        self.lock: IO[str] | None = None
        self.watcher: subprocess.Popen[bytes] | None = None
        self.watching: WatchingCost | None = None
        self.remembered: tuple[list[int], list[str]] = ([], [])
        self.reloads: Reloads | None = None
        self.load_began: dict[object, float] = {}

    def prepare(self) -> None:
        """Know what to start and to ask, and give the plans where that is. Raises TaurusConfigError
        or ToolError, one line, for what can't be run."""
        self.hold()
        with problems_as(ToolError, "targets", pm2.Pm2Error):
            period = period_of(self.settings, os.environ)
            self.reloads = Reloads(period, self.log) if period else None
            self._choose()

    def hold(self) -> None:
        """Keep other runs out, and end what a killed one left; a service before this one may have
        asked for it already. Raises ToolError."""
        if self.lock:
            return
        absent = list(tools.missing())
        if absent:
            raise ToolError(f"targets: {'; '.join(absent)}")
        with problems_as(ToolError, "targets", lock.AlreadyRunning, pm2.Pm2Error):
            self.lock = lock.take_lock()
            for line in leftovers.clean_up():
                self.log.warning("targets: %s", line)

    def _choose(self) -> None:
        config = self.engine.config
        self.wanted = scenarios.wanted_apps(config, has_timetable=self.reloads is not None)
        if self.reloads and not any(app.exec_mode == "cluster" for app in self.wanted):
            raise TaurusConfigError(
                "targets: reload-every is set, and no execution has a target in cluster mode: only "
                "there can PM2 reload an app without a gap"
            )
        self.elsewhere = [*scenarios.wanted_remotes(config)]
        self.probes = scenarios.wanted_probes(config, self.parameters.get("probes", None))

    def start(self) -> None:
        """Leave the targets running and proven, once every module is prepared: what is refused is
        refused before. Raises ToolError, one line that says why not."""
        with problems_as(ToolError, "targets", pm2.Pm2Error, probe.ProbeError):
            probe.ask_elsewhere(self.elsewhere, self.log)
            if self.wanted:
                self.apps = self.wanted
                *names, last = [app.name for app in self.apps]
                listed = f"{', '.join(names)} and {last}" if names else last
                self.log.info("Starting %s under PM2...", listed)
                self._start(pm2.COMPOSED)
                self._watch()

    def _start(self, ecosystem: Path) -> None:
        """Have the apps answer. Raises Pm2Error and ProbeError."""
        for app in self.apps:
            for port in app.ports:
                probe.port_is_free(pm2.host(), port, app.name)
        pm2.start([app.name for app in self.apps], ecosystem)
        self.daemon = pm2.daemon_pid()
        self._remember()
        workers = pm2.workers()
        proven = probe.prove_apps(self.apps, workers, self.probes, self.log)
        runtimes = {app.name: runtimes_of(app, workers) for app in self.apps}
        recorded = under_way(self.engine).manifest
        for target in (target for planned in recorded.executions for target in planned.targets):
            target["runtimes"] = runtimes.get(target["name"], [])
        usual = recorded.environment["versions"].get("node", "")
        for name, scenario in scenarios.executions_of(self.engine.config):
            names = scenarios.targets_of(scenario, name)
            lines = [proven.lines.get(it) for it in names]
            lines += [other_node(it, runtimes.get(it, ()), usual) for it in names]
            under_way(self.engine).executions[name].notes.extend(filter(None, lines))
        self._send_to(proven.hosts)

    def _send_to(self, hosts: Mapping[str, str]) -> None:
        """Have plans ask apps where these listen, by their names. Raises ProbeError."""
        for executor in self.engine.provisioning.executors if hosts else ():
            names = scenarios.targets_of(executor.get_scenario(), executor.label)
            name = next((name for name in names if name in hosts), None)
            if name is None:
                continue
            app = self._app_of(executor)
            if app is None:
                raise probe.ProbeError(
                    f"app {name!r} listens at {hosts[name]} alone, and {executor.label!r} asks "
                    f"{pm2.host()}: have it listen at {pm2.host()}, which HOST says"
                )
            numbered = range(len(app.ports)) if len(app.ports) > 1 else ()
            places = {"host": hosts[name], **{f"host_{it}": hosts[name] for it in numbered}}
            executor.set_properties(places)
            for planned in under_way(self.engine).manifest.executions:
                if planned.name == executor.label:
                    planned.properties.update(places)

    @contextmanager
    def profiled(self, names: Sequence[str], folder: Path) -> Iterator[None]:
        """Apps of a run that is over, started once more, each with a profiler that writes into the
        folder of its name; what they print goes beside these. Raises Pm2Error and ProbeError."""
        declared = pm2.declared_apps()
        self.apps = [declared[name] for name in names]
        os.environ[pm2.PROFILE] = str(folder)
        try:
            self._start(pm2.PROFILED)
            yield
        finally:
            with defer_signals():
                del os.environ[pm2.PROFILE]
                self._stop(folder)

    def _watch(self) -> None:
        output = Path(self.engine.artifacts_dir) / "workers.jsonl"
        with output.open("w") as out, (output.with_name("workers.err")).open("w") as err:
            self.watcher = subprocess.Popen(
                ["node", str(WATCHER)],
                cwd=SUITE,
                env=pm2.reading_environment(),
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
            )
        run = under_way(self.engine)
        run.watching = self.watching = WatchingCost(self.watcher.pid, pm2.daemon_pid())
        try:  # not with services by URL, which may be others or not
            if self.daemon is None:
                raise LookupError("no PM2 daemon runs")
            run.background = BackgroundCpuRecorder((os.getpid(), self.daemon), self.log)
            path = output.with_name(WORKER_CPU)
            run.worker_cpu = WorkerCpuRecorder(path, self.daemon, self.log)
        except (psutil.Error, LookupError) as problem:
            self.log.warning(
                "targets: the CPU time of workers and others is not known: %s", problem
            )
        for recorder in self._recorders():
            recorder.start()

    def _recorders(self) -> Iterator[CpuRecorder]:
        known = under_way(self.engine)
        yield from filter(None, (known.background, known.worker_cpu))

    def startup(self) -> None:
        """Draw up the timetables of reloads, once the executions' lengths are known."""
        if self.reloads:  # as they come, for who judges the samples so far
            under_way(self.engine).manifest.reloads = self.reloads.records
        for executor in self.engine.provisioning.executors:
            app = self._app_of(executor)
            if self.reloads and app:
                given, where = executor.properties, f"targets: execution {executor.label!r}"
                warmup = property_of(given, "warmup", 0, where)
                measured = property_of(given, "measured", 0, where) or math.inf
                self.reloads.expect(executor.label, app, warmup, warmup + measured)

    def check(self) -> bool:
        """Keep the list of what would outlive this process up to date, and the timetable. Raises
        ToolError once PM2's daemon has gone, and with it what was to be measured."""
        self._remember()
        self._daemon_lives()
        if self.watching:
            self.watching.read()
        if self.reloads:
            self._reload()
        return False

    def _daemon_lives(self) -> None:
        if self.apps and pm2.daemon_pid() != self.daemon:
            raise ToolError(
                f"targets: PM2's daemon (pid {self.daemon}) ended in the middle of the run, killed "
                f"or broken down, and the targets with it: see {pm2.PM2_HOME / 'pm2.log'}"
            )

    def _reload(self) -> None:
        for executor in self.engine.provisioning.executors:
            app, jtl = self._app_of(executor), Path(getattr(executor, "kpi_jtl", None) or "")
            # JMeter makes the file as the load begins, and writes to it later.
            if app and is_running(executor) and jtl.is_file():
                began = self.load_began.setdefault(executor, time.time())
                self.reloads.tick(executor.label, app, time.time() - began)

    def _app_of(self, executor: object) -> pm2.App | None:
        names = scenarios.targets_of(executor.get_scenario(), executor.label)
        return next((app for app in self.apps if [app.name] == names), None)

    def _remember(self) -> None:
        executors = getattr(self.engine.provisioning, "executors", [])
        pids = [each.process.pid for each in executors if is_running(each)]
        # Taurus keeps the plan that it changed beside the original until the run has ended.
        files = [plan for plan in (getattr(each, "modified_jmx", "") for each in executors) if plan]
        if (pids, files) != self.remembered:
            lock.remember(pids, files)
            self.remembered = (pids, files)

    def shutdown(self) -> None:
        """Stop the targets as soon as the load is over."""
        try:
            self._daemon_lives()
        finally:
            self._stop()

    def post_process(self) -> None:
        """Stop the targets on the ways out that have no shutdown, and let the next run in."""
        self._stop()
        if self.lock:
            lock.forget()
            self.lock.close()
            self.lock = None

    def _stop(self, logs: Path | None = None) -> None:
        for recorder in self._recorders():
            recorder.stop()
        if self.reloads:
            self.reloads.finish()  # a daemon that is killed in the middle of one breaks down
        if self.watcher:
            self.watching.read()
            end_by_stdin(self.watcher)
            self.watcher = None
        if self.apps:
            started = time.monotonic()
            for line in leftovers.end_pm2():
                self.log.warning("targets: %s", line)
            # What the targets printed belongs to the run, whose folder may be on another disk.
            for log in sorted((pm2.PM2_HOME / "logs").glob("*.log")):
                if log.stat().st_size:
                    folder = logs or Path(self.engine.artifacts_dir)
                    shutil.move(log, folder / f"pm2-{log.name}")
            self.log.debug("Stopping the targets took %.1f s", time.monotonic() - started)
            self.apps = []
