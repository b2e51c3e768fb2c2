"""The service `compare` on Taurus's configuration, without Taurus's engine, PM2 or JMeter."""

import os

import pytest
import yaml
from bzt import ToolError

from support.compare_service import Held, refused, scenario
from support.git_repos import SERVER
from tollgate.base.paths import SUITE
from tollgate.compare import record
from tollgate.compare.facts import labels_of
from tollgate.plan.read import read_plan
from tollgate.targets import pm2, sides
from tollgate.targets.git import Revisions
from tollgate.targets.scenarios import wanted_probes
from tollgate.targets.sides import BuiltSides
from tollgate.taurus import compare as service
from tollgate.taurus.shared import under_way


@pytest.fixture
def begun(compare):
    """The service behind its `prepare`."""

    def begin(*arguments, **settings):
        made = compare(*arguments, **settings)
        made.prepare()
        return made

    return begin


def test_base_and_head_become_the_targets_of_the_one_execution(
    compare, checkout, tmp_path, monkeypatch
):
    monkeypatch.setenv("TOLLGATE_APPS", "[]")
    made = compare()
    made.prepare()
    apps = [f"{side}{which}" for side in ("base", "head") for which in ("", "-2", "-3", "-4")]
    assert scenario(made)["target"] == apps
    given = dict(scenario(made)["properties"])
    assert given.pop("coin_seed") > 0
    assert given == {
        **{f"host_{coin}": "127.0.0.1" for coin in range(8)},
        **{f"protocol_{coin}": "http" for coin in range(8)},
        # In turn, so that neither side has the ones that start first.
        **{f"port_{2 * number}": port for number, port in enumerate((3001, 3004, 3006, 3007))},
        **{f"port_{2 * number + 1}": port for number, port in enumerate((3002, 3003, 3005, 3008))},
        "last_coin": 7,
        "measured": 600,
    }
    assert made.record.processes == record.read(tmp_path).processes == 4
    assert (tmp_path / "base" / SERVER).read_text() == "on main"
    base = (tmp_path / "base").resolve()
    assert base.is_relative_to(tmp_path / "cache")
    started = pm2.declared_apps()
    assert {started[name].cwd for name in apps[:4]} == {str(base)}
    assert {started[name].cwd for name in apps[4:]} == {str(checkout.root)}
    assert {started[name].exec_mode for name in apps} == {"fork"}
    made.post_process()
    assert not (tmp_path / "base").is_symlink()
    assert not base.exists()
    assert os.environ["TOLLGATE_APPS"] == "[]"
    assert made.engine.services[0].calls == ["hold", "shutdown"]


def test_two_commits_that_are_built_already_are_compared_where_they_lie(
    begun, checkout, tmp_path, monkeypatch
):
    folders = tmp_path / "builds" / "one", tmp_path / "builds" / "two"
    for folder in folders:
        (folder / SERVER).parent.mkdir(parents=True)
        (folder / SERVER).write_text("built")
    found = Revisions(40 * "1", "v1.2", 40 * "2", head_is="main")
    monkeypatch.setenv(sides.VARIABLE, BuiltSides(found, folders, folders[0]).text)
    before = checkout.state()
    made = begun(processes=2, scenario={"answers": "same"})
    assert made.record.answers == "any"  # a bisect asks which is slower, whatever else it changes
    started = pm2.declared_apps()
    for names, folder in zip((("base", "base-2"), ("head", "head-2")), folders, strict=True):
        assert {started[it].cwd for it in names} == {str(folder)}
        assert {started[it].script for it in names} == {str(folder / SERVER)}
    assert (made.record.base.revision, made.record.head.revision) == (40 * "1", 40 * "2")
    assert made.record.head.description == "2222222 (main)"
    assert made.sides.roots == {
        "base": [folders[0], folders[0], folders[0]],
        "head": [folders[1], folders[1], folders[0]],
    }
    assert not (tmp_path / "base").is_symlink()
    made.post_process()
    assert checkout.state() == before
    assert all((it / SERVER).exists() for it in folders)


def test_as_many_processes_a_side_are_compared_as_asked_for(begun):
    made = begun(processes=1)
    assert scenario(made)["target"] == ["base", "head"]
    properties = scenario(made)["properties"]
    assert (properties["last_coin"], properties["port_1"]) == (1, 3002)
    assert made.record.processes == 1
    made.post_process()


