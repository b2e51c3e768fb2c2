"""The kind `plan` before any load: which plan, by which criteria, and what is refused."""

import logging
import shlex
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from bzt import NormalShutdown, TaurusConfigError
from bzt.utils import BetterDict

from support import jmx_text as jmx
from tollgate.base.paths import jmeter_home
from tollgate.taurus.own_plan import GRACE_S, OwnPlan
from tollgate.taurus.shared import under_way

ENDLESS = jmx.plan(jmx.group(jmx.sampler("home"), name="all day", duration=None))
SHORT = jmx.plan(jmx.group(jmx.sampler("home"), loops=1, duration=None))


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in ("PLAN", "CRITERIA", "STOP_AFTER"):
        monkeypatch.delenv(name, raising=False)


def service(**settings):
    made = OwnPlan()
    made.log = logging.getLogger("plan")
    made.settings = BetterDict.from_dict({"class": "tollgate.taurus.own_plan.OwnPlan", **settings})
    config = {
        "execution": [{"scenario": "plan"}],
        "scenarios": {"plan": {"script": "${PLAN}"}},
        "reporting": [{"module": "verdict"}, {"module": "passfail", "criteria": ["fail>0%"]}],
        "modules": {"jmeter": {"properties": {"users": 2}}, "verdict": {"kind": "plan"}},
    }
    provisioning = SimpleNamespace(executors=[])
    made.engine = SimpleNamespace(config=BetterDict.from_dict(config), provisioning=provisioning)
    return made


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Writes a plan and lets PLAN name it."""

    def write(text, name="Größe 1.jmx"):
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setenv("PLAN", str(path))
        return path

    return write


def refusal(**settings):
    with pytest.raises(TaurusConfigError) as caught:
        service(**settings).prepare()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def notes_of(made):
    return under_way(made.engine).executions["plan"].notes


def test_the_plan_is_the_scenarios_script_and_the_default_criterion_is_told(plan):
    path, made = plan(SHORT), service()
    made.prepare()
    scenario = made.engine.config["scenarios"]["plan"]
    assert scenario["script"] == str(path)
    assert "criteria" not in scenario
    (note,) = notes_of(made)
    assert note.startswith("no criteria were stated, so that it is judged by 'fail>0%'")


@pytest.mark.parametrize("name", ["user.properties", "system.properties"])
def test_properties_that_jmeter_finds_beside_the_plan_are_told(plan, monkeypatch, name):
    plan(SHORT).with_name(name).write_text("users=50\n")
    monkeypatch.setenv("CRITERIA", "fail>0%")
    made = service()
    made.prepare()
    (note,) = notes_of(made)
    assert note.startswith(f"JMeter reads {name} beside the plan, which the verdict knows nothing")


def test_criteria_of_the_caller_take_the_place_of_the_default(plan, monkeypatch):
    plan(SHORT)
    monkeypatch.setenv("CRITERIA", "p95 of home>300ms; fail>1% for 10s, continue as failed;")
    made = service(criteria="p50>1s")
    made.prepare()
    config = made.engine.config
    stated = ["p95 of home>300ms", "fail>1% for 10s, continue as failed"]
    assert config["scenarios"]["plan"]["criteria"] == stated
    assert config["reporting"][1]["criteria"] == []
    assert notes_of(made) == []


def test_settings_do_what_the_environment_does(plan):
    made = service(**{"path": str(plan(ENDLESS)), "stop-after": "2m", "criteria": "p50>1s"})
    made.prepare()
    assert made.stop_after == 120
    assert made.engine.config["scenarios"]["plan"]["criteria"] == ["p50>1s"]


def test_without_a_plan_the_command_is_told():
    assert refusal() == "plan: PLAN says which one: PLAN=path/to/their.jmx ./scripts/run -plan"


def test_a_setting_that_nobody_reads_is_refused():
    assert "did you mean 'stop-after'" in refusal(**{"stop-afer": "1m"})


def test_a_plan_that_is_not_there_is_refused(tmp_path):
    said = refusal(path=str(tmp_path / "none.jmx"))
    assert "and there is no such file" in said
    assert "and there is no such file" in refusal(path=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not well-formed XML"),
        ("{}", "is not well-formed XML"),
        ("<jmeterTestPlan><hashTree>", "is not well-formed XML"),
        ("<html/>", "is not a JMeter plan but <html>"),
        (jmx.plan(), "has no sampler that is switched on"),
        (jmx.plan(jmx.group(jmx.sampler("a", enabled=False))), "has no sampler that is switched"),
        (ENDLESS, "the thread group 'all day' loops for ever, so that the run would never end"),
    ],
)
def test_what_can_not_be_run_is_refused_in_a_line_that_names_the_file(plan, text, said):
    path = plan(text)
    line = refusal()
    assert line.startswith(f"plan: {path}: ")
    assert said in line


def test_a_missing_plugin_is_refused_with_the_command_that_brings_it(plan):
    path = plan(jmx.plan(jmx.group(jmx.element("kg.apc.jmeter.samplers.DummySampler", "d"))))
    line = refusal()
    assert "needs kg.apc.jmeter.samplers.DummySampler, which this JMeter does not have" in line
    command = jmeter_home() / "bin" / "PluginsManagerCMD.sh"
    quoted = [shlex.quote(str(each)) for each in (command, path)]
    assert f"`{quoted[0]} install-for-jmx {quoted[1]}`" in line


def test_a_plan_whose_loops_are_a_property_ends_where_the_property_says_so(plan):
    loops = jmx.group(jmx.sampler("home"), loops="${__P(loops,-1)}", duration=None)
    plan(jmx.plan(loops))
    assert "loops for ever" in refusal()
    made = service()
    made.engine.config["modules"]["jmeter"]["properties"]["loops"] = 3
    made.prepare()


def test_requests_that_may_wait_for_ever_are_told(plan, monkeypatch, caplog):
    def told():
        caplog.clear()
        service().prepare()
        return [line for line in caplog.messages if "response timeout" in line]

    patient = jmx.sampler("home")
    hasty = jmx.sampler("cart", HTTPSampler__response_timeout="5000")
    plan(jmx.plan(jmx.group(patient, hasty)))
    (line,) = told()
    assert ("'home'" in line, "'cart'" in line) == (True, False)
    plan(jmx.plan(jmx.group(hasty)))
    assert told() == []
    plan(jmx.plan(jmx.group(patient)))
    monkeypatch.setenv("STOP_AFTER", "10s")
    assert told() == []


@pytest.mark.parametrize(
    ("groups", "ends_s"),
    [
        ([{"duration": 10}], 10 + GRACE_S),
        ([{"duration": 10}, {"duration": 25, "ThreadGroup__delay": 5}], 30 + GRACE_S),
        ([{"duration": 10, "kind": "SetupThreadGroup"}, {"duration": 25}], 35 + GRACE_S),
        ([{"duration": 10}, {"duration": None, "loops": 1}], None),
    ],
)
def test_a_service_that_hangs_holds_the_load_no_longer_than_the_plans_durations(
    plan, groups, ends_s
):
    plan(jmx.plan(*(jmx.group(jmx.sampler("home"), **each) for each in groups)))
    made = service()
    made.prepare()
    assert made.ends_s == ends_s


def test_an_end_that_is_only_presumed_is_told(plan, caplog):
    script = jmx.element("JSR223PostProcessor", "enough", script="prev.setStopThread(true)")
    plan(jmx.plan(jmx.group(jmx.sampler("home", script), name="all day", duration=None)))
    service().prepare()
    (said,) = [line for line in caplog.messages if "unless" in line]
    assert said.startswith("plan: the thread group 'all day' loops for ever unless ")
    assert "JSR223PostProcessor 'enough' ends it" in said
    caplog.clear()
    service(**{"stop-after": "2m"}).prepare()
    assert not [line for line in caplog.messages if "unless" in line]


def test_each_host_that_is_not_this_machine_is_told_once_before_the_load(plan, caplog):
    at = {"HTTPSampler__domain": "${host}"}
    samplers = (
        jmx.sampler("home", **at),
        jmx.sampler("cart", **at),
        jmx.sampler("here", HTTPSampler__domain="localhost"),
        jmx.sampler("pay", HTTPSampler__path="https://pay.example/now"),
    )
    group = jmx.group(*samplers, loops=1, duration=None)
    plan(jmx.plan(group, host="${__P(host,shop.example)}"))
    service().prepare()
    told = [line for line in caplog.messages if "not this machine" in line]
    assert [line.partition(",")[0] for line in told] == [
        "plan: it sends load to shop.example",
        "plan: it sends load to pay.example",
    ]


@pytest.mark.parametrize("given", ["soon", "1x", "90", "-1s", "0s"])
def test_a_time_that_is_none_is_refused(plan, given):
    plan(SHORT)
    assert f"STOP_AFTER is {given!r}: write it like 90s" in refusal(**{"stop-after": given})


@pytest.fixture
def ending(tmp_path, monkeypatch):
    """(a service that ends the load after 60 s, its executor, what lets it check at a time)."""
    made = service()
    made.stop_after = 60.0
    executor = Mock(label="plan", kpi_jtl=str(tmp_path / "kpi.jtl"), start_time=900.0)
    executor.process.poll.return_value, executor.stop_requested_at = None, None
    made.engine.provisioning.executors = [executor]

    def check_at(*times):
        for now in times:
            monkeypatch.setattr("tollgate.taurus.own_plan.time.time", lambda now=now: now)
            made.check()

    return made, executor, check_at


def test_jmeter_is_told_to_end_once_and_then_ended_by_taurus(ending, tmp_path):
    _, executor, check_at = ending
    check_at(990.0)  # it still starts
    (tmp_path / "kpi.jtl").touch()
    check_at(1000.0, 1059.0, 1060.0, 1061.0, 1089.0)
    with pytest.raises(NormalShutdown):
        check_at(1090.0)
    assert executor.tell_to_end.call_count == 1
    assert executor.stop_requested_at == 1060.0


def test_a_jmeter_that_does_not_listen_yet_is_told_later(ending, tmp_path):
    _, executor, check_at = ending
    (tmp_path / "kpi.jtl").touch()
    executor.tell_to_end.return_value = False
    check_at(1000.0, 1060.0)
    assert executor.stop_requested_at is None
    executor.tell_to_end.return_value = True
    check_at(1060.5)
    assert executor.stop_requested_at == 1060.5


def test_a_jmeter_that_never_listens_is_ended_all_the_same(ending, tmp_path):
    _, executor, check_at = ending
    (tmp_path / "kpi.jtl").touch()
    executor.tell_to_end.return_value = False
    check_at(1000.0, 1060.0, 1090.0)
    with pytest.raises(NormalShutdown):
        check_at(1120.0)
