"""Plans that end before the time that they state, and those that do not, run by the real bzt."""

import re
import socket

import pytest

import support
from e2e.bzt_run import Run, judged_by, seconds
from support import jmx_text as jmx
from support.early_ends import on_error

#: So late that two failures are less than one in twenty.
LATE = "vars.getIteration() > 40"
FAILS = f"SampleResult.setSuccessful(!({LATE}));"
#: At the sixth of some hundred samples: long before its time is over, on a busy machine too.
FIRST_FAILS = "SampleResult.setSuccessful(!(ctx.getThreadNum() == 0 && vars.getIteration() > 5));"
STOPS = f"if ({LATE}) ctx.getEngine().stopTest();"
CRITERIA = ["fail>5%"]
FEED = {"filename": "accounts.csv", "variableNames": "account", "delimiter": ","}
FEED |= {"recycle": "false", "stopThread": "true", "shareMode": "shareMode.all"}

#: By plan, its thread groups and what each states; a minute is more than comes of it anywhere.
EARLY = {
    "error": {"users": {"duration": 60, **on_error("stoptest"), "script": FAILS}},
    "script": {"users": {"duration": 60, "script": STOPS}},
    "threads": {
        "all": {"loops": 20_000, **on_error("stopthread"), "script": FAILS},
        "one": {"duration": 6, **on_error("stopthread"), "script": FIRST_FAILS},
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
        "by file": {"duration": 60, "feed": jmx.element("CSVDataSet", "accounts", **FEED)},
        "at random": {"loops": 50, "around": "RandomOrderController"},
        "by chance": {"duration": 3, "around": "InterleaveControl"},
    }
}


def write(folder, plan, groups):
    """A plan of groups of two users each, who go on for ever by default."""
    path = folder / f"{plan}.jmx"
    written = jmx.plan(*(users(name, **of) for name, of in groups.items()))
    path.write_text(jmx.loadable(written))
    return str(path)


def users(name, around="GenericController", script="", feed="", **more):
    inside = [jmx.script("home", f"Thread.sleep(10); {script}"), feed]
    return jmx.looping(jmx.element(around, "around", inside), name=name, threads=2, **more)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of all plans, one after the other."""
    folder = tmp_path_factory.mktemp("early")
    (folder / "accounts.csv").write_text("".join(f"a{number}\n" for number in range(400)))
    plans = {name: write(folder, name, groups) for name, groups in (EARLY | IN_TIME).items()}
    config = {
        "~execution": [{"scenario": name} for name in plans],
        "scenarios": {name: {"script": plan} for name, plan in plans.items()},
        **judged_by(CRITERIA),
    }
    return Run(folder, *seconds(0, 0), config=config).end()


def verdict_on(ran, name):
    (found,) = [each for each in ran.verdict["executions"] if each["name"] == name]
    return found


OF_60_S, LOGGED = "s of the 60 s that the plan says:", "the last that JMeter logged"
WORDS = {
    "error": [f"{OF_60_S} its action after a sampler error stops the test"],
    "script": [f"{OF_60_S} {LOGGED} of them is 'Stopping'"],
    "threads": [
        "of 40000 samples of 'home' that the plan says: its action after a sampler error",
        # When it ended is only told where no thread was silent for seconds, as on a busy machine.
        "1 of 2 threads of the thread group 'one' (ended after .*|were stopped): "
        "its action after a sampler error stops the thread",
    ],
    "uncounted": [
        f"2 of 2 threads of the thread group {name} were stopped: {LOGGED}"
        for name in ("'at random'", "'by chance'")
    ],
}


@pytest.mark.parametrize("name", EARLY)
def test_a_plan_that_ended_before_its_time_is_invalid(ran, name):
    execution = verdict_on(ran, name)
    assert [it["verdict"] for it in execution["criteria"]] == ["PASS"]
    assert (ran.code, execution["verdict"]) == (4, "INVALID")
    for words, reason in zip(WORDS[name], execution["reasons"], strict=True):
        assert re.search(words, reason["text"])


def test_a_plan_that_ended_in_its_time_passes_and_tells_of_an_end_with_a_file(ran):
    execution = verdict_on(ran, "in-time")
    assert execution["verdict"] == "PASS"
    (told,) = [line for line in execution["warnings"] if "thread group" in line]
    assert told.startswith("the thread group 'by file' ended after ")
    assert "CSVDataSet 'accounts' may have ended it" in told


@pytest.mark.long
def test_a_shutdown_from_elsewhere_makes_an_own_plan_invalid(tmp_path):
    plan = write(tmp_path, "theirs", {"users": {"duration": 60}})
    misspelt = "modules.jmeter.properties.usres=3"
    run = Run(tmp_path, misspelt, alias="plan", PLAN=plan, CRITERIA=CRITERIA[0])
    port = support.wait_until(lambda: announced(run.folder), "JMeter says its port")
    kpi = run.folder / "kpi.jtl"
    support.wait_until(lambda: kpi.exists() and kpi.read_text().count("\n") > 100, "samples came")
    with socket.socket(type=socket.SOCK_DGRAM) as channel:
        channel.sendto(b"Shutdown", ("127.0.0.1", port))
    ended = run.end()
    assert ended.code == 4
    assert "the last that JMeter logged of them is 'Stopping'" in ended.reasons()
    assert any("reads the property 'usres'" in line for line in ended.execution["warnings"])


def announced(folder):
    """The port on which the run's own JMeter waits for messages, as it says itself."""
    said = "".join(path.read_text() for path in folder.glob("*.out"))
    found = re.search(r"message on port (\d+)", said)
    return found and int(found[1])