def test_in_cluster_mode_each_side_is_one_app_with_a_worker_for_each_core(begun, monkeypatch):
    monkeypatch.setenv("MODE", "cluster")
    made = begun()
    assert scenario(made)["target"] == ["base", "head"]
    assert pm2.declared_apps()["head"].exec_mode == "cluster"
    made.post_process()


def test_head_alone_is_slowed_by_what_says_so(begun, monkeypatch):
    monkeypatch.setenv("HEAD_INJECT_WORK_PERCENT", "20")
    made = begun()
    started = pm2.declared_apps()
    slowed = {it.name for it in started.values() if it.env.get("INJECT_WORK_PERCENT") == "20"}
    assert slowed == {"head", "head-2", "head-3", "head-4"}
    made.post_process()


def test_what_git_ignores_and_a_service_names_is_base_s_as_well(begun, checkout, tmp_path):
    checkout.commit("node_modules/\n.env\n", ".gitignore")
    checkout.write(".env", "SECRET=1")
    made = begun(base="HEAD", scenario={"link": [".env"]})
    assert (tmp_path / "base" / ".env").read_text() == "SECRET=1"
    assert made.record.head.revision
    made.post_process()


def test_a_build_is_made_of_both_sides(begun, checkout, tmp_path, ecosystem):
    ecosystem(script="dist/server.js")
    checkout.commit("node_modules/\ndist/\n", ".gitignore")
    checkout.write("dist/server.js", "stale")
    built = {"build": f"mkdir -p dist && cp {SERVER} dist/server.js"}
    made = begun(base="main", scenario=built)
    assert (tmp_path / "base" / "dist" / "server.js").read_text() == "on main"
    assert (checkout.root / "dist" / "server.js").read_text() == "on the branch"
    made.post_process()


def test_a_folder_that_both_sides_write_to_is_told(begun, tmp_path, ecosystem, caplog):
    (tmp_path / "store").mkdir()
    ecosystem(args=f"--store {tmp_path}/store --own {tmp_path}/${{SIDE}}-${{PROCESS}}")
    begun(processes=2).post_process()
    assert f"base, base-2, head and 1 more share {tmp_path}/store: give each" in caplog.text
    assert caplog.text.count(" share ") == 1


@pytest.mark.parametrize(
    ("settings", "is_sided"),
    [
        ({"args": "--store ${SIDE}"}, True),
        ({"env": {"PORT": 3001, "STORE": "/srv/${SIDE}.db"}}, True),
        ({"node_args": "--title=${SIDE}"}, True),
        ({"args": "--store ${PROCESS} ${PORT}", "env": {"PORT": 3001, "SIDE": "a"}}, False),
    ],
)
def test_a_control_whose_sides_have_settings_of_their_own_is_not_called_one(
    settings, is_sided, begun, ecosystem, tmp_path, caplog
):
    ecosystem(**settings)
    begun(base="HEAD", processes=2).post_process()
    assert record.read(tmp_path).is_sided is is_sided
    assert ("this is the control" in caplog.text) is not is_sided
    assert ("but ${SIDE} stands in its settings" in caplog.text) is is_sided


def test_a_scenario_says_whether_both_sides_have_to_answer_the_same(compare, begun, tmp_path):
    begun(scenario={"answers": "same"}).post_process()
    assert record.read(tmp_path).answers == "same"
    said = refused(compare(scenario={"answers": "alike"}))
    assert said == "compare: scenarios.compare.answers is 'alike': write any or same"


def test_a_base_without_the_script_of_its_app_is_refused(compare, checkout):
    checkout.git("switch", "--quiet", "main")
    checkout.git("mv", SERVER, "app/old.js")
    checkout.git("commit", "--quiet", "--message", "called otherwise")
    checkout.git("switch", "--quiet", "feature")
    made = compare(base="main")
    said = refused(made)
    assert said.startswith("compare: the app 'fork' of ecosystem.config.js runs /")
    assert "/base/app/server.js, which is not there: set BASE to a commit that has it" in said
    made.post_process()


def test_each_run_has_seeds_of_its_own_and_tells_how_to_have_them_again(begun, caplog):
    made = begun(properties={"coin_seed": 5})
    assert "coin_seed" not in scenario(made)["properties"]
    assert "Seeds" not in caplog.text
    made.post_process()
    seen = []
    for _ in range(2):
        made = begun()
        seen.append(scenario(made)["properties"]["coin_seed"])
        assert f"-o modules.jmeter.properties.coin_seed={seen[-1]}" in caplog.text
        made.post_process()
    assert seen[0] != seen[1]


