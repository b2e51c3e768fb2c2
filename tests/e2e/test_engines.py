"""Remote engines, each on a host of its own: a network namespace with an address."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

import support
from e2e.bzt_run import LENIENT, Run, mostly_right, only
from support.hosts import hosts
from support.project_copy import copy_project
from tollgate.engines import machine
from tollgate.plan.remote import START_AT
from tollgate.record import manifest

pytestmark = [pytest.mark.needs("network namespaces"), pytest.mark.engines]
OF, PORT = 4, 1099
#: JVMs that have not sent anything yet begin at once: on few cores that takes them seconds.
WARMUP, MEASURED, RATE, RARE_RATE = 15, 20, 12.5, 0.04
ROWS = 2000
#: So few samples say nothing certain of the last ones: they are told, and decide nothing.
PERCENTILES = [f"p{p} of item>1h, continue as non-failed" for p in (1, 50, 90, 95, 99, 99.9)]
OF_WORKERS = ["restarts of worker>0", "cpu-per-request of worker>1s"]
CRITERIA = [*mostly_right("item"), *OF_WORKERS, *PERCENTILES]
PLAN = Path(__file__).with_name("shared.jmx")
KEY = machine.KEYSTORE.relative_to(support.ROOT)


class Remote:
    """An engine on host `number`, in a checkout of its own."""

    def __init__(self, folder, network, number, key):
        self.root = copy_project(folder / f"engine-{number}")
        self.number, self.network, self.key = number, network, key
        self.process, self.state = None, ""
        write_rows(self.root)

    @property
    def host(self):
        return f"{self.network.address(self.number)}:{PORT}"

    @property
    def log(self):
        folder = machine.FOLDER.relative_to(support.ROOT) / f"{self.number}-of-{OF}"
        return self.root / folder / "jmeter.log"

    def become(self, state=""):
        """Wait for work: as it should be, or with another `plan`, `clock` or `key`. One that is
        free and in this state goes on."""
        is_free = self.lives and _last(self.log) in (READY, OVER)
        if is_free and state == self.state:
            return
        self.end(signal.SIGKILL)
        self.state = state
        plan, key = self.root / "plans" / "check.jmx", self.root / KEY
        shutil.copy2(support.ROOT / "plans" / "check.jmx", plan)
        shutil.copy2(self.key, key)
        if state == "plan":
            plan.write_text(f"{plan.read_text()}\n")
        elif state == "key":
            key.unlink()
            machine.make_keystore(key)
        self._start(_ahead("+2s") if state == "clock" else {})

    def _start(self, env):
        said = self.root / "engine.out"
        self.log.unlink(missing_ok=True)
        self.process = support.start(
            *(*self.network.inside(self.number), self.root / "scripts/engine"),
            *(f"{self.number}/{OF}", "--port", PORT, "--plans", self.root / "theirs"),
            *("--address", self.network.address(self.number)),
            output=said,
            env=support.environment(**env),
        )
        what = f"engine {self.number} waits for work"
        support.wait_while_it_lives(self.process, said, lambda: _last(self.log) == READY, what)

    @property
    def lives(self):
        return self.process is not None and self.process.poll() is None

    def end(self, how=signal.SIGTERM):
        if self.lives:
            self.process.send_signal(how)
            self.process.wait(support.PATIENCE)


def _ahead(by):
    """What shifts the clock of a process, as the command `faketime` sets it: that one would stand
    between a test and its engine. Waits are of another clock, and none would last otherwise."""
    shown = support.run("faketime", "-f", by, "env").stdout
    found = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    kept = {name: found[name] for name in ("LD_PRELOAD", "FAKETIME")}
    return kept | {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0"}


#: What an engine's log says last of a test, or of its start.
READY, BEGUN, OVER = "Bound to", "Running the test!", "Test has ended"


def _last(log):
    text = log.read_text() if log.is_file() else ""
    found = re.findall("|".join(map(re.escape, (READY, BEGUN, OVER))), text)
    return found[-1] if found else ""


def write_rows(root):
    """The plan of both sides, and its data file."""
    (root / "theirs").mkdir(parents=True)
    (root / "theirs" / PLAN.name).write_bytes(PLAN.read_bytes())
    (root / "theirs" / "items.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))


class Site:
    """The controller's checkout on host 0, and the engines."""

    def __init__(self, folder, network):
        self.folder, self.network = folder, network
        self.root = copy_project(folder / "controller")
        write_rows(self.root)
        made = support.run(self.root / "scripts" / "engine", "keystore")
        assert made.returncode == 0, made.stdout + made.stderr
        numbers = range(1, OF + 1)
        self.engines = [Remote(folder, network, k, self.root / KEY) for k in numbers]
        self._names = itertools.count()

    def become(self, *states):
        """Of each engine, in order."""
        for each, state in zip(self.engines, states, strict=True):
            each.become(state)

    def run(self):
        """A service of this project's, that listens on the controller's address."""
        modules = {"verdict": {**LENIENT, "latency": "service"}, "load": {"rows": "split"}}
        config = only("shop", CRITERIA, modules, warmup=WARMUP, measured=MEASURED)
        plan = str(self.root / "theirs" / PLAN.name)
        config["scenarios"] = {"shop": {"script": plan, "target": "fork"}}
        env = {"HOST": self.network.address(0), "ENGINES": ",".join(it.host for it in self.engines)}
        folder = self.folder / f"run-{next(self._names)}"
        return Run(folder, config=config, root=self.root, inside=self.network.inside(0), **env)

    def under_load(self):
        """A run whose engines all send by now."""
        run = self.run()
        support.wait_while_it_lives(
            run.process, run.log, lambda: all(by_engine(run.folder, self).values()), "all send"
        )
        return run

    def refused(self):
        """The line by which a run is refused before it sends anything."""
        done = self.run().end()
        assert done.code == 1
        assert not (done.folder / "kpi.jtl").exists()
        return done.error()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with hosts(OF) as network:
        made = Site(tmp_path_factory.mktemp("engines"), network)
        try:
            yield made
        finally:
            for each in made.engines:
                each.end()


