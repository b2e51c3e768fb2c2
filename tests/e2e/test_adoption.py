"""A service and a plan that are not ours, adopted by the very commands of the documentation."""

import shutil
from xml.etree import ElementTree

import pytest

import support
from e2e.adopting import PATIENT, SHORT, THEIRS, Copy, put_into_ecosystem, serve
from e2e.bzt_run import Finished
from support import plan_files
from tollgate.plan import sent

#: As it is called at their place; and the locale is one in which Java finds no file of that name.
THEIR_PLAN = "Größe 1.jmx"
#: On a busy machine the generator is late, and an interval is wider than what there is to decide.
BUSY = {"generator", "machine"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adopted")
    ports = {named: support.free_port() for named in ("8080", "8081")}
    (folder / "stock").mkdir()
    shutil.copy(THEIRS / "server.js", folder / "stock")
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


def run(copy, block, kind=None, **env):
    """A run in the copy, by a block of the documentation, judged by the generator at most."""
    before = copy.latest
    done = copy.shell(f"{block.rstrip()} {PATIENT}", **env)
    ended = Finished(done.returncode, done.stdout + done.stderr, copy.latest)
    assert ended.folder != before, ended.output
    assert ended.blamed <= BUSY, ended.output
    assert kind in (None, ended.verdict["kind"])
    return ended


def short(block):
    return f"{block.rstrip()} {SHORT} -o modules.report.dashboards=false"


@pytest.fixture(scope="module")
def by_url(copy):
    copy.make(copy.block("--url"))
    return run(copy, short("./scripts/run -shop"), "check")


@pytest.fixture(scope="module")
def by_pm2(copy):
    (line,) = copy.blocks("js")
    put_into_ecosystem(copy, line)
    copy.make(copy.block("--app"))
    return run(copy, short("./scripts/run -stock"), "check")


@pytest.fixture(scope="module")
def by_router(copy):
    copy.make(".venv/bin/tollgate new target order-service")
    env = {"MODE": "fork", "PORT_FORK": str(support.free_port())}
    return run(copy, short("./scripts/run -order-service"), "check", **env)


@pytest.fixture(scope="module")
def their_plan(copy):
    block = copy.block("PLAN=").replace("path/to/your plan.jmx", f"../theirs/plans/{THEIR_PLAN}")
    return run(copy, block, LC_ALL="C")


def test_a_service_that_runs_already_is_adopted_by_its_url_and_told_as_somebody_elses(by_url, copy):
    execution, url = by_url.execution, f"http://127.0.0.1:{copy.ports['8080']}"
    assert {each["label"] for each in execution["criteria"]} == {"", "items-page-page"}
    assert execution["schedules"][0]["sent"] > 50
    assert (execution["url"], execution["workers"]) == (url, [])
    assert any(line.startswith(f"asked was {url}, which") for line in execution["warnings"])
    assert not (by_url.folder / "workers.jsonl").exists()


@pytest.mark.long
def test_an_app_of_theirs_is_started_and_watched_without_anything_of_ours_in_it(by_pm2, copy):
    workers = by_pm2.execution["workers"]
    assert [worker["requests"] for worker in workers] == [None, None]
    assert all(worker["rss_max_bytes"] > 0 for worker in workers)
    assert any("have no X-Worker" in line for line in by_pm2.execution["warnings"])
    assert not support.listens(copy.ports["8081"]), "it runs on under PM2"


@pytest.mark.long
def test_a_router_of_our_own_server_answers_what_its_skeleton_expects(by_router):
    assert by_router.execution["name"] == "order-service"
    assert by_router.execution["workers"][0]["requests"] > 50


def test_their_plan_is_judged_by_their_criteria_and_its_schedule_is_proven(their_plan):
    execution = their_plan.execution
    criteria = [it["criterion"] for it in execution["criteria"]]
    assert criteria == ["avg-rt of home>500ms", "fail>1%"]
    (schedule,) = execution["schedules"]
    assert (schedule["labels"], schedule["intended"]) == (["paced"], 30)
    assert any("coordinated omission" in line for line in execution["warnings"])


def test_their_plan_sends_what_it_always_sent(their_plan):
    labels = [row["label"] for row in their_plan.samples]
    assert labels.count("home") == labels.count("cart") == 2 * 40
    assert labels.count("steady") > 20
    sent = (their_plan.folder / "kpi.jtl").read_text()
    assert all(f"?user={name}" in sent for name in ("asta", "bibi", "caspar"))


def test_their_plan_reads_what_lies_beside_it_and_nothing_of_ours_that_is_called_alike(
    their_plan, copy
):
    assert (copy.root / "data" / "sum.csv").is_file()
    steady = [row for row in their_plan.samples if row["label"] == "steady"]
    asked = {row["URL"].partition("?")[2] for row in steady}
    users = ("asta", "bibi", "caspar")
    assert asked
    assert asked <= {f"sum=theirs-{n}&signed=by-{user}" for user in users for n in (1, 2)}


def test_what_is_noticed_of_their_plan_is_told_everywhere(their_plan):
    lint = their_plan.execution["lint"]
    begins = ["no assertion", "no connect", "no response", "the listener 'View"]
    begins.append("the host 127.0.0.1")
    assert [line[: len(begin)] for line, begin in zip(lint, begins, strict=True)] == begins
    markdown = (their_plan.folder / "verdict.md").read_text()
    assert "What was noticed of the plan:" in markdown
    assert "View Results Tree" in markdown
    assert all(f"lint: {line}" in their_plan.output for line in lint)


def test_the_plan_that_ran_differs_from_theirs_in_listeners_and_what_looks_at_requests(
    their_plan, copy
):
    theirs = copy.root.parent / "theirs" / "plans" / THEIR_PLAN
    (ran,) = their_plan.folder.glob("modified_*.jmx")
    assert without_ours(ran) == without_ours(theirs)
    beside = {path.name for path in theirs.parent.iterdir()}
    assert beside == {THEIR_PLAN, "users.csv", "data", "sign.groovy"}


def without_ours(plan):
    tree = ElementTree.parse(plan)
    for parent in list(tree.iter("hashTree")):
        watching = f"ResponseAssertion[@testname='no variable without a value in {sent.REQUEST}']"
        ours = ("ResultCollector", watching, "*[@testname='trace']")
        for element in (it for each in ours for it in parent.findall(each)):
            parent.remove(parent[list(parent).index(element) + 1])
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