def test_the_record_tells_what_is_compared(begun, checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("HEAD_INJECT_WORK_PERCENT", "20")
    monkeypatch.setenv("MODE", "cluster")
    begun(effect="10%", first=90, every=20, labels="sum")
    found = record.read(tmp_path)
    head = checkout.git("rev-parse", "HEAD")
    assert found.base.description == f"{found.base.revision[:7]} (merge base with main)"
    assert (found.head.revision, found.head.url) == (head, None)
    assert (found.execution, found.mode, found.decided_s) == ("compare", "cluster", None)
    assert (found.settings.effect, found.settings.budget_s) == (0.1, 600)
    assert (found.first_s, found.every_s) == (90, 20)
    assert (found.injected, found.settings.labels) == ({"work_percent": 20.0}, ("sum",))


def test_changes_that_are_not_committed_are_compared_and_told(compare, checkout, tmp_path, caplog):
    checkout.write(SERVER, "changed")
    compare().prepare()
    head = record.read(tmp_path).head
    assert (head.revision, head.description[-14:]) == (None, ", with changes")
    said = "compare: head is the working tree with changes not committed: app/server.js\n"
    assert said in caplog.text


def test_what_git_ignores_is_told_to_be_head_s_alone(compare, checkout, tmp_path, caplog):
    names = [f"app/{name}.local" for name in "abcd"]
    for name in names:
        checkout.write(name, "mine")
    checkout.commit("node_modules/\n*.local\n", ".gitignore")
    compare(base="HEAD").prepare()
    said = f"head alone has what git ignores: {', '.join(names[:3])} and 1 more; `link` gives"
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
    begun, monkeypatch, caplog, tmp_path
):
    made = begun()
    left = (tmp_path / "base").resolve()
    monkeypatch.setattr(service.checkout.shutil, "rmtree", lambda *_, **__: None)
    made.post_process()
    assert f"compare: the check-out of base is left: {left} can't be removed" in caplog.text


def test_apps_that_can_t_be_ended_leave_no_environment_and_no_check_out_behind(
    begun, monkeypatch, tmp_path
):
    def fail(_targets):
        raise pm2.Pm2Error("PM2 does not answer")

    monkeypatch.setattr(Held, "shutdown", fail)
    made = begun()
    base = (tmp_path / "base").resolve()
    assert base.exists()
    with pytest.raises(pm2.Pm2Error, match="PM2 does not answer"):
        made.post_process()
    assert not base.exists()
    assert not (tmp_path / "base").is_symlink()
    assert "TOLLGATE_APPS" not in os.environ


def test_base_and_head_are_asked_for_what_the_plan_asks_alone(begun):
    """A base that is older than another target would be refused for want of it."""
    kinds = yaml.safe_load((SUITE / "taurus.yml").read_text())
    common = next(it["probes"] for it in kinds["services"] if it["module"] == "targets")
    made = begun()
    scenario(made).merge(kinds["cli-aliases"]["compare"]["scenarios"]["compare"])
    probes = wanted_probes(made.engine.config, common)
    labels = labels_of(read_plan(SUITE / "plans" / "compare.jmx", {}))
    for side in ("base", "head"):
        asked = {it.path.split("/")[1].partition("?")[0] for it in probes[side]}
        assert asked == set(labels)


def test_the_control_is_announced(compare, monkeypatch, caplog):
    monkeypatch.setenv("BASE", "HEAD")
    compare().prepare()
    assert "this is the control, which must pass" in caplog.text
    assert "at most 10 min 0 s of measuring" in caplog.text


def test_a_kind_without_a_budget_is_left_alone(begun, tmp_path):
    made = begun("fork", "cluster", budget=None)
    made.startup()
    assert made.check() is False
    assert under_way(made.engine).position is None
    made.post_process()
    assert not record.is_compare(tmp_path)
    assert made.engine.services[0].calls == []


def test_what_another_run_has_checked_out_is_not_removed(compare, tmp_path):
    class Busy(Held):
        def hold(self):
            raise ToolError("targets: another run is under way in this suite")

    (tmp_path / "base").mkdir()
    for made in (compare(services=[Busy()]), compare(budget=None)):
        if made.settings["budget"]:
            with pytest.raises(ToolError, match="another run is under way"):
                made.prepare()
        made.post_process()
    assert (tmp_path / "base").exists()
