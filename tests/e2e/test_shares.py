"""Two engines that send one load, and their merge."""

import csv
import json
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
import yaml

import support
from e2e.bzt_run import LENIENT, Run, mostly_right, seconds
from support.http_server import Handler, serving
from support.project_copy import copy_project
from tollgate.record import manifest

pytestmark = pytest.mark.long
TOLLGATE = Path(support.ROOT / ".venv" / "bin" / "tollgate")
WARMUP, MEASURED, RATE = 5, 20, 12.5
#: Until then both are ready, also on a busy machine.
READY_S = 45
ROWS = 500
#: Two groups, of which the rarer one has one arrival, so that it is off in the second engine.
PLAN = Path(__file__).with_name("shared.jmx")


class Answers(Handler):
    def respond(self):
        self.answer(body="{}")


def engine(folder, number, url, start_at):
    """One of two, in a checkout of its own, as on a machine of its own."""
    (folder / "theirs").mkdir(parents=True)
    (folder / "theirs" / PLAN.name).write_bytes(PLAN.read_bytes())
    (folder / "theirs" / "items.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))
    config = {
        "~execution": [{"scenario": "shop"}],
        "scenarios": {"shop": {"script": str(folder / "theirs" / PLAN.name), "url": url}},
        "~reporting": [
            {"module": "verdict"},
            {"module": "passfail", "criteria": mostly_right("item")},
        ],
        "modules": {"verdict": LENIENT, "load": {"rows": "split"}},
    }
    return Run(
        folder,
        *seconds(WARMUP, MEASURED),
        config=config,
        root=copy_project(folder / "tollgate"),
        ENGINE=f"{number}/2",
        START_AT=start_at,
    )


@pytest.fixture(scope="module")
def shares(tmp_path_factory):
    """Both shares, sent at the same time."""
    folder = tmp_path_factory.mktemp("shares")
    moment = datetime.fromtimestamp(time.time() + READY_S, timezone.utc)
    with serving(Answers) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        runs = [engine(folder / str(k), k, url, f"{moment:%Y-%m-%dT%H:%M:%SZ}") for k in (1, 2)]
        return [run.end() for run in runs]


def rows(folder, label):
    """The paths of the URLs that a share has sent under a label."""
    with (folder / "kpi.jtl").open(newline="") as jtl:
        return [
            row["URL"].rpartition("/")[2] for row in csv.DictReader(jtl) if row["label"] == label
        ]


def test_a_sealed_share_exits_0_and_leaves_its_verdict_to_the_merge(shares):
    for number, share in enumerate(shares, start=1):
        assert share.code == 0, share.output
        assert share.verdict["verdict"] == "INCONCLUSIVE"
        assert share.verdict["executions"][0]["criteria"] == []
        assert f"engine {number}/2" in share.reasons()
        record = manifest.read(share.folder)
        assert manifest.is_sealed(record)
        assert record.share["start_at"] <= record.executions[0].began


def test_no_row_is_sent_by_two_engines(shares):
    first, second = (set(rows(share.folder, "item")) for share in shares)
    assert first
    assert second
    assert not first & second
    assert {int(it) % 2 for it in first} == {0}


def test_a_group_without_an_arrival_sends_nothing(shares):
    assert [len(rows(share.folder, "rare")) for share in shares] == [1, 0]


def test_the_merge_has_the_arrivals_of_the_whole_and_one_verdict(shares, tmp_path):
    target = tmp_path / "merged"
    folders = [str(share.folder) for share in shares]
    done = support.run(str(TOLLGATE), "merge", *folders, "--to", str(target))
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((target / "verdict.json").read_text())
    (execution,) = verdict["executions"]
    assert verdict["verdict"] == "PASS"
    intended = [
        {it["labels"][0]: it["intended"] for it in engine["schedules"]}
        for engine in execution["engines"]
    ]
    assert [it["item"] for it in intended] == [157, 156]
    assert [it["rare"] for it in intended] == [1, 0]
    again = support.run(str(TOLLGATE), "judge", str(target), "--json")
    assert json.loads(again.stdout) == verdict
    for name in ("index.html", "junit.xml", "verdict.md"):
        assert (target / name).stat().st_size


def test_the_command_of_the_kubernetes_job_sends_a_share(tmp_path):
    text = (support.ROOT / "deploy" / "kubernetes" / "stress.yaml").read_text()
    settings, job = yaml.safe_load_all(text)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    service = yaml.safe_load(settings["data"]["service.yml"])
    moment = datetime.fromtimestamp(time.time() + READY_S, timezone.utc)
    root = copy_project(tmp_path / "tollgate")
    (tmp_path / "shares").mkdir()
    with serving(Answers) as server:
        service["scenarios"]["fork"]["url"] = f"http://127.0.0.1:{server.server_port}"
        (tmp_path / "service.yml").write_text(yaml.safe_dump(service))
        env = {it["name"]: it["value"] for it in container["env"]} | {
            "JOB_COMPLETION_INDEX": "2",
            "START_AT": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
            "SERVICE": str(tmp_path / "service.yml"),
            "SHARES": str(tmp_path / "shares"),
            "SCALE": "7200",
            "PYTHONPATH": str(root / "scripts"),
        }
        done = support.run(*container["command"], cwd=root, env=support.environment(**env))
    assert done.returncode == 0, done.stdout + done.stderr
    record = manifest.read(tmp_path / "shares" / "engine-3")
    assert (record.share["number"], record.share["of"]) == (3, 4)
    assert manifest.is_sealed(record)


def test_an_app_of_this_machines_pm2_is_no_target_of_several_engines(tmp_path):
    done = Run(tmp_path, ENGINE="1/2", START_AT="2099-01-01T00:00:00Z", MODE="fork").end()
    assert done.code == 1
    assert "START_AT" in done.error()
    assert "PM2" in done.error()
