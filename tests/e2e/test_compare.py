"""`-compare` by the real bzt, PM2, JMeter, git and npm, in a copy of the project with a history."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import support
from e2e.adopting import serve
from e2e.bzt_run import Finished, Run, assert_on_the_page_of_the_job
from support.git_repos import SERVER, Repo
from support.project_copy import copy_project

#: A load of seconds, judged by limits so wide that a busy machine decides as well.
SHORT = (
    "modules.jmeter.properties.warmup=2",
    "modules.compare.budget=60",
    "modules.compare.first=10",
    "modules.compare.every=10",
    "modules.compare.effect=90%",
    "modules.compare.typical-effect=90%",
    "modules.compare.error-effect=20%",
)
#: What two slow cores can send beside whatever else they do, and answer.
LIGHT = ("modules.jmeter.properties.period=50",)
#: Where the sums are not what it is about.
CHEAP_SUMS = ("modules.compare.labels=search", "modules.jmeter.properties.sum_data=../data/sum.csv")
BROKEN = "throw new RangeError('this base is broken');\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Repo:
    """On the branch `feature`: its commits are on top of main, HEAD~1 dies at start, the tag
    `unlocked` has a lock file that npm refuses."""
    root = copy_project(tmp_path_factory.mktemp("project") / "tollgate")
    made = Repo(root)
    made.git("init", "--quiet", "--initial-branch=main")
    server = (root / SERVER).read_text()
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "all of it")
    lock = (root / "package-lock.json").read_text()
    made.commit("{", "package-lock.json")
    made.git("tag", "unlocked")
    made.git("reset", "--quiet", "--hard", "HEAD~1")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit(BROKEN)
    made.commit(server)
    assert (root / "package-lock.json").read_text() == lock
    return made


@pytest.fixture
def compare(project, tmp_path):
    """Begins a comparison."""

    def begin(*options: str, **env: str) -> Run:
        cache = {"XDG_CACHE_HOME": str(cache_of(project))}
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return Run(folder, *options, alias="compare", root=project.root, **cache, **env)

    return begin


def cache_of(project: Repo) -> Path:
    """The user's, where a base stands while it is compared."""
    return project.root.parent / "cache"


def assert_nothing_left(run: Run, project: Repo) -> None:
    """No process, port or changed plan, no check-out, and no entry or file in git."""
    assert run.left_behind() == []
    assert not (project.root / ".tollgate" / "base").is_symlink()
    assert list(cache_of(project).glob("tollgate/*")) == []
    assert project.git("worktree", "list").count("\n") == 0
    assert project.git("status", "--porcelain") == ""
    assert project.git("rev-parse", "--abbrev-ref", "HEAD") == "feature"


def refused(run: Run, project: Repo) -> str:
    """The one line of a run that was refused."""
    ended = run.end()
    assert ended.code == 1
    assert not list(ended.folder.glob("kpi*"))
    assert_nothing_left(run, project)
    return ended.error()


def test_a_base_whose_packages_can_t_be_installed_is_told_by_npm_s_words(compare, project):
    run = compare(BASE="unlocked")
    said = refused(run, project)
    assert "`npm ci` failed for base: " in said
    assert "npm-base.log in the run's folder" in said
    assert (run.folder / "npm-base.log").stat().st_size > 0


@pytest.fixture
def answering(project) -> Iterator[dict[str, tuple[int, subprocess.Popen]]]:
    """Two services of somebody's that run already, each by the variable that names it."""
    servers = {}
    try:
        for name in ("BASE_URL", "HEAD_URL"):
            port = support.free_port()
            servers[name] = port, serve(project.root / SERVER, port)
        yield servers
    finally:
        for _, server in servers.values():
            server.terminate()
            server.wait()


def test_two_services_that_run_already_are_compared_and_left_alone(compare, answering):
    ports = {name: port for name, (port, _) in answering.items()}
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    gate = (*CHEAP_SUMS, "modules.jmeter.properties.warmup=8", "modules.compare.gates=p50")
    ended = compare(*SHORT, *LIGHT, *gate, "modules.compare.profile=true", **urls).end()
    assert ended.code == 0, ended.output
    assert [server.poll() for _, server in answering.values()] == [None, None]
    told = json.loads((ended.folder / "compare.json").read_text())
    assert (told["mode"], told["base"]["revision"], told["head"]["revision"]) == ("url", None, None)
    assert [told[side]["url"] for side in ("base", "head")] == list(urls.values())
    [execution] = json.loads((ended.folder / "run.json").read_text())["executions"]
    assert execution["targets"] == []
    [compared] = [each["comparison"] for each in ended.verdict["executions"]]
    assert (compared["verdict"], compared["control"]) == ("PASS", False)
    # No thread, nor what it includes, has a line of JMeter's log.
    log = (ended.folder / "jmeter.log").read_text()
    assert not re.search(r"\b(sum|search) \d-\d|fragments/", log)
    assert all(min(each["samples"].values()) > 40 for each in compared["findings"])
    with (ended.folder / "kpi.jtl").open(encoding="utf-8", newline="") as rows:
        asked = {(row["coin"], urlsplit(row["URL"]).port) for row in csv.DictReader(rows)}
    assert asked == {("0", ports["BASE_URL"]), ("1", ports["HEAD_URL"])}
    assert "services by URL" in json.loads((ended.folder / "why.json").read_text())["problem"]
    page = (ended.folder / "index.html").read_text()
    assert "No profile: base and head are services by URL" in page
    ruled_out = r"Head against base, of search alone: a rise of 90\s% is ruled out for p50[.;]"
    assert re.search(ruled_out, page)