@pytest.fixture(scope="module")
def finished(site):
    """A run of all engines; a second one where engines that had sent nothing before were late."""
    site.become("", "", "", "")
    ended = site.run().end()
    return ended if ended.code == 0 else site.run().end()


def by_engine(folder, site):
    """The samples that have been written down by now."""
    path = folder / "kpi.jtl"
    lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
    found = {each.host: [] for each in site.engines}
    for row in csv.DictReader(it for it in lines if it.endswith("\n")):
        found[row["threadName"].partition("-")[0]].append(row)
    return found


def measured(rows):
    """The requests of `item` after the warm-up; all of an engine's count from its own start."""
    return [
        row
        for row in rows
        if row["label"] == "item"
        and WARMUP <= (int(row["timeStamp"]) - int(row["TESTSTART.MS"])) / 1000 < WARMUP + MEASURED
    ]


def test_the_verdict_is_that_of_the_whole_load(finished):
    assert finished.code == 0, finished.output
    engines = finished.execution["engines"]
    whole = {"item": RATE, "rare": RARE_RATE}
    for label, rate in whole.items():
        schedules = [it for each in engines for it in each["schedules"] if label in it["labels"]]
        assert len(schedules) == OF
        assert sum(it["intended"] for it in schedules) == math.ceil(rate * (WARMUP + MEASURED))
        assert all(0 <= it["sent"] <= it["intended"] for it in schedules)
    assert json.loads(finished.judged_again("--json").stdout) == finished.verdict


def test_counts_and_percentiles_are_those_of_all_samples_together(finished, site):
    execution, rows = finished.execution, by_engine(finished.folder, site)
    parts = [measured(rows[it.host]) for it in site.engines]
    for engine, part in zip(execution["engines"], parts, strict=True):
        assert engine["requests"] >= len(part) > 0
    every = [int(row["elapsed"]) for part in parts for row in part]
    found = {it["subject"]: it for it in execution["criteria"] if it["unit"] == "ms"}
    assert found.pop("cpu-per-request")["observed"] > 0
    assert len(found) == len(PERCENTILES)
    for subject, criterion in found.items():
        assert criterion["samples"] == len(every)
        assert criterion["observed"] == np.percentile(every, float(subject.removeprefix("p")))


def test_all_engines_wait_for_the_moment_at_which_they_begin(finished, site):
    rows = by_engine(finished.folder, site)
    for each in site.engines:
        agreed = re.findall(rf"engine-{each.number}\.{START_AT}=(\d+)", each.log.read_text())
        (began,) = {int(row["TESTSTART.MS"]) for row in rows[each.host]}
        assert began >= int(agreed[-1])


def test_each_engine_is_told_with_its_host_and_its_clock(finished, site):
    record = manifest.read(finished.folder)
    assert [it["host"] for it in record.engines] == [it.host for it in site.engines]
    # They are of one machine, and so are their clocks.
    assert all(abs(it["offset_ms"]) <= it["uncertainty_ms"] + 5 for it in record.engines)
    own = [manifest.read(finished.folder / it["folder"]).share for it in record.engines]
    assert [(it["number"], it["of"]) for it in own] == [(k, OF) for k in range(1, OF + 1)]


def test_no_row_is_sent_by_two_engines(finished, site):
    sent = set()
    for rows in by_engine(finished.folder, site).values():
        own = {row["URL"].rpartition("/")[2] for row in rows if row["label"] == "item"}
        assert own
        assert not own & sent
        sent |= own


def test_engines_that_die_or_are_cut_off_are_named_with_the_second(site):
    site.become("", "", "", "")
    run = site.under_load()
    _, dead, away, _ = site.engines
    dead.end(signal.SIGKILL)
    site.network.cut_off(away.number)
    try:
        done = run.end()
    finally:
        site.network.join(away.number)
        away.end(signal.SIGKILL)
    assert done.outcome == (4, "INVALID")
    for each in (dead, away):
        named = rf"engine {each.number}/{OF} \({each.host}\).*? second (\d+)"
        assert int(re.search(named, done.reasons())[1]) < WARMUP + MEASURED
    assert done.error().count("has not answered") == 2


def test_an_engine_with_another_key_is_refused(site):
    site.become("", "plan", "key", "")  # the plan is that of the next test
    line = site.refused()
    assert f"engine {site.engines[2].host}: " in line
    assert machine.KEYSTORE.name in line


@pytest.mark.needs("faketime")
def test_engines_with_another_plan_or_another_clock_are_refused(site):
    site.become("", "plan", "", "clock")
    line = site.refused()
    _, plan, _, clock = (f"engine {it.host}: " for it in site.engines)
    assert f"{plan}its plans/check.jmx" in line
    assert f"{clock}its clock is 2.0 s ahead" in line
    assert line.count("engine 10.") == 2
