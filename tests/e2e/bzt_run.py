"""Runs the real bzt from the project's environment and shows what a person would see of it."""

from __future__ import annotations

import contextlib
import csv
import json
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

import support
from support import ci_files
from support.project_copy import own_project
from tollgate.targets.pm2 import declared_apps

#: All that ecosystem.config.js has, so that no run is in the way of another clone's.
APPS = tuple(declared_apps())
#: Seconds after which a run fails its test that should have ended long ago, on a slow machine too:
#: a search for capacity takes 220 and its starts.
PATIENCE = 600
#: Seconds in which JMeter warms up also on a busy machine, where a run must be able to pass.
WARMUP_S = 5
#: Runs of this process's tests whose end nobody has seen yet.
UNDER_WAY: list[Run] = []


def rows_of(jtl):
    """The samples of a JTL, each a dict."""
    with jtl.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def newest_look(folder, app):
    """What PM2 said of the workers of an app that are online when the watcher looked last."""
    path = folder / "workers.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    looks = [json.loads(line) for line in lines if line.endswith("\n")]
    looks = [it for it in looks if it["app"] == app and it.get("status") == "online"]
    return [it for it in looks if it["time"] == looks[-1]["time"]]


@dataclass
class Finished:
    """A run that has ended: its exit code, what it printed, its folder."""

    code: int
    output: str
    folder: Path

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    @property
    def verdict(self):
        return self.json("verdict.json")

    @property
    def execution(self):
        """What the verdict says of the only execution."""
        (found,) = self.verdict["executions"]
        return found

    @property
    def outcome(self):
        return self.code, self.verdict["verdict"]

    @property
    def page(self):
        return (self.folder / "index.html").read_text()

    @property
    def samples(self):
        return rows_of(self.folder / "kpi.jtl")

    @property
    def all_answered_right(self):
        """Whether no sample of any execution has failed."""
        jtls = self.folder.glob("kpi*.jtl")
        return all(row["success"] == "true" for jtl in jtls for row in rows_of(jtl))

    @property
    def blamed(self):
        """Whose fault it is that the run did not pass."""
        return {reason["fault"] for reason in self.verdict["reasons"]}

    def reasons(self):
        """All reasons for the verdict, one a line."""
        return "\n".join(f"{it['verdict']} {it['text']}" for it in self.verdict["reasons"])

    def error(self):
        """The one line that says what went wrong."""
        lines = [line for line in self.output.splitlines() if " ERROR: " in line]
        assert len(lines) == 1, f"one line of error wanted:\n{self.output}"
        assert "Traceback" not in self.output
        return lines[0]

    def assert_only_the_generator_is_to_blame(self):
        """A run this short may not be able to tell, and a busy machine may send late."""
        bad = [it for it in self.verdict["reasons"] if it["verdict"] in ("FAIL", "INVALID")]
        assert {it["fault"] for it in bad} <= {"generator"}, self.output

    def judged_again(self, *options):
        return support.tollgate("judge", self.folder, *options)


