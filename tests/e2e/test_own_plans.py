"""Ten plans of somebody's own in one call: one after the other, one verdict of all."""

import json
import os
import shutil
import xml.etree.ElementTree as ET

import pytest

import support
from e2e.bzt_run import Run
from support import jmx_text as jmx
from support.http_server import Handler, serving
from support.project_copy import own_project
from tollgate.install.tools import jmeter_home, jmeter_version

NAMES = [f"plan-{number}" for number in range(8)]
#: Ends its threads long before their loops are done.
STOPS = jmx.element(
    "JSR223PostProcessor",
    "enough",
    scriptLanguage="groovy",
    script="if (vars.iteration > 3) prev.setStopThread(true)",
)


class Shop(Handler):
    def respond(self):
        self.answer(404 if self.path == "/gone" else 200, "ok")


def write(folder, name, path, *children, criteria="", loops=20):
    home = jmx.get("home", path)
    home = home.replace("<hashTree></hashTree>", f"<hashTree>{''.join(children)}</hashTree>")
    text = jmx.loadable(jmx.plan(jmx.looping(home, threads=2, loops=loops)))
    (folder / f"{name}.jmx").write_text(text)
    if criteria:
        (folder / f"{name}.criteria").write_text(criteria)


@pytest.mark.long
def test_ten_plans_have_one_verdict_page_and_junit_and_the_code_of_the_worst(tmp_path):
    plans = tmp_path / "plans"
    plans.mkdir()
    for name in NAMES:
        write(plans, name, "/", criteria="fail of home>60%\n")
    write(plans, "broken", "/gone", criteria="# too many\nfail of home>10%\n")
    write(plans, "stopped", "/", STOPS)
    with serving(Shop) as server:
        (plans / "staging.properties").write_text(f"port = {server.server_port}\n")
        files = json.dumps([str(plans / "staging.properties")])
        options = (f"modules.plan.property-files={files}", "modules.verdict.missing-share=0.5")
        ended = Run(tmp_path, *options, alias="plan", PLAN=str(plans / "*.jmx")).end()
    assert ended.outcome == (4, "INVALID"), ended.output
    found = {it["name"]: it["verdict"] for it in ended.verdict["executions"]}
    expected = {**dict.fromkeys(NAMES, "PASS"), "broken": "FAIL", "stopped": "INVALID"}
    assert found == expected
    criteria = {it["name"]: it["criteria"][0]["criterion"] for it in ended.verdict["executions"]}
    assert (criteria["broken"], criteria["stopped"]) == ("fail of home>10%", "fail>0%")
    suites = {it.get("name"): it for it in ET.fromstring((ended.folder / "junit.xml").read_text())}
    bad = {name for name, it in suites.items() if it.find(".//failure") is not None}
    bad |= {name for name, it in suites.items() if it.find(".//error") is not None}
    assert bad == {"tollgate.plan.broken", "tollgate.plan.stopped"}
    for name in expected:
        assert name in ended.page
    began = [it["began"] for it in ended.json("run.json")["executions"]]
    finished = [it["ended"] for it in ended.json("run.json")["executions"]]
    assert all(end <= begin for end, begin in zip(finished, began[1:], strict=False))
    assert ended.judged_again().returncode == 4


def test_the_command_takes_plans_and_properties_as_arguments(tmp_path):
    write(tmp_path, "home", "/", criteria="fail of home>60%\n")
    write(tmp_path, "cart", "/", criteria="fail of home>60%\n")
    with serving(Shop) as server:
        (tmp_path / "of staging.properties").write_text(f"port={server.server_port}\n")
        files = [tmp_path / name for name in ("home.jmx", "cart.jmx")]
        settings = (f"settings.artifacts-dir={tmp_path}/run", "modules.report.dashboards=false")
        options = [word for it in settings for word in ("-o", it)]
        words = ["-plan", *files, "-q", tmp_path / "of staging.properties", *options]
        ran = support.tollgate("run", *words, cwd=own_project())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    verdict = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert [it["name"] for it in verdict["executions"]] == ["home", "cart"]


@pytest.mark.long
def test_a_plan_that_a_criterion_ends_early_is_no_end_of_those_behind_it(tmp_path):
    write(tmp_path, "a", "/gone", loops=-1, criteria="fail of home>50% for 2s\n")
    write(tmp_path, "b", "/", criteria="fail of home>60%\n")
    with serving(Shop) as server:
        options = (
            f"modules.jmeter.properties.port={server.server_port}",
            "modules.plan.stop-after=60s",
        )
        ended = Run(tmp_path, *options, alias="plan", PLAN=str(tmp_path / "*.jmx")).end()
    assert ended.outcome == (3, "FAIL"), ended.output
    found = {it["name"]: it["verdict"] for it in ended.verdict["executions"]}
    assert found == {"a": "FAIL", "b": "PASS"}
    first, _ = ended.json("run.json")["executions"]
    assert first["stopped_by"] == "fail of home>50% for 2s"
    assert first["ended"] - first["began"] < 60


@pytest.mark.long
def test_a_jmeter_of_the_users_own_sends_the_load_and_nothing_is_put_into_it(tmp_path):
    home = tmp_path / "own jmeter"
    shutil.copytree(jmeter_home(), home, copy_function=os.symlink)
    before = sorted(home.rglob("*"))
    write(tmp_path, "home", "/", criteria="fail of home>60%\n")
    with serving(Shop) as server:
        port = f"modules.jmeter.properties.port={server.server_port}"
        options = (port, f"modules.jmeter.path={home}/bin/jmeter")
        ended = Run(tmp_path, *options, alias="plan", PLAN=str(tmp_path / "home.jmx")).end()
    assert ended.outcome == (0, "PASS"), ended.output
    assert f"JMeter {jmeter_version()} of {home}: yours" in ended.output
    assert str(home) in (ended.folder / "bzt.log").read_text()
    assert sorted(home.rglob("*")) == before
