"""What the server's own clock says of an injection: `Server-Timing` of app/injection.js.

After a run the same app is started once more by itself, with head's settings, and gets requests of
that run one by one. That perturbs nothing, and the header tells of each answer how long its own
work took and how much was added: JMeter's figures have no part in it.
"""

from __future__ import annotations

import csv
import http.client
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE
from urllib.parse import urlsplit

from certification.processes import ended
from tollgate.samples.layout import read_layout
from tollgate.targets.pm2 import HOST

#: Answers of a label that count, and those before them that warm its code up.
REQUESTS, WARM_UP = 40, 10
#: Seconds until the server must answer.
ANSWER_S = 30.0
#: The server ends when whoever started it is gone.
_SERVER = (
    "process.stdin.on('close', () => process.kill(process.pid, 'SIGTERM')).resume();"
    "require('./app/server.js');"
)
_DURATION = re.compile(r"(\w+);dur=([\d.]+)")
PARTS = ("handler", "work", "injected")


class ProbeError(Exception):
    """One line: what the server did not answer."""


def probe(jtl: Path, labels: list[str], injection: Mapping[str, str]) -> dict[str, dict]:
    """By label: how many `requests`, and the mean ms of `handler`, `work` and `injected`.

    injection: environment of the server, such as {"INJECT_WORK_PERCENT": "5"}. Raises ProbeError,
    JtlError.
    """
    paths = paths_of(jtl, labels)
    environment = {name: value for name, value in os.environ.items() if "INJECT" not in name}
    environment |= {"HOST": HOST, "PORT": "0", "NODE_ENV": "production", **injection}
    streams = {"stdin": PIPE, "stdout": PIPE, "stderr": DEVNULL}
    with ended(["node", "-e", _SERVER], environment, **streams) as server:
        port = server.stdout.readline().rpartition(b":")[2]  # the line of the server that is ready
        if not port:
            raise ProbeError("the server did not start")
        connection = http.client.HTTPConnection(HOST, int(port), timeout=ANSWER_S)
        try:
            return {label: _timed(connection, paths[label]) for label in paths}
        except (OSError, http.client.HTTPException) as problem:
            raise ProbeError(f"the server broke down under the probe: {problem!r}") from None
        finally:
            connection.close()


def paths_of(jtl: Path, labels: list[str]) -> dict[str, list[str]]:
    """By label the paths of the first requests in a JTL; labels that have none are left out.
    Raises ProbeError, JtlError."""
    layout = read_layout(jtl)
    if "URL" not in layout:
        raise ProbeError(f"{jtl} has no column URL: nobody knows what was asked")
    found: dict[str, list[str]] = defaultdict(list)
    with jtl.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        for row in csv.DictReader(lines, delimiter=layout.delimiter):
            url = urlsplit(row["URL"] or "")
            if row["label"] in labels and url.path:
                found[row["label"]].append(url._replace(scheme="", netloc="", fragment="").geturl())
    return {label: paths[:REQUESTS] for label, paths in found.items()}


def timing(header: str | None) -> dict[str, float]:
    """Milliseconds by name, of a `Server-Timing` header. Raises ProbeError if one is missing."""
    found = {name: float(value) for name, value in _DURATION.findall(header or "")}
    if missing := [name for name in PARTS if name not in found]:
        raise ProbeError(f"Server-Timing is {header!r}, without {', '.join(missing)}")
    return {name: found[name] for name in PARTS}


def _timed(connection: http.client.HTTPConnection, paths: list[str]) -> dict:
    sums = dict.fromkeys(PARTS, 0.0)
    for number in range(WARM_UP + REQUESTS):
        connection.request("GET", paths[number % len(paths)])
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise ProbeError(f"{paths[number % len(paths)]} was answered {answer.status}")
        if number >= WARM_UP:
            for name, value in timing(answer.getheader("Server-Timing")).items():
                sums[name] += value
    means = {name: round(value / REQUESTS, 4) for name, value in sums.items()}
    return {"requests": REQUESTS, **means}
