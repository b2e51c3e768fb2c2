"""The default kind of run, shortened: what it leaves behind anywhere, and that it can fail."""

import json
import re
import shutil
import tempfile
import xml.etree.ElementTree as ET

import jsonschema
import pytest

import support
from e2e.adopting import Copy
from e2e.bzt_run import (
    LENIENT,
    WARMUP_S,
    Run,
    assert_on_the_page_of_the_job,
    mostly_right,
    only,
    rows_of,
)
from e2e.many_labels import plan_of_labels
from support.git_repos import Repo
from support.http_server import Handler, serving

SCHEMA = support.ROOT / "scripts" / "tollgate" / "report" / "verdict.schema.json"
TARGETS = ("calculate", "sum", "search", "kittens", "pi")
CRITERIA = mostly_right(*TARGETS)
MODES = {"fork": "kpi.jtl", "cluster": "kpi-1.jtl"}
#: A third of the usual rates, which a busy machine sends in time as well.
RATES = {f"{it}_rate": 4 for it in ("calculate", "sum", "search")}
SHORT = only("fork", CRITERIA, {"verdict": LENIENT}, warmup=WARMUP_S, measured=6, **RATES)
SHORT["~execution"].append({"scenario": "cluster"})


class Proxy(Handler):
    """Counts what it is asked for, and passes nothing on."""

    def respond(self):
        self.server.asked.append(self.path)
        self.answer(502)


@pytest.fixture(scope="module")
def proxy():
    with serving(Proxy, asked=[]) as server:
        yield server


