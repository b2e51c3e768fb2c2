"""The page of a run of two executions, and what it shows."""

import json
import re
import shutil
from dataclasses import replace

from support import pages, run_folder
from tollgate.record import manifest


def two_modes(folder, *criteria, **changes):
    """The folder of a run of two executions, fork and cluster, with the same samples."""
    made = run_folder.make(folder, criteria or run_folder.HOLDS, name="fork", **changes)
    fork = made.executions[0]
    fork.targets = [{"name": "fork", "mode": "fork", "instances": 1, "memory_limit": None}]
    target = {"name": "cluster", "mode": "cluster", "instances": 2, "memory_limit": None}
    shutil.copyfile(folder / run_folder.JTL, folder / "kpi-1.jtl")
    cluster = replace(fork, name="cluster", jtl="kpi-1.jtl", targets=[target])
    manifest.seal(cluster, folder)
    made.executions.append(cluster)
    manifest.write(made, folder)
    watch(folder)
    return folder


def watch(folder):
    """What was seen of one worker of fork and two of cluster, each second."""
    lines = []
    known = {"status": "online", "restarts": 0, "rss": 64_000_000, "heap": 9_000_000}
    known |= {"cpu": 12.5, "loopDelayP50": 0.4, "loopDelayP95": 1.5}
    for second in range(21):
        for app, worker in (("fork", 0), ("cluster", 0), ("cluster", 1)):
            look = {"time": (1795223295 + second) * 1000, "app": app, "worker": worker}
            look |= {"pid": 70 + worker, "requests": second * 15}
            lines.append(json.dumps(look | known))
    (folder / "workers.jsonl").write_text("\n".join(lines) + "\n")


def text_of(path):
    return pages.text_of(path.read_text())


def charts_of(path):
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', path.read_text(), re.S)
    return {chart["title"]: chart for chart in json.loads(data[1])}
