"""Real JMeters beside one another: a run ends its own and no other."""

import contextlib
import logging
import re
import signal
from types import SimpleNamespace

import pytest
from bzt import ManualShutdown

import support
from e2e.adopting import Copy
from e2e.bzt_run import Run
from support.hanging_server import hanging_server, write_plan
from tollgate.taurus.jmeter import InstalledJMeter

#: For as long as any of these tests may take.
ALL_ALONG = 600


class JMeter:
    """One that asks the server for ever; `port` is where it listens, None for nowhere."""

    def __init__(self, folder, plan, port=None):
        folder.mkdir()
        self.output = folder / "jmeter.out"
        which = (f"-Jjmeterengine.nongui.{name}={port}" for name in ("port", "maxport"))
        words = ["-n", "-t", plan, "-l", folder / "out.jtl", "-j", folder / "jmeter.log"]
        words += which if port else ()
        at = {"cwd": folder, "process_group": 0}
        self.process = support.start(support.JMETER, *words, output=self.output, **at)
        support.wait_until(lambda: self.said(r"on port \d+|Failed to create UDP port"), "it starts")
        found = re.search(r"on port (\d+)", self.output.read_text())
        self.port = int(found[1]) if found else None

    def said(self, pattern):
        return re.search(pattern, self.output.read_text()) is not None

    @property
    def is_untouched(self):
        """Whether it goes on and nobody has told it anything."""
        return self.process.poll() is None and not self.said("Command: ")


@contextlib.contextmanager
def jmeters(folder):
    """Starts one on a port, or on the first that is free of JMeter's own from 4445 on."""
    with hanging_server(answers_s=ALL_ALONG) as asked:
        plan = write_plan(folder, asked)
        started = []

        def start(port=None):
            started.append(JMeter(folder / f"jmeter-{len(started)}", plan, port))
            return started[-1]

        yield start
        for each in started:
            support.end(each.process)


@pytest.fixture
def jmeter(tmp_path):
    with jmeters(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """One that no test may end or tell anything."""
    with jmeters(tmp_path_factory.mktemp("foreign")) as start:
        yield start()


def executor_of(process, port):
    """What ends it, and believes that it listens there."""
    made = InstalledJMeter()
    made.log, made.label = logging.getLogger("jmeter"), "plan"
    made.engine = SimpleNamespace(stopping_reason=ManualShutdown())
    made.process, made.management_port = process.process, port
    made.stdout = SimpleNamespace(name=str(process.output))
    return made


def test_a_jmeter_without_a_port_is_ended_and_not_the_one_that_has_it(jmeter, foreign):
    ours = jmeter(foreign.port)
    assert ours.port is None
    executor = executor_of(ours, foreign.port)
    assert executor.tell_to_end()
    support.wait_until(lambda: ours.process.poll() is not None, "ours has ended")
    assert executor.forced
    assert foreign.is_untouched


@pytest.mark.long
def test_a_run_that_is_interrupted_ends_no_jmeter_that_has_its_port(jmeter, foreign):
    ours = jmeter(foreign.port)
    executor_of(ours, foreign.port).shutdown()
    assert ours.process.poll() is not None
    assert foreign.is_untouched


@pytest.mark.long
def test_nothing_is_sent_to_the_port_of_a_jmeter_that_has_ended(jmeter):
    ours = jmeter()
    executor = executor_of(ours, ours.port)
    support.end(ours.process)
    follower = jmeter(ours.port)
    assert follower.port == ours.port
    executor.tell_to_end()
    executor.shutdown()
    assert follower.is_untouched


def ended_by_stop_after(ended):
    """The execution of a run that nothing else has ended, as run.json has it."""
    assert (ended.code, ended.reasons()) == (0, "")
    run = ended.json("run.json")
    (execution,) = run["executions"]
    assert execution["stop_requested_at"] is not None
    assert (run["interrupted"], execution["exit_code"]) == (False, 0)
    return execution


@pytest.fixture
def asked():
    """The port of a server that answers all along."""
    with hanging_server(answers_s=ALL_ALONG) as port:
        yield port


@pytest.mark.long
def test_two_runs_in_two_checkouts_end_nothing_of_one_another(foreign, asked, tmp_path):
    write_plan(tmp_path, asked)
    copy = Copy(tmp_path, {})
    own = {"PLAN": str(tmp_path / "hanging.jmx"), "CRITERIA": "fail>0%", "STOP_AFTER": "15s"}
    theirs = {**own, "PLAN": str(tmp_path / "copy.jmx")}
    (tmp_path / "copy.jmx").write_text((tmp_path / "hanging.jmx").read_text())
    first = Run(tmp_path / "first", alias="plan", **own)
    second = Run(tmp_path / "second", alias="plan", root=copy.root, **theirs)
    for each in (first, second):
        each.until("JMeter has written nothing yet")
    listening = (second.folder / "jmeter.out").read_text
    support.wait_until(lambda: "on port" in listening(), "its JMeter listens")
    interrupted = second.signal(signal.SIGINT).end()
    assert interrupted.code == 2
    port = "jmeterengine.nongui.port"
    ports = [ended_by_stop_after(first.end())["properties"][port]]
    ports.append(interrupted.json("run.json")["executions"][0]["properties"][port])
    assert len({*ports, str(foreign.port)}) == 3
    assert foreign.is_untouched
