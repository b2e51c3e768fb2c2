"""Prometheus, with the points that promtool makes of a file: Debian's package."""

import json
import subprocess
import urllib.parse
import urllib.request
from contextlib import contextmanager

import support
from support import debian


def commands(folder):
    """promtool and prometheus."""
    programs = debian.unpacked(folder, "prometheus") / "usr" / "bin"
    return [programs / name for name in ("promtool", "prometheus")]


class Prometheus:
    """One that runs."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def is_ready(self):
        try:
            return urllib.request.urlopen(f"{self.url}/-/ready").status == 200
        except OSError:
            return False

    def value(self, query, at_s):
        """Of an instant query that has one answer."""
        asked = urllib.parse.urlencode({"query": query, "time": at_s})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{asked}") as answer:
            (found,) = json.load(answer)["data"]["result"]
        return float(found["value"][1])


@contextmanager
def holding(tools, folder, *files):
    """One that has the points of files of OpenMetrics text."""
    promtool, prometheus = tools
    data, settings, port = folder / "data", folder / "prometheus.yml", support.free_port()
    for file in files:
        made = support.run(promtool, "tsdb", "create-blocks-from", "openmetrics", file, data)
        assert made.returncode == 0, made.stderr
    settings.write_text("")
    options = f"--config.file={settings}", f"--storage.tsdb.path={data}"
    always = "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}"
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen([prometheus, *options, *always], stderr=log)
    try:
        made = Prometheus(port)
        support.wait_until(made.is_ready, "Prometheus is ready")
        yield made
    finally:
        process.terminate()
        process.wait()
