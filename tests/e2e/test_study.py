"""A short study by the real bzt, in which a server behind the balancer is killed."""

import json
import os
import re
import signal

import pytest

import support
from e2e.bzt_run import Run, newest_look
from tollgate.study.design import read_blocks
from tollgate.study.lengths import lengthened, warmed
from tollgate.study.samples import read_spans

pytestmark = pytest.mark.long

EXPERIMENTS = ["sum", "crosscheck", "pi"]
#: The apps of the arm of `pi` that has several.
BALANCED = ("balancer", "pi-1", "pi-2", "pi-3")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """(the run, what it left, the process that was killed while pi was measured)."""
    settings = {
        "short": "true",
        "rounds": 2,  # which warms up as well
        "experiments": f'"{",".join(EXPERIMENTS)}"',
    }
    options = [f"modules.study.{name}={value}" for name, value in settings.items()]
    run = Run(tmp_path_factory.mktemp("study"), *options, alias="study").until("study: pi, round")
    looks = support.wait_until(lambda: newest_look(run.folder, "pi-2"), "the watcher has seen pi-2")
    pid = looks[-1]["pid"]
    os.kill(pid, signal.SIGKILL)
    return run.end_cleanly(), pid


@pytest.fixture(scope="module")
def study(killed):
    return killed[0].json("study.json")


def test_a_pi_server_that_is_killed_loses_no_request_and_shows_in_the_report(killed, study):
    ended, pid = killed
    judged = {result["criterion"]: result for result in ended.execution["criteria"]}
    assert {result["verdict"] for result in judged.values()} == {"PASS"}, ended.output
    assert judged["fail of pi>0%"]["observed"] == 0
    assert judged["fail of pi>0%"]["samples"] > 100
    [outage] = study["outages"]
    of_it = [outage[it] for it in ("app", "pid", "lost", "experiment")]
    assert of_it == ["pi-2", pid, 0, "pi"]
    assert "pi-2" in ended.page
    assert ended.outcome == (4, "INVALID")


def test_the_verdict_names_the_server_that_was_killed_among_all_behind_the_balancer(killed):
    ended, pid = killed
    pattern = (
        rf"INVALID study: worker 0 of pi-2 \(pid {pid}\) died and was started again "
        r"[\d.]+ s into the execution; PM2 had it back after [\d.]+ s; 0 requests were lost"
    )
    assert len(re.findall(pattern, ended.reasons())) == 1, ended.reasons()
    [outage] = ended.execution["outages"]
    assert (outage["worker"], outage["pid"], outage["lost"]) == ("0 of pi-2", pid, 0)
    workers = {worker["worker"]: worker["pids"] for worker in ended.execution["workers"]}
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
    workers = {str(number) for number in range(os.cpu_count() or 1)}
    assert set(cells["sum", "cluster", 100]["workers"]) == workers


def test_the_other_load_generator_took_its_turns(killed, study):
    assert [check["tool"] for check in study["checks"]] == ["autocannon"]
    assert study["checks"][0]["ratios"]["throughput"]["value"] > 0
    results = (killed[0].folder / "crosscheck").glob("*.json")
    # Rounds, the warm-up among them.
    assert [json.loads(it.read_text())["failed"] for it in results] == [0, 0, 0]


def test_blocks_are_as_long_as_the_warm_up_says(killed):
    ended, folder = killed[0], killed[0].folder
    blocks = read_blocks(folder / "blocks.csv")
    first = [block for block in blocks if block.round == 0]
    cells = [block.cell for block in first[1:-1]]
    planned = lengthened(cells, warmed(first, read_spans(folder / "kpi.jtl")))
    assert {block.cell for block in blocks if block.round} == set(planned)
    assert ended.json("warm-up.json")["load_s"] > 0


def test_the_report_is_made_again_from_the_runs_folder(killed):
    folder = killed[0].folder
    before = (folder / "study.json").read_text()
    (folder / "study.json").unlink()
    (folder / "index.html").unlink()
    done = support.tollgate("report", folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "study.json").read_text() == before
    assert (folder / "index.html").exists()
