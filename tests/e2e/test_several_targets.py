"""Several targets of one execution: one of the servers behind the balancer is killed under load."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import support
from e2e.bzt_run import LENIENT, Run, only

APPS = ["balancer", "pi-1", "pi-2", "pi-3"]


def online(folder: Path) -> dict[str, int]:
    """The pids of the apps by the newest look at all of them."""

    def newest() -> dict[str, int] | None:
        text = (folder / "workers.jsonl").read_text()
        lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        pids = {line["app"]: line["pid"] for line in lines if line.get("status") == "online"}
        return pids if set(pids) == set(APPS) else None

    return support.wait_until(newest, "the watcher has seen all apps")


def test_a_server_killed_behind_the_balancer_loses_no_request_and_is_named_in_the_verdict(tmp_path):
    balancer = support.free_port()
    config = only("balanced", ["fail>60%"], warmup=1, measured=8, port=balancer)
    config["scenarios"] = {"balanced": {"script": "plans/check.jmx", "target": APPS}}
    config["modules"]["verdict"] = LENIENT
    run = Run(tmp_path, config=config, PORT_BALANCER=str(balancer)).until(" of 9 s, ")
    pids = online(run.folder)
    os.kill(pids["pi-2"], signal.SIGKILL)
    ended = run.end()

    [execution] = ended.verdict["executions"]
    [failures] = execution["criteria"]
    assert (failures["verdict"], failures["observed"]) == ("PASS", 0), ended.output
    assert failures["samples"] > 100
    assert (ended.code, ended.verdict["verdict"]) == (1, "INVALID"), ended.output
    pattern = (
        rf"INVALID balanced: worker 0 of pi-2 \(pid {pids['pi-2']}\) died and was started again "
        r"[\d.]+ s into the execution; PM2 had it back after [\d.]+ s; 0 requests were lost"
    )
    assert len(re.findall(pattern, ended.reasons())) == 1, ended.reasons()
    [outage] = execution["outages"]
    assert (outage["worker"], outage["pid"], outage["lost"]) == ("0 of pi-2", pids["pi-2"], 0)
    workers = {worker["worker"]: worker["pids"] for worker in execution["workers"]}
    assert set(workers) == {f"0 of {app}" for app in APPS}
    assert workers["0 of pi-2"][0] == pids["pi-2"]
    assert len(workers["0 of pi-2"]) == 2
    assert run.left_behind() == []