class Run:
    """A `bzt taurus.yml` under way, on ports of its own, with its folder out of the way."""

    def __init__(
        self,
        tmp_path,
        *options,
        config=None,
        alias="",
        root=None,
        dashboards=False,
        root_of_runs=None,
        job="",
        inside=(),
        **env,
    ):
        """config: laid over taurus.yml, as a second file on bzt's command line. alias: the kind, or
        a service and a kind. root: a copy of the project, whose modules run as well; the own one by
        default. dashboards: whether JMeter draws its own, which takes it seconds an execution.
        root_of_runs: where the run's folder is to be, in place of tmp_path. job: the one of
        GitHub's workflow whose inputs and environment stand for bzt and the kind; what it writes
        for the page of the job is summary.md in tmp_path. inside: what begins the command of one on
        another host."""
        tmp_path.mkdir(parents=True, exist_ok=True)
        self.folder = (root_of_runs or tmp_path) / "run"
        self.root = root or own_project()
        command, own = [self.root / ".venv" / "bin" / "bzt", "taurus.yml"], {}
        if job:
            command = [self.root / ci_files.RUN.relative_to(support.ROOT)]
            own = ci_files.github_commands()[job].env | {"RETRIES": "0"}
            own |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
        if config:
            (tmp_path / "over.json").write_text(json.dumps(config))
            command.append(tmp_path / "over.json")
        self.log = tmp_path / "bzt.out"
        ports = {_variable(app): str(support.free_port()) for app in APPS}
        self.env = {**ports, **own, **env}
        settings = [f"settings.artifacts-dir={self.folder}", *options]
        if not dashboards:
            settings.append("modules.report.dashboards=false")
        command += [word for setting in settings for word in ("-o", setting)]
        command += [f"-{name}" for name in alias.split()]
        env = support.environment(**self.env)
        self.process = support.start(*inside, *command, output=self.log, cwd=self.root, env=env)
        UNDER_WAY.append(self)

    def until(self, text):
        """Wait until the run has printed a text."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.log.read_text():
            assert self.process.poll() is None, f"it ended first:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.log.read_text()}"
            time.sleep(0.1)
        return self

    def children(self, text):
        """Processes below bzt whose command line holds a text."""
        found = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in self.process.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if text in " ".join(child.cmdline()):
                        found.append(child)
        return found

    def signal(self, number):
        self.process.send_signal(number)
        return self

    def kill(self):
        self.signal(signal.SIGKILL).process.wait()

    def end(self):
        """Wait for the end."""
        code = self.process.wait(PATIENCE)
        if self in UNDER_WAY:
            UNDER_WAY.remove(self)
        return Finished(code, self.log.read_text(), self.folder)

    def end_cleanly(self):
        """Wait for the end, which leaves nothing behind."""
        ended = self.end()
        assert self.left_behind() == [], ended.output
        return ended

    def left_behind(self):
        """Processes of ours that are still there, and ports that are still taken."""
        left = []
        for process in support.ours():
            with contextlib.suppress(psutil.NoSuchProcess):  # it may end while we look
                left.append(" ".join(process.cmdline()))
        for port in (self.env[_variable(app)] for app in APPS):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", int(port)))
                except OSError:
                    left.append(f"port {port}")
        left += [str(plan) for plan in (self.root / "plans").glob("modified_*")]
        return left


def end_those_under_way():
    """End what a test that failed has left running, so that it is in nobody's way."""
    while UNDER_WAY:
        run = UNDER_WAY.pop()
        if run.process.poll() is None:
            run.signal(signal.SIGTERM)
            try:
                run.process.wait(PATIENCE)
            except psutil.TimeoutExpired:
                run.process.kill()


def assert_on_the_page_of_the_job(ended, name, folder):
    """The verdict of a job's run stands on its page, and in JUnit's words beside it."""
    summary = (folder / "summary.md").read_text()
    assert (ended.code, ended.verdict["kind"]) == (ended.verdict["exit_code"], name), ended.output
    assert summary == (ended.folder / "verdict.md").read_text()
    assert summary.startswith(f"## Tollgate: {ended.verdict['verdict']} ({name})\n")
    assert (ended.folder / "junit.xml").read_text().startswith("<?xml")


def _variable(app):
    """`pi-1` has its port in PORT_PI_1."""
    return f"PORT_{app.upper().replace('-', '_')}"


#: For a run that has to pass on any machine: what a busy one did not send counts as failed, and one
#: whose every answer was wrong fails by itself.
LENIENT = {"missing-share": 0.5}


def mostly_right(*labels):
    """Criteria that hold also where the machine was too busy to send all that was due."""
    return [f"fail of {label}>60%" for label in labels]


def seconds(warmup, measured):
    """Options that shorten a run."""
    lengths = {"warmup": warmup, "measured": measured}
    options = [f"modules.jmeter.properties.{name}={value}" for name, value in lengths.items()]
    return [*options, "modules.stop-when-decided.budget=off"]


def judged_by(criteria):
    """Settings that put these criteria in the place of those of taurus.yml."""
    return {"~reporting": [{"module": "verdict"}, {"module": "passfail", "criteria": criteria}]}


def only(mode, criteria, modules=None, **properties):
    """One execution with these criteria alone and these properties of the plan."""
    own = {"jmeter": {"properties": properties}, "stop-when-decided": {"budget": "off"}}
    return {
        "~execution": [{"scenario": mode}],
        **judged_by(criteria),
        "modules": own | (modules or {}),
    }
