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
    all_answered_right,
    assert_on_the_page_of_the_job,
    mostly_right,
    only,
)
from support.git_repos import Repo
from support.http_server import Handler, serving

SCHEMA = support.ROOT / "scripts" / "tollgate" / "report" / "verdict.schema.json"
TARGETS = ("calculate", "sum", "search", "kittens", "pi")
CRITERIA = mostly_right(*TARGETS)
SHORT = {
    "~reporting": [
        {"module": "verdict"},
        {"module": "passfail", "criteria": CRITERIA},
    ],
    "modules": {
        "jmeter": {"properties": {"warmup": WARMUP_S, "measured": 6}},
        "stop-when-decided": {"budget": "off"},
        "verdict": LENIENT,
    },
}


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
    folder = tmp_path_factory.mktemp("passed") / "a b" / "ö"
    made = Copy(folder, {})
    with tempfile.TemporaryDirectory(dir=support.other_filesystem()) as elsewhere:
        (made.root / "reports").symlink_to(elsewhere)
        yield made


@pytest.fixture(scope="module")
def passed(copy, proxy):
    """The command of the CI job, where everything is as odd as it may be."""
    folder = copy.root.parent
    (folder / "home").mkdir()
    # Java finds no file of such a name in the locale `C`, which many a CI job has.
    odd = {"LC_ALL": "C", "LOG_REQUESTS": "true", "HOME": str(folder / "home"), **named(proxy)}
    places = {"root": copy.root, "root_of_runs": copy.root / "reports"}
    run = Run(folder, config=SHORT, dashboards=True, job="check", **places, **odd)
    ended = run.end()
    assert run.left_behind() == []
    assert ended.code == 0, ended.output
    return ended


def test_a_run_whose_criteria_hold_exits_with_0_and_says_pass(passed):
    assert "PASS: 10 of 10 criteria hold" in passed.output
    assert passed.verdict["verdict"] == "PASS"


def test_a_run_leaves_what_the_readme_promises(passed):
    present = {path.name for path in passed.folder.iterdir()}
    wanted = {"verdict.json", "verdict.md", "junit.xml", "run.json", "workers.jsonl", "bzt.log"}
    assert wanted | {"kpi.jtl", "kpi-1.jtl", "jmeter.log"} <= present
    for mode in ("fork", "cluster"):
        assert (passed.folder / "dashboard" / mode / "index.html").is_file()
    assert (passed.folder.parent / "latest").resolve() == passed.folder.resolve()


def test_what_the_targets_printed_is_kept(passed):
    for mode in ("fork", "cluster"):
        (printed,) = passed.folder.glob(f"pm2-{mode}-out*.log")
        assert "GET /calculate" in printed.read_text()


@pytest.mark.needs("another filesystem")
def test_all_of_it_may_be_on_another_filesystem(passed, copy):
    assert passed.folder.stat().st_dev != copy.root.stat().st_dev


def test_the_verdict_is_on_the_page_of_the_ci_job(passed, copy):
    assert_on_the_page_of_the_job(passed, "check", copy.root.parent)


def test_load_for_this_machine_goes_through_no_proxy_of_the_environment(passed, proxy):
    assert all_answered_right(passed.folder)
    assert proxy.asked == []


def test_the_page_of_the_run_says_what_the_verdict_does_and_links_the_dashboards(passed):
    page = (passed.folder / "index.html").read_text()
    assert "All 10 criteria hold." in page
    assert {f'href="dashboard/{mode}/index.html"' in page for mode in ("fork", "cluster")} == {True}
    assert "fork intended" in page
    assert "./scripts/run " in page
    assert str(passed.folder / "index.html").split("/")[-2] + "/index.html" in passed.output


def test_the_list_of_all_runs_has_it_and_links_its_page(passed):
    page = (passed.folder.parent / "index.html").read_text()
    assert "The only run (check) is PASS." in page
    assert f'href="{passed.folder.name}/index.html"' in page


