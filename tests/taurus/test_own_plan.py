"""The kind `plan` before any load: which plan, by which criteria, and what is refused."""

import logging
import shlex
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import jmx_text as jmx
from tollgate.install.tools import jmeter_home
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
    path = tmp_path / "Größe 1.jmx"

    def write(text):
        path.write_text(text)
        monkeypatch.setenv("PLAN", str(path))
        return path

    return write


def prepared(**settings):
    made = service(**settings)
    made.prepare()
    return made


def refusal(**settings):
    with pytest.raises(TaurusConfigError) as caught:
        prepared(**settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def ends_of(made):
    return under_way(made.engine).executions["plan"].ends_s


def notes_of(made):
    return under_way(made.engine).executions["plan"].notes


def test_the_plan_is_the_scenarios_script_and_the_default_criterion_is_told(plan):
    path, made = plan(SHORT), prepared()
    scenario = made.engine.config["scenarios"]["plan"]
    assert scenario["script"] == str(path)
    assert "criteria" not in scenario
    (note,) = notes_of(made)
    assert note.startswith("no criteria were stated, so that it is judged by 'fail>0%'")


@pytest.mark.parametrize("name", ["user.properties", "system.properties"])
def test_properties_that_jmeter_finds_beside_the_plan_are_told(plan, monkeypatch, name):
    plan(SHORT).with_name(name).write_text("users=50\n")
    monkeypatch.setenv("CRITERIA", "fail>0%")
    (note,) = notes_of(prepared())
    assert note.startswith(f"JMeter reads {name} beside the plan, which the verdict knows nothing")


def test_criteria_of_the_caller_take_the_place_of_the_default(plan, monkeypatch):
    plan(SHORT)
    monkeypatch.setenv("CRITERIA", "p95 of home>300ms; fail>1% for 10s, continue as failed;")
    made = prepared(criteria="p50>1s")
    config = made.engine.config
    stated = ["p95 of home>300ms", "fail>1% for 10s, continue as failed"]
    assert config["scenarios"]["plan"]["criteria"] == stated
    assert config["reporting"][1]["criteria"] == []
    assert notes_of(made) == []


def test_settings_do_what_the_environment_does(plan):
    made = prepared(**{"path": str(plan(ENDLESS)), "stop-after": "2m", "criteria": "p50>1s"})
    assert made.stop_after == 120
    assert made.engine.config["scenarios"]["plan"]["criteria"] == ["p50>1s"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "plan: PLAN says which one: PLAN=path/to/their.jmx tollgate run -plan"),
        ({"stop-afer": "1m"}, "did you mean 'stop-after'"),
        ({"path": "plans/none.jmx"}, "and there is no such file"),
        ({"path": "plans"}, "and there is no such file"),
        *(
            (
                {"path": "plans/check.jmx", "stop-after": it},
                f"modules.plan.stop-after is {it!r}: write whole seconds",
            )
            for it in ("soon", "1x", "-1s", "0s", "1.5s")
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, said):
    assert said in refusal(**settings)


NOT_XML = "is not well-formed XML"
NO_SAMPLER = "has no sampler that is switched on"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *(("", NOT_XML), ("{}", NOT_XML), ("<jmeterTestPlan><hashTree>", NOT_XML)),
        *(("<html/>", "is not a JMeter plan but <html>"), (jmx.plan(), NO_SAMPLER)),
        (jmx.plan(jmx.group(jmx.sampler("a", enabled=False))), NO_SAMPLER),
        (
            jmx.plan(jmx.group(jmx.sampler("a")), jmx.group(jmx.sampler("b"), threads="${users}")),
            "the thread group 'visitors' would send nothing: ${users} is no user defined variable",
        ),
        (ENDLESS, "the thread group 'all day' loops for ever, so that the run would never end"),
    ],
)
def test_what_can_not_be_run_is_refused_in_a_line_that_names_the_file(plan, text, said):
    path, line = plan(text), refusal()
    assert line.startswith(f"plan: {path}: ")
    assert said in line


def test_a_missing_plugin_is_refused_with_the_command_that_brings_it(plan):
    path = plan(jmx.plan(jmx.group(jmx.element("kg.apc.jmeter.samplers.DummySampler", "d"))))
    line = refusal()
    assert "needs kg.apc.jmeter.samplers.DummySampler, which this JMeter does not have" in line
    command = jmeter_home() / "bin" / "PluginsManagerCMD.sh"
    assert f"`{shlex.join([str(command), 'install-for-jmx', str(path)])}`" in line


def test_a_plan_whose_loops_are_a_property_ends_where_the_property_says_so(plan):
    plan(jmx.plan(jmx.group(jmx.sampler("home"), loops="${__P(loops,-1)}", duration=None)))
    assert "loops for ever" in refusal()
    made = service()
    made.engine.config["modules"]["jmeter"]["properties"]["loops"] = 3
    made.prepare()


