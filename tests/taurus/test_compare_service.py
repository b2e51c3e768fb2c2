"""The service `compare` on Taurus's configuration, without Taurus's engine, PM2 or JMeter."""

import http.server
import logging
import os
import shutil
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

import support
from support.git_repos import SERVER, repo
from tollgate.base.paths import ROOT
from tollgate.compare import Cost, Pace, record
from tollgate.gather.comparison import labels_of
from tollgate.plan.read import read_plan
from tollgate.run import manifest
from tollgate.targets import lock, pm2
from tollgate.targets.checkout import PackagesError
from tollgate.targets.probe import probes_for
from tollgate.taurus import compare as service
from tollgate.taurus import targets
from tollgate.taurus.compare import Compare
from tollgate.taurus.pace import CostError
from tollgate.taurus.shared import under_way

VARIABLES = (
    *("BASE", "BASE_URL", "HEAD_URL", "MODE", "RELOAD_EVERY", "COMPARE_MODE"),
    *("BASE_FOLDER", "HEAD_FOLDER"),
    *("INJECT_DELAY_MS", "INJECT_WORK_PERCENT", "HEAD_INJECT_DELAY_MS", "HEAD_INJECT_WORK_PERCENT"),
)


class Held(targets.Targets):
    """The service `targets`, which keeps others out and stops what it has not started."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def hold(self):
        self.calls.append("hold")

    def shutdown(self):
        self.calls.append("shutdown")


@pytest.fixture
def checkout(tmp_path):
    """A branch with a commit of its own, whose packages are installed."""
    made = repo(tmp_path / "repo")
    for name in ("package.json", "package-lock.json"):
        made.write(name, '{"packages": {}}')
    made.write(".gitignore", "node_modules/\n")
    made.write("node_modules/.package-lock.json", '{"packages": {}}')
    made.commit("on main")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit("on the branch")
    return made


@pytest.fixture
def compare(tmp_path, checkout, monkeypatch, caplog):
    """Makes the service over a configuration; its `prepare` is for the test to call."""
    caplog.set_level(logging.INFO)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(service, "ROOT", checkout.root)
    monkeypatch.setattr(service, "BASE", tmp_path / "base")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(lock, "STARTED", tmp_path / "started.json")

    def make(*executions, properties=None, reload_every="off", services=None, **settings):
        made = Compare()
        made.log = logging.getLogger("compare")
        made.settings = BetterDict.from_dict({"class": "x", "budget": "10m"} | settings)
        names = executions or ("compare",)
        modules = {
            "compare": made.settings,
            "targets": {"reload-every": reload_every},
            "jmeter": {"properties": {"warmup": 15, "measured": 0} | (properties or {})},
        }
        config = {
            "execution": [{"scenario": name} for name in names],
            "scenarios": {name: {"script": "plans/compare.jmx"} for name in names},
            "modules": modules,
        }
        made.engine = SimpleNamespace(
            config=BetterDict.from_dict(config),
            artifacts_dir=str(tmp_path),
            services=[Held()] if services is None else services,
        )
        return made

    return make


def scenario(made):
    return made.engine.config["scenarios"]["compare"]


def refused(made, kind=TaurusConfigError):
    with pytest.raises(kind) as refusal:
        made.prepare()
    said = str(refusal.value)
    assert said.startswith("compare: ")
    assert "\n" not in said
    return said


def test_base_and_head_become_the_targets_of_the_one_execution(compare, checkout, tmp_path):
    made = compare()
    made.prepare()
    apps = [f"{side}{which}" for side in ("base", "head") for which in ("", "-2", "-3", "-4")]
    assert scenario(made)["target"] == apps
    given = dict(scenario(made)["properties"])
    assert given.pop("coin_seed") > 0
    assert given == {
        **{"base_host": "127.0.0.1", "base_port": 3021, "base_protocol": "http"},
        **{"head_host": "127.0.0.1", "head_port": 3025, "head_protocol": "http"},
        **{f"base_port_{number}": 3020 + number for number in (2, 3, 4)},
        **{f"head_port_{number}": 3024 + number for number in (2, 3, 4)},
        "last_coin": 7,
        "measured": 600,
    }
    assert made.record.processes == record.read(tmp_path).processes == 4
    assert (tmp_path / "base" / SERVER).read_text() == "on main"
    base = Path(os.environ["BASE_FOLDER"])
    assert base == (tmp_path / "base").resolve()
    assert base.is_relative_to(tmp_path / "cache")
    assert os.environ["HEAD_FOLDER"] == str(checkout.root)
    assert os.environ["COMPARE_MODE"] == "fork"
    made.post_process()
    assert not (tmp_path / "base").is_symlink()
    assert not base.exists()
    assert not {"BASE_FOLDER", "HEAD_FOLDER", "COMPARE_MODE"} & {*os.environ}
    assert made.engine.services[0].calls == ["hold", "shutdown"]


def declared(*names):
    return {name: pm2.App(name, 4000 + n, "fork", 1) for n, name in enumerate(names)}


def test_an_ecosystem_of_one_process_a_side_is_compared_as_ever(compare, monkeypatch):
    monkeypatch.setattr(pm2, "declared_apps", lambda: declared("base", "head"))
    made = compare()
    made.prepare()
    assert scenario(made)["target"] == ["base", "head"]
    properties = scenario(made)["properties"]
    assert (properties["last_coin"], properties["head_port"]) == (1, 4001)
    assert made.record.processes == 1
    made.post_process()


@pytest.mark.parametrize("names", [("base", "base-2", "head"), ("base", "head", "head-3")])
def test_sides_of_unlike_processes_are_refused(compare, monkeypatch, names):
    monkeypatch.setattr(pm2, "declared_apps", lambda: declared(*names))
    made = compare()
    said = refused(made)
    assert "declare as many of both" in said
    made.post_process()


def test_each_run_has_seeds_of_its_own_and_tells_how_to_have_them_again(compare, caplog):
    seen = []
    for _ in range(2):
        made = compare()
        made.prepare()
        given = scenario(made)["properties"]
        seen.append(given["coin_seed"])
        assert f"-o modules.jmeter.properties.coin_seed={seen[-1]}" in caplog.text
        made.post_process()
    assert seen[0] != seen[1]


def test_a_seed_that_somebody_has_set_stays(compare, caplog):
    made = compare(properties={"coin_seed": 5})
    made.prepare()
    assert "coin_seed" not in scenario(made)["properties"]
    assert "Seeds" not in caplog.text


def test_a_timeout_that_never_comes_is_refused(compare):
    said = refused(compare(properties={"response_timeout": 0}))
    assert "the property response_timeout is '0': write whole milliseconds above 0" in said


def test_a_plan_that_can_t_be_read_is_refused(compare):
    made = compare()
    scenario(made)["script"] = "plans/nowhere.jmx"
    assert "the plan plans/nowhere.jmx can't be read" in refused(made)


def test_the_record_tells_what_is_compared(compare, checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("HEAD_INJECT_WORK_PERCENT", "20")
    monkeypatch.setenv("MODE", "cluster")
    made = compare(effect="10%", first=90, every=20, labels="sum")
    made.prepare()
    found = record.read(tmp_path)
    head = checkout.git("rev-parse", "HEAD")
    assert found.base.told == f"{found.base.revision[:7]} (merge base with main)"
    assert (found.head.revision, found.head.url) == (head, None)
    assert (found.execution, found.mode, found.decided_s) == ("compare", "cluster", None)
    assert (found.settings.effect, found.settings.budget_s) == (0.1, 600)
    assert (found.first_s, found.every_s) == (90, 20)
    assert (found.injected, found.settings.labels) == ({"work_percent": 20.0}, ("sum",))


def test_a_variable_that_was_there_before_is_there_again(compare, monkeypatch):
    monkeypatch.setenv("COMPARE_MODE", "mine")
    made = compare()
    made.prepare()
    assert os.environ["COMPARE_MODE"] == "fork"
    made.post_process()
    assert os.environ["COMPARE_MODE"] == "mine"


def test_changes_that_are_not_committed_are_compared_and_told(compare, checkout, tmp_path, caplog):
    checkout.write(SERVER, "changed")
    compare().prepare()
    head = record.read(tmp_path).head
    assert (head.revision, head.told[-14:]) == (None, ", with changes")
    said = "compare: head is the working tree with changes not committed: app/server.js\n"
    assert said in caplog.text


def test_what_git_ignores_is_told_to_be_head_s_alone(compare, checkout, tmp_path, caplog):
    names = [f"app/{name}.local" for name in "abcd"]
    for name in names:
        checkout.write(name, "mine")
    checkout.commit("node_modules/\n*.local\n", ".gitignore")
    compare(base="HEAD").prepare()
    said = f"head alone has what git ignores under app/: {', '.join(names[:3])} and 1 more\n"
    assert said in caplog.text
    assert "this is the control" not in caplog.text
    assert record.read(tmp_path).head.revision is None


@pytest.mark.parametrize(("value", "told"), [("5", True), ("0", False), ("", False)])
def test_what_slows_both_sides_is_told_at_the_start(compare, monkeypatch, caplog, value, told):
    monkeypatch.setenv("INJECT_DELAY_MS", value)
    compare().prepare()
    said = "INJECT_DELAY_MS=5 slows base and head alike; HEAD_INJECT_DELAY_MS slows head alone"
    assert (said in caplog.text) is told


def test_a_check_out_that_can_t_be_removed_is_told_with_its_place(
    compare, monkeypatch, caplog, tmp_path
):
    made = compare()
    made.prepare()
    left = (tmp_path / "base").resolve()
    monkeypatch.setattr(service.checkout.shutil, "rmtree", lambda *_, **__: None)
    made.post_process()
    assert f"compare: the check-out of base is left: {left} can't be removed" in caplog.text


def test_apps_that_can_t_be_ended_leave_no_environment_and_no_check_out_behind(
    compare, monkeypatch, tmp_path
):
    def fail(_targets):
        raise pm2.Pm2Error("PM2 does not answer")

    monkeypatch.setattr(Held, "shutdown", fail)
    made = compare()
    made.prepare()
    base = Path(os.environ["BASE_FOLDER"])
    assert base.exists()
    with pytest.raises(pm2.Pm2Error, match="PM2 does not answer"):
        made.post_process()
    assert not base.exists()
    assert not (tmp_path / "base").is_symlink()
    assert not {"BASE_FOLDER", "HEAD_FOLDER", "COMPARE_MODE"} & {*os.environ}


def test_base_and_head_are_asked_for_what_the_plan_asks_alone(compare):
    """A base that is older than another target would be refused for want of it."""
    kinds = yaml.safe_load((ROOT / "taurus.yml").read_text())
    common = next(it["probes"] for it in kinds["services"] if it["module"] == "targets")
    made = compare()
    made.prepare()
    scenario(made).merge(kinds["cli-aliases"]["compare"]["scenarios"]["compare"])
    probes = probes_for(made.engine.config, common)
    labels = labels_of(read_plan(ROOT / "plans" / "compare.jmx", {}))
    for side in ("base", "head"):
        asked = {path.split("/")[1].partition("?")[0] for path, *_ in probes[side]}
        assert asked == set(labels)


def test_the_control_is_announced(compare, monkeypatch, caplog):
    monkeypatch.setenv("BASE", "HEAD")
    compare().prepare()
    assert "this is the control, which must pass" in caplog.text
    assert "at most 10 min 0 s of measuring" in caplog.text


def test_a_kind_without_a_budget_is_left_alone(compare, tmp_path):
    made = compare("fork", "cluster", budget=None)
    made.prepare()
    made.startup()
    assert made.check() is False
    assert under_way(made.engine).position is None
    made.post_process()
    assert not record.is_compare(tmp_path)
    assert made.engine.services[0].calls == []


def test_what_another_run_has_checked_out_is_not_removed(compare, tmp_path):
    class Busy(Held):
        def hold(self):
            raise ToolError("targets: another run is under way in this checkout")

    (tmp_path / "base").mkdir()
    for made in (compare(services=[Busy()]), compare(budget=None)):
        if made.settings["budget"]:
            with pytest.raises(ToolError, match="another run is under way"):
                made.prepare()
        made.post_process()
    assert (tmp_path / "base").exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"reload_every": "20s"}, "a reload hits base and head at different moments"),
        ({"properties": {"measured": 300}}, "modules.compare.budget says how long to measure"),
        ({"buget": 600}, "did you mean 'budget'?"),
        ({"effect": "much"}, "effect is 'much'"),
    ],
)
def test_what_makes_no_comparison_is_refused(compare, given, why):
    assert why in refused(compare(**given))


def test_more_than_one_execution_is_refused(compare):
    assert "share one execution, and this run has: fork, cluster" in refused(
        compare("fork", "cluster")
    )


def test_without_the_service_that_starts_them_nothing_is_compared(compare):
    assert "services has no `targets`" in refused(compare(services=[]))


def test_an_unknown_base_is_refused_before_anything_is_touched(compare, monkeypatch, tmp_path):
    monkeypatch.setenv("BASE", "featur")
    made = compare()
    assert "did you mean feature?" in refused(made, ToolError)
    assert made.engine.services[0].calls == []
    assert not (tmp_path / "base").exists()


def test_what_was_half_done_is_gone_afterwards(compare, monkeypatch, tmp_path):
    def fail(*_arguments):
        raise PackagesError("`npm ci` failed for base: no")

    monkeypatch.setattr(service.checkout, "provide_packages", fail)
    made = compare()
    assert refused(made, ToolError) == "compare: `npm ci` failed for base: no"
    assert (tmp_path / "base").exists()
    made.post_process()
    assert not (tmp_path / "base").exists()
    assert not record.is_compare(tmp_path)


def test_a_base_without_a_lock_file_is_refused(compare, checkout):
    checkout.git("switch", "--quiet", "main")
    checkout.git("rm", "--quiet", "package-lock.json")
    checkout.git("commit", "--quiet", "--message", "unlocked")
    checkout.git("switch", "--quiet", "feature")
    assert "base has no package-lock.json" in refused(compare(base="main"), ToolError)


@pytest.fixture
def answering():
    """A server that knows nothing of what it is asked for."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_urls_start_nothing_and_need_no_git(compare, answering, tmp_path, checkout):
    shutil.rmtree(checkout.root / ".git")
    made = compare(**{"base-url": answering, "head-url": f"{answering}/"})
    made.prepare()
    assert "target" not in scenario(made)
    port = int(answering.rpartition(":")[2])
    assert scenario(made)["properties"]["head_port"] == port
    found = record.read(tmp_path)
    assert (found.mode, found.base.told, found.head.url) == ("url", answering, answering)
    assert (found.base.revision, found.head.revision) == (None, None)
    made.post_process()
    assert made.engine.services[0].calls == []