def test_a_dashboard_says_which_samples_it_shows_and_when_they_were_taken(passed):
    year = json.loads((passed.folder / "run.json").read_text())["started"][2:4]
    for mode, jtl in (("fork", "kpi.jtl"), ("cluster", "kpi-1.jtl")):
        page = (passed.folder / "dashboard" / mode / "index.html").read_text()
        assert f'"{jtl}"' in page
        assert re.search(rf'Start Time</td>\s*<td>"\d+/\d+/{year}, \d+:\d+', page)


def test_every_target_was_asked_in_both_modes_and_answered_right(passed):
    for name in ("kpi.jtl", "kpi-1.jtl"):
        header, *rows = (passed.folder / name).read_text().splitlines()
        assert header.startswith("timeStamp,elapsed,label,responseCode")
        assert {row.split(",")[2] for row in rows} == set(TARGETS)
    assert all_answered_right(passed.folder)


def test_the_cluster_had_as_many_workers_as_were_asked_for(passed):
    executions = json.loads((passed.folder / "run.json").read_text())["executions"]
    asked = {app["name"]: app["instances"] for it in executions for app in it["targets"]}
    lines = [json.loads(line) for line in (passed.folder / "workers.jsonl").open()]
    for app, instances in asked.items():
        pids = {line["pid"] for line in lines if line["app"] == app}
        assert len(pids) == instances
        assert {line["mode"] for line in lines if line["app"] == app} == {app}


def test_verdict_json_is_as_its_schema_says_and_names_the_machine(passed):
    jsonschema.validate(passed.verdict, json.loads(SCHEMA.read_text()))
    environment = passed.verdict["environment"]
    assert environment["versions"]["jmeter"] == "5.6.3"
    assert set(environment["plans"]) >= {"check.jmx", "fragments/search.jmx"}


def test_junit_names_each_criterion_under_its_execution(passed):
    cases = ET.parse(passed.folder / "junit.xml").getroot().iter("testcase")
    names = {(case.get("classname"), case.get("name")) for case in cases}
    for mode in ("fork", "cluster"):
        for criterion in CRITERIA:
            assert (f"tollgate.check.{mode}", criterion) in names


def test_an_archived_run_is_judged_as_it_was_live(passed, copy):
    judged = copy.shell(".venv/bin/tollgate judge reports/latest", LC_ALL="C")
    assert (judged.returncode, judged.stderr) == (passed.code, "")
    table = judged.stdout.strip()
    assert table
    assert table in passed.output


def test_the_users_own_pm2_and_bzt_are_left_alone(passed, copy):
    assert passed.folder.exists()
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
    slow = ["avg-lt of calculate>350ms for 3s", "avg-lt of search>350ms over 3s"]
    config = only("fork", [*slow, *mostly_right("sum")], warmup=WARMUP_S, measured=60)
    config["~execution"].append({"scenario": "cluster"})
    config["modules"] |= {"verdict": LENIENT}
    ended = Run(tmp_path, config=config, INJECT_DELAY_MS="400").end()
    assert ended.code == 3, ended.output
    cases = ET.parse(ended.folder / "junit.xml").getroot().iter("testcase")
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    record = json.loads((ended.folder / "run.json").read_text())
    assert record["stopped_by"] in failed <= set(slow)
    stop = record["executions"][0]["stop"]
    assert 3 <= stop["measured_s"] < 60
    assert "avg-lt of " in ended.reasons()
    assert "INCONCLUSIVE cluster: not run: the run was stopped early by 'avg-lt" in ended.reasons()
    assert not (ended.folder / "kpi-1.jtl").exists()


def test_a_window_that_is_not_whole_stops_no_run(tmp_path):
    """Taurus's own `within` holds the first second against the limit for five."""
    config = only("fork", ["hits of calculate<20 within 5s"], warmup=WARMUP_S, measured=8)
    config["modules"] |= {"verdict": LENIENT, "stop-when-decided": {"budget": "off"}}
    ended = Run(tmp_path, config=config).end()
    assert (ended.code, ended.verdict["verdict"]) == (0, "PASS"), ended.reasons()
