"""Real runs at a terminal: the page while they measure, and what it does not change."""

import asyncio
import json
import re
import sys
import threading

import aiohttp
import psutil
import pytest

from e2e.bzt_run import LENIENT, Run, mostly_right, only

pytestmark = pytest.mark.long

#: Starts a command at a terminal of its own, and shows what it prints.
AT_TERMINAL = (
    *(sys.executable, "-c"),
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))",
)
RATES = {"sum_rate": 10}
CONFIG = only("fork", mostly_right("sum"), {"verdict": LENIENT}, warmup=2, measured=8, **RATES)
NO_CI = {"CI": "", "LIVE": ""}


async def snapshots(url):
    """All that come, and the page that the address has at the end."""
    found = []
    async with aiohttp.ClientSession(read_bufsize=1 << 20) as client:
        async with client.get(f"{url}events") as answer:
            async for line in answer.content:
                if line.startswith(b"data: "):
                    found.append(json.loads(line[len(b"data: ") :]))
        async with client.get(url) as answer:
            return found, await answer.text()


def test_a_run_at_a_terminal_is_watched_to_its_verdict(tmp_path):
    run = Run(tmp_path, config=CONFIG, inside=AT_TERMINAL, **NO_CI).until("Live: ")
    (url,) = re.findall(r"^Live: (http://127\.0\.0\.1:\d+/\S+/)\r?$", run.log.read_text(), re.M)
    came = []
    viewer = threading.Thread(target=lambda: came.extend(asyncio.run(snapshots(url))))
    viewer.start()
    ended = run.end_cleanly()
    viewer.join()
    found, page = came
    assert page == ended.page
    assert len(found) > 3
    assert found[-1]["answer"] == ended.verdict["verdict"]
    requests = next(it for it in found[-1]["sections"] if it["id"] == "requests")
    (criterion,) = ended.execution["criteria"]
    rows = {row[0]["text"]: row[1]["text"] for row in requests["tables"][0]["rows"]}
    assert int(rows["sum"].replace(",", "")) == criterion["samples"]
    assert url not in (ended.folder / "bzt.log").read_text()


def test_without_a_terminal_a_run_opens_no_port(tmp_path):
    run = Run(tmp_path, config=CONFIG, **NO_CI).until("requests read")
    listening = [
        each.laddr.port
        for each in run.process.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    ]
    assert listening == []
    ended = run.end_cleanly()
    assert "Live: " not in ended.output
