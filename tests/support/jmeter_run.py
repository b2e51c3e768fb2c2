"""A plan that runs by JMeter alone, and servers for it without PM2."""

import csv
import subprocess
import threading
from contextlib import contextmanager

import support


class Run:
    """One `jmeter -n -t plan`, with what it wrote."""

    def __init__(self, plan, cwd, out, **properties):
        self.log, jtl = out / "jmeter.log", out / "out.jtl"
        words = [f"-J{name}={value}" for name, value in properties.items()]
        self.done = support.run(
            *(support.JMETER, "-n", "-t", plan, "-l", jtl, "-j", self.log), *words, cwd=cwd
        )
        assert self.done.returncode == 0, self.done.stdout
        with jtl.open(newline="") as lines:
            self.samples = list(csv.DictReader(lines))

    @property
    def labels(self):
        return {sample["label"] for sample in self.samples}

    def that(self, success):
        return [
            f"{sample['label']}: {sample['responseMessage']} {sample['failureMessage']}"
            for sample in self.samples
            if sample["success"] == success
        ]


@contextmanager
def node_server(**settings):
    """The port of a real server with these settings in its environment."""
    process = subprocess.Popen(
        ["node", "app/server.js"],
        cwd=support.ROOT,
        env=support.environment(PORT="0", **settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    said = process.stdout.readline()
    drain = threading.Thread(target=process.stdout.read)
    drain.start()
    yield int(said.rpartition(":")[2])
    process.terminate()
    process.wait()
    drain.join()