@pytest.fixture
def lines(caplog):
    """What is said of a plan with these words in it."""

    def said(words, **settings):
        caplog.clear()
        prepared(**settings)
        return [line for line in caplog.messages if words in line]

    return said


def test_requests_that_may_wait_for_ever_are_told(plan, monkeypatch, lines):
    patient = jmx.sampler("home")
    hasty = jmx.sampler("cart", HTTPSampler__response_timeout="5000")
    plan(jmx.plan(jmx.group(patient, hasty)))
    (line,) = lines("response timeout")
    assert ("'home'" in line, "'cart'" in line) == (True, False)
    plan(jmx.plan(jmx.group(hasty)))
    assert lines("response timeout") == []
    plan(jmx.plan(jmx.group(patient)))
    monkeypatch.setenv("STOP_AFTER", "10s")
    assert lines("response timeout") == []


@pytest.mark.parametrize(
    ("groups", "ends_s"),
    [
        ([{"duration": 10}], 10 + GRACE_S),
        ([{"duration": 10}, {"duration": 25, "ThreadGroup__delay": 5}], 30 + GRACE_S),
        ([{"duration": 10, "kind": "SetupThreadGroup"}, {"duration": 25}], 35 + GRACE_S),
        ([{"duration": 10}, {"duration": None, "loops": 1}], None),
    ],
)
def test_a_service_that_hangs_holds_the_load_no_longer_than_the_durations(plan, groups, ends_s):
    plan(jmx.plan(*(jmx.group(jmx.sampler("home"), **each) for each in groups)))
    assert ends_of(prepared()) == ends_s


def test_an_end_that_is_only_presumed_is_told(plan, lines):
    script = jmx.element("JSR223PostProcessor", "enough", script="prev.setStopThread(true)")
    plan(jmx.plan(jmx.group(jmx.sampler("home", script), name="all day", duration=None)))
    (said,) = lines("unless")
    assert said.startswith("plan: the thread group 'all day' loops for ever unless ")
    assert "JSR223PostProcessor 'enough' ends it" in said
    assert not lines("unless", **{"stop-after": "2m"})


def test_each_host_that_is_not_this_machine_is_told_once_before_the_load(plan, lines):
    samplers = (
        *(jmx.sampler(name, HTTPSampler__domain="${host}") for name in ("home", "cart")),
        jmx.sampler("here", HTTPSampler__domain="localhost"),
        jmx.sampler("pay", HTTPSampler__path="https://pay.example/now"),
    )
    group = jmx.group(*samplers, loops=1, duration=None)
    plan(jmx.plan(group, host="${__P(host,shop.example)}"))
    told = [line.partition(",")[0] for line in lines("not this machine")]
    hosts = ("shop.example", "pay.example")
    assert told == [f"plan: it sends load to {host}" for host in hosts]


@pytest.fixture
def ending(tmp_path, monkeypatch):
    """(the executor of a load that ends after 60 s, what lets the service check at a time)."""
    made = service()
    under_way(made.engine).executions["plan"].ends_s = 60.0
    executor = Mock(label="plan", kpi_jtl=str(tmp_path / "kpi.jtl"), start_time=900.0)
    executor.process.poll.return_value, executor.stop_requested_at = None, None
    made.engine.provisioning.executors = [executor]

    def check_at(*times):
        for now in times:
            monkeypatch.setattr("tollgate.taurus.own_plan.time.time", lambda now=now: now)
            made.check()

    return executor, check_at


def test_jmeter_is_told_to_end_once_and_then_ended_by_taurus(ending, tmp_path):
    executor, check_at = ending
    check_at(990.0)  # it still starts
    (tmp_path / "kpi.jtl").touch()
    check_at(1000.0, 1059.0, 1060.0, 1061.0, 1089.0)
    check_at(1090.0)
    assert executor.shutdown.call_count == 1
    assert executor.tell_to_end.call_count == 1
    assert executor.stop_requested_at == 1060.0


@pytest.mark.parametrize("listens_later", [True, False])
def test_a_jmeter_that_does_not_listen_yet_is_told_later_or_ended_all_the_same(
    ending, tmp_path, listens_later
):
    executor, check_at = ending
    (tmp_path / "kpi.jtl").touch()
    executor.tell_to_end.return_value = False
    check_at(1000.0, 1060.0)
    assert executor.stop_requested_at is None
    if listens_later:
        executor.tell_to_end.return_value = True
        check_at(1060.5)
        assert executor.stop_requested_at == 1060.5
        return
    check_at(1090.0)
    assert not executor.shutdown.called
    check_at(1120.0)
    assert executor.shutdown.call_count == 1
