"""Lines of workers.jsonl as the watcher writes them, and what is read of them."""

import json
import tempfile
from pathlib import Path

from tollgate.workers.reading import read_watch

BEGAN, ENDED = 1_700_000_000.0, 1_700_000_010.0


def look(second, worker=0, pid=None, **changed):
    pid = 100 + worker if pid is None else pid
    made = {"time": round((BEGAN + second) * 1000), "app": "cluster", "worker": worker, "pid": pid}
    made |= {"status": "online", "restarts": 0, "rss": 60_000_000, "requests": second * 10}
    return made | changed


def event(what, second, pid, worker=1, **more):
    time = round((BEGAN + second) * 1000)
    return {"time": time, "app": "cluster", "worker": worker, "pid": pid, "event": what, **more}


def died(second, pid, worker=1, by_pm2=False):
    return event("exit", second, pid, worker, byPm2=by_pm2)


def online(second, pid, worker=1):
    return event("online", second, pid, worker)


def write(folder, lines, tail=""):
    """The file of these lines, in the order of time."""
    file = folder / "workers.jsonl"
    ordered = sorted(lines, key=lambda each: each["time"])
    file.write_text("".join(json.dumps(each) + "\n" for each in ordered) + tail)
    return file


def watch(lines, reloads=(), app="cluster", tail=""):
    """(what was seen, the resources)"""
    with tempfile.TemporaryDirectory() as folder:
        return read_watch(write(Path(folder), lines, tail), app, BEGAN, ENDED, reloads)


def texts(found):
    return tuple(event.text for event in found.events)
