"""A short study by the real bzt, in which a server behind the balancer is killed."""

import json
import os
import re
import signal

import pytest

import support
from e2e.bzt_run import BZT, Run
from tollgate.study.design import read_blocks
from tollgate.study.lengths import lengthened, warmed
from tollgate.study.samples import read_spans

pytestmark = pytest.mark.long

EXPERIMENTS = ["sum", "crosscheck", "pi"]
#: The apps of the arm of `pi` that has several.
BALANCED = ("balancer", "pi-1", "pi-2", "pi-3")


def pid_of(folder, app):
    """By the newest look at the workers."""

    def newest():
        text = (folder / "workers.jsonl").read_text()
        lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        looks = [it for it in lines if it["app"] == app and it.get("status") == "online"]
        return looks[-1]["pid"] if looks else None

    return support.wait_until(newest, f"the watcher has seen {app}")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """(the run, what it left, the process that was killed while pi was measured)."""
    run = Run(
        tmp_path_factory.mktemp("study"),
        "modules.study.short=true",
        "modules.study.rounds=2",  # which warms up as well
        f'modules.study.experiments="{",".join(EXPERIMENTS)}"',
        alias="study",
    ).until("study: pi, round")
    pid = pid_of(run.folder, "pi-2")
    os.kill(pid, signal.SIGKILL)
    return run, run.end(), pid


@pytest.fixture(scope="module")
def study(killed):
    return json.loads((killed[1].folder / "study.json").read_text())


def test_a_pi_server_that_is_killed_loses_no_request_and_shows_in_the_report(killed, study):
    run, ended, pid = killed
    [execution] = ended.verdict["executions"]
    judged = {result["criterion"]: result for result in execution["criteria"]}
    assert {result["verdict"] for result in judged.values()} == {"PASS"}, ended.output
    assert judged["fail of pi>0%"]["observed"] == 0
    assert judged["fail of pi>0%"]["samples"] > 100
    [outage] = study["outages"]
    assert (outage["app"], outage["pid"], outage["lost"]) == ("pi-2", pid, 0)
    assert outage["experiment"] == "pi"
    assert "pi-2" in (ended.folder / "index.html").read_text()
    assert (ended.code, ended.verdict["verdict"]) == (1, "INVALID")
    assert run.left_behind() == []


def test_the_verdict_names_the_server_that_was_killed_among_all_behind_the_balancer(killed):
    _, ended, pid = killed
    pattern = (
        rf"INVALID study: worker 0 of pi-2 \(pid {pid}\) died and was started again "
        r"[\d.]+ s into the execution; PM2 had it back after [\d.]+ s; 0 requests were lost"
    )
    assert len(re.findall(pattern, ended.reasons())) == 1, ended.reasons()
    [execution] = ended.verdict["executions"]
    [outage] = execution["outages"]
    assert (outage["worker"], outage["pid"], outage["lost"]) == ("0 of pi-2", pid, 0)
    workers = {worker["worker"]: worker["pids"] for worker in execution["workers"]}
    assert {f"0 of {app}" for app in BALANCED} <= set(workers)
    assert workers["0 of pi-2"][0] == pid
    assert len(workers["0 of pi-2"]) == 2


def test_every_claim_has_an_answer_and_none_is_made_of_two_rounds(study):
    assert len(study["claims"]) == 9
    assert {claim["answer"] for claim in study["claims"]} == {"cannot tell"}
    reasons = {claim["id"]: claim["reason"] for claim in study["claims"]}
    assert "2 rounds were measured, 8 are needed" in reasons["sum-throughput"]
    assert "not measured" in reasons["kittens-scaling"]


def test_what_was_measured_follows_the_laws_of_a_closed_loop(study):
    cells = {(it["experiment"], it["arm"], it["users"]): it for it in study["cells"]}
    for users in (1, 100):
        told = cells["sum", "fork", users]
        assert told["failed"] == 0
        mean_s = told["metrics"]["mean"]["value"] / 1000
        # Little's law; what is missing is JMeter's time between two requests.
        assert 0.5 * users < told["metrics"]["throughput"]["value"] * mean_s < 1.1 * users
    assert set(cells["sum", "cluster", 100]["workers"]) == {
        str(number) for number in range(os.cpu_count() or 1)
    }


def test_the_other_load_generator_took_its_turns(killed, study):
    assert [check["tool"] for check in study["checks"]] == ["autocannon"]
    assert study["checks"][0]["ratios"]["throughput"]["value"] > 0
    results = [
        json.loads(it.read_text()) for it in (killed[1].folder / "crosscheck").glob("*.json")
    ]
    assert len(results) == 3  # rounds, the warm-up among them
    assert {result["failed"] for result in results} == {0}


def test_blocks_are_as_long_as_the_warm_up_says(killed):
    folder = killed[1].folder
    blocks = read_blocks(folder / "blocks.csv")
    first = [block for block in blocks if block.round == 0]
    cells = [block.cell for block in first[1:-1]]
    planned = lengthened(cells, warmed(first, read_spans(folder / "kpi.jtl")))
    assert {block.cell for block in blocks if block.round} == set(planned)
    assert json.loads((folder / "warm-up.json").read_text())["load_s"] > 0


def test_the_report_is_made_again_from_the_runs_folder(killed):
    folder = killed[1].folder
    before = (folder / "study.json").read_text()
    (folder / "study.json").unlink()
    (folder / "index.html").unlink()
    done = support.run(BZT.with_name("tollgate"), "report", folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "study.json").read_text() == before
    assert (folder / "index.html").exists()