def test_what_a_killed_comparison_left_is_removed_by_the_next_whose_base_dies(compare, project):
    ports = {name: str(support.free_port()) for name in ("PORT_BASE", "PORT_HEAD")}
    killed = compare(*SHORT, BASE="HEAD", **ports).until("Measuring what a request costs")
    support.wait_until((killed.folder / "pace" / "kpi.jtl").exists, "the load is on")
    killed.signal(signal.SIGKILL).process.wait()
    assert (project.root / ".tollgate" / "base" / SERVER).exists()
    first = [it for it in (project.root / "plans").glob("modified*") if it.suffix == ".jmx"]
    assert len(first) == 2
    # One look at what it measured, whatever that says.
    profiled = ("modules.compare.profile=true", "modules.compare.budget=10")
    killed = compare(*SHORT, *LIGHT, *profiled, BASE="HEAD", **ports)
    killed.until("removed the check-out of a base").until("Profiling base and head")
    support.wait_until((killed.folder / "profile" / "schedule.json").exists, "the load is on")
    verdict = (killed.folder / "verdict.json").read_text()
    killed.signal(signal.SIGKILL).process.wait()
    started = json.loads((project.root / ".tollgate" / "started.json").read_text())
    files = [Path(each["file"]) for each in started if "file" in each]
    assert sorted(it.suffix for it in files if it.exists()) == [".jmx", ".properties"]
    following = compare(BASE="HEAD~1", **ports)
    ended = following.end()
    assert not any(map(Path.exists, [*first, *files]))
    assert (killed.folder / "verdict.json").read_text() == verdict
    assert "removed the check-out of a base, left by a run that was killed" in ended.output
    assert ended.code == 1
    assert "app 'base' died at start: RangeError: this base is broken" in ended.error()
    assert not list(ended.folder.glob("kpi*"))
    assert_nothing_left(following, project)


def test_an_interrupted_comparison_leaves_a_verdict_and_nothing_else(compare, project):
    run = compare(*SHORT, *LIGHT, BASE="HEAD").until(" of at most 62 s, ")
    ended = run.signal(signal.SIGINT).end()
    assert ended.code == 2
    assert ended.verdict["verdict"] == "INVALID"
    assert_nothing_left(run, project)


@pytest.fixture(scope="module")
def control(project, tmp_path_factory) -> tuple[Run, Finished]:
    """The command of the CI job, of HEAD with itself in cluster mode; it ends itself."""
    env = {"XDG_CACHE_HOME": str(cache_of(project)), "BASE": "HEAD", "MODE": "cluster"}
    folder = tmp_path_factory.mktemp("control")
    more = ("modules.compare.budget=180", "modules.compare.profile=true")
    more += ("modules.compare.false-alarm=0.1%",)  # also how often a function may be named
    more += ("modules.compare.cpu-share=1%",)  # the slowest pace, on whatever machine
    run = Run(folder, *SHORT, *more, job="compare", root=project.root, **env)
    return run, run.end()


def test_the_control_passes_and_ends_before_its_time_is_up(control):
    _, ended = control
    assert ended.code == 0, ended.output
    assert ended.verdict["verdict"] == "PASS"
    told = json.loads((ended.folder / "compare.json").read_text())
    assert 10 <= told["decided_s"] < 180
    assert (told["mode"], told["execution"]) == ("cluster", "compare")
    assert told["base"]["revision"] == told["head"]["revision"]
    assert "this is the control, which must pass" in ended.output
    assert f"Compare: {told['decided_s']:g} s of at most 180: 8 of 8 decided" in ended.output


def test_the_pace_is_what_the_machine_can_carry_and_the_schedule_that_of_the_pace(control):
    _, ended = control
    [execution] = json.loads((ended.folder / "run.json").read_text())["executions"]
    assert [execution["properties"][it] for it in ("period", "search_lag")] == ["64", "57"]
    [judged] = ended.verdict["executions"]
    pace = judged["comparison"]["pace"]
    assert (pace["period_ms"], pace["usual_ms"], pace["why"]) == (64, 18, "measured")
    assert min(pace["cost"].values()) > 0
    assert "one of each label every 64 ms" in ended.output
    assert ended.reasons() == ""


