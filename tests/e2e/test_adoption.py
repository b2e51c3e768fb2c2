"""A service and a plan that are not ours, adopted by the very commands of the documentation."""

import csv
import json
import shutil
from xml.etree import ElementTree

import pytest

import support
from e2e.adopting import PATIENT, SHORT, THEIRS, Copy, put_into_ecosystem, serve
from support import plan_files

#: As it is called at their place; and the locale is one in which Java finds no file of that name.
THEIR_PLAN = "Größe 1.jmx"
C_LOCALE = {"LC_ALL": "C"}
#: On a busy machine the generator is late, and an interval is wider than what there is to decide.
BUSY = {"generator", "machine"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adopted")
    ports = {named: support.free_port() for named in ("8080", "8081")}
    (folder / "stock").mkdir()
    shutil.copy(THEIRS / "server.js", folder / "stock")
    (folder / "theirs").mkdir()
    for part in ("plans", "shared"):
        shutil.copytree(THEIRS / part, folder / "theirs" / part)
    made = Copy(folder, ports)
    for file in (folder / "theirs").rglob("*.jmx"):
        file.write_text(made.here(file.read_text()))
    (folder / "theirs/plans/load.jmx").rename(folder / "theirs/plans" / THEIR_PLAN)
    server = serve(THEIRS / "server.js", ports["8080"])
    yield made
    assert server.poll() is None, "their service was ended by somebody"
    server.terminate()
    server.wait()


class Ran:
    """A run in the copy: its exit code, what it printed and what it left."""

    def __init__(self, copy, commands, **env):
        before = copy.latest
        done = copy.shell(commands, **env)
        self.code, self.output = done.returncode, done.stdout + done.stderr
        self.folder = copy.latest
        assert self.folder != before, self.output
        self.verdict = json.loads((self.folder / "verdict.json").read_text())
        (self.execution,) = self.verdict["executions"]

    @property
    def blamed(self):
        """Whose fault it is that the run did not pass."""
        return {reason["fault"] for reason in self.verdict["reasons"]}


def shortened(block):
    return f"{block.rstrip()} {SHORT} {PATIENT} -o modules.report.dashboards=false"


@pytest.fixture(scope="module")
def by_url(copy):
    made = copy.shell(copy.block("--url"))
    assert made.returncode == 0, made.stderr
    return Ran(copy, shortened(copy.block("-shop")))


@pytest.fixture(scope="module")
def by_pm2(copy):
    (line,) = copy.blocks("js")
    put_into_ecosystem(copy, line)
    made = copy.shell(copy.block("--app"))
    assert made.returncode == 0, made.stderr
    return Ran(copy, shortened(copy.block("-stock")))


@pytest.fixture(scope="module")
def by_router(copy):
    made = copy.shell(".venv/bin/tollgate new target order-service")
    assert made.returncode == 0, made.stderr
    port = str(support.free_port())
    return Ran(copy, shortened("./scripts/run -order-service"), MODE="fork", PORT_FORK=port)


@pytest.fixture(scope="module")
def their_plan(copy):
    block = copy.block("PLAN=").replace("path/to/your plan.jmx", f"../theirs/plans/{THEIR_PLAN}")
    return Ran(copy, f"{block.rstrip()} {PATIENT}", **C_LOCALE)


def test_a_service_that_runs_already_is_adopted_by_its_url(by_url):
    assert by_url.blamed <= BUSY, by_url.output
    assert by_url.verdict["kind"] == "shop"
    assert {each["label"] for each in by_url.execution["criteria"]} == {"shop"}
    assert by_url.execution["schedules"][0]["sent"] > 50


def test_the_verdict_says_that_the_service_is_somebody_elses(by_url, copy):
    url = f"http://127.0.0.1:{copy.ports['8080']}"
    assert by_url.execution["url"] == url
    assert by_url.execution["workers"] == []
    assert any(line.startswith(f"asked was {url}, which") for line in by_url.execution["warnings"])
    assert not (by_url.folder / "workers.jsonl").exists()


def test_an_app_of_theirs_is_started_and_watched_without_anything_of_ours_in_it(by_pm2):
    assert by_pm2.blamed <= BUSY, by_pm2.output
    workers = by_pm2.execution["workers"]
    assert len(workers) == 2
    for worker in workers:
        assert worker["rss_max_bytes"] > 0
        assert worker["requests"] is None
    assert any("have no X-Worker" in line for line in by_pm2.execution["warnings"])


@pytest.mark.long
def test_a_router_of_our_own_server_answers_what_its_skeleton_expects(by_router):
    assert by_router.blamed <= BUSY, by_router.output
    assert by_router.verdict["kind"] == "order-service"
    assert by_router.execution["name"] == "fork"
    assert by_router.execution["workers"][0]["requests"] > 50


def test_nothing_of_theirs_runs_on_under_pm2(by_pm2, copy):
    assert by_pm2.verdict["kind"] == "stock"
    assert not support.listens(copy.ports["8081"])


def test_their_plan_is_judged_by_their_criteria_and_its_schedule_is_proven(their_plan):
    assert their_plan.blamed <= BUSY, their_plan.output
    assert [it["criterion"] for it in their_plan.execution["criteria"]] == [
        *("avg-rt of home>500ms", "fail>1%")
    ]
    (schedule,) = their_plan.execution["schedules"]
    assert schedule["labels"] == ["paced"]
    assert schedule["intended"] == 30
    assert any("coordinated omission" in line for line in their_plan.execution["warnings"])


def test_their_plan_sends_what_it_always_sent(their_plan):
    rows = (their_plan.folder / "kpi.jtl").read_text().splitlines()[1:]
    labels = [row.split(",")[2] for row in rows]
    assert labels.count("home") == labels.count("cart") == 2 * 40
    assert labels.count("steady") > 20
    assert all(f"?user={name}" in "\n".join(rows) for name in ("asta", "bibi", "caspar"))


def test_their_plan_reads_what_lies_beside_it_and_nothing_of_ours_that_is_called_alike(
    their_plan, copy
):
    assert (copy.root / "data" / "sum.csv").is_file()
    with (their_plan.folder / "kpi.jtl").open(encoding="utf-8", newline="") as rows:
        asked = {
            row["URL"].partition("?")[2] for row in csv.DictReader(rows) if row["label"] == "steady"
        }
    assert asked
    assert asked <= {
        f"sum=theirs-{number}&signed=by-{user}"
        for user in ("asta", "bibi", "caspar")
        for number in (1, 2)
    }


def test_what_is_noticed_of_their_plan_is_told_everywhere(their_plan):
    lint = their_plan.execution["lint"]
    begins = (
        "no assertion",
        "no connect",
        "no response",
        "the listener 'View",
        "the host 127.0.0.1",
    )
    assert [line.startswith(begin) for line, begin in zip(lint, begins, strict=True)] == [True] * 5
    markdown = (their_plan.folder / "verdict.md").read_text()
    assert "What was noticed of the plan:" in markdown
    assert "View Results Tree" in markdown
    assert all(f"lint: {line}" in their_plan.output for line in lint)


def test_the_plan_that_ran_differs_from_theirs_in_listeners_alone(their_plan, copy):
    theirs = copy.root.parent / "theirs" / "plans" / THEIR_PLAN
    (ran,) = their_plan.folder.glob("modified_*.jmx")
    assert without_listeners(ran) == without_listeners(theirs)
    beside = {path.name for path in theirs.parent.iterdir()}
    assert beside == {THEIR_PLAN, "users.csv", "data", "sign.groovy"}


def without_listeners(plan):
    tree = ElementTree.parse(plan)
    for parent in list(tree.iter("hashTree")):
        for element in list(parent):
            if element.tag == "ResultCollector":
                at = list(parent).index(element)
                parent.remove(list(parent)[at + 1])
                parent.remove(element)
    for element in tree.iter("TestPlan"):
        for prop in element.findall("boolProp[@name='TestPlan.functional_mode']"):
            element.remove(prop)
    stripped = plan.with_name(f".{plan.name}.stripped")
    try:
        tree.write(stripped, encoding="utf-8")
        return plan_files.meaning(stripped)
    finally:
        stripped.unlink()


def test_an_archived_run_of_their_plan_is_judged_again_with_what_it_noticed(their_plan, copy):
    done = copy.shell(".venv/bin/tollgate judge reports/latest")
    assert done.returncode == their_plan.code
    assert done.stdout.strip() in their_plan.output


def test_what_was_generated_passes_the_tests_of_every_plan(by_url, by_pm2, by_router, copy):
    # Among them that JMeter saves what it has loaded as it was.
    assert {by_url.verdict["kind"], by_pm2.verdict["kind"]} == {"shop", "stock"}
    assert by_router.verdict["kind"] == "order-service"
    command = ".venv/bin/python -m pytest -q -p no:cacheprovider tests/plans/test_plans.py"
    done = copy.shell(f"{command} -k 'shop or stock or order-service or there_and_is_included'")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