def test_a_url_where_nothing_answers_is_refused(compare, answering):
    nobody = f"http://127.0.0.1:{support.free_port()}"
    said = refused(compare(**{"base-url": answering, "head-url": nobody}))
    assert f"HEAD_URL {nobody} does not answer" in said
    assert "refused" in said


@pytest.mark.parametrize("host", ["a..b", "x" * 64])
def test_a_url_whose_host_can_t_be_one_is_refused_in_one_line(compare, answering, host):
    said = refused(compare(**{"base-url": answering, "head-url": f"http://{host}:80"}))
    assert f"HEAD_URL http://{host}:80 does not answer as a web server does (" in said


def test_what_is_no_web_server_does_not_answer(compare, answering):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: talk(listener), daemon=True).start()
        strange = f"http://127.0.0.1:{listener.getsockname()[1]}"
        said = refused(compare(**{"base-url": strange, "head-url": answering}))
    assert f"BASE_URL {strange} does not answer" in said


def talk(listener):
    connection, _ = listener.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"220 mail.example.org\r\n")


def test_progress_says_that_the_run_may_end_before(compare):
    made = compare()
    made.prepare()
    position = under_way(made.engine).position
    assert position(None, 615, 20.4) == "20 of at most 615 s"
    assert position(None, 615, 700) == "615 of at most 615 s"


