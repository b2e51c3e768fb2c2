"""Two engines that send one load, and their merge."""

import json
import os
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
import yaml

import support
from e2e.bzt_run import LENIENT, PATIENCE, Run, mostly_right, only
from support.http_server import Handler, serving
from support.project_copy import copy_project
from tollgate.record import manifest

pytestmark = pytest.mark.long
#: Until then all three are ready, also on a busy machine.
READY_S = 60
ROWS = 500
#: Two groups, of which the rarer one has one arrival, so that it is off in the second engine.
PLAN = Path(__file__).with_name("shared.jmx")


class Answers(Handler):
    def respond(self):
        self.answer(body="{}")


class Shop(Handler):
    def respond(self):
        self.answer(body='{"items": [{"price": 3}], "price": 3}')


def soon():
    """START_AT, once everything is ready."""
    return f"{datetime.fromtimestamp(time.time() + READY_S, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def engine(folder, number, url, start_at):
    """One of two, in a checkout of its own in that folder, as on a machine of its own."""
    (folder / "theirs").mkdir(parents=True)
    (folder / "theirs" / PLAN.name).write_bytes(PLAN.read_bytes())
    (folder / "theirs" / "items.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))
    modules = {"verdict": LENIENT, "load": {"rows": "split"}}
    config = only("shop", mostly_right("item"), modules, warmup=5, measured=20)
    config["scenarios"] = {"shop": {"script": str(folder / "theirs" / PLAN.name), "url": url}}
    env = {"ENGINE": f"{number}/2", "START_AT": start_at}
    return Run(folder, config=config, root=folder / "tollgate", **env)


@pytest.fixture(scope="module")
def sent_at_once(tmp_path_factory):
    """Both shares, and that of the Kubernetes job, all of which begin at the same moment."""
    folder = tmp_path_factory.mktemp("shares")
    for number in (1, 2):
        copy_project(folder / str(number) / "tollgate")
    start_at = soon()
    with serving(Answers) as server, serving(Shop) as shop:
        url = f"http://127.0.0.1:{server.server_port}"
        runs = [engine(folder / str(k), k, url, start_at) for k in (1, 2)]
        job = Job(folder / "job", f"http://127.0.0.1:{shop.server_port}", start_at)
        return [run.end() for run in runs], job.end()


@pytest.fixture(scope="module")
def shares(sent_at_once):
    return sent_at_once[0]


class Job:
    """The container of the Kubernetes job with the completion index 2, without Kubernetes."""

    def __init__(self, folder, url, start_at):
        text = (support.ROOT / "deploy" / "kubernetes" / "stress.yaml").read_text()
        settings, job = yaml.safe_load_all(text)
        (container,) = job["spec"]["template"]["spec"]["containers"]
        config, suite, self.shares = (folder / it for it in ("config", "suite", "shares"))
        for each in (config, suite, self.shares):
            each.mkdir(parents=True)
        for name, content in settings["data"].items():
            (config / name).write_text(content.replace("http://shop.example:8080", url))
        env = {it["name"]: it["value"] for it in container["env"]} | {
            "JOB_COMPLETION_INDEX": "2",
            "START_AT": start_at,
            "SHARES": str(self.shares),
            "SCALE": "7200",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        command = [it.replace("/config/", f"{config}/") for it in container["command"]]
        self.output = folder / "out"
        self.process = support.start(
            *command, output=self.output, cwd=suite, env=support.environment(**env)
        )

    def end(self):
        """Its exit code, what it printed and the folder of its share."""
        code = self.process.wait(PATIENCE)
        return code, self.output.read_text(), self.shares / "engine-3"


def sent(share, label):
    """The paths of the URLs that a share has sent under a label."""
    return [row["URL"].rpartition("/")[2] for row in share.samples if row["label"] == label]


def test_a_sealed_share_exits_0_and_leaves_its_verdict_to_the_merge(shares):
    for number, share in enumerate(shares, start=1):
        assert share.outcome == (0, "INCONCLUSIVE"), share.output
        assert share.execution["criteria"] == []
        assert f"engine {number}/2" in share.reasons()
        record = manifest.read(share.folder)
        assert manifest.is_sealed(record)
        assert record.share["start_at"] <= record.executions[0].began


def test_no_row_is_sent_by_two_engines_and_a_group_without_an_arrival_sends_nothing(shares):
    first, second = (set(sent(share, "item")) for share in shares)
    assert first
    assert second
    assert not first & second
    assert {int(it) % 2 for it in first} == {0}
    assert [len(sent(share, "rare")) for share in shares] == [1, 0]


def test_the_merge_has_the_arrivals_of_the_whole_and_one_verdict(shares, tmp_path):
    target = tmp_path / "merged"
    done = support.tollgate("merge", *(share.folder for share in shares), "--to", target)
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((target / "verdict.json").read_text())
    (execution,) = verdict["executions"]
    assert verdict["verdict"] == "PASS"
    for label, intended in (("item", [157, 156]), ("rare", [1, 0])):
        schedules = [it for each in execution["engines"] for it in each["schedules"]]
        assert [it["intended"] for it in schedules if it["labels"][0] == label] == intended
    assert json.loads(support.tollgate("judge", target, "--json").stdout) == verdict
    for name in ("index.html", "junit.xml", "verdict.md"):
        assert (target / name).stat().st_size


def test_the_command_of_the_kubernetes_job_sends_a_share(sent_at_once):
    code, output, folder = sent_at_once[1]
    assert code == 0, output
    record = manifest.read(folder)
    assert (record.share["number"], record.share["of"]) == (3, 4)
    assert manifest.is_sealed(record)


def test_an_app_of_this_machines_pm2_is_no_target_of_several_engines(tmp_path):
    done = Run(tmp_path, ENGINE="1/2", START_AT="2099-01-01T00:00:00Z", MODE="fork").end()
    assert done.code == 1
    assert all(word in done.error() for word in ("START_AT", "PM2"))
