"""A plan that runs by JMeter alone, and servers for it without PM2."""

import csv
import subprocess
import threading
from contextlib import contextmanager

import support
from tollgate.capacity.arrivals import HEADER, row
from tollgate.targets.pm2 import IDLE_SERVER


def command(plan, jtl, log, properties):
    words = [f"-J{name}={value}" for name, value in properties.items()]
    return support.JMETER, "-n", "-t", plan, "-l", jtl, "-j", log, *words


def rows(jtl):
    with jtl.open(newline="") as lines:
        return list(csv.DictReader(lines))


class Arriving:
    """A JMeter that sends the arrivals that are appended to a file."""

    def __init__(self, folder, plan, cwd, arrivals, **properties):
        self.jtl, self.log = folder / "kpi.jtl", folder / "jmeter.log"
        arrivals.write_text(row(HEADER))
        known = {"arrivals": arrivals, "origin": 0, "sample_variables": "trial,arrival,due"}
        known["jmeter.save.saveservice.autoflush"] = "true"
        words = command(plan, self.jtl, self.log, known | properties)
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        self.process = subprocess.Popen(words, cwd=cwd, env=support.environment(), **quiet)

    def samples(self):
        """All, once it has ended by itself and without an error."""
        assert self.process.wait(support.PATIENCE) == 0
        assert " ERROR " not in self.log.read_text()
        return rows(self.jtl)


@contextmanager
def idle_server():
    """The port of a server that does nothing."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["node", IDLE_SERVER], **pipes) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(support.PATIENCE) == 0


class Run:
    """One `jmeter -n -t plan`, with what it wrote."""

    def __init__(self, plan, cwd, out, **properties):
        self.log, jtl = out / "jmeter.log", out / "out.jtl"
        self.done = support.run(*command(plan, jtl, self.log, properties), cwd=cwd)
        assert self.done.returncode == 0, self.done.stdout
        self.samples = rows(jtl)

    @property
    def labels(self):
        return {sample["label"] for sample in self.samples}

    def that(self, success):
        names = ("label", "responseMessage", "failureMessage")
        return [[it[name] for name in names] for it in self.samples if it["success"] == success]


@contextmanager
def node_server(**settings):
    """The port of a real server with these settings in its environment."""
    how = {"cwd": support.ROOT, "env": support.environment(PORT="0", **settings), "text": True}
    process = subprocess.Popen(["node", "app/server.js"], stdout=subprocess.PIPE, **how)
    said = process.stdout.readline()
    drain = threading.Thread(target=process.stdout.read)
    drain.start()
    yield int(said.rpartition(":")[2])
    process.terminate()
    process.wait()
    drain.join()