class Executor(SimpleNamespace):
    """What would run the plan."""

    def __init__(self, folder):
        super().__init__(
            properties=BetterDict.from_dict({"warmup": 15, "measured": 600}),
            original_jmx=str(ROOT / "plans" / "compare.jmx"),
            kpi_jtl=str(folder / "kpi.jtl"),
            process=SimpleNamespace(poll=lambda: None),
        )

    def set_properties(self, properties):
        self.properties.merge(properties)


@pytest.fixture
def begun(compare, tmp_path, monkeypatch):
    """Has a comparison begin on two cores, with the cost of a request or why it is unknown."""

    def begin(cost=None, **options):
        def cost_of(*_):
            if isinstance(cost, Exception):
                raise cost
            return cost

        monkeypatch.setattr(service, "cost_of", cost_of)
        monkeypatch.setattr(service, "cores", lambda: 2)
        made = compare(**options)
        made.prepare()
        made.engine.provisioning = SimpleNamespace(executors=[Executor(tmp_path)])
        planned = manifest.Execution(
            name="compare",
            plan="p",
            jtl="j",
            properties={},
            targets=[],
            criteria=[],
            warmup=0,
            measured=0,
        )
        under_way(made.engine).manifest = manifest.Manifest(
            kind="compare",
            started="",
            criteria=[],
            settings={},
            environment={},
            executions=[planned],
        )
        made.startup()
        return made, planned.properties, made.engine.provisioning.executors[0].properties

    return begin