def named(proxy):
    """An environment that names the proxy in every way, for each host but another one."""
    port = proxy.server_port
    names = ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy")
    options = f"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port} -Dhttp.nonProxyHosts=shop.test"
    none = dict.fromkeys(("no_proxy", "NO_PROXY"), "")
    url = f"http://127.0.0.1:{port}"
    return {**dict.fromkeys(names, url), **none, "JAVA_TOOL_OPTIONS": options}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project in a path that tools stumble over; its `reports` is a link to a folder elsewhere,
    on another filesystem where there is one."""
    made = Copy(tmp_path_factory.mktemp("passed") / "a b" / "ö", {})
    with tempfile.TemporaryDirectory(dir=support.other_filesystem()) as elsewhere:
        (made.root / "reports").symlink_to(elsewhere)
        yield made


@pytest.fixture(scope="module")
def passed(copy, proxy):
    """The command of the CI job, where everything is as odd as it may be."""
    folder = copy.root.parent
    (folder / "home").mkdir(exist_ok=True)
    shutil.rmtree(copy.root / "reports" / "run", ignore_errors=True)  # of a first go
    # Java finds no file of such a name in the locale `C`, which many a CI job has.
    odd = {"LC_ALL": "C", "LOG_REQUESTS": "true", "HOME": str(folder / "home"), **named(proxy)}
    places = {"root": copy.root, "root_of_runs": copy.root / "reports"}
    run = Run(folder, config=SHORT, dashboards=True, job="check", **places, **odd)
    ended = run.end_cleanly()
    assert ended.code == 0, ended.output
    return ended


def test_a_run_whose_criteria_hold_exits_with_0_and_the_page_of_the_job_says_pass(passed, copy):
    assert "PASS: 10 of 10 criteria hold" in passed.output
    assert passed.verdict["verdict"] == "PASS"
    assert_on_the_page_of_the_job(passed, "check", copy.root.parent)


def test_a_run_leaves_what_the_readme_promises_and_what_the_targets_printed(passed):
    present = {path.name for path in passed.folder.iterdir()}
    wanted = {"verdict.json", "verdict.md", "junit.xml", "run.json", "workers.jsonl", "bzt.log"}
    wanted |= {"workers-cpu.jsonl", "kpi.jtl", "kpi-1.jtl", "jmeter.log"}
    assert wanted <= present
    assert (passed.folder.parent / "latest").resolve() == passed.folder.resolve()
    for mode in MODES:
        assert (passed.folder / "dashboard" / mode / "index.html").is_file()
        (printed,) = passed.folder.glob(f"pm2-{mode}-out*.log")
        assert "GET /calculate" in printed.read_text()


def test_a_run_leaves_a_record_for_the_history_which_is_then_shown(passed, copy):
    own = (passed.folder / "history.jsonl").read_text()
    assert len(own) < 8_000
    kept = (passed.folder.parent / "history").glob(f"{passed.folder.name}-*.jsonl")
    assert own in [it.read_text() for it in kept]  # a first go has left one as well
    shown = copy.shell(".venv/bin/tollgate history", LC_ALL="C")
    assert shown.returncode == 0, shown.stderr
    assert all(f"check, {mode}: " in shown.stdout for mode in MODES)


@pytest.mark.needs("another filesystem")
def test_all_of_it_may_be_on_another_filesystem(passed, copy):
    assert passed.folder.stat().st_dev != copy.root.stat().st_dev


def test_load_for_this_machine_goes_through_no_proxy_of_the_environment(passed, proxy):
    assert passed.all_answered_right
    assert proxy.asked == []


def test_the_page_of_the_run_and_that_of_all_runs_say_what_the_verdict_does(passed):
    assert "All 10 criteria hold." in passed.page
    assert {f'href="dashboard/{mode}/index.html"' in passed.page for mode in MODES} == {True}
    assert "fork intended" in passed.page
    assert "tollgate run " in passed.page
    own = f"{passed.folder.name}/index.html"
    assert own in passed.output
    page = (passed.folder.parent / "index.html").read_text()
    assert "The only run (check) is PASS." in page
    assert f'href="{own}"' in page


def test_a_dashboard_says_which_samples_it_shows_and_when_they_were_taken(passed):
    year = passed.json("run.json")["started"][2:4]
    for mode, jtl in MODES.items():
        page = (passed.folder / "dashboard" / mode / "index.html").read_text()
        assert f'"{jtl}"' in page
        assert re.search(rf'Start Time</td>\s*<td>"\d+/\d+/{year}, \d+:\d+', page)


def test_every_target_was_asked_in_both_modes_and_answered_right(passed):
    for name in MODES.values():
        rows = rows_of(passed.folder / name)
        assert [*rows[0]][:4] == ["timeStamp", "elapsed", "label", "responseCode"]
        assert {row["label"] for row in rows} == set(TARGETS)


def test_the_cluster_had_as_many_workers_as_were_asked_for(passed):
    executions = passed.json("run.json")["executions"]
    asked = {app["name"]: app["instances"] for it in executions for app in it["targets"]}
    lines = [json.loads(line) for line in (passed.folder / "workers.jsonl").open()]
    for app, instances in asked.items():
        own = [line for line in lines if line["app"] == app]
        assert len({line["pid"] for line in own}) == instances
        assert {line["mode"] for line in own} == {app}


def test_verdict_json_is_as_its_schema_says_and_names_the_machine(passed):
    jsonschema.validate(passed.verdict, json.loads(SCHEMA.read_text()))
    environment = passed.verdict["environment"]
    assert environment["versions"]["jmeter"] == "5.6.3"
    assert set(environment["plans"]) >= {"check.jmx", "fragments/search.jmx"}


def test_junit_names_each_criterion_under_its_execution(passed):
    cases = ET.parse(passed.folder / "junit.xml").getroot().iter("testcase")
    names = {(case.get("classname"), case.get("name")) for case in cases}
    assert {(f"tollgate.check.{mode}", it) for mode in MODES for it in CRITERIA} <= names


def test_an_archived_run_is_judged_as_it_was_live(passed, copy):
    judged = copy.shell(".venv/bin/tollgate judge reports/latest", LC_ALL="C")
    assert (judged.returncode, judged.stderr) == (passed.code, "")
    assert judged.stdout.strip()
    assert judged.stdout.strip() in passed.output


@pytest.mark.usefixtures("passed")
def test_the_users_own_pm2_and_bzt_are_left_alone(copy):
    left = {path.name for path in (copy.root.parent / "home").iterdir()}
    assert left & {".pm2", ".bzt", ".bzt-rc"} == set()


def test_git_shows_nothing_of_what_is_installed_or_left_by_a_run_even_where_it_is_a_link(tmp_path):
    shutil.copy(support.ROOT / ".gitignore", tmp_path)
    links = ["node_modules", ".tollgate", ".venv", "reports"]
    for name in links:
        (tmp_path / name).symlink_to("elsewhere")
    Repo(tmp_path).git("init", "--quiet")
    assert Repo(tmp_path).git("check-ignore", *links).split() == links


def test_a_known_delay_stops_and_fails_the_run_and_junit_names_the_criteria(tmp_path):
    # Judged exactly, second by second: a few seconds on a busy machine are too few for an interval.
    # And sent one after another by three threads, without a schedule that a busy one falls behind.
    slow = ["avg-lt of calculate>350ms for 3s", "avg-lt of search>350ms over 3s"]
    config = only("fork", [*slow, *mostly_right("sum")], warmup=WARMUP_S, measured=60)
    config["~execution"].append({"scenario": "cluster"})
    search = "/search?origin=PAR&destination=LYS&date=2026-03-14"
    asked = [("calculate", "/calculate"), ("search", search), ("sum", "/sum/1000")] * 200
    plan = plan_of_labels(tmp_path / "asked.jmx", asked, threads=3)
    config["scenarios"] = {"fork": {"script": plan}}
    ended = Run(tmp_path, config=config, INJECT_DELAY_MS="400").end()
    assert ended.code == 3, ended.output
    cases = ET.parse(ended.folder / "junit.xml").getroot().iter("testcase")
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    record = ended.json("run.json")
    assert record["stopped_by"] in failed <= set(slow)
    assert 3 <= record["executions"][0]["stop"]["measured_s"] < 60
    assert "avg-lt of " in ended.reasons()
    assert "INCONCLUSIVE cluster: not run: the run was stopped early by 'avg-lt" in ended.reasons()
    assert not (ended.folder / "kpi-1.jtl").exists()


@pytest.mark.long
def test_a_window_that_is_not_whole_stops_no_run(tmp_path):
    """Taurus's own `within` holds the first second against the limit for five."""
    hits = ["hits of calculate<20 within 5s"]
    config = only("fork", hits, {"verdict": LENIENT}, warmup=WARMUP_S, measured=8)
    ended = Run(tmp_path, config=config).end()
    assert ended.outcome == (0, "PASS"), ended.reasons()
