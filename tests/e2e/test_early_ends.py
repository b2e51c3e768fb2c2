"""Plans that end before the time that they state, and those that do not, run by the real bzt."""

import re
import socket

import pytest

import support
from e2e.bzt_run import Run

PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="users"/><hashTree>{groups}
</hashTree></hashTree></jmeterTestPlan>
"""
GROUP = """
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="{name}">
  <stringProp name="ThreadGroup.num_threads">2</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <boolProp name="ThreadGroup.scheduler">{scheduler}</boolProp>
  <stringProp name="ThreadGroup.duration">{duration}</stringProp>
  <stringProp name="ThreadGroup.delay">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">{on_error}</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <stringProp name="LoopController.loops">{loops}</stringProp>
  </elementProp>
</ThreadGroup><hashTree>
<{around} guiclass="LogicControllerGui" testclass="{around}" testname="around"/><hashTree>
<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="home">
  <stringProp name="scriptLanguage">groovy</stringProp>
  <stringProp name="parameters"></stringProp>
  <stringProp name="filename"></stringProp>
  <stringProp name="cacheKey">true</stringProp>
  <stringProp name="script">Thread.sleep(10); {script}</stringProp>
</JSR223Sampler><hashTree/>
{feed}
</hashTree></hashTree>"""
FEED = """
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="accounts">
  <stringProp name="filename">accounts.csv</stringProp>
  <stringProp name="variableNames">account</stringProp>
  <stringProp name="delimiter">,</stringProp>
  <boolProp name="recycle">false</boolProp>
  <boolProp name="stopThread">true</boolProp>
  <stringProp name="shareMode">shareMode.all</stringProp>
</CSVDataSet><hashTree/>"""
#: So late that two failures are less than one in twenty.
LATE = "vars.getIteration() &gt; 40"
FAILS = f"SampleResult.setSuccessful(!({LATE}));"
FIRST_FAILS = f"SampleResult.setSuccessful(!(ctx.getThreadNum() == 0 &amp;&amp; {LATE}));"
STOPS = f"if ({LATE}) ctx.getEngine().stopTest();"
CRITERIA = ["fail>5%"]

#: By plan, its thread groups and what each states; a minute is more than comes of it anywhere.
EARLY = {
    "error": {"users": {"duration": 60, "on_error": "stoptest", "script": FAILS}},
    "script": {"users": {"duration": 60, "script": STOPS}},
    "threads": {
        "all": {"loops": 20_000, "on_error": "stopthread", "script": FAILS},
        "one": {"duration": 6, "on_error": "stopthread", "script": FIRST_FAILS},
    },
    "uncounted": {
        "at random": {"loops": 20_000, "around": "RandomOrderController", "script": STOPS},
        "by chance": {"loops": 20_000, "around": "InterleaveControl"},
    },
}
IN_TIME = {
    "in-time": {
        "by duration": {"duration": 4},
        "by loops": {"loops": 200},
        "by file": {"duration": 60, "feed": FEED},
        "at random": {"loops": 50, "around": "RandomOrderController"},
        "by chance": {"duration": 3, "around": "InterleaveControl"},
    }
}


def write(folder, plan, groups):
    """A plan of groups of two users each, who go on for ever by default."""
    path = folder / f"{plan}.jmx"
    path.write_text(PLAN.format(groups="".join(_group(*each) for each in groups.items())))
    return str(path)


def _group(name, changes):
    fields = {"duration": "", "loops": -1, "on_error": "continue", "script": "", "feed": ""}
    fields["around"] = "GenericController"
    scheduler = str("duration" in changes).lower()
    return GROUP.format(**fields | changes, name=name, scheduler=scheduler)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of all plans, one after the other."""
    folder = tmp_path_factory.mktemp("early")
    (folder / "accounts.csv").write_text("".join(f"a{number}\n" for number in range(400)))
    plans = {name: write(folder, name, groups) for name, groups in (EARLY | IN_TIME).items()}
    config = {
        "~execution": [{"scenario": name} for name in plans],
        "scenarios": {name: {"script": plan} for name, plan in plans.items()},
        "~reporting": [{"module": "verdict"}, {"module": "passfail", "criteria": CRITERIA}],
        "modules": {
            "jmeter": {"properties": {"warmup": 0, "measured": 0}},
            "stop-when-decided": {"budget": "off"},
        },
    }
    return Run(folder, config=config).end()


def verdict_on(ran, name):
    (found,) = [each for each in ran.verdict["executions"] if each["name"] == name]
    return found


WORDS = {
    "error": ["s of the 60 s that the plan says: its action after a sampler error stops the test"],
    "script": [
        "s of the 60 s that the plan says: the last that JMeter logged of them is 'Stopping'"
    ],
    "threads": [
        "of 40000 samples of 'home' that the plan says: its action after a sampler error",
        "1 of 2 threads of the thread group 'one' ended after",
    ],
    "uncounted": [
        "2 of 2 threads of the thread group 'at random' were stopped: the last that JMeter logged",
        "2 of 2 threads of the thread group 'by chance' were stopped: the last that JMeter logged",
    ],
}


@pytest.mark.parametrize("name", EARLY)
def test_a_plan_that_ended_before_its_time_is_invalid(ran, name):
    execution = verdict_on(ran, name)
    assert [it["verdict"] for it in execution["criteria"]] == ["PASS"]
    assert execution["verdict"] == "INVALID"
    for words, reason in zip(WORDS[name], execution["reasons"], strict=True):
        assert words in reason["text"]
    assert ran.code == 1


def test_a_plan_that_ended_in_its_time_passes_and_tells_of_an_end_with_a_file(ran):
    execution = verdict_on(ran, "in-time")
    assert execution["verdict"] == "PASS"
    (told,) = [line for line in execution["warnings"] if "thread group" in line]
    assert told.startswith("the thread group 'by file' ended after ")
    assert "CSVDataSet 'accounts' may have ended it" in told


def test_a_shutdown_from_elsewhere_makes_an_own_plan_invalid(tmp_path):
    plan = write(tmp_path, "theirs", {"users": {"duration": 60}})
    misspelt = "modules.jmeter.properties.usres=3"
    run = Run(tmp_path, misspelt, alias="plan", PLAN=plan, CRITERIA=CRITERIA[0])
    port = support.wait_until(lambda: announced(run.folder), "JMeter says its port")
    support.wait_until(lambda: lines_of(run.folder / "kpi.jtl") > 100, "samples came")
    with socket.socket(type=socket.SOCK_DGRAM) as channel:
        channel.sendto(b"Shutdown", ("127.0.0.1", port))
    ended = run.end()
    assert ended.code == 1
    assert "the last that JMeter logged of them is 'Stopping'" in ended.reasons()
    [execution] = ended.verdict["executions"]
    assert any("reads the property 'usres'" in line for line in execution["warnings"])


def announced(folder):
    """The port on which the run's own JMeter waits for messages, as it says itself."""
    said = "".join(path.read_text() for path in folder.glob("*.out"))
    found = re.search(r"message on port (\d+)", said)
    return found and int(found[1])


def lines_of(path):
    return len(path.read_text().splitlines()) if path.exists() else 0