def test_arrivals_come_as_fast_as_the_machine_can_carry(begun, tmp_path):
    made, told, given = begun(Cost(20.0, 6.0))
    assert told == {"period": "28", "search_lag": "25"}
    assert (given["period"], given["search_lag"]) == (28, 25)
    assert made.record.pace == Pace(28, 18, "measured", 2, 0.6, Cost(20.0, 6.0))
    assert record.read(tmp_path) == made.record
    [execution] = manifest.read(tmp_path).executions
    assert execution.properties == told


def test_a_larger_share_of_the_cores_lets_them_come_faster(begun):
    assert begun(Cost(20.0, 6.0), **{"cpu-share": "80%"})[0].record.pace.period_ms == 18


def test_rates_that_somebody_has_set_stay(begun):
    made, told, _ = begun(AssertionError("not to be measured"), properties={"period": "40"})
    assert (made.record.pace.period_ms, made.record.pace.why, told) == (40, "fixed", {})


def test_a_cost_that_can_t_be_measured_changes_no_rate(begun, caplog):
    made, told, _ = begun(CostError("JMeter ended too early"))
    assert (made.record.pace.period_ms, made.record.pace.why, told) == (18, "unknown", {})
    assert "JMeter ended too early" in caplog.text


@pytest.mark.parametrize("value", ["fast", "0", "-1", "1.5"])
def test_a_distance_of_arrivals_is_whole_milliseconds(compare, value):
    assert f"the property period is {value!r}" in refused(compare(properties={"period": value}))


def test_the_labels_looked_at_are_those_of_the_plan(begun, tmp_path):
    made, *_ = begun(Cost(1.0, 1.0))
    assert made.watch.warmup_s == 15
    assert made.watch.lag_s == 8
    assert "sum" in made.watch.labels
    assert made.check() is False
    made.watch.record = record.CompareRecord(**{**vars(made.record), "decided_s": 60.0})
    assert made.check() is True
    assert record.read(tmp_path).decided_s == 60.0