def test_both_sides_ran_in_the_same_mode_with_as_many_workers(control):
    _, ended = control
    [execution] = json.loads((ended.folder / "run.json").read_text())["executions"]
    assert re.search(rf"coin_seed={execution['properties']['coin_seed']}\b", ended.output)
    base, head = execution["targets"]
    assert (base.pop("name"), head.pop("name")) == ("base", "head")
    assert base == head
    assert base["mode"] == "cluster"
    assert base["instances"] == os.cpu_count()


def test_of_the_control_nothing_is_named_by_what_its_workers_computed(control):
    _, ended = control
    why = json.loads((ended.folder / "why.json").read_text())
    assert (why["problem"], why["outcome"]) == ("", "unchanged")
    assert [it for it in why["functions"] if it["own"]["moved"] == "more"] == []
    profile = ended.folder / "profile"
    assert [len(list((profile / side).glob("*.jsonl"))) for side in ("base", "head")] == [
        os.cpu_count(),
        os.cpu_count(),
    ]


def test_the_verdict_of_the_control_is_on_the_page_of_the_ci_job(control):
    run, ended = control
    assert_on_the_page_of_the_job(ended, "compare", run.log.parent)


def test_the_control_leaves_nothing_behind(control, project):
    assert_nothing_left(control[0], project)


def test_twice_the_work_fails_by_the_label_that_gates_whatever_ends_the_profile(compare, project):
    gate = ("gates=p50", "labels=sum", "effect=5%", "budget=400", "first=10", "every=10")
    gate += ("profile=true",)
    options = [*(f"modules.compare.{each}" for each in gate), *LIGHT, SHORT[0]]
    run = compare(*options, BASE="HEAD", HEAD_INJECT_WORK_PERCENT="100")
    run.until("Profiling base and head")
    support.wait_until((run.folder / "profile" / "schedule.json").exists, "the load is on")
    stood = (run.folder / "verdict.json").read_text()
    ended = run.signal(signal.SIGINT).end()
    assert (run.folder / "verdict.json").read_text() == stood
    assert ended.code == ended.verdict["exit_code"] == 3, ended.output
    assert f"\n{ended.verdict['verdict']}: " in ended.output
    assert "Traceback" not in ended.output
    number, change = r"[\d.]+", r"\+[\d.]+ %"
    line = (
        rf"FAIL compare: p50 of sum: head {number} ms against base {number} ms, {change} "
        rf"\(at least {change}, at most {change}\): worse beyond doubt"
    )
    assert re.fullmatch(line, ended.reasons())
    assert re.search(line, ended.output)
    compared = ended.verdict["executions"][0]["comparison"]
    assert (compared["injected"], compared["control"]) == ({"work_percent": 100.0}, False)
    [finding] = [it for it in compared["findings"] if it["gates"]]
    assert finding["metric"] == "p50"
    low, high = finding["interval"]
    assert 0 < low < high
    page = (ended.folder / "index.html").read_text()
    assert "Head is worse than base: p50 of sum +" in page
    assert not (ended.folder / "why.json").exists()
    assert_nothing_left(run, project)


AURORA = "app/targets/search/carriers/aurora.js"
SORTS_AGAIN = """const again = JSON.parse(raw).result.offers;
  for (let times = 0; times < 50000; times += 1) {
    again.sort((a, b) => (times % 2 ? 1 : -1) * (a.fare.amount < b.fare.amount ? -1 : 1));
  }
  return JSON.parse(raw)"""


def test_of_a_commit_that_sorts_again_and_again_the_function_that_does_is_named_first(
    compare, project
):
    text = (project.root / AURORA).read_text()
    project.commit(text.replace("return JSON.parse(raw)", SORTS_AGAIN, 1), AURORA)
    gate = ("gates=p50", "budget=200", "first=10", "every=10")
    options = [*(f"modules.compare.{each}" for each in gate), *LIGHT, *CHEAP_SUMS, SHORT[0]]
    run = compare(*options, BASE="HEAD~1")
    try:
        ended = run.end()
        assert_nothing_left(run, project)
    finally:
        project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert ended.code == 3, ended.output
    why = json.loads((ended.folder / "why.json").read_text())
    assert (why["problem"], why["outcome"]) == ("", "computing")
    named = [it for it in why["functions"] if it["own"]["moved"] == "more"]
    assert ("toTickets", AURORA) in [(it["name"], it["file"]) for it in named]
    first = next(
        it for it in (ended.folder / "verdict.md").read_text().splitlines() if it[:3] == "- `"
    )
    assert first.startswith(f"- `toTickets ({AURORA}:")
